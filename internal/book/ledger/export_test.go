package ledger

import "holdfast/internal/store"

// Fold is a fold for tests.
type Fold = fold

// GatherFold is gatherFold for tests.
var GatherFold = gatherFold

// ErrFolded is errFolded for tests.
var ErrFolded = errFolded

// Store is store for tests.
func (f *fold) Store(tx *store.Tx) error { return f.store(tx) }

// For tests.
var (
	InsertEvent    = insertEvent
	InsertTerms    = insertTerms
	LockAllocation = lockAllocation
	PackDays       = packDays
)
