package claim

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
)

// Taken is the payable amount of a claim, in base currency, with the day of its first debit.
type Taken struct {
	Day     civil.Day
	Payable int64
}

// RunOff shows how the eligible amounts of a snapshot are claimed, and how the rest runs off as deadlines pass. Amounts are minor units of
// the policy currency Q.
type RunOff struct {
	first, last   civil.Day
	payable, open map[civil.Day]int64 // changes
}

// RunOffPoint has the amounts at the end of a day: what claims of up to that day are payable, and what can still become payable.
type RunOffPoint struct {
	Day           civil.Day
	Payable, Open int64
}

// NewRunOff begins a run-off on the day of the trigger.
func NewRunOff(first civil.Day) *RunOff {
	return &RunOff{first, first, map[civil.Day]int64{}, map[civil.Day]int64{}}
}

// Add adds an allocation with its payable claims in their order. value converts an amount of its currency to Q.
func (r *RunOff) Add(l SnapshotLine, taken []Taken, value func(int64) (int64, error)) error {
	if !l.Eligible() {
		return nil
	}
	open, err := value(l.Undelivered)
	if err != nil {
		return err
	}
	r.last = max(r.last, l.LastDay)
	r.change(r.open, r.first, open)
	var sum, payable int64
	for _, t := range taken {
		sum = money.Sum(sum, t.Payable)
		now, err := value(sum)
		if err != nil {
			return err
		}
		left, err := value(l.Open(sum, r.first))
		if err != nil {
			return err
		}
		day := max(t.Day, r.first)
		r.change(r.payable, day, now-payable)
		r.change(r.open, min(day, l.LastDay+1), left-open)
		payable, open = now, left
	}
	r.change(r.open, l.LastDay+1, -open)
	return nil
}

func (r *RunOff) change(of map[civil.Day]int64, day civil.Day, by int64) {
	of[day] = money.Sum(of[day], by)
}

// Points reads the run-off on the days of R8. At the last one, nothing is open.
func (r *RunOff) Points() []RunOffPoint {
	days := exposure.RunOffDays(r.first, r.last+1)
	points := make([]RunOffPoint, len(days))
	day, now := r.first, RunOffPoint{}
	for i, d := range days {
		for ; day <= d; day++ {
			now.Payable, now.Open = money.Sum(now.Payable, r.payable[day]), money.Sum(now.Open, r.open[day])
		}
		now.Day = d
		points[i] = now
	}
	return points
}
