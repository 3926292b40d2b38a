package claim_test

import (
	"slices"
	"strings"
	"testing"

	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"

	"pgregory.net/rapid"
)

func cosigned() terms.Cover {
	c := terms.DefaultCover()
	c.TwoSignatures = 10_000
	return c
}

// TestReviewNeedsOtherPeople: the assessor never approves, and above two_signatures two people do.
func TestReviewNeedsOtherPeople(t *testing.T) {
	assessed, refused := claim.Review{State: claim.StateOpen}.Assess(claim.Reviewer{ID: 1}, 50_000)
	if refused != "" || assessed.State != claim.StateAssessed {
		t.Fatalf("assess: %+v, %q", assessed, refused)
	}
	small, refused := assessed.Approve(claim.Reviewer{ID: 2}, 50_000, 10_000, cosigned())
	if refused != "" || small.State != claim.StateApproved {
		t.Errorf("one approval up to two_signatures: %+v, %q", small, refused)
	}
	once, refused := assessed.Approve(claim.Reviewer{ID: 2}, 50_000, 10_001, cosigned())
	if refused != "" || once.State != claim.StateAssessed || len(assessed.ApprovedBy) != 0 {
		t.Errorf("one approval above two_signatures: %+v, %q", once, refused)
	}
	twice, refused := once.Approve(claim.Reviewer{ID: 3}, 50_000, 10_001, cosigned())
	if refused != "" || twice.State != claim.StateApproved || !slices.Equal(twice.ApprovedBy, []int64{2, 3}) {
		t.Errorf("two approvals: %+v, %q", twice, refused)
	}
	for want, try := range map[claim.Refusal]func() (claim.Review, claim.Refusal){
		claim.RefusedAssessor: func() (claim.Review, claim.Refusal) {
			return assessed.Approve(claim.Reviewer{ID: 1}, 50_000, 1, cosigned())
		},
		claim.RefusedTwice: func() (claim.Review, claim.Refusal) {
			return once.Approve(claim.Reviewer{ID: 2}, 50_000, 10_001, cosigned())
		},
		claim.RefusedUnnamed: func() (claim.Review, claim.Refusal) { return assessed.Approve(claim.Reviewer{}, 50_000, 1, cosigned()) },
		claim.RefusedChanged: func() (claim.Review, claim.Refusal) {
			return assessed.Approve(claim.Reviewer{ID: 2}, 49_999, 1, cosigned())
		},
		claim.RefusedState: func() (claim.Review, claim.Refusal) { return twice.Assess(claim.Reviewer{ID: 1}, 50_000) },
	} {
		if got, refused := try(); refused != want || got.State == claim.StateApproved && want != claim.RefusedState {
			t.Errorf("%q: %+v, %q", want, got, refused)
		}
	}
	alone := claim.Reviewer{ID: 1, Alone: true}
	if r, refused := assessed.Approve(alone, 50_000, 10_001, cosigned()); refused != "" || r.State != claim.StateApproved {
		t.Errorf("alone in a sandbox: %+v, %q", r, refused)
	}
}

// TestReviewHistories: after any steps in any order, an approved claim was approved by enough people other than its assessor, at an
// amount no lower than is payable now.
func TestReviewHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, c, payable := claim.Review{State: claim.StateOpen}, cosigned(), int64(0)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			by := claim.Reviewer{ID: rapid.Int64Range(0, 3).Draw(t, "person")}
			switch rapid.SampledFrom([]string{"assess", "approve", "approve", "drop", "reopen", "change"}).Draw(t, "step") {
			case "assess":
				r, _ = r.Assess(by, payable)
			case "approve":
				r, _ = r.Approve(by, payable, payable, c)
			case "drop":
				r, _ = r.Drop(rapid.SampledFrom([]claim.State{claim.StateRejected, claim.StateWithdrawn}).Draw(t, "to"))
			case "reopen":
				r, _ = r.Reopen()
			case "change":
				payable = rapid.SampledFrom([]int64{5_000, 10_000, 20_000}).Draw(t, "payable")
				r = r.Follow(payable, rapid.Bool().Draw(t, "paid"))
			}
			if !slices.Contains(claim.States, r.State) {
				t.Fatalf("state %q", r.State)
			}
			if !r.Approved() {
				continue
			}
			need := 1
			if r.Assessed > c.TwoSignatures && payable > c.TwoSignatures {
				need = 2
			}
			people := slices.Compact(slices.Sorted(slices.Values(r.ApprovedBy)))
			if len(people) < need || slices.Contains(people, r.AssessedBy) || slices.Contains(people, 0) || payable > r.Assessed {
				t.Fatalf("approved with %d payable: %+v", payable, r)
			}
		}
	})
}

// TestPayoutIsPaidOnce: nothing leads away from paid or failed, and only a signed payout is paid.
func TestPayoutIsPaidOnce(t *testing.T) {
	allowed := map[claim.PayoutState][]claim.PayoutState{
		claim.PayoutPlanned: {claim.PayoutSigned, claim.PayoutFailed}, claim.PayoutSigned: {claim.PayoutPaid, claim.PayoutFailed},
	}
	for _, from := range claim.PayoutStates {
		for _, to := range claim.PayoutStates {
			if from.Can(to) != slices.Contains(allowed[from], to) {
				t.Errorf("from %s to %s: %t", from, to, from.Can(to))
			}
		}
		if from.Counts() != (from != claim.PayoutFailed) {
			t.Errorf("%s counts: %t", from, from.Counts())
		}
	}
}

func text(steps []protection.Step) string {
	var out strings.Builder
	for _, s := range steps {
		out.WriteString(s.Rule + " " + s.Name + ": " + s.Text + "\n")
	}
	return out.String()
}

// TestExplain: the worked numbers 2, 5 and 8, step by step.
func TestExplain(t *testing.T) {
	refund := []protection.Event{event(t, "refund", 30_000, "2026-06-12 10:00:00", "2026-06-12 10:00:00")}
	a := allocation(t, refund, dispute(1, debit(t, "2026-07-15", 50_000, 0)), dispute(2, debit(t, "2026-07-16", 50_000, 10_000)))
	want := `R13 T: the merchant failed at 2026-06-10 12:00:00; this was confirmed at 2026-06-11 09:00:00
R13 debit: 50000 on 2026-07-16, received at 2026-07-16 00:00:00, credited 10000: 40000 left
R13 loss: max(0, debits from 2026-06-10 to L = 2026-11-07 − the credits that name them) = 40000
R13 C: max(0, N_T − refunds after the trigger or recorded after confirmation, and earlier chargebacks recorded after it) = max(0, 100000 − 30000) = 70000
R13 remaining C: C − payable of earlier claims = 70000 − 50000 = 20000
R13 payable: min(loss, remaining C) = min(40000, 20000) = 20000
R13 represent: disputed − payable = 40000 − 20000 = 20000: it was refunded
`
	if got := text(claim.Explain(a, failure(t), 2)); got != want {
		t.Errorf("%s\ninstead of\n%s", got, want)
	}
	if steps := claim.Explain(a, failure(t), 3); steps != nil {
		t.Errorf("an unknown dispute: %v", steps)
	}
	toEuro := fx.Quote{From: "GBP", To: "EUR", FromLeg: fx.Leg{Currency: "GBP", Rate: rate(t, "0.80")}, ToLeg: fx.Leg{Currency: "EUR", Rate: money.UnitRate()}}
	steps, err := claim.ExplainValue(60_000, a.Quote, toEuro)
	want = `R13 in GBP: at the locked rate: round(60000 · 10^(2−2) · 0.85/1) = round(51000.000000) = 51000, half away from zero
R13 in EUR: at the fixing of the trigger: round(51000 · 10^(2−2) · 1/0.80) = round(63750.000000) = 63750, half away from zero
`
	if got := text(steps); got != want || err != nil {
		t.Errorf("%s, %v\ninstead of\n%s", got, err, want)
	}
	c := cover(50_000, 0)
	p := claim.Positions([]claim.Insolvency{insolvency(t, "2026-06-10", c, claim.Owed{Payable: 59_500, Paid: 20_000}, claim.Owed{Payable: 25_500})})[0]
	want = `R13 B: min(round(max(0, Σ payable − deductible) · (1 − coinsurance)) = round(max(0, 85000 − 10000) · 900000 / 1,000,000), merchant limit 50000) = 50000
R13 Σ covered: B = 50000
R13 covered: Σ covered · payable / Σ payable = 50000 · 25500 / 85000 = 15000, rounded so that the claims add up to Σ covered
`
	if got := text(p.Explain(c, 25_500, 1)); got != want {
		t.Errorf("%s\ninstead of\n%s", got, want)
	}
}

// TestExplainIsComplete: the steps of each claim end with payable or represent, and each reason has a text.
func TestExplainIsComplete(t *testing.T) {
	for _, r := range claim.Reasons {
		if r.Text() == "" {
			t.Errorf("%q has no text", string(r))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a := drawAllocation(t)
		for _, c := range claim.Claims(a, failure(t)) {
			steps := claim.Explain(a, failure(t), c.ID)
			last := steps[len(steps)-1].Name
			if represent := c.Represent() > 0 && !c.Dropped; last == "represent" != represent || !represent && last != "payable" {
				t.Fatalf("%+v ends with %s", c, last)
			}
			for _, s := range steps {
				if strings.HasSuffix(s.Text, ": ") || s.Text == "" {
					t.Fatalf("%+v: %s", c, text(steps))
				}
			}
		}
	})
}
