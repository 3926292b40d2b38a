package protection_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"

	"pgregory.net/rapid"
)

func day(t *testing.T, s string) civil.Day {
	t.Helper()
	d, err := civil.ParseDay(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func rate(t rapid.TB, s string) money.Rate {
	t.Helper()
	r, err := money.ParseRate(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWorkedLines holds the values and last days of dispute of the worked lines of the rules: policy currency GBP, Visa.
func TestWorkedLines(t *testing.T) {
	fixings := func(day civil.Day, rates map[money.Currency]string) []fx.Fixing {
		var list []fx.Fixing
		for c, r := range rates {
			list = append(list, fx.Fixing{Provider: fx.ECB, Day: day, Currency: c, Rate: rate(t, r)})
		}
		return list
	}
	for _, line := range []struct {
		name, paid, end string
		amount          int64
		currency        money.Currency
		fixingDay       string
		rates           map[money.Currency]string
		value           int64
		last            string
	}{
		{"euro", "2024-06-03", "2024-09-14", 60000, "EUR", "2024-05-31", map[money.Currency]string{"GBP": "0.85365"}, 51219, "2025-01-12"},
		{"yen", "2024-07-01", "2024-08-05", 350000, "JPY", "2024-06-28", map[money.Currency]string{"JPY": "171.94", "GBP": "0.84638"}, 172289, "2024-12-03"},
		{"before a refund", "2024-04-09", "2024-08-31", 120000, "EUR", "2024-04-08", map[money.Currency]string{"GBP": "0.85795"}, 102954, "2024-12-29"},
		{"after it", "2024-04-09", "2024-08-31", 90000, "EUR", "2024-04-08", map[money.Currency]string{"GBP": "0.85795"}, 77216, "2024-12-29"},
		{"moved", "2024-04-09", "2024-11-30", 90000, "EUR", "2024-04-08", map[money.Currency]string{"GBP": "0.85795"}, 77216, "2025-03-30"},
		{"second refund", "2024-04-09", "2024-11-30", 80000, "EUR", "2024-04-08", map[money.Currency]string{"GBP": "0.85795"}, 68636, "2025-03-30"},
		{"cap", "2024-02-01", "2025-08-10", 10000, "GBP", "2024-01-31", nil, 10000, "2025-07-25"},
	} {
		t.Run(line.name, func(t *testing.T) {
			paid := day(t, line.paid)
			a := protection.Allocation{
				Currency: line.currency, Amount: line.amount, Scheme: card.Visa, EffectiveAt: paid.Start().Add(9 * time.Hour),
				Rulepack: "1", PolicyCurrency: "GBP", MaxFixingAge: 7,
			}
			table := fx.NewTable(fixings(day(t, line.fixingDay), line.rates))
			if ok, err := a.Price(table, paid.End()); !ok || err != nil {
				t.Fatalf("not priced: %v, %v", ok, err)
			}
			if a.Value != line.value {
				t.Errorf("value %d, want %d", a.Value, line.value)
			}
			terms := a.TermsOf(booking.Booking{Start: civil.NoDay, End: day(t, line.end)}, protection.ShippedRulepacks())
			if terms.LastDay != day(t, line.last) {
				t.Errorf("last day of dispute %s, want %s", terms.LastDay, line.last)
			}
		})
	}
}

func TestWorkedLinear(t *testing.T) {
	in := protection.Terms{Start: day(t, "2024-08-17"), End: day(t, "2024-08-31")}
	if u := in.Undelivered(90000, day(t, "2024-08-22"), terms.RecognitionLinear); u != 54000 {
		t.Errorf("undelivered %d, want 54000", u)
	}
}

func TestNoCapButVisas(t *testing.T) {
	paid, end := day(t, "2024-02-01"), day(t, "2025-08-10")
	packs := protection.ShippedRulepacks()
	for _, s := range append(card.Schemes, card.Unknown, "no-such-scheme") {
		want := end + 120
		if s == card.Visa {
			want = paid + 540
		}
		if got := packs.On(paid).Window(s).LastDay(paid, end); got != want {
			t.Errorf("%s: last day %s, want %s", s, got, want)
		}
	}
}

func TestAPaymentAfterTravelIsDisputedFromThePayment(t *testing.T) {
	paid, end := day(t, "2024-05-10"), day(t, "2024-05-01")
	if got := protection.ShippedRulepacks().On(paid).Window(card.Visa).LastDay(paid, end); got != paid+120 {
		t.Errorf("last day %s, want %s", got, paid+120)
	}
}

func TestDecide(t *testing.T) {
	recorded := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	live := merchant.Channel{Mode: merchant.ModeProtectionOnly}
	processing := func(mode merchant.AccountMode, accountType string) protection.Facts {
		return protection.Facts{Channel: merchant.Channel{Mode: mode, AccountType: accountType}, Method: payment.CreditCard}
	}
	for name, c := range map[string]struct {
		facts  protection.Facts
		reason string
	}{
		"protected":     {protection.Facts{Channel: live, Method: payment.CreditCard}, protection.ReasonProtected},
		"bank transfer": {protection.Facts{Channel: live, Method: payment.BankTransfer}, protection.ReasonNotCardPayment},
		"locked": {protection.Facts{Channel: merchant.Channel{Mode: merchant.ModeProtectionOnly, Locked: true},
			Method: payment.CreditCard}, protection.ReasonLocked},
		"draft": {protection.Facts{Channel: merchant.Channel{Mode: merchant.ModeDraft}, Method: payment.CreditCard}, protection.ReasonMode},
		"closed test": {protection.Facts{Channel: merchant.Channel{Mode: merchant.ModeClosed, WasTest: true},
			Method: payment.CreditCard}, protection.ReasonMode},
		"test": {protection.Facts{Channel: merchant.Channel{Mode: merchant.ModeTest, WasTest: true},
			Method: payment.CreditCard}, protection.ReasonTestChannel},
		"live":                      {processing(merchant.ModeLive, merchant.TypeProtected), protection.ReasonLive},
		"live, trusted":             {processing(merchant.ModeLive, merchant.TypeTrust), protection.ReasonType},
		"draft of a protected type": {processing(merchant.ModeDraft, merchant.TypeProtected), protection.ReasonMode},
	} {
		t.Run(name, func(t *testing.T) {
			c.facts.RecordedAt, c.facts.EffectiveAt, c.facts.LateLogDays = recorded, recorded.Add(-72*time.Hour), 3
			d := protection.Decide(c.facts)
			protected := slices.Contains([]string{protection.ReasonProtected, protection.ReasonLive, protection.ReasonTestChannel}, c.reason)
			if d.Reason != c.reason || d.Protected != protected || d.Simulated != c.facts.Channel.WasTest {
				t.Errorf("%+v, want reason %s", d, c.reason)
			}
			if d.LateLogged || !d.CoverFrom.Equal(recorded) {
				t.Errorf("three days are not late, and cover is never backdated: %+v", d)
			}
			c.facts.EffectiveAt = c.facts.EffectiveAt.Add(-time.Second)
			c.facts.TakenOver = true
			if d := protection.Decide(c.facts); !d.LateLogged || !d.CoverFrom.Equal(c.facts.EffectiveAt) {
				t.Errorf("a second more is late, and a taken-over book is covered from the payment: %+v", d)
			}
		})
	}
}

func TestStateOf(t *testing.T) {
	for _, c := range []struct {
		n, u      int64
		day, last civil.Day
		want      protection.State
	}{
		{0, 0, 5, 9, protection.Settled}, {0, 0, 10, 9, protection.Settled}, {7, 7, 10, 9, protection.Expired},
		{7, 1, 9, 9, protection.Undelivered}, {7, 0, 9, 9, protection.Tail},
	} {
		if got := protection.StateOf(c.n, c.u, c.day, c.last); got != c.want {
			t.Errorf("StateOf(%d, %d, %d, %d) = %s, want %s", c.n, c.u, c.day, c.last, got, c.want)
		}
	}
}

func TestRulepackFileRefusesWhatIsBroken(t *testing.T) {
	for name, text := range map[string]string{
		"empty": `[]`, "no version": `[{"from":"2020-01-01","windows":{}}]`,
		"no windows": `[{"version":"1","from":"2020-01-01","windows":{"visa":{"days":120}}}]`,
		"bad day":    `[{"version":"1","from":"2020-13-01","windows":{}}]`,
		"unknown":    `[{"version":"1","from":"2020-01-01","window":{}}]`,
	} {
		if _, err := protection.ParseRulepacks([]byte(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	// Allocations find theirs by its version.
	whole, err := os.ReadFile("rulepack.json")
	if err != nil {
		t.Fatal(err)
	}
	var packs []map[string]any
	if err := json.Unmarshal(whole, &packs); err != nil {
		t.Fatal(err)
	}
	again := maps.Clone(packs[len(packs)-1])
	again["from"] = "2099-01-01"
	text, err := json.Marshal(append(packs, again))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := protection.ParseRulepacks(text); err == nil || !strings.Contains(err.Error(), "another rulepack also has version") {
		t.Errorf("a version twice: %v", err)
	}
}
