package imports_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/imports"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/payment"
	"holdfast/internal/ops/verify"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestRowsWrittenDuringAnImportAreThoseOfAWriteEach: an import writes the first rows of a batch while it computes the
// next ones. The book is the same as if each row had its own write, including rows that depend on written rows, or are
// rejected because of them.
func TestRowsWrittenDuringAnImportAreThoseOfAWriteEach(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		rows := func(channel string) (list []imports.ImportedPayment) {
			in := func(r *imports.ImportedPayment) { r.Channel = channel }
			for n := range 240 {
				list = append(list, apptest.ARow(n+2, fmt.Sprint(n), in, apptest.Paying(40_000)))
			}
			for at, change := range map[int]func(r *imports.ImportedPayment){
				210: func(r *imports.ImportedPayment) { r.Booking.ImportKey = "B-140" }, // a second payment for it
				211: func(r *imports.ImportedPayment) { // a refund of an earlier row
					kind := payment.Refund
					r.Booking.ImportKey, r.Linked, r.Payment.Type = "B-141", "P-141", &kind
				},
				212: func(r *imports.ImportedPayment) { r.Payment.Reference = "P-142" },                            // taken
				213: func(r *imports.ImportedPayment) { r.Payment.ImportKey = "P-143" },                            // taken
				214: func(r *imports.ImportedPayment) { r.Booking.ImportKey = "B-144"; apptest.Paying(90_000)(r) }, // above the total
				215: func(r *imports.ImportedPayment) { r.Booking.ImportKey = "B-140"; apptest.Paying(40_000)(r) }, // its third
				216: func(r *imports.ImportedPayment) { r.Booking.ImportKey = "B-140"; apptest.Paying(40_000)(r) }, // above the total
				239: func(r *imports.ImportedPayment) { r.Payment.EffectiveAt = r.Payment.EffectiveAt.Add(time.Hour) },
			} {
				change(&list[at])
			}
			return list
		}
		atOnce, refused := w.Imported(apptest.Protect, rows("At once")...)
		if len(refused) != 2 || refused[214] == "" || refused[215] == "" {
			t.Errorf("refused %v", refused)
		}
		// Those of 140 to 239 share a write.
		dbtest.Read(t, w.App.DB.Store, func(tx *store.Tx) error {
			return tx.Query(`SELECT type, object_id, details FROM events GROUP BY type, object_id, details HAVING COUNT(*) > 1`, nil,
				func(scan func(dest ...any) error) error {
					var kind, details string
					var id int64
					err := scan(&kind, &id, &details)
					t.Errorf("the write has %s of %d twice: %s", kind, id, details)
					return err
				})
		})
		inPieces, lines := 0, map[int]bool{}
		for piece := range slices.Chunk(rows("In pieces"), 60) { // its writes have 20 and 40 rows
			report, alone := w.Imported(apptest.Protect, piece...)
			inPieces += report.Payments.Created
			for line := range alone {
				lines[line] = true
			}
		}
		if inPieces != atOnce.Payments.Created || !maps.EqualFunc(refused, lines, func(string, bool) bool { return true }) {
			t.Errorf("%d payments at once, %d in pieces; refused %v, and in pieces %v", atOnce.Payments.Created, inPieces, refused, lines)
		}
		if a, b := written(t, w, "At once"), written(t, w, "In pieces"); a != b {
			t.Errorf("at once\n%s\nin pieces\n%s", a, b)
		}
		report, err := w.App.Verify.Run(t.Context(), access.System(0), verify.Query{})
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Findings) > 0 {
			t.Errorf("the book is not right: %+v", report.Findings)
		}
	})
}

// written is what an import has created in a channel, in order of the ids.
func written(t *testing.T, w *apptest.World, channel string) string {
	t.Helper()
	var text strings.Builder
	dbtest.Read(t, w.App.DB.Store, func(tx *store.Tx) error {
		for _, query := range []string{
			`SELECT b.import_key, b.status, b.net, b.held, b.payments FROM bookings b JOIN channels c ON c.site_id = b.site_id
				AND c.id = b.channel_id WHERE c.name = $1 ORDER BY b.id`,
			`SELECT t.import_key, t.type || t.status, t.total, t.remaining, COALESCE(a.amount, 0) FROM transactions t JOIN channels c
				ON c.site_id = t.site_id AND c.id = t.channel_id LEFT JOIN allocations a ON a.site_id = t.site_id
				AND a.transaction_id = t.id WHERE c.name = $1 ORDER BY t.id`,
			`SELECT e.type, '', COUNT(*), 0, 0 FROM events e JOIN bookings b ON b.site_id = e.site_id AND b.id = e.object_id
				JOIN channels c ON c.site_id = b.site_id AND c.id = b.channel_id
				WHERE c.name = $1 AND e.type LIKE 'booking.%' GROUP BY e.type ORDER BY e.type`,
		} {
			if err := tx.Query(query, []any{channel}, func(scan func(dest ...any) error) error {
				var key, state string
				var a, b, c int64
				err := scan(&key, &state, &a, &b, &c)
				fmt.Fprintln(&text, key, state, a, b, c)
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return text.String()
}
