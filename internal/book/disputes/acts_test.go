package disputes_test

import (
	"testing"

	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/testkit/apptest"
)

// A person chooses one of two payments, undoes that, and chooses the other one.
func TestAPersonMatchesAndUndoes(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		channel := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b := w.Booking(channel, 2000, "2024-09-14")
		in := apptest.Report(payment.Purchase, b, 1000)
		in.LastFour, in.BIN = "4242", "424242"
		first := w.Must(in)
		second := w.Must(in)
		report := dispute.Report{
			Source: "acquirer", CaseID: "A-1", Stage: dispute.Chargeback, Status: dispute.Open, Kind: dispute.Debit, Day: civil.DayOf(w.Now()),
			Amount: 1000, Currency: "EUR", DueOn: civil.NoDay, Clues: dispute.Clues{LastFour: "4242", PaidOn: civil.DayOf(w.Now())},
		}
		c, created, err := w.App.Disputes.Create(t.Context(), w.Actor, disputes.NewReport{Report: report})
		if err != nil || !created || c.Matching != dispute.Queued || len(c.Candidates) != 2 || c.Debits != 0 {
			t.Fatalf("%+v, %v", c, err)
		}
		if _, err := w.App.Disputes.Match(t.Context(), w.Actor, c.ID, disputes.Choice{TransactionID: first.ID}); !errs.Is(err, errs.Missing) {
			t.Errorf("without a reason: %v", err)
		}
		left := func(id int64) int64 { return w.ReadTransaction(id).TotalRemaining() }
		if c, err = w.App.Disputes.Match(t.Context(), w.Actor, c.ID, disputes.Choice{TransactionID: first.ID, Reason: "The traveller named it."}); err != nil || c.Debits != 1000 || left(first.ID) != 0 {
			t.Fatalf("%+v, %v", c, err)
		}
		if _, err := w.App.Disputes.Match(t.Context(), w.Actor, c.ID, disputes.Choice{TransactionID: second.ID, Reason: "Again."}); !errs.Is(err, errs.ActionNotPossible) {
			t.Errorf("it is matched: %v", err)
		}
		if c, err = w.App.Disputes.Unmatch(t.Context(), w.Actor, c.ID, "It was the other trip."); err != nil || c.Matching != dispute.Queued || left(first.ID) != 1000 {
			t.Fatalf("%+v, %v", c, err)
		}
		if got := w.ReadTransaction(first.ID); got.Status != payment.StatusComplete || len(got.Disputes) != 0 {
			t.Errorf("it is %s, %+v", got.Status, got.Disputes)
		}
		if c, err = w.App.Disputes.Match(t.Context(), w.Actor, c.ID, disputes.Choice{TransactionID: second.ID, Reason: "This one."}); err != nil || left(second.ID) != 0 || left(first.ID) != 1000 {
			t.Fatalf("%+v, %v", c, err)
		}
		report.Status, report.Kind, report.Amount, report.Currency = dispute.Lost, dispute.NoMoney, 0, ""
		if c, err = w.App.Disputes.AddEvent(t.Context(), w.Actor, c.ID, disputes.NewReport{Report: report}); err != nil || c.Status != dispute.Lost || c.Debits != 1000 {
			t.Errorf("%+v, %v", c, err)
		}
		if _, err := w.App.Disputes.Challenge(t.Context(), w.Actor, c.ID, ""); !errs.Is(err, errs.ActionNotPossible) {
			t.Errorf("it is lost: %v", err)
		}
	})
}
