package protection_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"

	"pgregory.net/rapid"
)

func booked(kind string, lines, amount, retained int64, taxes ...terms.TaxCode) protection.BookedSum {
	return protection.BookedSum{
		StatementSum: protection.StatementSum{Kind: kind, Lines: lines, Amount: amount, Retained: retained}, Taxes: taxes,
	}
}

func TestSettle(t *testing.T) {
	ipt := terms.TaxCode{Code: "IPT", Label: "Insurance premium tax", RatePPM: 120_000}
	dearer := terms.TaxCode{Code: "IPT", Label: "Insurance premium tax", RatePPM: 125_000}
	levy := terms.TaxCode{Code: "FSL", Label: "Levy", RatePPM: 3_333}
	var s protection.Statement
	err := s.AddUp(protection.Charges{
		Opening: 1000, Account: 5000,
		Booked: []protection.BookedSum{
			booked("return", 1, -219, 103, ipt, levy),
			booked("original", 2, 1296, 0, ipt, levy),
			booked("original", 1, 101, 0, dearer),
		},
		Minimum:  protection.Shortfall("2024-06", 2000, 1178),
		MinTaxes: []terms.TaxCode{ipt}, Payments: 400,
	})
	if err != nil {
		t.Fatal(err)
	}
	// IPT: (1077 + 822) · 12 % + 101 · 12.5 % = 227.88 + 12.625 = 240.505; the levy: 1077 · 0.3333 % = 3.589…
	wantTaxes := []protection.StatementTax{
		{Code: "IPT", Label: "Insurance premium tax", Amount: 241, Earlier: []protection.TaxPart{},
			Parts: []protection.TaxPart{{Base: 1899, RatePPM: 120_000}, {Base: 101, RatePPM: 125_000}}},
		{Code: "FSL", Label: "Levy", Parts: []protection.TaxPart{{Base: 1077, RatePPM: 3333}}, Earlier: []protection.TaxPart{}, Amount: 4},
	}
	if !reflect.DeepEqual(s.Taxes, wantTaxes) {
		t.Errorf("taxes %+v", s.Taxes)
	}
	if got := []string{s.Lines[0].Kind, s.Lines[1].Kind}; !slices.Equal(got, []string{"original", "return"}) || s.LineCount() != 4 {
		t.Errorf("lines %+v", s.Lines)
	}
	const charged = 1397 - 219 + 822 + 4 + 241
	if s.Closing != 1000+charged-400 || s.Account != 5000+charged {
		t.Errorf("closing %d, account %d", s.Closing, s.Account)
	}
}

// TestTaxGivenBackInParts: the taxes of all statements add up to the tax on all premium, rounded once.
func TestTaxGivenBackInParts(t *testing.T) {
	t.Parallel()
	ipt := terms.TaxCode{Code: "IPT", Label: "Insurance premium tax", RatePPM: 120_000}
	for _, c := range []struct{ amounts, want []int64 }{
		{[]int64{875, -291, -292, -292}, []int64{105, -35, -35, -35}},
		{[]int64{4, -1, -1, -1, -1}, []int64{0, 0, 0, 0, 0}},
		{[]int64{13, -4, -4, -5}, []int64{2, -1, 0, -1}},
	} {
		earlier, sum := protection.EarlierTaxes{}, int64(0)
		for i, amount := range c.amounts {
			var s protection.Statement
			err := s.AddUp(protection.Charges{Booked: []protection.BookedSum{booked("return", 1, amount, 0, ipt)}, Taxed: earlier})
			if err != nil {
				t.Fatal(err)
			}
			tax := s.Taxes[0]
			if sum += tax.Amount; tax.Amount != c.want[i] || sum < 0 {
				t.Errorf("%v: the tax of statement %d is %d, want %d", c.amounts, i+1, tax.Amount, c.want[i])
			}
			earlier.Add(s.Taxes)
		}
		if sum != 0 {
			t.Errorf("%v: %d of the tax stays", c.amounts, sum)
		}
	}
}

func TestShortfall(t *testing.T) {
	for _, c := range []struct{ minimum, booked, want int64 }{
		{0, 0, 0}, {1000, 1000, 0}, {1000, 1001, 0}, {1000, 999, 1}, {1000, 0, 1000}, {1000, -500, 1000}, {0, -500, 0},
	} {
		got := protection.Shortfall("2024-06", c.minimum, c.booked)
		if got == nil && c.want != 0 || got != nil && got.Amount != c.want {
			t.Errorf("minimum %d, booked %d: %+v, want %d", c.minimum, c.booked, got, c.want)
		}
	}
}

// TestSettleIsOneSum: however the lines are split over statements, the amounts are the same, and each statement closes.
func TestSettleIsOneSum(t *testing.T) {
	rates := []terms.TaxCode{{Code: "IPT", RatePPM: 120_000}, {Code: "VAT", RatePPM: 55_555}}
	rapid.Check(t, func(t *rapid.T) {
		c := protection.Charges{
			Opening: rapid.Int64Range(-1e9, 1e9).Draw(t, "opening"), Payments: rapid.Int64Range(-1e9, 1e9).Draw(t, "payments"),
		}
		whole := map[string]protection.BookedSum{}
		for range rapid.IntRange(0, 12).Draw(t, "lines") {
			kind := rapid.SampledFrom([]string{"original", "additional", "return"}).Draw(t, "kind")
			line := booked(kind, 1, rapid.Int64Range(-1e6, 1e6).Draw(t, "amount"), 0, rates...)
			c.Booked = append(c.Booked, line)
			sum := whole[kind]
			whole[kind] = booked(kind, sum.Lines+1, sum.Amount+line.Amount, 0, rates...)
		}
		var one, other protection.Statement
		joined := c
		joined.Booked = nil
		for _, sum := range whole {
			joined.Booked = append(joined.Booked, sum)
		}
		if err := errors.Join(one.AddUp(c), other.AddUp(joined)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(one, other) {
			t.Fatalf("%+v\n%+v", one, other)
		}
		sum := one.Opening - one.Payments
		for _, l := range one.Lines {
			sum += l.Amount
		}
		for _, tax := range one.Taxes {
			sum += tax.Amount
		}
		if sum != one.Closing {
			t.Fatalf("closing %d, added up %d", one.Closing, sum)
		}
	})
}

func TestSettleRefusesWhatDoesNotFit(t *testing.T) {
	var s protection.Statement
	err := s.AddUp(protection.Charges{Opening: math.MaxInt64, Booked: []protection.BookedSum{booked("original", 1, 1, 0)}})
	if !errors.Is(err, money.ErrRange) {
		t.Error(err)
	}
}
