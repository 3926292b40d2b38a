package exposure

import (
	"slices"
	"time"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
)

// Category says to which figures of R7 a bucket belongs.
type Category string

// The standings.
const (
	Covered     Category = "covered"     // E1 and E2
	Uncovered   Category = "uncovered"   // E5
	Instalments Category = "instalments" // E4: see Outstanding
)

// Bucket holds the amounts that every report adds up in the same way (docs/decisions/0002-exposure-buckets.md). They
// agree in channel, scheme and the other attributes, and in the days of delivery and of dispute.
type Bucket struct {
	ChannelID int64
	Currency  money.Currency
	Scheme    card.Scheme // "" for instalments, because no card has paid them yet
	Country   string
	Suppliers string // as in Terms
	Category  Category
	ValuedIn  money.Currency // of the locked amounts; "" while pending_rate
	Start     civil.Day      // S of R4
	End       civil.Day      // D of R4
	LastDay   civil.Day      // L of R5
}

// Delta is a change of a bucket: from a day on it holds this much more. The days of the bucket say until when it
// counts.
type Delta struct {
	Bucket
	Day    civil.Day
	Count  int64 // allocations; bookings for instalments
	Amount int64 // minor units of Currency
	Locked int64 // minor units of ValuedIn: each allocation at its own rate, rounded by itself
	Known  int64 // when it was recorded, in microseconds since 1970; 0 if not needed
}

// Tally is the sum of buckets on a day, or the change on a day. End and Start are the parts of Amount that are not
// delivered, by the recognitions end_date and start_date (R4). Linear delivery is not in it.
type Tally struct {
	Count       int64
	Amount      int64
	End         int64
	Start       int64
	Locked      int64
	LockedEnd   int64
	LockedStart int64
}

// Add adds another tally to this one.
func (t *Tally) Add(o Tally) {
	t.Count += o.Count
	t.Amount = money.Sum(t.Amount, o.Amount)
	t.End = money.Sum(t.End, o.End)
	t.Start = money.Sum(t.Start, o.Start)
	t.Locked = money.UpTo(t.Locked, o.Locked)
	t.LockedEnd = money.UpTo(t.LockedEnd, o.LockedEnd)
	t.LockedStart = money.UpTo(t.LockedStart, o.LockedStart)
}

// Negative is the change that takes this one back.
func (t Tally) Negative() Tally {
	return Tally{-t.Count, -t.Amount, -t.End, -t.Start, -t.Locked, -t.LockedEnd, -t.LockedStart}
}

// Undelivered is E1 of the tally, in base currency and locked. The recognition must not be linear.
func (t Tally) Undelivered(by terms.Recognition) (native, locked int64) {
	if by == terms.RecognitionStartDate {
		return t.Start, t.LockedStart
	}
	return t.End, t.LockedEnd
}

// On is the amount that the delta adds at the end of a day.
func (d Delta) On(day civil.Day) Tally {
	if day < d.Day || day > d.LastDay {
		return Tally{}
	}
	s := Tally{Count: d.Count, Amount: d.Amount, Locked: d.Locked}
	if day <= d.End {
		s.End, s.LockedEnd = d.Amount, d.Locked
	}
	if day < d.Start {
		s.Start, s.LockedStart = d.Amount, d.Locked
	}
	return s
}

// delivered reports whether the bucket is delivered at the end of a day. The recognition must not be linear.
func (b Bucket) delivered(day civil.Day, by terms.Recognition) bool {
	if by == terms.RecognitionStartDate {
		return day >= b.Start
	}
	return day > b.End
}

// Changes calls each for every day on which On changes, with the change. The changes up to a day add up to On of that
// day.
func (d Delta) Changes(each func(civil.Day, Tally)) {
	before := Tally{}
	days := []civil.Day{d.Day, d.Start, d.End + 1, d.LastDay + 1}
	slices.Sort(days)
	for _, day := range slices.Compact(days) {
		now := d.On(day)
		if change := before.Negative(); now != before {
			change.Add(now)
			each(day, change)
		}
		before = now
	}
}

// TotalChange is a change of the total of a booking.
type TotalChange struct {
	At     time.Time
	Before int64 // the total before the change
}

// BookingRisk is everything from which the buckets of one booking are computed.
type BookingRisk struct {
	Total       int64         // the present one
	Totals      []TotalChange // in order of recording
	Allocations []protection.History

	known time.Time // later records do not count; zero: all count
}

// TotalOn is the total of the booking at the end of a day.
func (b BookingRisk) TotalOn(day civil.Day) int64 {
	end := day.End()
	if !b.known.IsZero() && b.known.Before(end) {
		end = b.known
	}
	for _, c := range b.Totals {
		if c.At.After(end) {
			return c.Before
		}
	}
	return b.Total
}

// allKnown is a time after all records: buckets hold the current knowledge about each day.
var allKnown = time.Unix(1<<40, 0)

// bucketOn is the bucket of an allocation at the end of a day, with what remains of it. ok is false when nothing
// remains.
func bucketOn(h protection.History, day civil.Day) (d Delta, ok bool, err error) {
	remaining := h.AmountsAt(h.Events, day, allKnown).Remaining(h.Paid(), day)
	if remaining == 0 {
		return Delta{}, false, nil
	}
	terms := protection.TermsAt(h.Terms, day.End(), allKnown)
	d = Delta{Day: day, Count: 1, Amount: remaining, Bucket: Bucket{
		ChannelID: h.ChannelID, Currency: h.Currency, Scheme: h.Scheme, Country: terms.Country,
		Suppliers: terms.Suppliers, Category: Covered, Start: terms.Start, End: terms.End, LastDay: terms.LastDay,
	}}
	if !h.Decision.Protected || h.Decision.CoverFrom.After(day.End()) {
		d.Category = Uncovered
	}
	if !h.PricedAt.IsZero() {
		d.ValuedIn = h.PolicyCurrency
		d.Locked, err = h.Quote.Convert(remaining)
	}
	return d, true, err
}

// days are the days on which a record changes the buckets of the booking. On other days only time changes them.
func (b BookingRisk) days() []civil.Day {
	var days []civil.Day
	for _, a := range b.Allocations {
		days = append(days, a.Paid(), civil.DayOf(a.Decision.CoverFrom))
		for _, t := range a.Terms {
			days = append(days, civil.DayOf(t.EffectiveAt))
		}
		for _, e := range a.Events {
			days = append(days, civil.DayOf(e.EffectiveAt))
		}
	}
	for _, c := range b.Totals {
		days = append(days, civil.DayOf(c.At))
	}
	slices.Sort(days)
	return slices.Compact(days)
}

// Deltas makes the deltas of the booking. For each day, the sum of their On is the booking's contribution to reports.
// Allocations of test channels are left out, because they are in no total. The error is money.ErrRange.
func (b BookingRisk) Deltas() ([]Delta, error) {
	b = b.counted()
	var list []Delta
	latest := make([]Delta, len(b.Allocations)) // as of the day before
	for _, day := range b.days() {
		for i, a := range b.Allocations {
			now, ok, err := bucketOn(a, day)
			if err != nil {
				return nil, err
			}
			if !ok {
				now = Delta{Day: day}
			}
			before := latest[i]
			before.Day = day
			if now == before {
				continue
			}
			list = append(list, before.Negative(), now)
			latest[i] = now
		}
	}
	if len(b.Allocations) > 0 {
		first := b.Allocations[0]
		list = append(list, InstalmentDeltas(b.outstanding(), first.ChannelID, first.Currency)...)
	}
	return Merge(list), nil
}

// counted is the risk without the allocations of test channels.
func (b BookingRisk) counted() BookingRisk {
	b.Allocations = slices.DeleteFunc(slices.Clone(b.Allocations), func(a protection.History) bool { return a.Decision.Simulated })
	return b
}

// Negative is the delta that takes this one back.
func (d Delta) Negative() Delta {
	d.Count, d.Amount, d.Locked = -d.Count, -d.Amount, -d.Locked
	return d
}

// Difference returns the deltas that turn before into after.
func Difference(before, after []Delta) []Delta {
	list := slices.Clone(after)
	for _, d := range before {
		list = append(list, d.Negative())
	}
	return Merge(list)
}

// Merge adds up the deltas of the same bucket and day, recorded at the same time. It leaves out sums of zero and deltas that never count.
func Merge(list []Delta) []Delta {
	sums := make([]Delta, 0, len(list))
	places := map[Delta]int{} // of the keys in sums, where there are more than a few
	for _, d := range list {
		if d.Day > d.LastDay || d.Category == "" {
			continue
		}
		at, found := d.in(sums, places)
		if !found {
			at = len(sums)
			sums = append(sums, d.key())
			if at >= fewSums {
				places[d.key()] = at
			}
		}
		sums[at].Count += d.Count
		sums[at].Amount = money.Sum(sums[at].Amount, d.Amount)
		sums[at].Locked = money.UpTo(sums[at].Locked, d.Locked)
	}
	return slices.DeleteFunc(sums, func(d Delta) bool { return d.Count == 0 && d.Amount == 0 && d.Locked == 0 })
}

// Up to fewSums are searched linearly: a payment has no more, and that is faster than a map.
const fewSums = 16

// key is what deltas have in common that are added up.
func (d Delta) key() Delta { return Delta{Bucket: d.Bucket, Day: d.Day, Known: d.Known} }

// in finds the sum of a delta.
func (d Delta) in(sums []Delta, places map[Delta]int) (at int, found bool) {
	for at := range sums[:min(len(sums), fewSums)] {
		if s := &sums[at]; s.Day == d.Day && s.Known == d.Known && s.Bucket == d.Bucket {
			return at, true
		}
	}
	if len(sums) <= fewSums {
		return 0, false
	}
	at, found = places[d.key()]
	return at, found
}
