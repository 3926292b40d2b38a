package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// answerTime is how long a complete response may take. The product's own limit is shorter.
const answerTime = 70 * time.Second

// conn is a keep-alive connection. It sends prepared bytes and parses only the parts of a response that it needs, because
// client and server share the processors.
type conn struct {
	net     net.Conn
	read    *bufio.Reader
	bytes   int    // of the last response, including headers
	expect  int    // responses with this status need no body
	body    []byte // of the last response, if it had another status
	retries bool   // the last response had Retry-After
}

func dial(ctx context.Context, address string) (*conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &conn{net: c, read: bufio.NewReaderSize(c, 64<<10)}, nil
}

func (c *conn) close() { _ = c.net.Close() } // nothing is left to send

var errAnswer = errors.New("the response is not HTTP/1.1")

// do sends a request and reads the complete response.
func (c *conn) do(request []byte) (status int, err error) {
	if err := c.net.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return 0, err
	}
	if _, err := c.net.Write(request); err != nil {
		return 0, err
	}
	c.bytes, c.retries, c.body = 0, false, c.body[:0]
	line, err := c.line()
	if err != nil {
		return 0, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, errAnswer
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, errAnswer
	}
	length, err := c.head()
	if err != nil {
		return 0, err
	}
	if length >= 0 {
		return status, c.take(length, !wanted(status, c.expect))
	}
	return status, c.chunks(!wanted(status, c.expect))
}

// line reads one line without the line ending.
func (c *conn) line() ([]byte, error) {
	line, err := c.read.ReadSlice('\n')
	c.bytes += len(line)
	return bytes.TrimRight(line, "\r\n"), err
}

// head reads the headers and returns the length of the body, or -1 if it is chunked.
func (c *conn) head() (length int, err error) {
	for {
		line, err := c.line()
		if err != nil || len(line) == 0 {
			return length, err
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, errAnswer
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			length = -1
		case bytes.EqualFold(name, []byte("Retry-After")):
			c.retries = true
		}
	}
}

// take reads n bytes of the body.
func (c *conn) take(n int, keep bool) error {
	c.bytes += n
	if !keep {
		_, err := c.read.Discard(n)
		return err
	}
	at := len(c.body)
	c.body = append(c.body, make([]byte, n)...)
	_, err := io.ReadFull(c.read, c.body[at:])
	return err
}

func (c *conn) chunks(keep bool) error {
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(string(line), 16, 31)
		if err != nil {
			return errAnswer
		}
		if err := c.take(int(n), keep); err != nil {
			return err
		}
		if _, err := c.line(); err != nil || n == 0 {
			return err
		}
	}
}

// request builds the bytes of a request.
func request(into []byte, method, path, token string, body []byte) []byte {
	into = append(into[:0], method...)
	into = append(into, ' ')
	into = append(into, path...)
	into = append(into, " HTTP/1.1\r\nHost: bench\r\n"...)
	if token != "" {
		into = append(into, "Authorization: Bearer "...)
		into = append(into, token...)
		into = append(into, "\r\n"...)
	}
	if body != nil {
		into = append(into, "Content-Type: application/json\r\nContent-Length: "...)
		into = strconv.AppendInt(into, int64(len(body)), 10)
		into = append(into, "\r\n"...)
	}
	into = append(into, "\r\n"...)
	return append(into, body...)
}

// ask makes one request, which must return one of the statuses, and returns the body.
func ask(ctx context.Context, address, method, path, token string, body []byte, statuses ...int) ([]byte, error) {
	c, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	status, err := c.do(request(nil, method, path, token, body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	for _, wanted := range statuses {
		if status == wanted {
			return c.body, nil
		}
	}
	return nil, fmt.Errorf("%s %s returned status %d: %.300s", method, path, status, c.body)
}
