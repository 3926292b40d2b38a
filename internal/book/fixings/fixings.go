// Package fixings stores exchange rates and finds the ones that price a payment (R9). It owns the table fixings. Start
// at For.
package fixings

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
)

// For reads the fixings that can price a payment of a day from one currency into another, as known now: those of
// the maxAge days before it. The table is empty when the two currencies are the same.
func For(
	tx *store.Tx, site merchant.Site, paid civil.Day, maxAge int64, from, to money.Currency,
) (*fx.Table, error) {
	if from == to {
		return fx.NewTable(nil), nil
	}
	fixings, err := Within(tx, ProvidersOf(site), []money.Currency{from, to}, paid-civil.Day(maxAge), paid-1, tx.Now)
	return fx.NewTable(fixings), err
}

// ProvidersOf lists the providers whose fixings count for a site. Invented rates for demos count in a sandbox only.
func ProvidersOf(site merchant.Site) []fx.Provider {
	if site.Sandbox {
		return []fx.Provider{fx.ECB, fx.Manual, fx.Demo}
	}
	return []fx.Provider{fx.ECB, fx.Manual}
}
