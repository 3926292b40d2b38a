package view

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/report"
)

// protectionShape is the explanation of a transaction on the wire.
type protectionShape struct {
	Summary     string            `json:"summary"`
	Transaction int64             `json:"transaction"`
	Type        string            `json:"transaction_types"`
	Adjusts     int64             `json:"adjusts,omitempty"`
	AsOf        civil.Day         `json:"as_of"`
	KnownAt     string            `json:"known_at"`
	Policy      policyShape       `json:"policy"`
	Allocations []allocationShape `json:"allocations"`
	// By how much the transaction exceeds a limit (R12), in minor units; absent if it exceeds none.
	OverLimit         int64          `json:"over_limit_amount,omitempty"`
	OverLimitCurrency money.Currency `json:"over_limit_currency,omitempty"`
}

type policyShape struct {
	Currency         money.Currency `json:"currency"`
	Recognition      string         `json:"recognition"`
	LateLogDays      int64          `json:"late_log_days"`
	MaxFixingAgeDays int64          `json:"max_fixing_age_days"`
}

type allocationShape struct {
	Summary     string           `json:"summary"`
	ID          int64            `json:"id"` // of the payment record
	Booking     int64            `json:"booking"`
	Currencies  money.Currency   `json:"currencies"`
	Amount      int64            `json:"amount"`
	Protected   bool             `json:"protected"`
	Reason      string           `json:"reason"`
	Simulated   bool             `json:"simulated"`
	LateLogged  bool             `json:"late_logged"`
	CoverStart  string           `json:"cover_start"`
	Started     bool             `json:"cover_started"`
	Scheme      string           `json:"scheme"`
	PaidOn      civil.Day        `json:"paid_on"`
	DateStart   civil.Day        `json:"date_start"`
	Date        civil.Day        `json:"date"`
	LastDay     civil.Day        `json:"last_day_of_dispute"`
	Rulepack    string           `json:"rulepack"`
	State       protection.State `json:"state"`
	Remaining   int64            `json:"remaining"`
	Undelivered int64            `json:"undelivered"`
	DoubleRec   int64            `json:"double_recovery"`
	Value       valueShape       `json:"value"`
	Terms       []termsShape     `json:"terms"`
	Events      []eventShape     `json:"events"`
	Steps       []stepShape      `json:"steps"`
	Premium     premiumShape     `json:"premium"`
}

type valueShape struct {
	Status     string         `json:"status"` // locked or pending_rate
	Currencies money.Currency `json:"currencies"`
	Total      *int64         `json:"total"`
	Legs       []legShape     `json:"legs"`
}

type legShape struct {
	Currency money.Currency `json:"currency"`
	Rate     string         `json:"rate"`
	Provider *string        `json:"provider"`
	Fixing   *civil.Day     `json:"fixing"`
}

type termsShape struct {
	RecordedAt string    `json:"recorded_at"`
	DateStart  civil.Day `json:"date_start"`
	Date       civil.Day `json:"date"`
	LastDay    civil.Day `json:"last_day_of_dispute"`
	Country    string    `json:"country"`
}

type eventShape struct {
	Transaction int64  `json:"transaction"`
	Type        string `json:"transaction_types"`
	Total       int64  `json:"total"`
	EffectiveAt string `json:"effective_at"`
	RecordedAt  string `json:"recorded_at"`
}

type stepShape struct {
	Rule string `json:"rule"`
	Name string `json:"name"`
	Text string `json:"text"`
}

// ShowProtection returns the explanation of a transaction as in the API, to be encoded as JSON. The command line also
// prints it.
func ShowProtection(r report.ProtectionReport) protectionShape {
	shape := protectionShape{
		Summary: r.Summary, Transaction: r.Transaction.ID, Type: string(r.Transaction.Type),
		AsOf: r.Moment.AsOf, KnownAt: r.Moment.KnownAt.UTC().Format(ISOMicros),
		Policy: showPolicyOf(r.Policy), Allocations: Each(r.Allocations, showAllocation),
		OverLimit: r.OverLimit, OverLimitCurrency: r.OverLimitCurrency,
	}
	if r.Adjusted {
		shape.Adjusts = r.Transaction.LinkedID
	}
	return shape
}

func showPolicyOf(p terms.Policy) policyShape {
	return policyShape{
		Currency: p.Currency, Recognition: string(p.Recognition), LateLogDays: p.LateLogDays, MaxFixingAgeDays: p.MaxFixingAgeDays,
	}
}

func showAllocation(x protection.Explained) allocationShape {
	shape := allocationShape{
		Summary: x.Summary, ID: x.ID, Booking: x.BookingID, Currencies: x.Currency, Amount: x.Amount,
		Protected: x.Decision.Protected, Reason: x.Decision.Reason, Simulated: x.Decision.Simulated,
		LateLogged: x.Decision.LateLogged, CoverStart: civil.FormatInstant(x.Decision.CoverFrom), Started: x.Started,
		Scheme: string(x.Scheme), PaidOn: x.Paid(), DateStart: x.Terms.Start, Date: x.Terms.End, LastDay: x.Terms.LastDay,
		Rulepack: x.Rulepack, State: x.State, Remaining: x.Remaining, Undelivered: x.Undelivered,
		DoubleRec: x.Amounts.DoubleRecovery(), Value: showValue(x),
		Terms: make([]termsShape, len(x.History)), Events: make([]eventShape, len(x.Events)),
		Steps: make([]stepShape, len(x.Steps)), Premium: showPremium(x),
	}
	for i, t := range x.History {
		shape.Terms[i] = termsShape{
			RecordedAt: civil.FormatInstant(t.RecordedAt), DateStart: t.Start, Date: t.End, LastDay: t.LastDay, Country: t.Country,
		}
	}
	for i, e := range x.Events {
		shape.Events[i] = eventShape{
			Transaction: e.TransactionID, Type: string(e.Kind), Total: e.Amount,
			EffectiveAt: civil.FormatInstant(e.EffectiveAt), RecordedAt: civil.FormatInstant(e.RecordedAt),
		}
	}
	for i, step := range x.Steps {
		shape.Steps[i] = stepShape(step)
	}
	return shape
}

func showValue(x protection.Explained) valueShape {
	v := valueShape{Status: "pending_rate", Currencies: x.PolicyCurrency, Legs: []legShape{}}
	if !x.HasValue {
		return v
	}
	v.Status, v.Total = "locked", &x.Value
	if x.Quote.From == x.Quote.To {
		return v
	}
	for _, l := range []fx.Leg{x.Quote.FromLeg, x.Quote.ToLeg} {
		leg := legShape{Currency: l.Currency, Rate: l.Rate.String()}
		if l.HasFixing() {
			provider := string(l.Provider)
			leg.Provider, leg.Fixing = &provider, &l.Day
		}
		v.Legs = append(v.Legs, leg)
	}
	return v
}
