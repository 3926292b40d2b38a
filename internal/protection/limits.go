package protection

import (
	"fmt"
	"math/big"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// LimitScope is what a limit bounds (R12).
type LimitScope string

// The scopes of limits.
const (
	LimitTransaction LimitScope = "transaction"
	LimitBooking     LimitScope = "booking"
	LimitChannel     LimitScope = "channel"
	LimitSite        LimitScope = "site"
)

// LimitScopes lists the scopes, the narrowest first.
var LimitScopes = []LimitScope{LimitTransaction, LimitBooking, LimitChannel, LimitSite}

// LimitLevels are the parts of a limit, in percent, at which an event is recorded.
var LimitLevels = []int64{80, 95, 100}

// Limit is what a use may come to from a day on.
type Limit struct {
	SiteID     int64
	ID         int64
	Scope      LimitScope
	ChannelID  int64 // of this channel alone; 0: of every one, or of the site
	FromDay    civil.Day
	Lifted     bool  // no limit of its own from then on
	Amount     int64 // minor units of Currency
	Currency   money.Currency
	Note       string
	AuthorID   int64
	Author     string
	RecordedAt time.Time
	// Proposal is set in the answer to a change that waits for another operator: nothing has changed yet.
	Proposal *travel.Proposal
}

// Limits is a set of limits in order of recording.
type Limits []Limit

// InForce picks the limit of a scope that counts for a channel at the end of a day, as known at an instant: the
// channel's own before the general one, of each the one from the latest day, of two from one day the later recorded.
func (ls Limits) InForce(scope LimitScope, channelID int64, day civil.Day, known time.Time) (Limit, bool) {
	var own, general Limit
	for _, l := range ls {
		if l.Scope != scope || l.FromDay > day || l.RecordedAt.After(known) {
			continue
		}
		switch {
		case l.ChannelID == 0 && l.FromDay >= general.FromDay:
			general = l
		case l.ChannelID != 0 && l.ChannelID == channelID && l.FromDay >= own.FromDay:
			own = l
		}
	}
	for _, l := range []Limit{own, general} {
		if l.ID != 0 && !l.Lifted {
			return l, true
		}
	}
	return Limit{}, false
}

// Level is the highest of LimitLevels that a use has reached, 0 below the first.
func (l Limit) Level(use int64) (level int64) {
	for _, percent := range LimitLevels {
		// Multiplied out, because a part of a limit need not be a whole number of minor units.
		left := new(big.Int).Mul(big.NewInt(use), big.NewInt(100))
		if left.Cmp(new(big.Int).Mul(big.NewInt(l.Amount), big.NewInt(percent))) >= 0 {
			level = percent
		}
	}
	return level
}

// Crossed lists the levels between one that was reached before and one that is now, an event for each.
func Crossed(before, now int64) []int64 {
	var crossed []int64
	for _, percent := range LimitLevels {
		if before < percent && percent <= now {
			crossed = append(crossed, percent)
		}
	}
	return crossed
}

// Over is what of an addition lies above the limit, when the use with it has come to an amount.
func (l Limit) Over(added, use int64) int64 {
	return min(max(0, added), max(0, use-l.Amount))
}

// Headroom is what is left of the limit.
func (l Limit) Headroom(use int64) int64 { return max(0, l.Amount-use) }

// LimitUse is what an allocation adds to a use: its E1 locked (R12).
type LimitUse struct {
	Amount int64     // minor units of the allocation's policy currency
	Due    civil.Day // the next day on which it changes by itself; civil.NoDay: it does not
}

// UseAt is what the allocation adds to a use at the end of a day, as known at an instant. history and events are all
// there are, in order of recording. What is not protected, simulated or without a rate adds nothing.
func (a History) UseAt(day civil.Day, known time.Time, by travel.Recognition) (LimitUse, error) {
	none := LimitUse{Due: civil.NoDay}
	if !a.Decision.Protected || a.Decision.Simulated || !a.Priced(known) {
		return none, nil
	}
	if begins := max(a.Paid(), civil.DayOf(a.Decision.CoverFrom)); day < begins {
		return LimitUse{Due: begins}, nil
	}
	t := TermsAt(a.Terms, day, known)
	n := a.AmountsAt(a.Events, day, known).Remaining(a.Paid(), day)
	u := t.Undelivered(n, day, by)
	if day > t.LastDay || u == 0 {
		return none, nil
	}
	value, err := a.Quote.Convert(u)
	if err != nil {
		return none, fmt.Errorf("allocation %d: %w", a.ID, err)
	}
	return LimitUse{Amount: value, Due: min(t.changes(day, by), t.LastDay+1)}, nil
}

// changes is the next day after one on which the undelivered part can change, while something is undelivered.
func (t Terms) changes(day civil.Day, by travel.Recognition) civil.Day {
	switch {
	case by == travel.RecognitionStartDate:
		return t.Start
	case by == travel.RecognitionLinear && day < t.Start:
		return t.Start
	case by == travel.RecognitionLinear:
		return day + 1
	default:
		return t.End + 1
	}
}

// LimitEvent is a use that rose to a part of its limit.
type LimitEvent struct {
	SiteID        int64
	ID            int64
	Scope         LimitScope
	ObjectID      int64 // of the transaction, booking or channel; 0 for the site
	ChannelID     int64 // where it happened; 0 for the site
	Percent       int64
	Use           int64 // after the change that crossed
	Limit         Limit
	TransactionID int64 // that crossed it; 0 where no payment did
	CrossedAt     time.Time
	RecordedAt    time.Time
}

// OverLimit is what of an allocation lies above a limit.
type OverLimit struct {
	AllocationID  int64
	TransactionID int64
	Scope         LimitScope
	Amount        int64
	Currency      money.Currency
	Use           int64 // with this allocation
	LimitAmount   int64
	LimitID       int64
	RecordedAt    time.Time
}

// Step says how the amount came about.
func (o OverLimit) Step() Step {
	return Step{"R12", "over_limit " + string(o.Scope), fmt.Sprintf(
		"use of the %s with this payment %d, limit %d (number %d), in %s: %d of it lies above; it is protected all the same",
		o.Scope, o.Use, o.LimitAmount, o.LimitID, o.Currency, o.Amount)}
}

// OverLimitAmount is what of a transaction lies above the limit that it exceeds most: of each scope the sum over its
// allocations, of the sums the largest. Of an allocation that several limits of one scope met, one after the other, the
// most that lay above one of them counts.
func OverLimitAmount(list []OverLimit) (most int64, currency money.Currency) {
	type part struct {
		scope      LimitScope
		allocation int64
	}
	parts, sums := map[part]int64{}, map[LimitScope]int64{}
	for _, o := range list {
		p := part{o.Scope, o.AllocationID}
		more := max(0, o.Amount-parts[p])
		parts[p] += more
		sums[o.Scope] += more
		if sums[o.Scope] > most {
			most, currency = sums[o.Scope], o.Currency
		}
	}
	return most, currency
}
