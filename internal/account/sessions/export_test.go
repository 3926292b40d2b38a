package sessions

import "holdfast/internal/lib/limiter"

// FillHashing lets no more logins of strangers in, until empty is called.
func (s *Sessions) FillHashing() (empty func()) {
	was := s.hashing.strangers
	s.hashing.strangers = limiter.New(limiter.Bounds{PerCaller: -1})
	return func() { s.hashing.strangers = was }
}
