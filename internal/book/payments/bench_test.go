package payments_test

import (
	"sync/atomic"
	"testing"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// BenchmarkPurchase logs payments of bookings, 32 callers at once, on SQLite:
//
//	go test ./internal/payments -run none -bench Purchase -benchtime 4000x -count 5
func BenchmarkPurchase(b *testing.B) {
	w := apptest.NewWorld(b, dbtest.SQLite(b))
	channel := w.Channel(merchant.ModeProtectionOnly, "GBP")
	bookings := make([]booking.Booking, 64)
	for i := range bookings {
		bookings[i] = w.Booking(channel, check.MaxAmount, "2024-09-14")
	}
	var n atomic.Int64
	b.SetParallelism(16) // on two cores
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			booking := bookings[n.Add(1)%int64(len(bookings))]
			if _, _, err := w.App.Payments.Create(b.Context(), w.Actor, apptest.Report(payment.Purchase, booking, 100)); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
