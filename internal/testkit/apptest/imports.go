package apptest

import (
	"iter"
	"time"

	"holdfast/internal/book/imports"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
)

// Protect are the options of an import into protected channels, with cover from the day of each payment.
var Protect = imports.ImportOptions{Mode: merchant.ModeProtectionOnly, CoverFromEffective: true}

// ARow is a purchase of EUR 360.00 in channel Direct for a booking of EUR 1,200.00, modified by changes.
func ARow(line int, key string, changes ...func(r *imports.ImportedPayment)) imports.ImportedPayment {
	content, first, last, email, country := "A week", "Ana", "Sousa", "ana@example.org", "PT"
	total, paid, end := int64(120_000), int64(36_000), civil.Date(2024, time.September, 14)
	currency, paidIn, kind := money.EUR, money.EUR, payment.Purchase
	r := imports.ImportedPayment{
		Line: line, Channel: "Direct", BaseTotal: paid,
		Booking: booking.BookingFields{
			ImportKey: "B-" + key, Content: &content, Firstname: &first, Surname: &last, Email: &email, End: &end,
			Total: &total, Currency: &currency, Country: &country,
		},
		Payment: payment.NewTransaction{
			ImportKey: "P-" + key, Reference: "P-" + key, Currency: &paidIn, Total: &paid, Type: &kind, CardType: "visa",
			EffectiveAt: time.Date(2024, time.April, 9, 8, 0, 0, 0, time.UTC),
		},
	}
	for _, change := range changes {
		change(&r)
	}
	return r
}

// Paying sets the paid amount, the same in both currencies.
func Paying(amount int64) func(r *imports.ImportedPayment) {
	return func(r *imports.ImportedPayment) { r.BaseTotal, r.Payment.Total = amount, &amount }
}

// Refunding turns the row into a refund of another row's payment, for the same booking.
func Refunding(key string, amount int64) func(r *imports.ImportedPayment) {
	return func(r *imports.ImportedPayment) {
		kind := payment.Refund
		r.Payment.Type, r.Linked, r.Booking.ImportKey = &kind, "P-"+key, "B-"+key
		Paying(amount)(r)
	}
}

// Of returns rows as a reader without errors does.
func Of(rows ...imports.ImportedPayment) iter.Seq2[imports.ImportedPayment, error] {
	return func(yield func(imports.ImportedPayment, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Imported runs an import that must complete, and returns the rejected rows by line.
func (w *World) Imported(opts imports.ImportOptions, rows ...imports.ImportedPayment) (imports.ImportReport, map[int]string) {
	w.t.Helper()
	refused := map[int]string{}
	opts.Refused = func(r imports.Refusal) { refused[r.Line] = r.Reason }
	report, err := w.App.Imports.Payments(w.t.Context(), w.Actor, Of(rows...), opts)
	if err != nil {
		w.t.Fatal(err)
	}
	if report.Rows != len(rows) || report.Refused != len(refused) {
		w.t.Errorf("%d rows, of which %d were rejected, are reported as %+v", len(rows), len(refused), report)
	}
	return report, refused
}
