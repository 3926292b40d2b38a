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
	"holdfast/internal/lib/tabular"

	"github.com/rivo/uniseg"
)

// sheet is the data of a list or report: named columns and rows of cells. It is printed as a table or as CSV.
type sheet struct {
	columns []column
	rows    [][]cell
	foot    [][]cell // totals: always at the end, regardless of sorting and limits
}

// column is a column of a sheet. CSV and --sort use its name. Tables use its title, which defaults to the name in capitals;
// there, a channel is a merchant.
type column struct{ name, title string }

// columnsOf returns columns for space-separated names.
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
	figure bool     // right-aligned, so that digits line up
	size   *big.Rat // sort key of a figure; nil if it is empty or unknown
}

// words is a text. In a table it stays on one line.
func words(text string) cell {
	return cell{text: oneLine(text), plain: tabular.PlainCell(text)}
}

func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// count is an integer.
func count(n int64) cell {
	text := strconv.FormatInt(n, 10)
	return cell{text: text, plain: text, figure: true, size: big.NewRat(n, 1)}
}

// ident is an id. 0 means none and is empty.
func ident(id int64) cell {
	if id == 0 {
		return cell{figure: true}
	}
	return count(id)
}

// amount is money: "1,234.50" in tables, "1234.50" in CSV. The currency is in a separate column or in the title.
func amount(minor int64, c money.Currency) cell {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Exponent())), nil)
	return cell{
		text: money.Format(minor, c), plain: money.FormatPlain(minor, c), figure: true,
		size: new(big.Rat).SetFrac(big.NewInt(minor), unit),
	}
}

// unknown is an amount that is unknown because a rate is missing. It is empty in CSV, never 0.
func unknown() cell { return cell{text: "not known", figure: true} }

// figures is a specially formatted number, such as a percentage. CSV has plain.
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

// instant is a time in GMT; the zero time is empty.
func instant(t time.Time) cell {
	if t.IsZero() {
		return cell{}
	}
	return words(civil.FormatInstant(t))
}

// yesNo is a boolean.
func yesNo(is bool) cell {
	if is {
		return cell{text: "yes", plain: "true"}
	}
	return cell{text: "no", plain: "false"}
}

// orderFlags select which rows are printed, and in which order.
type orderFlags struct {
	Sort  sortFlag `placeholder:"COLUMN" help:"Sort by this CSV column. Prefix it with - for descending order: --sort -id."`
	Limit int      `default:"0" placeholder:"N" help:"Maximum number of rows to print (default: all)."`
}

// sortFlag is the value of --sort; the zero value keeps the order.
type sortFlag struct {
	column     string
	descending bool
}

// check rejects an unknown column and a negative limit.
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

// arrange sorts the rows of a report and drops those beyond the limit.
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

// compare orders two cells: figures by size, texts alphabetically, empty or unknown cells last.
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

// printTable prints a sheet as a table. Text is left-aligned, figures are right-aligned.
func (p *program) printTable(s sheet, indent string) {
	t := table{columns: s.columns, indent: indent}
	t.print(p, slices.Concat(s.rows, s.foot), true)
}

// table prints the rows of a sheet, possibly in batches. Columns never become narrower, so that the batches line up.
type table struct {
	columns []column
	indent  string
	widths  []int
	right   []bool
}

// print prints rows, with headings before the first ones.
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

// isFigures reports whether a column contains only figures. An empty column does not.
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

// width is the width of a text on a terminal: Chinese, Japanese and Korean characters are two columns wide.
func width(text string) int { return uniseg.StringWidth(text) }

// printCSV prints a sheet as CSV. The first column is the day or time of the figures. Amounts are in major units.
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
