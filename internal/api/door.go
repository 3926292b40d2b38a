package api

import (
	"errors"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/lib/limiter"
)

// Limits of concurrent requests. Config has the others.
const (
	loginsAtOnce    = 128 // more than the queue of package sessions, which is fair to addresses
	loginsWaiting   = 128
	aliveAtOnce     = 64
	filesAtOnce     = 256 // each buffers part of the file until the client has read it
	filesEach       = 64  // a page loads all its files at once
	probesAtOnce    = 4
	probesWaiting   = 32
	documentsAtOnce = 64 // each buffers part of the document until the client has read it
	documentsEach   = 8
	uploadsAtOnce   = 4 // each may take minutes
	uploadsWaiting  = 4
	refusedAtOnce   = 2   // each rereads a file that may be large
	watchersAll     = 256 // requests waiting for the next event, which hold no other slot
	watchersEach    = 4   // of one caller
	strangersAtOnce = 16  // requests whose tokens were not accepted recently
	comebacks       = 3   // seconds over which the retries of simultaneously rejected callers are spread
)

// Class is a group of requests that share slots, so that a full class does not affect the others.
type Class int

// The classes of requests.
const (
	ClassOrdinary    Class = iota
	ClassAlive             // /healthz, which needs no database
	ClassProbes            // of /readyz
	ClassFiles             // static pages and files, which are the same for everyone and need no database
	ClassDocuments         // the API description, which is long and the same for everyone
	ClassLogins            // sets or checks a password, which can wait long in the queue of package sessions
	ClassPayments          // may wait for a processor
	ClassUploads           // receives a file, which may take minutes
	ClassRefusedRows       // creates the file of rejected rows
)

// Classes lists all classes. Each has its own slots.
var Classes = []Class{
	ClassOrdinary, ClassAlive, ClassProbes, ClassFiles, ClassDocuments, ClassLogins, ClassPayments, ClassUploads, ClassRefusedRows,
}

// door admits requests.
type door struct {
	classes   map[Class]*limiter.Limiter
	watchers  *limiter.Limiter
	strangers *limiter.Limiter // requests whose tokens are looked up
	known     knownCallers
	bodies    bodies
	refusals  atomic.Int64
}

// newDoor makes the door. atProcessors is how many requests may wait for processors.
func newDoor(cfg Config, atProcessors int) *door {
	atOnce, waiting, each := int64(cfg.RequestsAtOnce), int64(cfg.RequestsWaiting), int64(cfg.RequestsPerCaller)
	return &door{
		classes: map[Class]*limiter.Limiter{
			ClassOrdinary:    limiter.New(limiter.Bounds{Places: atOnce, PerCaller: each, Queue: waiting}),
			ClassAlive:       limiter.New(limiter.Bounds{Places: aliveAtOnce, Queue: waiting}),
			ClassFiles:       limiter.New(limiter.Bounds{Places: filesAtOnce, PerCaller: filesEach, Queue: waiting}),
			ClassProbes:      limiter.New(limiter.Bounds{Places: probesAtOnce, Queue: probesWaiting}),
			ClassDocuments:   limiter.New(limiter.Bounds{Places: documentsAtOnce, PerCaller: documentsEach, Queue: waiting}),
			ClassLogins:      limiter.New(limiter.Bounds{Places: loginsAtOnce, Queue: loginsWaiting}),
			ClassPayments:    limiter.New(limiter.Bounds{Places: atOnce + int64(atProcessors), PerCaller: each, Queue: waiting}),
			ClassUploads:     limiter.New(limiter.Bounds{Places: uploadsAtOnce, PerCaller: 1, Queue: uploadsWaiting}),
			ClassRefusedRows: limiter.New(limiter.Bounds{Places: refusedAtOnce, PerCaller: 2 * refusedAtOnce, Queue: waiting}),
		},
		watchers: limiter.New(limiter.Bounds{Places: watchersAll, PerCaller: watchersEach}),
		// Anyone can invent tokens, and checking each costs a database query.
		strangers: limiter.New(limiter.Bounds{Places: strangersAtOnce, Queue: atOnce}),
		bodies:    newBodies(each),
	}
}

// later spreads the retries of rejected callers over a few seconds. Otherwise callers rejected together would return together.
func (d *door) later() time.Duration {
	return time.Duration((d.refusals.Add(1)-1)%comebacks) * time.Second
}

// pass runs the handler of a route when it is its turn. It reads the body first, so that no slow sender holds a slot.
func (d *door) pass(c *call, route Route, handle func() error) error {
	c.door, c.places = d, d.classes[route.class]
	c.caller = d.callerOf(c)
	if route.body > 0 {
		release, err := d.bodies.read(c, route.body)
		defer release()
		if err != nil {
			return err
		}
	}
	if route.access != open && isStranger(c.caller) {
		if err := c.acquire(d.strangers, "", 1); err != nil {
			return err
		}
		c.stranger = true
		defer c.meet()
	}
	if err := c.enter(); err != nil {
		return err
	}
	defer c.leave()
	return handle()
}

// retryAfter is the minimum Retry-After for rejected callers. The door makes some wait longer.
const retryAfter = time.Second

// acquire acquires slots for a request, or returns an error that says why the request is rejected.
func (c *call) acquire(of *limiter.Limiter, caller string, n int) error {
	err := of.Acquire(c.ctx, caller, int64(n))
	c.refused = err != nil
	switch {
	case errors.Is(err, limiter.ErrCaller):
		return &errs.Error{
			Kind: errs.TooMany, RetryAfter: retryAfter,
			Message: "You have too many concurrent requests. Wait for some to finish.",
		}
	case errors.Is(err, limiter.ErrFull):
		return &errs.Error{
			Kind: errs.Unavailable, RetryAfter: retryAfter,
			Message: "There are too many requests at the moment. Try again.",
		}
	}
	return err
}

// enter waits for a slot of the request's class.
func (c *call) enter() error {
	err := c.acquire(c.places, c.caller, 1)
	c.inside = err == nil
	return err
}

// leave releases the slot.
func (c *call) leave() {
	if c.inside {
		c.inside = false
		c.places.Release(c.caller, 1)
	}
}

// aside releases the request's slot while it waits for an event, and then waits for its turn again.
func (c *call) aside(wait func()) error {
	c.leave()
	wait()
	if err := c.ctx.Err(); err != nil {
		c.refused = true // the caller may have disconnected, which is not a failure
		return err
	}
	return c.enter()
}

// network is the address, or for IPv6 its /64: the owner of one address has all of them.
func network(address string) string {
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if addr = addr.Unmap(); addr.Is6() {
		prefix, _ := addr.WithZone("").Prefix(64) // no error: an IPv6 address has 128 bits
		return prefix.String()
	}
	return addr.String()
}

// Service is the handler of the whole API.
type Service struct{ *server }

// AddressOf is the client's address of a request, as reported by trusted proxies.
func (s Service) AddressOf(r *http.Request) string { return s.clientAddress(r) }
