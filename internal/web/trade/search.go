package trade

import (
	"net/url"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

// searchPage is the result of the sidebar search.
type searchPage struct {
	Query, Action      string
	Bookings, Payments *kit.Table
	AllBookings        string
	AllPayments        string
	Empty              kit.Empty
}

// mostFound is the maximum number of bookings and of payments shown.
const mostFound = 10

// search finds bookings and payments. A single hit opens directly.
func (p *pages) search(v *kit.Visit) error {
	q := v.Query("q")
	data := searchPage{Query: q, Empty: kit.Empty{
		Title: "No results", Text: "Search for bookings and payments by number, reference, surname or e-mail address.",
	}}
	if q == "" {
		data.Empty.Title = "Search"
		return p.showSearch(v, data)
	}
	page := store.Page{Number: 1, Size: mostFound, Offset: -1, OrderBy: "id", Descending: true}
	bookings, err := p.app.Bookings.List(v.R.Context(), v.Actor, bookings.BookingFilter{Find: q}, page)
	if err != nil {
		return err
	}
	payments, err := p.app.Payments.List(v.R.Context(), v.Actor, payments.TransactionFilter{Find: q}, page)
	if err != nil {
		return err
	}
	switch {
	case len(bookings.Items) == 1 && len(payments.Items) == 0:
		return v.Go(bookingAt(v, bookings.Items[0].ID))
	case len(bookings.Items) == 0 && len(payments.Items) == 1:
		return v.Go(paymentAt(v, payments.Items[0].ID))
	}
	if data.Bookings, data.Payments, err = p.latest(v, bookings.Items, payments.Items); err != nil {
		return err
	}
	if bookings.More {
		data.AllBookings = v.At("/bookings?q=" + url.QueryEscape(q))
	}
	if payments.More {
		data.AllPayments = v.At("/payments?q=" + url.QueryEscape(q))
	}
	return p.showSearch(v, data)
}

func (p *pages) showSearch(v *kit.Visit, data searchPage) error {
	data.Action = v.At("/search")
	return v.Show(p.Pages, "search.html", kit.Page{Title: "Search", Data: data})
}

// latest are two short tables of bookings and payments.
func (p *pages) latest(
	v *kit.Visit, bookings []booking.Booking, payments []payment.Transaction,
) (of, paid *kit.Table, err error) {
	rows, err := p.bookingRows(v, bookings)
	if err != nil {
		return nil, nil, err
	}
	b := kit.Table{Bare: true, Name: "bookings", Caption: "Bookings", Columns: bookingColumns(v), Rows: rows}
	for i := range b.Columns {
		b.Columns[i].Sorts = false
		b.Columns[i].Hidden = b.Columns[i].Hidden || b.Columns[i].Name == "unpaid" || b.Columns[i].Name == "reference"
	}
	if rows, err = p.paymentRows(v, payments); err != nil {
		return nil, nil, err
	}
	t := kit.Table{Bare: true, Name: "payments", Caption: "Payments", Columns: paymentColumns(v), Rows: rows}
	for i := range t.Columns {
		t.Columns[i].Sorts = false
		t.Columns[i].Hidden = t.Columns[i].Hidden || t.Columns[i].Name == "remaining" || t.Columns[i].Name == "channel" || t.Columns[i].Name == "reference"
	}
	return v.Table(b), v.Table(t), nil
}
