package report_test

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
)

// TestABordereauStays: whatever is logged, moved, renamed or agreed later, the same month and known_at give the same
// bytes.
func TestABordereauStays(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		taxes := []terms.TaxCode{{Code: "IPT", RatePPM: 120_000, Label: "Insurance premium tax"}}
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-01-01"), TaxCodes: &taxes})
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
		w.Fix("2024-06-28", map[money.Currency]string{"GBP": "0.84638", "JPY": "171.94"})
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b := w.Booking(c, 120000, "2024-09-14")
		p := w.Must(apptest.Report(payment.Purchase, b, 60000)) // the first worked line
		w.Must(apptest.Report(payment.Purchase, w.Booking(w.Channel(merchant.ModeTest, "EUR"), 60000, "2024-09-14"), 60000))
		w.At("2024-06-10")
		known := w.Now()
		w.Advance(10 * time.Second)
		before := bordereau(t, w, "2024-06", known)
		for _, part := range []string{
			// The month is not over.
			"\n2024-06-10,2024-06-10 12:00:00,1-1-1,Demo,protection-only EUR,2024-06-03,2025-01-12,PT,original,2024-06-03,2024-06-03," +
				"EUR,600.00,GBP,512.19,0.85365000,1,0.85365,4.87,0.52,4.35,,\n",
			`"final":true`, `"gross":"4.87","tax":"0.52","net":"4.35"}`,
		} {
			if !strings.Contains(before, part) {
				t.Errorf("%q is not in\n%s", part, before)
			}
		}
		if strings.Count(before, "original,") != 1 {
			t.Errorf("what is simulated is reported:\n%s", before)
		}
		w.Must(apptest.Linked(payment.Refund, p, b, 10000))
		w.Move(b, *apptest.DayPtr(t, "2024-11-30"))
		name := "Renamed"
		if _, err := w.App.Channels.Change(t.Context(), w.Actor, c.ID, merchant.ChannelFields{Name: &name}); err != nil {
			t.Fatal(err)
		}
		dearer := []terms.TaxCode{{Code: "IPT", RatePPM: 200_000}}
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-01-01"), TaxCodes: &dearer})
		w.At("2024-07-01")
		if after := bordereau(t, w, "2024-06", known); after != before {
			t.Errorf("known at %s, it was\n%s\nand now it is\n%s", known, before, after)
		}
		now := bordereau(t, w, "2024-06", time.Time{})
		if !strings.Contains(now, ",Renamed,") || strings.Count(now, "\n2024-06-30,2024-07-01 12:00:00,1-1-1,") != 2 {
			t.Errorf("as known now:\n%s", now)
		}
		jpy := w.Booking(w.Channel(merchant.ModeProtectionOnly, "JPY"), 350_000, "2024-08-05")
		w.Must(apptest.Report(payment.Purchase, jpy, 350_000)) // the second worked line
		july := bordereau(t, w, "2024-07", time.Time{})
		if !strings.Contains(july, ",JPY,350000,GBP,1722.89,0.00492253,171.94,0.84638,10.33,1.72,8.61,,\n") {
			t.Error(july)
		}
	})
}

// TestLinesAreReadInBatches: more lines than one batch come in order, each once.
func TestLinesAreReadInBatches(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.App.Bordereaux.LinesAtOnce = 3
		taxes := []terms.TaxCode{{Code: "IPT", RatePPM: 123_456}}
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-01-01"), TaxCodes: &taxes})
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		const lines = 8
		for i := range lines {
			w.Must(apptest.Report(payment.Purchase, w.Booking(c, 100_000, "2024-12-31"), 100_000))
			if i%4 == 0 { // several lines share an instant
				w.Advance(time.Microsecond)
			}
		}
		var last int64
		count := 0
		report, err := w.App.Bordereaux.Premium(t.Context(), w.Actor, report.BordereauQuery{Month: "2024-06"})
		if err != nil {
			t.Fatal(err)
		}
		for row, err := range report.Rows {
			if err != nil {
				t.Fatal(err)
			}
			if row.LineID <= last {
				t.Fatalf("line %d after %d", row.LineID, last)
			}
			last = row.LineID
			count++
		}
		if count != lines {
			t.Errorf("%d rows", count)
		}
		totalsAreThoseOfRows(t, w, report) // all lines are alike
		w.At("2024-07-01")
		w.Issue(1)
		if got := w.StatementLines(w.Statements(statements.StatementFilter{})[0].ID); len(got) != lines {
			t.Errorf("%d lines on the statement", len(got))
		}
	})
}

// TestBordereauAndStatementsReconcile: the premium of a month is the lines and minimums of its statements, and each
// minimum is reported once, for its month, with the taxes under which it was charged.
func TestBordereauAndStatementsReconcile(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.App.Bordereaux.LinesAtOnce = 1
		taxes := []terms.TaxCode{{Code: "IPT", RatePPM: 120_000}}
		minimum := int64(5000)
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-01-01"), TaxCodes: &taxes, MinimumPerMonth: &minimum})
		for _, total := range []int64{100_000, 9_000_000} { // the second needs no minimum
			b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), total, "2024-09-14")
			p := w.Must(apptest.Report(payment.Purchase, b, total))
			w.Must(apptest.Linked(payment.Refund, p, b, 10_000))
		}
		net := func(month string) (sum, minimums int64) {
			report, err := w.App.Bordereaux.Premium(t.Context(), w.Actor, report.BordereauQuery{Month: month})
			if err != nil {
				t.Fatal(err)
			}
			for row, err := range report.Rows {
				if err != nil {
					t.Fatal(err)
				}
				sum += row.Amount
				if row.Kind == "minimum" {
					minimums++
				}
			}
			return sum, minimums
		}
		w.At("2024-07-01")
		known := w.Now()
		before := bordereau(t, w, "2024-06", known)
		w.Advance(time.Second)
		w.Issue(2)
		w.Advance(time.Second)
		none := []terms.TaxCode{}
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-01-01"), TaxCodes: &none})
		var stated int64
		for _, s := range w.Statements(statements.StatementFilter{}) {
			for _, l := range s.Statement.Lines {
				stated += l.Amount
			}
			if s.Minimum != nil {
				stated += s.Minimum.Amount
			}
		}
		sum, minimums := net("2024-06")
		apptest.Same(t, "June", []any{sum, minimums}, []any{stated, 1})
		if next, of := net("2024-07"); next != 0 || of != 0 {
			t.Errorf("July: %d, %d minimums", next, of)
		}
		row := "1-statement-1,Demo,protection-only GBP,2024-06-01,2024-06-30,,minimum,2024-07-01,2024-06-30,GBP,0.00,GBP,0.00," +
			"1.00000000,,,47.43,5.08,42.35,,\n"
		if now := bordereau(t, w, "2024-06", time.Time{}); !strings.Contains(now, row) {
			t.Errorf("%s is not in\n%s", row, now)
		}
		if bordereau(t, w, "2024-06", known) != before || strings.Contains(before, "minimum") {
			t.Error("what was not charged yet is reported, or what was known has changed")
		}
	})
}

func TestBordereauxThatAreRefused(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		for _, c := range []struct {
			in    report.BordereauQuery
			field string
		}{
			{report.BordereauQuery{Month: "2024"}, "period"},
			{report.BordereauQuery{Month: "2024-13"}, "period"},
			{report.BordereauQuery{Month: "2024-06", KnownAt: w.Now().Add(time.Second)}, "known_at"},
		} {
			_, err := w.App.Bordereaux.Premium(t.Context(), w.Actor, c.in)
			if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), c.field) {
				t.Errorf("%+v: %v", c.in, err)
			}
		}
		if _, err := w.App.Bordereaux.Premium(t.Context(), w.Actor, report.BordereauQuery{}); !errs.Is(err, errs.Missing) {
			t.Error(err)
		}
	})
}

// bordereau writes the premium bordereau of a month in both forms.
func bordereau(t *testing.T, w *apptest.World, month string, known time.Time) string {
	t.Helper()
	var out bytes.Buffer
	for _, write := range []func(r report.Bordereau) error{
		func(r report.Bordereau) error { return api.WriteBordereauCSV(&out, r) },
		func(r report.Bordereau) error { return api.WriteBordereauJSON(&out, r) },
	} {
		report, err := w.App.Bordereaux.Premium(t.Context(), w.Actor, report.BordereauQuery{Month: month, KnownAt: known})
		if err != nil {
			t.Fatal(err)
		}
		totalsAreThoseOfRows(t, w, report)
		if err := write(report); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// totalsAreThoseOfRows compares the totals of the database with the sums of the rows.
func totalsAreThoseOfRows(t *testing.T, w *apptest.World, result report.Bordereau) {
	t.Helper()
	var wanted []report.BordereauTotal
	for row, err := range result.Rows {
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(wanted, func(x report.BordereauTotal) bool { return x.Kind == row.Kind && x.Currency == row.Settlement })
		if i < 0 {
			i, wanted = len(wanted), append(wanted, report.BordereauTotal{Kind: row.Kind, Currency: row.Settlement})
		}
		wanted[i].Rows, wanted[i].Net, wanted[i].Tax = wanted[i].Rows+1, wanted[i].Net+row.Amount, wanted[i].Tax+row.Tax
	}
	slices.SortFunc(wanted, func(a, b report.BordereauTotal) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(string(a.Currency), string(b.Currency)))
	})
	got, err := w.App.Bordereaux.Totals(t.Context(), w.Actor, result)
	if err != nil {
		t.Fatal(err)
	}
	if len(got)+len(wanted) > 0 {
		apptest.Same(t, "totals", got, wanted)
	}
}
