package jobs_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/jobs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// byIndex are statements of jobs that look up rows by key, or the first waiting row, each by a part of its text and the
// index.
var byIndex = map[string]string{
	"UPDATE bookings SET completed":      "bookings_pkey on bookings",
	"UPDATE allocations SET ended":       "allocations_pkey on allocations",
	"AND reference = $2 AND psp || ''":   "transactions_by_reference on transactions",
	"MIN(b.end_day) FROM bookings":       "bookings_to_complete on bookings",
	"MIN(a.ends_after) FROM allocations": "allocations_to_end on allocations",
}

// TestPostgreSQLLooksUpByKeys: without statistics, PostgreSQL assumes that a site or view has few rows, and tends to
// read them all. These statements must not read more rows if the tables have more.
func TestPostgreSQLLooksUpByKeys(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.Engines[1].Database(t))
	c := w.Channel(merchant.ModeProtectionOnly, "GBP")
	ran := dbtest.Statements(w.App.DB.Store, func() {
		payment := apptest.Report(payment.Purchase, w.Booking(c, 1000, "2024-09-14"), 1000)
		payment.Reference = "R-1"
		w.Must(payment)
		for range 2 {
			w.Advance(400 * 24 * time.Hour)
			jobs.New(w.App, discard()).RunDue(t.Context())
		}
	})
	dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) error {
		// A thousand blocks and cells for each existing one. The statistics of the other tables say that they are
		// large.
		for _, statement := range []string{
			`INSERT INTO exposure_blocks SELECT site_id, view, block, cell + 1000 * n, counted, amount, by_end, by_start, locked, locked_end,
				locked_start, days FROM exposure_blocks, generate_series(1, 1000) AS n`,
			`INSERT INTO exposure_cells (site_id, view, first_key, second_key, currency, standing, valued_in)
				SELECT site_id, view, first_key || '-' || n, second_key, currency, standing, valued_in
				FROM exposure_cells, generate_series(1, 1000) AS n`,
		} {
			if _, err := tx.Exec(statement); err != nil {
				return err
			}
		}
		return nil
	})
	dbtest.Large(t, w.App.DB.Store, growing...)
	for part, index := range byIndex {
		if plan := plan(t, w, theLastWith(t, ran, part)); !strings.Contains(plan, index) {
			t.Errorf("%s … goes without %s:\n%s", part, index, plan)
		}
	}
	for _, part := range []string{"exposure_blocks b WHERE", "exposure_cells c WHERE"} {
		s := theLastWith(t, ran, part)
		plan := plan(t, w, dbtest.Statement{Query: "ANALYZE " + s.Query, Args: s.Args})
		for _, read := range rowsRead.FindAllStringSubmatch(plan, -1) {
			if n, err := strconv.Atoi(read[1]); err != nil || n > 50 {
				t.Errorf("%s rows are read by … %s, %v:\n%s", read[1], part, err, plan)
			}
		}
	}
}

var rowsRead = regexp.MustCompile(`(?:actual.*rows=|Removed by Filter: )(\d+)`)

// theLastWith finds a statement by a part of it.
func theLastWith(t *testing.T, ran []dbtest.Statement, part string) (found dbtest.Statement) {
	t.Helper()
	for _, s := range ran {
		if strings.Contains(strings.Join(strings.Fields(s.Query), " "), part) {
			found = s
		}
	}
	if found.Query == "" {
		t.Fatalf("no statement has %s", part)
	}
	return found
}

func plan(t *testing.T, w *apptest.World, s dbtest.Statement) string {
	t.Helper()
	return strings.Join(dbtest.Plan(t, w.App.DB.Store, s), "\n")
}
