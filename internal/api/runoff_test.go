package api_test

import (
	"io"
	"testing"

	"holdfast/internal/testkit/dbtest"
)

// TestFinalReportsAreTheSameBytes: whatever is logged later, an exposure report for an earlier known_at stays the same.
func TestFinalReportsAreTheSameBytes(t *testing.T) {
	for _, engine := range dbtest.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, engine.Database(t), io.Discard)
			k := &talk{world: w, as: "operator", kept: map[string]string{}}
			const v2 = "/demo/rest/svc/v2"
			log := func(lines ...string) {
				for _, line := range lines {
					k.run(t, line)
				}
			}
			booking := `{"channels": 4, "content": "Flight", "firstname": "Ada", "surname": "Lovelace", "email": "ada@example.com",` +
				` "date": "2026-05-01", "total": 60000, "currencies": "EUR", "countries": "PT"}`
			purchase := `{"channels": 4, "currencies": "EUR", "total": 20000, "transaction_types": "purchase",` +
				` "bookings": [{"id": 1, "currencies": "EUR", "total": 20000}], "card_types": "visa"}`
			log("POST "+v2+"/bookings\n\n"+booking, "POST "+v2+"/transactions\n\n"+purchase)
			const moment = "known_at=2026-03-02T11:00:00Z"
			addresses := []string{
				v2 + "/exposure?" + moment, v2 + "/exposure/run-off?" + moment, v2 + "/exposure/run-off?as_of=2026-03-01&" + moment,
				v2 + "/exposure/ageing?valuation=locked&" + moment, v2 + "/exposure/movement?from=2026-03-01&to=2026-06-01&" + moment,
			}
			before := map[string]string{}
			w.clock.set(w.clock.read().Add(24 * 60 * 60e9))
			for _, address := range addresses {
				before[address] = k.run(t, "GET "+address+"&as_of=2026-03-20")
			}
			log("POST "+v2+"/transactions\n\n"+purchase,
				"POST "+v2+"/transactions\n\n"+`{"channels": 4, "currencies": "EUR", "total": 5000, "transaction_types": "refund", "linked_id": 1}`,
				"PUT "+v2+"/bookings/1\n\n"+`{"date": "2026-03-03", "countries": "ES"}`,
				"PUT "+v2+"/channels/4\n\n"+`{"name": "Renamed"}`)
			w.clock.set(w.clock.read().Add(400 * 24 * 60 * 60e9))
			for _, address := range addresses {
				if after := k.run(t, "GET "+address+"&as_of=2026-03-20"); after != before[address] {
					t.Errorf("%s: before\n%s\nafter\n%s", address, before[address], after)
				}
			}
		})
	}
}
