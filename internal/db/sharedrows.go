package db

import "slices"

// mostShared is how many rows wait for the end of a batch at most.
const mostShared = 4096

// sharedRows are rows that the writes of a batch have left to its end, so that the rows of all go in together. Each write
// hands them over as its last step. They are inserted before any statement that names one of their tables.
type sharedRows struct {
	tables []sharedTable
	count  int
}

type sharedTable struct {
	name, columns string
	rows          [][]any
}

// add takes rows of a write. The rows of one write keep the order of their tables, because they may refer to each other.
func (s *sharedRows) add(tx *Tx, table, columns string, rows [][]any) error {
	at := slices.IndexFunc(s.tables, func(t sharedTable) bool { return t.name == table && t.columns == columns })
	if at >= 0 && at < tx.sharedAt || s.count+len(rows) > mostShared {
		if err := s.insert(tx); err != nil {
			return err
		}
		at = -1
	}
	if at < 0 {
		at = len(s.tables)
		s.tables = append(s.tables, sharedTable{name: table, columns: columns})
	}
	s.tables[at].rows = append(s.tables[at].rows, rows...)
	s.count += len(rows)
	tx.sharedAt = at
	return nil
}

// insert inserts all rows that wait.
func (s *sharedRows) insert(tx *Tx) error {
	tables := s.tables
	s.tables, s.count, tx.sharedAt = nil, 0, 0
	for _, t := range tables {
		if err := tx.insertNow(t.name, t.columns, t.rows); err != nil {
			tx.changed = true // the rows of others are missing now, so that the batch is lost
			return err
		}
	}
	return nil
}
