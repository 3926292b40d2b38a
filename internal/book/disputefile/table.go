package disputefile

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"

	"holdfast/internal/errs"
	"holdfast/internal/lib/tabular"
)

// Bounds of a table, far above any real one.
const (
	maxPreamble = 100  // rows before the header
	maxColumns  = 1000 // cells of a row
)

// table is a file of rows while it is read.
type table struct {
	in      *tabular.Reader
	wanted  []*format
	format  *reading
	names   []string
	index   map[string]int
	skipped []tabular.Row // the rows before the header
}

// readTable finds the header and returns the rows behind it.
func readTable(r io.Reader, wanted []*format) (Format, iter.Seq2[Line, error], error) {
	in, err := tabular.Open(r)
	if err != nil {
		return Format{}, nil, err
	}
	t := &table{in: in, wanted: wanted}
	if err := t.header(); err != nil {
		return Format{}, nil, err
	}
	return t.format.Format, func(yield func(Line, error) bool) {
		if t.format.sections {
			for _, row := range t.skipped { // they may say whose report it is
				t.format.read(t.record(row))
			}
		}
		for {
			line, ok, err := t.next()
			switch {
			case err == io.EOF:
				return
			case err != nil:
				yield(Line{}, fmt.Errorf("the file cannot be read: %w", err))
				return
			case ok && !yield(line, nil):
				return
			}
		}
	}, nil
}

// header reads up to the row that names the columns of a format. Reports have rows before it, such as their title or their parameters.
func (t *table) header() error {
	found := search{wanted: t.wanted, kind: tableFile}
	for range maxPreamble {
		row, err := t.in.Next()
		switch {
		case err == io.EOF && len(t.skipped) == 0:
			return errs.WrongField("file", "The file is empty.")
		case err == io.EOF:
			return found.unknown()
		case errors.Is(err, tabular.ErrTooLong), errors.Is(err, tabular.ErrQuotes):
			row.Cells = nil
		case err != nil:
			return fmt.Errorf("the file cannot be read: %w", err)
		}
		if len(row.Cells) > maxColumns {
			return errs.WrongField("file", "Row %d has more than %d columns.", row.Line, maxColumns)
		}
		index := indexOf(row.Cells)
		if f := found.find(func(name string) bool { _, ok := index[name]; return ok }); f != nil {
			t.format, t.names, t.index = f.start(), row.Cells, index
			return nil
		}
		t.skipped = append(t.skipped, tabular.Row{Line: row.Line, Cells: row.Cells})
	}
	return found.unknown()
}

// parameter is a cell of the rows before and after the table, such as Frequency=daily.
var parameter = regexp.MustCompile(`^[A-Za-z ]+=`)

// next reads one row. ok is false for repeated headers and parameters.
func (t *table) next() (line Line, ok bool, err error) {
	row, err := t.in.Next()
	broken := errors.Is(err, tabular.ErrTooLong) || errors.Is(err, tabular.ErrQuotes)
	if err != nil && !broken {
		return Line{}, false, err
	}
	r := t.record(row)
	if broken {
		r.names, r.cells = nil, []string{row.Text}
		r.problems = []string{"This line cannot be read: " + err.Error() + "."}
		return t.format.line(r), true, nil
	}
	switch {
	case t.again(row.Cells): // a section of its own, or one file behind another
		return Line{}, false, nil
	case t.format.sections: // its rows differ in their columns
		line := t.format.line(r)
		return line, line.Ignored != noRow, nil
	case len(row.Cells) != len(t.names) && trailer(row.Cells):
		return Line{}, false, nil
	}
	t.width(r)
	return t.format.line(r), true, nil
}

// again handles a repeated header row.
func (t *table) again(cells []string) bool {
	first := func(cell string) bool {
		return has(t.format.needs[0], func(name string) bool { return strings.EqualFold(strings.TrimSpace(cell), name) })
	}
	if !slices.ContainsFunc(cells, first) { // what most rows are asked
		return false
	}
	index := indexOf(cells)
	if len(t.format.lacks(func(name string) bool { _, ok := index[name]; return ok })) > 0 {
		return false
	}
	t.names, t.index = cells, index
	return true
}

// width checks that a row has the cells of its columns. Programs omit empty cells at the end of a row. A truncated row
// looks the same, so it must at least have the columns that the format needs.
func (t *table) width(r *record) {
	if len(r.cells) > len(t.names) && strings.Join(r.cells[len(t.names):], "") != "" {
		r.problems = append(r.problems, fmt.Sprintf("The line has %d cells, but the header names %d columns.", len(r.cells), len(t.names)))
		return
	}
	for _, need := range t.format.needs {
		for name := range strings.SplitSeq(need, "|") {
			if at, ok := t.index[plainName(name)]; ok && len(r.cells) < len(t.names) && at >= len(r.cells)-1 {
				r.wrong(t.names[at], "is missing or cut off: the line ends after %d of %d columns.", len(r.cells), len(t.names))
				return
			}
		}
	}
}

func (t *table) record(row tabular.Row) *record {
	return &record{number: row.Line, raw: row.Text, names: t.names, index: t.index, cells: row.Cells, comma: t.in.Separator() == ';'}
}

// trailer reports whether a row holds parameters of the report, or its end, and no data.
func trailer(cells []string) bool {
	for _, cell := range cells {
		if cell = strings.TrimSpace(cell); cell != "" && !parameter.MatchString(cell) {
			return strings.EqualFold(cell, "end") || strings.EqualFold(cell, "eof")
		}
	}
	return true
}
