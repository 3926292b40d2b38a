// Package loginline is the line in which logins wait until their password is hashed. It owns nothing. Begin reading at Line.Enter.
package loginline

import (
	"context"
	"slices"
	"sync"
	"time"

	"holdfast/internal/errs"
)

// Line is where logins wait until their password is hashed. A hash takes much memory and tens of milliseconds, so only a
// few are made at once. Addresses take turns: who sends many logins waits behind those who send one. The line has an end:
// who finds it full is refused at once, and so nobody waits long.
type Line struct {
	ofAddress, inAll int // how many logins may wait

	mu      sync.Mutex
	free    int // places for hashing
	round   int // of the waiter that was let in last
	waiters []*waiter
}

// waiter is one login in the line.
type waiter struct {
	address, account string
	round            int        // the first of each address are let in first, then the second ones
	verdict          chan error // nil: it has a place now
}

// refusedFor is when a login that was refused may come again.
const refusedFor = time.Second

// New makes a line with so many places for hashing. At most ofAddress logins of an address wait, and inAll of all.
func New(places, ofAddress, inAll int) *Line {
	return &Line{free: places, ofAddress: ofAddress, inAll: inAll}
}

// Enter waits for a place. leave gives it back. waited: the place was not free at once, so what was read before may be old.
// It returns TooMany when too many logins of the address wait, and Unavailable when too many wait in all.
func (l *Line) Enter(ctx context.Context, address, account string) (leave func(), waited bool, err error) {
	l.mu.Lock()
	if l.free > 0 {
		l.free--
		l.mu.Unlock()
		return l.leave, false, nil
	}
	w, err := l.join(address, account)
	l.mu.Unlock()
	if err != nil {
		return nil, true, err
	}
	select {
	case err = <-w.verdict:
	case <-ctx.Done():
		err = l.giveUp(w, ctx.Err())
	}
	if err != nil {
		return nil, true, err
	}
	return l.leave, true, nil
}

// join puts a login at the end of its address's part of the line. In a full line it takes the place of one from the address
// that has most of them, or of one for the account that has most of them at this address.
func (l *Line) join(address, account string) (*waiter, error) {
	w := &waiter{address: address, account: account, verdict: make(chan error, 1)}
	here := count(l.waiters, func(v *waiter) bool { return v.address == address })
	if here >= l.ofAddress {
		err := &errs.Error{Kind: errs.TooMany, RetryAfter: refusedFor, Message: "Too many logins at once from this address."}
		if !l.makeRoom(address, account, 2, err) {
			return nil, err
		}
		here--
	} else if len(l.waiters) >= l.inAll {
		err := &errs.Error{Kind: errs.Unavailable, RetryAfter: refusedFor, Message: "Too many logins at once."}
		most, n := greatest(l.waiters, func(v *waiter) string { return v.address })
		if n < here+2 || !l.makeRoom(most, "", 1, err) {
			return nil, err
		}
	}
	w.round = l.round + 1 + here
	l.waiters = append(l.waiters, w)
	return w, nil
}

// makeRoom refuses the last login of the account that has most at an address, if it has so many more than the given account.
func (l *Line) makeRoom(address, account string, more int, err error) bool {
	there := slices.DeleteFunc(slices.Clone(l.waiters), func(v *waiter) bool { return v.address != address })
	most, n := greatest(there, func(v *waiter) string { return v.account })
	if n < more+count(there, func(v *waiter) bool { return v.account == account }) {
		return false
	}
	for i, v := range slices.Backward(l.waiters) {
		if v.address == address && v.account == most {
			l.waiters = slices.Delete(l.waiters, i, i+1)
			v.verdict <- err
			return true
		}
	}
	return false
}

// greatest returns the greatest group of waiters, and its size.
func greatest(waiters []*waiter, groupOf func(*waiter) string) (group string, n int) {
	sizes := map[string]int{}
	for _, v := range waiters {
		g := groupOf(v)
		if sizes[g]++; sizes[g] > n {
			group, n = g, sizes[g]
		}
	}
	return group, n
}

func count(waiters []*waiter, which func(*waiter) bool) (n int) {
	for _, v := range waiters {
		if which(v) {
			n++
		}
	}
	return n
}

// giveUp takes a login whose client has gone out of the line. If it got its place just now, the next one has it.
func (l *Line) giveUp(w *waiter, cause error) error {
	l.mu.Lock()
	i := slices.Index(l.waiters, w)
	if i >= 0 {
		l.waiters = slices.Delete(l.waiters, i, i+1)
	}
	l.mu.Unlock()
	if i < 0 {
		if err := <-w.verdict; err != nil {
			return err
		}
		l.leave()
	}
	return cause
}

// leave gives a place to the next login.
func (l *Line) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiters) == 0 {
		l.free++
		l.round = 0
		return
	}
	next := 0
	for i, v := range l.waiters {
		if v.round < l.waiters[next].round {
			next = i
		}
	}
	w := l.waiters[next]
	l.waiters = slices.Delete(l.waiters, next, next+1)
	l.round = max(l.round, w.round)
	w.verdict <- nil
}
