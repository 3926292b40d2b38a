package cli

import (
	"cmp"
	"encoding/csv"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/lib/csvcell"

	"github.com/rivo/uniseg"
)

// sheet is what lists and reports print: named columns, and rows of cells. It becomes a table for people, or CSV for
// programs.
type sheet struct {
	columns []column
	rows    [][]cell
	foot    [][]cell // totals: they stay at the end, however the rows are sorted and however few are shown
}

// column is a column of a sheet. CSV and --sort call it by its name. The title stands above it in a table; without one
// it is the name in capitals.
type column struct{ name, title string }

// columnsOf makes columns of their names, with a space between two.
func columnsOf(names string) (list []column) {
	for name := range strings.FieldsSeq(names) {
		list = append(list, column{name: name})
	}
	return list
}

func (c column) heading() string {
	return cmp.Or(c.title, strings.NewReplacer("_", " ", "CHANNEL", "MERCHANT").Replace(strings.ToUpper(c.name)))
}

// cell is one value. The zero cell is empty.
type cell struct {
	text   string   // for people
	plain  string   // for programs
	figure bool     // it ends at the right, so that digits stand under each other
	size   *big.Rat // what a figure is sorted by; nil where it is empty or not known
}

// words is a text. In a table it keeps to its line.
func words(text string) cell {
	return cell{text: oneLine(text), plain: csvcell.PlainCell(text)}
}

func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// count is a whole number.
func count(n int64) cell {
	text := strconv.FormatInt(n, 10)
	return cell{text: text, plain: text, figure: true, size: big.NewRat(n, 1)}
}

// ident is an id. 0 stands for none, and is empty.
func ident(id int64) cell {
	if id == 0 {
		return cell{figure: true}
	}
	return count(id)
}

// amount is money: "1,234.50" for people, "1234.50" for programs. The currency stands in a column of its own, or in the
// title.
func amount(minor int64, c money.Currency) cell {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Exponent())), nil)
	return cell{
		text: money.Format(minor, c), plain: money.FormatPlain(minor, c), figure: true,
		size: new(big.Rat).SetFrac(big.NewInt(minor), unit),
	}
}

// unknown is an amount that cannot be known, because a rate is missing. It is empty for programs, and never 0.
func unknown() cell { return cell{text: "not known", figure: true} }

// figures is a number that is written in a special way, such as a share in percent. Programs get plain.
func figures(text, plain string) cell {
	size, ok := new(big.Rat).SetString(plain)
	if !ok {
		size = nil
	}
	return cell{text: text, plain: plain, figure: true, size: size}
}

// dayCell is a day; NoDay is empty.
func dayCell(d civil.Day) cell {
	if d == civil.NoDay {
		return cell{}
	}
	return words(d.String())
}

// instant is a moment in GMT; the zero time is empty.
func instant(t time.Time) cell {
	if t.IsZero() {
		return cell{}
	}
	return words(civil.FormatInstant(t))
}

// yesNo is a truth.
func yesNo(is bool) cell {
	if is {
		return cell{text: "yes", plain: "true"}
	}
	return cell{text: "no", plain: "false"}
}

// orderFlags choose which rows are printed, and in which order.
type orderFlags struct {
	Sort  sortFlag `placeholder:"COLUMN" help:"Sort by this CSV column. Prefix it with - for descending order: --sort -id."`
	Limit int      `default:"0" placeholder:"N" help:"Maximum number of rows to print (default: all)."`
}

// sortFlag is the value of --sort; the zero value keeps the order.
type sortFlag struct {
	column     string
	descending bool
}

// check refuses a column that the sheet lacks, and a limit below 0.
func (o orderFlags) check(columns []column) error {
	var p errs.Problems
	if o.Limit < 0 {
		p.Wrong("limit", "Enter a whole number, 1 or more.")
	}
	if o.Sort.column != "" && columnNamed(columns, o.Sort.column) < 0 {
		names := make([]string, len(columns))
		for i, c := range columns {
			names[i] = c.name
		}
		p.Wrong("sort", "Unknown column %q. Columns: %s.", o.Sort.column, strings.Join(names, ", "))
	}
	return p.Err()
}

func columnNamed(columns []column, name string) int {
	return slices.IndexFunc(columns, func(c column) bool { return c.name == name })
}

// arrange sorts the rows of a report and drops those behind the limit.
func (s *sheet) arrange(o orderFlags) error {
	if err := o.check(s.columns); err != nil {
		return err
	}
	if at := columnNamed(s.columns, o.Sort.column); at >= 0 {
		slices.SortStableFunc(s.rows, func(a, b []cell) int { return o.Sort.compare(cellAt(a, at), cellAt(b, at)) })
	}
	if o.Limit > 0 && o.Limit < len(s.rows) {
		s.rows = s.rows[:o.Limit]
	}
	return nil
}

// compare orders two cells. Figures go by size, texts by letters, and what is empty or not known comes last.
func (o sortFlag) compare(a, b cell) int {
	empty := func(c cell) int {
		if c.plain == "" {
			return 1
		}
		return 0
	}
	if empty(a)+empty(b) > 0 {
		return empty(a) - empty(b)
	}
	var order int
	if a.size != nil && b.size != nil {
		order = a.size.Cmp(b.size)
	} else {
		order = cmp.Or(cmp.Compare(strings.ToLower(a.text), strings.ToLower(b.text)), cmp.Compare(a.text, b.text))
	}
	if o.descending {
		return -order
	}
	return order
}

// cellAt reads a cell. A row may have fewer cells than there are columns.
func cellAt(row []cell, at int) cell {
	if at < len(row) {
		return row[at]
	}
	return cell{}
}

// printTable prints a sheet for people. Words begin at the left of their column, figures end at its right.
func (p *program) printTable(s sheet, indent string) {
	t := table{columns: s.columns, indent: indent}
	t.print(p, slices.Concat(s.rows, s.foot), true)
}

// table prints the rows of a sheet, also piece by piece. A column never becomes narrower, so that the pieces fit.
type table struct {
	columns []column
	indent  string
	widths  []int
	right   []bool
}

// print prints some rows, with the headings above them if they are the first ones.
func (t *table) print(p *program, rows [][]cell, first bool) {
	if first {
		t.widths, t.right = make([]int, len(t.columns)), make([]bool, len(t.columns))
		for i, c := range t.columns {
			t.widths[i] = width(c.heading())
			t.right[i] = isFigures(rows, i)
		}
	}
	for _, row := range rows {
		for i, c := range row {
			t.widths[i] = max(t.widths[i], width(c.text))
		}
	}
	if first {
		head := make([]cell, len(t.columns))
		for i, c := range t.columns {
			head[i] = cell{text: c.heading()}
		}
		p.printf("%s\n", t.line(head))
	}
	for _, row := range rows {
		p.printf("%s\n", t.line(row))
	}
}

// isFigures says whether a column holds figures only. One that is empty does not.
func isFigures(rows [][]cell, at int) bool {
	any := false
	for _, row := range rows {
		switch c := cellAt(row, at); {
		case c.figure:
			any = true
		case c.text != "":
			return false
		}
	}
	return any
}

func (t *table) line(row []cell) string {
	var b strings.Builder
	b.WriteString(t.indent)
	for i := range t.columns {
		if i > 0 {
			b.WriteString("  ")
		}
		text := cellAt(row, i).text
		gap := strings.Repeat(" ", t.widths[i]-width(text))
		if t.right[i] {
			b.WriteString(gap + text)
		} else {
			b.WriteString(text + gap)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// width is how many columns of a terminal a text takes: Chinese, Japanese and Korean characters take two.
func width(text string) int { return uniseg.StringWidth(text) }

// printCSV prints a sheet for programs. The first column says as of when the figures are: a day, or an instant. Amounts
// are in major units.
func (p *program) printCSV(s sheet, asOf string) error {
	out := csv.NewWriter(p.stdout)
	if err := out.Write(headOf(s.columns)); err != nil {
		return err
	}
	for _, row := range slices.Concat(s.rows, s.foot) {
		if err := out.Write(recordOf(s.columns, row, asOf)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func headOf(columns []column) []string {
	head := []string{"as_of"}
	for _, c := range columns {
		head = append(head, c.name)
	}
	return head
}

func recordOf(columns []column, row []cell, asOf string) []string {
	record := []string{asOf}
	for i := range columns {
		record = append(record, cellAt(row, i).plain)
	}
	return record
}
