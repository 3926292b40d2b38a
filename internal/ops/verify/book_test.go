package verify_test

import (
	"context"
	"testing"
	"time"

	"holdfast/internal/book/claims"
	"holdfast/internal/book/disputes"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// aBook creates a book with something of everything, and lets the jobs process all of it except the last payment.
func aBook(t *testing.T, w *apptest.World) {
	t.Helper()
	h := apptest.NewHistory(w, 11)
	for range 5 {
		h.NewBooking()
	}
	w.Limit(protection.LimitChannel, 0, 1_000)
	w.Limit(protection.LimitBooking, 0, 1_000)
	for range 45 {
		h.Step()
	}
	channel := w.Channel(merchant.ModeProtectionOnly, money.EUR)
	b := w.Booking(channel, 90_000, "2024-12-14")
	first := w.Must(apptest.Report(payment.Purchase, b, 30_000))
	w.Must(apptest.Linked(payment.Refund, first, b, 4_000))
	w.Must(apptest.Linked(payment.Chargeback, first, b, 10_000))
	held := w.Must(apptest.Report(payment.Authorize, b, 20_000))
	w.Must(apptest.Linked(payment.Capture, held, b, 5_000))
	total := int64(95_000)
	if _, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, booking.BookingFields{Total: &total}); err != nil {
		t.Fatal(err)
	}
	w.Move(b, b.End+30)
	inPounds := apptest.Report(payment.Purchase, b, 10_000)
	pounds, converted := money.Currency("GBP"), int64(8_500)
	inPounds.Currency, inPounds.Total = &pounds, &converted
	paid := w.Must(inPounds)
	half := apptest.Linked(payment.Refund, paid, b, 4_000)
	half.Currency, half.Total = &pounds, &[]int64{3_400}[0]
	w.Must(half)
	w.Booking(channel, 1_000, "2024-12-20")
	if _, err := w.App.Certificates.Of(t.Context(), w.Actor, b.ID); err != nil {
		t.Fatal(err)
	}
	kind, amount := exposure.CollateralKinds[0], int64(500)
	_, err := w.App.Collaterals.Add(t.Context(), w.Actor, ledger.CollateralFields{
		Kind: &kind, Currency: &pounds, Amount: &amount,
	})
	if err != nil {
		t.Fatal(err)
	}
	aFailure(t, w)
	someDisputes(t, w, b)
	takesPayments(t, w)
	aLiveSite(t, w)
	w.Advance(35 * 24 * time.Hour)
	month := terms.PeriodOf(terms.PeriodMonth, civil.DayOf(w.Now()))
	month = terms.PeriodOf(terms.PeriodMonth, month.First-1)
	if made, err := w.App.Claims.Present(t.Context(), w.Actor, claims.BordereauQuery{Month: month.Name()}); err != nil || made.Rows == 0 {
		t.Fatalf("%+v, %v", made, err)
	}
	runJobs(t, w)
	payStatement(t, w)
	runJobs(t, w)
	w.Fix((civil.DayOf(w.Now()) - 1).String(), map[money.Currency]string{"GBP": "0.84441"})
	w.Must(apptest.Report(payment.Purchase, b, 7_000)) // not processed yet
}

// aFailure creates an insolvent merchant, and the snapshot of its payments.
func aFailure(t *testing.T, w *apptest.World) {
	t.Helper()
	c := w.Channel(merchant.ModeProtectionOnly, money.EUR)
	b := w.Booking(c, 70_000, "2024-12-14")
	paid := w.Must(apptest.Report(payment.Purchase, b, 70_000))
	w.Advance(time.Minute)
	kind, trigger := insolvencies.Kinds[0], w.Now()
	made, err := w.App.Insolvencies.Report(t.Context(), w.Actor, insolvencies.NewReport{
		ChannelID: &c.ID, Kind: &kind, TriggerAt: &trigger, Evidence: "Notice",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.App.Insolvencies.Confirm(t.Context(), w.Actor, made.ID, ""); err != nil {
		t.Fatal(err)
	}
	w.Advance(11 * time.Second)
	for more := true; more; {
		if more, err = w.App.Insolvencies.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.Advance(24 * time.Hour)
	w.Must(apptest.Linked(payment.Chargeback, paid, b, 50_000))
	someClaims(t, w, made.ID)
}

// someClaims has the claim of a failed merchant approved, a payout that failed and one that is signed, and a recovery.
func someClaims(t *testing.T, w *apptest.World, insolvency int64) {
	t.Helper()
	w.Advance(time.Minute)
	for _, job := range []func(ctx context.Context) (bool, error){w.App.Claims.Make, w.App.Claims.Plan} {
		for more := true; more; {
			var err error
			if more, err = job(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, room := t.Context(), w.App.Claims
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	plan := func() {
		t.Helper()
		for more := true; more; {
			var err error
			if more, err = room.Plan(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	must(room.Assess(ctx, w.Actor, 1, "Checked"))
	must(room.Approve(ctx, w.Actor, 1, ""))
	plan()
	must(room.Failed(ctx, w.Actor, 1, "Account closed"))
	plan()
	must(room.Sign(ctx, w.Actor, 2))
	kind, euros, amount := claims.RecoveryKinds[1], money.Currency("EUR"), int64(12_000)
	must(room.Recover(ctx, w.Actor, claims.NewRecovery{InsolvencyID: &insolvency, Kind: &kind, Currency: &euros, Amount: &amount}))
}

// someDisputes makes a dispute that is won, one that a person unmatches, and one whose payment is not known yet.
func someDisputes(t *testing.T, w *apptest.World, b booking.Booking) {
	t.Helper()
	in := apptest.Report(payment.Purchase, b, 6_000)
	in.AcquirerReference, in.LastFour = "74537605006000000012345", "4242"
	w.Must(in)
	report := func(id, arn string, kind dispute.Kind) disputes.Case {
		c, _, err := w.App.Disputes.Create(t.Context(), w.Actor, disputes.NewReport{Report: dispute.Report{
			Source: "acquirer", CaseID: id, Stage: dispute.Chargeback, Status: dispute.Open, Kind: kind, Day: civil.DayOf(w.Now()),
			Amount: 2_000, Currency: "EUR", DueOn: civil.DayOf(w.Now()) + 37, ReasonCode: "13.1",
			Clues: dispute.Clues{AcquirerReference: arn, LastFour: "4242", PaidOn: civil.NoDay},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	report("A-1", in.AcquirerReference, dispute.Debit)
	report("A-1", in.AcquirerReference, dispute.Credit)
	again := report("A-2", in.AcquirerReference, dispute.Debit)
	if _, err := w.App.Disputes.Unmatch(t.Context(), w.Actor, again.ID, "Another trip"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.App.Disputes.Assign(t.Context(), w.Actor, again.ID, "ana"); err != nil {
		t.Fatal(err)
	}
	report("A-3", "74537605006000000099999", dispute.Debit)
}

// takesPayments creates a channel that takes payments through a processor, with one payment waiting for its shopper.
func takesPayments(t *testing.T, w *apptest.World) {
	t.Helper()
	p := apptest.NewProcessing(t, w, merchant.ModeLive)
	b := w.Booking(p.Channel, 50_000, "2024-12-24")
	taken := w.Must(apptest.Pay(payment.Purchase, b, 9_000))
	w.Must(apptest.Linked(payment.Refund, taken, b, 2_000))
}

// aLiveSite creates a site that is not a sandbox, with a proposal and an idempotency key.
func aLiveSite(t *testing.T, w *apptest.World) {
	t.Helper()
	path, name, currency := "live", "Live", money.Currency("GBP")
	site, err := w.App.Sites.Create(t.Context(), access.System(0), merchant.SiteFields{Path: &path, Name: &name, Currency: &currency})
	if err != nil {
		t.Fatal(err)
	}
	mode := merchant.ModeDraft
	_, err = w.App.Channels.Create(t.Context(), access.System(site.ID), merchant.ChannelFields{Name: &name, Currency: &currency, Mode: &mode})
	if err != nil {
		t.Fatal(err)
	}
	err = w.App.DB.Store.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
		for _, statement := range []string{
			`INSERT INTO proposals (site_id, kind, subject, payload, reason, state, alone, proposed_by_id, proposed_by, proposed_at,
				decided_by_id, decided_by, decision_reason, result, version)
			VALUES ($1, 'limits', 'limit', '{}', '', 'open', FALSE, 3, 'ada', 5, 0, '', '', '', 1)`,
			`INSERT INTO idempotency_keys (site_id, key, request_hash, proposal_id, claimed_until, created_at)
			SELECT $1, 'k', 'h', MAX(id), 9, 5 FROM proposals`,
		} {
			if _, err := tx.Exec(statement, site.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func payStatement(t *testing.T, w *apptest.World) {
	t.Helper()
	list := w.Statements(statements.StatementFilter{})
	if len(list) < 2 {
		t.Fatalf("%d statements show too little", len(list))
	}
	on, amount, reference := civil.DayOf(w.Now()), int64(50), "BANK-1"
	_, _, err := w.App.Statements.Pay(t.Context(), w.Actor, list[0].ID, statements.StatementPaymentFields{
		PaidOn: &on, Amount: &amount, Reference: &reference,
	})
	if err != nil {
		t.Fatal(err)
	}
}
