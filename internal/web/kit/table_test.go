package kit

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
)

// TestTheHeadSaysGMT once for a column of times, but not for days. The caller's column titles stay unchanged.
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

// TestCurrenciesHaveTheirOwnColumnInFiles: each currency comes once, before the first of its amounts, unless the table already shows it.
// Unknown amounts and missing IDs are empty.
func TestCurrenciesHaveTheirOwnColumnInFiles(t *testing.T) {
	t.Parallel()
	table := Table{
		Columns: []Column{
			{Name: "payment", Title: "Payment"}, {Name: "total", Title: "Total", Currency: "currency"},
			{Name: "currency", Title: "Currency", Hidden: true}, {Name: "left", Title: "Left", Currency: "currency"},
			{Name: "value", Title: "Value", Currency: "policy_currency"}, {Name: "other", Title: "Other"},
		},
		Rows: []Row{
			{Cells: []Cell{Ident(7), Sum(1250, "EUR"), Words("EUR"), Sum(0, "EUR"), Sum(1000, "GBP"), Sum(5, "JPY")}},
			{Cells: []Cell{Idents("No. 8", 8), Sum(300, "GBP"), Words("GBP"), {}, NoSum("Unknown", "GBP"), {}}},
			{Cells: []Cell{Idents("2 payments", 9, 10), {}, Words("USD")}},
			{Cells: []Cell{Idents("\u2013")}},
		},
	}
	for address, want := range map[string]string{
		"/": "payment,currency,total,left,policy_currency,value,other_currency,other\n7,EUR,12.50,0.00,GBP,10.00,JPY,5\n" +
			"8,GBP,3.00,,GBP,,,\n9 10,,,,,,,\n,,,,,,,\n",
		"/?col=left&col=currency": "currency,left\nEUR,0.00\nGBP,\nUSD,\n,\n",
	} {
		made := (&Visit{R: httptest.NewRequestWithContext(t.Context(), "GET", address, nil)}).Table(table)
		if got := string(made.csv()); got != want {
			t.Errorf("%s: the CSV is\n%swant\n%s", address, got, want)
		}
		content, err := made.xlsx()
		if err != nil {
			t.Fatal(err)
		}
		file, err := excelize.OpenReader(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := file.GetRows("Sheet1", excelize.Options{RawCellValue: true})
		if err != nil || len(rows) < 3 {
			t.Fatalf("%v %v", rows, err)
		}
		lines := strings.Split(want, "\n")
		if got := strings.Join(rows[1], ","); got != lines[1] {
			t.Errorf("%s: the XLSX has %s, want %s", address, got, lines[1])
		}
	}
}

// TestATelephoneShowsLess: unless columns were chosen. References do not wrap at their dashes.
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
