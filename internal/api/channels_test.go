package api_test

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"holdfast/internal/testkit/dbtest"
)

// Read-only fields are ignored, not rejected, whatever their value. The values here do not match the description, so a
// conversation cannot test this.
func TestReadOnlyFieldsOfAChannelMayHoldAnything(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t), io.Discard)
	for _, request := range []struct{ method, address, body string }{
		{"POST", "/demo/rest/svc/v2/channels", `{"name": "A", "currencies": "EUR", "id": "x", "uuid": 1, "slug": [], "account_type": 5,
			"protection_type": {}, "channel_status": false, "statement_period": "daily", "locked": "perhaps", "suppliers": "x"}`},
		{"PUT", "/demo/rest/svc/v2/channels/3", `{"account_mode": 5, "account_type": 5, "suppliers": "x", "locked": []}`},
	} {
		r := httptest.NewRequestWithContext(t.Context(), request.method, request.address, strings.NewReader(request.body))
		r.Header.Set("Authorization", "Bearer 1|"+tokenSecret)
		answer := httptest.NewRecorder()
		w.handler.ServeHTTP(answer, r)
		if answer.Code >= 300 {
			t.Errorf("%s: %d %s", request.method, answer.Code, answer.Body)
		}
	}
}
