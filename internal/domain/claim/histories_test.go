package claim_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"

	"pgregory.net/rapid"
)

// drawAllocation draws an allocation with events and disputes from some days before the trigger to after L.
func drawAllocation(t *rapid.T) claim.Allocation {
	h, f := history(t), failure(t)
	h.Decision.Protected = rapid.IntRange(0, 9).Draw(t, "protected") > 0
	h.Terms[0].End = f.Day() + civil.Day(rapid.Int64Range(-3, 40).Draw(t, "end"))
	h.Terms[0].LastDay = h.Terms[0].End + 120
	at := func(name string) time.Time {
		return f.TriggerAt.Add(time.Duration(rapid.Int64Range(-5*24, 200*24).Draw(t, name)) * time.Hour)
	}
	for range rapid.IntRange(0, 4).Draw(t, "events") {
		e := protection.Event{
			Kind:   rapid.SampledFrom([]payment.TransactionType{payment.Refund, payment.Chargeback, payment.ChargebackReversal}).Draw(t, "kind"),
			Amount: rapid.Int64Range(1, 60_000).Draw(t, "part"), EffectiveAt: at("effective"),
		}
		e.RecordedAt = e.EffectiveAt.Add(time.Duration(rapid.Int64Range(0, 72).Draw(t, "learned")) * time.Hour)
		h.Learn(e)
	}
	a := claim.Allocation{History: h, NotifyBy: f.TriggerAt.AddDate(0, 3, 0)}
	if rapid.Bool().Draw(t, "closed") {
		a.ClosedAt = at("closed at")
	}
	if line, ok := claim.Snapshot(h, f, terms.RecognitionEndDate); ok {
		a.Line = &line
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "disputes") {
		d := claim.Dispute{ID: int64(i), Source: rapid.SampledFrom([]string{"adyen", "stripe"}).Draw(t, "source"), Case: string(rune('a' + i))}
		d.Waits, d.Dropped = rapid.IntRange(0, 9).Draw(t, "waits") == 0, rapid.IntRange(0, 9).Draw(t, "dropped") == 0
		for range rapid.IntRange(0, 3).Draw(t, "debits") {
			debit := claim.Debit{ReceivedAt: at("received"), Amount: rapid.SampledFrom([]int64{1, 33_333, 50_000, 100_000, 130_000}).Draw(t, "debit")}
			debit.Day = civil.DayOf(debit.ReceivedAt) - civil.Day(rapid.Int64Range(0, 3).Draw(t, "days"))
			debit.Credited = rapid.SampledFrom([]int64{0, 0, 0, 1, debit.Amount}).Draw(t, "credited")
			d.Debits = append(d.Debits, debit)
		}
		a.Disputes = append(a.Disputes, d)
	}
	return a
}

// TestClaimsStayWithinTheSnapshot: no claim is negative or above its loss, all together take no more than the snapshot holds, and
// the rest has a reason.
func TestClaimsStayWithinTheSnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAllocation(t)
		room, n, total := a.Room(failure(t)), int64(0), int64(0)
		if a.Line != nil {
			n = a.Line.Remaining
		}
		for _, c := range claim.Claims(a, failure(t)) {
			total += c.Payable
			if c.Payable < 0 || c.Payable > c.Loss || c.Represent() < 0 {
				t.Fatalf("%+v", c)
			}
			if c.Payable > 0 && (!a.Line.Eligible() || c.Waits || c.Dropped) {
				t.Fatalf("payable, but should not be: %+v", c)
			}
			if known := slices.Contains(claim.Reasons, c.Reason); known != (c.Represent() > 0 && !c.Dropped) {
				t.Fatalf("%d to represent with reason %q", c.Represent(), c.Reason)
			}
		}
		if total > n || total > room {
			t.Fatalf("%d payable of %d in the snapshot, %d left", total, n, room)
		}
	})
}

// TestClaimsInAnyOrder: claims do not depend on the order in which disputes and events arrived.
func TestClaimsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAllocation(t)
		shuffled := a
		order := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		shuffled.Disputes, shuffled.Events = slices.Clone(a.Disputes), nil
		order.Shuffle(len(a.Disputes), func(i, j int) {
			shuffled.Disputes[i], shuffled.Disputes[j] = shuffled.Disputes[j], shuffled.Disputes[i]
		})
		for _, i := range order.Perm(len(a.Events)) {
			shuffled.Learn(a.Events[i])
		}
		want, got := claim.Claims(a, failure(t)), claim.Claims(shuffled, failure(t))
		for i, c := range want {
			g := got[i]
			if c.ID != g.ID || c.Loss != g.Loss || c.Payable != g.Payable || c.Represent() != g.Represent() || c.Reason != g.Reason {
				t.Fatalf("%+v, shuffled %+v", c, g)
			}
		}
	})
}

func drawYear(t *rapid.T) []claim.Insolvency {
	limits := []int64{0, 0, 1, 999, 5_000, 20_000}
	aggregate := rapid.SampledFrom(limits).Draw(t, "aggregate")
	year := make([]claim.Insolvency, rapid.IntRange(1, 4).Draw(t, "insolvencies"))
	for i := range year {
		c := terms.DefaultCover()
		c.AggregateLimit = aggregate
		c.MerchantLimit = rapid.SampledFrom(limits).Draw(t, "merchant limit")
		c.Deductible = rapid.SampledFrom([]int64{0, 1, 500, 9_000}).Draw(t, "deductible")
		c.CoinsurancePPM = rapid.SampledFrom([]int64{0, 100_000, 333_333, 1_000_000}).Draw(t, "coinsurance")
		year[i] = claim.Insolvency{
			TriggerAt: failure(t).TriggerAt.AddDate(0, 0, i), Cover: c, Closed: rapid.Bool().Draw(t, "closed"),
			Expected: rapid.Int64Range(0, 20_000).Draw(t, "expected"),
			Claims:   make([]claim.Owed, rapid.IntRange(0, 5).Draw(t, "claims")),
		}
		for j := range year[i].Claims {
			year[i].Claims[j] = claim.Owed{
				Payable: rapid.Int64Range(0, 5_000).Draw(t, "payable"), Paid: rapid.SampledFrom([]int64{0, 0, 700, 6_000}).Draw(t, "paid"),
			}
		}
	}
	return year
}

// TestCoverStaysWithinLimits: covered and expected stay within every limit, the parts of claims add up to the covered amount, and no
// part exceeds the payable amount of its claim, regardless of earlier payments.
func TestCoverStaysWithinLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		year := drawYear(t)
		var covered, incurred, under int64
		for i, p := range claim.Positions(year) {
			c := year[i].Cover
			covered, incurred, under = covered+p.Covered, incurred+p.Incurred(), under+p.UnderTerms
			if p.Covered < 0 || p.Covered > p.UnderTerms || p.UnderTerms > max(0, p.Payable-c.Deductible) ||
				c.MerchantLimit > 0 && p.Incurred() > c.MerchantLimit || p.Reserve < 0 || year[i].Closed && p.Reserve != 0 {
				t.Fatalf("%+v of %+v", p, year[i])
			}
			var sum int64
			for j, part := range p.Parts {
				sum += part
				if part < 0 || part > year[i].Claims[j].Payable || p.Overpaid[j] != max(0, year[i].Claims[j].Paid-part) {
					t.Fatalf("claim %d gets %d of %+v", j, part, year[i].Claims[j])
				}
			}
			if sum != p.Covered {
				t.Fatalf("the parts %v are %d, not %d", p.Parts, sum, p.Covered)
			}
			borne := int64(0)
			for _, share := range p.Borne(c) {
				if borne += share; share < 0 {
					t.Fatalf("borne: %v", p.Borne(c))
				}
			}
			if borne != p.Payable {
				t.Fatalf("%d are borne of %d", borne, p.Payable)
			}
		}
		if limit := year[0].Cover.AggregateLimit; limit > 0 && (incurred > limit || covered != min(under, limit)) {
			t.Fatalf("covered %d, incurred %d, under the terms %d, with an aggregate limit of %d", covered, incurred, under, limit)
		}
	})
}

// TestPayoutsFollowTheParts: however payable amounts rise and fall between payouts, no payout is negative, and when all is
// approved, each payout leaves every claim paid exactly up to its part.
func TestPayoutsFollowTheParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := drawYear(t)[0]
		y.Cover.AggregateLimit = 0
		for i := range y.Claims {
			y.Claims[i].Paid = 0
		}
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for i := range y.Claims {
				y.Claims[i].Payable = rapid.Int64Range(0, 5_000).Draw(t, "payable")
			}
			p := claim.Positions([]claim.Insolvency{y})[0]
			due := make([]claim.Due, len(y.Claims))
			for i, c := range y.Claims {
				due[i] = claim.Due{Part: p.Parts[i], Paid: c.Paid, Approved: true}
			}
			lines, total := claim.Payout(due)
			if total < 0 || (lines == nil) != (total == 0) || lines == nil && p.Covered-p.Paid > 0 {
				t.Fatalf("payout of %d with lines %v, unpaid %d", total, lines, p.Covered-p.Paid)
			}
			for i, line := range lines {
				if y.Claims[i].Paid += line; y.Claims[i].Paid != p.Parts[i] {
					t.Fatalf("claim %d is paid %d, covered %d", i, y.Claims[i].Paid, p.Parts[i])
				}
			}
		}
	})
}

// TestRecoveriesAreShared: recoveries go to the bearers in order, none gets more than it bears, and nothing is lost.
func TestRecoveriesAreShared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := drawYear(t)
		borne := claim.Positions(y)[0].Borne(y[0].Cover)
		order := rapid.Permutation(terms.Bearers).Draw(t, "order")
		recovered := rapid.Int64Range(0, 30_000).Draw(t, "recovered")
		shares, surplus := claim.ShareRecoveries(recovered, order, borne)
		total, full := surplus, true
		for _, bearer := range order {
			if total += shares[bearer]; shares[bearer] < 0 || shares[bearer] > borne[bearer] || shares[bearer] > 0 && !full {
				t.Fatalf("%d shared as %v of %v in the order %v", recovered, shares, borne, order)
			}
			full = full && shares[bearer] == borne[bearer]
		}
		if total != recovered || surplus < 0 || surplus > 0 && !full {
			t.Fatalf("%d shared as %v, surplus %d", recovered, shares, surplus)
		}
	})
}

// TestCompareIsAnOrder: disputes take in order of day, source and case.
func TestCompareIsAnOrder(t *testing.T) {
	first := claim.Dispute{ID: 9, Source: "stripe", Case: "z", Debits: []claim.Debit{debit(t, "2026-07-02", 1, 0), debit(t, "2026-07-01", 1, 0)}}
	list := []claim.Dispute{
		{ID: 1, Source: "adyen", Case: "a"},
		{ID: 2, Source: "stripe", Case: "a", Debits: []claim.Debit{debit(t, "2026-07-02", 1, 0)}},
		{ID: 3, Source: "adyen", Case: "b", Debits: []claim.Debit{debit(t, "2026-07-02", 1, 0)}},
		{ID: 4, Source: "adyen", Case: "a", Debits: []claim.Debit{debit(t, "2026-07-02", 1, 0)}}, first,
	}
	slices.SortFunc(list, claim.Dispute.Compare)
	var ids []int64
	for _, d := range list {
		ids = append(ids, d.ID)
	}
	if !slices.Equal(ids, []int64{9, 4, 3, 2, 1}) {
		t.Errorf("order %v", ids)
	}
}
