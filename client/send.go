package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// mostBytes is the largest response that is read, after decompression. No page or report comes close.
const mostBytes = 64 << 20

// CallOption configures one call.
type CallOption func(r *request)

// WithIdempotencyKey sets the idempotency key, instead of one that the client generates for each call. A program that
// may be restarted between two attempts stores the key with its order and repeats the same call within 30 days. A key
// has at most 191 printable ASCII characters.
func WithIdempotencyKey(key string) CallOption { return func(r *request) { r.key = key } }

// IfMatch makes the change fail with 412 if the object's ETag has changed.
func IfMatch(tag string) CallOption { return func(r *request) { r.match = tag } }

// KeepETag stores the object's ETag in the variable, for IfMatch.
func KeepETag(tag *string) CallOption { return func(r *request) { r.tag = tag } }

// request is one call of the API, however often it is sent.
type request struct {
	method string
	path   string
	query  url.Values
	body   []byte
	kind   string // of the body; "" is JSON
	bearer string // if they differ from those of the client
	open   bool   // without credentials
	safe   bool   // repeating it has no further effect
	noKey  bool   // the response has a secret that is shown once, so the API takes no key
	key    string
	match  string
	tag    *string
}

// answer is a response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// call makes a request with the options of a call. in is the body, or nil.
func (c *connection) call(ctx context.Context, r request, in any, options []CallOption) (answer, error) {
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return answer{}, fmt.Errorf("the body of %s %s: %w", r.method, r.path, err)
		}
		r.body = text
	}
	for _, option := range options {
		option(&r)
	}
	if r.method != http.MethodGet && !r.noKey && r.key == "" {
		r.key = newKey()
	}
	r.safe = r.safe || r.method == http.MethodGet || r.key != ""
	got, err := c.repeat(ctx, &r)
	if err != nil {
		return got, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	if r.tag != nil {
		*r.tag = got.header.Get("ETag")
	}
	return got, nil
}

// firstWait is the longest wait before the second attempt. It doubles with each attempt.
const firstWait = 500 * time.Millisecond

// repeat sends the request until its outcome is known or the attempts are used up.
func (c *connection) repeat(ctx context.Context, r *request) (answer, error) {
	renewed := false
	for attempt, wait := 1, firstWait; ; attempt, wait = attempt+1, 2*wait {
		used := r.bearer
		if !r.open && used == "" {
			var err error
			if used, err = c.credentials.bearer(ctx, c, ""); err != nil {
				return answer{}, err
			}
		}
		got, err := c.once(ctx, r, used)
		if err == nil {
			return got, nil
		}
		failed := (*Error)(nil)
		answered := errors.As(err, &failed)
		// An access token expires after fifteen minutes, and the service then does nothing. So this does not count as
		// an attempt.
		if answered && failed.Code == "jwt_auth_invalid_token" && !r.open && r.bearer == "" && !renewed {
			renewed = true
			if _, problem := c.credentials.bearer(ctx, c, used); problem != nil {
				return answer{}, errors.Join(err, problem)
			}
			attempt--
			continue
		}
		switch {
		case ctx.Err() != nil:
			return got, errors.Join(err, ctx.Err())
		case attempt >= c.attempts:
			return got, err
		case answered && !failed.nothingStored() && !(r.safe && failed.unclear()):
			return got, err
		case !answered && !r.safe:
			return got, err
		}
		pause := wait/2 + jitter(wait/2)
		if answered && failed.RetryAfter > 0 {
			pause = failed.RetryAfter + jitter(wait/2)
			if failed.RetryAfter > c.patience {
				return got, err
			}
		}
		if problem := c.sleep(ctx, min(pause, max(c.patience, time.Second))); problem != nil {
			return got, errors.Join(err, problem)
		}
	}
}

// once sends the request once.
func (c *connection) once(ctx context.Context, r *request, bearer string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	address := *c.base
	address.Path += r.path
	address.RawQuery = r.query.Encode()
	sent, err := http.NewRequestWithContext(ctx, r.method, address.String(), bytes.NewReader(r.body))
	if err != nil {
		return answer{}, err
	}
	sent.Header.Set("Accept", "application/json")
	sent.Header.Set("User-Agent", "holdfast-client-go")
	for name, value := range map[string]string{"Idempotency-Key": r.key, "If-Match": r.match} {
		if value != "" {
			sent.Header.Set(name, value)
		}
	}
	if r.body != nil {
		sent.Header.Set("Content-Type", cmp.Or(r.kind, "application/json"))
	}
	if bearer != "" {
		sent.Header.Set("Authorization", "Bearer "+bearer)
	}
	response, err := c.http.Do(sent)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, mostBytes+1))
	if err != nil {
		return answer{}, fmt.Errorf("the answer broke off: %w", err)
	}
	got := answer{response.StatusCode, response.Header, body}
	switch {
	case response.StatusCode < 200 || response.StatusCode > 299:
		return got, errorOf(response.StatusCode, response.Header, body)
	case len(body) > mostBytes:
		// A retry would return the same. So this is a response, not a network failure.
		return answer{}, &Error{Status: response.StatusCode, Message: fmt.Sprintf("The answer has more than %d bytes.", mostBytes)}
	}
	return got, nil
}

// resource is the URL of one of the site's resources.
func (c *connection) resource(parts ...any) string {
	return c.siteAddress(append([]any{c.segments.rest, c.segments.service, "v2"}, parts...)...)
}

// siteAddress is a URL under the site. The parts are strings and ids.
func (c *connection) siteAddress(parts ...any) string {
	path := "/" + c.site
	for _, part := range parts {
		path += "/" + fmt.Sprint(part)
	}
	return path
}

// one reads or changes one object. in is the body, or nil. The error is a *WaitingError if the change needs a second
// person.
func one[T any](ctx context.Context, c *connection, r request, in any, options []CallOption) (made T, err error) {
	got, err := c.call(ctx, r, in, options)
	if err != nil {
		return made, err
	}
	if got.status == http.StatusAccepted {
		waiting := &WaitingError{}
		if err := parse(r, got.body, &waiting.Proposal); err != nil {
			return made, err
		}
		return made, waiting
	}
	return made, parse(r, got.body, &made)
}

func parse(r request, body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s %s: the answer is not what the API promises: %w", r.method, r.path, err)
	}
	return nil
}

// get reads one object.
func get[T any](ctx context.Context, c *connection, path string, query any, options ...CallOption) (T, error) {
	return one[T](ctx, c, request{method: http.MethodGet, path: path, query: values(query)}, nil, options)
}

// create creates one object.
func create[T any](ctx context.Context, c *connection, path string, in any, options []CallOption) (T, error) {
	return one[T](ctx, c, request{method: http.MethodPost, path: path}, in, options)
}

// change changes one object.
func change[T any](ctx context.Context, c *connection, path string, in any, options []CallOption) (T, error) {
	return one[T](ctx, c, request{method: http.MethodPut, path: path}, in, options)
}

// remove deletes one object.
func remove(ctx context.Context, c *connection, path string, options []CallOption) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: path}, nil, options)
	return err
}

// values encodes the parameters of a query: a struct with query tags, or nil. Empty fields are omitted.
func values(query any) url.Values {
	made := url.Values{}
	if query == nil {
		return made
	}
	v := reflect.ValueOf(query)
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Tag.Get("query"), v.Field(i)
		if field.IsZero() {
			continue
		}
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		if field.Kind() != reflect.Slice {
			made.Set(name, fmt.Sprint(field.Interface()))
			continue
		}
		list := make([]string, field.Len())
		for j := range list {
			list[j] = fmt.Sprint(field.Index(j).Interface())
		}
		// Values are separated by commas. A value that contains a comma is sent as a repeated parameter.
		if strings.Contains(strings.Join(list, ""), ",") {
			made[name+"[]"] = list
			continue
		}
		made.Set(name, strings.Join(list, ","))
	}
	return made
}

// integer parses a header with a number, or returns 0.
func integer(header http.Header, name string) int64 {
	n, err := strconv.ParseInt(header.Get(name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
