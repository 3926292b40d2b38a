package dispute

import (
	"cmp"
	"slices"
	"time"

	"holdfast/internal/domain/civil"
)

// Event is one reported change of a case: a change of its state, or a movement of money.
type Event struct {
	ID int64
	Report
	ReceivedAt time.Time // by the clock of the site
	// SameAs is the event that this one repeats with its number or day added; it moves nothing. 0: none. See Known.
	SameAs int64
}

// On is the day of the event: as reported, otherwise the day of receipt (R14).
func (e Event) On() civil.Day {
	if e.Day != civil.NoDay {
		return e.Day
	}
	return civil.DayOf(e.ReceivedAt)
}

// Parts splits a report into its events: first the change of state, then the movement of money. A file that is exported again after a
// change of status repeats the movement with another status.
func (r Report) Parts() []Report {
	var parts []Report
	if r.Stage != "" || r.Status != "" || r.DueOn != civil.NoDay || r.ReasonCode != "" || r.Kind == NoMoney {
		state := r
		state.Kind, state.Number = NoMoney, 0
		parts = append(parts, state)
	}
	if r.Kind != NoMoney {
		moved := r
		moved.Stage, moved.Status, moved.DueOn, moved.ReasonCode, moved.Reason = "", "", civil.NoDay, "", ""
		parts = append(parts, moved)
	}
	return parts
}

// same reports whether two parts of reports about one case are the same event (R14). A movement is identified by its kind, number, day and
// amount. Where one of the two has no number or no day, it is not compared.
func (r Report) same(other Report) bool {
	if r.Kind != other.Kind {
		return false
	}
	sameDay := r.Day == other.Day
	if r.Kind == NoMoney {
		return sameDay && r.Stage == other.Stage && r.Status == other.Status && r.DueOn == other.DueOn && r.ReasonCode == other.ReasonCode
	}
	return (sameDay || r.Day == civil.NoDay || other.Day == civil.NoDay) && r.Amount == other.Amount && r.Currency == other.Currency &&
		(r.Number == other.Number || r.Number == 0 || other.Number == 0)
}

// Known finds the event of a case that a part of a report repeats. adds reports whether the report has a number or a day that the event
// lacks. Record it with SameAs then: a later report with another number or day is another movement. So each movement counts once,
// whether the first report about it has its number and day or not.
func Known(events []Event, r Report) (known Event, adds, found bool) {
	for _, e := range Facts(events) {
		// Of several, prefer the one with the same number and day.
		if e.same(r) && (!found || closeness(e, r) > closeness(known, r)) {
			known, found = e, true
		}
	}
	adds = found && r.Kind != NoMoney && (r.Number != 0 && known.Number == 0 || r.Day != civil.NoDay && known.Day == civil.NoDay)
	return known, adds, found
}

// Facts are the events without those that repeat others, with the numbers and days that the repeats add.
func Facts(events []Event) []Event {
	var list []Event
	at := map[int64]int{}
	for _, e := range events {
		if e.SameAs == 0 {
			at[e.ID] = len(list)
			list = append(list, e)
		}
	}
	for _, e := range events {
		if i, ok := at[e.SameAs]; ok && e.SameAs != 0 {
			list[i].Number = cmp.Or(list[i].Number, e.Number)
			if list[i].Day == civil.NoDay {
				list[i].Day = e.Day
			}
		}
	}
	return list
}

// closeness compares what identifies a movement: 2 for the same number, 1 for the same day.
func closeness(e Event, r Report) (n int) {
	if r.Number != 0 && e.Number == r.Number {
		n += 2
	}
	if e.Day == r.Day {
		n++
	}
	return n
}

// State is the state of a case. See StateOf.
type State struct {
	Stage      Stage
	Status     Status
	DueOn      civil.Day // last day to answer; civil.NoDay if there is none
	ReasonCode string
	Reason     string
}

// Final reports whether a status ends a stage.
func (s Status) Final() bool { return s != "" && s != Open && s != Challenged }

// StateOf computes the state of a case: the furthest stage reported; within it, the last final status by day, otherwise challenged, otherwise
// open (R14). The order of arrival does not matter. A movement without a stage of its own, such as in a settlement file, makes a case a
// chargeback, or a prevented pre-dispute.
func StateOf(events []Event) State {
	list := Facts(events)
	for i := range list {
		switch e := &list[i]; e.Kind {
		case Debit, Credit:
			e.Stage = Chargeback
		case Prevention:
			e.Stage, e.Status = PreDispute, Prevented
		}
	}
	staged := slices.Clone(list)
	for i, e := range list {
		if e.Stage == "" {
			list[i].Stage = stageOn(staged, e.On())
		}
	}
	slices.SortStableFunc(list, compareFacts)
	s := State{Stage: Inquiry, Status: Open, DueOn: civil.NoDay}
	for _, e := range list {
		if slices.Index(Stages, e.Stage) > slices.Index(Stages, s.Stage) {
			s.Stage = e.Stage
		}
		s.ReasonCode, s.Reason = cmp.Or(e.ReasonCode, s.ReasonCode), cmp.Or(e.Reason, s.Reason)
	}
	for _, e := range list {
		if e.Stage != "" && e.Stage != s.Stage {
			continue
		}
		if e.Status.Final() || e.Status == Challenged && !s.Status.Final() {
			s.Status = e.Status
		}
		s.DueOn = max(s.DueOn, e.DueOn)
	}
	return s
}

// stageOn is the furthest stage reported up to a day: the one that a status without a stage is about. It is "" if there is none.
func stageOn(events []Event, day civil.Day) (stage Stage) {
	for _, e := range events {
		if e.On() <= day && slices.Index(Stages, e.Stage) > slices.Index(Stages, stage) {
			stage = e.Stage
		}
	}
	return stage
}

// compareFacts orders events by day, then by stage and status. It leaves no ties between different events, so the result does not depend on
// the order of arrival.
func compareFacts(a, b Event) int {
	return cmp.Or(cmp.Compare(a.On(), b.On()), cmp.Compare(slices.Index(Stages, a.Stage), slices.Index(Stages, b.Stage)),
		cmp.Compare(rank(a.Status), rank(b.Status)), cmp.Compare(a.DueOn, b.DueOn), cmp.Compare(a.ReasonCode, b.ReasonCode),
		cmp.Compare(a.Reason, b.Reason))
}

// rank orders the statuses of one day.
func rank(s Status) int {
	return slices.Index([]Status{"", Open, Challenged, Expired, Accepted, Cancelled, Prevented, Lost, Won}, s)
}

// Named maps the id of each credit of a case to the id of the debit that it gives back (R14): the last debit up to the day of the credit that
// is not fully credited, preferably one of the same amount; otherwise the first debit that is not fully credited, or the first one. It is
// empty if the case has no debits. Events that repeat others are left out.
func Named(events []Event) map[int64]int64 {
	var debits, credits []Event
	left := map[int64]int64{}
	for _, e := range Facts(events) {
		switch e.Kind {
		case Debit, Prevention:
			debits = append(debits, e)
			left[e.ID] = e.Amount
		case Credit:
			credits = append(credits, e)
		}
	}
	slices.SortFunc(debits, compareMovements)
	slices.SortFunc(credits, compareMovements)
	named := map[int64]int64{}
	if len(debits) == 0 {
		return named
	}
	for _, c := range credits {
		d := debitOf(c, debits, left)
		left[d.ID] -= c.Amount
		named[c.ID] = d.ID
	}
	return named
}

func debitOf(credit Event, debits []Event, left map[int64]int64) Event {
	best := -1
	for i, d := range debits {
		if left[d.ID] <= 0 || d.On() > credit.On() {
			continue
		}
		if best < 0 || d.Amount == credit.Amount || debits[best].Amount != credit.Amount {
			best = i
		}
	}
	if best < 0 {
		best = max(0, slices.IndexFunc(debits, func(d Event) bool { return left[d.ID] > 0 }))
	}
	return debits[best]
}

func compareMovements(a, b Event) int {
	return cmp.Or(cmp.Compare(a.On(), b.On()), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Amount, b.Amount), cmp.Compare(a.ID, b.ID))
}
