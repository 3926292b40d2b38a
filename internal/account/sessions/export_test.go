package sessions

import "holdfast/internal/lib/limiter"

// FillHashing blocks logins of strangers until empty is called.
func (s *Sessions) FillHashing() (empty func()) {
	was := s.hashing.strangers
	s.hashing.strangers = limiter.New(limiter.Bounds{PerCaller: -1})
	return func() { s.hashing.strangers = was }
}
