package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"
)

// kind is one kind of request.
type kind struct {
	name    string
	callers int
	status  int // of the answer
	// make appends the next request of a caller to a buffer that is used again. The body of the answer goes to seen, where
	// that is set.
	make func(r *rand.Rand, into []byte) []byte
	// every is the time between two requests of a caller; 0: the next one follows the answer. A caller who is late does not wait.
	every time.Duration
}

// load is what the callers of a kind have seen.
type load struct {
	took     []time.Duration // of the requests that were answered as they should be, in order
	refused  []time.Duration // of those that were answered with 429 or 503, in order; they count as failed, too
	silent   int             // of these, those without Retry-After
	failed   int
	failure  string // the first one
	bytes    int64
	lasted   time.Duration
	client   time.Duration // processor time of this program
	statuses map[int]int
}

// drive sends requests closed-loop: each caller sends the next one when the last one is answered.
func drive(ctx context.Context, address string, k kind, lasts time.Duration) (load, error) {
	conns := make([]*conn, k.callers)
	for i := range conns {
		var err error
		if conns[i], err = dial(ctx, address); err != nil {
			return load{}, err
		}
		conns[i].expect = k.status
		defer conns[i].close()
	}
	loads := make([]load, k.callers)
	began, cpu := time.Now(), ownTime()
	var all sync.WaitGroup
	for i := range conns {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(began.UnixNano()), uint64(i)))
			loads[i] = conns[i].loop(ctx, address, k, began.Add(lasts), r)
		})
	}
	all.Wait()
	sum := load{lasted: time.Since(began), client: ownTime() - cpu, statuses: map[int]int{}}
	for _, l := range loads {
		sum.took = append(sum.took, l.took...)
		sum.refused = append(sum.refused, l.refused...)
		sum.silent += l.silent
		sum.failed += l.failed
		sum.bytes += l.bytes
		if sum.failure == "" {
			sum.failure = l.failure
		}
		for status, n := range l.statuses {
			sum.statuses[status] += n
		}
	}
	slices.Sort(sum.took)
	slices.Sort(sum.refused)
	if len(sum.took) == 0 {
		return sum, fmt.Errorf("%s: no request succeeded: %s", k.name, sum.failure)
	}
	return sum, ctx.Err()
}

// loop is one caller, until the end. It sends one request at least.
func (c *conn) loop(ctx context.Context, address string, k kind, end time.Time, r *rand.Rand) load {
	l := load{statuses: map[int]int{}}
	var buffer []byte
	for next := time.Now(); ; next = next.Add(k.every) {
		if k.every > 0 && !until(ctx, next) || ctx.Err() != nil || len(l.statuses) > 0 && time.Now().After(end) {
			return l
		}
		buffer = k.make(r, buffer)
		began := time.Now()
		status, err := c.do(buffer)
		took := time.Since(began)
		l.bytes += int64(c.bytes)
		l.statuses[status]++
		if err == nil && wanted(status, k.status) {
			l.took = append(l.took, took)
			continue
		}
		if err == nil && (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests) {
			l.refused = append(l.refused, took)
			if !c.retries {
				l.silent++
			}
		}
		l.failed++
		if l.failure == "" {
			l.failure = fmt.Sprintf("status %d, %v: %.300s", status, err, bytes.TrimSpace(c.body))
		}
		if err == nil {
			continue
		}
		c.close()
		next, err := dial(ctx, address)
		if err != nil {
			return l
		}
		*c, c.expect = *next, k.status
	}
}

// anySuccess stands for the status of an answer that is 200 or 201.
const anySuccess = -1

func wanted(status, expected int) bool {
	return status == expected || expected == anySuccess && (status == http.StatusOK || status == http.StatusCreated)
}

// until waits for an instant. It reports whether that came before the end of the context.
func until(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// ownTime is the processor time of this program so far.
func ownTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// part is the value below which a part of a sorted list lies, such as 0.99 of it.
func part(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}
