package terms

import (
	"errors"
	"strings"
	"testing"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

func TestThePolicyOfANewSiteIsInOrder(t *testing.T) {
	var p errs.Problems
	if DefaultPolicy("GBP").check(&p); p.Err() != nil {
		t.Error(p.Err())
	}
}

func TestARateCardPricesEveryLeadOnce(t *testing.T) {
	card := append(DefaultRateCard(), RateLine{ChannelID: 7, To: 9, PPM: 1}, RateLine{ChannelID: 7, From: 10, To: NoEnd, PPM: 2})
	for _, c := range []struct{ channel, lead, ppm int64 }{
		{1, 0, 2500}, {1, 30, 2500}, {1, 31, 5000}, {1, 90, 5000}, {1, 91, 8500}, {1, 180, 8500}, {1, 181, 12000},
		{1, 365, 12000}, {1, 366, 16000}, {1, 40000, 16000}, {7, 0, 1}, {7, 9, 1}, {7, 10, 2}, {7, 400, 2},
	} {
		if l, ok := card.Line(c.channel, c.lead); !ok || l.PPM != c.ppm {
			t.Errorf("channel %d, lead %d: %+v %v, want %d ppm", c.channel, c.lead, l, ok, c.ppm)
		}
	}
	if l, ok := card.Line(1, -1); ok {
		t.Errorf("a negative lead is priced by %+v", l)
	}
}

func TestAPolicyFollowsAnother(t *testing.T) {
	from, no, minimum := civil.Date(2026, 1, 1), false, int64(50)
	before := DefaultPolicy("GBP")
	before.ID, before.MinimumPerMonth = 9, 1000
	var p errs.Problems
	next := PolicyFields{From: &from, PremiumRefundable: &no, MinimumPerLine: &minimum}.After(before, &p)
	if p.Err() != nil || next.ID != 0 || next.FromDay != from || next.PremiumRefundable || next.MinimumPerLine != 50 ||
		next.MinimumPerMonth != 1000 || next.Currency != "GBP" || len(next.RateCard) != 5 {
		t.Errorf("%+v, %v", next, p.Err())
	}
	if !before.PremiumRefundable || before.FromDay != civil.FirstDay {
		t.Errorf("the policy before has changed: %+v", before)
	}
}

func TestPoliciesThatAreRefused(t *testing.T) {
	from := civil.Date(2026, 1, 1)
	number := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		field string
		in    PolicyFields
		says  string
	}{
		"days":         {"late_log_days", PolicyFields{LateLogDays: number(-1)}, "between"},
		"age":          {"max_fixing_age_days", PolicyFields{MaxFixingAgeDays: number(0)}, "between"},
		"per line":     {"minimum_per_line", PolicyFields{MinimumPerLine: number(-1)}, "between"},
		"per month":    {"minimum_per_month", PolicyFields{MinimumPerMonth: number(check.MaxAmount + 1)}, "between"},
		"terms":        {"payment_terms_days", PolicyFields{PaymentTermsDays: number(4000)}, "between"},
		"recognition":  {"recognition", PolicyFields{Recognition: new(Recognition("never"))}, "Must be one of"},
		"period":       {"statement_period", PolicyFields{StatementPeriod: new("year")}, "Must be one of"},
		"no card":      {"rate_card", PolicyFields{RateCard: &RateCard{}}, "must be open-ended"},
		"late start":   {"rate_card[0].lead_from", PolicyFields{RateCard: &RateCard{{From: 1, To: NoEnd}}}, "Expected 0"},
		"gap":          {"rate_card[1].lead_from", PolicyFields{RateCard: &RateCard{{To: 30}, {From: 32, To: NoEnd}}}, "Expected 31"},
		"backwards":    {"rate_card[0].lead_to", PolicyFields{RateCard: &RateCard{{To: -1}}}, "before it begins"},
		"no end":       {"rate_card", PolicyFields{RateCard: &RateCard{{To: 30}}}, "of the site"},
		"after end":    {"rate_card[1].lead_from", PolicyFields{RateCard: &RateCard{{To: NoEnd}, {From: 31, To: NoEnd}}}, "follows"},
		"ppm":          {"rate_card[0].ppm", PolicyFields{RateCard: &RateCard{{To: NoEnd, PPM: -1}}}, "between"},
		"channel":      {"rate_card", PolicyFields{RateCard: &RateCard{{To: NoEnd}, {ChannelID: 3, To: 5}}}, "channel 3"},
		"tax label":    {"tax_codes[0].label", PolicyFields{TaxCodes: &[]TaxCode{{Code: "a", Label: "a\nb"}}}, "Line breaks"},
		"tax twice":    {"tax_codes[1].code", PolicyFields{TaxCodes: &[]TaxCode{{Code: "a"}, {Code: "a"}}}, "twice"},
		"tax too high": {"tax_codes[0].rate_ppm", PolicyFields{TaxCodes: &[]TaxCode{{Code: "a", RatePPM: 1_000_001}}}, "between"},
	} {
		t.Run(name, func(t *testing.T) {
			var p errs.Problems
			c.in.From = &from
			c.in.After(DefaultPolicy("GBP"), &p)
			f, ok := errors.AsType[*errs.Error](p.Err())
			if !ok || len(f.Params) != 1 || !strings.Contains(f.Params[c.field], c.says) {
				t.Errorf("%v %+v, want %s to say %q", p.Err(), f, c.field, c.says)
			}
		})
	}
}

func TestATaxNeedsACode(t *testing.T) {
	var p errs.Problems
	PolicyFields{From: new(civil.Date(2026, 1, 1)), TaxCodes: &[]TaxCode{{RatePPM: 1}}}.After(DefaultPolicy("GBP"), &p)
	f, ok := errors.AsType[*errs.Error](p.Err())
	if !ok || len(f.Absent) != 1 || f.Absent[0] != "tax_codes[0].code" {
		t.Errorf("%+v, want the code to be missing", f)
	}
}

func TestAPolicyNeedsADay(t *testing.T) {
	before := DefaultPolicy("GBP")
	before.MinimumPerLine, before.MinimumPerMonth = 1, 1
	var p errs.Problems
	PolicyFields{Currency: new(money.Currency("EUR"))}.After(before, &p)
	f, ok := errors.AsType[*errs.Error](p.Err())
	if !ok || strings.Join(f.Absent, " ") != "from minimum_per_line minimum_per_month" {
		t.Errorf("%+v", f)
	}
}

// TestCoverOfAPolicy: the terms of cover stay unless they are set, problems name their fields, and a change of currency
// requires new amounts.
func TestCoverOfAPolicy(t *testing.T) {
	before := DefaultPolicy("GBP")
	before.Cover.Deductible, before.Cover.AggregateLimit = 100, 900
	from, coinsurance := civil.Date(2026, 1, 1), int64(100_000)
	var p errs.Problems
	next := PolicyFields{From: &from, Cover: CoverFields{CoinsurancePPM: &coinsurance}}.After(before, &p)
	if p.Err() != nil || next.Cover.Deductible != 100 || next.Cover.CoinsurancePPM != 100_000 || next.Cover.NotifyWithin != 12 {
		t.Errorf("%+v, %v", next.Cover, p.Err())
	}

	euro := money.Currency("EUR")
	p = errs.Problems{}
	PolicyFields{From: &from, Currency: &euro, Cover: CoverFields{Deductible: new(int64)}}.After(before, &p)
	if p.Has("deductible") || !p.Has("aggregate_limit") || p.Has("merchant_limit") || p.Has("two_signatures") {
		t.Errorf("in another currency: %v", p.Err())
	}

	for field, wrong := range map[string]CoverFields{
		"deductible":             {Deductible: new(int64(-1))},
		"coinsurance_ppm":        {CoinsurancePPM: new(int64(1_000_001))},
		"merchant_limit":         {MerchantLimit: new(int64(-1))},
		"aggregate_limit":        {AggregateLimit: new(int64(1_000_000_000_000_001))},
		"notify_within":          {NotifyWithin: new(int64)},
		"two_signatures":         {TwoSignatures: new(int64(-1))},
		"development_ppm":        {DevelopmentPPM: new(int64(1_000_001))},
		"other_protection_first": {OtherProtectionFirst: &[]string{"bond", "bond"}},
		"recovery_order":         {RecoveryOrder: &[]Bearer{"site", "insurer"}},
	} {
		var p errs.Problems
		PolicyFields{From: &from, Cover: wrong}.After(before, &p)
		if !p.Has(field) {
			t.Errorf("%s: %v", field, p.Err())
		}
	}
}
