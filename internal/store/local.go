package store

import "fmt"

// Local is a value that a package keeps for the length of one transaction, mostly as an identity map: the rows that the
// transaction has inserted or locked, so that it need not read them again. No other transaction can change such rows
// before it ends. The value is empty at first, and again after a savepoint was rolled back. A package declares it once, as
// a variable.
type Local[T any] struct{ key *byte }

// NewLocal declares a Local.
func NewLocal[T any]() Local[T] { return Local[T]{key: new(byte)} }

// Of returns the value that a transaction has, to be read and changed.
func (l Local[T]) Of(tx *Tx) *T {
	for _, known := range tx.locals {
		if known.key == l.key {
			return known.value.(*T)
		}
	}
	v := new(T)
	tx.locals = append(tx.locals, local{l.key, v})
	return v
}

// locals are the values of a transaction. They are few, so a list is faster than a map.
type locals []local

type local struct {
	key   *byte
	value any
}

// allStored returns an error if a value has changes that its package has collected and not stored: the transaction would
// lose them.
func (l locals) allStored() error {
	for _, known := range l {
		if v, ok := known.value.(interface{ Unstored() bool }); ok && v.Unstored() {
			return fmt.Errorf("%T has changes that were not stored", known.value)
		}
	}
	return nil
}

// Key is the key of a row: its site and its id.
type Key struct{ SiteID, ID int64 }
