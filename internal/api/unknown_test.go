package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/testkit/dbtest"
)

// TestUnknownFieldsAreReported: a response names the ignored fields, and strict handling rejects them. Fields that a client
// has read are accepted.
func TestUnknownFieldsAreReported(t *testing.T) {
	t.Parallel()
	h := furnish(t, newWorld(t, dbtest.SQLite(t), io.Discard))
	path := "/demo/rest/svc/v2/bookings/" + strconv.FormatInt(h.own["booking"], 10)
	ask := func(method, path, prefer, body string) (*http.Response, string) {
		r := h.request(t, h.credential(t, "operator"), method, path, body)
		if prefer != "" {
			r.Header.Set("Prefer", prefer)
		}
		response, said := h.send(t, r)
		return response, string(said)
	}
	read := string(h.must(t, "operator", "GET", path, ""))
	for _, c := range []struct {
		body, prefer, ignored string
		refused               map[string]string
	}{
		{`{"pax": 2}`, "", "", nil},
		{read, "", "", nil},
		{read, "handling=strict", "", nil},
		{`{"pax": 3, "foo": 1, "curency": "EUR"}`, "", "curency, foo", nil},
		{`{"pax": 3, "a b\n": 1}`, "handling=lenient", `"a b\n"`, nil},
		{`{"pax": 4, "curency": "EUR", "xyzzy": 1}`, `respond-async, Handling="strict"; x=1`, "", map[string]string{
			"curency": "There is no such field. Did you mean currencies?", "xyzzy": "There is no such field.",
		}},
	} {
		response, said := ask("PUT", path, c.prefer, c.body)
		if got := response.Header.Get("Holdfast-Ignored"); got != c.ignored {
			t.Errorf("%s: ignored %q, want %q", c.body, got, c.ignored)
		}
		var answer struct {
			Data struct{ Params map[string]string }
		}
		must(t, json.Unmarshal([]byte(said), &answer))
		if status := response.StatusCode; c.refused == nil && status != 200 || c.refused != nil && status != 400 {
			t.Errorf("%s: %d %s", c.body, status, said)
		}
		for name, message := range c.refused {
			if answer.Data.Params[name] != message {
				t.Errorf("%s: %q, want %q", name, answer.Data.Params[name], message)
			}
		}
	}
	// Strict handling also checks fields of items.
	body := h.fill(strings.Replace(bodies["transaction"].body, `"currencies": "EUR", "total": 1000}]`, `"currencies": "EUR", "total": 1000, "note": 1}]`, 1), h.own)
	response, said := ask("POST", "/demo/rest/svc/v2/transactions", "handling=strict", body)
	if response.StatusCode != 400 || !strings.Contains(said, "bookings[0].note") || response.Header.Get("Preference-Applied") != "handling=strict" {
		t.Errorf("%d %s", response.StatusCode, said)
	}
}

// TestAPutThatChangesNothing leaves version, time and audit alone, and If-Match takes several ETags.
func TestAPutThatChangesNothing(t *testing.T) {
	t.Parallel()
	dbtest.OnBoth(t, func(t *testing.T, address string) {
		h := furnish(t, newWorld(t, address, io.Discard))
		for kind, path := range map[string]string{
			"booking": "bookings", "channel": "channels", "supplier": "suppliers", "site": "sites", "webhook": "webhooks", "reportmail": "report-mails",
		} {
			path = "/demo/rest/svc/v2/" + path + "/" + strconv.FormatInt(h.own[kind], 10)
			ask := func(method, tags, body string) (*http.Response, []byte) {
				r := h.request(t, h.credential(t, "operator"), method, path, body)
				if tags != "" {
					r.Header.Set("If-Match", tags)
				}
				return h.send(t, r)
			}
			audited := func() string {
				return h.page(t, "/demo/rest/svc/v2/audit?per_page=1").total
			}
			first, read := ask("GET", "", "")
			tag, before := first.Header.Get("ETag"), audited()
			h.clock.set(h.clock.read().Add(1_000_000_000))
			second, said := ask("PUT", `"999", W/"x", `+tag, string(read))
			if second.StatusCode != 200 || second.Header.Get("ETag") != tag || string(said) != string(read) {
				t.Errorf("%s: %d, ETag %s for %s: %s\nwas %s", kind, second.StatusCode, second.Header.Get("ETag"), tag, said, read)
			}
			if after := audited(); after != before {
				t.Errorf("%s: the audit has %s records, before %s", kind, after, before)
			}
			if third, said := ask("PUT", `"999", "998"`, string(read)); third.StatusCode != 412 {
				t.Errorf("%s: with other versions: %d %s", kind, third.StatusCode, said)
			}
		}
	})
}
