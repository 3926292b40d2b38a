package exposure

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// How long a run-off shows each day, and until when one day a week (R8). Then follow ends of months.
const (
	runOffDaily  = 35
	runOffWeekly = 26 * 7
)

// RunOff adds up holdings to a run-off (R8): the amounts at risk on each later day with no new bookings. It keeps the
// changes of each day by channel and currency, so that its memory depends on the number of days.
type RunOff struct {
	query     ReportQuery
	spot      *spot
	ahead     map[line]*series
	past      map[line]*series
	waiting   map[line]*series // amounts without a locked rate, in base currency
	pending   map[money.Currency]*Figures
	uncovered map[money.Currency]*Figures
}

// NewRunOff starts a run-off from the day of the query. rates are the fixings for a spot valuation: those of the
// first day count for all days.
func NewRunOff(q ReportQuery, rates *fx.Table) *RunOff {
	return &RunOff{
		query: q, spot: newSpot(q, q.AsOf, rates),
		ahead: map[line]*series{}, past: map[line]*series{}, waiting: map[line]*series{},
		pending: map[money.Currency]*Figures{}, uncovered: map[money.Currency]*Figures{},
	}
}

// Add adds a holding. A holding that is not covered on the first day never counts: its cover would be something new.
// The error is money.ErrRange.
func (r *RunOff) Add(h Holding) error {
	level := h.Terms.Level(h.Remaining, r.query.AsOf, r.query.Recognition)
	if level == (protection.Level{}) {
		return nil
	}
	figures := Figures{Allocations: h.Allocations, E1: level.E1, E2: level.E2}
	if !h.Covered {
		at(r.uncovered, h.Currency).add(figures)
		return nil
	}
	valued := r.values(h.Currency, h.Locked != nil)
	if !valued {
		at(r.pending, h.Currency).add(figures)
	}
	s := seriesOf(r.counted(valued), r.query.line(h.ChannelID, h.Currency, h.ValuedIn))
	s.count += h.Allocations
	err := s.change(protection.Change{Day: r.query.AsOf, After: level}, h.Locked)
	if err == nil {
		err = h.Terms.Fade(h.Remaining, r.query.AsOf, h.Terms.LastDay+1, r.query.Recognition, func(c protection.Change) error {
			return s.change(c, h.Locked)
		})
	}
	return err
}

// AddPast adds the past of an allocation, for the peak. The error is money.ErrRange.
func (r *RunOff) AddPast(h protection.History) error {
	var value func(int64) (int64, error)
	if r.query.Valuation == Locked && h.Priced(r.query.KnownAt) {
		value = h.Quote.Convert
	}
	if r.query.Valuation == Locked && value == nil {
		return nil
	}
	s := seriesOf(r.past, r.query.line(h.ChannelID, h.Currency, h.PolicyCurrency))
	return h.Walk(h.Begins()-1, r.query.AsOf, r.query.Recognition, func(c protection.Change) error {
		// The peak is about E1 alone.
		c.Before.E2, c.After.E2 = 0, 0
		if c.Before == c.After {
			return nil
		}
		return s.change(c, value)
	})
}

// Cell returns a function that adds the changes of a cell of the ChannelView. It is nil when the cell does not count.
// The changes of all cells replace Add and AddPast of all allocations. The recognition must not be linear, and the
// changes must leave out records that take effect after the day of the report.
func (r *RunOff) Cell(c Cell) func(civil.Day, Tally) {
	switch c.Category {
	case Uncovered:
		return r.apart(at(r.uncovered, c.Currency))
	case Covered:
		return r.covered(c, r.values(c.Currency, c.ValuedIn != ""))
	default:
		return nil
	}
}

// covered returns a function that adds the changes of a covered cell.
func (r *RunOff) covered(c Cell, valued bool) func(civil.Day, Tally) {
	var key Key
	key.set(ByChannel, c.First)
	l := r.query.line(key.ChannelID, c.Currency, c.ValuedIn)
	ahead, past, pending := seriesOf(r.counted(valued), l), &series{}, func(civil.Day, Tally) {}
	if !valued {
		pending = r.apart(at(r.pending, c.Currency))
	}
	if valued || r.query.Valuation == Spot {
		past = seriesOf(r.past, l)
	}
	return func(day civil.Day, t Tally) {
		pending(day, t)
		native, locked := r.levels(t)
		if day <= r.query.AsOf {
			ahead.count += t.Count
			past.add(day, protection.Level{E1: native.E1}, protection.Level{E1: locked.E1}, r.query.Valuation)
		}
		ahead.add(max(day, r.query.AsOf), native, locked, r.query.Valuation)
	}
}

// counted is where an amount belongs: in the run-off, or separate if it has no locked rate.
func (r *RunOff) counted(valued bool) map[line]*series {
	if valued || r.query.Valuation == Spot {
		return r.ahead
	}
	return r.waiting
}

// apart returns a function that adds up the amounts outside the total on the day of the report. It stays outside later.
func (r *RunOff) apart(sum *Figures) func(civil.Day, Tally) {
	return func(day civil.Day, t Tally) {
		if day <= r.query.AsOf {
			native, _ := r.levels(t)
			sum.add(Figures{Allocations: t.Count, E1: native.E1, E2: native.E2})
		}
	}
}

// levels returns the figures of a tally, in base currency and locked.
func (r *RunOff) levels(t Tally) (native, locked protection.Level) {
	native.E1, locked.E1 = t.Undelivered(r.query.Recognition)
	native.E2, locked.E2 = t.Amount-native.E1, t.Locked-locked.E1
	if r.query.Valuation != Locked {
		return native, protection.Level{}
	}
	return native, protection.Level{E1: whole(locked.E1), E2: whole(t.Locked) - locked.E1}
}

// values reports whether an amount has a value: at spot, or at its locked rate if it was priced.
func (r *RunOff) values(c money.Currency, priced bool) bool {
	if r.query.Valuation == Locked {
		return priced
	}
	return r.spot.of(c) != nil
}

func seriesOf(m map[line]*series, l line) *series {
	if m[l] == nil {
		m[l] = &series{}
	}
	return m[l]
}

// RunOffPoint is a run-off at the end of one day.
type RunOffPoint struct {
	Day   civil.Day
	Total protection.Level // in the report currency
	Gaps  Gaps             // of the total
	By    []RunOffCurrency // in order of currency; all points have the same currencies
}

// RunOffCurrency is the part of a run-off in one base currency, in minor units of it.
type RunOffCurrency struct {
	Currency money.Currency
	protection.Level
}

// RunOffReport is a run-off (R8).
type RunOffReport struct {
	Query       ReportQuery
	Allocations int64
	LastDay     civil.Day // the last L; the day of the report when nothing counts
	Points      []RunOffPoint
	HalfLife    *civil.Day // the first day on which E1 is at most half; nil when E1 is 0 or not known
	MeanLife    *big.Rat   // in days, see meanLife; nil when E1 is 0 or not known
	Peak        Peak
	PendingRate []Pending
	Converted   []Converted // of a locked valuation, on the first day; the points have it
	Uncovered   []Pending
}

// Peak is the highest E1 of all days up to the day of the report, in the report currency (R8). Day is the first day
// with it. It uses the rates of the run-off, so that it can be compared with the curve. It is computed from what is
// known at the moment of the report. Gap reports that it is unknown, because a rate is missing for some E1 of these
// days.
type Peak struct {
	Day civil.Day
	E1  int64
	Gap bool
}

// Report ends the sums and makes the run-off. The error is money.ErrRange.
func (r *RunOff) Report() (RunOffReport, error) {
	out := RunOffReport{
		Query: r.query, LastDay: r.query.AsOf, PendingRate: apartNow(r.pending), Uncovered: apartNow(r.uncovered),
	}
	var total, past, unknown curve
	by := map[money.Currency]*curve{}
	converted := conversions{}
	for l, s := range r.ahead {
		if s.count == 0 { // nothing is left of it on the day of the report
			continue
		}
		out.Allocations += s.count
		if err := r.convert(converted, l, s); err != nil {
			return RunOffReport{}, err
		}
		if err := r.into(&total, &unknown, l, s); err != nil {
			return RunOffReport{}, err
		}
		own := at(by, l.currency)
		for _, step := range s.native.merge() {
			own.add(step.day, step.Level)
			if step.E1+step.E2 < 0 { // something ends: the day before was its last day
				out.LastDay = max(out.LastDay, step.day-1)
			}
		}
	}
	out.Converted = converted.list()
	for _, s := range r.waiting {
		if s.count != 0 && out.Allocations == 0 { // see lockedGaps
			s.native.into(&unknown)
		}
	}
	var never curve
	for l, s := range r.past {
		if err := r.into(&past, &never, l, s); err != nil {
			return RunOffReport{}, err
		}
	}
	out.Points = points(RunOffDays(r.query.AsOf, out.LastDay), total, unknown, by)
	first := out.Points[0]
	out.Peak = peakOf(past, Peak{Day: r.query.AsOf, E1: first.Total.E1})
	out.Peak.Gap = first.Gaps.E1 || never.any()
	if first.Total.E1 > 0 && !first.Gaps.E1 {
		half := halfLife(total, r.query.AsOf, first.Total.E1)
		out.HalfLife, out.MeanLife = &half, meanLife(total, r.query.AsOf, first.Total.E1)
	}
	return out, nil
}

// into adds a series, in the report currency, to a curve. Without a rate it adds the series to unknown, in its own currency.
func (r *RunOff) into(total, unknown *curve, l line, s *series) error {
	value := s.value(r.query.Valuation)
	quote := r.spot.of(l.valuedIn)
	if quote == nil {
		value.into(unknown)
		return nil
	}
	if err := value.convert(total, quote); err != nil {
		return fmt.Errorf("channel %d: %w", l.channel, err)
	}
	return nil
}

// convert notes the converted amount of a series on the first day, if it was priced in the currency of another policy.
func (r *RunOff) convert(converted conversions, l line, s *series) error {
	if !r.query.earlier(l) {
		return nil
	}
	var level protection.Level
	for _, step := range s.locked.merge() {
		if step.day == r.query.AsOf {
			level = step.Level
		}
	}
	var report protection.Level
	var gaps Gaps
	if quote := r.spot.of(l.valuedIn); quote == nil {
		gaps.miss(level)
	} else {
		var err error
		if report, err = convertLevel(level, quote.Convert); err != nil {
			return fmt.Errorf("channel %d: %w", l.channel, err)
		}
	}
	converted.add(l.valuedIn, Figures{Allocations: s.count, E1: level.E1, E2: level.E2}, report, gaps)
	return nil
}

// apartNow leaves out currencies with nothing left.
func apartNow(by map[money.Currency]*Figures) []Pending {
	return slices.DeleteFunc(apart(by), func(p Pending) bool { return p.Allocations == 0 })
}

// RunOffDays are the days of a run-off (R8): the first day and 35 more, one a week up to 26 weeks, and then the ends
// of months up to the month of the last day of dispute.
func RunOffDays(first, last civil.Day) []civil.Day {
	var days []civil.Day
	for d := first; d <= first+runOffDaily; d++ {
		days = append(days, d)
	}
	for d := first + runOffDaily + 7; d <= first+runOffWeekly; d += 7 {
		days = append(days, d)
	}
	d := monthEnd(first + runOffWeekly)
	if d == first+runOffWeekly { // the list has that day already
		d = monthEnd(d + 1)
	}
	for ; d <= monthEnd(last); d = monthEnd(d + 1) {
		days = append(days, d)
	}
	return days
}

// monthEnd is the last day of the month of a day.
func monthEnd(d civil.Day) civil.Day {
	year, month, _ := d.Start().Date()
	return civil.DayOf(time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC))
}

// points reads the curves at some days. The days are in order. On days with something in unknown, the total is not known.
func points(days []civil.Day, total, unknown curve, by map[money.Currency]*curve) []RunOffPoint {
	list := make([]RunOffPoint, len(days))
	currencies := slices.Sorted(maps.Keys(by))
	for i := range list {
		list[i] = RunOffPoint{Day: days[i], By: make([]RunOffCurrency, len(currencies))}
	}
	read(total, days, func(i int, l protection.Level) { list[i].Total = l })
	read(unknown, days, func(i int, l protection.Level) { list[i].Gaps.miss(l) })
	for k, c := range currencies {
		read(*by[c], days, func(i int, l protection.Level) { list[i].By[k] = RunOffCurrency{c, l} })
	}
	return list
}

func read(c curve, days []civil.Day, each func(i int, l protection.Level)) {
	var level protection.Level
	next := 0
	for i, day := range days {
		for next < len(c.changes) && c.first+civil.Day(next) <= day {
			level = level.Plus(c.changes[next])
			next++
		}
		each(i, level)
	}
}

func halfLife(total curve, first civil.Day, e1 int64) civil.Day {
	left := int64(0)
	for day, change := range total.each {
		left = money.Sum(left, change.E1)
		if day > first && left <= e1/2 { // e1/2 is cut, but left is whole: it is the same as 2·left ≤ e1
			return day
		}
	}
	return first // not reached: every curve ends at zero
}

// meanLife is the number of days that E1 of the first day stays undelivered, on average and weighted by amount (R8): Σ E1
// over the days after the first one / E1 of the first day. It is exact; MeanLifeDays rounds it.
func meanLife(total curve, first civil.Day, e1 int64) *big.Rat {
	sum, left := new(big.Int), int64(0)
	for day, change := range total.each { // it yields every day, until nothing is left
		left = money.Sum(left, change.E1)
		if day > first {
			sum.Add(sum, big.NewInt(left))
		}
	}
	return new(big.Rat).SetFrac(sum, big.NewInt(e1))
}

// MeanLifeDays is the mean life in days with two decimals, rounded half away from zero. It is "" when there is none.
func (r RunOffReport) MeanLifeDays() string {
	if r.MeanLife == nil {
		return ""
	}
	return r.MeanLife.FloatString(2)
}

func peakOf(past curve, today Peak) Peak {
	best, e1 := today, int64(0)
	for day, change := range past.each {
		if e1 = money.Sum(e1, change.E1); e1 > best.E1 || e1 == best.E1 && e1 > 0 && day < best.Day {
			best = Peak{Day: day, E1: e1}
		}
	}
	return best
}
