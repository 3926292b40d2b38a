package exposure_test

import (
	"encoding/csv"
	"html"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/webtest"

	"github.com/xuri/excelize/v2"
)

// book is a house with a small book: two merchants, three payments of which one is delivered.
type book struct {
	*webtest.House
	pounds, euros merchant.Channel
	first, second booking.Booking
	paid          payment.Transaction // of the first booking
	reader        *webtest.Browser    // may read alone
	taker         *webtest.Browser    // may take files out
}

func newBook(t *testing.T) book {
	t.Helper()
	b := book{House: webtest.New(t)}
	b.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.8"})
	b.pounds = b.Channel(merchant.ModeProtectionOnly, "GBP")
	b.euros = b.Channel(merchant.ModeProtectionOnly, "EUR")
	b.first = b.Booking(b.pounds, 100000, "2024-09-20")
	b.paid = b.Must(apptest.Report(payment.Purchase, b.first, 60000))
	b.second = b.Booking(b.euros, 50000, "2024-11-02")
	b.Must(apptest.Report(payment.Purchase, b.second, 50000))
	over := b.Booking(b.pounds, 7000, "2024-06-05")
	b.Must(apptest.Report(payment.Purchase, over, 7000))
	b.World.At("2024-06-10")
	b.reader, b.taker = b.As(access.ReadOnly), b.As(access.MemberAdmin)
	return b
}

// link is the URL of the first link with a text.
func link(t *testing.T, body, text string) string {
	t.Helper()
	m := regexp.MustCompile(`<a[^>]*href="([^"]*)"[^>]*>(?:<span[^>]*>)?` + regexp.QuoteMeta(text) + `<`).FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("there is no link %q", text)
	}
	return html.UnescapeString(m[1])
}

// TestClicksLeadFromTheBookToOneAllocation: each row leads deeper, and the last page explains an allocation.
func TestClicksLeadFromTheBookToOneAllocation(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	a := b.reader.Must(b.At("/exposure"), "1,000.00 GBP", "70.00 GBP", "1,070.00 GBP", "At the end of 10 Jun 2024",
		"400.00 GBP are not paid yet for 1 booking")
	a = b.reader.Must(link(t, a.Body, b.pounds.Name), "Country", "Portugal")
	a = b.reader.Must(link(t, a.Body, "Portugal"), "Country: Portugal", "Travel month", "Jun 2024", "Sep 2024")
	a = b.reader.Must(link(t, a.Body, "Sep 2024"), "Travel month: Sep 2024", "No supplier", "600.00 GBP")
	a = b.reader.Must(link(t, a.Body, "View allocations"), "Country: Portugal", "600.00 GBP", "Instalments")
	for _, other := range []string{"EUR", "70.00 GBP"} {
		if strings.Contains(a.Body[strings.Index(a.Body, "<tbody>"):], other) {
			t.Errorf("the list has %s, which the filters leave out", other)
		}
	}
	id := strconv.FormatInt(b.paid.ID, 10)
	b.reader.Must(b.At("/exposure/payments/"+id), "Payment "+id, "R9", "600.00 GBP", "Calculation", "20 Sep 2024")
	if !strings.Contains(a.Body, b.At("/exposure/payments/"+id)+"#a") {
		t.Error("the allocation does not lead to its explanation")
	}
}

// TestAViewIsExportedAsShown: as CSV and as XLSX, in the same order, with all rows and exact amounts.
func TestAViewIsExportedAsShown(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	at := b.At("/exposure?by=month&across=channel&cells=rows")
	want := [][]string{
		{"key", "across", "currency", "allocations", "e1", "report_currency", "e1_report", "e2_report", "e3_report"},
		{"Jun 2024", b.pounds.Name, "GBP", "1", "0.00", "GBP", "0.00", "70.00", "70.00"},
		{"Sep 2024", b.pounds.Name, "GBP", "1", "600.00", "GBP", "600.00", "0.00", "600.00"},
		{"Nov 2024", b.euros.Name, "EUR", "1", "500.00", "GBP", "400.00", "0.00", "400.00"},
	}
	got, err := csv.NewReader(strings.NewReader(b.taker.Must(at + "&format=csv").Body)).ReadAll()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the CSV has\n%v, want\n%v (%v)", got, want, err)
	}
	file, err := excelize.OpenReader(strings.NewReader(b.taker.Must(at + "&format=xlsx").Body))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := file.GetRows("Sheet1", excelize.Options{RawCellValue: true})
	if err != nil || len(rows) < 4 || !reflect.DeepEqual(rows[2], want[2]) || rows[3][4] != "500.00" {
		t.Errorf("the XLSX has %v (%v)", rows, err)
	}
	details, err := csv.NewReader(strings.NewReader(b.taker.Must(b.At("/exposure/details?format=csv")).Body)).ReadAll()
	wants(t, "the allocations, and what is still to be paid", details,
		[]string{"payment", "booking", "merchant", "end", "standing", "currency", "e1", "e2", "report_currency", "e1_report", "e4"},
		[]string{"1", "1", b.pounds.Name, "2024-09-20", "covered", "GBP", "600.00", "0.00", "GBP", "600.00", "0.00"},
		[]string{"", "1", b.pounds.Name, "2024-09-20", "instalments", "GBP", "", "", "", "", "400.00"},
		[]string{"2", "2", b.euros.Name, "2024-11-02", "covered", "EUR", "500.00", "0.00", "GBP", "400.00", "0.00"},
		[]string{"3", "3", b.pounds.Name, "2024-06-05", "covered", "GBP", "0.00", "70.00", "GBP", "0.00", "0.00"})
	if err != nil {
		t.Error(err)
	}
}

// TestSettingsAreInTheURL: a form omits empty values, a URL can fix known_at, and problems are shown next to their
// fields.
func TestSettingsAreInTheURL(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	if a := b.reader.Get(b.At("/exposure?as_of=&by=month&across=")); a.To != b.At("/exposure?by=month") {
		t.Errorf("a form leads to %q", a.To)
	}
	kept := link(t, b.reader.Must(b.At("/exposure?by=country")).Body, "Copy link to this snapshot")
	b.Advance(time.Hour)
	b.Must(apptest.Report(payment.Purchase, b.first, 10000))
	b.World.At("2024-10-10")
	b.reader.SignIn("read_only", webtest.Password)
	b.reader.Must(kept, "At the end of 10 Jun 2024", "1,000.00 GBP")
	b.reader.Must(b.At("/exposure?as_of=2024-06-10"), "1,100.00 GBP")
	b.reader.Must(b.At("/exposure"), "700.00 GBP") // the trip is over: it is the tail
	for at, says := range map[string]string{
		"?as_of=2024-6-1":                   "Enter a date, such as 2026-09-14.",
		"?known_at=yesterday":               "Enter a time in GMT",
		"?known_at=2030-01-01T00:00":        "Must not be in the future.",
		"?currency=QQQ":                     "Enter a currency, such as EUR or GBP.",
		"?by=month&across=month":            "The two groupings must differ.",
		"?by=month&across=channel&cells=e9": "Must be one of",
		"?valuation=locked&currency=USD":    "Locked values are only available in the policy currency",
		"?channels=999":                     "This report cannot be created",
		"?channels=x":                       "Enter numbers separated by commas.",
		"?months=2024-13":                   "is not a month such as",
	} {
		a := b.reader.Get(b.At("/exposure") + at)
		if a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), says) || !strings.Contains(a.Body, "<form class=\"settings\"") {
			t.Errorf("%s: %d %s", at, a.Status, a.Text())
		}
	}
	for query, open := range map[string]bool{"": false, "?by=month": false, "?currency=EUR": true, "?known_at=yesterday": true} {
		if a := b.reader.Get(b.At("/exposure") + query); strings.Contains(a.Body, "<details open><summary>More settings") != open {
			t.Errorf("%q: what is set must be seen, and nothing else", query)
		}
	}
	if a := b.reader.Get(b.At("/exposure/payments/999")); a.Status != http.StatusNotFound {
		t.Errorf("a payment that is not there: %d", a.Status)
	}
}

// TestWhatHasNoRateIsNotKnown: a page never shows an incomplete total.
func TestWhatHasNoRateIsNotKnown(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.reader.Must(b.At("/exposure?currency=CHF"), "Unknown", "Undelivered (E1) Unknown", "no exchange rate yet for 1 payment in EUR")
	wants(t, "a row without a rate", b.file(t, "/exposure?currency=CHF&channels="+strconv.FormatInt(b.euros.ID, 10)),
		[]string{b.euros.Name, "EUR", "1", "500.00", "CHF", "", "0.00", ""})
}

// TestSuppliersHaveTheirNames: as rows, split by another dimension, and as a filter, which finds all bookings with one
// of them.
func TestSuppliersHaveTheirNames(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	var ids []int64
	for _, name := range []string{"Casa Azul", "Air Minho"} {
		s, err := b.App.Suppliers.Create(t.Context(), b.Actor, merchant.SupplierFields{Name: &name})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.ID)
	}
	for i, bk := range []booking.Booking{b.first, b.second} {
		if _, err := b.App.Bookings.Update(t.Context(), b.Actor, bk.ID, booking.BookingFields{Suppliers: new(ids[:i+1])}); err != nil {
			t.Fatal(err)
		}
	}
	wants(t, "by supplier", b.file(t, "/exposure?by=supplier"),
		[]string{"Casa Azul", "GBP", "1", "600.00", "GBP", "600.00", "0.00", "600.00"},
		[]string{"Casa Azul + Air Minho", "EUR", "1", "500.00", "GBP", "400.00", "0.00", "400.00"},
		[]string{"No supplier", "GBP", "1", "0.00", "GBP", "0.00", "70.00", "70.00"})
	wants(t, "by country and supplier", b.file(t, "/exposure?by=country&across=supplier&cells=rows&months=2024-11"),
		[]string{"Portugal", "Casa Azul + Air Minho", "EUR", "1", "500.00", "GBP", "400.00", "0.00", "400.00"})
	a := b.reader.Must(b.At("/exposure?by=supplier"))
	b.reader.Must(link(t, a.Body, "Casa Azul"), "Supplier: Casa Azul", "1,000.00 GBP")
}
