package store

import (
	"database/sql"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/civil"
)

// micros is how an instant is stored.
func micros(t time.Time) int64 { return t.UnixMicro() }

// instant reads back what micros stored.
func instant(us int64) time.Time { return time.UnixMicro(us).UTC() }

// maybeMicros stores the zero time as NULL: "never" and "not yet" are the absence of an instant.
func maybeMicros(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMicro(), Valid: !t.IsZero()}
}

// maybeInstant reads back what maybeMicros stored.
func maybeInstant(us sql.NullInt64) time.Time {
	if !us.Valid {
		return time.Time{}
	}
	return instant(us.Int64)
}

// maybeDay stores civil.NoDay as NULL.
func maybeDay(d civil.Day) sql.NullInt64 {
	return sql.NullInt64{Int64: int64(d), Valid: d != civil.NoDay}
}

// dayOr reads back what maybeDay stored.
func dayOr(d sql.NullInt64) civil.Day {
	if !d.Valid {
		return civil.NoDay
	}
	return civil.Day(d.Int64)
}

// maybeID stores 0, which is nobody's id, as NULL, so that references to nothing stay references.
func maybeID(id int64) sql.NullInt64 { return sql.NullInt64{Int64: id, Valid: id != 0} }

// where builds a condition text and its arguments side by side, so that a text from outside can only ever become an
// argument.
type where struct {
	text       strings.Builder
	args       []any
	conditions int

	// countAll counts the rows without looking at each; it holds as long as no condition is added (see counts.go).
	countAll   func() (int64, error)
	countAllAt int
}

// countBy says how to count the rows of the conditions so far.
func (w *where) countBy(count func() (int64, error)) {
	w.countAll, w.countAllAt = count, w.conditions
}

// arg takes a value and returns its placeholder.
func (w *where) arg(v any) string {
	w.args = append(w.args, v)
	return "$" + strconv.Itoa(len(w.args))
}

// and adds a condition; each "?" in it stands for the next value.
func (w *where) and(condition string, values ...any) {
	w.conditions++
	if w.text.Len() > 0 {
		w.text.WriteString(" AND ")
	}
	w.text.WriteString("(")
	for _, v := range values {
		before, after, _ := strings.Cut(condition, "?")
		w.text.WriteString(before)
		w.text.WriteString(w.arg(v))
		condition = after
	}
	w.text.WriteString(condition)
	w.text.WriteString(")")
}

// in adds "column IN (values)", and nothing where there are no values: an absent filter keeps everything.
func in[T any](w *where, column string, values []T) {
	oneOf(w, column, "IN", values)
}

// notIn is the opposite of in.
func notIn[T any](w *where, column string, values []T) {
	oneOf(w, column, "NOT IN", values)
}

func oneOf[T any](w *where, column, operator string, values []T) {
	if len(values) == 0 {
		return
	}
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
	}
	w.and(column+" "+operator+" (?"+strings.Repeat(", ?", len(values)-1)+")", list...)
}

// escapeLike makes a text stand for itself in a LIKE pattern whose escape character is a backslash.
func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}
