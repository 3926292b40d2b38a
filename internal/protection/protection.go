// Package protection is the arithmetic of protection (rules R2 to R9): whether a payment is protected, what of it is
// still at risk, until when, and what that is worth. Pure functions over plain values: no database, no clock.
package protection

import (
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/travel"
)

// Reasons of a decision (R2): why a payment is protected, or why it is not.
const (
	ReasonProtected      = "channel_protected"
	ReasonLive           = "channel_live_protected" // of the server-to-server profile
	ReasonTestChannel    = "test_channel"           // decided as if protected, but simulated
	ReasonMode           = "channel_not_protected"
	ReasonType           = "account_type_not_protected" // of the server-to-server profile
	ReasonLocked         = "channel_locked"
	ReasonNotCardPayment = "not_a_card_payment"
)

// Decision is what R2 says of a payment, once and for all.
type Decision struct {
	Protected  bool
	Reason     string
	Simulated  bool // of a test channel: the same arithmetic, outside every total
	LateLogged bool
	CoverFrom  time.Time // cover start; of what is not protected: from when it would have counted
}

// Facts are what a decision rests on.
type Facts struct {
	Channel     travel.Channel
	Method      string
	EffectiveAt time.Time
	RecordedAt  time.Time
	TakenOver   bool  // imported with cover from EffectiveAt: the one exception to "never backdated"
	LateLogDays int64 // of the policy
}

// Decide applies R2.
func Decide(f Facts) Decision {
	d := Decision{
		Simulated:  f.Channel.WasTest,
		LateLogged: f.RecordedAt.Sub(f.EffectiveAt) > time.Duration(f.LateLogDays)*24*time.Hour,
		CoverFrom:  f.RecordedAt,
	}
	if f.TakenOver {
		d.CoverFrom = f.EffectiveAt
	}
	switch {
	case f.Method != travel.CreditCard:
		d.Reason = ReasonNotCardPayment
	case f.Channel.Locked:
		d.Reason = ReasonLocked
	case f.Channel.WasTest && f.Channel.Mode == travel.ModeTest:
		d.Protected, d.Reason = true, ReasonTestChannel
	case f.Channel.Mode == travel.ModeProtectionOnly:
		d.Protected, d.Reason = true, ReasonProtected
	case f.Channel.Covered():
		d.Protected, d.Reason = true, ReasonLive
	case f.Channel.Mode == travel.ModeLive:
		d.Reason = ReasonType
	default:
		d.Reason = ReasonMode
	}
	return d
}

// Amounts is what became of an allocation up to a moment, each a sum of positive minor units of its currency.
type Amounts struct {
	Allocated   int64 // a of R3
	Refunded    int64
	ChargedBack int64
	Reversed    int64
}

// Remaining is N of R3 at the end of a day, for an allocation whose payment was taken on day paid.
func (a Amounts) Remaining(paid, day civil.Day) int64 {
	if day < paid {
		return 0
	}
	return min(a.Allocated, max(0, a.unbounded()))
}

// DoubleRecovery is what the bounds of R3 cut off: money that came back twice, or was given back more than once.
func (a Amounts) DoubleRecovery() int64 {
	n := a.unbounded()
	return max(-n, n-a.Allocated, 0)
}

func (a Amounts) unbounded() int64 { return a.Allocated - a.Refunded - a.ChargedBack + a.Reversed }

// Terms is what of an allocation follows its booking.
type Terms struct {
	Start   civil.Day // S of R4
	End     civil.Day // D of R4
	LastDay civil.Day // L of R5
	Country string
	// Suppliers names those that the booking includes, as SupplierKey does.
	Suppliers string
}

// Undelivered is U of R4 at the end of a day, of an amount n that remains then.
func (t Terms) Undelivered(n int64, day civil.Day, by travel.Recognition) int64 {
	switch by {
	case travel.RecognitionStartDate:
		if day < t.Start {
			return n
		}
		return 0
	case travel.RecognitionLinear:
		days := int64(t.End-t.Start) + 1
		elapsed := min(max(int64(day-t.Start)+1, 0), days)
		return n - mulDiv(n, elapsed, days)
	default:
		if day <= t.End {
			return n
		}
		return 0
	}
}

// mulDiv is floor(n·k/d) without overflow, for 0 ≤ n, 0 ≤ k ≤ d.
func mulDiv(n, k, d int64) int64 {
	return n/d*k + n%d*k/d
}

// State is the state of an allocation (R6).
type State string

// The states of R6.
const (
	Settled     State = "settled"
	Expired     State = "expired"
	Undelivered State = "undelivered"
	Tail        State = "tail"
)

// StateOf applies R6 at the end of a day, of an allocation of which n remains and u is undelivered.
func StateOf(n, u int64, day, last civil.Day) State {
	switch {
	case n == 0:
		return Settled
	case day > last:
		return Expired
	case u > 0:
		return Undelivered
	default:
		return Tail
	}
}
