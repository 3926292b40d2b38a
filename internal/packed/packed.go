// Package packed reads a wide row of a database as one text. SQLite's driver takes longer to hand over a column than to find it,
// so a list of wide rows is read twice as fast. It owns nothing. Begin reading at Columns.
package packed

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/civil"
)

// Columns joins the columns of a wide row into one SQL expression of the type text, which a Row reads. plain lists columns and
// expressions of numbers and flags, with commas between them. texts come after these, each with its length in bytes, so
// that it may hold anything. None of them may be NULL. Packed columns in a subquery can be one of the plain columns.
func Columns(plain string, texts ...string) string {
	var columns []string
	if plain != "" {
		columns = append(columns, plain)
	}
	for _, text := range texts {
		columns = append(columns, "octet_length("+text+"), "+text)
	}
	return "concat_ws(',', " + strings.Join(columns, ", ") + ")"
}

// Wide are the columns of a wide row in two forms: One is for a row that is read alone, and Page for many.
type Wide struct {
	One   string // what Columns gives
	among string // without lengths, which take SQLite a third of the time: a sign stands behind each column
}

// The signs behind a column and behind a row of a page. Texts of travellers have none of them, and if one has, ReadPage finds out.
const (
	columnEnd = '\x1f'
	rowEnd    = "\x1e"
)

// Pack joins columns into one SQL expression, as Columns does.
type Pack func(plain string, texts ...string) string

// WideOf makes both forms. columns is called for each.
func WideOf(columns func(pack Pack) string) Wide {
	among := func(plain string, texts ...string) string {
		if plain != "" {
			texts = append([]string{plain}, texts...)
		}
		return "concat_ws('" + string(columnEnd) + "', " + strings.Join(texts, ", ") + ")"
	}
	return Wide{One: columns(Columns), among: columns(among)}
}

// Page is a query with one row of two columns, for ReadPage: how many rows a page has, and all of them in one text. from is what
// stands behind the columns of the page's own query, up to its LIMIT. The rows have the order of that query: with a LIMIT, neither
// engine leaves its order out.
func (w Wide) Page(from string) string {
	return "SELECT COUNT(*), COALESCE(string_agg(page.row_text, '" + rowEnd + "'), '') FROM (SELECT " + w.among + " AS row_text" + from +
		") AS page"
}

// ReadPage reads the n rows of a Page. After an error they are to be read by One: a text holds one of the signs, or read has
// found something else, which it finds again.
func ReadPage[T any](n int, text string, read func(row *Row) (T, error)) ([]T, error) {
	list := make([]T, 0, n)
	if n > 0 && strings.Count(text, rowEnd) != n-1 {
		return nil, errPacked
	}
	for range n {
		row := Row{end: columnEnd}
		row.rest, text, _ = strings.Cut(text, rowEnd)
		item, err := read(&row)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

// Together is an aggregate of Columns: it joins the rows of a subquery into one text, in any order. Rows reads it.
func Together(columns string) string { return "string_agg(" + columns + ", ',')" }

// Rows are those of Together: what the methods of Row read next is the first column of the next row. A query without rows gives
// NULL, and none.
type Rows struct{ Row }

// Scan implements sql.Scanner.
func (p *Rows) Scan(stored any) error {
	if stored == nil {
		*p = Rows{Row{end: ',', ends: true}}
		return nil
	}
	return p.Row.Scan(stored)
}

// Next reports whether another row can be read.
func (p *Rows) Next() bool { return !p.ends && p.err == nil }

// Ids reads rows of one column, whole numbers, and gives them in order, each once.
func (p *Rows) Ids() (ids []int64, err error) {
	for p.Next() {
		ids = append(ids, p.Int())
	}
	slices.Sort(ids)
	return slices.Compact(ids), p.Err()
}

// Row is one row of Columns. Its methods read the columns in the order in which Columns got them. Err is looked at in the end.
type Row struct {
	rest string
	end  byte // stands behind each column
	ends bool // nothing is left
	err  error
}

var errPacked = errors.New("a packed row has other columns than expected")

// Scan implements sql.Scanner.
func (p *Row) Scan(stored any) error {
	text, ok := stored.(string)
	if !ok {
		return fmt.Errorf("a packed row is stored as a %T", stored)
	}
	*p = Row{rest: text, end: ','}
	return nil
}

// take cuts off the next column.
func (p *Row) take() string {
	if p.ends {
		p.err = errPacked
	}
	value := p.rest
	if at := strings.IndexByte(value, p.end); at >= 0 {
		value, p.rest = value[:at], value[at+1:]
	} else {
		p.rest, p.ends = "", true
	}
	return value
}

// Int reads a whole number.
func (p *Row) Int() int64 {
	value, err := strconv.ParseInt(p.take(), 10, 64)
	if err != nil {
		p.err = errPacked
	}
	return value
}

// Flag reads a truth value. The engines write it as 1 or t.
func (p *Row) Flag() bool {
	value := p.take()
	return value == "1" || value == "t"
}

// Instant reads an instant, which is stored as microseconds since 1970, in GMT.
func (p *Row) Instant() time.Time { return time.UnixMicro(p.Int()).UTC() }

// InstantOrNone reads an instant that stands as 0 where there is none, which gives the zero time.
func (p *Row) InstantOrNone() time.Time {
	if micros := p.Int(); micros != 0 {
		return time.UnixMicro(micros).UTC()
	}
	return time.Time{}
}

// Day reads a day, which is stored as days since 1970.
func (p *Row) Day() civil.Day { return civil.Day(p.Int()) }

// Text reads a text. It is a part of the row, so the row stays in memory as long as the text does.
func (p *Row) Text() string {
	if p.end == columnEnd {
		return p.take()
	}
	size := p.Int()
	if p.err != nil || p.ends || size < 0 || size > int64(len(p.rest)) {
		p.err = errPacked
		return ""
	}
	value := p.rest[:size]
	p.rest = p.rest[size:]
	switch {
	case p.rest == "":
		p.ends = true
	case p.rest[0] == ',':
		p.rest = p.rest[1:]
	default:
		p.err = errPacked
	}
	return value
}

// Err is not nil when the row had other columns than were read.
func (p *Row) Err() error {
	if p.err == nil && !p.ends {
		return errPacked
	}
	return p.err
}
