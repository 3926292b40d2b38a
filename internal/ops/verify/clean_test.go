package verify_test

import (
	"fmt"
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/money"
	"holdfast/internal/ops/verify"
	"holdfast/internal/testkit/apptest"
)

// TestARandomHistoryIsClean: after any history the book has no findings, before and after the jobs have run.
func TestARandomHistoryIsClean(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		h := apptest.NewHistory(w, 7)
		for range 4 {
			h.NewBooking()
		}
		for i := range 220 {
			h.Step()
			if i%70 == 69 {
				runJobs(t, w)
				wantClean(t, w)
			}
		}
		w.Fix("2024-06-03", map[money.Currency]string{"JPY": "170.12"})
		h.FoldSome(t.Context(), 50)
		wantClean(t, w)
		runJobs(t, w)
		report := wantClean(t, w)
		for _, check := range []string{
			"booking sums", "premium lines", "exposure cubes", "limit lines", "seals", "facts", "allocation events", "locked rates",
		} {
			if rowsOf(report, check) == 0 {
				t.Errorf("%s looked at nothing", check)
			}
		}
		h.Accepted().WantAtLeast(t, apptest.Steps{Bookings: 10, Purchases: 20, Refunds: 2, Chargebacks: 2, Changes: 2})
	})
}

// runJobs runs the program's jobs until nothing is left.
func runJobs(t *testing.T, w *apptest.World) {
	t.Helper()
	for range 3 {
		for _, job := range []func() (bool, error){
			func() (bool, error) { return w.App.Buckets.Fold(t.Context()) },
			func() (bool, error) { return w.App.Limits.Recompute(t.Context()) },
			func() (bool, error) { return w.App.Seals.Seal(t.Context()) },
			func() (bool, error) { _, err := w.App.Statements.IssueDue(t.Context()); return false, err },
			func() (bool, error) { _, err := w.App.Payments.ExpireAuthorisations(t.Context()); return false, err },
			func() (bool, error) { return w.App.Disputes.Retry(t.Context()) },
			func() (bool, error) { return w.App.Disputes.Alert(t.Context()) },
			func() (bool, error) { _, err := w.App.Rates.PricePending(t.Context()); return false, err },
		} {
			for more := true; more; {
				var err error
				if more, err = job(); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.Advance(11 * time.Second)
	}
}

func run(t *testing.T, w *apptest.World, q verify.Query) verify.Report {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 5
	}
	report, err := w.App.Verify.Run(t.Context(), access.System(0), q)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func wantClean(t *testing.T, w *apptest.World) verify.Report {
	t.Helper()
	report := run(t, w, verify.Query{})
	for _, f := range report.Findings {
		t.Error(text(f))
	}
	if t.Failed() {
		t.FailNow()
	}
	return report
}

func rowsOf(report verify.Report, check string) (n int64) {
	for _, l := range report.Lines {
		if l.Check == check {
			n += l.Rows
		}
	}
	return n
}

func text(f verify.Finding) string {
	return fmt.Sprintf("%s: %s %d of site %q: %s is %s, should be %s", f.Check, f.Table, f.ID, f.Site, f.Field, f.Stored, f.Should)
}
