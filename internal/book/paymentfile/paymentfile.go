package paymentfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/book/imports"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

// utf8BOM is a mark that spreadsheet programs put before the first column.
const utf8BOM = "\ufeff"

// Read reads a whole file and then returns its rows one after the other: those of a booking together, in the order of the
// file. The bookings of a small file are in the order of their first rows. A file may be larger than the memory: its rows
// are then kept in temporary files. counted is told the number of rows before the first of them; it may be nil. A wrong row
// has the reason in Refused, and reading goes on. An error ends the file: it cannot be read, or columns are missing.
func Read(r io.Reader, counted func(rows int)) iter.Seq2[imports.ImportedPayment, error] {
	return func(yield func(imports.ImportedPayment, error) bool) {
		in := &records{in: bufio.NewReaderSize(r, 32<<10)}
		header, err := readHeader(in)
		if err != nil {
			yield(imports.ImportedPayment{}, err)
			return
		}
		_, err = header.together(in, counted, func(r record) bool { return yield(header.read(r), nil) })
		if err != nil {
			yield(imports.ImportedPayment{}, fmt.Errorf("the file of payments cannot be read: %w", err))
		}
	}
}

// header is the columns of the file in their order. A column that is not ours is nil.
type header []*Column

func readHeader(in *records) (header, error) {
	cells, line, err := in.next()
	switch {
	case err == io.EOF:
		return nil, errs.New(errs.Invalid, "The file is empty. Its first line must name the columns.")
	case err != nil && line == 0:
		return nil, fmt.Errorf("the file of payments cannot be read: %w", err)
	case err != nil:
		return nil, errs.New(errs.Invalid, "The first line, which names the columns, cannot be read: %v.", err)
	}
	cells[0] = strings.TrimPrefix(cells[0], utf8BOM)
	in.mended = slices.ContainsFunc(cells, ofRefused)
	h := make(header, len(cells))
	for i, cell := range cells {
		h[i] = known(strings.TrimSpace(cell))
		if h[i] != nil && slices.Contains(h[:i], h[i]) {
			return nil, errs.New(errs.Invalid, "The first line names the column %s twice.", h[i].Name)
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
func (h header) read(in record) imports.ImportedPayment {
	r, cells := row{out: imports.ImportedPayment{Line: in.Line}}, in.Cells
	switch {
	case in.Broken != "":
		r.out.Refused = errs.New(errs.Invalid, "This row cannot be read: %s.", in.Broken)
	case slices.ContainsFunc(cells, card.HoldsCardNumber):
		// This check comes first, and does not repeat the value. The messages of later checks repeat cells.
		r.out.Refused = errs.New(errs.CardNumber, "The column %s contains a card number.", h.name(slices.IndexFunc(cells, card.HoldsCardNumber)))
	case len(cells) != len(h):
		r.out.Refused = errs.New(errs.Invalid, "The row has %d cells, but the first line names %d columns.", len(cells), len(h))
	default:
		for i, column := range h {
			if column != nil {
				r.cell(column, strings.TrimSpace(cells[i]))
			}
		}
		if r.out.Channel == "" && r.out.ChannelID == 0 && !r.out.Booking.Problems.Has("channel_id") {
			r.out.Booking.Problems.Wrong("channels", "This cell is empty.")
		}
	}
	return r.out
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
	out    imports.ImportedPayment
	column *Column
}

func (r *row) cell(c *Column, text string) {
	r.column = c
	switch {
	case text != "":
		c.read(r, text)
	case c.Required:
		// "Wrong" and not "missing", so that empty cells and wrong ones are reported together.
		r.wrong("This cell is empty.")
	}
}

func (r *row) wrong(format string, args ...any) {
	problems := &r.out.Booking.Problems
	if r.column.of == ofPayment {
		problems = &r.out.Payment.Problems
	}
	problems.Wrong(r.column.field, format, args...)
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
	d, err := civil.ParseDay(clip(text))
	if err != nil {
		r.wrong("%v.", err)
		return nil
	}
	return &d
}

func (r *row) paidAt(text string) {
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
