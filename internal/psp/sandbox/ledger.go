package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/psp"
)

// key names a charge: the account that made it, and its reference there.
type key struct {
	account   string // a hash of the account's key
	reference string
}

// Ledger keeps the charges of the processor. It is apart from the tables of the service, as it is with a real
// processor.
type Ledger struct {
	// Change calls fn with the text of a charge, which is empty for a new one. It stores in the same transaction what
	// fn returns: the changed text, when the cardholder charges back, and when the dispute is won (zero: never). fn
	// may run more than once. Changes of one charge wait for each other.
	Change func(ctx context.Context, account, reference string,
		fn func(text []byte) (changed []byte, disputeAt, resolvedAt time.Time, err error)) error
	// Due calls each for every dispute of an account that is opened or won after one time and up to another, in order
	// of time and at most limit times.
	Due func(ctx context.Context, account string, after, upTo time.Time, limit int, each func(reference string, at time.Time)) error
}

// state is the state of a charge.
type state string

const (
	none       state = ""
	refusedFor state = "refused" // Find asked for it before it came: from then on it is refused
	challenged state = "challenged"
	done       state = "done"
)

// entry is a charge with all that was done to it, as the ledger keeps it.
type entry struct {
	State       state
	Operation   psp.Operation
	Reference   string
	Amount      int64
	Currency    money.Currency
	Token       string
	Merchant    string
	ReturnURL   string
	At          time.Time // by the clock of the site
	Result      psp.Result
	Captured    int64
	Refunded    int64
	Released    int64
	Adjustments map[string]adjustment // by reference
	Disputed    int64                 // amount that was charged back; 0: none yet
}

// adjustment is a capture, refund or void of a charge.
type adjustment struct {
	Operation psp.Operation
	Amount    int64
	Result    psp.Result
}

// change reads, changes and stores a charge. fn may run more than once.
func (g *Gateway) change(ctx context.Context, of key, fn func(e *entry) error) error {
	store := func(text []byte) (changed []byte, disputeAt, resolvedAt time.Time, err error) {
		e := entry{Reference: of.reference}
		if len(text) > 0 {
			if err := json.Unmarshal(text, &e); err != nil {
				return nil, disputeAt, resolvedAt, fmt.Errorf("the ledger of the sandbox cannot be read: %w", err)
			}
		}
		if err := fn(&e); err != nil {
			return nil, disputeAt, resolvedAt, err
		}
		disputeAt, resolvedAt = e.disputeDays()
		changed, err = json.Marshal(e)
		return changed, disputeAt, resolvedAt, err
	}
	return g.ledger.Change(ctx, of.account, of.reference, store)
}

// How long after the payment a cardholder charges back, how long after that the dispute is won, and how long it can
// be answered.
const (
	disputeAfter = 3 * 24 * time.Hour
	resolveAfter = 7 * 24 * time.Hour
	answerWithin = 14 * 24 * time.Hour
)

// disputeDays is when the charge is charged back and when the money comes back. Each is zero when it does not happen.
func (e *entry) disputeDays() (opened, won time.Time) {
	if e.State != done || e.Result.Outcome != psp.Approved {
		return opened, won
	}
	c, _ := CardOf(e.Token)
	switch conductOf(c, e.Amount).dispute {
	case chargedAndWon:
		won = e.At.Add(disputeAfter + resolveAfter)
		fallthrough
	case charged:
		opened = e.At.Add(disputeAfter)
	}
	return opened, won
}

// disputes are the disputes of the charge at a time. The first call keeps the disputed amount: later refunds do not
// change it.
func (e *entry) disputes(now time.Time) []payment.Dispute {
	opened, won := e.disputeDays()
	if opened.IsZero() || now.Before(opened) {
		return nil
	}
	if e.Disputed == 0 {
		e.Disputed = e.Captured - e.Refunded
	}
	if e.Disputed == 0 {
		return nil
	}
	d := payment.Dispute{
		ProcessorID: "sd_" + e.Reference, Outcome: payment.DisputePending, Total: e.Disputed, Currency: e.Currency,
		ReasonCode: "13.1", OpenedAt: opened, ChallengeDay: civil.DayOf(opened.Add(answerWithin)),
	}
	if !won.IsZero() && !now.Before(won) {
		d.Outcome = payment.DisputeWon
	}
	return []payment.Dispute{d}
}
