package mail_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/claims"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// TestMailsAboutPayouts: the people who sign off get one e-mail while payouts wait, the site's admins one for each payout that was paid or has failed.
func TestMailsAboutPayouts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		p.user("ops", "ops@example.org", access.Operator)
		p.user("ada", "ada@example.org", access.MemberAdmin)
		p.App.Mails.Addresses.Dashboard = "https://pay.example.org/dashboard"
		ctx, room := t.Context(), p.App.Claims
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		all := func(job func() (bool, error)) {
			t.Helper()
			for more := true; more; {
				var err error
				more, err = job()
				must(err)
			}
		}
		for range 2 { // two merchants fail, each with a claim
			c := p.Channel(merchant.ModeProtectionOnly, "GBP")
			b := p.Booking(c, 100_000, "2024-09-14")
			paid := p.Must(apptest.Report(payment.Purchase, b, 100_000))
			p.Advance(time.Hour)
			kind, at := insolvencies.Kind("liquidation"), p.Now()
			reported, err := p.App.Insolvencies.Report(ctx, p.Actor, insolvencies.NewReport{ChannelID: &c.ID, Kind: &kind, TriggerAt: &at, Evidence: "A notice"})
			must(err)
			_, err = p.App.Insolvencies.Confirm(ctx, p.Actor, reported.ID, "")
			must(err)
			p.Advance(time.Minute)
			all(func() (bool, error) { return p.App.Insolvencies.Work(ctx) })
			p.Must(apptest.Linked(payment.Chargeback, paid, b, 60_000))
		}
		p.Advance(time.Minute)
		all(func() (bool, error) { return room.Make(ctx) })
		for id := int64(1); id <= 2; id++ {
			_, err := room.Assess(ctx, p.Actor, id, "")
			must(err)
			_, err = room.Approve(ctx, p.Actor, id, "")
			must(err)
		}
		all(func() (bool, error) { return room.Plan(ctx) })
		list, err := room.Payouts(ctx, p.Actor, claims.PayoutFilter{}, store.Page{Number: 1, Size: 10, Offset: -1, OrderBy: "id"})
		must(err)
		if len(list.Items) != 2 {
			t.Fatalf("%+v", list.Items)
		}
		p.follow()
		says := func(want ...[]string) {
			t.Helper()
			var got []string
			for _, m := range p.list() {
				if m.Kind == "payout" {
					_, text, err := p.App.Mails.Get(ctx, p.Actor, m.ID)
					must(err)
					got = append(got, m.Recipient+" "+text.Subject+"\n"+text.Text)
				}
			}
			if len(got) != len(want) {
				t.Fatalf("%d mails, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
			}
			for i, words := range want {
				for _, w := range words {
					if !strings.Contains(got[i], w) {
						t.Errorf("mail %d does not say %q:\n%s", i, w, got[i])
					}
				}
			}
		}
		planned := []string{"ops@example.org Payout 1 is waiting to be signed off", "£600.00", "Another payout is waiting, too.",
			"https://pay.example.org/dashboard/sites/demo/payouts/1"}
		says(planned)
		_, err = room.Sign(ctx, p.Actor, list.Items[0].ID)
		must(err)
		_, err = room.Paid(ctx, p.Actor, list.Items[0].ID, "BANK-7")
		must(err)
		_, err = room.Failed(ctx, p.Actor, list.Items[1].ID, "Account closed")
		must(err)
		p.follow()
		says(planned, []string{"ada@example.org Payout 1 was paid", "BANK-7"}, []string{"ada@example.org Payout 2 has failed", "Account closed"})
	})
}
