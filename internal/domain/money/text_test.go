package money_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"holdfast/internal/domain/money"

	"pgregory.net/rapid"
)

// currencies draws among those with each number of decimals, which a draw from the whole list would rarely reach.
var currencies = rapid.SampledFrom([]money.Currency{"EUR", "GBP", "JPY", "ISK", "KWD", "IQD", "CLF", "UYW", "COP"})

func TestFormat(t *testing.T) {
	tests := []struct {
		minor        int64
		currency     money.Currency
		pretty, text string
	}{
		{123450, "EUR", "1,234.50", "1234.50"},
		{-5, "EUR", "-0.05", "-0.05"},
		{0, "EUR", "0.00", "0.00"},
		{99999, "GBP", "999.99", "999.99"},
		{100000, "GBP", "1,000.00", "1000.00"},
		{350000, "JPY", "350,000", "350000"},
		{-350, "JPY", "-350", "-350"},
		{1234567, "KWD", "1,234.567", "1234.567"},
		{-12, "KWD", "-0.012", "-0.012"},
		{10001, "CLF", "1.0001", "1.0001"},
		{100000000000, "EUR", "1,000,000,000.00", "1000000000.00"},
		{math.MaxInt64, "JPY", "9,223,372,036,854,775,807", "9223372036854775807"},
		{math.MinInt64, "EUR", "-92,233,720,368,547,758.08", "-92233720368547758.08"},
	}
	for _, tt := range tests {
		if got := money.Format(tt.minor, tt.currency); got != tt.pretty {
			t.Errorf("Format(%d, %s) = %q, want %q", tt.minor, tt.currency, got, tt.pretty)
		}
		if got := money.FormatPlain(tt.minor, tt.currency); got != tt.text {
			t.Errorf("FormatPlain(%d, %s) = %q, want %q", tt.minor, tt.currency, got, tt.text)
		}
	}
}

func TestParsePlain(t *testing.T) {
	tests := []struct {
		text     string
		currency money.Currency
		want     int64
	}{
		{"1234.50", "EUR", 123450}, {"1234.5", "EUR", 123450}, {"1234", "EUR", 123400}, {"-0.05", "EUR", -5},
		{"-0.00", "EUR", 0}, {"007", "JPY", 7}, {"350000", "JPY", 350000}, {"0.001", "KWD", 1}, {"1.0001", "CLF", 10001},
		{"9223372036854775807", "JPY", math.MaxInt64}, {"-92233720368547758.07", "EUR", -math.MaxInt64},
	}
	for _, tt := range tests {
		if got, err := money.ParsePlain(tt.text, tt.currency); err != nil || got != tt.want {
			t.Errorf("ParsePlain(%q, %s) = %d, %v, want %d", tt.text, tt.currency, got, err, tt.want)
		}
	}
	for _, text := range []string{
		"", "-", ".", "1.", ".5", "1.234", "1,234.50", "+1", "--1", "1e3", " 1", "1 ", "0x1", "1_000", "1.2.3", "１",
	} {
		if got, err := money.ParsePlain(text, "EUR"); err == nil {
			t.Errorf("ParsePlain(%q, EUR) = %d, want an error", text, got)
		}
	}
	for _, text := range []string{"9223372036854775808", "-9223372036854775808", "99999999999999999999999", "1.0"} {
		if got, err := money.ParsePlain(text, "JPY"); err == nil {
			t.Errorf("ParsePlain(%q, JPY) = %d, want an error", text, got)
		}
	}
	if _, err := money.ParsePlain("92233720368547758.08", "EUR"); !errors.Is(err, money.ErrRange) {
		t.Errorf("error %v, want ErrRange", err)
	}
}

func TestFormatAndParseRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minor := rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "minor")
		c := currencies.Draw(t, "currency")
		plain := money.FormatPlain(minor, c)
		if back, err := money.ParsePlain(plain, c); err != nil || back != minor {
			t.Fatalf("%d %s was written %q and read %d, %v", minor, c, plain, back, err)
		}
		if got := strings.ReplaceAll(money.Format(minor, c), ",", ""); got != plain {
			t.Fatalf("Format and FormatPlain differ by more than separators: %q, %q", got, plain)
		}
	})
}

func TestRateString(t *testing.T) {
	tests := []struct {
		total    int64
		currency money.Currency
		sum      int64
		base     money.Currency
		want     string
	}{
		{5339, "GBP", 7500, "EUR", "0.71186667"},
		{7500, "EUR", 7500, "EUR", "1.00000000"},
		{350000, "JPY", 203559, "EUR", "171.94032197"},
		{203559, "EUR", 350000, "JPY", "0.00581597"},
		{1, "EUR", 3, "KWD", "3.33333333"},
		{1, "JPY", 2_000_000_000, "EUR", "0.00000005"},
		{1, "JPY", 20_000_000_001, "EUR", "0.00000000"}, // 0.000000004999…
		{1, "JPY", 20_000_000_000, "EUR", "0.00000001"}, // exactly half
		{1_000_000_000_000_000, "JPY", 1, "CLF", "10000000000000000000.00000000"},
		{-5339, "GBP", 7500, "EUR", "-0.71186667"},
		{5339, "GBP", 0, "EUR", ""},
	}
	for _, tt := range tests {
		if got := money.RateString(tt.total, tt.currency, tt.sum, tt.base); got != tt.want {
			t.Errorf("RateString(%d %s, %d %s) = %q, want %q", tt.total, tt.currency, tt.sum, tt.base, got, tt.want)
		}
	}
}

func FuzzParsePlain(f *testing.F) {
	for _, s := range []string{"1234.50", "-0.05", "350000", "0.001", "1.", ".5", "", "-", "1,000", "9223372036854775808", "1e9"} {
		for _, c := range []string{"EUR", "JPY", "KWD", "CLF"} {
			f.Add(s, c)
		}
	}
	f.Fuzz(func(t *testing.T, s, code string) {
		c, err := money.ParseCurrency(code)
		if err != nil {
			return
		}
		minor, err := money.ParsePlain(s, c)
		if err != nil {
			return
		}
		plain := money.FormatPlain(minor, c)
		if back, err := money.ParsePlain(plain, c); err != nil || back != minor {
			t.Errorf("%q was read as %d, written as %q and read as %d, %v", s, minor, plain, back, err)
		}
		if !strings.Contains(s, ".") && minor%pow(c.Exponent()) != 0 {
			t.Errorf("%q became %d: units out of nowhere", s, minor)
		}
	})
}

func pow(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

func FuzzParseCurrency(f *testing.F) {
	for _, s := range []string{"EUR", "eur", "JPY", "XXX", "XAU", "BGN", "", "EURO", "\x00UR", "€"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := money.ParseCurrency(s)
		switch {
		case err != nil && c != "":
			t.Errorf("ParseCurrency(%q) gave both %q and %v", s, c, err)
		case err != nil && len(err.Error()) > 128: // eight characters, each of which may be quoted in ten
			t.Errorf("ParseCurrency(%q) repeats too much of its input: %v", s, err)
		case err == nil && (string(c) != s || c.Exponent() > 4):
			t.Errorf("ParseCurrency(%q) = %q with %d decimals", s, c, c.Exponent())
		}
	})
}

func TestFormatSigned(t *testing.T) {
	for _, tt := range []struct {
		minor    int64
		currency money.Currency
		want     string
	}{
		{106680, "EUR", "€1,066.80"}, {-27, "GBP", "-£0.27"}, {0, "USD", "$0.00"}, {1066800, "JPY", "¥1,066,800"},
		{1066805, "KWD", "1,066.805 KWD"}, {-100, "SEK", "-1.00 SEK"}, {100, "AUD", "1.00 AUD"},
	} {
		if got := money.FormatSigned(tt.minor, tt.currency); got != tt.want {
			t.Errorf("FormatSigned(%d, %s) = %q, want %q", tt.minor, tt.currency, got, tt.want)
		}
	}
}
