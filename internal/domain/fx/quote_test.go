package fx_test

import (
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"

	"pgregory.net/rapid"
)

// longAgo is before everything in the tests.
var longAgo = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func day(t testing.TB, s string) civil.Day {
	t.Helper()
	d, err := civil.ParseDay(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func fixing(t testing.TB, p fx.Provider, date string, c money.Currency, rate string) fx.Fixing {
	t.Helper()
	r, err := money.ParseRate(rate)
	if err != nil {
		t.Fatal(err)
	}
	return fx.Fixing{Provider: p, Day: day(t, date), Currency: c, Rate: r, RecordedAt: longAgo}
}

// worked are the fixings of the worked lines of the rules, and some around them that must not count.
func worked(t testing.TB) *fx.Table {
	return fx.NewTable([]fx.Fixing{
		fixing(t, fx.ECB, "2024-06-03", "GBP", "0.85110"), // the day of the first payment itself
		fixing(t, fx.ECB, "2024-05-31", "GBP", "0.85365"),
		fixing(t, fx.ECB, "2024-05-30", "GBP", "0.85145"),
		fixing(t, fx.ECB, "2024-06-28", "JPY", "171.94"),
		fixing(t, fx.ECB, "2024-06-28", "GBP", "0.84638"),
		fixing(t, fx.Demo, "2024-06-28", "GBP", "0.5"),
		fixing(t, fx.ECB, "2024-04-08", "GBP", "0.85795"),
	})
}

func TestLockGivesTheWorkedLines(t *testing.T) {
	tests := []struct {
		name     string
		currency money.Currency
		amount   int64
		paid     string
		want     string
		fixed    string
		from, to string
	}{
		{"one leg", "EUR", 60000, "2024-06-03", "512.19", "2024-05-31", "1", "0.85365"},
		{"two legs", "JPY", 350000, "2024-07-01", "1,722.89", "2024-06-28", "171.94", "0.84638"},
		{"to be refunded", "EUR", 120000, "2024-04-09", "1,029.54", "2024-04-08", "1", "0.85795"},
		{"after its refund", "EUR", 90000, "2024-04-09", "772.16", "2024-04-08", "1", "0.85795"},
		{"after the second", "EUR", 80000, "2024-04-09", "686.36", "2024-04-08", "1", "0.85795"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			paid := day(t, tt.paid)
			q, ok := fx.Lock(worked(t), tt.currency, "GBP", paid, paid.End(), 7)
			if !ok {
				t.Fatal("pending_rate")
			}
			value, err := q.Convert(tt.amount)
			if got := money.Format(value, "GBP"); err != nil || got != tt.want {
				t.Errorf("PV = %s, %v, want %s", got, err, tt.want)
			}
			if q.FromLeg.Rate.String() != tt.from || q.ToLeg.Rate.String() != tt.to {
				t.Errorf("legs %s and %s, want %s and %s", q.FromLeg.Rate, q.ToLeg.Rate, tt.from, tt.to)
			}
			if q.ToLeg.Day.String() != tt.fixed || q.ToLeg.Provider != fx.ECB || q.ToLeg.Currency != "GBP" {
				t.Errorf("leg of the policy %+v, want the ECB's of %s", q.ToLeg, tt.fixed)
			}
			if euro := tt.currency == money.EUR; q.FromLeg.HasFixing() == euro {
				t.Errorf("leg of the amount %+v", q.FromLeg)
			}
		})
	}
}

func TestLockCountsAgeFromTheDayOfPayment(t *testing.T) {
	table := fx.NewTable([]fx.Fixing{fixing(t, fx.ECB, "2024-05-31", "GBP", "0.85365")})
	tests := []struct {
		paid string
		ok   bool
	}{
		{"2024-05-31", false}, // the day itself does not count, only the day before
		{"2024-06-01", true},
		{"2024-06-07", true},  // seven days
		{"2024-06-08", false}, // eight
	}
	for _, tt := range tests {
		paid := day(t, tt.paid)
		if _, ok := fx.Lock(table, "EUR", "GBP", paid, paid.End(), 7); ok != tt.ok {
			t.Errorf("paid %s: ok = %v, want %v", tt.paid, ok, tt.ok)
		}
	}
}

func TestLockWaitsForEitherLeg(t *testing.T) {
	paid := day(t, "2024-07-01")
	for _, pair := range [][2]money.Currency{{"USD", "GBP"}, {"GBP", "USD"}, {"USD", "EUR"}, {"EUR", "USD"}} {
		if q, ok := fx.Lock(worked(t), pair[0], pair[1], paid, paid.End(), 7); ok || q != (fx.Quote{}) {
			t.Errorf("%s to %s: %+v, %v without a fixing of USD", pair[0], pair[1], q, ok)
		}
	}
}

func TestTheSameCurrencyNeedsNoFixing(t *testing.T) {
	empty := fx.NewTable(nil)
	paid := day(t, "2024-07-01")
	for _, c := range []money.Currency{"GBP", "EUR"} {
		locked, ok := fx.Lock(empty, c, c, paid, paid.End(), 7)
		spot, ok2 := fx.Spot(empty, c, c, paid, paid.End())
		if !ok || !ok2 || locked != spot || locked.FromLeg.HasFixing() || locked.ToLeg != (fx.Leg{}) {
			t.Fatalf("%s: %+v, %v, %+v, %v", c, locked, ok, spot, ok2)
		}
		if got, err := locked.Convert(-12345); err != nil || got != -12345 {
			t.Errorf("%s became %d, %v", c, got, err)
		}
	}
	if got, err := (fx.Quote{}).Convert(5); err == nil {
		t.Errorf("a quote of nothing converted 5 into %d", got)
	}
}

func TestSpotTakesTheDayItselfAndAnyAge(t *testing.T) {
	at := day(t, "2024-06-03")
	q, ok := fx.Spot(worked(t), "EUR", "GBP", at, at.End())
	if !ok || q.ToLeg.Rate.String() != "0.85110" {
		t.Errorf("on the day: %+v, %v", q, ok)
	}
	years := day(t, "2030-01-01")
	q, ok = fx.Spot(worked(t), "JPY", "EUR", years, years.End())
	if !ok || q.FromLeg.Rate.String() != "171.94" || q.FromLeg.Day.String() != "2024-06-28" || q.ToLeg.HasFixing() {
		t.Errorf("years later: %+v, %v", q, ok)
	}
	if q, ok := fx.Spot(worked(t), "JPY", "EUR", day(t, "2024-06-27"), years.End()); ok {
		t.Errorf("a fixing of the future counts: %+v", q)
	}
}

func TestSpotPrefersProvidersOnlyWhileFresh(t *testing.T) {
	table := fx.NewTable([]fx.Fixing{
		fixing(t, fx.ECB, "2022-03-01", "RUB", "117.201"), // the day on which the ECB suspended it
		fixing(t, fx.Manual, "2022-03-04", "RUB", "121.5"),
		fixing(t, fx.Demo, "2022-03-20", "RUB", "99"),
		fixing(t, fx.Manual, "2022-05-01", "RUB", "75"),
		fixing(t, fx.Demo, "2022-05-01", "RUB", "74"),
	})
	tests := []struct {
		on       string
		provider fx.Provider
		rate     string
	}{
		{"2022-03-08", fx.ECB, "117.201"},  // seven days old: still before the younger manual one
		{"2022-03-09", fx.Manual, "121.5"}, // eight
		{"2022-03-19", fx.Manual, "121.5"}, // nothing is fresh: the most recent
		{"2022-03-20", fx.Demo, "99"},
		{"2022-04-30", fx.Demo, "99"},
		{"2023-01-01", fx.Manual, "75"}, // two of one day: the order decides
	}
	for _, tt := range tests {
		on := day(t, tt.on)
		q, ok := fx.Spot(table, "RUB", "EUR", on, on.End())
		if !ok || q.FromLeg.Provider != tt.provider || q.FromLeg.Rate.String() != tt.rate {
			t.Errorf("on %s: %+v, %v, want %s of %s", tt.on, q.FromLeg, ok, tt.rate, tt.provider)
		}
	}
}

func TestConvertThereAndBackStaysWithinTheRounding(t *testing.T) {
	table := worked(t)
	at := day(t, "2024-06-30")
	there, ok := fx.Spot(table, "GBP", "EUR", at, at.End())
	back, ok2 := fx.Spot(table, "EUR", "GBP", at, at.End())
	if !ok || !ok2 || there.FromLeg != back.ToLeg || there.ToLeg != back.FromLeg {
		t.Fatalf("%+v, %+v", there, back)
	}
	rapid.Check(t, func(t *rapid.T) {
		pounds := rapid.Int64Range(-1e15, 1e15).Draw(t, "pence")
		euros, err := there.Convert(pounds)
		if err != nil {
			t.Fatal(err)
		}
		again, err := back.Convert(euros)
		if diff := again - pounds; err != nil || diff < -1 || diff > 1 {
			t.Fatalf("%d pence became %d cents and %d pence, %v", pounds, euros, again, err)
		}
	})
}
