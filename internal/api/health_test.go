package api_test

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

func TestNotReadyWithoutItsDatabase(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t), io.Discard)
	must(t, w.app.DB.Store.Close())
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503} {
		answer := httptest.NewRecorder()
		w.handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		if answer.Code != want {
			t.Errorf("%s answers %d, want %d: %s", path, answer.Code, want, answer.Body)
		}
		if want == 503 && (answer.Header().Get("Retry-After") == "" || !strings.Contains(answer.Body.String(), "service_unavailable")) {
			t.Errorf("%s: %v %s", path, answer.Header(), answer.Body)
		}
	}
}

// TestNotReadyAfterAFailedCommit: the response says how to recover.
func TestNotReadyAfterAFailedCommit(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t), io.Discard)
	dbtest.FailWrites(t, func() {
		err := w.app.DB.Store.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			_, err := tx.Exec(`INSERT INTO write_tries (name, tried_at, filler) VALUES ('large', 0, zeroblob(200000))`)
			return err
		})
		if err == nil {
			t.Error("the disk stores what it cannot")
		}
	})
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", nil))
	if answer.Code != 503 || !strings.Contains(answer.Body.String(), "until the service is restarted") {
		t.Errorf("/readyz answers %d: %s", answer.Code, answer.Body)
	}
}

func TestARequestThatTakesTooLongIsEnded(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t), io.Discard)
	handler := api.New(w.app, api.Config{Timeout: time.Nanosecond})
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/demo/api-tokens", nil)
	r.Header.Set("Authorization", "Bearer 1|"+tokenSecret)
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, r)
	if answer.Code != 503 || !strings.Contains(answer.Body.String(), "service_unavailable") {
		t.Errorf("answered %d %s", answer.Code, answer.Body)
	}
}
