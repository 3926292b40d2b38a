package apptest

import (
	"errors"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
)

// Report is a transaction for one booking, in its base currency.
func Report(kind payment.TransactionType, b booking.Booking, total int64) payment.NewTransaction {
	return payment.NewTransaction{
		ChannelID: &b.ChannelID, Currency: &b.Currency, Total: &total, Type: &kind, CardType: "visa",
		Items: &[]payment.Item{{BookingID: b.ID, Currency: b.Currency, Total: total}},
	}
}

// Linked is Report for an adjustment of an earlier transaction.
func Linked(kind payment.TransactionType, of payment.Transaction, b booking.Booking, total int64) payment.NewTransaction {
	in := Report(kind, b, total)
	in.LinkedID = of.ID
	return in
}

// Pay is a card payment for a booking.
func Pay(kind payment.TransactionType, b booking.Booking, total int64) payment.NewTransaction {
	in := Report(kind, b, total)
	in.CardType, in.Token = "", "tok_visa"
	return in
}

// Must logs a transaction that must be accepted.
func (w *World) Must(in payment.NewTransaction) payment.Transaction {
	w.t.Helper()
	t, _, err := w.App.Disputes.CreateTransaction(w.t.Context(), w.Actor, in)
	if err != nil {
		w.t.Fatalf("%s: %v", *in.Type, err)
	}
	return t
}

// Refused expects a rejection of this kind. detail is the reason for NotPossible, or the field for Invalid.
func (w *World) Refused(in payment.NewTransaction, kind errs.Kind, detail string) {
	w.t.Helper()
	_, _, err := w.App.Disputes.CreateTransaction(w.t.Context(), w.Actor, in)
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Kind != kind {
		w.t.Fatalf("%s: %v, want kind %d", *in.Type, err, kind)
	}
	if kind == errs.NotPossible && f.Reason != detail || kind == errs.Invalid && f.Params[detail] == "" {
		w.t.Fatalf("%s: reason %q, fields %v, want %q", *in.Type, f.Reason, f.Params, detail)
	}
}

// ReadTransaction reads the current state of a transaction.
func (w *World) ReadTransaction(id int64) payment.Transaction {
	w.t.Helper()
	t, err := w.App.Disputes.Transaction(w.t.Context(), w.Actor, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}
