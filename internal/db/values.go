package db

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/travel"
)

// Micros is the stored form of an instant: microseconds since 1970 in GMT.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// Instant reads back what Micros stored.
func Instant(us int64) time.Time { return time.UnixMicro(us).UTC() }

// Stored is the column of an instant, for Scan and as an argument.
type Stored struct{ Instant *time.Time }

// Value implements driver.Valuer.
func (s Stored) Value() (driver.Value, error) { return Micros(*s.Instant), nil }

// Scan implements sql.Scanner.
func (s Stored) Scan(stored any) error {
	us, ok := stored.(int64)
	if !ok {
		return fmt.Errorf("an instant is stored as a %T", stored)
	}
	*s.Instant = Instant(us)
	return nil
}

// MaybeMicros is Micros, but it stores the zero time, which means "never" or "not yet", as NULL.
func MaybeMicros(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMicro(), Valid: !t.IsZero()}
}

// MaybeInstant reads back what MaybeMicros stored.
func MaybeInstant(us sql.NullInt64) time.Time {
	if !us.Valid {
		return time.Time{}
	}
	return Instant(us.Int64)
}

// MaybeDay is the stored form of a day: days since 1970, or NULL for civil.NoDay.
func MaybeDay(d civil.Day) sql.NullInt64 {
	return sql.NullInt64{Int64: int64(d), Valid: d != civil.NoDay}
}

// DayOr reads back what MaybeDay stored.
func DayOr(d sql.NullInt64) civil.Day {
	if !d.Valid {
		return civil.NoDay
	}
	return civil.Day(d.Int64)
}

// MaybeID stores 0, which is no row's id, as NULL: a foreign key accepts NULL, but not 0.
func MaybeID(id int64) sql.NullInt64 { return sql.NullInt64{Int64: id, Valid: id != 0} }

// Where builds the text of a condition and its arguments together, so that text from outside only becomes an argument,
// and never SQL.
type Where struct {
	Text       strings.Builder
	Args       []any
	conditions int
	narrow     bool // see Narrow

	// allOf is what the conditions keep, as long as no further one is added (see counts.go).
	allOf   *SiteTable
	allOfAt int
}

// AndAllOf adds the conditions that keep all rows of a site in a table. It is the first to add any.
func (w *Where) AndAllOf(rows SiteTable) {
	w.And("site_id = ?", rows.SiteID)
	if rows.Hidden != "" {
		w.And("NOT (" + rows.Hidden + ")")
	}
	w.allOf, w.allOfAt = &rows, w.conditions
}

// Arg takes a value and returns its placeholder.
func (w *Where) Arg(v any) string {
	w.Args = append(w.Args, v)
	return "$" + strconv.Itoa(len(w.Args))
}

// And adds a condition. Each "?" in it stands for the next value.
func (w *Where) And(condition string, values ...any) {
	w.conditions++
	if w.Text.Len() > 0 {
		w.Text.WriteString(" AND ")
	}
	w.Text.WriteString("(")
	w.Text.WriteString(w.Fill(condition, values...))
	w.Text.WriteString(")")
}

// Fill takes values and returns a text in which each "?" is the placeholder of the next value.
func (w *Where) Fill(text string, values ...any) string {
	var filled strings.Builder
	for _, v := range values {
		before, after, _ := strings.Cut(text, "?")
		filled.WriteString(before)
		filled.WriteString(w.Arg(v))
		text = after
	}
	filled.WriteString(text)
	return filled.String()
}

// Narrow says that an index finds few rows for one of the conditions. A list then sorts what was found. SQLite would go through all
// rows of the site in order, because it takes each span of time for a quarter of them.
func (w *Where) Narrow() { w.narrow = true }

// Within adds the condition that the instant in a column lies in a span.
func (w *Where) Within(column string, span travel.Span) {
	if first, ok := FirstIn(span); ok {
		w.And(column+" >= ?", first)
	}
	if end, ok := EndOf(span); ok {
		w.And(column+" < ?", end)
	}
}

// FirstIn is the first microsecond of a span: the one after the second of After. ok is false when the span has no beginning.
func FirstIn(span travel.Span) (first int64, ok bool) {
	return Micros(span.After.Truncate(time.Second).Add(time.Second)), !span.After.IsZero()
}

// EndOf is the first microsecond after a span: the second of Before. ok is false when the span has no end.
func EndOf(span travel.Span) (end int64, ok bool) {
	return Micros(span.Before.Truncate(time.Second)), !span.Before.IsZero()
}

// In adds "column IN (values)". Without values it adds nothing: a filter that is absent keeps all rows.
func In[T any](w *Where, column string, values []T) {
	oneOf(w, column, "IN", values)
}

// NotIn adds "column NOT IN (values)", and nothing without values.
func NotIn[T any](w *Where, column string, values []T) {
	oneOf(w, column, "NOT IN", values)
}

// Around adds a condition that keeps at least the rows whose column has one of the ids. Those of one page lie close together, and
// a span of an index is found faster than each of them. The caller passes over rows with other ids.
func Around(w *Where, column string, ids []int64) {
	if len(ids) == 0 {
		return
	}
	low, high := slices.Min(ids), slices.Max(ids)
	if high-low >= int64(4*len(ids)) {
		In(w, column, ids)
		return
	}
	w.And(column+" BETWEEN ? AND ?", low, high)
}

func oneOf[T any](w *Where, column, operator string, values []T) {
	if len(values) == 0 {
		return
	}
	// As many as a power of two, the last one repeated: so there are few different texts, and each is parsed once.
	list := make([]any, 1<<bits.Len(uint(len(values)-1)))
	for i := range list {
		list[i] = values[min(i, len(values)-1)]
	}
	w.And(column+" "+operator+" (?"+strings.Repeat(", ?", len(list)-1)+")", list...)
}

// Values takes the values of a row and returns their placeholders, as "($1, $2)".
func (w *Where) Values(values ...any) string {
	var row strings.Builder
	for i, v := range values {
		if i > 0 {
			row.WriteString(", ")
		}
		row.WriteString(w.Arg(v))
	}
	return "(" + row.String() + ")"
}

// Ids reads a column of whole numbers, in the order of the query.
func Ids(tx *Tx, query string, args ...any) ([]int64, error) {
	var list []int64
	err := tx.Each(query, args, func(scan func(dest ...any) error) error {
		var id int64
		err := scan(&id)
		list = append(list, id)
		return err
	})
	return list, err
}
