package api

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/internal/api/input"
	"holdfast/internal/errs"
)

// Bounds of requests that are open at the same time. Config has the others.
const (
	loginsAtOnce  = 128 // more than wait in identity's line, which is fair to addresses and accounts
	loginsWaiting = 128
	probesAtOnce  = 4 // of /readyz
	probesWaiting = 32
	filesAtOnce   = 4 // imports whose files are received; each may take minutes
	filesWaiting  = 4
	refusedAtOnce = 2        // CSVs of refused rows: each reads a file again that may be large
	watchersAll   = 256      // requests that wait for the next event, and hold no place at a gate meanwhile
	watchersEach  = 4        // of one caller
	newTokens     = 16       // tokens that were not let in lately, and are looked up
	bodiesAtOnce  = 1024     // requests that are still being sent, for each lane
	bodyBytes     = 16 << 20 // of all bodies together
	bodyBytesEach = 4 << 20  // of the bodies of one caller
	smallBody     = 8 << 10  // what a body may have without counting: bodiesAtOnce bounds these
	largeBody     = 64 << 10 // of these, one after the other is decoded, so that the rest of the machine is for others
	bodyTime      = 10 * time.Second
	readTurn      = 5 * time.Millisecond // ten times what a short read takes
	comebacks     = 3                    // seconds over which those come back who were refused in one moment
)

// door lets requests in. Each waits at the gate of its lane, so that what one lane is full of keeps nothing from another.
type door struct {
	probes, logins, payments, files, refused, others gate
	reads                                            gate // of others those that only read, where they are computed in this process
	watchers                                         gate // only counts

	bodies   bodies
	large    chan struct{} // full while a large body is decoded
	known    knownCallers
	unknown  strangers
	refusals atomic.Int64
}

// newDoor makes the door. atProcessors is how many requests may wait for processors, and computing how many reads are computed at once in
// this process; 0 where the server of the database computes them.
func newDoor(cfg Config, atProcessors, computing int) *door {
	atOnce, waiting, each := cfg.RequestsAtOnce, cfg.RequestsWaiting, cfg.RequestsPerCaller
	computing = min(computing, atOnce)
	return &door{
		probes:   gate{running: probesAtOnce, waiting: probesWaiting, each: probesAtOnce + probesWaiting},
		logins:   gate{running: loginsAtOnce, waiting: loginsWaiting, each: loginsAtOnce + loginsWaiting, reading: bodiesAtOnce},
		payments: gate{running: atOnce + atProcessors, waiting: waiting, each: each, reading: bodiesAtOnce},
		files:    gate{running: filesAtOnce, waiting: filesWaiting, each: 1},
		refused:  gate{running: refusedAtOnce, waiting: waiting, each: 2 * refusedAtOnce},
		others:   gate{running: atOnce, waiting: waiting, each: each, reading: bodiesAtOnce},
		reads: gate{
			running: computing, waiting: atOnce - computing + waiting, each: each, reading: bodiesAtOnce,
			turn: readTurn, beside: atOnce - computing, spare: min(1, max(0, computing-1)),
		},
		watchers: gate{running: watchersAll, each: watchersEach},
		bodies:   bodies{most: bodyBytes, each: bodyBytesEach, time: bodyTime},
		large:    make(chan struct{}, 1),
		unknown:  strangers{requests: atOnce, tokens: newTokens},
	}
}

// gateOf is the gate for a route. What needs no database goes through none.
func (d *door) gateOf(route Route) *gate {
	switch route.Name {
	case "alive", "describe":
		return nil
	case "ready":
		return &d.probes
	case "login":
		return &d.logins
	case "createTransaction", "createModalTransaction", "returnFromChallenge": // they may wait for processors
		return &d.payments
	case "createImport":
		return &d.files
	case "getImportCSV":
		return &d.refused
	}
	if route.Method == http.MethodGet && d.reads.running > 0 {
		return &d.reads
	}
	return &d.others
}

// later is how long one who is refused waits beyond the others. A crowd that was refused in one moment would otherwise come back
// in one moment, and be the same crowd again.
func (d *door) later() time.Duration {
	return time.Duration((d.refusals.Add(1)-1)%comebacks) * time.Second
}

// bodyOf is how many bytes the body for a handler may have. What is sent to other handlers is not even read.
var bodyOf = map[string]int{
	"approveProposal": input.MaxBody, "changeBooking": input.MaxBody, "changeChannel": input.MaxBody, "changeReportMail": input.MaxBody, "changeSupplier": input.MaxBody,
	"changeWebhook": input.MaxBody, "createBooking": input.MaxBody,
	"createChannel": input.MaxBody, "createCollateral": input.MaxBody, "createContract": input.MaxBody, "createLimit": input.MaxBody, "createModalBooking": input.MaxBody,
	"createModalTransaction": input.MaxBody, "createPolicy": input.MaxBody, "createReportMail": input.MaxBody, "createRate": input.MaxBody, "createStatementPayment": input.MaxBody,
	"createSupplier": input.MaxBody, "createToken": input.MaxBody, "createTransaction": input.MaxBody, "createWebhook": input.MaxBody,
	"login": input.MaxBody, "moveClock": input.MaxBody,
	"openModalSession": input.MaxBody, "rejectProposal": input.MaxBody, "replayWebhook": input.MaxBody, "rotateWebhookSecret": input.MaxBody,
	"takeProcessorEvent": maxEvent, "tryMail": input.MaxBody, "updateSite": input.MaxBody,
	"withdrawProposal": input.MaxBody,
}

// network is the address, or for IPv6 the /64 around it: who has one address there has them all.
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

// pass runs the handler of a route when it is its turn. It reads the body before, so that no slow sender holds a place of others.
func (d *door) pass(c *call, route Route, handle func() error) error {
	g := d.gateOf(route)
	if g == nil {
		return handle()
	}
	c.door = d
	caller := d.callerOf(c)
	if err := g.arrive(caller); err != nil {
		c.refused = true
		return err
	}
	defer g.leave(caller)
	if most := bodyOf[route.Name]; most > 0 {
		read, err := d.bodies.read(c, caller, most)
		defer d.bodies.give(caller, read)
		if err != nil {
			c.refused = !errs.Is(err, errs.BodyTooLarge)
			return err
		}
	}
	if route.access != open && isStranger(caller) {
		if err := d.unknown.arrive(bearer(c.r)); err != nil {
			g.crowd()
			c.refused = true
			return err
		}
		c.stranger = true
		defer c.meet()
	}
	if err := g.enter(c.ctx, caller); err != nil {
		c.refused = true
		return err
	}
	c.gate, c.caller, c.stay = g, caller, g.stay()
	defer func() {
		if c.stay != nil {
			c.stay.leave()
		}
	}()
	return handle()
}

// aside gives the request's place to others while it waits for something that happens, and then waits for its turn again.
func (c *call) aside(wait func()) error {
	c.stay.leave()
	c.stay = nil
	wait()
	err := c.ctx.Err() // the caller may have gone, which is no failure
	if err == nil {
		err = c.gate.enter(c.ctx, c.caller)
	}
	if err != nil {
		c.refused = true
		return err
	}
	c.stay = c.gate.stay()
	return nil
}

// decode runs the decoding of a body when it is its turn.
func (d *door) decode(c *call, decoding func() error) error {
	if len(c.body) <= largeBody {
		return decoding()
	}
	select {
	case d.large <- struct{}{}:
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
	defer func() { <-d.large }()
	return decoding()
}

// bodies bounds how many bytes of bodies are held at the same time: of one caller, and in all.
type bodies struct {
	most, each int
	time       time.Duration // in which a body has to come

	mu   sync.Mutex
	used int
	by   map[string]int
}

// take counts bytes of a caller, or refuses them.
func (b *bodies) take(caller string, n int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.by[caller]+n > b.each:
		return errTooMany()
	case b.used+n > b.most:
		return errFull()
	case b.by == nil:
		b.by = map[string]int{}
	}
	b.by[caller] += n
	b.used += n
	return nil
}

// give gives bytes back.
func (b *bodies) give(caller string, n int) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	if b.by[caller] -= n; b.by[caller] == 0 {
		delete(b.by, caller)
	}
}

// read reads the body of a request into the call, as far as a body may go. It returns how many bytes were counted for it. The
// error is that the body is too large, or that nothing more may be held. That it is broken is told to the handler.
func (b *bodies) read(c *call, caller string, most int) (counted int, err error) {
	if c.r.Body == nil || c.r.Body == http.NoBody {
		return 0, nil
	}
	if c.r.ContentLength > int64(most) { // not one byte of it is read
		return 0, errBodyTooLarge(most)
	}
	defer hurry(c, b.time)()
	source := http.MaxBytesReader(c.ResponseWriter, c.r.Body, int64(most))
	first := smallBody
	if c.r.ContentLength >= 0 {
		first = min(int(c.r.ContentLength)+1, smallBody)
	}
	body := make([]byte, 0, first)
	for {
		if len(body) == cap(body) {
			more := min(2*cap(body), most+1)
			if known := int(c.r.ContentLength) + 1; known > cap(body) && cap(body) > smallBody { // it has really begun
				more = known
			}
			if err := b.take(caller, more-cap(body)); err != nil {
				return counted, err
			}
			counted += more - cap(body)
			body = append(make([]byte, 0, more), body...)
		}
		n, err := source.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			c.body = body
			return counted, nil
		}
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return counted, errBodyTooLarge(most)
		}
		if err != nil {
			c.bodyErr = &errs.Error{Kind: errs.BadJSON, Message: "The body could not be read to its end.", Err: err}
			return counted, nil
		}
	}
}

func errBodyTooLarge(most int) error {
	return errs.New(errs.BodyTooLarge, "The body may have at most %d bytes.", most)
}

// hurry ends the reading of a body that comes too slowly. The function that it returns stops that.
func hurry(c *call, within time.Duration) (stop func() bool) {
	connection := http.NewResponseController(c.ResponseWriter)
	return time.AfterFunc(within, func() {
		_ = connection.SetReadDeadline(time.Unix(1, 0)) // an instant that is over
	}).Stop
}

// Service is the handler of the whole API.
type Service struct{ *server }

// AddressOf is where a request comes from, as trusted proxies tell it.
func (s Service) AddressOf(r *http.Request) string { return s.clientAddress(r) }

// RequestID is the number of a request, in the log and in the audit.
func (s Service) RequestID(r *http.Request) string { return s.requestID(r) }
