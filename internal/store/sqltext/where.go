// Package sqltext builds the text of SQL statements. It owns no tables. Start at Where and Rows.
package sqltext

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Where builds a condition and its arguments together, so that outside text only becomes an argument, never SQL.
type Where struct {
	Text   strings.Builder
	Args   []any
	narrow bool // see Narrow
}

// Arg takes a value and returns its placeholder.
func (w *Where) Arg(v any) string {
	w.Args = append(w.Args, v)
	return "$" + strconv.Itoa(len(w.Args))
}

// And adds a condition. Each "?" in it is a placeholder for the next value.
func (w *Where) And(condition string, values ...any) {
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

// Narrow means that an index finds few rows for one of the conditions. A list then sorts what was found. Otherwise
// SQLite would scan all rows of the site in order, because it assumes that any time range matches a quarter of them.
func (w *Where) Narrow() { w.narrow = true }

// IsNarrow reports whether Narrow was called.
func (w *Where) IsNarrow() bool { return w.narrow }

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
