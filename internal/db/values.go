package db

import (
	"database/sql"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/civil"
)

// Micros is how an instant is stored.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// Instant reads back what micros stored.
func Instant(us int64) time.Time { return time.UnixMicro(us).UTC() }

// MaybeMicros stores the zero time as NULL: "never" and "not yet" are the absence of an instant.
func MaybeMicros(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMicro(), Valid: !t.IsZero()}
}

// MaybeInstant reads back what maybeMicros stored.
func MaybeInstant(us sql.NullInt64) time.Time {
	if !us.Valid {
		return time.Time{}
	}
	return Instant(us.Int64)
}

// MaybeDay stores civil.NoDay as NULL.
func MaybeDay(d civil.Day) sql.NullInt64 {
	return sql.NullInt64{Int64: int64(d), Valid: d != civil.NoDay}
}

// DayOr reads back what maybeDay stored.
func DayOr(d sql.NullInt64) civil.Day {
	if !d.Valid {
		return civil.NoDay
	}
	return civil.Day(d.Int64)
}

// MaybeID stores 0, which is nobody's id, as NULL, so that references to nothing stay references.
func MaybeID(id int64) sql.NullInt64 { return sql.NullInt64{Int64: id, Valid: id != 0} }

// Where builds a condition text and its arguments side by side, so that a text from outside can only ever become an
// argument.
type Where struct {
	Text       strings.Builder
	Args       []any
	conditions int

	// countAll counts the rows without looking at each; it holds as long as no condition is added (see counts.go).
	countAll   func() (int64, error)
	countAllAt int
}

// CountBy says how to count the rows of the conditions so far.
func (w *Where) CountBy(count func() (int64, error)) {
	w.countAll, w.countAllAt = count, w.conditions
}

// Arg takes a value and returns its placeholder.
func (w *Where) Arg(v any) string {
	w.Args = append(w.Args, v)
	return "$" + strconv.Itoa(len(w.Args))
}

// And adds a condition; each "?" in it stands for the next value.
func (w *Where) And(condition string, values ...any) {
	w.conditions++
	if w.Text.Len() > 0 {
		w.Text.WriteString(" AND ")
	}
	w.Text.WriteString("(")
	for _, v := range values {
		before, after, _ := strings.Cut(condition, "?")
		w.Text.WriteString(before)
		w.Text.WriteString(w.Arg(v))
		condition = after
	}
	w.Text.WriteString(condition)
	w.Text.WriteString(")")
}

// In adds "column IN (values)", and nothing where there are no values: an absent filter keeps everything.
func In[T any](w *Where, column string, values []T) {
	oneOf(w, column, "IN", values)
}

// NotIn is the opposite of in.
func NotIn[T any](w *Where, column string, values []T) {
	oneOf(w, column, "NOT IN", values)
}

func oneOf[T any](w *Where, column, operator string, values []T) {
	if len(values) == 0 {
		return
	}
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
	}
	w.And(column+" "+operator+" (?"+strings.Repeat(", ?", len(values)-1)+")", list...)
}

// EscapeLike makes a text stand for itself in a LIKE pattern whose escape character is a backslash.
func EscapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}
