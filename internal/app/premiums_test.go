package app_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/store"
	"holdfast/internal/dbtest"
	"holdfast/internal/travel"
)

// lines reads the whole premium ledger, in the order in which it was written.
func (w *world) lines(f protection.PremiumFilter) []protection.PremiumLine {
	w.t.Helper()
	list, err := w.app.Premiums.List(w.t.Context(), w.actor, f, travel.Page{Number: 1, Size: 1000, Offset: -1})
	if err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

// move gives a booking another end.
func (w *world) move(b travel.Booking, end civil.Day) {
	w.t.Helper()
	if _, err := w.app.Bookings.Update(w.t.Context(), w.actor, b.ID, travel.BookingFields{End: &end}); err != nil {
		w.t.Fatal(err)
	}
}

// policy adds a policy.
func (w *world) policy(in travel.PolicyFields) travel.Policy {
	w.t.Helper()
	made, err := w.app.Policies.Set(w.t.Context(), w.actor, in)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

func (w *world) at(day string) { w.setClock(dayPtr(w.t, day).Start().Add(12 * time.Hour)) }

// TestThePremiumOfTheWorkedLines books the worked lines of the rules, and explains them.
func TestThePremiumOfTheWorkedLines(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.at("2024-04-09")
		w.fix("2024-04-08", map[money.Currency]string{"GBP": "0.85795"})
		b := w.booking(w.channel(travel.ModeProtectionOnly, "EUR"), 120000, "2024-08-31")
		p := w.must(report(travel.Purchase, b, 120000))
		w.at("2024-05-02")
		refund := w.must(linked(travel.Refund, p, b, 30000))
		known := w.now()
		w.at("2024-06-01")
		w.move(b, *dayPtr(t, "2024-11-30"))
		w.must(linked(travel.Chargeback, p, b, 50000))
		w.must(linked(travel.ChargebackReversal, p, b, 50000))
		w.at("2024-12-05")
		last := w.must(linked(travel.Refund, p, b, 10000))
		want := []protection.PremiumLine{
			{Kind: "original", Cause: "purchase", TransactionID: p.ID, Amount: 875, State: protection.PremiumState{Amount: 120000, Value: 102954, Lead: 144, Premium: 875}},
			{Kind: "return", Cause: "refund", TransactionID: refund.ID, Amount: -219, State: protection.PremiumState{Amount: 90000, Value: 77216, Lead: 144, Premium: 656}},
			{Kind: "additional", Cause: "re_dated", TransactionID: p.ID, Amount: 271, State: protection.PremiumState{Amount: 90000, Value: 77216, Lead: 235, Premium: 927}},
			{Kind: "return", Cause: "refund", TransactionID: last.ID, Retained: 103, State: protection.PremiumState{Amount: 80000, Value: 68636, Lead: 235, Premium: 824}},
		}
		got := w.lines(protection.PremiumFilter{})
		if len(got) != len(want) {
			t.Fatalf("%d lines: %+v", len(got), got)
		}
		for i, g := range got {
			x := want[i]
			s := g.State
			s.Line = travel.RateLine{}
			if g.Kind != x.Kind || g.Cause != x.Cause || g.TransactionID != x.TransactionID || g.Amount != x.Amount ||
				g.Retained != x.Retained || s != x.State || g.Currency != "GBP" || g.Simulated {
				t.Errorf("line %d: %+v, want %+v", i+1, g, x)
			}
		}
		if l := got[3].State.Line; l.PPM != 12000 || l.From != 181 || l.To != 365 || l.ID == 0 {
			t.Errorf("rate card line %+v", l)
		}
		w.explainsPremium(p.ID, known, 656, 656, 0, "lead: D − P = 2024-08-31 − 2024-04-09 = 144 days")
		w.explainsPremium(p.ID, w.now(), 824, 927, 103, "round(68636 · 12000 / 1,000,000) = round(823.632000) = 824",
			"π 824 − 927 = -103; nothing returns, 103 is retained", "lines 927 = premium of the state 824 + retained 103")
	})
}

// explainsPremium checks what is known of a payment's premium at an instant.
func (w *world) explainsPremium(id int64, known time.Time, premium, booked, retained int64, texts ...string) {
	w.t.Helper()
	x, err := w.app.Protection.Explain(w.t.Context(), w.actor, id, app.ProtectionQuery{Moment: app.Moment{KnownAt: known}})
	if err != nil {
		w.t.Fatal(err)
	}
	p := x.Allocations[0].Premium
	if p.State.Premium != premium || p.Booked != booked || p.Retained != retained {
		w.t.Errorf("premium %d, booked %d, retained %d; want %d, %d, %d", p.State.Premium, p.Booked, p.Retained, premium, booked, retained)
	}
	var all strings.Builder
	for _, s := range p.Steps {
		all.WriteString(s.Rule + " " + s.Name + ": " + s.Text + "\n")
	}
	for _, text := range texts {
		if !strings.Contains(all.String(), text) {
			w.t.Errorf("the steps lack %q:\n%s", text, all.String())
		}
	}
}

// TestPremiumWaitsForTheRate: logging never waits; when the rate arrives, premium is booked on what is left by then.
func TestPremiumWaitsForTheRate(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		b := w.booking(w.channel(travel.ModeProtectionOnly, "EUR"), 60000, "2024-09-14")
		p := w.must(report(travel.Purchase, b, 60000))
		w.must(linked(travel.Refund, p, b, 10000))
		w.move(b, *dayPtr(t, "2024-06-30"))
		if got := w.lines(protection.PremiumFilter{}); len(got) != 0 {
			t.Fatalf("booked without a rate: %+v", got)
		}
		w.explainsPremium(p.ID, w.now(), 0, 0, 0, "pending_rate")
		w.advance(time.Hour)
		w.fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
		got := w.lines(protection.PremiumFilter{})
		// 500.00 at 0.85365 are 426.83, of which 2,500 ppm for 27 days are 1.07.
		if len(got) != 1 || got[0].Kind != "original" || got[0].Cause != "late_fixing" || got[0].Amount != 107 ||
			got[0].State.Value != 42683 || got[0].TransactionID != p.ID {
			t.Fatalf("%+v", got)
		}
		if _, err := w.app.Rates.PricePending(t.Context()); err != nil || len(w.lines(protection.PremiumFilter{})) != 1 {
			t.Errorf("priced again: %v", err)
		}
	})
}

// TestWhatBooksNoPremium: payments that are not protected, and changes that move nothing.
func TestWhatBooksNoPremium(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		draft := w.booking(w.channel(travel.ModeDraft, "GBP"), 100000, "2024-09-14")
		p := w.must(report(travel.Purchase, draft, 50000))
		w.must(linked(travel.Refund, p, draft, 10000))
		w.move(draft, *dayPtr(t, "2025-09-14"))
		if got := w.lines(protection.PremiumFilter{}); len(got) != 0 {
			t.Fatalf("not protected: %+v", got)
		}
		w.explainsPremium(p.ID, w.now(), 0, 0, 0, "not protected")
		b := w.booking(w.channel(travel.ModeProtectionOnly, "GBP"), 100000, "2024-09-14")
		auth := w.must(report(travel.Authorize, b, 50000))
		w.must(linked(travel.Capture, auth, b, 50000))
		w.move(b, *dayPtr(t, "2024-09-15"))
		country := "ES"
		if _, err := w.app.Bookings.Update(t.Context(), w.actor, b.ID, travel.BookingFields{Country: &country}); err != nil {
			t.Fatal(err)
		}
		late := report(travel.Purchase, w.booking(w.channel(travel.ModeTest, "GBP"), 100000, "2024-06-02"), 50000)
		w.must(late)
		got := w.lines(protection.PremiumFilter{})
		if len(got) != 2 || got[0].Amount != 425 || got[0].Simulated || got[1].Amount != 0 || !got[1].Simulated || !got[1].State.NegativeLead() {
			t.Errorf("%+v", got)
		}
	})
}

// TestAPolicyChangesNothingThatWasComputed: a new policy, from whatever day, prices what is recorded after it.
func TestAPolicyChangesNothingThatWasComputed(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.channel(travel.ModeProtectionOnly, "GBP")
		b := w.booking(c, 1000000, "2024-09-14")
		p := w.must(report(travel.Purchase, b, 100000)) // 103 days: 8,500 ppm
		w.advance(time.Minute)
		known := w.now()
		w.advance(time.Minute)
		from, no, least, linear := civil.DayOf(began), false, int64(2000), travel.RecognitionLinear
		card := travel.RateCard{{To: travel.NoEnd, PPM: 100}, {ChannelID: c.ID, To: 99, PPM: 1}, {ChannelID: c.ID, From: 100, To: travel.NoEnd, PPM: 30000}}
		made := w.policy(travel.PolicyFields{From: &from, PremiumRefundable: &no, MinimumPerLine: &least, RateCard: &card, Recognition: &linear})
		w.must(linked(travel.Refund, p, b, 40000)) // under the policy that it was recorded under
		second := w.must(report(travel.Purchase, b, 100000))
		w.must(linked(travel.Refund, second, b, 40000)) // the new one returns nothing, and its least is 20.00
		var got [][2]int64
		for _, l := range w.lines(protection.PremiumFilter{}) {
			got = append(got, [2]int64{l.Amount, l.Retained})
		}
		want := [][2]int64{{850, 0}, {-340, 0}, {3000, 0}, {0, 1000}}
		for i := range want {
			if len(got) != len(want) || got[i] != want[i] {
				t.Fatalf("lines %v, want %v", got, want)
			}
		}
		x, err := w.app.Protection.Explain(t.Context(), w.actor, second.ID, app.ProtectionQuery{})
		if err != nil || x.Allocations[0].Premium.Policy.ID != made.ID || !x.Allocations[0].Premium.State.Minimum || x.Policy.Recognition != linear {
			t.Errorf("%+v, %v", x.Allocations[0].Premium, err)
		}
		x, err = w.app.Protection.Explain(t.Context(), w.actor, p.ID, app.ProtectionQuery{Moment: app.Moment{KnownAt: known}})
		if err != nil || x.Policy.Recognition != travel.RecognitionEndDate {
			t.Errorf("what was known before: %+v, %v", x.Policy, err)
		}
		list, err := w.app.Policies.List(t.Context(), w.actor, nil, travel.Page{Number: 1, Size: 10, Offset: -1, Count: true})
		if err != nil || list.Total != 2 || len(list.Items[1].RateCard) != 3 || list.Items[1].ID != made.ID {
			t.Errorf("%+v, %v", list, err)
		}
		today, err := w.app.Policies.On(t.Context(), w.actor, nil)
		if err != nil || today.ID != made.ID {
			t.Errorf("%+v, %v", today, err)
		}
		yesterday := from - 1
		if before, err := w.app.Policies.On(t.Context(), w.actor, &yesterday); err != nil || before.ID != list.Items[0].ID {
			t.Errorf("%+v, %v", before, err)
		}
	})
}

func TestANewChannelHasThePeriodOfThePolicy(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	from, week := civil.DayOf(began), "week"
	w.policy(travel.PolicyFields{From: &from, StatementPeriod: &week})
	if c := w.channel(travel.ModeDraft, "GBP"); c.StatementPeriod != week {
		t.Errorf("its period is a %s", c.StatementPeriod)
	}
}

func TestPoliciesThatAreRefused(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	from := civil.DayOf(began)
	card := append(travel.DefaultRateCard(), travel.RateLine{ChannelID: 99, To: travel.NoEnd})
	if _, err := w.app.Policies.Set(t.Context(), w.actor, travel.PolicyFields{From: &from, RateCard: &card}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a channel that there is not: %v", err)
	}
	nobody := w.actor
	nobody.Role = auth.MemberAdmin
	if _, err := w.app.Policies.Set(t.Context(), nobody, travel.PolicyFields{From: &from}); !fault.Is(err, fault.Forbidden) {
		t.Errorf("a customer: %v", err)
	}
}

// TestACorrectionBooksWhatTheLedgerLacks: a line that is wrong stays, and the difference is booked after it.
func TestACorrectionBooksWhatTheLedgerLacks(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.channel(travel.ModeProtectionOnly, "GBP")
		w.must(report(travel.Purchase, w.booking(c, 100000, "2024-09-14"), 50000))
		p := w.must(report(travel.Purchase, w.booking(c, 100000, "2024-09-14"), 100000))
		allocation := w.lines(protection.PremiumFilter{Transactions: []int64{p.ID}})[0].AllocationID
		err := w.core.Store.Write(t.Context(), func(tx *store.Tx) error {
			lines, err := store.PremiumOf(tx, w.site.ID, allocation)
			if err != nil {
				return err
			}
			wrong := lines[0]
			wrong.Kind, wrong.Amount, wrong.State.Premium = protection.PremiumAdditional, 125, wrong.State.Premium+125
			store.InsertPremium(tx, wrong)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range []struct {
			dry  bool
			want app.Correction
		}{{true, app.Correction{Checked: 2, Corrected: 1}}, {false, app.Correction{Checked: 2, Corrected: 1}}, {false, app.Correction{Checked: 2}}} {
			done, err := w.app.Premiums.Correct(t.Context(), w.actor, run.dry)
			if err != nil || done != run.want {
				t.Errorf("%+v, %v, want %+v", done, err, run.want)
			}
		}
		w.holds(p.ID, w.now())
		lines := w.lines(protection.PremiumFilter{Kinds: []protection.PremiumKind{protection.PremiumCorrection}})
		if len(lines) != 1 || lines[0].Amount != -125 || lines[0].Cause != protection.CauseCorrection {
			t.Errorf("%+v", lines)
		}
		customer := w.actor
		customer.Role = auth.MemberAdmin
		if _, err := w.app.Premiums.Correct(t.Context(), customer, true); !fault.Is(err, fault.Forbidden) {
			t.Errorf("a customer: %v", err)
		}
	})
}

// TestALockedChannelIsNotInsolvent: while a channel is locked nothing new is protected, but premium returns as ever (R2,
// R10).
func TestALockedChannelIsNotInsolvent(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.channel(travel.ModeProtectionOnly, "GBP")
		b := w.booking(c, 100_000, "2024-08-31")
		p, q := w.must(report(travel.Purchase, b, 40_000)), w.must(report(travel.Purchase, b, 60_000))
		locked := true
		if _, err := w.app.Channels.Change(t.Context(), w.actor, c.ID, travel.ChannelFields{Locked: &locked}); err != nil {
			t.Fatal(err)
		}
		w.must(linked(travel.Refund, p, b, 40_000))
		w.must(linked(travel.Refund, q, b, 60_000))
		var sum, returned int64
		for _, l := range w.lines(protection.PremiumFilter{}) {
			sum += l.Amount
			returned += min(l.Amount, 0)
		}
		if sum != 0 || returned == 0 {
			t.Errorf("the ledger comes to %d, of which %d returned", sum, returned)
		}
	})
}
