package money

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Inside the package, because from outside the two ways of scaling are intentionally indistinguishable.
func TestScaleFastAgreesWithScaleBig(t *testing.T) {
	const maxMantissa = 999_999_999_999_999_999
	fast := 0
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Int64Range(0, math.MaxInt64).Draw(t, "a")
		mul := rapid.Uint64Range(1, maxMantissa).Draw(t, "mul")
		div := rapid.Uint64Range(1, maxMantissa).Draw(t, "div")
		shift := rapid.IntRange(-20, 20).Draw(t, "shift")
		q, ok := scaleFast(uint64(a), mul, div, shift)
		if !ok {
			return
		}
		fast++
		got, gotErr := signed(false, q)
		want, wantErr := scaleBig(a, mul, div, shift)
		if got != want || gotErr != wantErr {
			t.Fatalf("fast %d, %v, exact %d, %v", got, gotErr, want, wantErr)
		}
	})
	if fast == 0 {
		t.Error("no draw took the fast way: nothing was compared")
	}
}

func TestWhatIsPublishedTakesTheFastWay(t *testing.T) {
	// The pair that grows most: pounds at 0.87058 into rupiah at 20082.05, as large as the result still fits.
	if _, ok := scaleFast(100_000_000_000_000, 2_008_205, 87_058, 3); !ok {
		t.Error("a large amount at published rates needs the slow way")
	}
	if _, ok := scaleFast(math.MaxUint64, math.MaxInt64, 1, 0); ok {
		t.Error("an overflow went unnoticed")
	}
}
