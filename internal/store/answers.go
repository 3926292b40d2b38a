package store

import (
	"errors"
	"slices"

	"holdfast/internal/errs"
)

// NotFoundAs replaces ErrNotFound by a fault with a message for the user. It returns any other error as it is.
func NotFoundAs(kind errs.Kind, err error, format string, args ...any) error {
	if errors.Is(err, ErrNotFound) {
		return errs.New(kind, format, args...)
	}
	return err
}

// PageOf returns one page of a list that is in memory as a whole. It may reverse the list in place.
func PageOf[T any](all []T, page Page) List[T] {
	if page.Descending {
		slices.Reverse(all)
	}
	first := min(page.Skip(), len(all))
	list := List[T]{Items: all[first:min(first+page.Size, len(all))], Total: int64(len(all))}
	list.More = first+page.Size < len(all)
	list.PastEnd = len(list.Items) == 0 && page.Offset < 0 && page.Number > 1 && len(all) > 0
	return list
}

// ExecOne runs a statement that has to change a row, and returns ErrNotFound where it changed none.
func ExecOne(tx *Tx, query string, args ...any) error {
	n, err := tx.Exec(query, args...)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}
