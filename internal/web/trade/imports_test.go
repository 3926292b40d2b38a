package trade_test

import (
	"encoding/csv"
	"io"
	"iter"
	"net/http"
	"os"
	"strings"
	"testing"

	"holdfast/internal/account/sessions"
	"holdfast/internal/book/bookings"
	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/store"
	"holdfast/internal/testkit/webtest"
)

// upload is a form with a file, as sent by browsers.
func upload(mode, file string) (kind, body string) {
	const boundary = "xxBOUNDARYxx"
	part := func(head, text string) string {
		return "--" + boundary + "\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + text + "\r\n"
	}
	return "multipart/form-data; boundary=" + boundary,
		part(`name="mode"`, mode) + part(`name="file"; filename="book.csv"`, file) + "--" + boundary + "--\r\n"
}

// worked runs the import job until there is nothing left to do.
func worked(t *testing.T, h *webtest.House) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = h.App.ImportFiles.Next(t.Context(), func(file io.Reader) iter.Seq2[imports.ImportedPayment, error] {
			return paymentfile.Read(file, nil)
		}, sessions.AccessNow); err != nil {
			t.Fatal(err)
		}
	}
}

// allBookings are the bookings of the site.
func allBookings(t *testing.T, h *webtest.House) []booking.Booking {
	t.Helper()
	list, err := h.App.Bookings.List(t.Context(), h.Actor, bookings.BookingFilter{}, store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// TestAFileIsTriedThenImported, with one bad row: it is rejected, and can be downloaded and corrected.
func TestAFileIsTriedThenImported(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.MemberAdmin)
	sample, err := os.ReadFile("../../book/paymentfile/testdata/sample.csv")
	if err != nil {
		t.Fatal(err)
	}
	file := strings.ReplaceAll(string(sample), "2026-", "2024-") +
		"B-2,Direct,PT,EUR,,2024-07-08,2,many,Rui,Nobre,rui@example.org,Nights,B-2-P1,,purchase,2024-01-10 09:30:00,EUR,100,100,visa,411111,4242,psp\n"
	b.Must(h.At("/bookings/import"), "Start dry run", "No recent imports", "50,000 rows")
	for _, wrong := range []struct{ mode, file, says string }{
		{"test", "a,b\n1,2\n", "column"}, {"protection-only", file, "operator"}, {"test", strings.Replace(file, "4242,", "4111111111111111,", 1), "card number"},
	} {
		kind, body := upload(wrong.mode, wrong.file)
		if a := b.Send(h.At("/bookings/import"), kind, body); a.Status < 400 || a.Status >= 500 || !strings.Contains(a.Text(), wrong.says) {
			t.Errorf("it does not say %q: %d %s", wrong.says, a.Status, a.Text())
		}
	}
	kind, body := upload("test", file)
	sent := b.Send(h.At("/bookings/import"), kind, body)
	if sent.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", sent.Status, sent.Text())
	}
	if a := b.Must(sent.To, "Running", "Checking the file"); !strings.Contains(a.Body, "data-refresh") {
		t.Error("the page does not ask again")
	}
	worked(t, h)
	b.Must(sent.To, "Import 3 payments", "New bookings 1", "Rejected 1", "Direct")
	b.Must(sent.To+"?status=refused", "Rejected B-2 Rui Nobre B-2-P1 Purchase 2024-01-10 09:30:00 1.00 EUR", "many")
	if got := len(allBookings(t, h)); got != 0 {
		t.Fatalf("a file that was only tried has left %d bookings", got)
	}
	reader := h.As(access.ReadOnly)
	for _, path := range []string{sent.To + "/confirm", sent.To + "/discard", h.At("/bookings/import")} {
		if a := reader.Send(path, kind, body); a.Status != http.StatusForbidden {
			t.Errorf("a reader may %s: %d", path, a.Status)
		}
	}
	if a := reader.Get(sent.To); a.Status != http.StatusForbidden {
		t.Errorf("a reader sees the import: %d", a.Status)
	}
	if a := reader.Must(h.At("/bookings")); strings.Contains(a.Text(), "Import a file") {
		t.Error("a reader is offered what they may not do")
	}
	refused, err := csv.NewReader(strings.NewReader(b.Must(sent.To + "/refused").Body)).ReadAll()
	if err != nil || len(refused) != 2 || !strings.Contains(strings.Join(refused[1], "|"), "Nobre") {
		t.Errorf("%v %q", err, refused)
	}
	if a := b.Post(sent.To+"/confirm", nil); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	worked(t, h)
	b.Must(sent.To, "Done", "New payments 3")
	if got := allBookings(t, h); len(got) != 1 {
		t.Errorf("%d bookings", len(got))
	}
	again := b.Send(h.At("/bookings/import"), kind, body)
	worked(t, h)
	b.Must(again.To, "Already imported 3")
	b.Must(again.To+"/discard", "Discard the import?")
	if a := b.Post(again.To+"/discard", nil); a.To != h.At("/bookings/import") || b.Get(again.To).Status != http.StatusNotFound {
		t.Errorf("discarded: %d to %s", a.Status, a.To)
	}
}
