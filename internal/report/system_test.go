package report_test

import (
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/testkit/apptest"
)

// TestStatusOfTheDeployment: pending work of all sites, the database, the last rates, and moved clocks.
func TestStatusOfTheDeployment(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "PLN")
		for range 2 {
			w.Must(apptest.Report(payment.Purchase, w.Booking(c, 10000, "2024-09-14"), 10000))
		}
		rate, err := money.ParseRate("1.1")
		if err != nil {
			t.Fatal(err)
		}
		day := civil.DayOf(w.Now()) - 3
		if _, err := w.App.Rates.Add(t.Context(), access.System(0), []fx.Fixing{{Provider: fx.ECB, Currency: "USD", Day: day, Rate: rate}}); err != nil {
			t.Fatal(err)
		}
		w.MoveClock(w.Now().Add(36 * time.Hour))
		report, err := w.App.System.Report(t.Context(), access.System(0))
		if err != nil {
			t.Fatal(err)
		}
		rows := map[string]int64{}
		for _, q := range report.Queues {
			rows[q.Name] = q.Rows
		}
		apptest.Same(t, "waiting", []any{rows["Payments without a rate"], rows["Mails to send"], rows["Changes to approve"]}, []any{2, 0, 0})
		if rows["Pending limit checks"] == 0 {
			t.Error("two payments are not judged yet, and nothing waits")
		}
		apptest.Same(t, "the rest", []any{report.LastECB, report.Bytes > 100_000, report.Schema >= "0001", report.Moved},
			[]any{day, true, true, "[{demo Demo 36h0m0s}]"})
		if work := report.Work; work.Statements <= work.Commits || work.Commits < 4 || report.Goroutines < 1 {
			t.Errorf("the process has done %+v with %d goroutines", work, report.Goroutines)
		}
		_, err = w.App.System.Report(t.Context(), access.Actor{SiteID: 1, UserID: 1, Role: access.MemberAdmin})
		apptest.WantKind(t, err, errs.Forbidden, "read by a customer")
		_, err = w.App.System.Report(t.Context(), access.Actor{SiteID: 1, UserID: 1, TokenID: 1, Role: access.Operator})
		apptest.WantKind(t, err, errs.Forbidden, "read with a token")
	})
}
