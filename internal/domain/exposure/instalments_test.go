package exposure_test

import (
	"testing"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
)

// TestInstalmentsOfAScope: E4 is what all payments of a booking leave unpaid, and belongs to the first remaining
// payment. A scope without all of them changes neither.
func TestInstalmentsOfAScope(t *testing.T) {
	day := civil.Date(2024, 6, 10)
	for country, want := range map[string]int64{"": 60000, "PT": 60000, "ES": 0} {
		q := exposure.ReportQuery{
			AsOf: day, KnownAt: day.End(), Currency: "EUR", Policy: "EUR", Valuation: exposure.Spot, By: exposure.ByChannel,
			Recognition: terms.RecognitionEndDate,
		}
		if country != "" {
			q.Scope.Countries = []string{country}
		}
		e := exposure.NewExposure(q, fx.NewTable(nil))
		for i, of := range []string{"PT", "ES"} { // the country was changed between the two payments
			err := e.Add(exposure.Position{
				AllocationID: int64(i + 1), BookingID: 1, BookingTotal: 100000, ChannelID: 1, Currency: "EUR", Paid: day - 5,
				Amounts: protection.Amounts{Allocated: 20000}, Protected: true, CoverFrom: (day - 5).Start(),
				Terms: protection.Terms{Start: day + 30, End: day + 30, LastDay: day + 150, Country: of},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		r, err := e.Report()
		if err != nil {
			t.Fatal(err)
		}
		var e4 int64
		for _, p := range r.Instalments {
			e4 += p.E1
		}
		if e4 != want {
			t.Errorf("country %q: E4 is %d, want %d", country, e4, want)
		}
	}
}
