package outbox_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/webtest"
	"holdfast/internal/web/outbox"
)

// TestPages: the list, one e-mail, its frame, and missing ones. User input is escaped.
func TestPages(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel(merchant.ModeProtectionOnly, "EUR")
	if _, err := h.App.Channels.Change(t.Context(), h.Actor, c.ID, merchant.ChannelFields{ReceiptLabel: new("<b>Harbour")}); err != nil {
		t.Fatal(err)
	}
	h.Must(apptest.Report(payment.Purchase, h.Booking(c, 60000, "2024-09-14"), 60000))
	for more := true; more; {
		var err error
		if more, err = h.App.Mails.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	pages, err := outbox.New(h.App.Mails, h.Actor)
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		return w
	}
	list := get("/outbox").Body.String()
	_, id, _ := strings.Cut(list, `<a href="/outbox/`)
	id, _, _ = strings.Cut(id, `"`)
	for path, want := range map[string]struct {
		status int
		says   string
	}{
		"/outbox":                     {200, fmt.Sprintf(`<a href="/outbox/%s">`, id)},
		"/outbox/" + id:               {200, "&lt;b&gt;Harbour"},
		"/outbox/" + id + "/html":     {200, "600.00"},
		"/outbox/" + id + "0000":      {404, "E-mail not found"},
		"/outbox/" + id + "0000/html": {404, "E-mail not found"},
		"/outbox/x":                   {404, "E-mail not found"},
		"/outbox/page.css":            {200, "color-scheme"},
	} {
		w := get(path)
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.says) || strings.Contains(w.Body.String(), "<b>Harbour") {
			t.Errorf("%s: %d\n%s", path, w.Code, w.Body)
		}
		policy := w.Header().Get("Content-Security-Policy")
		if (w.Code == 200 && strings.HasSuffix(path, "/html")) != strings.HasPrefix(policy, "sandbox ") || strings.Contains(policy, "script") {
			t.Errorf("%s: the policy is %s", path, policy)
		}
	}
	if err := h.App.DB.Store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/outbox", "/outbox/" + id} {
		if w := get(path); w.Code != 503 {
			t.Errorf("without a database %s answers %d", path, w.Code)
		}
	}
}
