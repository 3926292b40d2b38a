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

// Error is an answer of the API that says no. Later versions may have more codes: go by the Status when you do not know the
// Code.
type Error struct {
	Status    int               // of HTTP: 400, 403, 404, 409 …
	Code      string            // such as rest_invalid_param; empty if something else than the API answered, such as a proxy
	Message   string            // one sentence for people
	Params    map[string]string // what is wrong with each wrong field
	Missing   []string          // the fields that are missing, if nothing else is wrong
	Reason    string            // one word, for example why a transaction is not possible
	RequestID string            // names the request in the service's log
	Oldest    string            // of rest_cursor_gone: the cursor to go on with
	// RetryAfter is how long to wait before the same request is sent again. 0 if the answer does not say it.
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

// WaitingError says that nothing was done yet: outside a sandbox, the change needs a second person. Proposals shows it.
type WaitingError struct{ Proposal Proposal }

// Error implements error.
func (e *WaitingError) Error() string {
	return fmt.Sprintf("the change waits for another person, as proposal %d", e.Proposal.ID)
}

// errorOf reads the answer that says no.
func errorOf(status int, header http.Header, body []byte) *Error {
	e := &Error{Status: status}
	// Proxies may write a date here. It is not taken: this package has no clock.
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

// nothingStored says that the service refused a request before it did anything, so that whoever sent it may send it again.
func (e *Error) nothingStored() bool {
	return e.Code == "rest_too_many_requests" || e.Code == "service_unavailable" && e.Reason != "outcome_unknown"
}

// unclear says that a request may have been carried out or not: docs/reliability.md has the table.
func (e *Error) unclear() bool {
	switch {
	case e.Code == "service_unavailable" || e.Code == "idempotency_in_flight":
		return true
	default:
		return e.Status == http.StatusTooManyRequests || e.Status >= 500 && e.Status != http.StatusNotImplemented
	}
}
