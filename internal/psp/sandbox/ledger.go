package sandbox

import (
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

// state is the state of a charge.
type state string

const (
	none       state = ""
	refusedFor state = "refused" // Find asked for it before it arrived: from then on it is rejected
	challenged state = "challenged"
	done       state = "done"
)

// entry is a charge in the ledger, with everything that was done to it.
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
