package mail_test

import (
	"strings"
	"testing"

	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/testkit/apptest"
)

// TestMailsAboutADeadline: chargeback_mail hears of a dispute before it has to be answered, once, and not if it was answered meanwhile.
func TestMailsAboutADeadline(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		to := "disputes@example.org"
		p := &post{World: w.World, t: t, server: &server{}, channel: w.Channel}
		p.set(merchant.ChannelFields{Profile: merchant.ServerToServerProfile, ProcessorFields: merchant.ProcessorFields{ChargebackMail: &to}})
		p.user("ada", "ada@example.org", access.MemberAdmin)
		p.App.Mails.Addresses.Dashboard = "https://pay.example.org/dashboard"
		paid := p.Must(apptest.Pay(payment.Purchase, p.Booking(p.channel, 2000, "2030-09-14"), 1000))
		p.follow()
		before := len(p.list())
		report := func(id string, transaction int64) disputes.Case {
			t.Helper()
			made, _, err := p.App.Disputes.Create(t.Context(), p.Actor, disputes.NewReport{Report: dispute.Report{
				Source: "acquirer", CaseID: id, Stage: dispute.Chargeback, Status: dispute.Open, Day: civil.NoDay, DueOn: civil.DayOf(p.Now()) + 2,
				Amount: 1000, Currency: "EUR", Reason: "Services not provided", Clues: dispute.Clues{TransactionID: transaction, PaidOn: civil.NoDay},
			}})
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		report("A-1", paid.ID)
		report("A-2", 0)
		answered := report("A-3", paid.ID)
		for range 2 {
			if _, err := p.App.Disputes.Alert(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.App.Disputes.Challenge(t.Context(), p.Actor, answered.ID, ""); err != nil {
			t.Fatal(err)
		}
		p.follow()
		list := p.list()[before:]
		if len(list) != 2 || list[0].Recipient != to || list[1].Recipient != "ada@example.org" {
			t.Fatalf("%+v", list)
		}
		_, text, err := p.App.Mails.Get(t.Context(), p.Actor, list[0].ID)
		for _, want := range []string{
			"Answer dispute A-1 by", "a payment to " + p.channel.Name, "EUR 10.00", "Services not provided", "https://pay.example.org/dashboard/sites/demo/disputes/1",
		} {
			if err != nil || !strings.Contains(text.Subject+"\n"+text.Text, want) {
				t.Errorf("the mail does not say %q: %v\n%s\n%s", want, err, text.Subject, text.Text)
			}
		}
	})
}
