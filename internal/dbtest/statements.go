package dbtest

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"holdfast/internal/db"
)

// Statement is one that ran, with its arguments.
type Statement struct {
	Query string
	Args  []any
}

// Statements lists what runs on a database while do does.
func Statements(store *db.DB, do func()) (ran []Statement) {
	var mu sync.Mutex
	store.Watch(func(query string, args []any) {
		mu.Lock()
		defer mu.Unlock()
		ran = append(ran, Statement{query, slices.Clone(args)})
	})
	defer store.Watch(nil)
	do()
	return ran
}

// Plan lists the steps that SQLite takes for a statement. PostgreSQL goes by what the tables hold, so no test asks it.
func Plan(t *testing.T, store *db.DB, s Statement) (steps []string) {
	t.Helper()
	Read(t, store, func(tx *db.Tx) error {
		steps = nil
		return tx.Each("EXPLAIN QUERY PLAN "+s.Query, s.Args, func(scan func(dest ...any) error) error {
			var id, parent, unused int64
			var step string
			err := scan(&id, &parent, &unused, &step)
			steps = append(steps, step)
			return err
		})
	})
	return steps
}

// Reading leaves the statements that read a table.
func Reading(ran []Statement, table string) []Statement {
	return slices.DeleteFunc(ran, func(s Statement) bool {
		return !strings.Contains(strings.Join(strings.Fields(s.Query), " ")+" ", "FROM "+table+" ")
	})
}
