package view

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestABookingIsWrittenAsJSONDoesIt: a list writes the same bytes field by field as encoding/json, whatever the values.
func TestABookingIsWrittenAsJSONDoesIt(t *testing.T) {
	t.Parallel()
	texts := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", `"\`, "<&>", "Zoë 東京 🏝", "\u2028", "a\u2029b", "\xff", "\x7f", "\x00\x1f\t\n", "é\xe2\x80", "\ufffd",
	}))
	shapes := rapid.Custom(func(t *rapid.T) Booking {
		shape := rapid.Make[Booking]().Draw(t, "shape")
		shape.Title, shape.Content, shape.Surname = texts.Draw(t, "title"), texts.Draw(t, "content"), texts.Draw(t, "surname")
		if shape.TransactionIDs == nil {
			shape.TransactionIDs = []int64{}
		}
		if shape.Suppliers == nil {
			shape.Suppliers = []int64{}
		}
		shape.Links = Links{Self: [1]Link{{HREF: texts.Draw(t, "self")}}, Collection: [1]Link{{HREF: texts.Draw(t, "collection")}}}
		return shape
	})
	rapid.Check(t, func(t *rapid.T) {
		shape := shapes.Draw(t, "booking")
		var want bytes.Buffer
		if err := Encode(&want, shape); err != nil {
			t.Fatal(err)
		}
		if got := string(shape.Write(nil)) + "\n"; got != want.String() {
			t.Errorf("\n got %s\nwant %s", got, want.String())
		}
	})
}

// BenchmarkBookings writes a page of a hundred bookings.
func BenchmarkBookings(b *testing.B) {
	pax := int64(2)
	shape := Booking{
		ID: 1234, TrustID: "1-1234", UUID: "000004d2-7b2c-4a1d-9e3f-0000000004d2", Title: "1-1234 | Silva | maria@example.com",
		Content: "Seven nights at the sea", Firstname: "Maria", Surname: "Silva", Email: "maria@example.com", Pax: &pax,
		Date: "2026-12-12", Created: "2026-05-01 00:00:00", Modified: "2026-05-01 00:00:00",
		Links: Links{Self: [1]Link{{HREF: "https://api.example/acme/rest/svc/v2/bookings/1234"}}, Collection: [1]Link{{HREF: "https://api.example"}}},
	}
	b.ReportAllocs()
	var text []byte
	for b.Loop() {
		text = text[:0]
		for range 100 {
			text = shape.Write(text)
		}
	}
}
