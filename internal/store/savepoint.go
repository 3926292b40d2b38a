package store

import "errors"

// Savepoint runs fn inside the transaction. Where fn answers an error, what it wrote is taken back, the error is
// returned, and the transaction can go on: so one of many things that share a transaction fails alone.
func (tx *Tx) Savepoint(fn func() error) error {
	if _, err := tx.exec("SAVEPOINT part"); err != nil {
		return err
	}
	if err := fn(); err != nil {
		_, back := tx.exec("ROLLBACK TO SAVEPOINT part")
		_, end := tx.exec("RELEASE SAVEPOINT part")
		return errors.Join(err, back, end)
	}
	_, err := tx.exec("RELEASE SAVEPOINT part")
	return err
}
