package takeover_test

import (
	"fmt"
	"testing"

	"holdfast/internal/apptest"
	"holdfast/internal/dbtest"
	"holdfast/internal/travel"
)

// TestAnImportRunsFewStatements: the rows of a write share their statements. What each channel needs is read once in a write, before
// anything is made.
func TestAnImportRunsFewStatements(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		var rows []travel.ImportedPayment
		for n := range 200 {
			channel := func(r *travel.ImportedPayment) { r.Channel = fmt.Sprint("Channel ", n%4) }
			rows = append(rows, apptest.ARow(n+2, fmt.Sprint(n), channel))
		}
		w.Imported(apptest.Protect, rows[:8]...)
		ran := len(dbtest.Statements(w.Core.Store, func() {
			if report, refused := w.Imported(apptest.Protect, rows[8:]...); report.Payments.Created != 192 {
				t.Errorf("%+v, refused %v", report, refused)
			}
		}))
		// 192 rows go into four or five writes, of 20, 40 and 80 rows. Each write reads three things of four channels, and the first one the channels.
		if most := 240; ran > most {
			t.Errorf("192 rows ran %d statements, at most %d are allowed", ran, most)
		}
	})
}
