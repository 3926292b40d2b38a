package db

import (
	"errors"
	"fmt"
)

// Savepoint runs fn inside the transaction. Where fn answers an error, what it wrote is taken back, the error is
// returned, and the transaction can go on: so one of many things that share a transaction fails alone. A rule of the
// schema that is broken is an ErrConflict.
func (tx *Tx) Savepoint(fn func() error) error {
	// What waits from before is not to be taken back, and what fn leaves belongs to it.
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
