package apptest

import (
	"errors"

	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// Report is a transaction in the base currency of the booking, for that one booking.
func Report(kind travel.TransactionType, b travel.Booking, total int64) travel.NewTransaction {
	return travel.NewTransaction{
		ChannelID: &b.ChannelID, Currency: &b.Currency, Total: &total, Type: &kind, CardType: "visa",
		Items: &[]travel.Item{{BookingID: b.ID, Currency: b.Currency, Total: total}},
	}
}

// Linked is Report for what adjusts an earlier transaction.
func Linked(kind travel.TransactionType, of travel.Transaction, b travel.Booking, total int64) travel.NewTransaction {
	in := Report(kind, b, total)
	in.LinkedID = of.ID
	return in
}

// Pay is a payment by card of a booking.
func Pay(kind travel.TransactionType, b travel.Booking, total int64) travel.NewTransaction {
	in := Report(kind, b, total)
	in.CardType, in.Token = "", "tok_visa"
	return in
}

// Must logs a transaction that is accepted.
func (w *World) Must(in travel.NewTransaction) travel.Transaction {
	w.t.Helper()
	t, _, err := w.App.Payments.Create(w.t.Context(), w.Actor, in)
	if err != nil {
		w.t.Fatalf("%s: %v", *in.Type, err)
	}
	return t
}

// Refused expects a refusal of a kind, and for NotPossible its reason or for Invalid a field.
func (w *World) Refused(in travel.NewTransaction, kind fault.Kind, detail string) {
	w.t.Helper()
	_, _, err := w.App.Payments.Create(w.t.Context(), w.Actor, in)
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != kind {
		w.t.Fatalf("%s: %v, want kind %d", *in.Type, err, kind)
	}
	if kind == fault.NotPossible && f.Reason != detail || kind == fault.Invalid && f.Params[detail] == "" {
		w.t.Fatalf("%s: reason %q, fields %v, want %q", *in.Type, f.Reason, f.Params, detail)
	}
}

// ReadTransaction reads a transaction as it is now.
func (w *World) ReadTransaction(id int64) travel.Transaction {
	w.t.Helper()
	t, err := w.App.Payments.Get(w.t.Context(), w.Actor, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}
