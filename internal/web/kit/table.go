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

// Table is a list as a page shows it and as a file has it: what is seen is what leaves, in the same columns.
type Table struct {
	Name    string // of the file, such as "bookings"
	Caption string // for screen readers: what the rows are
	Columns []Column
	Rows    []Row
	Foot    []Row // sums
	// Empty is what the page says, and where it leads, when there are no rows.
	Empty Empty
	// More says that there is a next page; Number is this one, from 1. Total is -1 where nobody counted.
	Number int
	More   bool
	Total  int64
	// Sorted and Descending are the column that the rows are ordered by.
	Sorted     string
	Descending bool
	// Matrix is a table of figures that may be wider than the screen: its first column stays where it is.
	Matrix bool
	// Bare is a short table beside others: it does not leave as a file, and its columns cannot be chosen.
	Bare   bool
	chosen []string
	v      *Visit
}

// Column is one of a table. Name is its name in files and addresses.
type Column struct {
	Name, Title string
	Figure      bool // ends at the right, with figures of one width
	Sorts       bool // the list can be ordered by it
	Hidden      bool // shown only when somebody chooses it
	Minor       bool // left out on a telephone, unless somebody has chosen the columns
}

// Row is one of a table. Href is what a click on its first cell opens.
type Row struct {
	Cells []Cell
	Href  string
}

// Cell is one value: how people read it, and how programs do.
type Cell struct {
	Text  string // for people
	Plain string // for programs, in CSV
	Tone  string // good, warn, bad or calm: a mark in this colour stands before the text
	Href  string
	// number is the value for a spreadsheet, with so many decimals; set for figures.
	number   string
	decimals int
	figure   bool
	at       time.Time // of a day or an instant
	inGMT    bool      // an instant: the head of its column says that it is GMT
}

// Empty is what stands in the place of a table without rows: what it would hold, and what to do next.
type Empty struct {
	Title, Text string
	Act         Link
}

// Words is a text.
func Words(text string) Cell { return Cell{Text: text, Plain: text} }

// Linked is a text that leads to a page.
func Linked(text, href string) Cell { return Cell{Text: text, Plain: text, Href: href} }

// State is a state of the wire with its tone.
func State(state, tone string) Cell { return Cell{Text: Say(state), Plain: state, Tone: tone} }

// Number is a whole number.
func Number(n int64) Cell {
	text := strconv.FormatInt(n, 10)
	return Cell{Text: Count(n), Plain: text, number: text, figure: true}
}

// Ident is the number of an object. 0 is empty.
func Ident(id int64) Cell {
	if id == 0 {
		return Cell{}
	}
	text := strconv.FormatInt(id, 10)
	return Cell{Text: text, Plain: text, number: text, figure: true}
}

// Sum is an amount with its currency.
func Sum(amount int64, c money.Currency) Cell {
	if c == "" {
		return Cell{figure: true}
	}
	return Cell{Text: Money(amount, c), Plain: money.FormatPlain(amount, c), number: money.FormatPlain(amount, c), decimals: c.Exponent(), figure: true}
}

// Percent is a percentage that is written already, as protection.Percent writes it.
func Percent(text string) Cell {
	_, fraction, _ := strings.Cut(text, ".")
	return Cell{Text: text + "\u00a0%", Plain: text, number: text, decimals: len(fraction), figure: true}
}

// OnDay is a day.
func OnDay(d civil.Day) Cell {
	if d == civil.NoDay {
		return Cell{}
	}
	text := strings.ReplaceAll(Day(d), " ", "\u00a0") // a day never breaks over two lines
	return Cell{Text: text, Plain: d.String(), at: d.Start()}
}

// AtInstant is a time, in GMT. The head of its column says so, once for all rows.
func AtInstant(t time.Time) Cell {
	if t.IsZero() {
		return Cell{}
	}
	text := strings.ReplaceAll(strings.TrimSuffix(instant(t), " GMT"), " ", "\u00a0") // it never breaks over two lines
	return Cell{Text: text, Plain: civil.FormatInstant(t), at: t.UTC(), inGMT: true}
}

// YesNo is a yes or a no.
func YesNo(yes bool) Cell {
	if yes {
		return Words("Yes")
	}
	return Words("No")
}

// tableSize is how many rows a page of a table has, and maxPage the last page that one may ask for: it is past the end of any list.
const (
	tableSize = 50
	maxPage   = 1_000_000_000
)

// PageOf is the page of a list that the address asks for: page, sort and down. orders are what the list can be ordered by, the
// first by default.
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
	if v.Format() != "" { // a file has as much of the list as one may ask for
		p.Size = 100
	}
	return p, nil
}

// fileRows is how many rows of a list a file has at most.
const fileRows = 10_000

// Each reads the pages of a list: the one that is asked for, or for a file all from the first, up to ten thousand rows. read
// says whether there are more.
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

// Format is the file that is asked for: "csv", "xlsx", or "" for a page.
func (v *Visit) Format() string {
	if f := v.Query("format"); f == "csv" || f == "xlsx" {
		return f
	}
	return ""
}

// Table makes a table ready for a page: the template "table" shows it.
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
		for _, r := range t.Rows {
			if i < len(r.Cells) && r.Cells[i].inGMT {
				t.Columns[i].Title += ", GMT"
				break
			}
		}
	}
	return &t
}

// slim is how many columns a telephone can show side by side.
const slim = 3

// Slim says whether the table stays a table on a telephone. There the rows of all others become lists.
func (t *Table) Slim() bool { return t.Matrix || len(t.Heads()) <= slim }

// shown says whether a column is to be seen.
func (t *Table) shown(c Column) bool {
	if len(t.chosen) > 0 {
		return slices.Contains(t.chosen, c.Name)
	}
	return !c.Hidden
}

// columnView is a column as a page shows it.
type columnView struct {
	Column
	Href  string // orders by it
	Aria  string // aria-sort
	Shown bool
}

// Heads are the columns that are shown.
func (t *Table) Heads() (list []columnView) {
	for _, c := range t.AllColumns() {
		if c.Shown {
			list = append(list, c)
		}
	}
	return list
}

// AllColumns are all columns, for the choice of them.
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

// cellView is a cell as a page shows it.
type cellView struct {
	Cell
	Title string // of its column, for narrow screens
	Link  string
	Class string
}

// whole is how long a word may be that never breaks over two lines, such as a reference with dashes in it.
const whole = 24

// class is how a cell looks.
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

// Cells are the cells of a row that are shown.
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

// Previous is the address of the page before.
func (t *Table) Previous() string {
	if t.Number == 2 {
		return t.v.With("page", "")
	}
	return t.v.With("page", strconv.Itoa(t.Number-1))
}

// Leaves says whether the reader may take the table out as a file.
func (t *Table) Leaves() bool { return !t.Bare && t.v.Can(access.Export) }

// Out is the address of the table as a file.
func (t *Table) Out(format string) string { return t.v.With("format", format) }

// Rest are the values of the address that the choice of columns keeps.
func (t *Table) Rest() []Link { return hidden(t.v.R.URL.Query(), "col") }

// Action is the address of the page itself.
func (t *Table) Action() string { return t.v.R.URL.Path }
