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
	status  int // expected
	// make appends the next request of a caller to a reused buffer.
	make func(r *rand.Rand, into []byte) []byte
	// every is the interval between requests of a caller; 0: the next one follows the response. A late caller does not
	// wait.
	every time.Duration
}

// load is what the callers of a kind observed.
type load struct {
	took     []time.Duration // by requests with the expected status, sorted
	refused  []time.Duration // by requests that got 429 or 503, sorted; they also count as failed
	silent   int             // refused without Retry-After
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

// loop runs one caller until the end. It sends at least one request.
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

// anySuccess is an expected status that matches 200 and 201.
const anySuccess = -1

func wanted(status, expected int) bool {
	return status == expected || expected == anySuccess && (status == http.StatusOK || status == http.StatusCreated)
}

// until waits for an instant. It reports whether the instant came before the context ended.
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

// part returns a percentile of a sorted list, such as 0.99.
func part(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}
