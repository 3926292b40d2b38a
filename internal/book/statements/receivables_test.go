package statements_test

import (
	"testing"

	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// TestReceivablesAreAddedUpByAge: each statement counts with the amount it adds to its account, and payments settle the
// oldest first.
func TestReceivablesAreAddedUpByAge(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.At("2024-04-09")
		w.Fix("2024-04-08", map[money.Currency]string{"GBP": "0.85795"})
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		pay := func() { w.Must(apptest.Report(payment.Purchase, w.Booking(c, 100000, "2024-12-31"), 100000)) }
		pay() // lead 266: 12,000 ppm
		w.At("2024-05-02")
		w.Issue(1)
		pay() // lead 243
		w.At("2024-06-03")
		w.Issue(1)
		read := func(q statements.ReceivablesQuery, size int) statements.Receivables {
			t.Helper()
			r, err := w.App.Statements.Receivables(t.Context(), access.System(0), q, store.Page{Number: 1, Size: size, Offset: -1})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := read(statements.ReceivablesQuery{Sandbox: true}, 1)
		apptest.Same(t, "sums", r.Sums, "[{demo Demo GBP 2400 [1200 1200 0 0 0]}]")
		apptest.Same(t, "the oldest", []any{r.Open.Items[0].Number, r.Open.Items[0].Open, r.Open.Items[0].Channel, r.Open.More}, []any{1, 1200, c.Name, true})
		if _, _, err := payStatement(t, w, r.Open.Items[0].ID, 700, "2024-06-02", "BACS 1"); err != nil {
			t.Fatal(err)
		}
		w.At("2024-09-20")
		w.Issue(3) // nothing new, and the balance
		r = read(statements.ReceivablesQuery{Sandbox: true, Path: "demo"}, 10)
		apptest.Same(t, "later", []any{r.Sums, len(r.Open.Items)}, "[[{demo Demo GBP 1700 [0 0 0 0 1700]}] 2]")
		for _, q := range []statements.ReceivablesQuery{{}, {Sandbox: true, Path: "other"}} {
			if r := read(q, 10); len(r.Sums)+len(r.Open.Items) != 0 {
				t.Errorf("%+v: %+v", q, r)
			}
		}
		_, err := w.App.Statements.Receivables(t.Context(), access.Actor{SiteID: 1, UserID: 1, Role: access.MemberAdmin}, statements.ReceivablesQuery{}, store.Page{Number: 1, Size: 1})
		apptest.WantKind(t, err, errs.Forbidden, "read by a customer")
	})
}
