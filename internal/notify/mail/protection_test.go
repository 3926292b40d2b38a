package mail_test

import (
	"strings"
	"testing"

	"holdfast/internal/book/underwriting"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/notify/mail"
	"holdfast/internal/store"
)

// TestARequestForProtectionIsMailed: to the operators when it is sent, to the site's administrators when it is decided.
func TestARequestForProtectionIsMailed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		p.user("ops", "ops@example.org", access.Operator)
		p.user("ada", "ada@example.org", access.MemberAdmin)
		p.App.Mails.Addresses.Dashboard = "https://pay.example.org/dashboard"
		c := p.Channel(merchant.ModeDraft, "GBP")
		boss := access.Actor{SiteID: p.Site.ID, UserID: 7, Username: "ada", Role: access.MemberAdmin}
		facts := underwriting.Facts{
			Company: "Alpine Escapes Ltd", RegistrationNo: "HRB 123456", Website: "https://alpine.example", Sells: "Walking holidays",
			Contact: "Ada Byron", ContactMail: "ada@alpine.example", Licence: "bond", LicenceNumber: "B-1", LicenceBody: "ABTA",
			LicenceAmount: 5_000_000, SupplierCover: "Insurance", Currency: "GBP", Turnover: 250_000_000, Bookings: 400,
			AverageBooking: 120_000, Lead: [5]int64{10, 20, 30, 30, 10}, ChargebackRate: 4500,
		}
		ask := func(sent bool) {
			t.Helper()
			if _, err := p.App.Underwriting.Save(t.Context(), boss, c.ID, facts, sent, 0); err != nil {
				t.Fatal(err)
			}
		}
		answer := func(state underwriting.State, note string) {
			t.Helper()
			if _, err := p.App.Underwriting.Answer(t.Context(), p.Actor, p.Site.ID, c.ID, underwriting.Answer{State: state, Note: note}); err != nil {
				t.Fatal(err)
			}
		}
		ask(false) // drafts are no news
		p.follow()
		p.want()
		ask(true)
		p.follow()
		p.want("protection_asked ops@example.org waiting")
		says := func(id int64, want ...string) {
			t.Helper()
			_, text, err := p.App.Mails.Get(t.Context(), p.Actor, id)
			for _, w := range want {
				if err != nil || !strings.Contains(text.Text, w) {
					t.Errorf("the mail does not say %q: %v\n%s", w, err, text.Text)
				}
			}
		}
		says(p.list()[0].ID, "ada of Demo", c.Name, "Alpine Escapes Ltd", "2,500,000.00", "https://pay.example.org/dashboard/sites/demo/channels/")
		answer(underwriting.Questions, "Which bond is it?")
		p.follow()
		p.want("protection_asked ops@example.org waiting", "protection_answered ada@example.org waiting")
		says(p.list()[1].ID, "has a question", "Which bond is it?")
		ask(true)
		answer(underwriting.Refused, "Too much.") // before the second request was mailed: only the decision is news
		p.follow()
		p.want("protection_asked ops@example.org waiting", "protection_answered ada@example.org waiting", "protection_answered ada@example.org waiting")
		says(p.list()[2].ID, "declined the request", "Too much.")
		seen, err := p.App.Mails.List(t.Context(), boss, mail.Filter{}, store.Page{Number: 1, Size: 10, Offset: -1, OrderBy: "id"})
		if err != nil || len(seen.Items) != 2 {
			t.Errorf("the site sees to whom its operator writes: %+v %v", seen.Items, err)
		}
	})
}
