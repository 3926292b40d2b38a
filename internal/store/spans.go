package store

import (
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/store/sqltext"
)

// Within adds the condition that the instant in a column is within a span.
func Within(w *sqltext.Where, column string, span civil.Span) {
	if first, ok := FirstIn(span); ok {
		w.And(column+" >= ?", first)
	}
	if end, ok := EndOf(span); ok {
		w.And(column+" < ?", end)
	}
}

// FirstIn is the first microsecond of a span: the one after the second of After. ok is false when the span has no beginning.
func FirstIn(span civil.Span) (first int64, ok bool) {
	return Micros(span.After.Truncate(time.Second).Add(time.Second)), !span.After.IsZero()
}

// EndOf is the first microsecond after a span: the second of Before. ok is false when the span has no end.
func EndOf(span civil.Span) (end int64, ok bool) {
	return Micros(span.Before.Truncate(time.Second)), !span.Before.IsZero()
}
