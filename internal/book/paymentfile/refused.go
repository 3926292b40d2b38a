package paymentfile

import (
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/lib/tabular"
)

// The columns that WriteRefused puts before those of the file. Reading ignores them, as all columns that are not ours.
const (
	refusedLine   = "refused_line"
	refusedReason = "refused_reason"
)

// ofRefused reports whether a column is one of WriteRefused. Its cells of other columns are shielded then.
func ofRefused(name string) bool {
	name = strings.TrimSpace(name)
	return strings.EqualFold(name, refusedLine) || strings.EqualFold(name, refusedReason)
}

// Refused is a row of a file that was refused.
type Refused struct {
	Line   int
	Reason string
}

// WriteRefused writes the refused rows of a file as CSV: the line and the reason of each, and then its cells as they are in the
// file, under the names of the file. Once the cells are fixed, the output can be imported as it is. refused is in the order of the
// lines. Where the file ends before a line, its cells are left out: an empty file gives lines and reasons alone. A row that cannot
// be read is its first line, in one cell. It holds one row in memory. Errors are those of refused, of the file and of the writer.
func WriteRefused(to io.Writer, file io.Reader, refused iter.Seq2[Refused, error]) error {
	out := csv.NewWriter(to)
	in := newRecords(file)
	names, _, err := in.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	in.mended = slices.ContainsFunc(names, ofRefused)
	var left []int // columns that an earlier WriteRefused has added
	for i, name := range names {
		if ofRefused(name) {
			left = append(left, i)
		}
	}
	write := func(line, reason string, cells []string) error {
		row := []string{line, reason}
		for i, cell := range cells {
			if !slices.Contains(left, i) {
				row = append(row, tabular.ShieldCell(cell))
			}
		}
		return out.Write(row)
	}
	if err := write(refusedLine, refusedReason, names); err != nil {
		return err
	}
	at, cells, over := 0, []string(nil), len(names) == 0
	for row, err := range refused {
		if err != nil {
			out.Flush()
			return err
		}
		for !over && at < row.Line {
			cells, at, err = in.next()
			switch {
			case errors.Is(err, io.EOF):
				over = true
			case err != nil && at == 0:
				out.Flush()
				return err
			case err != nil:
				cells = []string{in.first}
			}
		}
		its := cells
		if over || at != row.Line {
			its = nil
		}
		if err := write(strconv.Itoa(row.Line), tabular.PlainCell(row.Reason), its); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
