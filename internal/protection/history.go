package protection

import (
	"slices"

	"holdfast/internal/civil"
	"holdfast/internal/travel"
)

// Cause is why what is at risk changed: a line of the movement between two days (R8).
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

var causeNames = [...]string{"new", "reversed", "re_dated", "refunded", "charged_back", "delivered", "expired"}

// String names the cause as the wire does.
func (c Cause) String() string { return causeNames[c] }

// causeOf says which line an event belongs to.
var causeOf = map[travel.TransactionType]Cause{
	travel.Refund: CauseRefunded, travel.Chargeback: CauseChargedBack, travel.ChargebackReversal: CauseReversed,
}

// Change is one step of what is at risk: on a day, for one cause, from a level to another.
type Change struct {
	Day    civil.Day
	Cause  Cause
	Before Level
	After  Level
}

// History is an allocation with all that is known to have become of it at the moment of a report.
type History struct {
	Allocation
	Terms  []DatedTerms // in order of recording; the first ones count for all time before, too
	Events []Event      // in order of effect, those of the same instant in order of recording
}

// Learn adds an event at its place in the order of effect.
func (h *History) Learn(e Event) {
	at := len(h.Events)
	for at > 0 && (h.Events[at-1].EffectiveAt.After(e.EffectiveAt) ||
		h.Events[at-1].EffectiveAt.Equal(e.EffectiveAt) && h.Events[at-1].RecordedAt.After(e.RecordedAt)) {
		at--
	}
	h.Events = slices.Insert(h.Events, at, e)
}

// Begins is the first day at whose end the allocation can count as covered: the day of the payment, or that of the
// cover start where that is later.
func (h History) Begins() civil.Day { return max(h.Paid(), civil.DayOf(h.Decision.CoverFrom)) }

// Counts reports whether the allocation is ever part of E1 and E2: whether it is protected and of no test channel.
func (h History) Counts() bool { return h.Decision.Protected && !h.Decision.Simulated }

// LevelOn is what of the allocation is at risk at the end of a day.
func (h History) LevelOn(day civil.Day, by travel.Recognition) Level {
	if !h.Counts() || day < h.Begins() {
		return Level{}
	}
	return h.termsOn(day).Level(h.remaining(h.until(day), day), day, by)
}

// Walk calls each for every change in the days after first and up to last, in their order. Each change has one cause,
// and the levels join: the sum of all changes is the level of the last day less that of the first. Where several things
// happen on one day they count in this order:
//
//  1. Time passes, with the terms and amounts of the evening before: what this delivers is "delivered", from E1 to E2; what
//     it ends, because the last day of dispute is over, is "expired", and out of both.
//  2. New travel dates take effect, with those amounts: the whole difference is "re-dated", whether it moves something
//     between E1 and E2, back into them or out.
//  3. An allocation whose payment day or, where that is later, cover start this is, begins to count: what then remains
//     of it is "new". Refunds, chargebacks and re-dating of the days before happened outside of what is covered and are no
//     line. What had expired by then is not new; a later re-dating may bring it in.
//  4. Refunds, chargebacks and reversals of the day, in order of their effect: each is what it changes within the
//     bounds of N (R3). What the bounds cut off (double recovery) is no change and stands in no line.
func (h History) Walk(first, last civil.Day, by travel.Recognition, each func(Change) error) error {
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

// days are the days after first and up to last on which anything but time may change something.
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

// remaining is N at the end of a day with the first so many events.
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

// walk is where a walk through a history stands.
type walk struct {
	h      History
	by     travel.Recognition
	each   func(Change) error
	day    civil.Day
	terms  Terms
	n      int64 // N at the end of day, were it covered
	events int   // how many are in it
}

// pass lets time go by.
func (w *walk) pass(day civil.Day) error {
	after := w.day
	w.day = day
	if after < w.h.Begins() { // it did not count yet, and its beginning is a day of its own
		return nil
	}
	return w.terms.fade(w.n, after, day, w.by, w.each)
}

// to goes on to a day and lets happen what happens on it.
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

// change tells of a change on the day to what holds now, where it is one.
func (w *walk) change(c Cause, before Level) error {
	after := w.terms.Level(w.n, w.day, w.by)
	if after == before {
		return nil
	}
	return w.each(Change{w.day, c, before, after})
}
