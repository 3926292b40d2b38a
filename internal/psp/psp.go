// Package psp defines what holdfast needs from a card processor: charge a card, refund it, and report later how a
// request ended. Each processor has an adapter in a subpackage. No type here holds a card number: a token of the
// tokenizer replaces the card.
package psp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
)

// Gateway is a card processor. The context of each call has a deadline.
//
// An *Error means that no money has moved and none will: the request did not reach the processor, or the processor
// rejected it. Every other failure is the outcome Unknown, without an error: money may have moved, and Find returns the
// outcome later. A call with a reference that the processor already knows moves nothing: it returns the outcome of the
// first call.
type Gateway interface {
	// Check validates an account before it is stored, without a request to the processor. An *Error of the kind Refused
	// describes the problem, such as a live key on a test channel. All other calls reject such an account too.
	Check(a Account) error
	// Authorize holds an amount on a card.
	Authorize(ctx context.Context, c Charge) (Result, error)
	// Purchase takes an amount from a card.
	Purchase(ctx context.Context, c Charge) (Result, error)
	// Capture takes all or a part of the amount that was authorised. A Void releases the rest.
	Capture(ctx context.Context, a Adjustment) (Result, error)
	// Refund gives back all or a part of the amount that was taken.
	Refund(ctx context.Context, a Adjustment) (Result, error)
	// Void releases the part of an authorisation that was not captured.
	Void(ctx context.Context, a Adjustment) (Result, error)
	// Find returns the outcome of the request with one of our references: Absent if the processor never received it.
	Find(ctx context.Context, q Query) (Result, error)
	// ReadEvent checks the signature of a webhook notice and says which payment it is about. The error is an *Error
	// of the kind Forged when the notice does not come from the processor.
	ReadEvent(a Account, e Event) (Notice, error)
	// Events lists what has happened at the processor since a cursor, oldest first, and returns the next cursor. One
	// call lists a limited number. The cursor "" starts now. Events finds what webhook notices have missed.
	Events(ctx context.Context, a Account, cursor string) (notices []Notice, next string, err error)
}

// Operation is what we ask a processor to do.
type Operation string

// The operations.
const (
	Authorize Operation = "authorize"
	Purchase  Operation = "purchase"
	Capture   Operation = "capture"
	Refund    Operation = "refund"
	Void      Operation = "void"
)

// Account is the access of a channel to its processor. It holds secrets, so it is never stored or logged.
type Account struct {
	Live          bool   // false: test cards, at the test hosts of processor and tokenizer
	Key           string // the secret key at the processor
	WebhookSecret string // checks the signature of webhook notices; "" when there are none
	Tokenizer     Tokenizer
	Now           time.Time // by the clock of the channel's site, for the sandbox processor
}

// Tokenizer is the access of a channel to the provider that keeps the card numbers (section 1). It is empty when the
// channel uses the tokens of its processor.
type Tokenizer struct {
	ID           string
	Key          string
	FieldsSecret string // signs for its hosted fields in a page; "" when no page shows them
}

// Card is the card that pays.
type Card struct {
	Token  string // replaces the card number, at the tokenizer
	Month  int    // of expiry, 1 to 12; 0 when the token includes the expiry
	Year   int    // of expiry, four digits; 0 when the token includes the expiry
	Holder string // name of the cardholder; "" when it is not known
}

// Shopper is the person who pays. Each field is "" when it is not known.
type Shopper struct {
	Email     string
	IPAddress string
}

// Charge is a request to take or to hold money of a card.
type Charge struct {
	Account    Account
	Reference  string // ours, used for this request only
	Amount     int64  // minor units of Currency, by ISO 4217; adapters convert where a processor counts differently
	Currency   money.Currency
	Card       Card
	Shopper    Shopper
	Merchant   string // the name by which shoppers know the merchant
	Descriptor string // text on the cardholder's statement; "" for the default of the merchant
	// ReturnURL is the page to which the shopper comes back after a challenge. With "" there is no authentication
	// (3DS).
	ReturnURL string
}

// Adjustment is a request to capture, refund or void an earlier charge.
type Adjustment struct {
	Account   Account
	Reference string // ours, used for this request only
	Original  string // ProcessorID of the charge
	Amount    int64  // minor units to capture, give back or release
	Currency  money.Currency
}

// Query asks for the outcome of the request with a reference.
type Query struct {
	Account     Account
	Operation   Operation
	Reference   string    // ours
	ProcessorID string    // "" when it is not known
	Original    string    // ProcessorID of the charge that is adjusted; "" for authorize and purchase
	Since       time.Time // when the request was sent, by the real clock
}

// Outcome says how a request ended.
type Outcome string

// The outcomes. A status that an adapter does not know is Unknown, never Declined.
const (
	Approved Outcome = "approved"
	Declined Outcome = "declined"
	Pending  Outcome = "pending" // the shopper has to pass a challenge first
	Unknown  Outcome = "unknown" // money may have moved or not
	Absent   Outcome = "absent"  // only from Find: the processor never received the request, and it can no longer arrive
)

// Decline says why money was refused.
type Decline string

// The reasons. For DeclineOther the Message of the Result says more.
const (
	DeclineGeneric          Decline = "do_not_honour"
	DeclineFunds            Decline = "insufficient_funds"
	DeclineExpired          Decline = "expired_card"
	DeclineCode             Decline = "incorrect_security_code"
	DeclineNumber           Decline = "incorrect_number"
	DeclineLost             Decline = "lost_card"
	DeclineStolen           Decline = "stolen_card"
	DeclineFraud            Decline = "suspected_fraud"
	DeclineLimit            Decline = "limit_exceeded"
	DeclineNotSupported     Decline = "not_supported" // card, currency or kind of payment
	DeclineAuthenticate     Decline = "authentication_required"
	DeclineNotAuthenticated Decline = "authentication_failed"
	DeclineAbandoned        Decline = "authentication_abandoned"
	DeclineProcessor        Decline = "processing_error"
	DeclineOther            Decline = "other"
)

// Result is the answer of a processor.
type Result struct {
	Outcome     Outcome
	ProcessorID string // the id at the processor
	Amount      int64  // minor units that are held, taken, given back or released; 0 unless approved
	Decline     Decline
	Code        string // the code of the decline at the scheme or the processor
	Message     string // in words, for the merchant
	AuthCode    string
	Scheme      string // such as visa, as in package card; "" if unknown
	BIN         string
	LastFour    string
	Challenge   *payment.Challenge // when the outcome is Pending
	ThreeDS     payment.ThreeDS
	Disputes    []payment.Dispute // of a charge, only from Find
}

// Event is a webhook notice of a processor, as it came.
type Event struct {
	Signature string
	Body      []byte
}

// Notice says which payment an event is about. It is not proof: the recipient calls Find.
type Notice struct {
	EventID     string // the same for repeated deliveries of an event
	Reference   string // ours, of the charge or adjustment; "" when the event does not say
	ProcessorID string // of the charge
}

// Source says where an error comes from.
type Source string

// The sources.
const (
	Network     Source = "network"
	AtTokenizer Source = "tokenizer"
	AtProcessor Source = "processor"
)

// ErrorKind says what to do about an error.
type ErrorKind string

// The kinds.
const (
	Unreachable ErrorKind = "unreachable" // try again later
	Refused     ErrorKind = "refused"     // the credentials or the set-up are wrong: the operator has to act
	Invalid     ErrorKind = "invalid"     // the request is wrong, such as an unknown token
	Forged      ErrorKind = "forged"      // the event does not come from the processor
)

// Error means that nothing happened at the processor, and why.
type Error struct {
	Source  Source
	Kind    ErrorKind
	Code    string // the code of the tokenizer or the processor, for the log
	Field   string // for Invalid: the wrong field of the transaction (section 2.6); "" is the token
	Message string // without secrets and card data
	Err     error  // the cause, for the log
}

// Error returns the source, the message and the code.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s", e.Source, e.Message)
	if e.Code != "" {
		text += " (" + e.Code + ")"
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first *Error in the chain of err, or "" when there is none.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}
