package identity

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"holdfast/internal/errs"
)

// FillLine lets so many logins from an address wait that no more may, until empty is called.
func (s *Sessions) FillLine(address string) (empty func()) {
	gone, leave := context.WithCancel(context.Background())
	leave() // whoever has gone gets a free place, and does not wait for one
	waiting, end := context.WithCancel(context.Background())
	var leaves []func()
	var all sync.WaitGroup
	for n := 0; ; n++ {
		place, _, err := s.strangers.Enter(gone, address, fmt.Sprint("user", n))
		switch {
		case err == nil:
			leaves = append(leaves, place)
		case errors.Is(err, context.Canceled):
			all.Go(func() { _, _, _ = s.strangers.Enter(waiting, address, fmt.Sprint("waiter", n)) })
		case errs.Is(err, errs.TooMany):
			return func() {
				end()
				all.Wait()
				for _, leave := range leaves {
					leave()
				}
			}
		default:
			panic(err)
		}
	}
}
