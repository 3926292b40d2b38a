package trade_test

import (
	"encoding/csv"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/webtest"

	"github.com/xuri/excelize/v2"
)

// idOf is a number as a text.
func idOf(id int64) string { return strconv.FormatInt(id, 10) }

// TestBookingsAreFound: by search and by filters, but not by invalid ones.
func TestBookingsAreFound(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.ReadOnly)
	b.Must(h.At("/bookings"), "No bookings yet")
	c := h.Channel(merchant.ModeTest, "EUR")
	first, second := h.Booking(c, 1234_50, "2030-03-01"), h.Booking(c, 10_00, "2030-04-01")
	surname := "=Lovelace" // a spreadsheet must not run it
	if _, err := h.App.Bookings.Update(t.Context(), h.Actor, second.ID, booking.BookingFields{Surname: &surname}); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string][2]bool{
		"": {true, true}, "?q=byr": {true, false}, "?q=LOVE": {false, true}, "?q=nobody": {}, "?status=paid": {}, "?status=unpaid": {true, true},
		"?end_from=2030-04-01": {false, true}, "?end_to=2030-03-31": {true, false}, "?channels=" + idOf(c.ID): {true, true},
		"?include=" + idOf(first.ID): {true, false}, "?countries=pt,es&surname=Byron": {true, false}, "?created_from=2000-01-01&created_to=2000-01-02": {},
		"?email=ada@example.org&exclude=" + idOf(first.ID): {false, true},
	} {
		a := b.Must(h.At("/bookings" + query))
		if got := [2]bool{strings.Contains(a.Text(), "Ada Byron"), strings.Contains(a.Text(), "=Lovelace")}; got != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"?include=x": "Enter IDs", "?end_from=tomorrow": "Enter a date", "?status=sold": `"sold" is not a valid value`,
	} {
		if a := b.Get(h.At("/bookings" + query)); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), want) {
			t.Errorf("%s: %d %s", query, a.Status, a.Text())
		}
	}
	b.Must(h.At("/bookings?q=nobody"), "No matching bookings")
}

// TestBookingsAreExported: with the visible columns, and no formulas.
func TestBookingsAreExported(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.Finance)
	c := h.Channel(merchant.ModeTest, "EUR")
	h.Booking(c, 1234_50, "2030-03-01")
	query := "?col=traveller&col=date_end&col=total&col=currency&format="
	rows, err := csv.NewReader(strings.NewReader(b.Must(h.At("/bookings" + query + "csv")).Body)).ReadAll()
	if err != nil || len(rows) != 2 || strings.Join(rows[1], "|") != "Ada Byron|2030-03-01|1234.50|EUR" {
		t.Errorf("%v %q", err, rows)
	}
	file, err := excelize.OpenReader(strings.NewReader(b.Must(h.At("/bookings" + query + "xlsx")).Body))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := file.GetRows("Sheet1")
	if err != nil || len(cells) != 2 || strings.Join(cells[1], "|") != "Ada Byron|2030-03-01|1,234.50|EUR" {
		t.Errorf("%v %q", err, cells)
	}
}

// TestPaymentsExport: bookings are given by ID, and their references are in a separate column.
func TestPaymentsExport(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel(merchant.ModeTest, "EUR")
	one, two := h.Booking(c, 100_00, "2030-03-01"), h.Booking(c, 100_00, "2030-03-01")
	reference := "TRIP-1"
	if _, err := h.App.Bookings.Update(t.Context(), h.Actor, one.ID, booking.BookingFields{Reference: &reference}); err != nil {
		t.Fatal(err)
	}
	in := apptest.Report(payment.Purchase, one, 60_00)
	h.Must(in)
	in.Items = &[]payment.Item{{BookingID: one.ID, Currency: "EUR", Total: 20_00}, {BookingID: two.ID, Currency: "EUR", Total: 40_00}}
	h.Must(in)
	b := h.As(access.Finance)
	query := "/payments?col=booking&col=booking_reference&col=total&col=base_total&format="
	rows, err := csv.NewReader(strings.NewReader(b.Must(h.At(query + "csv")).Body)).ReadAll()
	want := [][]string{
		{"booking", "booking_reference", "currency", "total", "base_currency", "base_total"},
		{idOf(one.ID) + " " + idOf(two.ID), reference, "EUR", "60.00", "EUR", "60.00"}, {idOf(one.ID), reference, "EUR", "60.00", "EUR", "60.00"},
	}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("%v %q", err, rows)
	}
	file, err := excelize.OpenReader(strings.NewReader(b.Must(h.At(query + "xlsx")).Body))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := file.GetRows("Sheet1")
	if err != nil || len(cells) != 3 || !reflect.DeepEqual(cells[1:], want[1:]) {
		t.Errorf("%v %q", err, cells)
	}
}
