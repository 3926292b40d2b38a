package office_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/auth"
	"holdfast/internal/travel"
	"holdfast/internal/underwriting"
	"holdfast/internal/web/webtest"
)

// TestARequestForProtectionIsAnswered: it stands in the queue from when it is sent; only operators see and answer it.
func TestARequestForProtectionIsAnswered(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel(travel.ModeDraft, "GBP")
	merchant := auth.Actor{SiteID: h.World.Site.ID, UserID: 77, Username: "ada", Role: auth.MemberAdmin}
	facts := underwriting.Facts{
		Company: "Alpine Escapes Ltd", RegistrationNo: "HRB 123456", Website: "https://alpine.example", Sells: "Walking holidays",
		Contact: "Ada Byron", ContactMail: "ada@alpine.example", Licence: "bond", LicenceNumber: "B-1", LicenceBody: "ABTA",
		LicenceAmount: 5_000_000, SupplierCover: "Insurance", Currency: "GBP", Turnover: 250_000_000, Bookings: 400,
		AverageBooking: 120_000, Lead: [5]int64{10, 20, 30, 30, 10}, ChargebackRate: 4500,
	}
	send := func(ask bool) {
		t.Helper()
		if _, err := h.App.Underwriting.Save(t.Context(), merchant, c.ID, facts, ask, 0); err != nil {
			t.Fatal(err)
		}
	}
	b := h.As(auth.Operator)
	send(false)
	b.Must("/asked", "Nobody waits for an answer")
	if a := b.Get("/asked/1/1"); a.Status != http.StatusNotFound {
		t.Errorf("what is not sent yet is shown: %d", a.Status)
	}
	document, err := h.App.Underwriting.Attach(t.Context(), merchant, c.ID, "bond.pdf", strings.NewReader("%PDF-1.7\n1 0 obj\n%%EOF\n"))
	if err != nil {
		t.Fatal(err)
	}
	send(true)
	b.Must("/asked", "draft GBP", "Alpine Escapes Ltd", "2,500,000.00 GBP", "ada")
	page := b.Must("/asked/1/1", "HRB 123456", "0.45 %", "ABTA", "50,000.00 GBP", "31 to 90 days", "bond.pdf", "Your answer")
	if file := b.Get("/asked/1/1/documents/1"); file.Status != http.StatusOK || !strings.HasPrefix(file.Body, "%PDF") ||
		!strings.HasPrefix(file.Header.Get("Content-Disposition"), "attachment") || document.ID != 1 {
		t.Errorf("%d %v", file.Status, file.Header)
	}
	_, version, _ := strings.Cut(page.Body, `name="version" value="`)
	version, _, _ = strings.Cut(version, `"`)
	for _, role := range []auth.Role{auth.ReadOnly, auth.Finance, auth.MemberAdmin} {
		other := h.As(role)
		for _, path := range []string{"/asked", "/asked/1/1", "/asked/1/1/documents/1"} {
			if a := other.Get(path); a.Status != http.StatusNotFound {
				t.Errorf("%s sees %s: %d", role, path, a.Status)
			}
		}
		if a := other.Post("/asked/1/1/taken", url.Values{"version": {version}}); a.Status != http.StatusNotFound {
			t.Errorf("%s answers: %d", role, a.Status)
		}
	}
	if a := b.Post("/asked/1/1/refused", url.Values{"version": {version}}); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "This is needed.") {
		t.Errorf("refused without a word: %d", a.Status)
	}
	for _, old := range []string{"", "999"} {
		if a := b.Post("/asked/1/1/taken", url.Values{"version": {old}}); a.Status != http.StatusConflict {
			t.Errorf("what somebody has changed meanwhile is taken with the version %q: %d", old, a.Status)
		}
	}
	if a := b.Post("/asked/1/1/taken", url.Values{"version": {version}, "note": {"Welcome"}}); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	b.Must("/asked", "Nobody waits for an answer")
	b.Must("/asked?answered=1", "Taken", "Alpine Escapes Ltd")
	b.Must("/asked/1/1", "You have taken this request", "Welcome")
	if made, err := h.App.Channels.Get(t.Context(), h.Actor, c.ID); err != nil || made.Mode != travel.ModeDraft {
		t.Errorf("the answer has changed the channel: %+v, %v", made.Mode, err)
	}
}
