package reports

import (
	"slices"

	"holdfast/internal/civil"
	"holdfast/internal/db"
	"holdfast/internal/exposure"
	"holdfast/internal/fault"
	"holdfast/internal/merchants"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// checkScope notes a problem for every part of a scope that does not exist. Without this a wrong name would look like a
// part of the book where nothing is at risk.
func checkScope(tx *db.Tx, siteID int64, s exposure.Scope, p *fault.Problems) error {
	if err := merchants.CheckChannels(tx, siteID, s.Channels, p); err != nil {
		return err
	}
	if err := merchants.CheckSuppliers(tx, siteID, s.Suppliers, p); err != nil {
		return err
	}
	for _, scheme := range s.Schemes {
		if scheme != travel.Unknown && !slices.Contains(travel.Schemes, scheme) {
			p.Wrong("schemes", "There is no card scheme %q.", scheme)
		}
	}
	for _, code := range s.Countries {
		if !travel.KnownCountry(code) {
			p.Wrong("countries", "%q is no country. A country is two letters, such as PT.", code)
		}
	}
	for _, code := range s.Currencies {
		if _, err := money.ParseCurrency(string(code)); err != nil {
			p.Wrong("currencies", "%q is not an ISO 4217 currency.", code)
		}
	}
	for _, month := range s.Months {
		if day, err := civil.ParseDay(month + "-01"); err != nil || day.Month() != month {
			p.Wrong("months", "%q is not a month such as 2024-06.", month)
		}
	}
	return nil
}
