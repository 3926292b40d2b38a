package exposure

import (
	"fmt"
	"slices"
	"strings"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// ExplainedBooking adds up the allocations of a booking at a moment, in minor units of its base currency, with the
// steps of the computation. It takes one allocation at a time, so that it needs the same memory for any number of
// them.
type ExplainedBooking struct {
	Total            int64     // of the booking at the moment
	Start, End       civil.Day // of the travel, by the terms of the first allocation; civil.NoDay without one
	Allocations      int64     // known at the moment
	Paid             int64     // purchases and captures up to the day
	Refunded         int64
	ChargedBack      int64
	Reversed         int64
	Remaining        int64 // the sum of N
	Undelivered      int64 // the sum of U
	protection.Level       // E1 and E2
	Memo                   // E4 and E5
	State            protection.State
	LastDay          civil.Day // the latest L of which something remains; civil.NoDay when nothing remains
	Simulated        bool      // of a test channel, so in no total of a report
	Values           []BookingValue
	Steps            []protection.Step

	protects bool // the channel is protected on the day
	moment   protection.Moment
	later    int64 // allocations with a payment after the day
	states   map[protection.State]int64
	booking  instalments
}

// BookingValue is the value of a booking's allocations in one policy currency, and their premium, in minor units of
// it.
type BookingValue struct {
	Currency money.Currency
	Value    int64 // PV of the payments (R9)
	Pending  int64 // number of allocations that are pending_rate, and not in Value
	Premium  int64 // of the states as known, whatever the day (R10)
	Booked   int64
	Retained int64
}

// NewExplainedBooking starts the sums of a booking with this total. protects says whether its channel is protected on the
// day (E4 of R7).
func NewExplainedBooking(total int64, protects bool, m protection.Moment) *ExplainedBooking {
	return &ExplainedBooking{
		Total: total, Start: civil.NoDay, End: civil.NoDay, LastDay: civil.NoDay, moment: m, states: map[protection.State]int64{},
		protects: protects,
		booking:  instalments{left: total},
	}
}

// Add adds the next allocation, in order of the ids. It must be explained with its premium, at the same moment.
func (b *ExplainedBooking) Add(x protection.Explained) {
	day := b.moment.AsOf
	if b.Allocations == 0 {
		b.Start, b.End = x.Terms.Start, x.Terms.End
	}
	b.Allocations++
	b.states[x.State]++
	b.Simulated = b.Simulated || x.Decision.Simulated
	if x.Paid() <= day {
		b.Paid = money.Sum(b.Paid, x.Amount)
	} else {
		b.later++
	}
	b.Refunded = money.Sum(b.Refunded, x.Amounts.Refunded)
	b.ChargedBack = money.Sum(b.ChargedBack, x.Amounts.ChargedBack)
	b.Reversed = money.Sum(b.Reversed, x.Amounts.Reversed)
	b.Remaining = money.Sum(b.Remaining, x.Remaining)
	b.Undelivered = money.Sum(b.Undelivered, x.Undelivered)
	b.booking.add(Position{
		Paid: x.Paid(), Amounts: x.Amounts, Terms: x.Terms, Protected: x.Decision.Protected,
	}, x.Remaining, day)
	if x.Remaining > 0 && (b.LastDay == civil.NoDay || x.Terms.LastDay > b.LastDay) {
		b.LastDay = x.Terms.LastDay
	}
	level := x.Terms.Level(x.Remaining, day, b.moment.Recognition)
	if x.Decision.Protected && x.Started {
		b.Level = b.Level.Plus(level)
	} else {
		b.E5 = money.Sum(b.E5, level.E1)
	}
	b.addValue(x)
}

func (b *ExplainedBooking) addValue(x protection.Explained) {
	i := slices.IndexFunc(b.Values, func(v BookingValue) bool { return v.Currency == x.PolicyCurrency })
	if i < 0 {
		i = len(b.Values)
		b.Values = append(b.Values, BookingValue{Currency: x.PolicyCurrency})
	}
	v := &b.Values[i]
	switch {
	case !x.HasValue:
		v.Pending++
	case x.Paid() <= b.moment.AsOf:
		v.Value = money.Sum(v.Value, x.Value)
	}
	v.Booked = money.Sum(v.Booked, x.Premium.Booked)
	v.Retained = money.Sum(v.Retained, x.Premium.Retained)
	if x.Premium.Priced {
		v.Premium = money.Sum(v.Premium, x.Premium.State.Premium)
	}
}

// Close ends the sums after the last allocation, and adds the steps.
func (b *ExplainedBooking) Close() {
	if b.protects {
		b.E4 = b.booking.due(b.moment.AsOf)
	}
	b.State = protection.Settled
	// The booking has the state of the allocation that is open longest.
	for _, s := range []protection.State{protection.Undelivered, protection.Tail, protection.Expired} {
		if b.states[s] > 0 {
			b.State = s
			break
		}
	}
	day := b.moment.AsOf
	paid := fmt.Sprintf("Σ a = %d, of %d payments up to %s", b.Paid, b.Allocations-b.later, day)
	if b.later > 0 {
		paid += fmt.Sprintf("; %d were taken later", b.later)
	}
	b.Steps = []protection.Step{
		{Rule: "R3", Name: "paid", Text: paid},
		{Rule: "R3", Name: "N", Text: fmt.Sprintf("ΣN = %d: of %d, refunds %d, chargebacks %d, reversals %d, each allocation within its bounds",
			b.Remaining, b.Paid, b.Refunded, b.ChargedBack, b.Reversed)},
		{Rule: "R4", Name: "U", Text: fmt.Sprintf("ΣU = %d", b.Undelivered)},
		b.lastDayStep(), b.stateStep(),
		{Rule: "R7", Name: "E1", Text: fmt.Sprintf("ΣU of protected, covered payments, up to their L: %d", b.E1)},
		{Rule: "R7", Name: "E2", Text: fmt.Sprintf("Σ(N − U) of the same payments: %d", b.E2)},
		b.instalmentsStep(),
		{Rule: "R7", Name: "E5", Text: fmt.Sprintf("ΣU of payments that are not protected or whose cover has not started, up to their L: %d", b.E5)},
	}
	for _, v := range b.Values {
		b.Steps = append(b.Steps, v.steps()...)
	}
}

func (b *ExplainedBooking) lastDayStep() protection.Step {
	if b.LastDay == civil.NoDay {
		return protection.Step{Rule: "R5", Name: "L", Text: "no disputable amount remains"}
	}
	return protection.Step{Rule: "R5", Name: "L", Text: fmt.Sprintf("the latest L of the remaining payments: %s", b.LastDay)}
}

func (b *ExplainedBooking) stateStep() protection.Step {
	var counts []string
	for _, s := range []protection.State{protection.Undelivered, protection.Tail, protection.Expired, protection.Settled} {
		if n := b.states[s]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	if len(counts) == 0 {
		return protection.Step{Rule: "R6", Name: "state", Text: "no payment: settled"}
	}
	return protection.Step{Rule: "R6", Name: "state", Text: fmt.Sprintf("%s: the booking is %s, like the payment that remains open longest",
		strings.Join(counts, ", "), b.State)}
}

func (b *ExplainedBooking) instalmentsStep() protection.Step {
	first := b.booking.first
	switch {
	case first == nil:
		return protection.Step{Rule: "R7", Name: "E4", Text: "0: nothing remains of any payment"}
	case !b.protects:
		return protection.Step{Rule: "R7", Name: "E4", Text: fmt.Sprintf("0: the merchant is not protected on %s", b.moment.AsOf)}
	case b.moment.AsOf > first.Terms.End:
		return protection.Step{Rule: "R7", Name: "E4", Text: fmt.Sprintf("0: the trip ended on D = %s", first.Terms.End)}
	}
	return protection.Step{Rule: "R7", Name: "E4", Text: fmt.Sprintf("max(0, total − paid before refunds) = max(0, %d − %d) = %d", b.Total, b.Paid, b.E4)}
}

func (v BookingValue) steps() []protection.Step {
	value := fmt.Sprintf("Σ PV = %d, each rounded separately", v.Value)
	if v.Pending > 0 {
		value += fmt.Sprintf("; %d pending a rate", v.Pending)
	}
	return []protection.Step{
		{Rule: "R9", Name: "PV " + string(v.Currency), Text: value},
		{Rule: "R10", Name: "sum " + string(v.Currency), Text: fmt.Sprintf("Σπ = %d; lines %d = π %d + retained %d",
			v.Premium, v.Booked, v.Premium, v.Retained)},
	}
}
