package protection_test

import (
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"

	"pgregory.net/rapid"
)

// priced is an allocation of a payment of a day, at the rates of the day before.
func priced(t interface {
	Helper()
	Fatal(...any)
}, paid civil.Day, currency money.Currency, amount int64, rates map[money.Currency]string) protection.Allocation {
	t.Helper()
	var fixings []fx.Fixing
	for c, text := range rates {
		r, err := money.ParseRate(text)
		if err != nil {
			t.Fatal(err)
		}
		fixings = append(fixings, fx.Fixing{Provider: fx.ECB, Day: paid - 1, Currency: c, Rate: r})
	}
	a := protection.Allocation{
		ID: 5, ChannelID: 2, Currency: currency, Amount: amount, EffectiveAt: paid.Start().Add(9 * time.Hour),
		PolicyCurrency: "GBP", MaxFixingAge: 7,
	}
	if ok, err := a.Price(fx.NewTable(fixings), paid.End()); !ok || err != nil {
		t.Fatal("not priced: ", err)
	}
	return a
}

// failed is an insolvency with a trigger on a day, if there is one.
func failed(is bool, day civil.Day) merchant.Insolvency {
	if !is {
		return merchant.Insolvency{}
	}
	return merchant.Insolvency{ID: 1, TriggerAt: day.Start(), ConfirmedAt: day.End()}
}

// TestWorkedPremium holds the premiums and lines of the worked lines of the rules.
func TestWorkedPremium(t *testing.T) {
	policy := terms.DefaultPolicy("GBP")
	type change struct {
		on, end        string
		cause          protection.PremiumCause
		refunded       int64
		kind           protection.PremiumKind
		value, lead    int64
		premium        int64
		line, retained int64
	}
	for _, c := range []struct {
		name, paid string
		currency   money.Currency
		amount     int64
		rates      map[money.Currency]string
		changes    []change
	}{
		{"euro", "2024-06-03", "EUR", 60000, map[money.Currency]string{"GBP": "0.85365"}, []change{
			{"2024-06-03", "2024-09-14", protection.CausePurchase, 0, "original", 51219, 103, 435, 435, 0},
		}},
		{"yen", "2024-07-01", "JPY", 350000, map[money.Currency]string{"JPY": "171.94", "GBP": "0.84638"}, []change{
			{"2024-07-01", "2024-08-05", protection.CausePurchase, 0, "original", 172289, 35, 861, 861, 0},
		}},
		{"refunds and a move", "2024-04-09", "EUR", 120000, map[money.Currency]string{"GBP": "0.85795"}, []change{
			{"2024-04-09", "2024-08-31", protection.CausePurchase, 0, "original", 102954, 144, 875, 875, 0},
			{"2024-05-02", "2024-08-31", protection.CauseRefund, 30000, "return", 77216, 144, 656, -219, 0},
			{"2024-06-01", "2024-11-30", protection.CauseReDate, 30000, "additional", 77216, 235, 927, 271, 0},
			{"2024-12-05", "2024-11-30", protection.CauseRefund, 40000, "return", 68636, 235, 824, 0, 103},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := priced(t, day(t, c.paid), c.currency, c.amount, c.rates)
			var lines []protection.PremiumLine
			for _, step := range c.changes {
				line, booked, err := a.Reprice(lines, policy, protection.PremiumChange{
					Cause: step.cause, EffectiveAt: day(t, step.on).Start(), End: day(t, step.end), Refunded: step.refunded,
				})
				s := line.State
				if err != nil || !booked || line.Kind != step.kind || s.Value != step.value || s.Lead != step.lead ||
					s.Premium != step.premium || line.Amount != step.line || line.Retained != step.retained {
					t.Fatalf("%s: %+v, %v %v; want %+v", step.on, line, booked, err, step)
				}
				lines = append(lines, line)
			}
		})
	}
}

func TestPremiumReturnsOnlyWhereItMay(t *testing.T) {
	refundable, final := terms.DefaultPolicy("GBP"), terms.DefaultPolicy("GBP")
	final.PremiumRefundable = false
	paid := day(t, "2024-04-09")
	for name, c := range map[string]struct {
		policy    terms.Policy
		on, end   civil.Day
		insolvent bool
		returns   bool
	}{
		"before travel":     {refundable, paid + 5, paid + 40, false, true},
		"on the last day":   {refundable, paid + 40, paid + 40, false, true},
		"the day after":     {refundable, paid + 41, paid + 40, false, false},
		"policy is final":   {final, paid + 5, paid + 40, false, false},
		"channel insolvent": {refundable, paid + 5, paid + 40, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := priced(t, paid, "GBP", 100000, nil)
			first, _, err := a.Reprice(nil, c.policy, protection.PremiumChange{Cause: protection.CausePurchase, EffectiveAt: paid.Start(), End: c.end})
			if err != nil || first.Amount != 500 {
				t.Fatalf("%+v, %v", first, err)
			}
			line, booked, err := a.Reprice([]protection.PremiumLine{first}, c.policy, protection.PremiumChange{
				Cause: protection.CauseRefund, EffectiveAt: c.on.End(), End: c.end, Refunded: 40000, Insolvency: failed(c.insolvent, c.on),
			})
			amount, retained := int64(-200), int64(0)
			if !c.returns {
				amount, retained = 0, 200
			}
			if err != nil || !booked || line.Kind != protection.PremiumReturn || line.Amount != amount || line.Retained != retained {
				t.Errorf("%+v, %v %v", line, booked, err)
			}
		})
	}
}

func TestTheMinimumOfALine(t *testing.T) {
	policy := terms.DefaultPolicy("GBP")
	policy.MinimumPerLine = 150
	paid := day(t, "2024-04-09")
	for _, c := range []struct {
		amount, lead, premium int64
		minimum               bool
	}{
		{100000, 40, 500, false}, {30000, 40, 150, false}, {29999, 40, 150, false}, {29000, 40, 150, true}, {200, 40, 150, true},
		{99, 40, 0, false}, {0, 40, 0, false}, {100000, -1, 0, false}, {100, 0, 0, false},
	} {
		a := priced(t, paid, "GBP", c.amount, nil)
		s, err := a.PremiumState(policy, paid+civil.Day(c.lead), 0)
		if err != nil || s.Premium != c.premium || s.Minimum != c.minimum || s.NegativeLead() != (c.lead < 0) {
			t.Errorf("%d, lead %d: %+v, %v; want %d, %v", c.amount, c.lead, s, err, c.premium, c.minimum)
		}
	}
}

// TestPremiumLinesComeToThePremium: for any history, the lines add up to the premium of the state plus the retained
// amount; no negative amount is retained, and changes that do not move the premium book no line.
func TestPremiumLinesComeToThePremium(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		paid := civil.Day(rapid.IntRange(10000, 20000).Draw(t, "paid"))
		amount := rapid.Int64Range(1, 2_000_000).Draw(t, "amount")
		a := priced(t, paid, "EUR", amount, map[money.Currency]string{"GBP": rapid.SampledFrom([]string{"0.85", "1.1", "0.00123"}).Draw(t, "rate")})
		policy := terms.DefaultPolicy("GBP")
		policy.PremiumRefundable = rapid.Bool().Draw(t, "refundable")
		policy.MinimumPerLine = rapid.Int64Range(0, 500).Draw(t, "minimum")
		end := paid + civil.Day(rapid.IntRange(-20, 500).Draw(t, "end"))
		var refunded, sum, retained int64
		var lines []protection.PremiumLine
		for i := range rapid.IntRange(1, 8).Draw(t, "changes") {
			c := protection.PremiumChange{Cause: protection.CausePurchase}
			if i > 0 && rapid.Bool().Draw(t, "refund") {
				c.Cause = protection.CauseRefund
				refunded += rapid.Int64Range(0, amount-refunded).Draw(t, "refunded")
			} else if i > 0 {
				c.Cause = protection.CauseReDate
				end = paid + civil.Day(rapid.IntRange(-20, 500).Draw(t, "moved"))
			}
			c.EffectiveAt = (paid + civil.Day(rapid.IntRange(0, 500).Draw(t, "on"))).Start()
			c.End, c.Refunded, c.Insolvency = end, refunded, failed(rapid.Bool().Draw(t, "insolvent"), civil.DayOf(c.EffectiveAt))
			line, booked, err := a.Reprice(lines, policy, c)
			if err != nil {
				t.Fatal(err)
			}
			if !booked {
				if line.State.Premium != lines[len(lines)-1].State.Premium {
					t.Fatalf("nothing was booked from %+v to %+v", lines[len(lines)-1].State, line.State)
				}
				continue
			}
			lines = append(lines, line)
			sum, retained = sum+line.Amount, retained+line.Retained
			if line.Retained < 0 || line.Retained > 0 && line.Amount != 0 {
				t.Fatalf("%+v", line)
			}
		}
		state, err := a.PremiumState(policy, end, refunded)
		if err != nil || sum != state.Premium+retained || lines[len(lines)-1].State.Premium != state.Premium {
			t.Fatalf("lines %d, premium %d, retained %d, %v", sum, state.Premium, retained, err)
		}
	})
}
