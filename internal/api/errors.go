package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"holdfast/internal/errs"
)

// answerTo is the answer to one kind of fault.
type answerTo struct {
	code   string
	status int
}

// catalogue is the one map from kinds of faults to codes and statuses on the wire.
var catalogue = map[errs.Kind]answerTo{
	errs.Internal:            {"internal_error", http.StatusInternalServerError},
	errs.Invalid:             {"rest_invalid_param", http.StatusBadRequest},
	errs.Missing:             {"rest_missing_callback_param", http.StatusBadRequest},
	errs.CardNumber:          {"pan_detected", http.StatusBadRequest},
	errs.BadJSON:             {"rest_invalid_json", http.StatusBadRequest},
	errs.BodyTooLarge:        {"rest_body_too_large", http.StatusRequestEntityTooLarge},
	errs.NoRoute:             {"rest_no_route", http.StatusNotFound},
	errs.NoMethod:            {"rest_no_route", http.StatusMethodNotAllowed},
	errs.NotLoggedIn:         {"rest_not_logged_in", http.StatusUnauthorized},
	errs.TokenInvalid:        {"api_token_invalid", http.StatusUnauthorized},
	errs.JWTInvalid:          {"jwt_auth_invalid_token", http.StatusForbidden},
	errs.LoginFailed:         {"jwt_auth_failed", http.StatusForbidden},
	errs.TwoFactorRequired:   {"jwt_auth_two_factor_required", http.StatusForbidden},
	errs.TwoFactorInvalid:    {"jwt_auth_two_factor_invalid", http.StatusForbidden},
	errs.Forbidden:           {"rest_forbidden", http.StatusForbidden},
	errs.RecordNotFound:      {"rest_post_invalid_id", http.StatusNotFound},
	errs.SettingNotFound:     {"rest_term_invalid", http.StatusNotFound},
	errs.TokenLimit:          {"api_token_limit", http.StatusConflict},
	errs.TokenNotFound:       {"api_token_not_found", http.StatusNotFound},
	errs.ModalAuth:           {"jwt_auth_invalid_request", http.StatusForbidden},
	errs.PageNumber:          {"rest_post_invalid_page_number", http.StatusBadRequest},
	errs.CursorGone:          {"rest_cursor_gone", http.StatusGone},
	errs.InUse:               {"rest_cannot_delete", http.StatusConflict},
	errs.ReferenceExists:     {"transaction_reference_exists", http.StatusConflict},
	errs.Precondition:        {"rest_precondition_failed", http.StatusPreconditionFailed},
	errs.NotPossible:         {"transaction_not_possible", http.StatusConflict},
	errs.ActionNotPossible:   {"action_not_possible", http.StatusConflict},
	errs.SamePerson:          {"approval_same_person", http.StatusConflict},
	errs.IdempotencyMismatch: {"idempotency_mismatch", http.StatusUnprocessableEntity},
	errs.IdempotencyInFlight: {"idempotency_in_flight", http.StatusConflict},
	errs.TooMany:             {"rest_too_many_requests", http.StatusTooManyRequests},
	errs.BadRequest:          {"rest_bad_request", http.StatusBadRequest},
	errs.AddressTooLong:      {"rest_uri_too_long", http.StatusRequestURITooLong},
	errs.HeadersTooLarge:     {"rest_headers_too_large", http.StatusRequestHeaderFieldsTooLarge},
	errs.Unavailable:         {"service_unavailable", http.StatusServiceUnavailable},
}

// errorBody is the shape of every error.
type errorBody struct {
	Code    string    `json:"code"`
	Message string    `json:"message"`
	Data    errorData `json:"data"`
}

type errorData struct {
	Status    int    `json:"status"`
	Params    any    `json:"params,omitempty"` // names of missing fields, or messages by the names of wrong fields
	State     string `json:"state,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Oldest    string `json:"oldest,omitempty"` // a cursor
	RequestID string `json:"request_id"`
}

// fail answers with an error. An error of the program is logged with its cause, and the answer does not show the
// cause.
func (s *server) fail(c *call, err error) {
	if c.status == 0 && errors.Is(err, context.Canceled) && errors.Is(c.ctx.Err(), context.Canceled) {
		c.status = statusClientGone // the client has disconnected, which is not a failure of the service
		return
	}
	f := s.faultOf(c, err)
	answer, body := errorOf(f, c.requestID)
	if answer.status >= http.StatusInternalServerError && !c.refused {
		kind := answer.code + ": " + f.Message
		if f.Kind == errs.Internal {
			kind = answer.code + ": " + c.route + ": " + kindOfError(err)
		}
		if s.tellLeftOut(); s.failures.note(kind, s.app.DB.Clock()) {
			s.app.Config.Log.Error("request failed", "request_id", c.requestID, "code", answer.code, "error", err)
		}
	}
	if c.status != 0 { // a part of another answer is sent already
		return
	}
	if answer.status == http.StatusUnauthorized {
		c.Header().Set("WWW-Authenticate", `Bearer realm="holdfast"`)
	}
	if f.Kind == errs.TooMany || f.Kind == errs.Unavailable || f.Kind == errs.IdempotencyInFlight {
		after := f.RetryAfter
		if c.refused {
			after += s.door.later()
		}
		c.Header().Set("Retry-After", seconds(after))
	}
	c.json(answer.status, body)
}

// statusClientGone is logged when the client disconnects before the response, as other servers do.
const statusClientGone = 499

// errorOf makes the body of the answer to a fault.
func errorOf(f *errs.Error, requestID string) (answerTo, errorBody) {
	answer, ok := catalogue[f.Kind]
	if !ok {
		answer = catalogue[errs.Internal]
	}
	data := errorData{Status: answer.status, State: f.State, Reason: f.Reason, Oldest: f.Oldest, RequestID: requestID}
	switch {
	case len(f.Absent) > 0:
		data.Params = f.Absent
	case len(f.Params) > 0:
		data.Params = f.Params
	}
	return answer, errorBody{answer.code, f.Message, data}
}

// faultOf returns the fault inside an error. An error without one is an error of the program. There are two
// exceptions: the request has timed out, or the client has disconnected.
func (s *server) faultOf(c *call, err error) *errs.Error {
	if f, ok := errors.AsType[*errs.Error](err); ok && f.Kind != errs.Internal {
		return f
	}
	if c.ctx.Err() != nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		return &errs.Error{Kind: errs.Unavailable, Message: "The request took too long.", RetryAfter: time.Second}
	}
	return errs.New(errs.Internal, "Something went wrong on our side. The request id helps us find the cause.")
}

// seconds writes a duration for Retry-After: whole seconds, at least one.
func seconds(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}
