// Package errs holds the program's error type. The code that knows the cause creates the error, and callers wrap it
// with %w. Only two places look at its Kind: package api turns it into a status and a body, and package jobs decides
// whether to retry.
package errs

import (
	"errors"
	"fmt"
	"time"
)

// Kind is the kind of an error. Each kind is one row of the error catalogue (section 7). Only package api knows
// the code and the status of each.
type Kind int

// The kinds: one for each error that a caller may want to handle differently.
const (
	// Internal: the error is ours. Errors of any other type have this kind too.
	Internal Kind = iota
	// Invalid: one or more fields are wrong. Params names them.
	Invalid
	// Missing: one or more required fields are absent. Absent names them.
	Missing
	// CardNumber: a text in the request contains a card number.
	CardNumber
	// BadJSON: the body is not a JSON object.
	BadJSON
	// BodyTooLarge: the body is too large.
	BodyTooLarge
	// NoRoute: the path does not exist.
	NoRoute
	// NoMethod: the path exists, but not with this method.
	NoMethod
	// NotLoggedIn: the request carries no credentials.
	NotLoggedIn
	// TokenInvalid: the API token is unknown, deleted or expired.
	TokenInvalid
	// JWTInvalid: the JWT is malformed, expired or badly signed.
	JWTInvalid
	// LoginFailed: the user name or the password is wrong.
	LoginFailed
	// TwoFactorRequired: the user has a second factor, and the login came without it.
	TwoFactorRequired
	// TwoFactorInvalid: the second factor is wrong.
	TwoFactorInvalid
	// Forbidden: the caller may not do this.
	Forbidden
	// RecordNotFound: the booking or transaction does not exist for this caller.
	RecordNotFound
	// SettingNotFound: the channel, supplier or site does not exist for this caller.
	SettingNotFound
	// TokenLimit: the site already has the maximum number of API tokens.
	TokenLimit
	// TokenNotFound: the API token to delete does not exist.
	TokenNotFound
	// ModalAuth: the auth string of the payment modal is wrong or expired.
	ModalAuth
	// PageNumber: the page is past the end of the list.
	PageNumber
	// CursorGone: events after the feed cursor were removed. Oldest says where to start again.
	CursorGone
	// InUse: the object cannot be deleted because something refers to it.
	InUse
	// ReferenceExists: another payment, with other content, has this reference.
	ReferenceExists
	// Precondition: the object has changed since the version in If-Match.
	Precondition
	// NotPossible: the operation is not possible in the current state. Reason says why, in one word.
	NotPossible
	// ActionNotPossible: the state of the object does not allow the action. State is that state, and Reason says why.
	ActionNotPossible
	// SamePerson: the action needs a second person, and the caller is the first one.
	SamePerson
	// IdempotencyMismatch: the idempotency key was used before with another body.
	IdempotencyMismatch
	// IdempotencyInFlight: the first request with this idempotency key is still in progress. RetryAfter says how long to wait.
	IdempotencyInFlight
	// TooMany: there were too many requests. RetryAfter says how long to wait.
	TooMany
	// BadRequest: the request is not valid HTTP.
	BadRequest
	// AddressTooLong: the URL of the request is too long.
	AddressTooLong
	// HeadersTooLarge: the headers of the request are too large.
	HeadersTooLarge
	// Unavailable: the database or the processor cannot be reached. RetryAfter says how long to wait.
	Unavailable
)

// Error is an error with a kind, for the program, and a message, for the caller.
type Error struct {
	Kind       Kind
	Message    string            // one sentence for the caller, without secrets and without names of travellers
	Params     map[string]string // the problem by field (Invalid)
	Absent     []string          // names of the missing fields (Missing)
	Reason     string            // one snake_case word (NotPossible, ActionNotPossible)
	State      string            // of the object (ActionNotPossible)
	Oldest     string            // the cursor of the oldest available event (CursorGone)
	RetryAfter time.Duration     // how long to wait (TooMany, Unavailable, IdempotencyInFlight)
	Err        error             // the cause, for the log
}

// New returns an error of a kind, with a message for the caller.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// NotPossibleBecause returns a NotPossible error with its reason: one snake_case word.
func NotPossibleBecause(reason, format string, args ...any) *Error {
	return &Error{Kind: NotPossible, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Error implements error: the message, and the cause where there is one.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first *Error in the chain of err. It is Internal when there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Is reports whether err has this kind. A nil error has none.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }
