package api

// Often reports whether the sender of such a request may be remembered.
func (r Route) Often() bool { return r.often }
