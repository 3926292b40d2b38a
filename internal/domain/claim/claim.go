package claim

import (
	"cmp"
	"slices"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
)

// Debit is an amount charged back by a dispute, in base currency.
type Debit struct {
	Day        civil.Day
	ReceivedAt time.Time // when it was recorded
	Amount     int64
	Credited   int64 // the sum of the credits that name it, on any day
}

// left is the debit less its credits. It is negative if more was credited than debited.
func (d Debit) left() int64 { return d.Amount - d.Credited }

// Dispute is a dispute of one allocation (R14), other than an inquiry.
type Dispute struct {
	ID     int64
	Source string // the processor
	Case   string // the processor's id of the case
	Debits []Debit
	// Waits is set if other protection of the traveller pays first, and the claim has not been released.
	Waits bool
	// Dropped is set if the claim was rejected or withdrawn: it is not payable.
	Dropped bool
}

// FirstDebit is the day of the first debit, or civil.LastDay if there is none.
func (d Dispute) FirstDebit() civil.Day {
	first := civil.LastDay
	for _, debit := range d.Debits {
		first = min(first, debit.Day)
	}
	return first
}

// Compare orders the disputes of an allocation as their claims are served: by day of the first debit, source and case.
func (d Dispute) Compare(other Dispute) int {
	return cmp.Or(cmp.Compare(d.FirstDebit(), other.FirstDebit()), cmp.Compare(d.Source, other.Source),
		cmp.Compare(d.Case, other.Case), cmp.Compare(d.ID, other.ID))
}

// Allocation is an allocation with everything its claims depend on.
type Allocation struct {
	protection.History
	Line     *SnapshotLine // nil if it is not in the snapshot
	NotifyBy time.Time     // disputes received later are not payable
	ClosedAt time.Time     // when the claims of the insolvency were closed; zero if they are open
	Disputes []Dispute
}

// Claim is the claim of a dispute. Amounts are minor units of the allocation's currency.
type Claim struct {
	Dispute
	Disputed int64 // the debits from T₀ on less their credits; all debits less their credits if none is from T₀ on
	Loss     int64 // the debits from T₀ to L less their credits
	Payable  int64
	// Reason is why Represent is not payable. It is empty if Represent is 0.
	Reason Reason
}

// Represent is the part that is not payable and is to be represented: contested with the card scheme.
func (c Claim) Represent() int64 { return max(0, c.Disputed-c.Payable) }

// Claims computes the claims of an allocation, in the order in which they are served (R13). Sums that do not fit in 64 bits
// panic with money.ErrRange, as in money.Sum.
func Claims(a Allocation, f Failure) []Claim {
	disputes := slices.SortedFunc(slices.Values(a.Disputes), Dispute.Compare)
	room := a.Room(f)
	bears := a.Line != nil && a.Line.Eligible()
	claims := make([]Claim, 0, len(disputes))
	for _, d := range disputes {
		c := a.measure(d, f)
		if bears && !d.Waits && !d.Dropped {
			received := max(0, sum(d.Debits, func(debit Debit) bool { return a.inTime(debit, f) && !a.late(debit) }))
			c.Payable = min(c.Loss, received, room)
		}
		if c.Represent() > 0 && !d.Dropped {
			c.Reason = a.reason(c, f, room, claims)
		}
		room -= c.Payable
		claims = append(claims, c)
	}
	return claims
}

// Room is C, the most that the claims of the allocation can come to: N_T less the refunds that are not in it and the chargebacks
// before T₀ that were recorded after K. For an allocation outside the snapshot it is the amount less all refunds: only the reason
// of its claims depends on it.
func (a Allocation) Room(f Failure) int64 {
	if a.Line == nil {
		return max(0, a.Amount-a.refunds(func(protection.Event) bool { return true }))
	}
	return max(0, money.Sum(a.Line.Remaining, -a.taken(f)))
}

// taken is the part of N_T that was refunded or charged back otherwise: N_T − C.
func (a Allocation) taken(f Failure) int64 {
	total := a.refunds(func(e protection.Event) bool { return e.RecordedAt.After(f.ConfirmedAt) || !beforeFailure(e, f) })
	for _, e := range a.Events {
		if e.Kind != payment.Refund && e.Kind != payment.ChargebackReversal && beforeFailure(e, f) && e.RecordedAt.After(f.ConfirmedAt) {
			total = money.Sum(total, e.Amount)
		}
	}
	return total
}

func (a Allocation) refunds(counts func(protection.Event) bool) (total int64) {
	for _, e := range a.Events {
		if e.Kind == payment.Refund && counts(e) {
			total = money.Sum(total, e.Amount)
		}
	}
	return total
}

// measure computes the disputed amount and the loss.
func (a Allocation) measure(d Dispute, f Failure) Claim {
	since := func(debit Debit) bool { return debit.Day >= f.Day() }
	if !slices.ContainsFunc(d.Debits, since) {
		since = func(Debit) bool { return true }
	}
	return Claim{
		Dispute:  d,
		Disputed: max(0, sum(d.Debits, since)),
		Loss:     max(0, sum(d.Debits, func(debit Debit) bool { return a.inTime(debit, f) })),
	}
}

// sum adds up some debits, each less its credits.
func sum(debits []Debit, counts func(Debit) bool) (total int64) {
	for _, d := range debits {
		if counts(d) {
			total = money.Sum(total, d.left())
		}
	}
	return total
}

// lastDay is L in the snapshot, or L at the trigger for an allocation outside it.
func (a Allocation) lastDay(f Failure) civil.Day {
	if a.Line != nil {
		return a.Line.LastDay
	}
	return protection.TermsAt(a.Terms, f.TriggerAt, f.ConfirmedAt).LastDay
}

// inTime reports whether the day of a debit is in [T₀, L].
func (a Allocation) inTime(d Debit, f Failure) bool { return d.Day >= f.Day() && d.Day <= a.lastDay(f) }

// late reports whether a debit was received too late to be payable.
func (a Allocation) late(d Debit) bool { return d.ReceivedAt.After(a.NotifyBy) || a.closed(d) }

func (a Allocation) closed(d Debit) bool {
	return !a.ClosedAt.IsZero() && d.ReceivedAt.After(a.ClosedAt)
}

// reason is the reason why a claim is not payable in full. room is C less the payable amounts of the claims before.
func (a Allocation) reason(c Claim, f Failure, room int64, before []Claim) Reason {
	some := func(of func(Debit) bool) bool {
		return slices.ContainsFunc(c.Debits, func(d Debit) bool { return d.left() > 0 && of(d) })
	}
	refunds := a.refunds(func(protection.Event) bool { return true })
	same := slices.ContainsFunc(before, func(b Claim) bool { return b.Loss == c.Loss && b.Payable > 0 })
	switch {
	case !slices.ContainsFunc(c.Debits, func(d Debit) bool { return d.Day >= f.Day() }):
		return BeforeTrigger
	case !a.Decision.Protected:
		return NotProtected
	case a.RecordedAt.After(f.TriggerAt), a.Decision.CoverFrom.After(f.TriggerAt):
		return RecordedAfterTrigger
	case refunds > 0 && c.Disputed > room && c.Represent() <= refunds:
		return Refunded
	case a.Line != nil && a.Line.Ineligible == Delivered:
		return Delivered
	case some(func(d Debit) bool { return d.Day > a.lastDay(f) }):
		return LateDispute
	case some(func(d Debit) bool { return a.inTime(d, f) && d.ReceivedAt.After(a.NotifyBy) }):
		return LateNotice
	case some(func(d Debit) bool { return a.inTime(d, f) && a.closed(d) }):
		return ClaimsClosed
	case c.Waits:
		return OtherProtectionFirst
	case a.Line == nil:
		return NotInSnapshot
	case same:
		return Duplicate
	default:
		return AboveRemaining
	}
}
