package db

import (
	"maps"
	"slices"
)

// Local is a value that a room keeps for the length of one transaction: what the transaction has made or taken and
// need not ask for again. Nobody else can change such rows before it ends. It is empty at first, and again after a
// savepoint was taken back. A room declares it once, as a variable of its package.
type Local[T any] struct{ of *local }

type local struct{ pinned bool }

// NewLocal declares a local value.
func NewLocal[T any]() Local[T] { return Local[T]{of: &local{}} }

// NewPinned declares a local value that a savepoint does not empty: what a transaction is, and not what it did.
func NewPinned[T any]() Local[T] { return Local[T]{of: &local{pinned: true}} }

// Of is the value in a transaction.
func (l Local[T]) Of(tx *Tx) *T {
	if v, ok := tx.locals[l.of]; ok {
		return v.(*T)
	}
	v := new(T)
	if tx.locals == nil {
		tx.locals = map[*local]any{}
	}
	tx.locals[l.of] = v
	return v
}

// forget empties what is not pinned.
func (tx *Tx) forget() {
	maps.DeleteFunc(tx.locals, func(l *local, _ any) bool { return !l.pinned })
	tx.waiting = nil
}

// Key names a row of a site.
type Key struct{ SiteID, ID int64 }

// Keep puts a value into a map that most transactions never need.
func Keep[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// ListOnce gives a list from memory, or asks for it and remembers it.
func ListOnce[T any](known **[]T, ask func() ([]T, error)) ([]T, error) {
	if *known == nil {
		list, err := ask()
		if err != nil {
			return nil, err
		}
		*known = &list
	}
	return slices.Clone(**known), nil
}

// Also adds to a list in memory, where it was asked for.
func Also[T any](known *[]T, row T) {
	if known != nil {
		*known = append(*known, row)
	}
}

// answers is what a transaction has asked about rows that it has not taken: what they were when it first asked, which
// is as good as having asked a moment earlier.
var answers = NewLocal[map[any]any]()

// Recall answers a question from memory, or asks and remembers. The question is a comparable value of a type of its own.
func Recall[T any](tx *Tx, question any, ask func() (T, error)) (T, error) {
	known := answers.Of(tx)
	if answer, ok := (*known)[question]; ok {
		return answer.(T), nil
	}
	answer, err := ask()
	if err == nil {
		Keep(known, question, any(answer))
	}
	return answer, err
}

// ForgetAnswers is for whoever changes what may have been asked before.
func (tx *Tx) ForgetAnswers() { *answers.Of(tx) = nil }
