// Package paymentfile reads payments from a CSV file. Each row is one payment with its booking. This package checks
// the format of the cells: numbers, days, currencies. The rules for bookings and payments are in the packages of
// domain, and package imports compares the rows with what is stored. Start at Read. Columns lists the columns.
package paymentfile

import (
	"strings"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
)

// Column is one column of the file. Help texts and docs/import.md are generated from it.
type Column struct {
	Name     string
	Required bool   // the file must have the column, and each row must fill it
	Meaning  string // one line for people
	of       part   // the column belongs to the booking or to the payment
	field    string // name of its field in the API
	read     func(r *row, cell string)
}

// Columns lists every column that is read, in an order that is natural for people: the booking, the trip, the traveller,
// the payment, the card.
var Columns = []Column{
	{"booking_reference", true, "your own id for the booking, unique for its merchant", booking, "reference", func(r *row, s string) {
		r.out.Booking.ImportKey = r.id(s)
		r.out.Booking.Reference = &s
	}},
	{"channel", false, "name of the merchant; with --mode, a missing merchant is created", booking, "channels", func(r *row, s string) {
		r.out.Channel = s
	}},
	{"channel_id", false, "id of an existing merchant, instead of its name or together with it", booking, "channel_id", func(r *row, s string) {
		r.channelID(s)
	}},
	{"countries", true, "country of the trip, two letters such as PT", booking, "countries", func(r *row, s string) { r.out.Booking.Country = &s }},
	{"currencies", true, "currency of the booking, the same as its merchant's, such as EUR", booking, "currencies", func(r *row, s string) {
		r.out.Booking.Currency = r.currency(s)
	}},
	{"date_start", false, "first day of the trip, such as 2024-06-23", booking, "date_start", func(r *row, s string) {
		r.out.Booking.Start = r.day(s)
	}},
	{"date", true, "last day of the trip, such as 2024-06-30", booking, "date", func(r *row, s string) {
		r.out.Booking.End = r.day(s)
	}},
	{"pax", false, "number of travellers", booking, "pax", func(r *row, s string) { r.out.Booking.Pax = r.number(s) }},
	{"total", true, "total of the booking, in minor units of currencies", booking, "total", func(r *row, s string) {
		r.out.Booking.Total = r.amount(s)
	}},
	{"firstname", true, "first name of the lead traveller", booking, "firstname", func(r *row, s string) { r.out.Booking.Firstname = &s }},
	{"surname", true, "surname of the lead traveller", booking, "surname", func(r *row, s string) { r.out.Booking.Surname = &s }},
	{"email", true, "e-mail address of the lead traveller", booking, "email", func(r *row, s string) { r.out.Booking.Email = &s }},
	{"content", true, "description of the booking", booking, "content", func(r *row, s string) { r.out.Booking.Content = &s }},
	{"language", false, "language of receipts, such as enGB (the default)", booking, "language", func(r *row, s string) {
		r.out.Booking.Language = &s
	}},
	{"other_protection", false, "other protection of the traveller, where it differs from the merchant's: none, bond, trust_account, insurance or scheme", booking, "other_protection", func(r *row, s string) {
		other := merchant.OtherProtection(s)
		r.out.Booking.OtherProtection = &other
	}},
	{"payment_reference", true, "your own id for the payment, unique for its merchant", ofPayment, "reference", func(r *row, s string) {
		r.out.Payment.ImportKey = r.id(s)
		r.out.Payment.Reference = s
	}},
	{"linked_reference", false, "for a refund, capture or void: payment_reference of the payment that it adjusts", ofPayment, "linked_id", func(r *row, s string) {
		r.out.Linked = r.id(s)
	}},
	{"transaction_types", true, "purchase, authorize, capture, refund, void, chargeback, prevented or chargeback-reversal", ofPayment, "transaction_types", func(r *row, s string) {
		kind := payment.TransactionType(s)
		r.out.Payment.Type = &kind
	}},
	{"paid_at", true, "time of the payment in GMT, such as 2024-01-15 12:00:00", ofPayment, "effective_at", func(r *row, s string) { r.paidAt(s) }},
	{"payment_currencies", true, "currency of the payment, such as EUR", ofPayment, "currencies", func(r *row, s string) {
		r.out.Payment.Currency = r.currency(s)
	}},
	{"payment_total", true, "amount of the payment, in minor units of payment_currencies, always positive", ofPayment, "total", func(r *row, s string) {
		r.out.Payment.Total = r.amount(s)
	}},
	{"booking_total", true, "the same amount in minor units of currencies, always positive", ofPayment, "bookings", func(r *row, s string) {
		if n := r.amount(s); n != nil {
			r.out.BaseTotal = *n
		}
	}},
	{"payment_methods", false, "credit-card (the default) or bank-transfer", ofPayment, "payment_methods", func(r *row, s string) { r.out.Payment.Method = s }},
	{"card_types", false, "card scheme, such as visa", ofPayment, "card_types", func(r *row, s string) { r.out.Payment.CardType = s }},
	{"bin_number", false, "first 6 or 8 digits of the card number", ofPayment, "bin_number", func(r *row, s string) { r.out.Payment.BIN = s }},
	{"last_four_digits", false, "last 4 digits of the card number", ofPayment, "last_four_digits", func(r *row, s string) { r.out.Payment.LastFour = s }},
	{"auth_code", false, "authorisation code of the issuer", ofPayment, "auth_code", func(r *row, s string) { r.out.Payment.AuthCode = s }},
	{"acquirer_reference", false, "acquirer reference number (ARN) of the payment, 23 digits", ofPayment, "acquirer_reference", func(r *row, s string) {
		r.out.Payment.AcquirerReference = s
	}},
	{"processor_reference", false, "the processor's own id of this payment or refund", ofPayment, "processor_reference", func(r *row, s string) {
		r.out.Payment.ProcessorReference = r.id(s)
	}},
	{"psp", false, "the payment processor", ofPayment, "psp", func(r *row, s string) { r.out.Payment.PSP = s }},
	{"payee_name", false, "first name of the payer", ofPayment, "payee_name", func(r *row, s string) { r.out.Payment.PayeeName = s }},
	{"payee_surname", false, "surname of the payer", ofPayment, "payee_surname", func(r *row, s string) { r.out.Payment.PayeeSurname = s }},
	{"payee_email", false, "e-mail address of the payer", ofPayment, "payee_email", func(r *row, s string) { r.out.Payment.PayeeEmail = s }},
	{"ip_address", false, "IP address of the payer", ofPayment, "ip_address", func(r *row, s string) { r.out.Payment.IPAddress = s }},
}

// amount reports whether the cells of a column are amounts of money.
func (c *Column) amount() bool { return c.Name == "total" || strings.HasSuffix(c.Name, "_total") }

// dated reports whether the cells of a column are dates or times.
func (c *Column) dated() bool {
	return c.Name == "date_start" || c.Name == "date" || c.Name == "paid_at"
}

// namesChannel reports whether a column says which channel a row belongs to. A file has one of them at least.
func namesChannel(c *Column) bool { return c.Name == "channel" || c.Name == "channel_id" }

func known(name string) *Column {
	for i := range Columns {
		if strings.EqualFold(Columns[i].Name, name) {
			return &Columns[i]
		}
	}
	return nil
}
