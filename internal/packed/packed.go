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

// Together is an aggregate of Columns: it joins the rows of a subquery into one text, in any order. Rows reads it.
func Together(columns string) string { return "string_agg(" + columns + ", ',')" }

// Rows are those of Together: what the methods of Row read next is the first column of the next row. A query without rows gives
// NULL, and none.
type Rows struct{ Row }

// Scan implements sql.Scanner.
func (p *Rows) Scan(stored any) error {
	if stored == nil {
		*p = Rows{Row{ends: true}}
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
	*p = Row{rest: text}
	return nil
}

// take cuts off what is left up to the next comma.
func (p *Row) take() string {
	if p.ends {
		p.err = errPacked
	}
	value, rest, found := strings.Cut(p.rest, ",")
	p.rest, p.ends = rest, !found
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

// Day reads a day, which is stored as days since 1970.
func (p *Row) Day() civil.Day { return civil.Day(p.Int()) }

// Text reads a text. It is a part of the row, so the row stays in memory as long as the text does.
func (p *Row) Text() string {
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
