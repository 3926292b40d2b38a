package disputes_test

import (
	"fmt"
	"testing"

	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/testkit/apptest"
)

// reported is a debit of EUR 10.00 today.
func reported(w *apptest.World, caseID string, clues dispute.Clues) dispute.Report {
	clues.PaidOn = civil.NoDay
	return dispute.Report{
		Source: "acquirer", CaseID: caseID, Stage: dispute.Chargeback, Status: dispute.Open, Kind: dispute.Debit, Day: civil.DayOf(w.Now()),
		Amount: 1000, Currency: "EUR", DueOn: civil.NoDay, Clues: clues,
	}
}

// A reference that two payments have matches none of them, until the report names the channel of one (R14).
func TestAReferenceMatchesIfItIsUnique(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		var paid []payment.Transaction
		for _, name := range []string{"Sun Tours", "Moon Tours"} {
			currency, mode := money.Currency("EUR"), merchant.ModeProtectionOnly
			channel, err := w.App.Channels.Create(t.Context(), w.Actor, merchant.ChannelFields{Name: &name, Currency: &currency, Mode: &mode})
			if err != nil {
				t.Fatal(err)
			}
			in := apptest.Report(payment.Purchase, w.Booking(channel, 2000, "2024-09-14"), 1000)
			in.Reference, in.ProcessorReference, in.AcquirerReference = "R-7", "psp-7", "12345678901234567890123"
			paid = append(paid, w.Must(in))
		}
		for rule, clues := range map[dispute.Rule]dispute.Clues{
			dispute.ByAcquirerReference:  {AcquirerReference: "12345678901234567890123"},
			dispute.ByProcessorReference: {ProcessorReference: "psp-7"},
			dispute.ByPaymentReference:   {PaymentReference: "R-7"},
		} {
			r := reported(w, fmt.Sprintf("A-%s", rule), clues)
			c, _, err := w.App.Disputes.Create(t.Context(), w.Actor, disputes.NewReport{Report: r})
			if err != nil || c.Matching != dispute.Unmatched || c.TransactionID != 0 || c.Debits != 0 {
				t.Fatalf("%s: matched with %d, %s, %d; %v", rule, c.TransactionID, c.Matching, c.Debits, err)
			}
			r.Merchant = "Moon Tours"
			c, _, err = w.App.Disputes.Create(t.Context(), w.Actor, disputes.NewReport{Report: r})
			if err != nil || c.TransactionID != paid[1].ID || c.Rule != rule || c.Debits == 0 {
				t.Errorf("%s, channel named: matched with %d by %q; %v", rule, c.TransactionID, c.Rule, err)
			}
		}
	})
}
