package protection_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/protection"

	"pgregory.net/rapid"
)

func TestWhichLimitIsInForce(t *testing.T) {
	known := civil.Day(100).Start()
	limits := protection.Limits{
		{ID: 1, Scope: protection.LimitChannel, FromDay: 10, Amount: 100, RecordedAt: known},
		{ID: 2, Scope: protection.LimitChannel, ChannelID: 7, FromDay: 20, Amount: 200, RecordedAt: known},
		{ID: 3, Scope: protection.LimitChannel, FromDay: 10, Amount: 300, RecordedAt: known.Add(time.Hour)},
		{ID: 4, Scope: protection.LimitChannel, ChannelID: 7, FromDay: 30, Lifted: true, RecordedAt: known},
		{ID: 5, Scope: protection.LimitSite, FromDay: 10, Amount: 500, RecordedAt: known},
		{ID: 6, Scope: protection.LimitSite, FromDay: 40, Lifted: true, RecordedAt: known},
	}
	for _, c := range []struct {
		name    string
		scope   protection.LimitScope
		channel int64
		day     civil.Day
		known   time.Time
		want    int64
	}{
		{"before the first", protection.LimitChannel, 7, 9, known, 0},
		{"the general one", protection.LimitChannel, 7, 10, known, 1},
		{"of one day the later recorded", protection.LimitChannel, 7, 10, known.Add(time.Hour), 3},
		{"the channel's own", protection.LimitChannel, 7, 25, known, 2},
		{"not another channel's", protection.LimitChannel, 8, 25, known, 1},
		{"the general one after its own ended", protection.LimitChannel, 7, 30, known, 1},
		{"of the site", protection.LimitSite, 0, 39, known, 5},
		{"lifted", protection.LimitSite, 0, 40, known, 0},
		{"of a scope without limits", protection.LimitBooking, 7, 40, known, 0},
	} {
		l, ok := limits.InForce(c.scope, c.channel, c.day, c.known)
		if l.ID != c.want || ok != (c.want != 0) {
			t.Errorf("%s: limit %d, %v; want %d", c.name, l.ID, ok, c.want)
		}
	}
}

func TestLevels(t *testing.T) {
	limit := protection.Limit{Amount: 1001}
	for use, want := range map[int64]int64{0: 0, 800: 0, 801: 80, 950: 80, 951: 95, 1000: 95, 1001: 100, 5000: 100} {
		if got := limit.Level(use); got != want {
			t.Errorf("use %d: level %d, want %d", use, got, want)
		}
	}
	for use, want := range map[int64]string{0: "0.0", 1: "0.1", 916: "91.5", 1000: "99.9", 1001: "100.0", 1_001_000: "100000.0"} {
		if got := limit.Percent(use); got != want {
			t.Errorf("use %d: %s %%, want %s %%", use, got, want)
		}
	}
	if got := protection.Crossed(80, 100); !slices.Equal(got, []int64{95, 100}) {
		t.Errorf("from 80 to 100: %v", got)
	}
	if got := protection.Crossed(100, 80); got != nil {
		t.Errorf("downwards: %v", got)
	}
}

// TestOverSumsUp: for payments of any order and size without other changes, the amounts over a limit add up to the use
// less the limit.
func TestOverSumsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := protection.Limit{Amount: rapid.Int64Range(1, 5000).Draw(t, "limit")}
		var use, over int64
		for _, added := range rapid.SliceOf(rapid.Int64Range(0, 1000)).Draw(t, "payments") {
			use += added
			over += limit.Over(added, use)
		}
		if over != max(0, use-limit.Amount) || limit.Headroom(use) != max(0, limit.Amount-use) {
			t.Fatalf("use %d, limit %d, over %d, headroom %d", use, limit.Amount, over, limit.Headroom(use))
		}
	})
}

func TestOverLimitAmountIsOfTheLimitExceededMost(t *testing.T) {
	amount, currency := protection.OverLimitAmount([]protection.OverLimit{
		{AllocationID: 1, Scope: protection.LimitBooking, Amount: 20, Currency: "GBP"},
		{AllocationID: 1, Scope: protection.LimitBooking, Amount: 30, Currency: "GBP"}, // a lower limit, set later
		{AllocationID: 2, Scope: protection.LimitBooking, Amount: 40, Currency: "GBP"},
		{AllocationID: 2, Scope: protection.LimitSite, Amount: 60, Currency: "GBP"},
	})
	if amount != 70 || currency != "GBP" {
		t.Errorf("%s %d, want GBP 70", currency, amount)
	}
}
