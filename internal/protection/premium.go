package protection

import (
	"fmt"
	"math/big"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// PremiumKind says what a line of the premium ledger is (R10).
type PremiumKind string

// The kinds of lines.
const (
	PremiumOriginal   PremiumKind = "original"
	PremiumAdditional PremiumKind = "additional"
	PremiumReturn     PremiumKind = "return"
	PremiumCorrection PremiumKind = "correction"
)

// PremiumKinds lists them.
var PremiumKinds = []PremiumKind{PremiumOriginal, PremiumAdditional, PremiumReturn, PremiumCorrection}

// PremiumCause says what a line was booked for.
type PremiumCause string

// The causes of lines.
const (
	CausePurchase   PremiumCause = "purchase"
	CauseRefund     PremiumCause = "refund"
	CauseReDate     PremiumCause = "re_dated"
	CauseLateFixing PremiumCause = "late_fixing"
	CauseCorrection PremiumCause = "correction"
)

// PremiumCauses lists them.
var PremiumCauses = []PremiumCause{CausePurchase, CauseRefund, CauseReDate, CauseLateFixing, CauseCorrection}

// PremiumState is what the premium of an allocation is computed on, and what it comes to (R10).
type PremiumState struct {
	Amount  int64           // a − refunds
	Value   int64           // its PV at the locked rate, in the policy's currency
	Lead    int64           // D − P in days; negative: paid after travel, no premium
	Line    travel.RateLine // of the rate card; zero where the lead is negative
	Premium int64           // π
	Minimum bool            // π is the minimum per line
}

// NegativeLead flags a state without a price: travel was over when it was paid.
func (s PremiumState) NegativeLead() bool { return s.Lead < 0 }

// PremiumState prices the allocation by R10 under the policy in force on P, for a travel that ends on a day and what
// was refunded. It is for allocations whose rate is locked. Chargebacks and reversals never move premium.
func (a Allocation) PremiumState(policy travel.Policy, end civil.Day, refunded int64) (PremiumState, error) {
	s := PremiumState{Amount: max(0, a.Amount-refunded), Lead: int64(end - a.Paid())}
	var err error
	if s.Value, err = a.Quote.Convert(s.Amount); err != nil {
		return PremiumState{}, err
	}
	if s.NegativeLead() {
		return s, nil
	}
	line, ok := policy.RateCard.Line(a.ChannelID, s.Lead)
	if !ok {
		return PremiumState{}, fmt.Errorf("policy %d prices no lead of %d days", policy.ID, s.Lead)
	}
	s.Line = line
	s.Premium, err = money.Round(new(big.Int).Mul(big.NewInt(s.Value), big.NewInt(line.PPM)), big.NewInt(1_000_000))
	if s.Premium > 0 && s.Premium < policy.MinimumPerLine {
		s.Premium, s.Minimum = policy.MinimumPerLine, true
	}
	return s, err
}

// PremiumLine is one line of the premium ledger: the difference that a change makes, and the state it leads to.
// Always: the sum of the amounts of an allocation's lines = the premium of its last state + the sum of what is
// retained.
type PremiumLine struct {
	SiteID        int64
	ID            int64
	AllocationID  int64
	ChannelID     int64
	BookingID     int64
	TransactionID int64 // the cause; of a changed booking, a late fixing or a correction the payment itself
	Kind          PremiumKind
	Cause         PremiumCause
	RecordedAt    time.Time
	EffectiveAt   time.Time
	Currency      money.Currency // Q
	Amount        int64          // Δ as booked
	Retained      int64          // return premium that is kept for good
	State         PremiumState
	PolicyID      int64
	Simulated     bool
	StatementID   int64 // 0 until it is on one
	// BaseCurrency is that of State.Amount; known where a line was read back.
	BaseCurrency money.Currency
}

// PremiumChange is what may move the premium of an allocation.
type PremiumChange struct {
	TransactionID int64
	Cause         PremiumCause
	EffectiveAt   time.Time
	End           civil.Day // D after the change
	Refunded      int64     // all refunds, this one included
	// Insolvent says that an insolvency of the channel is confirmed, so that nothing returns to it. One that is only locked
	// is not: what returns while it is locked is its own.
	Insolvent bool
}

// Reprice books a change: the line that it adds after the lines that there are, if any. What moves the premium by
// nothing adds none; only the first price of an allocation always stands in the ledger, even where it is zero.
func (a Allocation) Reprice(lines []PremiumLine, policy travel.Policy, c PremiumChange) (line PremiumLine, booked bool, err error) {
	after, err := a.PremiumState(policy, c.End, c.Refunded)
	if err != nil {
		return PremiumLine{}, false, err
	}
	line = PremiumLine{
		SiteID: a.SiteID, AllocationID: a.ID, ChannelID: a.ChannelID, BookingID: a.BookingID,
		TransactionID: c.TransactionID, Kind: PremiumOriginal, Cause: c.Cause, EffectiveAt: c.EffectiveAt,
		Currency: a.PolicyCurrency, Amount: after.Premium, State: after, PolicyID: policy.ID,
		Simulated: a.Decision.Simulated,
	}
	if len(lines) == 0 {
		return line, true, nil
	}
	line.Kind, line.Amount, line.Retained = bookPremium(lines[len(lines)-1].State.Premium, after, policy, c)
	return line, line.Amount != 0 || line.Retained != 0, nil
}

// bookPremium books the difference between the premium before and the state after. Premium returns only if the policy
// knows it, the change came while there was travel ahead, and the channel has not failed.
func bookPremium(
	before int64, after PremiumState, policy travel.Policy, c PremiumChange,
) (kind PremiumKind, amount, retained int64) {
	delta := after.Premium - before
	returns := policy.PremiumRefundable && civil.DayOf(c.EffectiveAt) <= c.End && !c.Insolvent
	switch {
	case delta > 0:
		kind, amount = PremiumAdditional, delta
	case returns:
		kind, amount = PremiumReturn, delta
	default:
		kind, retained = PremiumReturn, -delta
	}
	if c.Cause == CauseCorrection {
		kind = PremiumCorrection
	}
	return kind, amount, retained
}

// PremiumFilter chooses lines of the premium ledger; empty fields choose all.
type PremiumFilter struct {
	Include, Exclude []int64
	Before, After    time.Time // recorded
	Channels         []int64
	Transactions     []int64 // the causes
	Bookings         []int64
	Payments         []int64 // the allocations, which have the ids of their payments
	Kinds            []PremiumKind
	Causes           []PremiumCause
}

// PremiumOrders lists the attributes by which lines can be sorted.
var PremiumOrders = []string{"id", "recorded_at", "effective_at", "amount", "include"}
