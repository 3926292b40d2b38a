package store

import (
	"slices"

	"holdfast/internal/store/sqltext"
)

// mostShared is how many rows wait for the end of a batch at most.
const mostShared = 4096

// sharedRows are rows that the writes of a batch have left to its end, so that the rows of all go in together. Each write
// hands them over as its last step. They are written before any statement that names one of their tables.
type sharedRows struct {
	tables []sharedTable
	last   []sharedTable // of last deferrals: no row refers to theirs, so they come after all others
	count  int
	keys   map[any]bool // see Leave
	locals locals       // see NewShared
}

// sharedTable is the rows of one statement.
type sharedTable struct {
	sqltext.Rows
	rows [][]any
}

// add takes rows of a write. The rows of one write keep the order of their statements, because they may refer to each other. A table
// that has no rows yet stands right behind the one before it in this write: the writes after it mostly have the same order, though
// the first one did without the table.
func (s *sharedRows) add(tx *Tx, to sqltext.Rows, rows [][]any) error {
	list, last := &s.tables, slices.Contains(declared.last, to.Table)
	if last {
		list = &s.last
	}
	at := slices.IndexFunc(*list, func(t sharedTable) bool { return t.Rows == to })
	if !last && at >= 0 && at < tx.sharedAt-1 || s.count+len(rows) > mostShared {
		if err := s.write(tx); err != nil {
			return err
		}
		at = -1
	}
	if at < 0 {
		if at = tx.sharedAt; last {
			at = len(*list)
		}
		*list = slices.Insert(*list, at, sharedTable{Rows: to})
	}
	(*list)[at].rows = append((*list)[at].rows, rows...)
	s.count += len(rows)
	if !last {
		tx.sharedAt = at + 1
	}
	return nil
}

// names reports whether one of the tables has rows that wait.
func (s *sharedRows) names(tables []string) bool {
	its := func(t sharedTable) bool { return slices.Contains(tables, t.Table) }
	return slices.ContainsFunc(s.tables, its) || slices.ContainsFunc(s.last, its)
}

// write writes all rows that wait, and ends what short writes handed on.
func (s *sharedRows) write(tx *Tx) error {
	tables := slices.Concat(s.tables, s.last)
	*s = sharedRows{}
	tx.sharedAt = 0
	defer func(outer bool) { tx.gather = outer }(tx.gather)
	tx.gather = tx.gathers()
	for _, t := range tables {
		if err := tx.writeNow(t.Rows, t.rows); err != nil {
			tx.changed = true // the rows of others are missing now, so that the batch is lost
			return err
		}
	}
	if err := tx.settle(); err != nil {
		tx.changed = true
		return err
	}
	return nil
}

// Leave notes that the write leaves rows under a key to the end of the transaction that it shares with others. It is called
// after InsertRows or UpdateRows. The type of the key belongs to one room.
func (tx *Tx) Leave(key any) {
	if tx.shared != nil && tx.shared.count > 0 {
		Keep(&tx.shared.keys, key, true)
	}
}

// Left reports whether a write that shares the transaction has left rows under a key to its end. A statement that does not write
// them first (RowAsIs) does not see them.
func (tx *Tx) Left(key any) bool { return tx.shared != nil && tx.shared.keys[key] }

// WriteLeft writes all rows that others have left to the end of the transaction.
func (tx *Tx) WriteLeft() error {
	if tx.shared == nil {
		return nil
	}
	return tx.shared.write(tx)
}
