package paymentfile

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"holdfast/internal/book/imports"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/lib/nearest"
	"holdfast/internal/lib/tabular"
)

// Read reads a whole file and then returns its rows one after the other: those of a booking together, in the order of the
// file. The bookings of a small file are in the order of their first rows. A file may be larger than the memory: its rows
// are then kept in temporary files. scanned receives the number of rows and the columns that are not used, before the
// first row; it may be nil. A wrong row has the reason in Refused, and reading continues. An error ends the file: it cannot
// be read, columns are missing, or it has no rows.
func Read(r io.Reader, scanned func(imports.Scan)) iter.Seq2[imports.ImportedPayment, error] {
	return func(yield func(imports.ImportedPayment, error) bool) {
		in := newRecords(r)
		header, err := readHeader(in)
		if err != nil {
			yield(imports.ImportedPayment{}, err)
			return
		}
		seen := survey{header: header, decimals: map[*Column]int{}}
		counted := func(rows int) {
			if scanned != nil {
				scanned(imports.Scan{Rows: rows, Notes: seen.notes(in.names)})
			}
		}
		var twice repeats
		rows, err := header.together(in, seen.note, counted, func(r record) bool {
			out := header.read(r, seen.decimals)
			twice.check(header.booking(r), &out)
			return yield(out, nil)
		})
		switch {
		case err != nil:
			yield(imports.ImportedPayment{}, fmt.Errorf("the payments file cannot be read: %w", err))
		case rows == 0:
			yield(imports.ImportedPayment{}, errNoRows(in.names))
		}
	}
}

// repeats finds rows of one booking that name the same payment.
type repeats struct {
	booking string
	lines   map[string]int // the first line of each payment of the booking
}

// check refuses a row whose payment_reference an earlier one has: a file that lists a payment twice may mean two payments.
func (d *repeats) check(booking string, row *imports.ImportedPayment) {
	if d.booking != booking || d.lines == nil {
		d.booking, d.lines = booking, map[string]int{}
	}
	key := row.Payment.ImportKey
	first, met := d.lines[key]
	switch {
	case row.Refused != nil, key == "":
	case met:
		row.Refused = errs.WrongField("payment_reference", "Line %d has the same payment_reference.", first)
	default:
		d.lines[key] = row.Line
	}
}

// errNoRows rejects a file that only has a header: an import that does nothing is probably a mistake.
func errNoRows(names []string) error {
	if slices.ContainsFunc(names, func(name string) bool { return strings.ContainsAny(name, "\u2028\u2029\u0085\v\f") }) {
		return errs.New(errs.Invalid, "The lines of the file end with characters that are not line breaks. End each line with LF or CRLF.")
	}
	return errs.New(errs.Invalid, "The file has no rows after its header line.")
}

// survey looks at all rows before the first one is imported.
type survey struct {
	header header
	// decimals has the first line with decimals of each amount column that has any: then the unit of its other cells is not
	// clear either.
	decimals map[*Column]int
	schemes  []string // unknown words in card_types
}

var decimalText = regexp.MustCompile(`^[0-9]+[.,][0-9]+$`)

func (s *survey) note(r record) {
	if len(r.Cells) != len(s.header) {
		return // its cells are not below their headers
	}
	for i, column := range s.header {
		if column == nil {
			continue
		}
		cell := strings.TrimSpace(r.Cells[i])
		switch {
		case column.amount() && s.decimals[column] == 0 && decimalText.MatchString(cell):
			s.decimals[column] = r.Line
		case column.Name == "card_types" && cell != "" && len(s.schemes) < maxNoted:
			if _, ok := card.Named(cell); !ok && !slices.Contains(s.schemes, safe(cell)) {
				s.schemes = append(s.schemes, safe(cell))
			}
		}
	}
}

func (s *survey) notes(names []string) imports.Notes {
	return imports.Notes{Unused: s.header.unused(names), Schemes: s.schemes}
}

// maxNoted is how many unused columns, and unknown words, are listed.
const maxNoted = 100

// safe is a text of the file, short, valid and without card numbers.
func safe(text string) string {
	if card.HoldsCardNumber(text) || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "…"
	}
	return clip(text)
}

// header is the columns of the file in their order. A column that is not ours is nil.
type header []*Column

// unused lists the columns that are not ours, by their names in the file. A name may hold anything.
func (h header) unused(names []string) []imports.UnusedColumn {
	var free []string // our columns that the file does not have
	for i := range Columns {
		if !slices.Contains(h, &Columns[i]) {
			free = append(free, Columns[i].Name)
		}
	}
	list := []imports.UnusedColumn{}
	for i, column := range h {
		name := strings.TrimSpace(names[i])
		switch {
		case column != nil, ofRefused(name):
			continue
		case len(list) == maxNoted:
			return list
		}
		list = append(list, imports.UnusedColumn{Name: safe(name), Nearest: nearest.Of(name, free)})
	}
	return list
}

func readHeader(in *records) (header, error) {
	cells, line, err := in.next()
	switch {
	case err == io.EOF:
		return nil, errs.New(errs.Invalid, "The file is empty. Its first line must name the columns.")
	case err != nil && line == 0:
		return nil, fmt.Errorf("the payments file cannot be read: %w", err)
	case err != nil:
		return nil, errs.New(errs.Invalid, "The header line cannot be read: %v.", err)
	}
	in.names, in.mended = cells, slices.ContainsFunc(cells, ofRefused)
	h := make(header, len(cells))
	for i, cell := range cells {
		h[i] = known(strings.TrimSpace(cell))
		if h[i] != nil && slices.Contains(h[:i], h[i]) {
			return nil, errs.New(errs.Invalid, "The header line names column %s twice.", h[i].Name)
		}
	}
	var missing []string
	for i := range Columns {
		if Columns[i].Required && !slices.Contains(h, &Columns[i]) {
			missing = append(missing, Columns[i].Name)
		}
	}
	if !slices.ContainsFunc(h, func(c *Column) bool { return c != nil && namesChannel(c) }) {
		missing = append(missing, "channel")
	}
	if len(missing) > 0 {
		hint := ""
		if len(cells) == 1 && strings.Contains(cells[0], ";") {
			hint = " The file seems to use semicolons as separators. Use commas."
		}
		return nil, errs.New(errs.Invalid, "The first line lacks the column(s) %s.%s", strings.Join(missing, ", "), hint)
	}
	return h, nil
}

// read makes a payment of the cells of a row.
func (h header) read(in record, decimals map[*Column]int) imports.ImportedPayment {
	r, cells := row{out: imports.ImportedPayment{Line: in.Line}, decimals: decimals}, in.Cells
	switch {
	case in.Broken != "":
		r.out.Refused = errs.New(errs.Invalid, "This row cannot be read: %s.", in.Broken)
	case h.cardNumber(cells) >= 0:
		// This check comes first, and does not repeat the value. The messages of later checks repeat cells.
		r.out.Refused = errs.New(errs.CardNumber, "The column %s contains a card number.", h.name(h.cardNumber(cells)))
	case len(cells) != len(h):
		r.out.Refused = errs.New(errs.Invalid, "The row has %d cells, but the first line names %d columns.", len(cells), len(h))
	default:
		for i, column := range h {
			if column != nil {
				r.cell(column, strings.TrimSpace(cells[i]))
			}
		}
		if r.out.Channel == "" && r.out.ChannelID == 0 && !r.out.Booking.Problems.Has("channel_id") {
			r.out.Booking.Problems.Wrong("channels", "This cell cannot be empty.")
		}
	}
	return r.out
}

// cardNumber is the index of the first cell with a card number, or -1. Columns that are not used are not checked, unless
// the row has too few or too many cells: then nobody knows which is which.
func (h header) cardNumber(cells []string) int {
	for i, cell := range cells {
		if (len(cells) != len(h) || h[i] != nil) && card.HoldsCardNumber(cell) {
			return i
		}
	}
	return -1
}

// name is the name of a column, or its number if it is not one of ours: a foreign header may hold a card number itself,
// and must not be repeated.
func (h header) name(i int) string {
	if i < len(h) && h[i] != nil {
		return h[i].Name
	}
	return "number " + strconv.Itoa(i+1)
}

// part says whether a column belongs to the booking or to the payment.
type part int

const (
	booking part = iota
	ofPayment
)

// row is one row while it is read, column by column.
type row struct {
	out      imports.ImportedPayment
	column   *Column
	decimals map[*Column]int // see survey
}

func (r *row) cell(c *Column, text string) {
	r.column = c
	if c.dated() && noDate.MatchString(text) {
		text = ""
	}
	switch {
	case text != "":
		c.read(r, text)
	case c.Required:
		// "Wrong" and not "missing", so that empty cells and wrong ones are reported together.
		r.wrong("This cell cannot be empty.")
	}
}

// noDate matches the ways databases and programs write a missing date. placeholder matches dates that are used as
// placeholders.
var (
	noDate      = regexp.MustCompile(`(?i)^(null|\\N|n/?a|none|nil|-+|0000-00-00([ T]00:00:00)?)$`)
	placeholder = regexp.MustCompile(`^(0001-01-01|1899-12-30|1899-12-31|1900-01-01|1970-01-01|9999-12-31)([ T].*)?$`)
)

// rejectsPlaceholder rejects a cell with a placeholder date.
func (r *row) rejectsPlaceholder(text string) bool {
	found := placeholder.MatchString(text)
	if found {
		r.wrong("%q is a placeholder for a missing date. Enter the date, or leave an optional cell empty.", clip(text))
	}
	return found
}

func (r *row) wrong(format string, args ...any) {
	problems := &r.out.Booking.Problems
	if r.column.of == ofPayment {
		problems = &r.out.Payment.Problems
	}
	problems.Wrong(r.column.field, format, args...)
}

// id reads the caller's own id of a booking or a payment.
func (r *row) id(text string) string {
	if tabular.Shortened(text) {
		r.wrong("%q is a number that a spreadsheet has shortened. Format the column as text and export it again.", clip(text))
	}
	return text
}

// amount reads an amount in minor units.
func (r *row) amount(text string) *int64 {
	switch line := r.decimals[r.column]; {
	case decimalText.MatchString(text):
		r.wrong("%.24q has decimals. Amounts are whole numbers of minor units, such as 335 for EUR 3.35.", text)
		return nil
	case line > 0:
		r.wrong("Line %d has decimals in this column, so it is not clear whether %.24q is in minor units. Write all amounts of the column in minor units.", line, text)
		return nil
	}
	return r.number(text)
}

func (r *row) number(text string) *int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		r.wrong("This number is too large.")
		return nil
	case err != nil:
		r.wrong("%.24q is not a whole number.", text)
		return nil
	}
	return &n
}

func (r *row) channelID(text string) {
	n := r.number(text)
	switch {
	case n == nil:
	case *n < 1:
		r.wrong("Must be an id.")
	default:
		r.out.ChannelID = *n
	}
}

func (r *row) currency(text string) *money.Currency {
	c, err := money.ParseCurrency(text)
	if err != nil {
		r.wrong("%v.", err)
		return nil
	}
	return &c
}

func (r *row) day(text string) *civil.Day {
	if r.rejectsPlaceholder(text) {
		return nil
	}
	d, err := civil.ParseDay(clip(text))
	if err != nil {
		r.wrong("%v.", err)
		return nil
	}
	return &d
}

func (r *row) paidAt(text string) {
	if r.rejectsPlaceholder(text) {
		return
	}
	t, err := civil.ParseInstant(clip(text))
	if err != nil {
		r.wrong("%v.", err)
		return
	}
	r.out.Payment.EffectiveAt = t
}

// clip shortens a text that a message will repeat. A text that it cuts is too long to be right.
func clip(text string) string {
	const most = 24
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
