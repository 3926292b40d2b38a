package apptest

import (
	"fmt"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
)

// Channel creates a channel.
func (w *World) Channel(mode merchant.AccountMode, currency money.Currency) merchant.Channel {
	w.t.Helper()
	name := fmt.Sprintf("%s %s", mode, currency)
	c, err := w.App.Channels.Create(w.t.Context(), w.Actor, merchant.ChannelFields{Name: &name, Currency: &currency, Mode: &mode})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// Booking creates a booking that ends on a day, in the currency of its channel.
func (w *World) Booking(c merchant.Channel, total int64, end string) booking.Booking {
	w.t.Helper()
	day, err := civil.ParseDay(end)
	if err != nil {
		w.t.Fatal(err)
	}
	content, first, last, email, country := "A week", "Ada", "Byron", "ada@example.org", "PT"
	b, err := w.App.Bookings.Create(w.t.Context(), w.Actor, booking.BookingFields{
		ChannelID: &c.ID, Content: &content, Firstname: &first, Surname: &last, Email: &email, End: &day, Total: &total,
		Currency: &c.Currency, Country: &country,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// ReadBooking reads the current state of a booking.
func (w *World) ReadBooking(id int64) booking.Booking {
	w.t.Helper()
	b, err := w.App.Bookings.Get(w.t.Context(), w.Actor, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// Move changes the end of a booking.
func (w *World) Move(b booking.Booking, end civil.Day) {
	w.t.Helper()
	if _, err := w.App.Bookings.Update(w.t.Context(), w.Actor, b.ID, booking.BookingFields{End: &end}); err != nil {
		w.t.Fatal(err)
	}
}
