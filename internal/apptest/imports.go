package apptest

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/takeover"
	"holdfast/internal/travel"
)

// ARow is a purchase of EUR 360.00 in channel Direct for a booking of EUR 1,200.00, changed by what follows.
func ARow(line int, key string, changes ...func(r *travel.ImportedPayment)) travel.ImportedPayment {
	content, first, last, email, country := "A week", "Ana", "Sousa", "ana@example.org", "PT"
	total, paid, end := int64(120_000), int64(36_000), civil.Date(2024, time.September, 14)
	currency, paidIn, kind := money.EUR, money.EUR, travel.Purchase
	r := travel.ImportedPayment{
		Line: line, Channel: "Direct", BaseTotal: paid,
		Booking: travel.BookingFields{
			ImportKey: "B-" + key, Content: &content, Firstname: &first, Surname: &last, Email: &email, End: &end,
			Total: &total, Currency: &currency, Country: &country,
		},
		Payment: travel.NewTransaction{
			ImportKey: "P-" + key, Reference: "P-" + key, Currency: &paidIn, Total: &paid, Type: &kind, CardType: "visa",
			EffectiveAt: time.Date(2024, time.April, 9, 8, 0, 0, 0, time.UTC),
		},
	}
	for _, change := range changes {
		change(&r)
	}
	return r
}

// Paying changes what is paid, in both currencies alike.
func Paying(amount int64) func(r *travel.ImportedPayment) {
	return func(r *travel.ImportedPayment) { r.BaseTotal, r.Payment.Total = amount, &amount }
}

// Refunding makes the row a refund of another one's payment; it keeps that one's booking.
func Refunding(key string, amount int64) func(r *travel.ImportedPayment) {
	return func(r *travel.ImportedPayment) {
		kind := travel.Refund
		r.Payment.Type, r.Linked, r.Booking.ImportKey = &kind, "P-"+key, "B-"+key
		Paying(amount)(r)
	}
}

func Of(rows ...travel.ImportedPayment) iter.Seq2[travel.ImportedPayment, error] {
	return func(yield func(travel.ImportedPayment, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Imported runs an import that must come to its end, and gives what it refused by line.
func (w *World) Imported(opts takeover.ImportOptions, rows ...travel.ImportedPayment) (takeover.ImportReport, map[int]string) {
	w.t.Helper()
	refused := map[int]string{}
	opts.Refused = func(r takeover.Refusal) { refused[r.Line] = r.Reason }
	report, err := w.App.Imports.Payments(w.t.Context(), w.Actor, Of(rows...), opts)
	if err != nil {
		w.t.Fatal(err)
	}
	if report.Rows != len(rows) || report.Refused != len(refused) {
		w.t.Errorf("%d rows of which %d refused, reported as %+v", len(rows), len(refused), report)
	}
	return report, refused
}

var Protect = takeover.ImportOptions{Mode: travel.ModeProtectionOnly, CoverFromEffective: true}

// Holdings is everything that an import writes to, as far as a caller can see it.
func (w *World) Holdings() (text string) {
	w.t.Helper()
	page := travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}
	channels, err := w.App.Channels.List(w.t.Context(), w.Actor, travel.ChannelFilter{}, page)
	bookings, err2 := w.App.Bookings.List(w.t.Context(), w.Actor, travel.BookingFilter{}, page)
	payments, err3 := w.App.Payments.List(w.t.Context(), w.Actor, travel.TransactionFilter{}, page)
	if err := errors.Join(err, err2, err3); err != nil {
		w.t.Fatal(err)
	}
	for _, c := range channels.Items {
		text += fmt.Sprintf("%s %s %s\n", c.Name, c.Mode, c.Currency)
	}
	for _, b := range bookings.Items {
		text += fmt.Sprintf("%d %s %d %d %s v%d\n", b.ID, b.ImportKey, b.Total, b.Sums.Net, b.StatusOn(0), b.Version)
	}
	for _, p := range payments.Items {
		text += fmt.Sprintf("%d %s %s %d of %d remain\n", p.ID, p.ImportKey, p.Type, p.Remaining, p.Total)
	}
	return text
}
