package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"holdfast/internal/errs"
)

// Admit sends requests for pages through the same door as API requests. A page body has at most `most` bytes and is read before its turn,
// so that slow senders hold no slot. A page reads an uploaded file itself, within Config.UploadTime. Requests without a slot are rejected
// immediately with status 429 or 503 and Retry-After.
func (s Service) Admit(class Class, most int, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Timeout)
		defer cancel()
		c := &call{ResponseWriter: w, r: r.WithContext(ctx), ctx: ctx, address: s.clientAddress(r)}
		show := func() { pages.ServeHTTP(w, c.r) }
		if class == ClassUploads {
			show = func() { s.showUpload(c, r, pages) }
		}
		err := s.door.passPage(c, class, most, show)
		if err == nil {
			return
		}
		c.requestID = s.idOf(w, r)
		s.writeCommonHeaders(c)
		s.fail(c, err)
	})
}

// Page serves a page and logs the request, with the route instead of the URL. If show returns false, the page does not
// exist: the API then answers and logs the request.
func (s Service) Page(w http.ResponseWriter, r *http.Request, route string, show func(w http.ResponseWriter) bool) {
	began := s.app.DB.Clock()
	c := &call{ResponseWriter: w, ctx: r.Context(), address: s.clientAddress(r), requestID: s.requestID(r), route: route}
	c.Header().Set("X-Request-Id", c.requestID)
	shown, panicked := true, true
	defer func() {
		if !shown {
			return
		}
		switch {
		case c.status == 0 && panicked:
			c.status = http.StatusInternalServerError
		case (c.status == 0 || c.status >= http.StatusInternalServerError) && errors.Is(r.Context().Err(), context.Canceled):
			c.status = statusClientGone
		case c.status == 0: // an empty page
			c.status = http.StatusOK
		}
		c.refused = c.status == http.StatusTooManyRequests
		s.log(c, r, s.app.DB.Clock().Sub(began))
	}()
	shown = show(c)
	panicked = false
	if !shown {
		s.ServeHTTP(w, r)
	}
}

// idOf returns the id that an outer handler has already given the request, or a new one.
func (s *server) idOf(w http.ResponseWriter, r *http.Request) string {
	return cmp.Or(w.Header().Get("X-Request-Id"), s.requestID(r))
}

// passPage shows a page when its turn comes. It returns an error if no slot is free. Pages report invalid bodies themselves, because
// people expect a page.
func (d *door) passPage(c *call, class Class, most int, show func()) error {
	c.places, c.caller = d.classes[class], byAddress+network(c.address)
	if class != ClassUploads && c.r.Body != nil && c.r.Body != http.NoBody {
		release, err := d.bodies.read(c, most)
		defer release()
		switch {
		case errs.Is(err, errs.BodyTooLarge):
			c.bodyErr = &http.MaxBytesError{Limit: int64(most)}
		case err != nil:
			return err
		}
		c.r.Body = io.NopCloser(readBody{bytes.NewReader(c.body), c.bodyErr})
	}
	if err := c.enter(); err != nil {
		return err
	}
	defer c.leave()
	show()
	return nil
}

// readBody is a body that was read at the door, or the error from reading it.
type readBody struct {
	from io.Reader
	err  error
}

// Read implements io.Reader.
func (b readBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	return b.from.Read(p)
}

// showUpload shows a page that receives a file. It may take as long as a file may.
func (s Service) showUpload(c *call, r *http.Request, pages http.Handler) {
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.UploadTime)
	defer cancel()
	body := &fileBody{ReadCloser: r.Body, c: c, within: s.cfg.UploadTime}
	defer body.end()
	r = r.WithContext(ctx)
	r.Body = body
	pages.ServeHTTP(c.ResponseWriter, r)
}

// fileBody is a body that is read as it arrives. The time limit for files applies from its first byte. A page that rejects the sender
// reads nothing, so strangers do not get this limit.
type fileBody struct {
	io.ReadCloser
	c      *call
	within time.Duration
	stop   func() bool // the hurry; nil before the first byte
	whole  bool        // it was read completely
}

// Read implements io.Reader.
func (b *fileBody) Read(p []byte) (int, error) {
	if b.stop == nil {
		connection := http.NewResponseController(b.c.ResponseWriter)
		_ = connection.SetReadDeadline(time.Time{}) // a recorder in a test has no connection
		_ = connection.SetWriteDeadline(time.Time{})
		b.stop = hurry(b.c, b.within)
	}
	n, err := b.ReadCloser.Read(p)
	b.whole = b.whole || errors.Is(err, io.EOF)
	return n, err
}

// end stops waiting for the rest of a body; otherwise the server would wait forever.
func (b *fileBody) end() {
	if b.stop == nil {
		return
	}
	b.stop()
	if !b.whole {
		_ = http.NewResponseController(b.c.ResponseWriter).SetReadDeadline(time.Unix(1, 0)) // in the past
	}
}
