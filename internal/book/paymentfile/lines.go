package paymentfile

import (
	"errors"
	"io"

	"holdfast/internal/lib/tabular"
)

// records reads the rows of a file of payments.
type records struct {
	in     *tabular.Reader
	at     int      // the line of the last row
	first  string   // the text of the last row; of a broken one, its first line
	mended bool     // the file comes from WriteRefused: its cells are shielded
	names  []string // of the header
}

func newRecords(r io.Reader) *records { return &records{in: tabular.New(r, ',')} }

// next returns the cells of the next row that is not empty, and the number of its first line. An error with a line
// number is about that row only. An error with line 0 ends the file.
func (r *records) next() (cells []string, number int, err error) {
	row, err := r.in.Next()
	if r.first, r.at = row.Text, row.Line; err != nil {
		if errors.Is(err, tabular.ErrTooLong) || errors.Is(err, tabular.ErrQuotes) {
			return nil, row.Line, err
		}
		return nil, 0, err
	}
	for i := range row.Cells {
		if r.mended {
			row.Cells[i] = tabular.UnshieldCell(row.Cells[i])
		}
	}
	return row.Cells, row.Line, nil
}
