package sites_test

import (
	"errors"
	"testing"
	"time"

	"holdfast/internal/book/fixings"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

func TestOnlySandboxesMoveTheirClockAndForwardOnly(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		write := func(fn func(tx *store.Tx) error) error {
			t.Helper()
			return db.Write(t.Context(), store.Deployment, fn)
		}
		var sandbox, real merchant.Site
		err := write(func(tx *store.Tx) (err error) {
			if sandbox, err = dbtest.InsertSite(tx, merchant.Site{Path: "a", Sandbox: true, Policy: terms.DefaultPolicy("GBP")}); err != nil {
				return err
			}
			real, err = dbtest.InsertSite(tx, merchant.Site{Path: "b", Policy: terms.DefaultPolicy("GBP")})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			site  int64
			ahead time.Duration
			want  error
		}{
			{sandbox.ID, time.Hour, nil}, {sandbox.ID, time.Hour, nil}, {sandbox.ID, time.Minute, store.ErrNotFound},
			{sandbox.ID, 48 * time.Hour, nil}, {real.ID, time.Hour, store.ErrNotFound}, {99, time.Hour, store.ErrNotFound},
		} {
			if err := write(func(tx *store.Tx) error { return sites.MoveClock(tx, c.site, c.ahead) }); !errors.Is(err, c.want) {
				t.Errorf("site %d by %s: %v, want %v", c.site, c.ahead, err, c.want)
			}
		}
		err = db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
			for id, want := range map[int64]time.Duration{sandbox.ID: 48 * time.Hour, real.ID: 0} {
				if got, err := sites.ClockOf(tx, id); err != nil || got != (sites.Clock{SiteID: id, Ahead: want}) {
					t.Errorf("the clock of %d: %+v, %v", id, got, err)
				}
				if got, err := merchants.Site(tx, id); err != nil || got.ClockAhead != want {
					t.Errorf("site %d: %s, %v", id, got.ClockAhead, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// A later rate must not count as known on a day that the site's clock has already passed.
func TestWhatIsOnFileLaterWasNotKnownBeforeOnAClockAhead(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		var site merchant.Site
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) (err error) {
			if site, err = dbtest.InsertSite(tx, merchant.Site{Path: "a", Sandbox: true, Policy: terms.DefaultPolicy("GBP")}); err != nil {
				return err
			}
			return sites.MoveClock(tx, site.ID, 240*time.Hour)
		})
		if err != nil {
			t.Fatal(err)
		}
		// The store's clock is stopped: new records come after the move, ten days ahead on the site.
		rate, err := money.ParseRate("0.86")
		if err != nil {
			t.Fatal(err)
		}
		err = db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			if _, err := tx.Exec(`UPDATE clock_moves SET moved_at = moved_at - 1000000`); err != nil {
				return err
			}
			return fixings.Insert(tx, []fx.Fixing{{Provider: fx.ECB, Currency: "GBP", Day: 20000, Rate: rate}})
		})
		if err != nil {
			t.Fatal(err)
		}
		clock := sites.Clock{SiteID: site.ID, Ahead: 240 * time.Hour}
		err = sites.ReadBy(t.Context(), db, clock, func(tx *store.Tx) error {
			if got := tx.Now.Sub(sites.RealNow(tx)); got != clock.Ahead {
				t.Errorf("now is %s ahead", got)
			}
			for _, c := range []struct {
				known time.Time
				want  int
			}{
				{tx.Now, 1}, {tx.Now.Add(-time.Microsecond), 0}, {tx.Now.Add(-24 * time.Hour), 0}, {sites.RealNow(tx).Add(-2 * time.Second), 0},
			} {
				list, err := fixings.UpTo(tx, []fx.Provider{fx.ECB}, []money.Currency{"GBP"}, 20000, c.known)
				if err != nil || len(list) != c.want {
					t.Errorf("known at %s: %d fixings, %v; want %d", c.known, len(list), err, c.want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
