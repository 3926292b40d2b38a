package store

import (
	"errors"
	"fmt"
)

// Savepoint runs fn inside the transaction. If fn returns an error, its changes are rolled back, the error is
// returned, and the transaction can go on. So one of many changes that share a transaction can fail alone. A broken
// rule of the schema is an ErrConflict.
func (tx *Tx) Savepoint(fn func() error) error {
	// Rows held back until now must not be rolled back with fn, and those that fn holds back must.
	if tx.shared != nil {
		if err := tx.shared.write(tx); err != nil {
			return err
		}
	}
	if err := tx.Flush(); err != nil {
		return err
	}
	if _, err := tx.Exec("SAVEPOINT part"); err != nil {
		return err
	}
	err := fn()
	if err == nil {
		err = tx.Flush()
	}
	if err != nil {
		tx.forget()
		_, back := tx.Exec("ROLLBACK TO SAVEPOINT part")
		_, end := tx.Exec("RELEASE SAVEPOINT part")
		if tx.engine.conflict(err) {
			err = fmt.Errorf("%w: %w", ErrConflict, err)
		}
		return errors.Join(err, back, end)
	}
	_, err = tx.Exec("RELEASE SAVEPOINT part")
	return err
}

// Alone reports whether no other transaction has asked for the same name and is still under way. If there is none, it
// keeps the others out to the end of this transaction, however that ends. It never waits. SQLite has one writer, so that
// a write is always alone.
func (tx *Tx) Alone(name string) (alone bool, err error) {
	if tx.engine.alone == "" {
		return true, nil
	}
	err = tx.RowAsIs(tx.engine.alone, []any{name}, &alone)
	return alone, err
}
