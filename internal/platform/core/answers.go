package core

import (
	"errors"
	"slices"

	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// NotFoundAs replaces store.ErrNotFound by a fault with a message for the user. It returns any other error as it is.
func NotFoundAs(kind errs.Kind, err error, format string, args ...any) error {
	if errors.Is(err, store.ErrNotFound) {
		return errs.New(kind, format, args...)
	}
	return err
}

// CheckVersion returns Precondition when the caller named a version (If-Match) other than the stored one. 0 means that
// the caller named none.
func CheckVersion(wanted, stored int64) error {
	if wanted != 0 && wanted != stored {
		return errs.New(errs.Precondition, "The object has changed since it was read.")
	}
	return nil
}

// PageOf returns one page of a list that is in memory as a whole. It may reverse the list in place.
func PageOf[T any](all []T, page store.Page) store.List[T] {
	if page.Descending {
		slices.Reverse(all)
	}
	first := min(page.Skip(), len(all))
	list := store.List[T]{Items: all[first:min(first+page.Size, len(all))], Total: int64(len(all))}
	list.More = first+page.Size < len(all)
	list.PastEnd = len(list.Items) == 0 && page.Offset < 0 && page.Number > 1 && len(all) > 0
	return list
}
