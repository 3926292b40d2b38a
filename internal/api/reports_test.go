package api_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"holdfast/internal/lib/limiter"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestReportsThatScanHaveTheirOwnQueue: when all slots are taken and the queue is full, the next report gets 503
// with Retry-After. Everything else is served, including reports from the cubes.
func TestReportsThatScanHaveTheirOwnQueue(t *testing.T) {
	t.Parallel()
	for _, engine := range dbtest.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			w := newWorld(t, engine.Database(t), io.Discard)
			w.app.DB.Store.BoundReports(store.ReportBounds{Bounds: limiter.Bounds{Places: 1, Wait: 5 * time.Second}})
			k := &talk{world: w, as: "reader", kept: map[string]string{}}
			status := func(address string) (int, string) {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
				r.Header.Set("Authorization", "Bearer 1|"+tokenSecret)
				response, _ := k.exchange(t, r)
				return response.StatusCode, response.Header.Get("Retry-After")
			}
			const v2, past = "/demo/rest/svc/v2", "known_at=2026-03-02T08:00:00Z"
			scan := strings.Split(strings.ReplaceAll(`/exposure?by=channel,supplier /exposure?schemes=visa
				/exposure/run-off?PAST /exposure/run-off?as_of=2026-02-01 /exposure/ageing /exposure/movement?from=2026-02-01
				/exposure/model /exposure/model/details /exposure/details /channels/4/record /exposure/movement/details?from=2026-02-01
				/bookings?offset=10000 /bookings?offset=10000&order=desc&orderby=total /transactions?page=10001&per_page=1&countries=PT`, "PAST", past), "\n")
			scan = strings.Fields(strings.Join(scan, " "))
			quick := strings.Fields(`/exposure /exposure/what-if /exposure?known_at=2026-03-02T08:00:00Z /exposure?by=month /exposure/run-off /bookings /transactions /channels /exposure?by=scheme&valuation=locked`)
			held, end := make(chan error, 1), make(chan struct{})
			holding := make(chan struct{})
			go func() {
				held <- w.app.DB.Store.Report(context.WithoutCancel(t.Context()), store.Deployment, "somebody", func(*store.Tx) error {
					close(holding)
					<-end
					return nil
				})
			}()
			<-holding
			for _, address := range scan {
				if got, wait := status(v2 + address); got != http.StatusServiceUnavailable || wait != "5" {
					t.Errorf("%s while others run: %d, Retry-After %q", address, got, wait)
				}
			}
			for _, address := range quick {
				if got, _ := status(v2 + address); got != http.StatusOK {
					t.Errorf("%s while others run: %d", address, got)
				}
			}
			if got, _ := status("/readyz"); got != http.StatusOK {
				t.Errorf("/readyz while others run: %d", got)
			}
			close(end)
			if err := <-held; err != nil {
				t.Error(err)
			}
			for _, address := range scan {
				if got, _ := status(v2 + address); got != http.StatusOK && !strings.Contains(address, "page=") {
					t.Errorf("%s when it is its turn: %d", address, got)
				}
			}
			// Cached reports need no slot. A new version of the site invalidates them.
			if err := w.app.DB.Store.Write(t.Context(), store.Deployment, func(tx *store.Tx) error { return sites.Changed(tx, 1) }); err != nil {
				t.Fatal(err)
			}
			w.app.DB.Store.BoundReports(store.ReportBounds{Bounds: limiter.Bounds{Places: 1, PerCaller: -1, Wait: 5 * time.Second}}) // the caller has as many as it may
			for _, address := range scan {
				if got, wait := status(v2 + address); got != http.StatusTooManyRequests || wait != "5" {
					t.Errorf("%s, one too many of a caller: %d, Retry-After %q", address, got, wait)
				}
			}
		})
	}
}
