package report_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// aCopy is a copy of a world's current database that is not updated.
func aCopy(t *testing.T, w *apptest.World) *store.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy.db")
	source, err := sql.Open("sqlite", w.URL[len("sqlite:"):])
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	if _, err := source.ExecContext(t.Context(), "VACUUM INTO $1", path); err != nil {
		t.Fatal(err)
	}
	return dbtest.Open(t, "sqlite:"+path, w.Now)
}

// TestAReplicaShowsNoMoreThanItsKnownAt: rows that the replica received after its lag was measured are left out of a
// report, unless it has everything that the primary has.
func TestAReplicaShowsNoMoreThanItsKnownAt(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Actor.UserID = 1 // the program itself does not read the copy
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 70000, "2024-09-14")
		w.Must(apptest.Report(payment.Purchase, b, 20000))
		w.Advance(time.Minute)
		// The same database acts as a replica that has caught up since its lag was measured.
		w.App.DB.Store.Follow(store.Replica{Copy: dbtest.Open(t, w.URL, w.Now), Behind: func(context.Context) (time.Duration, error) {
			return 5 * time.Second, nil
		}})
		w.Must(apptest.Report(payment.Purchase, b, 30000))
		w.Advance(time.Second)
		known := w.Now().Add(-5 * time.Second)
		countries := report.ExposureQuery{Scope: exposure.Scope{Countries: []string{"PT", "FR", "GB"}}}
		today := civil.DayOf(known)
		pinned := report.ExposureQuery{Moment: ledger.Moment{AsOf: &today, KnownAt: known}}
		for name, q := range map[string]report.ExposureQuery{"by country": countries, "of that moment": pinned} {
			if r := w.Ageing(q); r.Total != 20000 || !r.Query.KnownAt.Equal(known) {
				t.Errorf("%s: %d as known at %s", name, r.Total, r.Query.KnownAt)
			}
		}
		if r := w.Ageing(report.ExposureQuery{}); r.Total != 50000 || !r.Query.KnownAt.Equal(w.Now()) {
			t.Errorf("of the same version: %d as known at %s", r.Total, r.Query.KnownAt)
		}
		if is, _ := w.App.DB.Store.Replica(); is.Reports != 3 {
			t.Errorf("%d reports were read from the copy", is.Reports)
		}
	})
}

// TestReportsFromACopySayWhatTheyKnow: a report from a lagging replica has the known_at up to which it is complete, can
// be repeated with it, and does not hide newer figures from others.
func TestReportsFromACopySayWhatTheyKnow(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	w.Actor.UserID = 1 // the program itself does not read the copy
	b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 70000, "2024-09-14")
	w.Must(apptest.Report(payment.Purchase, b, 20000))
	w.Advance(time.Minute)
	standby, copied := aCopy(t, w), w.Now()
	behind := func(context.Context) (time.Duration, error) { return w.Now().Sub(copied), nil }
	w.App.DB.Store.Follow(store.Replica{Copy: standby, Most: time.Minute, Behind: behind})
	reads := func() int64 {
		is, _ := w.App.DB.Store.Replica()
		return is.Reports
	}
	ask := func(when string, q report.ExposureQuery, total int64, known time.Time, read int64) {
		t.Helper()
		if r := w.Ageing(q); r.Total != total || !r.Query.KnownAt.Equal(known) || reads() != read {
			t.Errorf("%s: %d as known at %s, %d reads of the copy", when, r.Total, r.Query.KnownAt, reads())
		}
	}
	ask("the copy has all", report.ExposureQuery{}, 20000, w.Now(), 1)
	ask("and was asked", report.ExposureQuery{}, 20000, w.Now(), 1) // it is cached
	w.Advance(20 * time.Second)
	w.Must(apptest.Report(payment.Purchase, b, 30000))
	w.Advance(20 * time.Second)
	// The cache of current reports stays while reports come from the replica.
	w.RunOff(report.ExposureQuery{})
	ask("the copy is behind", report.ExposureQuery{}, 20000, copied, 2)
	ran := dbtest.Statements(w.App.DB.Store, func() { w.RunOff(report.ExposureQuery{}) })
	if len(ran) != 1 {
		t.Errorf("after that, a report that was kept takes %d statements", len(ran))
	}
	if r := w.Ageing(report.ExposureQuery{}); r.Final {
		t.Error("it is final at the moment up to which the copy has all")
	}
	at := func(known time.Time) report.ExposureQuery {
		today := civil.DayOf(copied)
		return report.ExposureQuery{Moment: ledger.Moment{AsOf: &today, KnownAt: known}}
	}
	ask("as was known when the copy was made", at(copied), 20000, copied, 4)
	ask("as is known now", at(w.Now()), 50000, w.Now(), 4)
	w.Advance(time.Minute)
	ask("the copy is too far behind", report.ExposureQuery{}, 50000, w.Now(), 4)
	ask("as was known then", at(copied), 20000, copied, 4)
}
