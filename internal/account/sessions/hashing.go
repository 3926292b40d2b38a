package sessions

import (
	"context"
	"errors"
	"runtime"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/lib/limiter"
)

// hashing limits how many passwords are hashed concurrently: a hash takes much memory and tens of milliseconds.
type hashing struct {
	// Strangers have at most three slots, and leave one processor free for everyone else. Of one address only three wait: it
	// takes a hundred addresses to fill the queue.
	strangers *limiter.Limiter
	// Devices that have logged in before have a separate slot, so they never wait for strangers.
	devices *limiter.Limiter
}

func newHashing() hashing {
	places := int64(min(3, max(1, runtime.NumCPU()-1)))
	return hashing{
		strangers: limiter.New(limiter.Bounds{Places: places, PerCaller: places + 3, Queue: 256}),
		devices:   limiter.New(limiter.Bounds{Places: 1, PerCaller: 3, Queue: 16}),
	}
}

// await waits for a place in which a password of a caller may be hashed. release gives it back.
func await(ctx context.Context, in *limiter.Limiter, caller string) (release func(), err error) {
	err = in.Acquire(ctx, caller, 1)
	switch {
	case errors.Is(err, limiter.ErrCaller):
		return nil, &errs.Error{Kind: errs.TooMany, RetryAfter: time.Second, Message: "Too many simultaneous logins from this address."}
	case errors.Is(err, limiter.ErrFull):
		return nil, &errs.Error{Kind: errs.Unavailable, RetryAfter: time.Second, Message: "Too many simultaneous logins."}
	}
	return func() { in.Release(caller, 1) }, err
}

// AwaitStranger waits for a place in which a password of an unknown client may be hashed. release gives it back.
func (s *Sessions) AwaitStranger(ctx context.Context, address string) (release func(), err error) {
	return await(ctx, s.hashing.strangers, AddressGroup(address))
}
