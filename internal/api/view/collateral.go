package view

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
)

// collateralShape is a row of collateral in answers: a new record, or the correction of one. Amount is in minor units.
type collateralShape struct {
	ID         int64                   `json:"id"`
	Record     int64                   `json:"record"` // id of the first row of the record
	Kind       exposure.CollateralKind `json:"kind"`
	Channel    *int64                  `json:"channels"` // null: it covers all channels of the site
	Currency   money.Currency          `json:"currency"`
	Amount     int64                   `json:"amount"`
	From       civil.Day               `json:"from"`
	To         *civil.Day              `json:"to"` // null: until further notice
	Reference  string                  `json:"reference"`
	Note       string                  `json:"note"`
	Author     string                  `json:"author"`
	RecordedAt string                  `json:"recorded_at"`
}

// ShowCollateral gives the shape of a row of collateral, to be encoded as JSON.
func ShowCollateral(c exposure.Collateral) collateralShape {
	shape := collateralShape{
		ID: c.ID, Record: c.RecordID, Kind: c.Kind, Channel: OrNull(c.ChannelID), Currency: c.Currency, Amount: c.Amount,
		From: c.FromDay, Reference: c.Reference, Note: c.Note, Author: c.Author,
		RecordedAt: c.RecordedAt.UTC().Format(ISOMicros),
	}
	if c.ToDay != civil.NoDay {
		shape.To = &c.ToDay
	}
	return shape
}
