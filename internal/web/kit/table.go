package kit

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// Table is a list, for a page and for file export: exports have the columns and rows that the page shows.
type Table struct {
	Name string // file name, such as "bookings"
	// Day is the day whose end the figures describe, for the file name; nil for current figures.
	Day     *civil.Day
	Caption string // for screen readers: what the rows are about
	Columns []Column
	Rows    []Row
	Foot    []Row // sums
	// Empty is the empty state, shown when there are no rows.
	Empty Empty
	// More reports a next page; Number is the current one, from 1. Total is -1 if unknown.
	Number int
	More   bool
	Total  int64
	// Sorted is the column that orders the rows.
	Sorted     string
	Descending bool
	// Matrix is a table of figures that may be wider than the screen: its first column is sticky.
	Matrix bool
	// Files are links to files with more than the table shows; they replace the export of its rows.
	Files []Link
	// Bare is a short table next to others, without file export or column chooser.
	Bare   bool
	chosen []string
	v      *Visit
}

// Column is a table column. Name is its name in files and URLs.
type Column struct {
	Name, Title string
	Figure      bool // right-aligned, with tabular figures
	// Currency is set for amounts: the name of the column with their currency in files. Amounts are figures.
	Currency string
	Sorts    bool // sortable
	Hidden   bool // hidden by default
	Minor    bool // hidden on phones, unless the columns were chosen
}

// Row is a table row. Href is the link of its first cell.
type Row struct {
	Cells []Cell
	Href  string
}

// Cell is one value, for people and for programs.
type Cell struct {
	Text  string // for people
	Plain string // for programs, in CSV
	Tone  string // good, warn, bad or calm: the colour of a dot before the text
	Href  string
	// number is the value for spreadsheets, with its decimals; set for figures.
	number   string
	decimals int
	currency money.Currency // of an amount
	figure   bool
	at       time.Time // of a day or an instant
	inGMT    bool      // an instant; the column header says GMT
}

// Empty is the empty state of a table: what would appear, and what to do next.
type Empty struct {
	Title, Text string
	Act         Link
}

// Words is a text.
func Words(text string) Cell { return Cell{Text: text, Plain: text} }

// Linked is a text with a link.
func Linked(text, href string) Cell { return Cell{Text: text, Plain: text, Href: href} }

// State is an API status with its tone.
func State(state, tone string) Cell { return Cell{Text: Say(state), Plain: state, Tone: tone} }

// Number is a whole number.
func Number(n int64) Cell {
	text := strconv.FormatInt(n, 10)
	return Cell{Text: Count(n), Plain: text, number: text, figure: true}
}

// Ident is the ID of an object. 0 is empty.
func Ident(id int64) Cell {
	if id == 0 {
		return Cell{}
	}
	text := strconv.FormatInt(id, 10)
	return Cell{Text: text, Plain: text, number: text, figure: true}
}

// Idents shows the IDs of several objects as a text for people.
func Idents(text string, ids ...int64) Cell {
	plain := make([]string, len(ids))
	for i, id := range ids {
		plain[i] = strconv.FormatInt(id, 10)
	}
	c := Cell{Text: text, Plain: strings.Join(plain, " "), figure: true}
	if len(ids) == 1 {
		c.number = c.Plain
	}
	return c
}

// Sum is an amount with its currency.
func Sum(amount int64, c money.Currency) Cell {
	if c == "" {
		return Cell{figure: true}
	}
	plain := money.FormatPlain(amount, c)
	return Cell{Text: Money(amount, c), Plain: plain, number: plain, decimals: c.Exponent(), currency: c, figure: true}
}

// NoSum shows a text instead of an amount, such as "Unknown". In files the cell is empty, because amount columns
// contain no text.
func NoSum(text string, c money.Currency) Cell { return Cell{Text: text, currency: c, figure: true} }

// Percent is a percentage formatted by protection.Percent.
func Percent(text string) Cell {
	_, fraction, _ := strings.Cut(text, ".")
	return Cell{Text: text + "\u00a0%", Plain: text, number: text, decimals: len(fraction), figure: true}
}

// OnDay is a day.
func OnDay(d civil.Day) Cell {
	if d == civil.NoDay {
		return Cell{}
	}
	text := strings.ReplaceAll(Day(d), " ", "\u00a0") // a day never wraps
	return Cell{Text: text, Plain: d.String(), at: d.Start()}
}

// AtInstant is a time in GMT. The column header says so.
func AtInstant(t time.Time) Cell {
	if t.IsZero() {
		return Cell{}
	}
	text := strings.ReplaceAll(strings.TrimSuffix(instant(t), " GMT"), " ", "\u00a0") // it never wraps
	return Cell{Text: text, Plain: civil.FormatInstant(t), at: t.UTC(), inGMT: true}
}

// YesNo is a yes or a no.
func YesNo(yes bool) Cell {
	if yes {
		return Words("Yes")
	}
	return Words("No")
}

// tableSize is the number of rows per page, and maxPage the highest page number: beyond the end of any list.
const (
	tableSize = 50
	maxPage   = 1_000_000_000
)

// PageOf reads the requested page of a list from the URL: page, sort and down. orders are the sort orders; the first is the
// default.
func (v *Visit) PageOf(orders []string, descending bool) (store.Page, error) {
	p := store.Page{Number: 1, Size: tableSize, Offset: -1, OrderBy: orders[0], Descending: descending}
	if text := v.Query("page"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			return p, errs.WrongField("page", "Must be a number from 1 to %d.", maxPage)
		}
		p.Number = n
	}
	if by := v.Query("sort"); by != "" {
		if !slices.Contains(orders, by) {
			return p, errs.WrongField("sort", "Must be one of: %s.", strings.Join(orders, ", "))
		}
		p.OrderBy, p.Descending = by, v.Query("down") == "1"
	}
	if v.Format() != "" { // a file has as many rows as one request may read
		p.Size = 100
	}
	return p, nil
}

// fileRows is the maximum number of rows in a file.
const fileRows = 10_000

// Each reads the requested page of a list, or for a file all pages, up to ten thousand rows. read reports whether there are
// more.
func (v *Visit) Each(page store.Page, read func(page store.Page) (more bool, err error)) error {
	if v.Format() == "" || !v.Can(access.Export) {
		_, err := read(page)
		return err
	}
	for page.Number = 1; page.Skip() < fileRows; page.Number++ {
		if more, err := read(page); err != nil || !more {
			return err
		}
	}
	return nil
}

// Format is the requested file format, "csv" or "xlsx", or "" for a page.
func (v *Visit) Format() string {
	if f := v.Query("format"); f == "csv" || f == "xlsx" {
		return f
	}
	return ""
}

// Table prepares a table for the template "table".
func (v *Visit) Table(t Table) *Table {
	t.v = v
	if t.Number == 0 {
		t.Number, t.Total = 1, -1
	}
	if !t.Bare {
		t.chosen = v.R.URL.Query()["col"]
	}
	t.Columns = slices.Clone(t.Columns)
	for i := range t.Columns {
		t.Columns[i].Figure = t.Columns[i].Figure || t.Columns[i].Currency != ""
		for _, r := range t.Rows {
			if i < len(r.Cells) && r.Cells[i].inGMT {
				t.Columns[i].Title += ", GMT"
				break
			}
		}
	}
	return &t
}

// slim is how many columns fit on a phone.
const slim = 3

// Slim reports whether the table stays a table on phones. Rows of wider tables become lists there.
func (t *Table) Slim() bool { return t.Matrix || len(t.Heads()) <= slim }

// shown reports whether a column is visible.
func (t *Table) shown(c Column) bool {
	if len(t.chosen) > 0 {
		return slices.Contains(t.chosen, c.Name)
	}
	return !c.Hidden
}

// columnView is a column for the template.
type columnView struct {
	Column
	Href  string // sorts by it
	Aria  string // aria-sort
	Shown bool
}

// Heads are the visible columns.
func (t *Table) Heads() (list []columnView) {
	for _, c := range t.AllColumns() {
		if c.Shown {
			list = append(list, c)
		}
	}
	return list
}

// AllColumns are all columns, for the column chooser.
func (t *Table) AllColumns() (list []columnView) {
	for _, c := range t.Columns {
		view := columnView{Column: c, Shown: t.shown(c)}
		if c.Sorts {
			down := "1"
			view.Aria = "none"
			if t.Sorted == c.Name {
				view.Aria = "ascending"
				if t.Descending {
					down, view.Aria = "", "descending"
				}
			}
			view.Href = t.v.With("sort", c.Name, "down", down, "page", "")
		}
		list = append(list, view)
	}
	return list
}

// cellView is a cell for the template.
type cellView struct {
	Cell
	Title string // column title, for narrow screens
	Link  string
	Class string
}

// whole is the maximum length of a word that never wraps, such as a reference with dashes.
const whole = 24

// class is the CSS class of a cell.
func (t *Table) class(c Column, cell Cell) string {
	var list []string
	if c.Figure {
		list = append(list, "figure")
	}
	if c.Minor && len(t.chosen) == 0 {
		list = append(list, "minor")
	}
	switch {
	case strings.Contains(cell.Text, " "):
		list = append(list, "text")
	case len(cell.Text) <= whole:
		list = append(list, "whole")
	}
	return strings.Join(list, " ")
}

// Cells are a row's visible cells.
func (t *Table) Cells(r Row) (list []cellView) {
	first := true
	for i, c := range t.Columns {
		if !t.shown(c) || i >= len(r.Cells) {
			continue
		}
		view := cellView{Cell: r.Cells[i], Title: c.Title, Link: r.Cells[i].Href, Class: t.class(c, r.Cells[i])}
		if first && view.Link == "" {
			view.Link = r.Href
		}
		first = false
		list = append(list, view)
	}
	return list
}

// Links of a table.
func (t *Table) Next() string { return t.v.With("page", strconv.Itoa(t.Number+1)) }

// Previous is the URL of the previous page.
func (t *Table) Previous() string {
	if t.Number == 2 {
		return t.v.With("page", "")
	}
	return t.v.With("page", strconv.Itoa(t.Number-1))
}

// Leaves reports whether the user may export the table.
func (t *Table) Leaves() bool { return !t.Bare && t.v.Can(access.Export) }

// Out is the URL of the table as a file.
func (t *Table) Out(format string) string { return t.v.With("format", format) }

// Rest are the query values that the column chooser keeps.
func (t *Table) Rest() []Link { return hidden(t.v.R.URL.Query(), "col") }

// Action is the URL of the page itself.
func (t *Table) Action() string { return t.v.R.URL.Path }
