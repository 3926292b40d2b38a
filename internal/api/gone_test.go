package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/testkit/dbtest"
)

// TestARepeatedRequestIsAnsweredAfterItsObjectIsGone: a repeated request gets its response even after its object was
// deleted, but without the secrets, which were deleted with it.
func TestARepeatedRequestIsAnsweredAfterItsObjectIsGone(t *testing.T) {
	t.Parallel()
	dbtest.OnBoth(t, func(t *testing.T, url string) {
		h := furnish(t, newWorld(t, url, io.Discard))
		v2 := "/demo/rest/svc/v2/"
		for kind, change := range map[string]string{
			"booking": `{"pax": 3}`, "channel": `{"receipt_label": "Azure"}`, "supplier": `{"url": "https://airways.example"}`,
			"webhook": `{"types": ["transaction.*"]}`, "reportmail": `{"on": 2}`,
		} {
			body := h.fill(bodies[kind].body, h.own)
			_, made := h.under(t, "make "+kind, "POST", v2+bodies[kind].path, body, http.StatusCreated)
			object := fmt.Sprintf("%s%s/%v", v2, bodies[kind].path, made["id"])
			_, changed := h.under(t, "change "+kind, "PUT", object, change, http.StatusOK)
			h.must(t, "operator", "DELETE", object, "")
			h.clock.set(h.clock.read().Add(time.Second))
			h.repeated(t, "make "+kind, "POST", v2+bodies[kind].path, body, http.StatusCreated, changed)
			h.repeated(t, "change "+kind, "PUT", object, change, http.StatusOK, changed)
			if status, said := h.ask(t, h.credential(t, "operator"), "GET", object, ""); status != http.StatusNotFound {
				t.Errorf("the deleted %s returns %d %s", kind, status, said)
			}
		}
		file := "booking_reference,channel,countries,currencies,date,total,firstname,surname,email,content,payment_reference,transaction_types,paid_at,payment_currencies,payment_total,booking_total\n" +
			"B-1,Direct,PT,EUR,2026-07-08,120000,Ana,Sousa,ana@example.org,Seven nights,B-1-P1,purchase,2026-01-10 09:30:00,EUR,36000,36000\n"
		_, made := h.under(t, "file", "POST", v2+"imports?dry_run=true", file, http.StatusAccepted)
		object := fmt.Sprintf("%simports/%v", v2, made["id"])
		h.importNext(t)
		tried := map[string]any{}
		must(t, json.Unmarshal(h.must(t, "operator", "GET", object, ""), &tried))
		h.must(t, "operator", "DELETE", object, "")
		h.repeated(t, "file", "POST", v2+"imports?dry_run=true", file, http.StatusAccepted, tried)

		// The last state expires with the keys.
		h.clock.set(h.clock.read().Add(31 * 24 * time.Hour))
		if more, err := h.app.Idempotency.Forget(t.Context()); err != nil || more {
			t.Errorf("forgetting: %v, %v", more, err)
		}
		h.credentials = map[string]string{}
		body := h.fill(bodies["supplier"].body, h.own)
		h.under(t, "make supplier", "POST", v2+"suppliers", body, http.StatusCreated)
	})
}

// under sends a request as the operator with an idempotency key.
func (h *house) under(t *testing.T, key, method, path, body string, want int) (*http.Response, map[string]any) {
	t.Helper()
	r := h.request(t, h.credential(t, "operator"), method, path, body)
	r.Header.Set("Idempotency-Key", key)
	if strings.Contains(path, "/imports") {
		r.Header.Set("Content-Type", "text/csv")
	}
	response, said := h.send(t, r)
	if response.StatusCode != want {
		t.Fatalf("%s %s returns %d %s, want %d", method, path, response.StatusCode, said, want)
	}
	object := map[string]any{}
	must(t, json.Unmarshal(said, &object))
	return response, object
}

// repeated sends a request again and expects the last state of the object, without secrets.
func (h *house) repeated(t *testing.T, key, method, path, body string, status int, last map[string]any) {
	t.Helper()
	response, got := h.under(t, key, method, path, body, status)
	if response.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s %s is not marked as replayed", method, path)
	}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if name == "channel_secret" || name == "modified" {
			continue
		}
		if want := fmt.Sprint(last[name]); fmt.Sprint(got[name]) != want {
			t.Errorf("%s of the repeated %s %s is %v, want %s", name, method, path, got[name], want)
		}
	}
}
