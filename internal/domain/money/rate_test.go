package money_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"holdfast/internal/domain/money"

	"pgregory.net/rapid"
)

func rate(t testing.TB, s string) money.Rate {
	t.Helper()
	r, err := money.ParseRate(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParseRateKeepsThePublishedText(t *testing.T) {
	tests := []struct {
		text     string
		num, den int64
	}{
		{"0.85365", 85365, 100000}, {"1.10", 11, 10}, {"13168", 13168, 1}, {"0.000000000001", 1, 1_000_000_000_000},
		{"999999999999999999", 999999999999999999, 1}, {"1", 1, 1}, {"1.0", 1, 1},
	}
	for _, tt := range tests {
		r := rate(t, tt.text)
		if r.String() != tt.text || r.Rat().Cmp(big.NewRat(tt.num, tt.den)) != 0 || r.IsZero() {
			t.Errorf("ParseRate(%q) = %q, %s", tt.text, r, r.Rat())
		}
	}
	if b, err := json.Marshal(rate(t, "1.10")); err != nil || string(b) != `"1.10"` {
		t.Errorf("in JSON %s, %v", b, err)
	}
	if money.UnitRate() != rate(t, "1") || !(money.Rate{}).IsZero() {
		t.Error("the unit rate is not 1, or the zero rate is a rate")
	}
}

func TestParseRateRefuses(t *testing.T) {
	for _, s := range []string{
		"", "0", "0.0", "0.000000000000", "-1", "+1", "1.", ".5", "01.5", "00.5", "1,5", "1e3", "N/A", "NaN", " 1", "1 ",
		"1.2.3", "1234567890123456789", "0.0000000000001", "1234567.123456789012", "0x10", "1/2",
	} {
		if r, err := money.ParseRate(s); err == nil {
			t.Errorf("ParseRate(%q) = %s, want an error", s, r)
		}
	}
}

func TestConvert(t *testing.T) {
	tests := []struct {
		name       string
		amount     int64
		from, to   money.Currency
		rFrom, rTo string
		want       int64
	}{
		// The worked lines of the rules of protection.
		{"one leg", 60000, "EUR", "GBP", "1", "0.85365", 51219},
		{"two legs, no decimals to two", 350000, "JPY", "GBP", "171.94", "0.84638", 172289},
		{"before the refund", 120000, "EUR", "GBP", "1", "0.85795", 102954},
		{"after the refund", 90000, "EUR", "GBP", "1", "0.85795", 77216},
		{"after the second", 80000, "EUR", "GBP", "1", "0.85795", 68636},

		{"exactly half goes up", 1, "EUR", "USD", "1", "0.5", 1},
		{"exactly half goes down", -1, "EUR", "USD", "1", "0.5", -1},
		{"just under half", 1, "EUR", "USD", "1", "0.499999999999", 0},
		{"two decimals to three", 1, "EUR", "KWD", "1", "0.35", 4},
		{"three decimals to none", 1499, "KWD", "JPY", "1", "1", 1},
		{"none to four", 7, "JPY", "CLF", "1", "1", 70000},
		{"itself without rates", -12345, "GBP", "GBP", "", "", -12345},
		{"nothing", 0, "JPY", "GBP", "171.94", "0.84638", 0},
		{"beyond 128 bits on the way", 1_000_000_000_000_000, "CLF", "JPY", "999999999999999999", "999999999999999999", 100_000_000_000},
		{"tiny rates", 1_000_000_000, "EUR", "USD", "0.000000000001", "0.000000000001", 1_000_000_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var rFrom, rTo money.Rate
			if tt.rFrom != "" {
				rFrom, rTo = rate(t, tt.rFrom), rate(t, tt.rTo)
			}
			got, err := money.Convert(tt.amount, tt.from, tt.to, rFrom, rTo)
			if err != nil || got != tt.want {
				t.Errorf("got %d, %v, want %d", got, err, tt.want)
			}
		})
	}
}

func TestConvertRefuses(t *testing.T) {
	one := money.UnitRate()
	tests := []struct {
		name       string
		amount     int64
		from, to   money.Currency
		rFrom, rTo money.Rate
		tooLarge   bool
	}{
		{"no rate from", 1, "EUR", "GBP", money.Rate{}, one, false},
		{"no rate to", 1, "EUR", "GBP", one, money.Rate{}, false},
		{"unknown from", 1, "DEM", "GBP", one, one, false},
		{"unknown to", 1, "EUR", "", one, one, false},
		{"unknown into itself", 1, "DEM", "DEM", one, one, false},
		{"one too large", math.MaxInt64, "EUR", "GBP", one, rate(t, "1.000000000001"), true},
		{"far too large", math.MaxInt64, "JPY", "CLF", rate(t, "0.000000000001"), rate(t, "999999999999999999"), true},
		{"far too small", -math.MaxInt64, "JPY", "CLF", one, one, true},
		{"no mirror", math.MinInt64, "EUR", "GBP", one, one, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := money.Convert(tt.amount, tt.from, tt.to, tt.rFrom, tt.rTo)
			if err == nil || errors.Is(err, money.ErrRange) != tt.tooLarge {
				t.Errorf("got %d, %v", got, err)
			}
		})
	}
}

// rates draws digits first and then the position of the decimal point, so that all lengths and edge cases occur.
var rates = rapid.Custom(func(t *rapid.T) money.Rate {
	digits := rapid.StringMatching(`[1-9][0-9]{0,17}`).Draw(t, "digits")
	decimals := rapid.IntRange(0, 12).Draw(t, "decimals")
	if missing := decimals + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	text := digits
	if decimals > 0 {
		text = digits[:len(digits)-decimals] + "." + digits[len(digits)-decimals:]
	}
	r, err := money.ParseRate(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
})

func TestConvertIsTheExactRationalRoundedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "amount")
		from, to := currencies.Draw(t, "from"), currencies.Draw(t, "to")
		rFrom, rTo := rates.Draw(t, "rate from"), rates.Draw(t, "rate to")
		exact := new(big.Rat).Mul(new(big.Rat).SetInt64(amount), new(big.Rat).Quo(rTo.Rat(), rFrom.Rat()))
		exact.Mul(exact, big.NewRat(pow(to.Exponent()), pow(from.Exponent())))
		if from == to {
			exact.SetInt64(amount)
		}
		want, wantErr := money.Round(exact.Num(), exact.Denom())
		got, err := money.Convert(amount, from, to, rFrom, rTo)
		if got != want || !errors.Is(err, wantErr) {
			t.Fatalf("got %d, %v, want %d, %v", got, err, want, wantErr)
		}
		mirrored, err := money.Convert(-amount, from, to, rFrom, rTo)
		if mirrored != -want || !errors.Is(err, wantErr) {
			t.Fatalf("mirrored %d, %v, want %d, %v", mirrored, err, -want, wantErr)
		}
	})
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"0.85365", "171.94", "1", "13168", "0", "0.0", "N/A", "", ".5", "5.", "1e5", "-1", "007", "999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := money.ParseRate(s)
		if err != nil {
			if len(err.Error()) > 300 { // 24 characters, each of which may be quoted in ten
				t.Errorf("the error repeats too much of its input: %v", err)
			}
			return
		}
		exact, ok := new(big.Rat).SetString(s)
		if !ok || r.String() != s || r.Rat().Cmp(exact) != 0 || exact.Sign() <= 0 {
			t.Errorf("ParseRate(%q) = %q, %s", s, r, r.Rat())
		}
	})
}

func BenchmarkConvert(b *testing.B) {
	jpy, gbp := rate(b, "171.94"), rate(b, "0.84638")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := money.Convert(350000, "JPY", "GBP", jpy, gbp); err != nil {
			b.Fatal(err)
		}
	}
}
