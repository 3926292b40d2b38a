package mail_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
)

// TestMailsAboutAFailure: operators are notified of reports that they have to confirm, the site's admins of changes. No
// one is notified of outdated ones.
func TestMailsAboutAFailure(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		p.user("ops", "ops@example.org", access.Operator)
		p.user("ada", "ada@example.org", access.MemberAdmin)
		p.App.Mails.Addresses.Dashboard = "https://pay.example.org/dashboard"
		c := p.Channel(merchant.ModeDraft, "GBP")
		room, ctx := p.App.Insolvencies, t.Context()
		report := func() insolvencies.Insolvency {
			t.Helper()
			kind, trigger := insolvencies.Kind("ceased_trading"), p.Now()
			made, err := room.Report(ctx, p.Actor, insolvencies.NewReport{ChannelID: &c.ID, Kind: &kind, TriggerAt: &trigger, Evidence: "Offices are empty"})
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		done := func(_ insolvencies.Insolvency, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		says := func(n int, want ...string) {
			t.Helper()
			_, text, err := p.App.Mails.Get(ctx, p.Actor, p.list()[n].ID)
			for _, w := range want {
				if err != nil || !strings.Contains(text.Subject+"\n"+text.Text, w) {
					t.Errorf("mail %d does not say %q: %v\n%s\n%s", n, w, err, text.Subject, text.Text)
				}
			}
		}
		done(p.App.Claims.WithdrawInsolvency(ctx, p.Actor, report().ID, "A mistake")) // before anybody was notified
		p.follow()
		p.want()
		i := report()
		p.follow()
		p.want("insolvency_reported ops@example.org waiting")
		says(0, "reports that "+c.Name+" has failed", "Ceased trading", "Offices are empty", "Nothing has changed yet",
			"https://pay.example.org/dashboard/sites/demo/insolvencies/2")
		done(room.Confirm(ctx, p.Actor, i.ID, ""))
		p.Advance(11 * time.Second)
		for more := true; more; {
			var err error
			if more, err = room.Work(ctx); err != nil {
				t.Fatal(err)
			}
		}
		p.follow()
		p.want("insolvency_reported ops@example.org waiting", "insolvency ada@example.org waiting", "insolvency ada@example.org waiting")
		says(1, c.Name+" is insolvent", "none of its new payments is protected", "Offices are empty")
		says(2, c.Name+": 0 affected payments")
		done(room.CloseClaims(ctx, p.Actor, i.ID, ""))
		done(p.App.Claims.CloseInsolvency(ctx, p.Actor, i.ID, ""))
		done(room.Reinstate(ctx, p.Actor, i.ID, ""))
		p.follow()
		says(3, "claims closed")
		says(4, "insolvency closed")
		says(5, "is reinstated")
		i = report()
		done(room.Confirm(ctx, p.Actor, i.ID, ""))
		done(p.App.Claims.WithdrawInsolvency(ctx, p.Actor, i.ID, "Another company"))
		p.follow()
		if list := p.list(); len(list) != 7 {
			t.Errorf("%d mails", len(list))
		}
		says(6, c.Name+" is not insolvent")
	})
}
