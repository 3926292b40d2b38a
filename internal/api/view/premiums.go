package view

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// premiumLineShape is a line of the premium ledger on the wire. Amounts are minor units of its currency. Only the
// amount of the state is in base currency.
type premiumLineShape struct {
	ID          int64             `json:"id"`
	Kind        string            `json:"kind"`
	Cause       string            `json:"cause"`
	RecordedAt  string            `json:"recorded_at"`
	EffectiveAt string            `json:"effective_at"`
	Channel     int64             `json:"channel"`
	Booking     int64             `json:"booking"`
	Payment     int64             `json:"payment"`
	Transaction int64             `json:"transaction"`
	Currencies  money.Currency    `json:"currencies"`
	Total       int64             `json:"total"`
	Retained    int64             `json:"retained"`
	State       premiumStateShape `json:"state"`
	Policy      int64             `json:"policy"`
	Simulated   bool              `json:"simulated"`
}

type premiumStateShape struct {
	BaseCurrency   money.Currency `json:"base_currency"`
	Amount         int64          `json:"amount"`
	Value          int64          `json:"value"`
	LeadDays       int64          `json:"lead_days"`
	NegativeLead   bool           `json:"negative_lead"`
	RateCard       *rateLineShape `json:"rate_card"`
	Premium        int64          `json:"premium_of_state"`
	MinimumApplied bool           `json:"minimum_applied"`
}

// premiumShape is the premium of an allocation on the wire.
type premiumShape struct {
	Status     string             `json:"status"` // priced, not_protected or pending_rate
	Currencies money.Currency     `json:"currencies"`
	Policy     int64              `json:"policy"`
	State      *premiumStateShape `json:"state"`
	Booked     int64              `json:"booked"`
	Retained   int64              `json:"retained"`
	Lines      []premiumLineShape `json:"lines"`
	Steps      []stepShape        `json:"steps"`
}

// ShowPremiumLine returns a line of the premium ledger as in the API, to be encoded as JSON. The command line also
// prints it.
func ShowPremiumLine(l protection.PremiumLine) premiumLineShape {
	return premiumLineShape{
		ID: l.ID, Kind: string(l.Kind), Cause: string(l.Cause), RecordedAt: civil.FormatInstant(l.RecordedAt),
		EffectiveAt: civil.FormatInstant(l.EffectiveAt), Channel: l.ChannelID, Booking: l.BookingID,
		Payment: l.AllocationID, Transaction: l.TransactionID, Currencies: l.Currency, Total: l.Amount,
		Retained: l.Retained, State: showPremiumState(l.State, l.BaseCurrency), Policy: l.PolicyID, Simulated: l.Simulated,
	}
}

func showPremiumState(s protection.PremiumState, base money.Currency) premiumStateShape {
	shape := premiumStateShape{
		BaseCurrency: base, Amount: s.Amount, Value: s.Value, LeadDays: s.Lead, NegativeLead: s.NegativeLead(),
		Premium: s.Premium, MinimumApplied: s.Minimum,
	}
	if s.Line.ID != 0 {
		line := showRateLine(s.Line)
		shape.RateCard = &line
	}
	return shape
}

func showPremium(x protection.Explained) premiumShape {
	p := x.Premium
	shape := premiumShape{
		Status: "priced", Currencies: x.PolicyCurrency, Policy: p.Policy.ID, Booked: p.Booked, Retained: p.Retained,
		Lines: make([]premiumLineShape, len(p.Lines)), Steps: make([]stepShape, len(p.Steps)),
	}
	switch {
	case p.Priced:
		state := showPremiumState(p.State, x.Currency)
		shape.State = &state
	case x.Decision.Protected:
		shape.Status = "pending_rate"
	default:
		shape.Status = "not_protected"
	}
	for i, l := range p.Lines {
		shape.Lines[i] = ShowPremiumLine(l)
	}
	for i, step := range p.Steps {
		shape.Steps[i] = stepShape(step)
	}
	return shape
}
