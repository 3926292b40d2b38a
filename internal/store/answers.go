package store

import (
	"errors"

	"holdfast/internal/errs"
)

// NotFoundAs replaces ErrNotFound by a fault with a message for the user. It returns any other error as it is.
func NotFoundAs(kind errs.Kind, err error, format string, args ...any) error {
	if errors.Is(err, ErrNotFound) {
		return errs.New(kind, format, args...)
	}
	return err
}

// ExecOne runs a statement that must change a row, and returns ErrNotFound if it changed none.
func ExecOne(tx *Tx, query string, args ...any) error {
	n, err := tx.Exec(query, args...)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}
