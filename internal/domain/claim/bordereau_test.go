package claim_test

import (
	"testing"

	"holdfast/internal/domain/claim"
)

// TestWorkedBordereau holds the worked months of the claims bordereau of R13.
func TestWorkedBordereau(t *testing.T) {
	var paid int64
	for _, m := range []struct {
		covered, now int64
		want         claim.Reported
	}{
		{67_500, 0, claim.Reported{Reserve: 67_500}},
		{36_900, 0, claim.Reported{Reserve: 36_900}},
		{36_900, 36_900, claim.Reported{Paid: 36_900}},
		{21_600, 36_900, claim.Reported{Previously: 36_900, Reserve: -15_300}},
	} {
		got := claim.Report(m.covered, paid, m.now)
		if got != m.want || got.Incurred() != m.covered {
			t.Errorf("%+v, incurred %d, want %+v", got, got.Incurred(), m.want)
		}
		paid = m.now
	}
	if (claim.Reported{Reserve: 1}).Settled(claim.StatePaid) || !(claim.Reported{Paid: 1}).Settled(claim.StatePaid) ||
		!(claim.Reported{Reserve: 1}).Settled(claim.StateRejected) || (claim.Reported{}).Settled(claim.StateApproved) {
		t.Error("settled: rejected, withdrawn, or paid with nothing reserved")
	}
}
