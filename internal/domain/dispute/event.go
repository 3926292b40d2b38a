package dispute

import (
	"cmp"
	"slices"
	"time"

	"holdfast/internal/domain/civil"
)

// Event is one thing that happened to a case, as it was told: a change of its state, or a movement of money.
type Event struct {
	ID int64
	Report
	ReceivedAt time.Time // by the clock of the site
	// SameAs is the event that this one repeats with its number added; it moves nothing. 0: none. See Known.
	SameAs int64
}

// On is the day of the event: as told, else that of receipt (R14).
func (e Event) On() civil.Day {
	if e.Day != civil.NoDay {
		return e.Day
	}
	return civil.DayOf(e.ReceivedAt)
}

// Parts divides a report into what each of its events is known by: first the change of state, then the movement of money.
// A file that is exported again after a change of status tells the same movement with another status.
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

// Same reports whether two parts of reports about one case tell the same event (R14). A movement is known by its kind with its number,
// its day and its amount. One that is told without a number or without a day is known without it.
func (r Report) Same(other Report) bool {
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

// Known finds the event of a case that a part of a report repeats. numbered says that the report adds what the event did not
// say, its number: then a later report with another number is another movement. So each movement counts once, whatever the order in
// which an event is told with and without its number.
func Known(events []Event, r Report) (known Event, numbered, found bool) {
	taken := map[int64]int{} // the numbers that earlier reports have added to events, by the id of the event
	for _, e := range events {
		if e.SameAs != 0 {
			taken[e.SameAs] = e.Number
		}
	}
	best := -1
	for i, e := range events {
		if e.SameAs != 0 || !e.Same(r) {
			continue
		}
		if number := cmp.Or(e.Number, taken[e.ID]); number != 0 && r.Number != 0 && number != r.Number {
			continue
		}
		// Of several, the one that says the same number and day.
		if best < 0 || closeness(e, taken, r) > closeness(events[best], taken, r) {
			best = i
		}
	}
	if best < 0 {
		return Event{}, false, false
	}
	known = events[best]
	return known, r.Number != 0 && known.Number == 0 && taken[known.ID] == 0, true
}

// closeness is how much of a movement's identity an event and a report both say.
func closeness(e Event, taken map[int64]int, r Report) (n int) {
	if r.Number != 0 && cmp.Or(e.Number, taken[e.ID]) == r.Number {
		n += 2
	}
	if e.Day == r.Day {
		n++
	}
	return n
}

// State is how a case stands, from all its events.
type State struct {
	Stage      Stage
	Status     Status
	DueOn      civil.Day // last day to answer; civil.NoDay if none was told
	ReasonCode string
	Reason     string
}

// Final reports whether a status ends a stage.
func (s Status) Final() bool { return s != "" && s != Open && s != Challenged }

// StateOf is the state of a case: the furthest stage that was told; in it the last final status by day, else challenged, else open (R14).
// The order of arrival does not matter. A movement without a stage of its own, such as in a settlement file, makes a case a chargeback,
// or a prevented pre-dispute.
func StateOf(events []Event) State {
	told := make([]Event, 0, len(events))
	for _, e := range events {
		switch e.Kind {
		case Debit, Credit:
			e.Stage = Chargeback
		case Prevention:
			e.Stage, e.Status = PreDispute, Prevented
		}
		if e.SameAs == 0 {
			told = append(told, e)
		}
	}
	slices.SortStableFunc(told, compareFacts)
	s := State{Stage: Inquiry, Status: Open, DueOn: civil.NoDay}
	for _, e := range told {
		if slices.Index(Stages, e.Stage) > slices.Index(Stages, s.Stage) {
			s.Stage, s.Status, s.DueOn = e.Stage, Open, civil.NoDay
		}
		s.ReasonCode, s.Reason = cmp.Or(e.ReasonCode, s.ReasonCode), cmp.Or(e.Reason, s.Reason)
	}
	for _, e := range told {
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

// compareFacts is the order of facts: by day, then by how far they have come. It is a total order of what is told, so the order of
// arrival does not decide.
func compareFacts(a, b Event) int {
	return cmp.Or(cmp.Compare(a.On(), b.On()), cmp.Compare(slices.Index(Stages, a.Stage), slices.Index(Stages, b.Stage)),
		cmp.Compare(rank(a.Status), rank(b.Status)), cmp.Compare(a.DueOn, b.DueOn), cmp.Compare(a.ReasonCode, b.ReasonCode),
		cmp.Compare(a.Reason, b.Reason))
}

// rank orders the statuses that are told for one day.
func rank(s Status) int {
	return slices.Index([]Status{"", Open, Challenged, Expired, Accepted, Cancelled, Prevented, Lost, Won}, s)
}

// Named says which debit each credit of a case gives back, by their ids (R14). A credit names the last debit of its day or before that has
// something left, preferably one of the same amount; if there is none, the first debit with something left, else the first one. A credit
// of a case without debits is absent. Movements that repeat others are left out.
func Named(events []Event) map[int64]int64 {
	var debits, credits []Event
	left := map[int64]int64{}
	for _, e := range events {
		switch {
		case e.SameAs != 0:
		case e.Kind == Debit || e.Kind == Prevention:
			debits = append(debits, e)
			left[e.ID] = e.Amount
		case e.Kind == Credit:
			credits = append(credits, e)
		}
	}
	slices.SortFunc(debits, compareMovements)
	slices.SortFunc(credits, compareMovements)
	named := map[int64]int64{}
	for _, c := range credits {
		if len(debits) == 0 {
			break
		}
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
