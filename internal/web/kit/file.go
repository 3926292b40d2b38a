package kit

import (
	"bytes"
	"encoding/csv"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"

	"github.com/xuri/excelize/v2"
)

// File sends a table as a file if the request wants one.
func (v *Visit) File(t *Table) (sent bool, err error) {
	if v.Format() != "" && !v.Can(access.Export) {
		return false, v.Actor.Require(access.Export)
	}
	day := civil.DayOf(v.Now())
	if t.Day != nil {
		day = *t.Day
	}
	name := t.Name + "-" + day.String()
	if m, ok := v.W.(*maker); ok {
		m.made.Rows, m.made.Cut = len(t.Rows), t.More
	}
	switch v.Format() {
	case "csv":
		content := t.csv()
		v.attach(name+".csv", "text/csv; charset=utf-8")
		writeSmall(v.W, v.R, http.StatusOK, content)
		return true, nil
	case "xlsx":
		content, err := t.xlsx()
		if err != nil {
			return false, err
		}
		v.attach(name+".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
		writeSmall(v.W, v.R, http.StatusOK, content)
		return true, nil
	}
	return false, nil
}

func (v *Visit) attach(name, kind string) {
	v.W.Header().Set("Content-Type", kind)
	v.W.Header().Set("Content-Disposition", `attachment; filename="`+fileName.ReplaceAllString(name, "-")+`"`)
	if m, ok := v.W.(*maker); ok {
		m.attached()
	}
}

// fileName matches characters not allowed in file names.
var fileName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// Attach sends a file of another kind, such as a PDF.
func (v *Visit) Attach(name, kind string, content []byte) error {
	v.attach(name, kind)
	writeSmall(v.W, v.R, http.StatusOK, content)
	return nil
}

// Stream sends a file as it is generated. After the first byte, an error can only truncate it.
func (v *Visit) Stream(name, kind string, write func(w io.Writer) error) error {
	v.attach(name, kind)
	if err := write(v.W); err != nil {
		v.frame.Log.Warn("a dashboard export ended early", "route", v.frame.Route(v.R), "error", err)
		panic(http.ErrAbortHandler) // so that the client sees the file is incomplete
	}
	return nil
}

// inFile is a table as exported to a file: the visible columns, with the currencies of amounts in separate columns.
type inFile struct {
	heads []Column
	at    []int    // the table's index of each; -1 for a currency
	names []string // of each column of the table: the column with the currency of its amounts, or ""
}

// inFile puts each currency before the first of its amounts, unless the table already shows it. Amounts without a currency column get one
// of their own.
func (t *Table) inFile() inFile {
	var f inFile
	has := map[string]bool{}
	for i, c := range t.Columns {
		has[c.Name] = t.shown(c)
		f.names = append(f.names, t.currencyColumn(i))
	}
	for i, c := range t.Columns {
		if !t.shown(c) {
			continue
		}
		if name := f.names[i]; name != "" && !has[name] {
			has[name] = true
			f.heads, f.at = append(f.heads, Column{Name: name, Title: Say(name)}), append(f.at, -1)
		}
		f.heads, f.at = append(f.heads, c), append(f.at, i)
	}
	return f
}

// currencyColumn returns the name of the column with the currency of a column's amounts, or "" if it has no amounts.
func (t *Table) currencyColumn(at int) string {
	c := t.Columns[at]
	if c.Currency == "" && slices.ContainsFunc(t.Rows, func(r Row) bool { return at < len(r.Cells) && r.Cells[at].currency != "" }) {
		return c.Name + "_currency"
	}
	return c.Currency
}

// cells returns the cells of a row.
func (f inFile) cells(r Row) []Cell {
	cells := make([]Cell, len(f.heads))
	for i, at := range f.at {
		switch {
		case at < 0:
			cells[i] = f.currency(f.heads[i].Name, r)
		case at < len(r.Cells):
			cells[i] = r.Cells[at]
		}
	}
	return cells
}

// currency returns a row's value in a currency column.
func (f inFile) currency(name string, r Row) Cell {
	for at, c := range r.Cells[:min(len(r.Cells), len(f.names))] {
		if c.currency != "" && f.names[at] == name {
			return Words(string(c.currency))
		}
	}
	return Cell{}
}

// csv writes the visible columns. Text that a spreadsheet would read as a formula gets an apostrophe. The totals row is left
// out: a program adding up a column would count it twice.
func (t *Table) csv() []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	f := t.inFile()
	var heads []string
	for _, c := range f.heads {
		heads = append(heads, c.Name)
	}
	_ = w.Write(heads) // writing to a buffer never fails
	for _, r := range t.Rows {
		var cells []string
		for _, c := range f.cells(r) {
			cells = append(cells, harmless(c))
		}
		_ = w.Write(cells)
	}
	w.Flush()
	return out.Bytes()
}

func harmless(c Cell) string {
	if !c.figure && c.Plain != "" && strings.ContainsRune("=+-@\t\r", rune(c.Plain[0])) {
		return "'" + c.Plain
	}
	return c.Plain
}

// xlsx writes the visible columns and the totals row: numbers as numbers with the currency's decimals, days as dates.
func (t *Table) xlsx() (content []byte, err error) {
	file := excelize.NewFile()
	defer func() { _ = file.Close() }() // the file is only in memory
	const sheet = "Sheet1"
	head, err := file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	if err != nil {
		return nil, err
	}
	f := t.inFile()
	heads := f.heads
	styles := map[string]int{}
	for i, c := range heads {
		at, _ := excelize.CoordinatesToCellName(i+1, 1) // both are positive
		if err := file.SetCellStr(sheet, at, c.Title); err != nil {
			return nil, err
		}
		if err := file.SetCellStyle(sheet, at, at, head); err != nil {
			return nil, err
		}
	}
	for y, r := range append(slices.Clone(t.Rows), t.Foot...) {
		for x, c := range f.cells(r) {
			at, _ := excelize.CoordinatesToCellName(x+1, y+2)
			if err := put(file, sheet, at, c, styles); err != nil {
				return nil, err
			}
		}
	}
	if len(heads) > 0 {
		last, _ := excelize.ColumnNumberToName(len(heads))
		if err := file.SetColWidth(sheet, "A", last, 18); err != nil {
			return nil, err
		}
	}
	out, err := file.WriteToBuffer()
	if err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// put writes one cell. Amounts are written digit by digit, never as a binary float.
func put(file *excelize.File, sheet, at string, c Cell, styles map[string]int) error {
	format := ""
	switch {
	case !c.at.IsZero():
		format = "yyyy-mm-dd hh:mm"
		if c.at.Equal(c.at.Truncate(24 * time.Hour)) {
			format = "yyyy-mm-dd"
		}
		if err := file.SetCellValue(sheet, at, c.at); err != nil {
			return err
		}
	case c.number != "":
		if c.decimals > 0 {
			format = "#,##0." + strings.Repeat("0", c.decimals)
		}
		if err := file.SetCellDefault(sheet, at, c.number); err != nil {
			return err
		}
	case c.figure: // several IDs, or no amount
		return file.SetCellStr(sheet, at, c.Plain)
	default:
		return file.SetCellStr(sheet, at, c.Text)
	}
	if format == "" {
		return nil
	}
	style, ok := styles[format]
	if !ok {
		var err error
		if style, err = file.NewStyle(&excelize.Style{CustomNumFmt: &format}); err != nil {
			return err
		}
		styles[format] = style
	}
	return file.SetCellStyle(sheet, at, at, style)
}
