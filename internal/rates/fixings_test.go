package rates_test

import (
	"testing"

	"holdfast/internal/civil"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/rates"
)

// TestFixingsUpTo reads the fixings of more currencies than one statement takes: of each provider those on or before the
// day, the site's own and everybody's, the last ones where there are many.
func TestFixingsUpTo(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		const site, last, perProvider = 3, civil.Day(20_000), 8
		rate, err := money.ParseRate("2")
		if err != nil {
			t.Fatal(err)
		}
		all := money.Currencies()
		var list []fx.Fixing
		add := func(site int64, p fx.Provider, c money.Currency, day civil.Day) {
			list = append(list, fx.Fixing{SiteID: site, Provider: p, Currency: c, Day: day, Rate: rate})
		}
		for _, c := range all {
			add(0, fx.ECB, c, last)
			add(0, fx.ECB, c, last+1)
			add(site, fx.Manual, c, last-400)
			add(site+1, fx.Manual, c, last-1)
		}
		for day := range civil.Day(2 * perProvider) {
			add(0, fx.Demo, "GBP", last-day)
		}
		if err := store.Write(t.Context(), func(tx *db.Tx) error { return rates.InsertFixings(tx, list) }); err != nil {
			t.Fatal(err)
		}
		err = core.ReadBy(t.Context(), store, core.SiteClock{SiteID: site}, func(tx *db.Tx) error {
			found, err := rates.FixingsUpTo(tx, []fx.Provider{fx.ECB, fx.Manual, fx.Demo}, all, last, tx.Now)
			count := map[fx.Provider]int{}
			for _, f := range found {
				count[f.Provider]++
				if f.Currency == money.EUR || f.SiteID > site || f.Day > last || f.Provider == fx.Demo && f.Day <= last-perProvider {
					t.Errorf("%+v", f)
				}
			}
			if n := len(all) - 1; count[fx.ECB] != n || count[fx.Manual] != n || count[fx.Demo] != perProvider {
				t.Errorf("%v of %d currencies", count, n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
