package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"

	"holdfast/internal/app"
	"holdfast/internal/errs"
)

// Limits of a request line and its headers. A list filter with a thousand ids fits into an address.
const (
	maxAddress = 32 << 10 // bytes
	maxHeaders = 32 << 10 // bytes of all headers together
)

// MaxHeaderBytes is for http.Server. Up to this size the API itself rejects headers that are too large.
const MaxHeaderBytes = 2 * (maxAddress + maxHeaders)

// Oversized says whether the address or the headers of a request are too large. Then only the API may answer.
func Oversized(r *http.Request) bool { return checkSize(r) != nil }

func checkSize(r *http.Request) *errs.Error {
	if len(r.RequestURI) > maxAddress {
		return errs.New(errs.AddressTooLong, "The URL can have at most %d bytes.", maxAddress)
	}
	size := len(r.Host)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(": \r\n") + len(value)
		}
	}
	if size > maxHeaders {
		return errHeaders()
	}
	return nil
}

func errHeaders() *errs.Error {
	return errs.New(errs.HeadersTooLarge, "The headers can have at most %d bytes in total.", maxHeaders)
}

// RefuseMethod answers a request whose address exists, but not for its method. The header Allow is set already.
func RefuseMethod(a *app.App, w http.ResponseWriter, r *http.Request) {
	s := &server{app: a}
	c := &call{ResponseWriter: w, r: r, ctx: r.Context(), requestID: s.idOf(w, r)}
	s.writeCommonHeaders(c)
	if r.Method == http.MethodOptions {
		c.Header().Del("Content-Type")
		c.options(c.Header().Get("Allow") + ", OPTIONS")
		return
	}
	s.fail(c, errNoMethod(r.Method))
}

// Listen wraps the listener of an http.Server. The server itself refuses requests that are not HTTP, or are far too large, before any
// handler sees it, and answers in plain text. The connections of this listener replace these answers by errors in the shape
// of the API.
func Listen(l net.Listener, a *app.App) net.Listener { return listener{l, a} }

type listener struct {
	net.Listener
	app *app.App
}

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if tcp, ok := accepted.(*net.TCPConn); ok && err == nil {
		return connection{tcp, l.app}, nil
	}
	return accepted, err
}

type connection struct {
	*net.TCPConn
	app *app.App
}

// Write implements net.Conn.
func (c connection) Write(p []byte) (int, error) {
	refusal := refusalOf(p)
	if refusal == nil {
		return c.TCPConn.Write(p)
	}
	if _, err := c.TCPConn.Write(refused(c.app, refusal)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// plainText is the start of every response of the server itself after its status. A response of a handler has a date before it.
const plainText = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// refusalOf returns the error for which the server itself is about to answer, or nil.
func refusalOf(answer []byte) *errs.Error {
	line, _, _ := bytes.Cut(answer, []byte("\r\n"))
	switch {
	case bytes.HasPrefix(line, []byte("HTTP/1.1 417 ")):
		return errs.New(errs.BadRequest, "The Expect header only supports 100-continue.")
	case !bytes.HasPrefix(answer[len(line):], []byte(plainText)):
		return nil
	case bytes.HasPrefix(line, []byte("HTTP/1.1 431 ")):
		return errHeaders()
	default:
		return errs.New(errs.BadRequest, "This is not a valid HTTP request, or it uses an HTTP feature that is not supported.")
	}
}

// refused is the whole answer to a request that no handler has seen.
func refused(a *app.App, f *errs.Error) []byte {
	id := randomID(a)
	answer, body := errorOf(f, id)
	text, _ := json.Marshal(body) // plain values can be encoded
	text = append(text, '\n')
	a.Config.Log.Info("request", "status", answer.status, "code", answer.code, "request_id", id)
	var head strings.Builder
	fmt.Fprintf(&head, "HTTP/1.1 %d %s\r\n", answer.status, http.StatusText(answer.status))
	fmt.Fprintf(&head, "Content-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n", jsonType, len(text))
	for name, value := range commonHeaders(id) {
		fmt.Fprintf(&head, "%s: %s\r\n", name, value)
	}
	return append([]byte(head.String()+"\r\n"), text...)
}
