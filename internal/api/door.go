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

// Bounds of requests that are open at the same time. Config has the others.
const (
	loginsAtOnce    = 128 // more than wait in identity's queue, which is fair to addresses
	loginsWaiting   = 128
	probesAtOnce    = 4
	probesWaiting   = 32
	documentsAtOnce = 64 // each holds a part of the document until its client has read it
	documentsEach   = 8
	uploadsAtOnce   = 4 // each may take minutes
	uploadsWaiting  = 4
	refusedAtOnce   = 2   // each reads a file again that may be large
	watchersAll     = 256 // requests that wait for the next event, and hold no other place meanwhile
	watchersEach    = 4   // of one caller
	strangersAtOnce = 16  // requests whose tokens were not let in lately
	comebacks       = 3   // seconds over which those come back who were refused in one moment
)

// Class says which requests share places, so that what one class is full of takes nothing from another.
type Class int

// The classes of requests.
const (
	ClassOrdinary    Class = iota
	ClassUnbounded         // it needs no database
	ClassProbes            // of /readyz
	ClassDocuments         // the description of the API: long, and the same for everybody
	ClassLogins            // a password is checked or set, which may wait long in the queue of identity
	ClassPayments          // it may wait for a processor
	ClassUploads           // a file is received, which may take minutes
	ClassRefusedRows       // the file of refused rows is made
)

// door lets requests in.
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
			ClassProbes:      limiter.New(limiter.Bounds{Places: probesAtOnce, Queue: probesWaiting}),
			ClassDocuments:   limiter.New(limiter.Bounds{Places: documentsAtOnce, PerCaller: documentsEach, Queue: waiting}),
			ClassLogins:      limiter.New(limiter.Bounds{Places: loginsAtOnce, Queue: loginsWaiting}),
			ClassPayments:    limiter.New(limiter.Bounds{Places: atOnce + int64(atProcessors), PerCaller: each, Queue: waiting}),
			ClassUploads:     limiter.New(limiter.Bounds{Places: uploadsAtOnce, PerCaller: 1, Queue: uploadsWaiting}),
			ClassRefusedRows: limiter.New(limiter.Bounds{Places: refusedAtOnce, PerCaller: 2 * refusedAtOnce, Queue: waiting}),
		},
		watchers: limiter.New(limiter.Bounds{Places: watchersAll, PerCaller: watchersEach}),
		// Anybody can make up any number of tokens, and each costs a look into the database.
		strangers: limiter.New(limiter.Bounds{Places: strangersAtOnce, Queue: atOnce}),
		bodies:    newBodies(each),
	}
}

// later is how much longer a rejected caller waits than the others. A crowd that was refused in one moment would otherwise come back
// in one moment, and be the same crowd again.
func (d *door) later() time.Duration {
	return time.Duration((d.refusals.Add(1)-1)%comebacks) * time.Second
}

// pass runs the handler of a route when it is its turn. It reads the body first, so that no slow sender holds a slot.
func (d *door) pass(c *call, route Route, handle func() error) error {
	c.door, c.places = d, d.classes[route.class]
	if c.places == nil {
		return handle()
	}
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

// retryAfter is how long a refused caller is asked to wait, at least. The door lets some wait longer.
const retryAfter = time.Second

// acquire takes places for a request, or refuses it with a fault that says why.
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

// enter waits for a place among those of the request's class.
func (c *call) enter() error {
	err := c.acquire(c.places, c.caller, 1)
	c.inside = err == nil
	return err
}

// leave gives the place back.
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
		c.refused = true // the caller may have gone, which is no failure
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

// AddressOf is where a request comes from, as trusted proxies tell it.
func (s Service) AddressOf(r *http.Request) string { return s.clientAddress(r) }
