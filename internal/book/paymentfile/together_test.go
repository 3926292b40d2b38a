package paymentfile_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
)

// TestRowsOfABookingComeTogether: in a file that fits in memory, and in one that does not.
func TestRowsOfABookingComeTogether(t *testing.T) {
	for _, bookings := range []int{3, 20000} {
		t.Setenv("TMPDIR", t.TempDir())
		var file strings.Builder
		file.WriteString(short)
		const each = 3
		for n := range each * bookings {
			fmt.Fprintf(&file, "B-%d,Direct,PT,EUR,2026-07-08,120000,Ana,Sousa,ana@example.org,\"Seven\nnights\",P-%d,purchase,2026-01-10 09:30:00,EUR,36000,36000\n",
				n%bookings, n)
		}
		file.WriteString("this is no row\n")
		counted, rows, last := 0, 0, ""
		met, lines := map[string]int{}, map[int]bool{}
		for row, err := range paymentfile.Read(strings.NewReader(file.String()), func(s imports.Scan) { counted = s.Rows }) {
			if err != nil {
				t.Fatal(err)
			}
			rows++
			lines[row.Line] = true
			if row.Refused != nil {
				continue
			}
			key := row.Booking.ImportKey
			if met[key]++; last != key && met[key] > 1 {
				t.Fatalf("%s comes again after %s", key, last)
			}
			// Two lines each; the rows of a booking are that far apart.
			if n := (row.Line - 2) / 2; fmt.Sprintf("P-%d", n) != row.Payment.ImportKey || n/bookings != met[key]-1 {
				t.Fatalf("line %d has %s, as number %d of %s", row.Line, row.Payment.ImportKey, met[key], key)
			}
			last = key
			if *row.Booking.Content != "Seven\nnights" {
				t.Fatalf("the content is %q", *row.Booking.Content)
			}
		}
		if rows != each*bookings+1 || counted != rows || len(lines) != rows {
			t.Errorf("%d rows of %d lines, %d were counted", rows, len(lines), counted)
		}
		if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
			t.Errorf("left are %v, %v", left, err)
		}
	}
}
