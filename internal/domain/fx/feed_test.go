package fx_test

import (
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
)

var feedDay = civil.Date(2026, 3, 2)

func feedFixing(t *testing.T, id int64, c money.Currency, rate string, day civil.Day) fx.Fixing {
	t.Helper()
	r, err := money.ParseRate(rate)
	if err != nil {
		t.Fatal(err)
	}
	return fx.Fixing{ID: id, Provider: fx.ECB, Currency: c, Rate: r, Day: day, RecordedAt: day.Start().Add(time.Duration(id) * time.Hour)}
}

func feedOf(t *testing.T, base money.Currency, margin string, fixings ...fx.Fixing) map[money.Currency]fx.FeedRate {
	t.Helper()
	m, err := fx.ParseMargin(margin)
	if err != nil {
		t.Fatal(err)
	}
	rates := map[money.Currency]fx.FeedRate{}
	for _, r := range fx.Feed(fx.NewTable(fixings), base, feedDay, feedDay.End(), 7, m) {
		rates[r.Currency] = r
	}
	return rates
}

func TestAFeedCrossesTwoFixings(t *testing.T) {
	gbp, usd := feedFixing(t, 1, "GBP", "0.86", feedDay-3), feedFixing(t, 2, "USD", "1.08", feedDay-1)
	idr := feedFixing(t, 3, "IDR", "17512.4", feedDay-8) // too old
	feed := feedOf(t, "GBP", "0", gbp, usd, idr)
	want := map[money.Currency]fx.FeedRate{
		// 1.08 / 0.86 = 1.255813953488…, 1 / 0.86 = 1.162790697674…
		"USD": {"USD", "1.25581395", 2, fx.ECB, (feedDay + 4).End(), usd.RecordedAt},
		"EUR": {"EUR", "1.1627907", 1, fx.ECB, (feedDay + 4).End(), gbp.RecordedAt},
	}
	if len(feed) != len(want) {
		t.Fatalf("%+v", feed)
	}
	for c, w := range want {
		if feed[c] != w {
			t.Errorf("%s: %+v, want %+v", c, feed[c], w)
		}
	}
	if got := feedOf(t, "IDR", "0", gbp, usd, idr); len(got) != 0 {
		t.Errorf("a base without a fixing that counts has rates: %+v", got)
	}
	if got := feedOf(t, "EUR", "0", gbp, usd); got["GBP"].Rate != "0.86" || got["USD"].FixingID != 2 || len(got) != 2 {
		t.Errorf("the euro's own feed: %+v", got)
	}
}

func TestTheMarginOfAFeedIsAddedBeforeTheOneRounding(t *testing.T) {
	gbp := feedFixing(t, 1, "GBP", "0.86", feedDay)
	for margin, want := range map[string]string{"0": "0.86", "2.5": "0.8815", "0.0001": "0.86000086", "99.9999": "1.71999914"} {
		if got := feedOf(t, "EUR", margin, gbp)["GBP"].Rate; got != want {
			t.Errorf("%s %%: %s, want %s", margin, got, want)
		}
	}
	vnd, kwd := feedFixing(t, 1, "VND", "30111", feedDay), feedFixing(t, 2, "KWD", "0.33", feedDay)
	// 0.33 / 30111 = 0.0000109594500348…: eight significant digits, not eight decimals.
	if got := feedOf(t, "VND", "0", vnd, kwd)["KWD"].Rate; got != "0.00001095945" {
		t.Errorf("a small rate is %s", got)
	}
}

func TestARateOfAFeedEndsWithTheQuoteThatItRestsOn(t *testing.T) {
	quote := feedFixing(t, 1, "GBP", "0.86", feedDay)
	quote.Provider, quote.QuoteID, quote.ExpiresAt = fx.Manual, "Q1", feedDay.End().Add(time.Hour)
	feed := feedOf(t, "GBP", "0", quote, feedFixing(t, 2, "USD", "1.08", feedDay))
	if r := feed["USD"]; !r.Expires.Equal(quote.ExpiresAt) || r.Provider != fx.ECB {
		t.Errorf("%+v", r)
	}
	if r := feed["EUR"]; r.Provider != fx.Manual || r.FixingID != 1 {
		t.Errorf("%+v", r)
	}
}

func TestAMarginIsAPercentage(t *testing.T) {
	for _, text := range []string{"", ".5", "2.", "-1", "100", "1.00001", "1e1", "2,5", " 2"} {
		if m, err := fx.ParseMargin(text); err == nil {
			t.Errorf("%q is read as %+v", text, m)
		}
	}
}
