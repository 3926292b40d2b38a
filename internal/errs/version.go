package errs

// CheckVersion returns Precondition when the caller named a version (If-Match) other than the stored one. 0 means that
// the caller named none.
func CheckVersion(wanted, stored int64) error {
	if wanted != 0 && wanted != stored {
		return New(Precondition, "The object has changed since you read it.")
	}
	return nil
}
