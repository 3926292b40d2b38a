package imports_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/book/imports"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestAnImportRunsFewStatements: the rows of a write share their statements. The data of each channel is read once per
// write, before anything is created.
func TestAnImportRunsFewStatements(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		var rows []imports.ImportedPayment
		for n := range 200 {
			channel := func(r *imports.ImportedPayment) { r.Channel = fmt.Sprint("Channel ", n%4) }
			rows = append(rows, apptest.ARow(n+2, fmt.Sprint(n), channel))
		}
		w.Imported(apptest.Protect, rows[:8]...)
		list := dbtest.Statements(w.App.DB.Store, func() {
			if report, refused := w.Imported(apptest.Protect, rows[8:]...); report.Payments.Created != 192 {
				t.Errorf("%+v, refused %v", report, refused)
			}
		})
		// 192 rows go into four or five writes, of 20, 40 and 80 rows. Each write reads three things, and the first one the channels.
		// A statement writes up to 64 rows of a table on PostgreSQL, and 32 on SQLite. PostgreSQL draws ids for 1, 2, 4 and more rows.
		if ran, most := len(list), map[string]int{"sqlite": 210, "postgres": 260}[w.App.DB.Store.Engine()]; ran > most {
			t.Errorf("192 rows ran %d statements, at most %d are allowed", ran, most)
		}
	})
}

// TestAnImportFindsItsKeysByTheirIndex: the index has only rows with keys, and the statements do not say so.
func TestAnImportFindsItsKeysByTheirIndex(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		rows := []imports.ImportedPayment{apptest.ARow(2, "a"), apptest.ARow(3, "b")}
		w.Imported(apptest.Protect, rows...)
		ran := dbtest.Statements(w.App.DB.Store, func() { w.Imported(apptest.Protect, rows...) })
		dbtest.Large(t, w.App.DB.Store, "bookings", "transactions")
		for table, index := range map[string]string{"bookings b": "bookings_by_import_key", "transactions t": "transactions_by_import_key"} {
			at := slices.IndexFunc(ran, func(s dbtest.Statement) bool {
				return strings.Contains(s.Query, "FROM "+table+" WHERE") && strings.Contains(s.Query, "import_key = w.import_key")
			})
			if at < 0 {
				t.Fatalf("No statement looks for import keys in %s.", table)
			}
			if plan := strings.Join(dbtest.Plan(t, w.App.DB.Store, ran[at]), "\n"); !strings.Contains(plan, index) {
				t.Errorf("%s is read without %s:\n%s", table, index, plan)
			}
		}
	})
}
