package claim_test

import (
	"testing"

	"holdfast/internal/domain/claim"
)

// TestWorkedLossRatio holds the worked loss ratios of R13.
func TestWorkedLossRatio(t *testing.T) {
	failed := claim.Account{Premium: 250_000, Payable: 85_000, Covered: 67_500, Reserve: 61_200}
	sound := claim.Account{Premium: 150_000}
	for _, w := range []struct {
		account  claim.Account
		incurred int64
		ppm      int64
		ok       bool
	}{
		{failed, 128_700, 514_800, true}, {sound, 0, 0, true}, {failed.Add(sound), 128_700, 321_750, true},
		{claim.Account{Covered: 100}, 100, 0, false}, {claim.Account{Premium: 3, Covered: 2}, 2, 666_667, true},
	} {
		ppm, ok := w.account.LossRatio()
		if ppm != w.ppm || ok != w.ok || w.account.Incurred() != w.incurred {
			t.Errorf("%+v: incurred %d, ratio %d, %t; want %d, %d, %t", w.account, w.account.Incurred(), ppm, ok, w.incurred, w.ppm, w.ok)
		}
	}
}
