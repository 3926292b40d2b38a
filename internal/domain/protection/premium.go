package protection

import (
	"fmt"
	"math/big"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
)

// PremiumKind is the kind of a premium line (R10).
type PremiumKind string

// The kinds of lines.
const (
	PremiumOriginal   PremiumKind = "original"
	PremiumAdditional PremiumKind = "additional"
	PremiumReturn     PremiumKind = "return"
	PremiumCorrection PremiumKind = "correction"
)

// PremiumKinds lists the kinds.
var PremiumKinds = []PremiumKind{PremiumOriginal, PremiumAdditional, PremiumReturn, PremiumCorrection}

// PremiumCause says why a premium line was booked.
type PremiumCause string

// The causes of lines.
const (
	CausePurchase   PremiumCause = "purchase"
	CauseRefund     PremiumCause = "refund"
	CauseReDate     PremiumCause = "re_dated"
	CauseLateFixing PremiumCause = "late_fixing"
	CauseCorrection PremiumCause = "correction"
	CauseInsolvency PremiumCause = "insolvency" // paid after the merchant had failed: the premium goes back (R13)
)

// PremiumCauses lists the causes.
var PremiumCauses = []PremiumCause{CausePurchase, CauseRefund, CauseReDate, CauseLateFixing, CauseCorrection, CauseInsolvency}

// PremiumState is the premium of an allocation in one state, with the numbers that it is computed from (R10).
type PremiumState struct {
	Amount  int64          // a − refunds, minor units of the allocation
	Value   int64          // PV of Amount at the locked rate, minor units of the policy currency
	Lead    int64          // D − P in days; negative: paid after travel, so there is no premium
	Line    terms.RateLine // of the rate card; zero when the lead is negative
	Premium int64          // π, minor units of the policy currency
	Minimum bool           // whether π is the minimum per line
}

// NegativeLead reports whether travel was over before the payment. Then there is no premium.
func (s PremiumState) NegativeLead() bool { return s.Lead < 0 }

// PremiumState computes the premium of the allocation (R10), for the policy in force on P, D = end and the sum of the
// refunds. The rate of the allocation must be locked. Chargebacks and reversals do not change premium. It is an error
// when the rate card has no line for the lead, and when a number is too large (money.ErrRange).
func (a Allocation) PremiumState(policy terms.Policy, end civil.Day, refunded int64) (PremiumState, error) {
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
		return PremiumState{}, fmt.Errorf("the rate card of policy %d has no line for a lead of %d days", policy.ID, s.Lead)
	}
	s.Line = line
	s.Premium, err = money.Round(new(big.Int).Mul(big.NewInt(s.Value), big.NewInt(line.PPM)), big.NewInt(1_000_000))
	if s.Premium > 0 && s.Premium < policy.MinimumPerLine {
		s.Premium, s.Minimum = policy.MinimumPerLine, true
	}
	return s, err
}

// PremiumLine is one line of the premium ledger: the amount that a change adds to the premium, and the state after it (R10). For
// each allocation, the sum of the amounts is always the premium of the last state plus the sum of the retained amounts.
type PremiumLine struct {
	SiteID        int64
	ID            int64
	AllocationID  int64
	ChannelID     int64
	BookingID     int64
	TransactionID int64 // the cause; the payment itself for a changed booking, a late fixing or a correction
	Kind          PremiumKind
	Cause         PremiumCause
	RecordedAt    time.Time
	EffectiveAt   time.Time
	Currency      money.Currency // Q
	Amount        int64          // Δ as booked
	Retained      int64          // premium that would have been returned, and is kept for good
	State         PremiumState
	PolicyID      int64
	Simulated     bool
	StatementID   int64 // 0 until the line is on a statement
	// BaseCurrency is the currency of State.Amount. It is set only in lines that were read from the database.
	BaseCurrency money.Currency
}

// PremiumChange is a change that may change the premium of an allocation.
type PremiumChange struct {
	TransactionID int64
	Cause         PremiumCause
	EffectiveAt   time.Time
	End           civil.Day // D after the change
	Refunded      int64     // all refunds, this one included
	// Insolvency is that of the channel. From the day of its trigger on, no premium is returned. A channel that is only
	// locked is not insolvent.
	Insolvency merchant.Insolvency
}

// Reprice makes the premium line of a change, after the lines that the allocation has (R10). booked is false when the
// change does not change the premium. The first line of an allocation is always booked, even when it is zero. The
// errors are those of PremiumState.
func (a Allocation) Reprice(lines []PremiumLine, policy terms.Policy, c PremiumChange) (line PremiumLine, booked bool, err error) {
	after, err := a.PremiumState(policy, c.End, c.Refunded)
	if err != nil {
		return PremiumLine{}, false, err
	}
	after.voidAfter(c.Insolvency, a.RecordedAt)
	line = PremiumLine{
		SiteID: a.SiteID, AllocationID: a.ID, ChannelID: a.ChannelID, BookingID: a.BookingID,
		TransactionID: c.TransactionID, Kind: PremiumOriginal, Cause: c.Cause, EffectiveAt: c.EffectiveAt,
		Currency: a.PolicyCurrency, Amount: after.Premium, State: after, PolicyID: policy.ID,
		Simulated: a.Decision.Simulated,
	}
	if len(lines) == 0 {
		return line, true, nil
	}
	line.Kind, line.Amount, line.Retained = a.bookPremium(lines[len(lines)-1].State.Premium, after, policy, c)
	return line, line.Amount != 0 || line.Retained != 0, nil
}

// StateUnder is PremiumState under an insolvency of the channel: a payment recorded after its trigger has no premium (R13).
func (a Allocation) StateUnder(
	i merchant.Insolvency, policy terms.Policy, end civil.Day, refunded int64,
) (PremiumState, error) {
	s, err := a.PremiumState(policy, end, refunded)
	s.voidAfter(i, a.RecordedAt)
	return s, err
}

// voidAfter sets the premium to 0 if the payment was recorded after the trigger of an insolvency.
func (s *PremiumState) voidAfter(i merchant.Insolvency, recordedAt time.Time) {
	if i.After(recordedAt) {
		s.Premium, s.Minimum = 0, false
	}
}

// bookPremium computes the line between the premium before and the state after. Premium is returned only when the
// policy returns premium, and the change came on or before D and before the day on which the merchant failed (R10). A payment
// recorded after the failure gets it back in any case (R13).
func (a Allocation) bookPremium(
	before int64, after PremiumState, policy terms.Policy, c PremiumChange,
) (kind PremiumKind, amount, retained int64) {
	delta := after.Premium - before
	day := civil.DayOf(c.EffectiveAt)
	failed := c.Insolvency.Concerns(a.RecordedAt) && day >= c.Insolvency.Day()
	returns := policy.PremiumRefundable && day <= c.End && !failed || c.Insolvency.After(a.RecordedAt)
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

// PremiumFilter picks lines of the premium ledger. An empty field picks all.
type PremiumFilter struct {
	Recorded     civil.Span
	Channels     []int64
	Transactions []int64 // the causes
	Bookings     []int64
	Payments     []int64 // the allocations: they have the ids of their payment records
	Kinds        []PremiumKind
	Causes       []PremiumCause
}

// PremiumOrders lists the values of orderby, besides those of every list, for premium lines.
var PremiumOrders = []string{"recorded_at", "effective_at", "amount"}
