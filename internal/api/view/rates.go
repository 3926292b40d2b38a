package view

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
)

// rateShape is a fixing on the wire.
type rateShape struct {
	ID         int64          `json:"id"`
	Provider   fx.Provider    `json:"provider"`
	Currency   money.Currency `json:"currency"`
	Day        civil.Day      `json:"day"`
	Rate       string         `json:"rate"` // decimal text: units of the currency per euro
	RecordedAt string         `json:"recorded_at"`
	QuoteID    *string        `json:"quote_id"`
	Expires    *string        `json:"expires"`
}

// ShowRate gives a fixing.
func ShowRate(f fx.Fixing) rateShape {
	shape := rateShape{
		ID: f.ID, Provider: f.Provider, Currency: f.Currency, Day: f.Day, Rate: f.Rate.String(),
		RecordedAt: civil.FormatInstant(f.RecordedAt),
	}
	if f.QuoteID != "" {
		shape.QuoteID = &f.QuoteID
	}
	if !f.ExpiresAt.IsZero() {
		at := civil.FormatInstant(f.ExpiresAt)
		shape.Expires = &at
	}
	return shape
}

// RateOrders lists the values of orderby, besides those of every list, for rates.
var RateOrders = []string{"date", "currency"}
