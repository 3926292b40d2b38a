package office_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/book/underwriting"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/testkit/webtest"
)

// TestARequestForProtectionIsAnswered: it is in the queue once it is sent; only operators see and decide it.
func TestARequestForProtectionIsAnswered(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel(merchant.ModeDraft, "GBP")
	m := access.Actor{SiteID: h.World.Site.ID, UserID: 77, Username: "ada", Role: access.MemberAdmin}
	facts := underwriting.Facts{
		Company: "Alpine Escapes Ltd", RegistrationNo: "HRB 123456", Website: "https://alpine.example", Sells: "Walking holidays",
		Contact: "Ada Byron", ContactMail: "ada@alpine.example", Licence: "bond", LicenceNumber: "B-1", LicenceBody: "ABTA",
		LicenceAmount: 5_000_000, SupplierCover: "Insurance", Currency: "GBP", Turnover: 250_000_000, Bookings: 400,
		AverageBooking: 120_000, Lead: [5]int64{10, 20, 30, 30, 10}, ChargebackRate: 4500,
	}
	send := func(ask bool) {
		t.Helper()
		if _, err := h.App.Underwriting.Save(t.Context(), m, c.ID, facts, ask, 0); err != nil {
			t.Fatal(err)
		}
	}
	b := h.As(access.Operator)
	send(false)
	b.Must("/asked", "No protection requests")
	send(true)
	queue := b.Must("/asked", "draft GBP", "Alpine Escapes Ltd", "2,500,000.00 GBP", "ada")
	page := h.At(fmt.Sprintf("/channels/%d/protection", c.ID))
	if !strings.Contains(queue.Body, `href="`+page+`"`) {
		t.Errorf("the queue does not lead to %s:\n%s", page, queue.Body)
	}
	for _, role := range []access.Role{access.ReadOnly, access.Finance, access.MemberAdmin} {
		if a := h.As(role).Get("/asked"); a.Status != http.StatusNotFound {
			t.Errorf("%s sees the queue: %d", role, a.Status)
		}
	}
	_, version, _ := strings.Cut(b.Must(page, "Your answer").Body, `name="version" value="`)
	version, _, _ = strings.Cut(version, `"`)
	for _, old := range []string{"", "999"} {
		if a := b.Post(page+"/answer", url.Values{"state": {"taken"}, "version": {old}}); a.Status != http.StatusConflict {
			t.Errorf("what somebody has changed meanwhile is taken with the version %q: %d", old, a.Status)
		}
	}
	if a := b.Post(page+"/answer", url.Values{"state": {"taken"}, "version": {version}, "note": {"Welcome"}}); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	b.Must("/asked", "No protection requests")
	b.Must("/asked?answered=1", "Taken", "Alpine Escapes Ltd")
	if made, err := h.App.Channels.Get(t.Context(), h.Actor, c.ID); err != nil || made.Mode != merchant.ModeDraft {
		t.Errorf("the answer has changed the channel: %+v, %v", made.Mode, err)
	}
}
