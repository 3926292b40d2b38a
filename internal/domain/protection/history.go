package protection

import (
	"slices"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/terms"
)

// Cause says why exposure has changed: it is a line of a movement (R8).
type Cause int

// The causes, in the order in which a movement shows them.
const (
	CauseNew Cause = iota
	CauseReversed
	CauseReDated
	CauseRefunded
	CauseChargedBack
	CauseDelivered
	CauseExpired
)

// Causes lists the causes.
var Causes = []Cause{
	CauseNew, CauseReversed, CauseReDated, CauseRefunded, CauseChargedBack, CauseDelivered, CauseExpired,
}

// CauseCount is the number of the causes.
const CauseCount = int(CauseExpired) + 1

var causeNames = [CauseCount]string{"new", "reversed", "re_dated", "refunded", "charged_back", "delivered", "expired"}

// String is the name of the cause in answers and reports.
func (c Cause) String() string { return causeNames[c] }

// causeOf is the cause of each kind of event.
var causeOf = map[payment.TransactionType]Cause{
	payment.Refund: CauseRefunded, payment.Chargeback: CauseChargedBack, payment.ChargebackReversal: CauseReversed,
	payment.Prevented: CauseChargedBack,
}

// Change is one change of exposure: on a day, for one cause, from one level to another.
type Change struct {
	Day    civil.Day
	Cause  Cause
	Before Level
	After  Level
}

// History is an allocation with its terms and events, as known at the moment of a report.
type History struct {
	Allocation
	Terms  []DatedTerms // in order of recording; the first ones also count for all earlier days
	Events []Event      // in order of EffectiveAt, and then of RecordedAt
}

// Learn inserts an event at its place in the order of Events.
func (h *History) Learn(e Event) {
	at := len(h.Events)
	for at > 0 && (h.Events[at-1].EffectiveAt.After(e.EffectiveAt) ||
		h.Events[at-1].EffectiveAt.Equal(e.EffectiveAt) && h.Events[at-1].RecordedAt.After(e.RecordedAt)) {
		at--
	}
	h.Events = slices.Insert(h.Events, at, e)
}

// Begins is the first day on which the allocation can be covered: the day of the payment, or the day of the cover
// start if that is later.
func (h History) Begins() civil.Day { return max(h.Paid(), civil.DayOf(h.Decision.CoverFrom)) }

// Counts reports whether the allocation can be in E1 and E2: it is protected, and not of a test channel.
func (h History) Counts() bool { return h.Decision.Protected && !h.Decision.Simulated }

// LevelOn is the amount at risk of the allocation at the end of a day: E1 and E2 (R7).
func (h History) LevelOn(day civil.Day, by terms.Recognition) Level {
	if !h.Counts() || day < h.Begins() {
		return Level{}
	}
	return h.termsOn(day).Level(h.remaining(h.until(day), day), day, by)
}

// Walk calls each for every change on the days after first and up to last, in order. Each change has one cause, and
// starts at the level where the previous one ended: together they add up to the level of the last day less that of the
// first. An error of each ends the walk and is returned. When several things happen on one day, they count in this
// order:
//
//  1. Time passes, with the terms and amounts of the day before. Delivered amounts move from E1 to E2: "delivered". Amounts
//     past their last day of dispute leave both: "expired".
//  2. New travel dates take effect, with the same amounts. The whole difference is "re-dated", whether it moves between E1
//     and E2, comes back into them or leaves them.
//  3. On the day that Begins returns, the allocation starts to count. What remains of it then is "new". Refunds,
//     chargebacks and new dates of earlier days were not covered, and are in no line. An allocation that has expired by
//     then is not new, but later travel dates may bring it in.
//  4. Refunds, chargebacks and reversals of the day, in order of EffectiveAt. Each is the change that it makes to N within
//     its bounds (R3). The amount beyond the bounds (double recovery) is not in any line.
func (h History) Walk(first, last civil.Day, by terms.Recognition, each func(Change) error) error {
	if !h.Counts() || last < h.Begins() {
		return nil
	}
	w := walk{h: h, by: by, each: each, day: first, events: h.until(first)}
	w.terms, w.n = h.termsOn(first), h.remaining(w.events, first)
	for _, day := range h.days(first, last) {
		if err := w.to(day); err != nil {
			return err
		}
	}
	return w.pass(last)
}

// days are the days after first and up to last on which a record may change something.
func (h History) days(first, last civil.Day) []civil.Day {
	days := make([]civil.Day, 0, len(h.Terms)+len(h.Events)+1)
	days = append(days, h.Begins())
	for _, t := range h.Terms {
		days = append(days, civil.DayOf(t.EffectiveAt))
	}
	for _, e := range h.Events {
		days = append(days, civil.DayOf(e.EffectiveAt))
	}
	slices.Sort(days)
	days = slices.DeleteFunc(days, func(d civil.Day) bool { return d <= first || d > last })
	return slices.Compact(days)
}

// until counts the events in effect by the end of a day.
func (h History) until(day civil.Day) int {
	n := 0
	for n < len(h.Events) && civil.DayOf(h.Events[n].EffectiveAt) <= day {
		n++
	}
	return n
}

// remaining is N at the end of a day, with only the first few events.
func (h History) remaining(events int, day civil.Day) int64 {
	return h.Sum(h.Events[:events]).Remaining(h.Paid(), day)
}

func (h History) termsOn(day civil.Day) Terms {
	var found Terms
	for i, t := range h.Terms {
		if i == 0 || civil.DayOf(t.EffectiveAt) <= day {
			found = t.Terms
		}
	}
	return found
}

// walk is the state of a walk through a history.
type walk struct {
	h      History
	by     terms.Recognition
	each   func(Change) error
	day    civil.Day
	terms  Terms
	n      int64 // N at the end of day, as if it were covered
	events int   // the number of events in n
}

// pass lets time go by.
func (w *walk) pass(day civil.Day) error {
	after := w.day
	w.day = day
	if after < w.h.Begins() { // it did not count yet: days has the day on which it begins
		return nil
	}
	return w.terms.Fade(w.n, after, day, w.by, w.each)
}

// to advances to a day and makes the changes of that day.
func (w *walk) to(day civil.Day) error {
	counted := w.day >= w.h.Begins()
	if err := w.pass(day); err != nil {
		return err
	}
	before := w.terms
	w.terms = w.h.termsOn(day)
	if counted && before != w.terms {
		if err := w.change(CauseReDated, before.Level(w.n, day, w.by)); err != nil {
			return err
		}
	}
	if w.n = w.h.remaining(w.events, day); day == w.h.Begins() {
		if err := w.change(CauseNew, Level{}); err != nil {
			return err
		}
	}
	for until := w.h.until(day); w.events < until; w.events++ {
		was := w.terms.Level(w.n, day, w.by)
		w.n = w.h.remaining(w.events+1, day)
		if day < w.h.Begins() {
			continue
		}
		if err := w.change(causeOf[w.h.Events[w.events].Kind], was); err != nil {
			return err
		}
	}
	return nil
}

// change reports the change from before to the present level, unless they are equal.
func (w *walk) change(c Cause, before Level) error {
	after := w.terms.Level(w.n, w.day, w.by)
	if after == before {
		return nil
	}
	return w.each(Change{w.day, c, before, after})
}
