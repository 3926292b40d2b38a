package api_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestAnswersSayHowFarBehindTheyAre: only reports from a replica have the header. /readyz reports the state of the
// replica.
func TestAnswersSayHowFarBehindTheyAre(t *testing.T) {
	t.Parallel()
	url := dbtest.SQLite(t)
	w := newWorld(t, url, io.Discard)
	k := &talk{world: w, as: "reader", kept: map[string]string{}}
	ask := func(address string) (lag, body string) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		r.Header.Set("Authorization", "Bearer 1|"+tokenSecret)
		response, text := k.exchange(t, r)
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s is answered %d %s", address, response.StatusCode, text)
		}
		return response.Header.Get("Holdfast-Replica-Lag"), string(text)
	}
	const report, short = "/demo/rest/svc/v2/exposure/details", "/demo/rest/svc/v2/bookings"
	if lag, _ := ask(report); lag != "" {
		t.Errorf("without a copy, a report is %s behind", lag)
	}
	// The same database acts as its replica.
	w.app.DB.Store.Follow(store.Replica{Copy: dbtest.Open(t, url, w.app.DB.Clock), Behind: func(context.Context) (time.Duration, error) {
		return 1500 * time.Millisecond, nil
	}})
	if lag, _ := ask(report); lag != "1.500" {
		t.Errorf("a report is %q behind", lag)
	}
	if lag, _ := ask(short); lag != "" {
		t.Errorf("a list is %s behind", lag)
	}
	if _, body := ask("/readyz"); !strings.Contains(body, `"replica":"following"`) {
		t.Errorf("readyz: %s", body)
	}
}
