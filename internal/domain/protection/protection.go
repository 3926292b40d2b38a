// Package protection implements the rules of docs/rules.md for a single payment: whether it is protected (R2), how
// much of it is at risk and until when (R3 to R6), what it is worth (R9), its premium (R10), statements (R11) and
// limits (R12). It consists of pure functions over plain values, without a database or a clock. Totals over many
// payments are in package exposure (R7, R8).
package protection

import (
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/terms"
)

// Reasons why a payment is protected, or why it is not (R2).
const (
	ReasonProtected      = "channel_protected"
	ReasonLive           = "channel_live_protected" // of the server-to-server profile
	ReasonTestChannel    = "test_channel"           // protected, but simulated
	ReasonMode           = "channel_not_protected"
	ReasonType           = "account_type_not_protected" // of the server-to-server profile
	ReasonLocked         = "channel_locked"
	ReasonNotCardPayment = "not_a_card_payment"
	reasonInsolvent      = "insolvent" // an insolvency of the channel is confirmed (R13)
)

// Decision says whether a payment is protected (R2). It is made once and never changes.
type Decision struct {
	Protected  bool
	Reason     string
	Simulated  bool // a payment of a test channel: computed in the same way, but in no total
	LateLogged bool
	CoverFrom  time.Time // cover start; also set for a payment that is not protected
}

// Facts are the input of a Decision.
type Facts struct {
	Channel     merchant.Channel
	Method      string
	EffectiveAt time.Time
	RecordedAt  time.Time
	TakenOver   bool  // imported with cover from EffectiveAt: the only case in which cover starts before RecordedAt
	LateLogDays int64 // setting of the policy
}

// Decide decides by R2 whether a payment is protected.
func Decide(f Facts) Decision {
	d := Decision{
		Simulated:  f.Channel.WasTest,
		LateLogged: f.RecordedAt.Sub(f.EffectiveAt) > time.Duration(f.LateLogDays)*24*time.Hour,
		CoverFrom:  f.RecordedAt,
	}
	if f.TakenOver {
		d.CoverFrom = f.EffectiveAt
	}
	if d.Protected, d.Reason = ChannelProtected(f.Channel); f.Method != payment.CreditCard {
		d.Protected, d.Reason = false, ReasonNotCardPayment
	}
	return d
}

// ChannelProtected says whether card payments of a channel are protected now, and why (R2). E4 counts the bookings of
// such channels only (R7).
func ChannelProtected(c merchant.Channel) (protected bool, reason string) {
	switch {
	case c.Insolvency.InForce():
		return false, reasonInsolvent
	case c.Locked:
		return false, ReasonLocked
	case c.WasTest && c.Mode == merchant.ModeTest:
		return true, ReasonTestChannel
	case c.Mode == merchant.ModeProtectionOnly:
		return true, ReasonProtected
	case c.Covered():
		return true, ReasonLive
	case c.Mode == merchant.ModeLive:
		return false, ReasonType
	default:
		return false, ReasonMode
	}
}

// Amounts are the sums of an allocation at a moment: what was allocated, refunded, charged back and reversed (R3).
// All are positive minor units of its currency.
type Amounts struct {
	Allocated   int64 // a of R3
	Refunded    int64
	ChargedBack int64
	Reversed    int64
}

func (a *Amounts) add(e Event) {
	switch e.Kind {
	case payment.Refund:
		a.Refunded = money.Sum(a.Refunded, e.Amount)
	case payment.Chargeback, payment.Prevented:
		a.ChargedBack = money.Sum(a.ChargedBack, e.Amount)
	case payment.ChargebackReversal:
		a.Reversed = money.Sum(a.Reversed, e.Amount)
	}
}

// Remaining is N at the end of a day (R3). paid is P, the day of the payment: before it N is 0.
func (a Amounts) Remaining(paid, day civil.Day) int64 {
	if day < paid {
		return 0
	}
	return min(a.Allocated, max(0, a.unbounded()))
}

// DoubleRecovery is the amount beyond the bounds of N (R3): money that was returned twice.
func (a Amounts) DoubleRecovery() int64 {
	n := a.unbounded()
	return max(-n, n-a.Allocated, 0)
}

func (a Amounts) unbounded() int64 { return a.Allocated - a.Refunded - a.ChargedBack + a.Reversed }

// Terms are the values that an allocation has from its booking.
type Terms struct {
	Start   civil.Day // S of R4
	End     civil.Day // D of R4
	LastDay civil.Day // L of R5
	Country string
	// Suppliers is the SupplierKey of the booking's suppliers.
	Suppliers string
}

// Undelivered is U at the end of a day, for N = n (R4).
func (t Terms) Undelivered(n int64, day civil.Day, by terms.Recognition) int64 {
	switch by {
	case terms.RecognitionStartDate:
		if day < t.Start {
			return n
		}
		return 0
	case terms.RecognitionLinear:
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

// StateOf is the state at the end of a day, for N = n, U = u and L = last (R6).
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
