package sqlite

import (
	"context"
	"database/sql"
)

// Gaps lists indexed columns of large tables without statistics, and statistics for missing indexes.
func Gaps(ctx context.Context, tx *sql.Tx) (columns, indexes []string, err error) {
	list, err := indexesOf(ctx, tx)
	there := map[string]bool{}
	for _, x := range list {
		there[x.name] = true
		for _, column := range x.columns {
			if different[column] == 0 {
				columns = append(columns, x.name+": "+column)
			}
		}
	}
	for _, name := range pieces {
		if !there[name] {
			indexes = append(indexes, name)
		}
	}
	return columns, indexes, err
}

// Sync flushes the database file, as checkpoints do.
func (f *Files) Sync() error { return f.sync() }
