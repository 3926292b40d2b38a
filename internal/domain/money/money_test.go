package money_test

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"

	"pgregory.net/rapid"
)

func TestExponentsAreThoseOfTheLists(t *testing.T) {
	want := map[money.Currency]int{
		"EUR": 2, "GBP": 2, "USD": 2, "JPY": 0, "ISK": 0, "KRW": 0, "VND": 0, "XOF": 0, "UYI": 0,
		"KWD": 3, "BHD": 3, "TND": 3, "CLF": 4, "UYW": 4,
		// Currencies for which locale tables differ.
		"COP": 2, "IDR": 2, "IQD": 3, "HUF": 2, "IRR": 2, "LBP": 2, "MGA": 2, "PKR": 2, "RSD": 2, "UGX": 0,
	}
	for c, exponent := range want {
		if got := c.Exponent(); got != exponent {
			t.Errorf("%s has %d decimals, want %d", c, got, exponent)
		}
	}
	counts := map[int]int{}
	for _, c := range money.Currencies() {
		counts[c.Exponent()]++
	}
	if counts[0] != 18 || counts[2] != 152 || counts[3] != 7 || counts[4] != 2 || len(counts) != 4 {
		t.Errorf("currencies by number of decimals: %v", counts)
	}
}

func TestCurrenciesAreSortedCodes(t *testing.T) {
	all := money.Currencies()
	if !slices.IsSorted(all) {
		t.Error("not sorted")
	}
	for _, c := range all {
		if got, err := money.ParseCurrency(string(c)); err != nil || got != c || len(c) != 3 {
			t.Errorf("ParseCurrency(%q) = %q, %v", c, got, err)
		}
	}
}

// TestWithdrawnCurrencies: their payments may be disputed for a long time, so they are supported, each with its last
// day.
func TestWithdrawnCurrencies(t *testing.T) {
	on := func(text string) civil.Day {
		d, err := civil.ParseDay(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for c, want := range map[money.Currency]struct {
		last     string
		decimals int
	}{"BGN": {"2025-12-31", 2}, "HRK": {"2022-12-31", 2}, "LTL": {"2014-12-31", 2}, "TRL": {"2004-12-31", 0}} {
		if got, err := money.ParseCurrency(string(c)); err != nil || got.Exponent() != want.decimals {
			t.Errorf("%s: %v", c, err)
		}
		last := on(want.last)
		if _, yes := c.Withdrawn(last); yes {
			t.Errorf("%s is withdrawn on its last day", c)
		}
		if got, yes := c.Withdrawn(last + 1); !yes || got != last {
			t.Errorf("%s was last used on %s, want %s", c, got, last)
		}
	}
	if last, yes := money.EUR.Withdrawn(on("2099-12-31")); yes || last != civil.NoDay {
		t.Errorf("the euro is withdrawn on %s", last)
	}
}

func TestParseCurrencyRefuses(t *testing.T) {
	for _, s := range []string{"", "eur", "Eur", "EURO", " EUR", "XXQ", "XXX", "XTS", "XAU", "XDR", "DEM", "978"} {
		if c, err := money.ParseCurrency(s); err == nil {
			t.Errorf("ParseCurrency(%q) = %q, want an error", s, c)
		}
	}
	_, err := money.ParseCurrency("XXQ")
	if want := `"XXQ" is not an ISO 4217 currency`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestExponentOfAnUnknownCodePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic: the exponent was guessed")
		}
	}()
	_ = money.Currency("DEM").Exponent()
}

func TestRound(t *testing.T) {
	tests := []struct{ num, den, want int64 }{
		{5, 2, 3}, {-5, 2, -3}, {5, -2, -3}, {-5, -2, 3}, {4, 3, 1}, {-4, 3, -1}, {1, 2, 1}, {-1, 2, -1},
		{499, 1000, 0}, {-499, 1000, 0}, {500, 1000, 1}, {0, 7, 0}, {math.MaxInt64, 1, math.MaxInt64},
	}
	for _, tt := range tests {
		got, err := money.Round(big.NewInt(tt.num), big.NewInt(tt.den))
		if err != nil || got != tt.want {
			t.Errorf("Round(%d/%d) = %d, %v, want %d", tt.num, tt.den, got, err, tt.want)
		}
	}
	over := new(big.Int).Lsh(big.NewInt(1), 63)
	for _, num := range []*big.Int{over, new(big.Int).Neg(over)} {
		if got, err := money.Round(num, big.NewInt(1)); !errors.Is(err, money.ErrRange) {
			t.Errorf("Round(%s/1) = %d, %v, want ErrRange", num, got, err)
		}
	}
}

func TestRoundIsNearestAndSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num, den := rapid.Int64().Draw(t, "num"), rapid.Int64Range(1, math.MaxInt64).Draw(t, "den")
		q, err := money.Round(big.NewInt(num), big.NewInt(den))
		if num == math.MinInt64 && den == 1 {
			if !errors.Is(err, money.ErrRange) {
				t.Fatalf("%d, %v, want ErrRange", q, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		// |num − q·den| is at most den/2, and where it is exactly that, q lies further from zero.
		rest := new(big.Int).Sub(big.NewInt(num), new(big.Int).Mul(big.NewInt(q), big.NewInt(den)))
		switch twice := new(big.Int).Lsh(rest, 1); twice.CmpAbs(big.NewInt(den)) {
		case 1:
			t.Fatalf("%d/%d became %d", num, den, q)
		case 0:
			if rest.Sign() == big.NewInt(num).Sign() {
				t.Fatalf("%d/%d became %d, towards zero", num, den, q)
			}
		}
		mirrored, err := money.Round(new(big.Int).Neg(big.NewInt(num)), big.NewInt(den))
		if err != nil || mirrored != -q {
			t.Fatalf("%d/%d became %d, its mirror %d, %v", num, den, q, mirrored, err)
		}
	})
}

func TestSplit(t *testing.T) {
	tests := []struct {
		name    string
		total   int64
		weights []int64
		want    []int64
	}{
		{"even", 100, []int64{1, 1}, []int64{50, 50}},
		{"tie goes to the first", 101, []int64{1, 1}, []int64{51, 50}},
		{"largest remainder", 100, []int64{1, 1, 1}, []int64{34, 33, 33}},
		{"not by position", 10, []int64{1, 8, 2}, []int64{1, 7, 2}},
		{"refund mirrors", -101, []int64{1, 1}, []int64{-51, -50}},
		{"zero weight gets nothing", 7, []int64{0, 3, 0}, []int64{0, 7, 0}},
		{"all zero is equal", 7, []int64{0, 0}, []int64{4, 3}},
		{"nothing to give", 0, []int64{3, 4}, []int64{0, 0}},
		{"nobody", 0, nil, nil},
		{"products beyond 64 bits", math.MaxInt64, []int64{math.MaxInt64, math.MaxInt64}, []int64{1 << 62, 1<<62 - 1}},
		{"smallest amount", math.MinInt64, []int64{1, 1}, []int64{-(1 << 62), -(1 << 62)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := money.Split(tt.total, tt.weights); !slices.Equal(got, tt.want) {
				t.Errorf("Split(%d, %v) = %v, want %v", tt.total, tt.weights, got, tt.want)
			}
		})
	}
}

func TestSplitRefusesWhatCannotBeSplit(t *testing.T) {
	for _, weights := range [][]int64{nil, {}, {1, -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Split(1, %v) did not panic", weights)
				}
			}()
			money.Split(1, weights)
		}()
	}
}

func TestSplitSumsAndStaysNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64().Draw(t, "total")
		weights := rapid.SliceOfN(rapid.Int64Range(0, math.MaxInt64), 1, 20).Draw(t, "weights")
		parts := money.Split(total, weights)
		sum, weight := new(big.Int), new(big.Int)
		for i := range parts {
			sum.Add(sum, big.NewInt(parts[i]))
			weight.Add(weight, big.NewInt(weights[i]))
		}
		if sum.Cmp(big.NewInt(total)) != 0 {
			t.Fatalf("parts %v sum to %s, not %d", parts, sum, total)
		}
		for i := range parts {
			// No part is a whole unit or more away from its exact share: |part·weight − total·w| < weight.
			off := new(big.Int).Mul(big.NewInt(parts[i]), weight)
			off.Sub(off, new(big.Int).Mul(big.NewInt(total), big.NewInt(weights[i])))
			if weight.Sign() > 0 && off.CmpAbs(weight) >= 0 {
				t.Fatalf("part %d of %v is a unit off", i, parts)
			}
		}
	})
}
