package protection

import (
	"fmt"
	"math/big"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/domain/terms"
)

// LimitScope is the scope of a limit (R12).
type LimitScope string

// The scopes of limits.
const (
	LimitTransaction LimitScope = "transaction"
	LimitBooking     LimitScope = "booking"
	LimitChannel     LimitScope = "channel"
	LimitSite        LimitScope = "site"
)

// LimitScopes lists the scopes, from the narrowest to the widest.
var LimitScopes = []LimitScope{LimitTransaction, LimitBooking, LimitChannel, LimitSite}

// LimitLevels are the percentages of a limit at which an event is recorded (R12).
var LimitLevels = []int64{80, 95, 100}

// Limit is the greatest use that is agreed, from a day on (R12).
type Limit struct {
	SiteID     int64
	ID         int64
	Scope      LimitScope
	ChannelID  int64 // for this channel alone; 0: for every channel, or for the site
	FromDay    civil.Day
	Lifted     bool  // from then on this scope or channel has no limit of its own
	Amount     int64 // minor units of Currency
	Currency   money.Currency
	Note       string
	AuthorID   int64
	Author     string
	RecordedAt time.Time
	// Proposal is set when the change waits for another operator (R0). Then nothing has changed yet.
	Proposal *proposal.Proposal
}

// Limits is a set of limits in order of recording.
type Limits []Limit

// InForce picks the limit of a scope that counts for a channel at the end of a day, as known at a time. The channel's
// own limit comes before the general one. Of several, the one with the latest FromDay counts, and of two with the
// same day the one that was recorded later. ok is false when there is no limit.
func (ls Limits) InForce(scope LimitScope, channelID int64, day civil.Day, known time.Time) (limit Limit, ok bool) {
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

// Level is the highest of LimitLevels that a use has reached. It is 0 below the first.
func (l Limit) Level(use int64) (level int64) {
	for _, percent := range LimitLevels {
		// Both sides are multiplied by 100, because a percentage of a limit may not be a whole number.
		left := new(big.Int).Mul(big.NewInt(use), big.NewInt(100))
		if left.Cmp(new(big.Int).Mul(big.NewInt(l.Amount), big.NewInt(percent))) >= 0 {
			level = percent
		}
	}
	return level
}

// Percent returns a use as a percentage of the limit.
func (l Limit) Percent(use int64) string { return Percent(use, l.Amount) }

// Percent returns a part as a percentage of a whole, rounded to one decimal, half away from zero (R0). The whole must not be 0.
func Percent(part, whole int64) string {
	percent := new(big.Int).Mul(big.NewInt(part), big.NewInt(100)) // the product may not fit in 64 bits
	return new(big.Rat).SetFrac(percent, big.NewInt(whole)).FloatString(1)
}

// Crossed lists the levels above before and up to now. Each of them is an event.
func Crossed(before, now int64) []int64 {
	var crossed []int64
	for _, percent := range LimitLevels {
		if before < percent && percent <= now {
			crossed = append(crossed, percent)
		}
	}
	return crossed
}

// Over is the part of an addition that exceeds the limit. use includes the addition.
func (l Limit) Over(added, use int64) int64 {
	return min(max(0, added), max(0, use-l.Amount))
}

// Headroom is the unused part of the limit.
func (l Limit) Headroom(use int64) int64 { return max(0, l.Amount-use) }

// LimitUse is the amount that an allocation adds to the use of a limit: its E1 at the locked rate (R12).
type LimitUse struct {
	Amount int64 // minor units of the allocation's policy currency
	// Due is the next day on which time alone changes the use. A use of 0 also has one while another recognition would
	// still find something undelivered. It is civil.NoDay when only new facts can change the use.
	Due civil.Day
}

// UseAt is the amount that the allocation adds to a use at the end of a day, as known at a time. An allocation that is not
// protected, is simulated or has no rate adds nothing. The error is money.ErrRange.
func (h History) UseAt(day civil.Day, known time.Time, by terms.Recognition) (LimitUse, error) {
	none := LimitUse{Due: civil.NoDay}
	if !h.Decision.Protected || h.Decision.Simulated || !h.Priced(known) {
		return none, nil
	}
	if begins := max(h.Paid(), civil.DayOf(h.Decision.CoverFrom)); day < begins {
		return LimitUse{Due: begins}, nil
	}
	t := TermsAt(h.Terms, day.End(), known)
	n := h.AmountsAt(h.Events, day, known).Remaining(h.Paid(), day)
	last := min(t.End, t.LastDay) // later no recognition finds anything undelivered
	if n == 0 || day > last {
		return none, nil
	}
	value, err := h.Quote.Convert(t.Undelivered(n, day, by))
	if err != nil {
		return none, fmt.Errorf("allocation %d: %w", h.ID, err)
	}
	return LimitUse{Amount: value, Due: min(t.changes(day, by), last+1)}, nil
}

// changes is the next day after a day on which the undelivered part can change. It is at most the day after the end.
func (t Terms) changes(day civil.Day, by terms.Recognition) civil.Day {
	switch {
	case by != terms.RecognitionEndDate && day < t.Start:
		return t.Start
	case by == terms.RecognitionLinear:
		return day + 1
	default:
		return t.End + 1
	}
}

// LimitEvent says that a use has reached one of LimitLevels (R12).
type LimitEvent struct {
	SiteID        int64
	ID            int64
	Scope         LimitScope
	ObjectID      int64 // of the transaction, booking or channel; 0 for the site
	ChannelID     int64 // 0 for the site
	Percent       int64
	Use           int64 // after the change
	Limit         Limit
	TransactionID int64 // the payment that reached the level; 0 when none did
	CrossedAt     time.Time
	RecordedAt    time.Time
}

// OverLimit is the part of an allocation that exceeds a limit (R12).
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

// Step explains the amount.
func (o OverLimit) Step() Step {
	return Step{"R12", "over_limit " + string(o.Scope), fmt.Sprintf(
		"use of the %s with this payment %d, limit %d (number %d), in %s: %d of it exceeds the limit; it is still protected",
		o.Scope, o.Use, o.LimitAmount, o.LimitID, o.Currency, o.Amount)}
}

// OverLimitAmount is the over_limit_amount of a transaction (R12), from the rows of its allocations. The allocations
// are added up for each scope, and the largest of these sums counts. When an allocation has several rows in one
// scope, its largest amount counts.
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
		sums[o.Scope] = money.UpTo(sums[o.Scope], more)
		if sums[o.Scope] > most {
			most, currency = sums[o.Scope], o.Currency
		}
	}
	return most, currency
}
