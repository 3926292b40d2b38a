package kit

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestTheHeadSaysGMT once for a column of times, and days have none. What the columns of the caller say stays as it was.
func TestTheHeadSaysGMT(t *testing.T) {
	t.Parallel()
	columns := []Column{{Name: "at", Title: "Logged"}, {Name: "on", Title: "Day"}}
	at := time.Date(2026, 9, 14, 16, 30, 0, 0, time.UTC)
	v := &Visit{R: httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)}
	for range 2 {
		made := v.Table(Table{Columns: columns, Rows: []Row{{}, {Cells: []Cell{AtInstant(at), OnDay(20710)}}}})
		if heads := made.Heads(); heads[0].Title != "Logged, GMT" || heads[1].Title != "Day" {
			t.Errorf("heads: %+v", heads)
		}
		cell := made.Cells(made.Rows[1])[0]
		if cell.Text != "14\u00a0Sep\u00a02026\u00a016:30" || cell.Class != "whole" {
			t.Errorf("a time: %+v", cell)
		}
	}
}

// TestATelephoneShowsLess: unless somebody has chosen the columns. References do not break at their dashes.
func TestATelephoneShowsLess(t *testing.T) {
	t.Parallel()
	table := Table{
		Columns: []Column{{Name: "a", Title: "A"}, {Name: "b", Title: "B", Minor: true}, {Name: "c", Title: "C", Figure: true}, {Name: "d", Title: "D"}},
		Rows:    []Row{{Cells: []Cell{Words("DEMO-1349"), Words("two words"), Number(7), Words(strings.Repeat("a", whole+1))}}},
	}
	for address, want := range map[string][]string{"/": {"whole", "minor text", "figure whole", ""}, "/?col=b": {"text"}} {
		made := (&Visit{R: httptest.NewRequestWithContext(t.Context(), "GET", address, nil)}).Table(table)
		for i, cell := range made.Cells(made.Rows[0]) {
			if cell.Class != want[i] {
				t.Errorf("%s: %q is %q, want %q", address, cell.Text, cell.Class, want[i])
			}
		}
		if made.Slim() != (len(want) <= slim) {
			t.Errorf("%s: slim %t", address, made.Slim())
		}
	}
}
