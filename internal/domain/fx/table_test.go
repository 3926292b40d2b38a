package fx_test

import (
	"sync"
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"

	"pgregory.net/rapid"
)

func TestOnTakesTheFirstProviderThatQualifies(t *testing.T) {
	table := fx.NewTable([]fx.Fixing{
		fixing(t, fx.ECB, "2024-05-27", "GBP", "0.85"),
		fixing(t, fx.Manual, "2024-05-31", "GBP", "0.86"),
		fixing(t, fx.Demo, "2024-06-03", "GBP", "0.87"),
		fixing(t, "nobody", "2024-06-03", "GBP", "0.88"),
	})
	tests := []struct {
		on     string
		maxAge int
		want   string // empty: none
	}{
		{"2024-06-03", 7, "0.85"}, // the oldest, but of the ECB
		{"2024-06-03", 6, "0.86"},
		{"2024-06-03", 2, "0.87"},
		{"2024-06-07", 7, "0.86"},
		{"2024-06-08", 7, "0.87"},
		{"2024-06-11", 7, ""},
		{"2024-05-26", 7, ""},
		{"2024-06-03", -1, ""},
	}
	for _, tt := range tests {
		f, ok := table.On("GBP", day(t, tt.on), day(t, "2025-01-01").End(), tt.maxAge)
		if f.Rate.String() != tt.want || ok != (tt.want != "") {
			t.Errorf("on %s within %d days: %q, %v, want %q", tt.on, tt.maxAge, f.Rate, ok, tt.want)
		}
	}
	if f, ok := table.On("USD", day(t, "2024-06-03"), longAgo, 7); ok {
		t.Errorf("a currency without fixings has %+v", f)
	}
}

func TestOnSeesWhatWasOnFileAndHadNotExpired(t *testing.T) {
	noon := time.Date(2024, 6, 3, 12, 0, 0, 0, time.UTC)
	old := fixing(t, fx.Manual, "2024-06-01", "GBP", "0.84")
	first := fixing(t, fx.Manual, "2024-06-02", "GBP", "0.85")
	// The stores truncate to microseconds: stored values must give the same results.
	first.RecordedAt, first.ExpiresAt, first.QuoteID = noon.Add(999), noon.Add(2*time.Hour), "Q-1"
	corrected := fixing(t, fx.Manual, "2024-06-02", "GBP", "0.86")
	corrected.RecordedAt, corrected.ExpiresAt, corrected.QuoteID = noon.Add(time.Hour), noon.Add(3*time.Hour), "Q-2"
	table := fx.NewTable([]fx.Fixing{corrected, first, old})
	tests := []struct {
		known time.Time
		want  string
	}{
		{noon.Add(-time.Microsecond), "0.84"},
		{noon, "0.85"},
		{noon.Add(time.Hour - time.Microsecond), "0.85"},
		{noon.Add(time.Hour), "0.86"},
		{noon.Add(3*time.Hour - time.Microsecond), "0.86"},
		{noon.Add(3 * time.Hour), "0.84"}, // both have expired: what came before counts again
	}
	for _, tt := range tests {
		f, ok := table.On("GBP", day(t, "2024-06-03"), tt.known, 7)
		if !ok || f.Rate.String() != tt.want {
			t.Errorf("known at %s: %s, %v, want %s", tt.known.Format(time.RFC3339Nano), f.Rate, ok, tt.want)
		}
	}
	if f, ok := table.On("GBP", day(t, "2024-06-03"), longAgo.Add(-time.Second), 7); ok {
		t.Errorf("before anything was on file: %+v", f)
	}
}

// worlds are small, so that days, times of recording and expiry collide often.
var worlds = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) fx.Fixing {
	f := fx.Fixing{
		ID:         rapid.Int64Range(1, 1000).Draw(t, "id"),
		Provider:   rapid.SampledFrom([]fx.Provider{fx.ECB, fx.Manual, fx.Demo}).Draw(t, "provider"),
		Day:        civil.Day(rapid.IntRange(0, 20).Draw(t, "day")),
		Currency:   rapid.SampledFrom([]money.Currency{"GBP", "JPY"}).Draw(t, "currency"),
		RecordedAt: longAgo.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "recorded")) * time.Second),
	}
	if rapid.Bool().Draw(t, "expires") {
		f.ExpiresAt = f.RecordedAt.Add(time.Duration(rapid.IntRange(0, 10).Draw(t, "for")) * time.Second)
	}
	return f
}), 0, 60)

// later says whether f counts before g, both qualifying.
func later(f, g fx.Fixing) bool {
	switch {
	case f.Day != g.Day:
		return f.Day > g.Day
	case !f.RecordedAt.Equal(g.RecordedAt):
		return f.RecordedAt.After(g.RecordedAt)
	default:
		return f.ID > g.ID
	}
}

func TestOnAgreesWithReadingEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := worlds.Draw(t, "fixings")
		table := fx.NewTable(all)
		on := civil.Day(rapid.IntRange(-1, 25).Draw(t, "on"))
		known := longAgo.Add(time.Duration(rapid.IntRange(-1, 35).Draw(t, "known")) * time.Second)
		maxAge := rapid.IntRange(0, 25).Draw(t, "max age")

		var want fx.Fixing
		found := false
		for _, p := range []fx.Provider{fx.ECB, fx.Manual, fx.Demo} {
			var best fx.Fixing
			any := false
			for _, f := range all {
				counts := f.Provider == p && f.Currency == "GBP" && f.Day <= on && !f.RecordedAt.After(known) &&
					(f.ExpiresAt.IsZero() || f.ExpiresAt.After(known))
				if counts && (!any || later(f, best)) {
					best, any = f, true
				}
			}
			if any && int(on-best.Day) <= maxAge {
				want, found = best, true
				break
			}
		}
		got, ok := table.On("GBP", on, known, maxAge)
		// Two fixings may be equal in everything that decides; which one is found then does not matter.
		if ok != found || later(got, want) || later(want, got) || got.Provider != want.Provider {
			t.Fatalf("got %+v, %v, want %+v, %v", got, ok, want, found)
		}
	})
}

func TestTableIsSharedByManyReaders(t *testing.T) {
	table := worked(t)
	at := day(t, "2024-06-30")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				if q, ok := fx.Spot(table, "JPY", "GBP", at, at.End()); !ok || q.ToLeg.Provider != fx.ECB {
					t.Errorf("%+v, %v", q, ok)
				}
			}
		})
	}
	group.Wait()
}

func BenchmarkLock(b *testing.B) {
	gbp, jpy := fixing(b, fx.ECB, "1999-01-04", "GBP", "0.7111"), fixing(b, fx.ECB, "1999-01-04", "JPY", "133.73")
	var all []fx.Fixing
	for i := range civil.Day(7000) {
		gbp.Day++
		jpy.Day++
		gbp.RecordedAt = longAgo.Add(time.Duration(i) * 24 * time.Hour)
		jpy.RecordedAt = gbp.RecordedAt
		all = append(all, gbp, jpy)
	}
	table := fx.NewTable(all)
	paid := gbp.Day + 1
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := fx.Lock(table, "JPY", "GBP", paid, gbp.RecordedAt, 7); !ok {
			b.Fatal("pending")
		}
	}
}
