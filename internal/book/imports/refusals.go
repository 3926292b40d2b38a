package imports

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
)

// refusedCell rejects a row because of one cell.
func refusedCell(cell, format string, args ...any) error {
	return errs.WrongField(cell, format, args...)
}

// cellsOf combines the errors of a row, its booking and its payment into one rejection that names the cells. Errors that are not about
// fields are returned unchanged.
func cellsOf(booking, payment, row error) error {
	var cells errs.Problems
	for _, noun := range []struct {
		err  error
		name func(field string) string
	}{{row, strings.Clone}, {booking, BookingCell}, {payment, PaymentCell}} {
		f, ok := errors.AsType[*errs.Error](noun.err)
		if !ok || f.Kind != errs.Invalid && f.Kind != errs.Missing {
			if noun.err != nil {
				return noun.err
			}
			continue
		}
		for _, field := range f.Absent {
			cells.Wrong(noun.name(field), "This cell cannot be empty.")
		}
		for _, field := range slices.Sorted(maps.Keys(f.Params)) {
			cells.Wrong(noun.name(field), "%s", f.Params[field])
		}
	}
	return cells.Err()
}

// refusalOf says why a row was rejected.
func refusalOf(line int, err error) Refusal {
	r := Refusal{Line: line, Reason: err.Error()}
	if f, ok := errors.AsType[*errs.Error](err); ok {
		r.Reason = f.Message // the error behind it is for the log
		if len(f.Params) > 0 {
			r.Cells = f.Params
			parts := make([]string, 0, len(f.Params))
			for _, cell := range slices.Sorted(maps.Keys(f.Params)) {
				parts = append(parts, cell+": "+f.Params[cell])
			}
			r.Reason = strings.Join(parts, " ")
		}
	}
	return r
}

// sameBooking rejects a row whose booking exists with different content. Cells missing from the row are not compared.
func sameBooking(says booking.BookingFields, stored, row booking.Booking) error {
	var differ errs.Problems
	compare := func(field string, said bool, was, is any) {
		if said && was != is {
			differ.Wrong(BookingCell(field), "Booking %d already exists with %v, not %v. Change the booking first, then import the file again.",
				stored.ID, was, is)
		}
	}
	// The messages contain no personal data.
	personal := func(field, was, is string) {
		if was != is {
			differ.Wrong(BookingCell(field), "Booking %d already exists with another value. Change the booking first, then import the file again.", stored.ID)
		}
	}
	personal("content", stored.Content, row.Content)
	personal("firstname", stored.Firstname, row.Firstname)
	personal("surname", stored.Surname, row.Surname)
	personal("email", strings.ToLower(stored.Email), strings.ToLower(row.Email))
	compare("date", true, stored.End, row.End)
	compare("date_start", says.Start != nil, dayText(stored.Start), dayText(row.Start))
	compare("pax", says.Pax != nil, stored.Pax, row.Pax)
	compare("total", true, money.FormatSigned(stored.Total, stored.Currency), money.FormatSigned(row.Total, row.Currency))
	compare("currencies", true, stored.Currency, row.Currency)
	compare("countries", true, stored.Country, row.Country)
	compare("language", says.Language != nil, stored.Language, row.Language)
	compare("other_protection", says.OtherProtection != nil, stored.OtherProtection(), row.OwnProtection)
	return differ.Err()
}

func dayText(day civil.Day) string {
	if day == civil.NoDay {
		return "no day"
	}
	return day.String()
}

// samePayment rejects a row whose payment exists with different content, and says how they differ.
func samePayment(stored payment.Transaction, row payment.NewTransaction, bookingID int64) error {
	var differ errs.Problems
	compare := func(field string, was, is any) {
		if was != is {
			differ.Wrong(PaymentCell(field), "The payment already exists with %v, not %v.", was, is)
		}
	}
	compare("transaction_types", stored.Type, *row.Type)
	compare("currencies", stored.Currency, *row.Currency)
	compare("total", stored.Total, *row.Total)
	compare("bookings", stored.BaseTotal, payment.BaseTotal(*row.Items))
	compare("effective_at", civil.FormatInstant(stored.EffectiveAt), civil.FormatInstant(row.EffectiveAt))
	compare("psp", stored.PSP, row.PSP)
	compare("card_types", stored.CardType, row.CardType)
	compare("bin_number", stored.BIN, row.BIN)
	compare("last_four_digits", stored.LastFour, row.LastFour)
	compare("acquirer_reference", stored.AcquirerReference, row.AcquirerReference)
	compare("processor_reference", stored.ProcessorReference, row.ProcessorReference)
	if len(stored.Payments) != 1 || stored.Payments[0].BookingID != bookingID {
		differ.Wrong("booking_reference", "The payment already exists, for another booking.")
	}
	if stored.LinkedID != row.LinkedID {
		differ.Wrong("linked_reference", "The payment already exists and adjusts another one.")
	}
	if err := differ.Err(); err != nil {
		return err
	}
	return errs.New(errs.ReferenceExists,
		"The payment already exists as transaction %d, with different content or another start of cover.", stored.ID)
}
