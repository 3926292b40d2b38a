package disputes_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/disputefile"
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

// A reference of an authorisation means its capture of the disputed amount. With two of them, neither is matched (R14).
func TestAReferenceOfAnAuthorisationMatchesOneCapture(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		channel := w.Channel(merchant.ModeProtectionOnly, "EUR")
		for i, parts := range [][]int64{{500, 1000}, {1000, 1000}} {
			b := w.Booking(channel, 2000, "2024-09-14")
			in := apptest.Report(payment.Authorize, b, 2000)
			in.ProcessorReference = fmt.Sprintf("auth-%d", i)
			a := w.Must(in)
			var captures []payment.Transaction
			for _, part := range parts {
				captures = append(captures, w.Must(apptest.Linked(payment.Capture, a, b, part)))
			}
			want := captures[1].ID
			if parts[0] == parts[1] {
				want = 0
			}
			r := reported(w, in.ProcessorReference, dispute.Clues{ProcessorReference: in.ProcessorReference})
			c, _, err := w.App.Disputes.Create(t.Context(), w.Actor, disputes.NewReport{Report: r})
			if err != nil || c.TransactionID != want {
				t.Errorf("captures of %v: matched with %d, want %d; %v", parts, c.TransactionID, want, err)
			}
		}
	})
}

// A payment that many waiting disputes may be about is tried with all of them, 200 in each write, also those that were changed since.
func TestAPaymentIsTriedWithAllThatWait(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		const waiting = 450
		var file strings.Builder
		file.WriteString("case,day,amount,last_four\n")
		for i := range waiting {
			fmt.Fprintf(&file, "D-%d,%s,1000,4242\n", i, civil.DayOf(w.Now()))
		}
		mapping := &disputefile.Mapping{
			Source: "acquirer", Units: "minor", Currency: "EUR", Columns: map[string]string{"case_id": "case", "day": "day", "amount": "amount", "last_four_digits": "last_four"},
			Always: &disputefile.Meaning{Stage: dispute.Chargeback, Status: dispute.Open, Money: "debit"},
		}
		if _, err := w.App.Disputes.ImportFile(t.Context(), w.Actor, strings.NewReader(file.String()), disputefile.Options{Mapping: mapping}, false); err != nil {
			t.Fatal(err)
		}
		in := apptest.Report(payment.Purchase, w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 2000, "2024-09-14"), 1000)
		in.LastFour = "4242"
		w.Must(in)
		w.Advance(time.Minute)
		if _, err := w.App.Disputes.Note(t.Context(), w.Actor, 400, "Called the hotel"); err != nil {
			t.Fatal(err)
		}
		for _, want := range []int64{200, 400, waiting} {
			if more, err := w.App.Disputes.Retry(t.Context()); err != nil || !more {
				t.Fatalf("more is %t, %v", more, err)
			}
			n, err := w.App.Disputes.Count(t.Context(), w.Actor, disputes.Filter{})
			if err != nil || n.Matching[dispute.Queued] != want {
				t.Fatalf("%d have a candidate, want %d; %v", n.Matching[dispute.Queued], want, err)
			}
		}
		if more, err := w.App.Disputes.Retry(t.Context()); err != nil || more {
			t.Errorf("all were tried, but more is %t, %v", more, err)
		}
	})
}

// Auth codes are compared without case: 40 + last four 20 + BIN 15 + part of the amount 8 + day within three 5 = 88 points (R14).
func TestAuthCodesIgnoreCase(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		in := apptest.Report(payment.Purchase, w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 2000, "2024-09-14"), 1500)
		in.LastFour, in.BIN, in.AuthCode = "4242", "424242", "A1B2C3"
		paid := w.Must(in)
		r := reported(w, "A-1", dispute.Clues{LastFour: "4242", BIN: "42424242", AuthCode: "a1b2c3"})
		r.Clues.PaidOn = civil.DayOf(w.Now()) - 2
		c, _, err := w.App.Disputes.Create(t.Context(), w.Actor, disputes.NewReport{Report: r})
		if err != nil || c.TransactionID != paid.ID || c.Score != 88 {
			t.Errorf("matched with %d, %d points; %v", c.TransactionID, c.Score, err)
		}
	})
}
