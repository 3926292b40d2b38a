package identity

import "fmt"

// FillLine lets so many logins from an address wait that no more may, until empty is called.
func (s *Sessions) FillLine(address string) (empty func()) {
	l := s.strangers
	l.mu.Lock()
	defer l.mu.Unlock()
	places := l.free
	l.free = 0
	for i := range l.ofAddress {
		if _, err := l.join(address, fmt.Sprint("user", i)); err != nil {
			panic(err)
		}
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.waiters, l.free = nil, places
	}
}
