package api

import (
	"errors"
	"io"
	"net/http"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/lib/limiter"
)

// Bounds of bodies.
const (
	bodiesAtOnce  = 1024     // that are still being sent; as many again by strangers
	bodyBytes     = 16 << 20 // of all bodies together; as many again of strangers
	bodyBytesEach = 4 << 20  // of the bodies of one caller
	strangersEach = 16       // bodies that one unknown address sends at the same time
	smallBody     = 8 << 10  // smaller bodies are not counted: bodiesAtOnce bounds them
	largeBody     = 64 << 10 // larger bodies are decoded one at a time, to leave cores for other requests
	bodyTime      = 10 * time.Second
)

// bodies bounds the bodies that are held concurrently. Strangers have separate slots, so slow senders at many addresses take none from
// known callers.
type bodies struct {
	known, strangers held
	large            *limiter.Limiter // counts bodies that are decoded
	time             time.Duration    // limit for receiving a body
}

// held bounds the bodies of some callers.
type held struct {
	sending *limiter.Limiter // counts requests
	bytes   *limiter.Limiter
}

func newHeld(each int64) held {
	return held{
		sending: limiter.New(limiter.Bounds{Places: bodiesAtOnce, PerCaller: each}),
		bytes:   limiter.New(limiter.Bounds{Places: bodyBytes, PerCaller: bodyBytesEach}),
	}
}

// newBodies bounds bodies. each is how many one caller may send concurrently.
func newBodies(each int64) bodies {
	return bodies{
		known: newHeld(each), strangers: newHeld(min(each, strangersEach)),
		large: limiter.New(limiter.Bounds{Places: 1, Queue: bodyBytes / largeBody}),
		time:  bodyTime,
	}
}

// read reads the body of a request into the call, up to the limit. release returns the memory. It returns an error if
// the body is too large, or the memory for bodies is used up. A broken body is reported to the handler.
func (b *bodies) read(c *call, most int) (release func(), err error) {
	of, taken := b.known, 0
	if isStranger(c.caller) {
		of = b.strangers
	}
	release = func() {
		if taken > 0 {
			of.bytes.Release(c.caller, int64(taken))
		}
	}
	if c.r.Body == nil || c.r.Body == http.NoBody {
		return release, nil
	}
	if c.r.ContentLength > int64(most) { // not one byte of it is read
		return release, errBodyTooLarge(most)
	}
	if err := c.acquire(of.sending, c.caller, 1); err != nil {
		return release, err
	}
	defer of.sending.Release(c.caller, 1)
	defer hurry(c, b.time)()
	source := http.MaxBytesReader(c.ResponseWriter, c.r.Body, int64(most))
	first := smallBody
	if c.r.ContentLength >= 0 {
		first = min(int(c.r.ContentLength)+1, smallBody)
	}
	body := make([]byte, 0, first)
	for {
		if len(body) == cap(body) {
			size := min(2*cap(body), most+1)
			if known := int(c.r.ContentLength) + 1; known > cap(body) && cap(body) > smallBody { // some of it has arrived
				size = known
			}
			if err := c.acquire(of.bytes, c.caller, size-cap(body)); err != nil {
				return release, err
			}
			taken += size - cap(body)
			body = append(make([]byte, 0, size), body...)
		}
		n, err := source.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			c.body = body
			return release, nil
		}
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return release, errBodyTooLarge(most)
		}
		if err != nil {
			c.bodyErr = &errs.Error{Kind: errs.BadJSON, Message: "The request body could not be read completely.", Err: err}
			return release, nil
		}
	}
}

// decode decodes a body when it is its turn.
func (b *bodies) decode(c *call, decoding func() error) error {
	if len(c.body) > largeBody {
		if err := b.large.Acquire(c.ctx, "", 1); err != nil {
			return err
		}
		defer b.large.Release("", 1)
	}
	return decoding()
}

func errBodyTooLarge(most int) error {
	return errs.New(errs.BodyTooLarge, "The body can have at most %d bytes.", most)
}

// hurry cuts off a body that arrives too slowly. The returned function cancels this.
func hurry(c *call, within time.Duration) (stop func() bool) {
	connection := http.NewResponseController(c.ResponseWriter)
	return time.AfterFunc(within, func() {
		_ = connection.SetReadDeadline(time.Unix(1, 0)) // in the past
	}).Stop
}
