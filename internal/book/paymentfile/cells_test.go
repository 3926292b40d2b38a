package paymentfile_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"holdfast/internal/book/paymentfile"
)

// TestCellsOfSomeRows: the requested rows, by line, and nothing after the last one is read.
func TestCellsOfSomeRows(t *testing.T) {
	t.Parallel()
	sample, err := os.ReadFile("testdata/sample.csv")
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("nobody reads so far")
	head := strings.SplitAfterN(string(sample), "\n", 2)[0]
	row := strings.SplitN(string(sample), "\n", 4)[1]
	file := head + row + "\n\n" + `a "broken row` + "\n" + strings.Replace(row, "B-1-P1", " B-1-P9 ", 1) + "\n"
	padding := strings.Repeat(row+"\n", 400) // more than what is read ahead
	cells, err := paymentfile.Cells(io.MultiReader(strings.NewReader(file+padding), iotest.ErrReader(broken)), []int{5, 4, 2})
	if err != nil || len(cells) != 2 || cells[2]["payment_reference"] != "B-1-P1" || cells[5]["payment_reference"] != "B-1-P9" || cells[2]["surname"] != "Sousa" {
		t.Errorf("%v %v", cells, err)
	}
	if _, err := paymentfile.Cells(io.MultiReader(strings.NewReader(file), iotest.ErrReader(broken)), []int{500}); !errors.Is(err, broken) {
		t.Errorf("a file that breaks: %v", err)
	}
	if cells, err := paymentfile.Cells(iotest.ErrReader(broken), nil); err != nil || len(cells) != 0 {
		t.Errorf("no row is asked for: %v %v", cells, err)
	}
}
