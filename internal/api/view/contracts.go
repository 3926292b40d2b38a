package view

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/terms"
)

// namedContract is a contract with the underwriter on the wire, as it was added.
type namedContract struct {
	ID         int64     `json:"id"`
	From       civil.Day `json:"from"`
	Reference  string    `json:"reference"`
	Year       *int64    `json:"year_of_account"`
	Commission int64     `json:"commission_ppm"`
	Author     string    `json:"author"`
	RecordedAt string    `json:"recorded_at"`
}

// ShowContract gives the shape of a contract, to be encoded as JSON.
func ShowContract(c terms.Contract) namedContract {
	return namedContract{
		ID: c.ID, From: c.FromDay, Reference: c.Reference, Year: OrNull(c.Year), Commission: c.CommissionPPM,
		Author: c.RecordedBy, RecordedAt: c.RecordedAt.UTC().Format(ISOMicros),
	}
}
