// Package fault holds the one error type of the program. An error is made where its cause is known, travels up
// wrapped with %w, and is looked at twice only: the api turns its Kind into a status and a body, the jobs decide by
// it whether to try again.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what sort of thing went wrong. Each kind is one row of the error catalogue of the wire; which code and
// status stand for it there is known to the api alone.
type Kind int

// The kinds, one for each condition that a caller can tell apart.
const (
	// Internal is our own fault; it is the kind of every error that is not a fault.
	Internal Kind = iota
	// Invalid: one or more fields are wrong; Params names them.
	Invalid
	// Missing: one or more required fields are absent; Absent names them.
	Missing
	// CardNumber: a text of the input holds a card number.
	CardNumber
	// BadJSON: the body is not a JSON object.
	BadJSON
	// BodyTooLarge: the body is over its maximum.
	BodyTooLarge
	// NoRoute: nothing answers at this path.
	NoRoute
	// NoMethod: something answers at this path, but not to this method.
	NoMethod
	// NotLoggedIn: the request carries no credentials.
	NotLoggedIn
	// TokenInvalid: the API token is unknown, deleted or expired.
	TokenInvalid
	// JWTInvalid: the JWT is malformed, expired or badly signed.
	JWTInvalid
	// LoginFailed: user name or password is wrong.
	LoginFailed
	// TwoFactorRequired: the user has a second factor and the login lacks it.
	TwoFactorRequired
	// TwoFactorInvalid: the second factor is wrong.
	TwoFactorInvalid
	// Forbidden: the caller is known, but may not do this.
	Forbidden
	// RecordNotFound: there is no such booking or transaction for this caller.
	RecordNotFound
	// SettingNotFound: there is no such channel, supplier or site for this caller.
	SettingNotFound
	// TokenLimit: the site already has as many API tokens as it may.
	TokenLimit
	// TokenNotFound: there is no such API token to delete.
	TokenNotFound
	// ModalAuth: the auth string of the payment modal is wrong or expired.
	ModalAuth
	// PageNumber: the page asked for lies past the end of the collection.
	PageNumber
	// InUse: what is to be deleted is still referred to.
	InUse
	// ReferenceExists: the payment reference is taken by a payment with other content.
	ReferenceExists
	// Precondition: If-Match does not match.
	Precondition
	// NotPossible: the transaction cannot be done in this state; Reason says why in one word.
	NotPossible
	// IdempotencyMismatch: the idempotency key was used before with another body.
	IdempotencyMismatch
	// IdempotencyInFlight: the first request with this idempotency key is still being answered.
	IdempotencyInFlight
	// TooMany: the caller has to slow down; RetryAfter says for how long.
	TooMany
	// Unavailable: the database or the processor is out of reach; RetryAfter says when to try again.
	Unavailable
)

// Error is what went wrong, for the caller to read and for the program to decide on.
type Error struct {
	Kind       Kind
	Message    string            // one sentence for the caller; never holds a secret or a traveller's name
	Params     map[string]string // field name to what is wrong with it (Invalid)
	Absent     []string          // names of the missing fields (Missing)
	Reason     string            // one snake_case word (NotPossible)
	RetryAfter time.Duration     // TooMany, Unavailable
	Err        error             // the cause, for the log
}

// New returns a fault of the given kind with a message for the caller.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// NotPossibleBecause returns a NotPossible fault with its one-word reason.
func NotPossibleBecause(reason, format string, args ...any) *Error {
	return &Error{Kind: NotPossible, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first fault in the chain of err, Internal where there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Is reports whether err is a fault of the given kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }
