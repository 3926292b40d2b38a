package apptest

import (
	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// BookIn tries to make a booking in a channel, in a currency.
func (w *World) BookIn(channel int64, currency money.Currency) error {
	_, err := w.App.Bookings.Create(w.t.Context(), w.Actor, travel.BookingFields{
		ChannelID: &channel, Content: new("A week"), Firstname: new("Ada"), Surname: new("Lovelace"),
		Email: new("ada@example.com"), End: new(civil.Day(20_000)), Total: new(int64(100)), Currency: &currency, Country: new("FR"),
	})
	return err
}
