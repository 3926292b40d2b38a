package exposure_test

import (
	"encoding/csv"
	"reflect"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// TestTwoGroupingsMakeAMatrix: the values of the second grouping are columns, each cell links to its details, and
// exports match the table, with totals in the spreadsheet.
func TestTwoGroupingsMakeAMatrix(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	at := b.At("/exposure?by=channel&across=month&cells=e3")
	a := b.reader.Must(at, "Total", "1,000.00", "70.00", "Jun 2024", "1,070.00")
	if !strings.Contains(a.Body, `class="list slim matrix"`) {
		t.Error("the first column does not stay where it is")
	}
	b.reader.Must(link(t, a.Body, "70.00"), "Travel month: Jun 2024", "Tail (E2) 70.00 GBP", "By country")
	want := [][]string{
		{"key", "report_currency", "total", "2024-06", "2024-09", "2024-11"},
		{b.pounds.Name, "GBP", "670.00", "70.00", "600.00", "0.00"},
		{b.euros.Name, "GBP", "400.00", "0.00", "0.00", "400.00"},
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
	if err != nil || len(rows) != 4 || !reflect.DeepEqual(rows[3], []string{"Total", "GBP", "1070.00", "70.00", "600.00", "400.00"}) {
		t.Errorf("the XLSX has %v (%v)", rows, err)
	}
	wants(t, "E1, months down: what has none is left out", b.file(t, "/exposure?by=month&across=channel"),
		[]string{"Sep 2024", "GBP", "600.00", "600.00", "0.00"}, []string{"Nov 2024", "GBP", "400.00", "0.00", "400.00"})
}
