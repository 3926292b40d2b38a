package store

import (
	"slices"

	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// memory is what a transaction knows without asking again. Of rows that it has made or taken that is the truth: nobody
// else can change them before it ends. Of others it is what they were when it first asked, which is as good as having
// asked a moment earlier. An import records hundreds of payments in one write, most of them of a few bookings, channels
// and policies: what it asks once is most of what it would ask.
type memory struct {
	answers      map[any]any
	bookings     map[rowKey]*heldBooking
	transactions map[rowKey]travel.Transaction
	allocations  map[rowKey]*heldAllocation
	absent       map[Reference]bool // payment references that no transaction had
}

// rowKey names a row of a site.
type rowKey struct{ siteID, id int64 }

// heldBooking is a booking that this write has made or taken.
type heldBooking struct {
	booking   travel.Booking // as LockBooking reads it
	suppliers *[]int64       // nil: not asked yet
	// risk is all that its buckets rest on, of a booking that this write has made: there is nothing about it that this
	// write did not bring. counted is what of it stands in the buckets; nil risk: the tables tell.
	risk    *protection.BookingRisk
	counted []protection.Delta
}

// heldAllocation is an allocation that this write has made or taken. What is nil was not asked yet.
type heldAllocation struct {
	protection.Allocation
	terms  *[]protection.DatedTerms
	events *[]protection.Event
	lines  *[]protection.PremiumLine
}

// recall answers a question from memory, or asks and remembers. The question is a comparable value of a type of its own.
func recall[T any](tx *Tx, question any, ask func() (T, error)) (T, error) {
	if known, ok := tx.memory.answers[question]; ok {
		return known.(T), nil
	}
	answer, err := ask()
	if err == nil {
		keep(&tx.memory.answers, question, any(answer))
	}
	return answer, err
}

// keep puts a value into a map that most transactions never need.
func keep[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// forgetAnswers is for whoever changes what may have been asked before.
func (tx *Tx) forgetAnswers() { tx.memory.answers = nil }

// releaseBooking writes what waits of a booking and lets its rows be asked for again: the caller changes them in a way
// that memory does not follow.
func (tx *Tx) releaseBooking(siteID, id int64) error {
	err := tx.flush()
	delete(tx.memory.bookings, rowKey{siteID, id})
	return err
}

// listOnce gives a list from memory, or asks for it and remembers it where the row that it belongs to is held.
func listOnce[T any](known **[]T, ask func() ([]T, error)) ([]T, error) {
	if *known == nil {
		list, err := ask()
		if err != nil {
			return nil, err
		}
		*known = &list
	}
	return slices.Clone(**known), nil
}

// also adds to a list in memory, where it was asked for.
func also[T any](known *[]T, row T) {
	if known != nil {
		*known = append(*known, row)
	}
}
