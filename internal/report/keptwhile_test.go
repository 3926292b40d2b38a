package report_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
)

// TestNoKeptReportIsOlderThanAKnownWrite: while payments are logged and folded, cached reports are requested
// concurrently. Each report has at least the payments that were logged before the request, and its amounts match its
// payments.
func TestNoKeptReportIsOlderThanAKnownWrite(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		const payments, readers, each = 20, 3, 1000
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		b := w.Booking(c, payments*each, "2024-09-14")
		var done atomic.Int64
		over := make(chan struct{})
		ask := func(turn int) error {
			before := done.Load()
			by := []exposure.Dimension{exposure.ByChannel, exposure.ByMonth}[turn%2]
			r, err := w.App.Exposure.Report(t.Context(), w.Actor, report.ExposureQuery{By: by})
			if err != nil {
				return err
			}
			if n := r.Total.Allocations; n < before || n > payments || r.Total.E1 != n*each {
				return fmt.Errorf("%d payments are known, the report by %s has %d with %d", before, by, n, r.Total.E1)
			}
			before = done.Load()
			off, err := w.App.Exposure.RunOff(t.Context(), w.Actor, report.ExposureQuery{})
			if err == nil && off.Points[0].Total.E1 < before*each {
				err = fmt.Errorf("%d payments are known, the run-off begins with %d", before, off.Points[0].Total.E1)
			}
			return err
		}
		found := make(chan error, readers)
		for reader := range readers {
			go func() {
				for turn := reader; ; turn++ {
					if err := ask(turn); err != nil {
						found <- err
						return
					}
					select {
					case <-over:
						found <- ask(turn) // now all of them are known
						return
					default:
					}
				}
			}()
		}
		var once sync.Once
		defer once.Do(func() { close(over) })
		for i := range payments {
			w.Must(apptest.Report(payment.Purchase, b, each))
			done.Add(1)
			if i%7 == 0 {
				if _, err := w.App.Buckets.FoldSite(t.Context(), w.Site.ID, 100); err != nil {
					t.Fatal(err)
				}
			}
		}
		once.Do(func() { close(over) })
		var failed error
		for range readers {
			failed = errors.Join(failed, <-found)
		}
		if failed != nil {
			t.Error(failed)
		}
	})
}
