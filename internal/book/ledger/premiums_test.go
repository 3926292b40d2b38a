package ledger_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestThePremiumOfTheWorkedLines books the worked lines of the rules, and explains them.
func TestThePremiumOfTheWorkedLines(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.At("2024-04-09")
		w.Fix("2024-04-08", map[money.Currency]string{"GBP": "0.85795"})
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 120000, "2024-08-31")
		p := w.Must(apptest.Report(payment.Purchase, b, 120000))
		w.At("2024-05-02")
		refund := w.Must(apptest.Linked(payment.Refund, p, b, 30000))
		known := w.Now()
		w.At("2024-06-01")
		w.Move(b, *apptest.DayPtr(t, "2024-11-30"))
		w.Must(apptest.Linked(payment.Chargeback, p, b, 50000))
		w.Must(apptest.Linked(payment.ChargebackReversal, p, b, 50000))
		w.At("2024-12-05")
		last := w.Must(apptest.Linked(payment.Refund, p, b, 10000))
		want := []protection.PremiumLine{
			{Kind: "original", Cause: "purchase", TransactionID: p.ID, Amount: 875, State: protection.PremiumState{Amount: 120000, Value: 102954, Lead: 144, Premium: 875}},
			{Kind: "return", Cause: "refund", TransactionID: refund.ID, Amount: -219, State: protection.PremiumState{Amount: 90000, Value: 77216, Lead: 144, Premium: 656}},
			{Kind: "additional", Cause: "re_dated", TransactionID: p.ID, Amount: 271, State: protection.PremiumState{Amount: 90000, Value: 77216, Lead: 235, Premium: 927}},
			{Kind: "return", Cause: "refund", TransactionID: last.ID, Retained: 103, State: protection.PremiumState{Amount: 80000, Value: 68636, Lead: 235, Premium: 824}},
		}
		got := w.Lines(protection.PremiumFilter{})
		if len(got) != len(want) {
			t.Fatalf("%d lines: %+v", len(got), got)
		}
		for i, g := range got {
			x := want[i]
			s := g.State
			s.Line = terms.RateLine{}
			if g.Kind != x.Kind || g.Cause != x.Cause || g.TransactionID != x.TransactionID || g.Amount != x.Amount ||
				g.Retained != x.Retained || s != x.State || g.Currency != "GBP" || g.Simulated {
				t.Errorf("line %d: %+v, want %+v", i+1, g, x)
			}
		}
		if l := got[3].State.Line; l.PPM != 12000 || l.From != 181 || l.To != 365 || l.ID == 0 {
			t.Errorf("rate card line %+v", l)
		}
		explainsPremium(t, w, p.ID, known, 656, 656, 0, "lead: D − P = 2024-08-31 − 2024-04-09 = 144 days")
		explainsPremium(t, w, p.ID, w.Now(), 824, 927, 103, "round(68636 · 12000 / 1,000,000) = round(823.632000) = 824",
			"π 824 − 927 = -103; nothing is returned, 103 is retained", "lines 927 = premium of the state 824 + retained 103")
	})
}

// TestPremiumWaitsForTheRate: logging never waits; when the rate arrives, premium is booked on the remaining amount.
func TestPremiumWaitsForTheRate(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 60000, "2024-09-14")
		p := w.Must(apptest.Report(payment.Purchase, b, 60000))
		w.Must(apptest.Linked(payment.Refund, p, b, 10000))
		w.Move(b, *apptest.DayPtr(t, "2024-06-30"))
		if got := w.Lines(protection.PremiumFilter{}); len(got) != 0 {
			t.Fatalf("booked without a rate: %+v", got)
		}
		explainsPremium(t, w, p.ID, w.Now(), 0, 0, 0, "pending_rate")
		w.Advance(time.Hour)
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
		got := w.Lines(protection.PremiumFilter{})
		// 500.00 at 0.85365 are 426.83, of which 2,500 ppm for 27 days are 1.07.
		if len(got) != 1 || got[0].Kind != "original" || got[0].Cause != "late_fixing" || got[0].Amount != 107 ||
			got[0].State.Value != 42683 || got[0].TransactionID != p.ID {
			t.Fatalf("%+v", got)
		}
		if _, err := w.App.Rates.PricePending(t.Context()); err != nil || len(w.Lines(protection.PremiumFilter{})) != 1 {
			t.Errorf("priced again: %v", err)
		}
	})
}

// TestWhatBooksNoPremium: unprotected payments, and changes without effect.
func TestWhatBooksNoPremium(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		draft := w.Booking(w.Channel(merchant.ModeDraft, "GBP"), 100000, "2024-09-14")
		p := w.Must(apptest.Report(payment.Purchase, draft, 50000))
		w.Must(apptest.Linked(payment.Refund, p, draft, 10000))
		w.Move(draft, *apptest.DayPtr(t, "2025-09-14"))
		if got := w.Lines(protection.PremiumFilter{}); len(got) != 0 {
			t.Fatalf("not protected: %+v", got)
		}
		explainsPremium(t, w, p.ID, w.Now(), 0, 0, 0, "not protected")
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 100000, "2024-09-14")
		auth := w.Must(apptest.Report(payment.Authorize, b, 50000))
		w.Must(apptest.Linked(payment.Capture, auth, b, 50000))
		w.Move(b, *apptest.DayPtr(t, "2024-09-15"))
		country := "ES"
		if _, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, booking.BookingFields{Country: &country}); err != nil {
			t.Fatal(err)
		}
		late := apptest.Report(payment.Purchase, w.Booking(w.Channel(merchant.ModeTest, "GBP"), 100000, "2024-06-02"), 50000)
		w.Must(late)
		got := w.Lines(protection.PremiumFilter{})
		if len(got) != 2 || got[0].Amount != 425 || got[0].Simulated || got[1].Amount != 0 || !got[1].Simulated || !got[1].State.NegativeLead() {
			t.Errorf("%+v", got)
		}
	})
}

// TestAPolicyChangesNothingThatWasComputed: a new policy, whatever its day, only prices later records.
func TestAPolicyChangesNothingThatWasComputed(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		b := w.Booking(c, 1000000, "2024-09-14")
		p := w.Must(apptest.Report(payment.Purchase, b, 100000)) // 103 days: 8,500 ppm
		w.Advance(time.Minute)
		known := w.Now()
		w.Advance(time.Minute)
		from, no, least, linear := civil.DayOf(apptest.Began), false, int64(2000), terms.RecognitionLinear
		card := terms.RateCard{{To: terms.NoEnd, PPM: 100}, {ChannelID: c.ID, To: 99, PPM: 1}, {ChannelID: c.ID, From: 100, To: terms.NoEnd, PPM: 30000}}
		made := w.Policy(terms.PolicyFields{From: &from, PremiumRefundable: &no, MinimumPerLine: &least, RateCard: &card, Recognition: &linear})
		w.Must(apptest.Linked(payment.Refund, p, b, 40000)) // under the policy that it was recorded under
		second := w.Must(apptest.Report(payment.Purchase, b, 100000))
		w.Must(apptest.Linked(payment.Refund, second, b, 40000)) // the new one returns nothing, and its least is 20.00
		var got [][2]int64
		for _, l := range w.Lines(protection.PremiumFilter{}) {
			got = append(got, [2]int64{l.Amount, l.Retained})
		}
		want := [][2]int64{{850, 0}, {-340, 0}, {3000, 0}, {0, 1000}}
		for i := range want {
			if len(got) != len(want) || got[i] != want[i] {
				t.Fatalf("lines %v, want %v", got, want)
			}
		}
		x, err := w.App.Protection.Explain(t.Context(), w.Actor, second.ID, report.ProtectionQuery{})
		if err != nil || x.Allocations[0].Premium.Policy.ID != made.ID || !x.Allocations[0].Premium.State.Minimum || x.Policy.Recognition != linear {
			t.Errorf("%+v, %v", x.Allocations[0].Premium, err)
		}
		x, err = w.App.Protection.Explain(t.Context(), w.Actor, p.ID, report.ProtectionQuery{Moment: ledger.Moment{KnownAt: known}})
		if err != nil || x.Policy.Recognition != terms.RecognitionEndDate {
			t.Errorf("what was known before: %+v, %v", x.Policy, err)
		}
		list, err := w.App.Policies.List(t.Context(), w.Actor, nil, store.Page{Number: 1, Size: 10, Offset: -1, Count: true})
		if err != nil || list.Total != 2 || len(list.Items[1].RateCard) != 3 || list.Items[1].ID != made.ID {
			t.Errorf("%+v, %v", list, err)
		}
		today, err := w.App.Policies.On(t.Context(), w.Actor, nil)
		if err != nil || today.ID != made.ID {
			t.Errorf("%+v, %v", today, err)
		}
		yesterday := from - 1
		if before, err := w.App.Policies.On(t.Context(), w.Actor, &yesterday); err != nil || before.ID != list.Items[0].ID {
			t.Errorf("%+v, %v", before, err)
		}
	})
}

func TestANewChannelHasThePeriodOfThePolicy(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	from, week := civil.DayOf(apptest.Began), "week"
	w.Policy(terms.PolicyFields{From: &from, StatementPeriod: &week})
	if c := w.Channel(merchant.ModeDraft, "GBP"); c.StatementPeriod != week {
		t.Errorf("its period is a %s", c.StatementPeriod)
	}
}

func TestPoliciesThatAreRefused(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	from := civil.DayOf(apptest.Began)
	card := append(terms.DefaultRateCard(), terms.RateLine{ChannelID: 99, To: terms.NoEnd})
	if _, err := w.App.Policies.Set(t.Context(), w.Actor, terms.PolicyFields{From: &from, RateCard: &card}); !errs.Is(err, errs.Invalid) {
		t.Errorf("an unknown channel: %v", err)
	}
	nobody := w.Actor
	nobody.Role = access.MemberAdmin
	if _, err := w.App.Policies.Set(t.Context(), nobody, terms.PolicyFields{From: &from}); !errs.Is(err, errs.Forbidden) {
		t.Errorf("a customer: %v", err)
	}
}

// TestACorrectionBooksWhatTheLedgerLacks: a wrong line stays, and the difference is booked after it.
func TestACorrectionBooksWhatTheLedgerLacks(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		w.Must(apptest.Report(payment.Purchase, w.Booking(c, 100000, "2024-09-14"), 50000))
		p := w.Must(apptest.Report(payment.Purchase, w.Booking(c, 100000, "2024-09-14"), 100000))
		allocation := w.Lines(protection.PremiumFilter{Transactions: []int64{p.ID}})[0].AllocationID
		err := w.App.DB.Store.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			lines, err := ledger.PremiumOf(tx, w.Site.ID, allocation)
			if err != nil {
				return err
			}
			wrong := lines[0]
			wrong.Kind, wrong.Amount, wrong.State.Premium = protection.PremiumAdditional, 125, wrong.State.Premium+125
			return ledger.InsertPremium(tx, wrong)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range []struct {
			dry  bool
			want ledger.Correction
		}{{true, ledger.Correction{Checked: 2, Corrected: 1}}, {false, ledger.Correction{Checked: 2, Corrected: 1}}, {false, ledger.Correction{Checked: 2}}} {
			done, err := w.App.Premiums.Correct(t.Context(), w.Actor, run.dry)
			if err != nil || done != run.want {
				t.Errorf("%+v, %v, want %+v", done, err, run.want)
			}
		}
		holds(t, w, p.ID, w.Now())
		lines := w.Lines(protection.PremiumFilter{Kinds: []protection.PremiumKind{protection.PremiumCorrection}})
		if len(lines) != 1 || lines[0].Amount != -125 || lines[0].Cause != protection.CauseCorrection {
			t.Errorf("%+v", lines)
		}
		customer := w.Actor
		customer.Role = access.MemberAdmin
		if _, err := w.App.Premiums.Correct(t.Context(), customer, true); !errs.Is(err, errs.Forbidden) {
			t.Errorf("a customer: %v", err)
		}
	})
}

// TestALockedChannelIsNotInsolvent: while a channel is locked nothing new is protected, but premium returns as ever (R2,
// R10).
func TestALockedChannelIsNotInsolvent(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		b := w.Booking(c, 100_000, "2024-08-31")
		p, q := w.Must(apptest.Report(payment.Purchase, b, 40_000)), w.Must(apptest.Report(payment.Purchase, b, 60_000))
		locked := true
		if _, err := w.App.Channels.Change(t.Context(), w.Actor, c.ID, merchant.ChannelFields{Locked: &locked}); err != nil {
			t.Fatal(err)
		}
		w.Must(apptest.Linked(payment.Refund, p, b, 40_000))
		w.Must(apptest.Linked(payment.Refund, q, b, 60_000))
		var sum, returned int64
		for _, l := range w.Lines(protection.PremiumFilter{}) {
			sum += l.Amount
			returned += min(l.Amount, 0)
		}
		if sum != 0 || returned == 0 {
			t.Errorf("the ledger comes to %d, of which %d returned", sum, returned)
		}
	})
}

// explainsPremium checks the explanation of a payment's premium at an instant.
func explainsPremium(t *testing.T, w *apptest.World, id int64, known time.Time, premium, booked, retained int64, texts ...string) {
	t.Helper()
	x, err := w.App.Protection.Explain(t.Context(), w.Actor, id, report.ProtectionQuery{Moment: ledger.Moment{KnownAt: known}})
	if err != nil {
		t.Fatal(err)
	}
	p := x.Allocations[0].Premium
	if p.State.Premium != premium || p.Booked != booked || p.Retained != retained {
		t.Errorf("premium %d, booked %d, retained %d; want %d, %d, %d", p.State.Premium, p.Booked, p.Retained, premium, booked, retained)
	}
	var all strings.Builder
	for _, s := range p.Steps {
		all.WriteString(s.Rule + " " + s.Name + ": " + s.Text + "\n")
	}
	for _, text := range texts {
		if !strings.Contains(all.String(), text) {
			t.Errorf("the steps lack %q:\n%s", text, all.String())
		}
	}
}
