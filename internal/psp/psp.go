// Package psp is what holdfast needs of a card processor: to take money from a card, to give it back, and to tell later
// what became of either. An adapter for each processor lies below it. Card numbers are in none of these types: a card is
// named by a token of its tokenizer.
package psp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/money"
)

// Gateway is a card processor. Every call has a deadline in its context.
//
// An error of the type *Error says that nothing has happened and nothing will: the request did not reach the processor,
// or was refused before it was looked at. Whatever else goes wrong on the way is the outcome Unknown, with no error:
// money may have moved, and Find has to be asked. Calls with a reference that the processor has seen before give what
// became of that, and move nothing again.
type Gateway interface {
	// Check looks at an account before it is kept, without asking anybody: an *Error with the kind Refused says why it
	// cannot be one, such as a key of the other environment. Every other call refuses such an account, too.
	Check(a Account) error
	// Authorize holds an amount on a card.
	Authorize(ctx context.Context, c Charge) (Result, error)
	// Purchase takes an amount from a card.
	Purchase(ctx context.Context, c Charge) (Result, error)
	// Capture takes all or part of what was authorised; what it leaves is released by a Void.
	Capture(ctx context.Context, a Adjustment) (Result, error)
	// Refund gives back all or part of what was taken.
	Refund(ctx context.Context, a Adjustment) (Result, error)
	// Void releases what of an authorisation was not captured.
	Void(ctx context.Context, a Adjustment) (Result, error)
	// Find tells what became of a reference of ours; Absent where the processor has never seen it.
	Find(ctx context.Context, q Query) (Result, error)
	// ReadEvent verifies what a processor sent by itself and tells what it is about. An *Error with the kind Forged says
	// that it does not come from there.
	ReadEvent(a Account, e Event) (Hint, error)
	// Events lists what happened by itself at the processor since a cursor, oldest first and bounded, with the cursor
	// after it; "" begins with what is new from now on. It finds what no event came for.
	Events(ctx context.Context, a Account, cursor string) (hints []Hint, next string, err error)
}

// Operation is what a processor is asked to do.
type Operation string

// The operations.
const (
	Authorize Operation = "authorize"
	Purchase  Operation = "purchase"
	Capture   Operation = "capture"
	Refund    Operation = "refund"
	Void      Operation = "void"
)

// Account is the access of a channel to its processor. Secrets are in it: it is never stored or logged.
type Account struct {
	Live          bool   // false: test cards at the processor's and the tokenizer's sandbox hosts
	Key           string // the processor's secret key
	WebhookSecret string // by which events are verified; "" where there are none
	Tokenizer     Tokenizer
	Now           time.Time // by the clock of the channel's site: what a sandbox goes by
}

// Tokenizer is the access of a channel to the provider that holds the card numbers; empty where the processor's own
// tokens are used.
type Tokenizer struct {
	ID           string
	Key          string
	FieldsSecret string // by which a page may show its hosted fields; "" where none does
}

// Card is a card to take money from.
type Card struct {
	Token  string // of the number, at the tokenizer
	Month  int    // of expiry, 1 to 12; 0 where the token includes the expiry
	Year   int    // of expiry, four digits; 0 as above
	Holder string // "" where it was not said
}

// Shopper is who pays, as far as it was said.
type Shopper struct {
	Email     string
	IPAddress string
}

// Charge asks for money from a card.
type Charge struct {
	Account    Account
	Reference  string // ours, never used for anything else
	Amount     int64  // minor units of Currency (ISO list one; adapters know where a processor counts otherwise)
	Currency   money.Currency
	Card       Card
	Shopper    Shopper
	Descriptor string // on the cardholder's statement; "" for the merchant's own
	// ReturnURL is where the shopper lands after a challenge; "" asks for no authentication (3DS).
	ReturnURL string
}

// Adjustment asks for a change of an earlier charge.
type Adjustment struct {
	Account   Account
	Reference string // ours, never used for anything else
	Original  string // ProcessorID of the charge
	Amount    int64  // minor units; of a Void what is released
	Currency  money.Currency
}

// Query asks what became of a reference.
type Query struct {
	Account     Account
	Operation   Operation
	Reference   string    // ours
	ProcessorID string    // as far as it is known
	Original    string    // ProcessorID of the charge that the operation adjusts; "" for authorize and purchase
	Since       time.Time // when it was asked for, by the real clock
}

// Outcome is what became of a request.
type Outcome string

// The outcomes. An adapter that meets a status it does not know answers Unknown, never Declined.
const (
	Approved Outcome = "approved"
	Declined Outcome = "declined"
	Pending  Outcome = "pending" // the shopper has to pass a challenge first
	Unknown  Outcome = "unknown" // money may have moved or not
	Absent   Outcome = "absent"  // of Find: the processor has never seen the reference, and refuses it from now on or never gets it
)

// Decline says why money was refused.
type Decline string

// The reasons. DeclineOther carries its own in Result.Message.
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

// Result is what a processor says of a request.
type Result struct {
	Outcome     Outcome
	ProcessorID string // the processor's own name of it
	Amount      int64  // minor units that are held, taken, given back or released; 0 unless approved
	Decline     Decline
	Code        string // the scheme's or processor's own code of the decline
	Message     string // in words, for the merchant
	AuthCode    string
	Scheme      string // as travel names schemes: visa, mastercard …; "" where it was not said
	BIN         string
	LastFour    string
	Challenge   *Challenge // where Pending
	ThreeDS     ThreeDS
	Disputes    []Dispute // of a charge, from Find
}

// Challenge is what a shopper has to pass.
type Challenge struct {
	Type  string // "redirect"
	Value string // the address to send the shopper to
}

// ThreeDS is what came of an authentication; empty where there was none.
type ThreeDS struct {
	Status         string // authenticated, attempted, failed, unavailable, abandoned
	Flow           string // frictionless or challenge
	ECI            string
	Version        string
	DirectoryID    string // transaction id of the directory server
	LiabilityShift bool   // to the issuer
}

// DisputeState says how a dispute stands.
type DisputeState string

// The states.
const (
	DisputeOpen DisputeState = "open"
	DisputeWon  DisputeState = "won"  // the money came back
	DisputeLost DisputeState = "lost" // it did not
)

// Dispute is a chargeback of a charge.
type Dispute struct {
	ProcessorID string
	State       DisputeState
	Amount      int64 // minor units of Currency
	Currency    money.Currency
	ReasonCode  string
	OpenedAt    time.Time
	AnswerBy    time.Time // the challenge date; zero where it was not said
}

// Event is what a processor sent by itself, as it came.
type Event struct {
	Signature string
	Body      []byte
}

// Hint is what an event is about. It is not believed: whoever gets one asks Find.
type Hint struct {
	EventID     string // by which repeated deliveries are told
	Reference   string // ours, of the charge or adjustment; "" where the event does not say
	ProcessorID string // of the charge
}

// Source is who an error comes from.
type Source string

// The sources.
const (
	Network     Source = "network"
	AtTokenizer Source = "tokenizer"
	AtProcessor Source = "processor"
)

// ErrorKind says what kind of error it is.
type ErrorKind string

// The kinds.
const (
	Unreachable ErrorKind = "unreachable" // try again later
	Refused     ErrorKind = "refused"     // credentials or set-up are wrong: the operator's business
	Invalid     ErrorKind = "invalid"     // the request itself is wrong: an unknown token, a currency nobody takes
	Forged      ErrorKind = "forged"      // an event that does not come from the processor
)

// Error says that nothing has happened, and why.
type Error struct {
	Source  Source
	Kind    ErrorKind
	Code    string // the other side's own, for the log
	Field   string // of an Invalid one: what of the payment is wrong, as the wire names it; "" is the token
	Message string // without secrets and card data
	Err     error
}

// Error tells who refused and why.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s", e.Source, e.Message)
	if e.Code != "" {
		text += " (" + e.Code + ")"
	}
	return text
}

// Unwrap gives what caused it.
func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of a gateway's error; "" where it is none.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}
