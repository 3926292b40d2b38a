package sqlite_test

import (
	"database/sql"
	"strings"
	"testing"

	"holdfast/internal/store/sqlite"
	"holdfast/internal/testkit/dbtest"

	_ "modernc.org/sqlite"
)

// open opens a database that this program has migrated, as another program would.
func openFile(t *testing.T, url string) *sql.DB {
	t.Helper()
	book, err := sql.Open("sqlite", strings.TrimPrefix(url, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = book.Close() })
	return book
}

func TestSQLiteHasStatisticsOfEveryIndex(t *testing.T) {
	t.Parallel()
	tx, err := openFile(t, dbtest.SQLite(t)).Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	columns, indexes, err := sqlite.Gaps(t.Context(), tx)
	if len(columns) > 0 || len(indexes) > 0 || err != nil {
		t.Errorf("how many values have these columns: %q; these indexes are not there: %q; %v", columns, indexes, err)
	}
}

// TestPlansSuitALargeBook: these statements scanned all rows of the site.
func TestPlansSuitALargeBook(t *testing.T) {
	t.Parallel()
	book := openFile(t, dbtest.SQLite(t))
	hundred := strings.Repeat("7, ", 99) + "7"
	for _, c := range []struct{ query, want string }{
		{`SELECT * FROM allocations WHERE site_id = 1 AND transaction_id IN (` + hundred + `) ORDER BY id`, "allocations_by_transaction (site_id=? AND transaction_id=?)"},
		{`SELECT 1 FROM transactions WHERE site_id = 1 AND channel_id = 2 AND reference IN (` + hundred + `)`, "transactions_by_reference (site_id=? AND reference=?)"},
		{`SELECT COUNT(*) FROM premium_lines WHERE site_id = 1 AND cause = 'reversal'`, "(site_id=?)"},
		{`SELECT EXISTS (SELECT 1 FROM events WHERE site_id = 1 AND position IS NULL)`, "events_unplaced (site_id=?)"},
	} {
		rows, err := book.Query("EXPLAIN QUERY PLAN " + c.query)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, step)
		}
		if err := rows.Close(); err != nil || !strings.Contains(strings.Join(plan, "\n"), c.want) {
			t.Errorf("%.80s: %q, %v", c.query, plan, err)
		}
	}
}

func TestPlanWritesOnlyChanges(t *testing.T) {
	t.Parallel()
	book := openFile(t, dbtest.SQLite(t))
	for _, c := range []struct {
		before string
		want   bool
	}{
		{"SELECT 1", false}, // migrations have written the statistics
		{"UPDATE sqlite_stat1 SET stat = '1 1' WHERE idx = 'events_unplaced'", true},
		{"CREATE INDEX bookings_by_total ON bookings (site_id, total)", true},
		{"DROP INDEX bookings_by_total", false}, // SQLite forgets it
	} {
		tx, err := book.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(c.before); err != nil {
			t.Fatal(err)
		}
		changed, err := sqlite.PlanForLargeBooks(t.Context(), tx)
		if changed != c.want || err != nil {
			t.Errorf("after %s: changed %t, %v", c.before, changed, err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
}
