package rates_test

import (
	"testing"

	"holdfast/internal/book/fixings"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestFixingsUpTo reads the fixings of more currencies than one statement takes: of each provider those on or before
// the day, the site's own and the general ones, the last ones if there are many.
func TestFixingsUpTo(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
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
		if err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error { return fixings.Insert(tx, list) }); err != nil {
			t.Fatal(err)
		}
		err = sites.ReadBy(t.Context(), db, sites.Clock{SiteID: site}, func(tx *store.Tx) error {
			found, err := fixings.UpTo(tx, []fx.Provider{fx.ECB, fx.Manual, fx.Demo}, all, last, tx.Now)
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
