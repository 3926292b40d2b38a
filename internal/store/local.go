package store

import "slices"

// Local is a value that a room keeps for the length of one transaction, mostly as an identity map: the rows that the
// transaction has inserted or locked, so that it need not read them again. No other transaction can change such rows
// before it ends. The value is empty at first, and again after a savepoint was rolled back. A room declares it once,
// as a variable of its package.
type Local[T any] struct{ of *local }

type local struct{ pinned, shared bool }

// NewLocal declares a Local.
func NewLocal[T any]() Local[T] { return Local[T]{of: &local{}} }

// NewPinned declares a Local that a rolled-back savepoint does not empty. It is for what holds for the whole
// transaction, such as its clock.
func NewPinned[T any]() Local[T] { return Local[T]{of: &local{pinned: true}} }

// NewShared declares a Local for what a write has read. A short write leaves it to the next ones that share its transaction, where nobody
// else writes meanwhile, which is on SQLite. A write that is not short ends it. One that is refused does not: it has changed nothing.
func NewShared[T any]() Local[T] { return Local[T]{of: &local{shared: true}} }

// Of returns the value that a transaction has, to be read and changed.
func (l Local[T]) Of(tx *Tx) *T {
	in := tx.localsFor(l.of)
	if v := in.find(l.of); v != nil {
		return v.(*T)
	}
	v := new(T)
	in.add(l.of, v)
	return v
}

// locals are what a transaction has in its Locals. They are few, so looking at all is quicker than a map, and takes less memory.
type locals []localValue

type localValue struct {
	of    *local
	value any
}

// localsFor is where a transaction has the value of a Local.
func (tx *Tx) localsFor(of *local) *locals {
	if of.shared && tx.shared != nil && !tx.engine.manyWrites {
		return &tx.shared.locals
	}
	return &tx.locals
}

// find returns nil where there is no value. It is not part of Local: the program would have it once for each type of values.
func (l *locals) find(of *local) any {
	for _, known := range *l {
		if known.of == of {
			return known.value
		}
	}
	return nil
}

func (l *locals) add(of *local, value any) { *l = append(*l, localValue{of, value}) }

// forget empties all values that are not pinned, and drops the rows that are held back.
func (tx *Tx) forget() {
	tx.locals = slices.DeleteFunc(tx.locals, func(known localValue) bool { return !known.of.pinned })
	tx.waiting = nil
}

// Key is the key of a row: its site and its id.
type Key struct{ SiteID, ID int64 }

// Keep puts a value into a map, which it makes if there is none: most transactions need none.
func Keep[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// answers are what a transaction has read of rows that it has not locked. Another transaction may change them
// meanwhile. An old answer is right all the same: it is that of a transaction which ran a moment earlier.
var answers = NewLocal[map[any]any]()

// Recall returns the answer to a question from memory, or else asks and remembers. The question is the key: a
// comparable value, of a type that only this kind of question has.
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

// ForgetAnswers empties the memory of Recall. A change calls it, where an answer from before would be wrong.
func (tx *Tx) ForgetAnswers() { *answers.Of(tx) = nil }
