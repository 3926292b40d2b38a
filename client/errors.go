package client

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Error is an error response of the API. Later versions may add codes: if you do not know the Code, handle the Status.
type Error struct {
	Status    int               // HTTP status: 400, 403, 404, 409 …
	Code      string            // such as rest_invalid_param; empty if the response is not from the API but, for example, from a proxy
	Message   string            // one sentence in English
	Params    map[string]string // the problem with each invalid field
	Missing   []string          // missing fields, if there are no other problems
	Reason    string            // one word, such as why a transaction is not possible
	RequestID string            // identifies the request in the service's log
	Oldest    string            // with rest_cursor_gone: the cursor to continue from
	// RetryAfter is how long to wait before retrying the request, or 0 if the response has no Retry-After.
	RetryAfter time.Duration
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", e.Status, e.Code)
	if e.Code == "" {
		fmt.Fprintf(&b, "%s, which is no answer of the API", http.StatusText(e.Status))
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Params)) {
		fmt.Fprintf(&b, " %s: %s", name, e.Params[name])
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, " (request %s)", e.RequestID)
	}
	return b.String()
}

// WaitingError means that the change has not been made yet: outside a sandbox it needs the approval of a second person.
// Proposals returns it.
type WaitingError struct{ Proposal Proposal }

// Error implements error.
func (e *WaitingError) Error() string {
	return fmt.Sprintf("the change waits for another person, as proposal %d", e.Proposal.ID)
}

// errorOf reads an error response.
func errorOf(status int, header http.Header, body []byte) *Error {
	e := &Error{Status: status}
	// Proxies may send a date here, which is ignored: this package has no clock.
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = time.Duration(min(seconds, 24*60*60)) * time.Second
	}
	var said struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Params    json.RawMessage `json:"params"`
			Reason    string          `json:"reason"`
			RequestID string          `json:"request_id"`
			Oldest    string          `json:"oldest"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &said) != nil || said.Code == "" {
		return e
	}
	e.Code, e.Message, e.Reason, e.RequestID = said.Code, said.Message, said.Data.Reason, said.Data.RequestID
	e.Oldest = said.Data.Oldest
	if json.Unmarshal(said.Data.Params, &e.Params) != nil {
		e.Params = nil
		_ = json.Unmarshal(said.Data.Params, &e.Missing) // it is one of the two, or absent
	}
	return e
}

// nothingStored reports whether the service rejected the request before it did anything, so that it is safe to retry.
func (e *Error) nothingStored() bool {
	return e.Code == "rest_too_many_requests" || e.Code == "service_unavailable" && e.Reason != "outcome_unknown"
}

// unclear reports whether the outcome of a request is unknown: docs/reliability.md has the table.
func (e *Error) unclear() bool {
	switch {
	case e.Code == "service_unavailable" || e.Code == "idempotency_in_flight":
		return true
	default:
		return e.Status == http.StatusTooManyRequests || e.Status >= 500 && e.Status != http.StatusNotImplemented
	}
}
