package claim_test

import (
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"

	"pgregory.net/rapid"
)

func instant(t rapid.TB, s string) time.Time {
	t.Helper()
	at, err := civil.ParseInstant(s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func rate(t rapid.TB, s string) money.Rate {
	t.Helper()
	r, err := money.ParseRate(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// failure is the insolvency of the tests: the merchant fails at noon, and this is confirmed on the next morning.
func failure(t rapid.TB) claim.Failure {
	return claim.Failure{TriggerAt: instant(t, "2026-06-10 12:00:00"), ConfirmedAt: instant(t, "2026-06-11 09:00:00")}
}

// history is a payment of EUR 1,000.00 for a journey from 2026-07-01 to 2026-07-10.
func history(t rapid.TB) protection.History {
	paid := instant(t, "2026-03-02 10:00:00")
	return protection.History{
		Allocation: protection.Allocation{
			ID: 7, TransactionID: 8, BookingID: 9, Currency: "EUR", Amount: 100_000, EffectiveAt: paid, RecordedAt: paid,
			Decision: protection.Decision{Protected: true, CoverFrom: paid}, PolicyCurrency: "GBP", PricedAt: paid,
			Quote: fx.Quote{
				From: "EUR", To: "GBP", FromLeg: fx.Leg{Currency: "EUR", Rate: money.UnitRate()},
				ToLeg: fx.Leg{Currency: "GBP", Rate: rate(t, "0.85"), Provider: fx.ECB, Day: civil.DayOf(paid) - 3},
			},
		},
		Terms: []protection.DatedTerms{{
			Terms: protection.Terms{
				Start: civil.Date(2026, 7, 1), End: civil.Date(2026, 7, 10), LastDay: civil.Date(2026, 11, 7),
			}, EffectiveAt: paid, RecordedAt: paid,
		}},
	}
}

func event(t rapid.TB, kind payment.TransactionType, amount int64, effective, recorded string) protection.Event {
	return protection.Event{Kind: kind, Amount: amount, EffectiveAt: instant(t, effective), RecordedAt: instant(t, recorded)}
}

// TestSnapshotCountsByTrigger: refunds count up to the second of the trigger, disputes only up to the day before it, and
// nothing that was learned after confirmation.
func TestSnapshotCountsByTrigger(t *testing.T) {
	for name, c := range map[string]struct {
		event protection.Event
		want  int64
	}{
		"refund by T":                            {event(t, payment.Refund, 30_000, "2026-06-10 12:00:00", "2026-06-10 12:00:00"), 70_000},
		"refund by T, learned between":           {event(t, payment.Refund, 30_000, "2026-06-10 11:00:00", "2026-06-11 09:00:00"), 70_000},
		"refund by T, learned after K":           {event(t, payment.Refund, 30_000, "2026-06-10 11:00:00", "2026-06-11 09:00:01"), 100_000},
		"refund after T":                         {event(t, payment.Refund, 30_000, "2026-06-10 12:00:01", "2026-06-10 12:00:01"), 100_000},
		"chargeback of the day before":           {event(t, payment.Chargeback, 30_000, "2026-06-09 23:59:59", "2026-06-10 07:00:00"), 70_000},
		"chargeback of T's day, reported by day": {event(t, payment.Chargeback, 30_000, "2026-06-10 00:00:00", "2026-06-10 07:00:00"), 100_000},
		"chargeback before, learned after K":     {event(t, payment.Chargeback, 30_000, "2026-06-01 00:00:00", "2026-06-12 07:00:00"), 100_000},
	} {
		h := history(t)
		h.Learn(c.event)
		line, ok := claim.Snapshot(h, failure(t), terms.RecognitionEndDate)
		if !ok || line.Remaining != c.want || line.Undelivered != c.want || !line.Eligible() {
			t.Errorf("%s: %+v, %t; N should be %d", name, line, ok, c.want)
		}
	}
}

// TestSnapshotLeavesOut: what is settled, over, or not there yet is not in the snapshot.
func TestSnapshotLeavesOut(t *testing.T) {
	for name, change := range map[string]func(h *protection.History){
		"refunded": func(h *protection.History) {
			h.Learn(event(t, payment.Refund, 100_000, "2026-05-01 00:00:00", "2026-05-01 00:00:00"))
		},
		"L before the trigger": func(h *protection.History) { h.Terms[0].LastDay = civil.Date(2026, 6, 9) },
		"paid after T":         func(h *protection.History) { h.EffectiveAt = instant(t, "2026-06-10 12:00:01") },
		"learned after K":      func(h *protection.History) { h.RecordedAt = instant(t, "2026-06-11 09:00:01") },
	} {
		h := history(t)
		change(&h)
		if line, ok := claim.Snapshot(h, failure(t), terms.RecognitionEndDate); ok {
			t.Errorf("%s: is in the snapshot: %+v", name, line)
		}
	}
	h := history(t)
	h.Terms[0].LastDay = civil.Date(2026, 6, 10)
	if _, ok := claim.Snapshot(h, failure(t), terms.RecognitionEndDate); !ok {
		t.Error("an allocation that can be disputed on the day of the trigger is not in the snapshot")
	}
}

// TestSnapshotEligible: who bears claims, and the first reason why not.
func TestSnapshotEligible(t *testing.T) {
	late := instant(t, "2026-06-10 12:00:01")
	for name, c := range map[string]struct {
		change func(h *protection.History)
		want   claim.Reason
	}{
		"eligible":                  {func(*protection.History) {}, ""},
		"recorded at T":             {func(h *protection.History) { h.RecordedAt = failure(t).TriggerAt }, ""},
		"not protected":             {func(h *protection.History) { h.Decision.Protected, h.RecordedAt = false, late }, claim.NotProtected},
		"recorded after T":          {func(h *protection.History) { h.RecordedAt = late }, claim.RecordedAfterTrigger},
		"cover after T":             {func(h *protection.History) { h.Decision.CoverFrom = late }, claim.RecordedAfterTrigger},
		"recorded after, delivered": {func(h *protection.History) { h.RecordedAt, h.Terms[0].End = late, civil.Date(2026, 6, 9) }, claim.RecordedAfterTrigger},
		"ends the day before":       {func(h *protection.History) { h.Terms[0].End = civil.Date(2026, 6, 9) }, claim.Delivered},
		"ends on the day":           {func(h *protection.History) { h.Terms[0].End = civil.Date(2026, 6, 10) }, ""},
	} {
		h := history(t)
		c.change(&h)
		if line, ok := claim.Snapshot(h, failure(t), terms.RecognitionEndDate); !ok || line.Ineligible != c.want {
			t.Errorf("%s: %q, %t; want %q", name, line.Ineligible, ok, c.want)
		}
	}
}

// TestSnapshotTerms: new travel dates count from when they take effect, if they were known, and U follows R4 on N.
func TestSnapshotTerms(t *testing.T) {
	moved := protection.DatedTerms{
		Terms:       protection.Terms{Start: civil.Date(2026, 6, 1), End: civil.Date(2026, 6, 20), LastDay: civil.Date(2026, 10, 18)},
		EffectiveAt: instant(t, "2026-06-10 12:00:00"), RecordedAt: instant(t, "2026-06-10 12:00:00"),
	}
	for name, c := range map[string]struct {
		effective, recorded string
		last                civil.Day
		undelivered         int64
	}{
		"moved by T":                  {"2026-06-10 12:00:00", "2026-06-11 09:00:00", civil.Date(2026, 10, 18), 50_000},
		"moved after T":               {"2026-06-10 12:00:01", "2026-06-10 12:00:01", civil.Date(2026, 11, 7), 100_000},
		"moved by T, learned after K": {"2026-06-10 10:00:00", "2026-06-11 09:00:01", civil.Date(2026, 11, 7), 100_000},
	} {
		h := history(t)
		moved.EffectiveAt, moved.RecordedAt = instant(t, c.effective), instant(t, c.recorded)
		h.Terms = append(h.Terms, moved)
		line, ok := claim.Snapshot(h, failure(t), terms.RecognitionLinear)
		if !ok || line.LastDay != c.last || line.Undelivered != c.undelivered {
			t.Errorf("%s: L %s, U %d, %t; want %s, %d", name, line.LastDay, line.Undelivered, ok, c.last, c.undelivered)
		}
	}
}

// TestSnapshotPending: a rate that was locked after confirmation is not in the snapshot.
func TestSnapshotPending(t *testing.T) {
	h := history(t)
	if line, _ := claim.Snapshot(h, failure(t), terms.RecognitionEndDate); !line.Priced || line.Quote != h.Quote {
		t.Errorf("%+v should have the locked rate", line)
	}
	h.PricedAt = instant(t, "2026-06-11 09:00:01")
	if line, _ := claim.Snapshot(h, failure(t), terms.RecognitionEndDate); line.Priced || line.Quote != (fx.Quote{}) {
		t.Errorf("%+v should be pending", line)
	}
}
