package report

import (
	"slices"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// checkScope notes a problem for every part of a scope that does not exist. Without this a wrong name would look like a
// part of the book where nothing is at risk.
func checkScope(tx *store.Tx, siteID int64, s exposure.Scope, p *errs.Problems) error {
	if err := merchants.CheckChannels(tx, siteID, s.Channels, p); err != nil {
		return err
	}
	if err := merchants.CheckSuppliers(tx, siteID, s.Suppliers, p); err != nil {
		return err
	}
	for _, scheme := range s.Schemes {
		if scheme != card.Unknown && !slices.Contains(card.Schemes, scheme) {
			p.Wrong("schemes", "Unknown card scheme %q.", scheme)
		}
	}
	for _, code := range s.Countries {
		check.Country(p, "countries", code)
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
