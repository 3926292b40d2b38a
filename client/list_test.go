package client_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"holdfast/client"
)

// TestAllPages iterates over a list of three pages of the real service, to the end and with a break.
func TestAllPages(t *testing.T) {
	t.Parallel()
	c := connect(t, client.APIToken(token))
	for i := range 7 {
		_, err := c.Bookings.Create(t.Context(), client.BookingCreate{
			Channels: 1, Currencies: "GBP", Total: int64(1000 + i), Firstname: "Mary", Surname: "Somerville", Email: "m@example.com",
			Content: "Trip", Date: "2026-08-01", Countries: "IT",
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	query := client.BookingsQuery{Surname: "Somerville"}
	var totals []int64
	for n := 1; ; n++ {
		list, info, err := c.Bookings.List(t.Context(), query, client.Page{Number: n, Size: 3, Count: true})
		if err != nil {
			t.Fatal(err)
		}
		if info.Total != 7 || info.Pages != 3 || info.More != (n < 3) {
			t.Errorf("page %d: %+v", n, info)
		}
		for _, b := range list {
			totals = append(totals, b.Total)
		}
		if !info.More {
			break
		}
	}
	if fmt.Sprint(totals) != "[1000 1001 1002 1003 1004 1005 1006]" {
		t.Error(totals)
	}
	for booking, err := range c.Bookings.All(t.Context(), query) {
		if err != nil || booking.Total != 1000 {
			t.Errorf("%d, %v", booking.Total, err)
		}
		break
	}
	for range c.Bookings.All(t.Context(), client.BookingsQuery{Surname: "Nobody"}) {
		t.Error("an empty list has an item")
	}
}

// paging is a service whose list has this many full pages, and fails on one of them.
func paging(t *testing.T, pages, broken int) (c *client.Client, asked *[]string) {
	t.Helper()
	asked = new([]string)
	sender := transport(func(r *http.Request) (*http.Response, error) {
		page := 0
		_, _ = fmt.Sscan(r.URL.Query().Get("page"), &page)
		*asked = append(*asked, r.URL.Query().Encode())
		made := &http.Response{StatusCode: 200, Header: http.Header{}, Request: r}
		made.Body = io.NopCloser(strings.NewReader(fmt.Sprintf(`[{"id": %d}, {"id": %d}]`, 2*page-1, 2*page)))
		made.Header.Add("Link", `<https://other.example/?page=1>; rel="prev"`)
		if page < pages {
			made.Header.Add("Link", `<https://other.example/?page=99>; rel="next"`)
		}
		if page == broken {
			made.StatusCode, made.Body = 500, http.NoBody
		}
		return made, nil
	})
	c, err := client.New("https://service.example", "demo", client.APIToken("1|s"),
		client.WithHTTPClient(&http.Client{Transport: sender}), client.WithAttempts(1))
	if err != nil {
		t.Fatal(err)
	}
	return c, asked
}

func TestAnIteratorEnds(t *testing.T) {
	t.Parallel()
	c, asked := paging(t, 3, 0)
	var ids []int64
	for row, err := range c.Payments.All(t.Context(), client.PaymentsQuery{Bookings: []int64{4, 5}, Order: "asc"}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, row.ID)
	}
	if fmt.Sprint(ids) != "[1 2 3 4 5 6]" || len(*asked) != 3 || (*asked)[1] != "bookings=4%2C5&count=false&order=asc&page=2" {
		t.Errorf("%v after %q", ids, *asked)
	}
	c, asked = paging(t, 3, 2)
	var failed error
	ids = nil
	for row, err := range c.Payments.All(t.Context(), client.PaymentsQuery{}) {
		failed = err
		if err == nil {
			ids = append(ids, row.ID)
		}
	}
	if failed == nil || fmt.Sprint(ids) != "[1 2]" || len(*asked) != 2 {
		t.Errorf("%v, %v after %q", ids, failed, *asked)
	}
	c, asked = paging(t, 3, 0)
	for row := range c.Payments.All(t.Context(), client.PaymentsQuery{}) {
		if row.ID == 2 {
			break
		}
	}
	if len(*asked) != 1 {
		t.Errorf("a loop that ended asked for %q", *asked)
	}
}

// TestValuesWithCommas: commas separate values, so values with commas are sent as repeated parameters.
func TestValuesWithCommas(t *testing.T) {
	t.Parallel()
	c, asked := paging(t, 1, 0)
	for range c.Transactions.All(t.Context(), client.TransactionsQuery{
		CardTypes: []string{"visa", "a,b"}, Status: []client.TransactionStatus{"failed", "pending"}, OverLimit: new(false),
	}) {
		break
	}
	want := "card_types%5B%5D=visa&card_types%5B%5D=a%2Cb&count=false&over_limit=false&page=1&status=failed%2Cpending"
	if (*asked)[0] != want {
		t.Errorf("asked for %s", (*asked)[0])
	}
}
