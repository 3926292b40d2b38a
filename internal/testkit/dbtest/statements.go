package dbtest

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"holdfast/internal/store"
)

// Statement is a statement that ran, with its arguments.
type Statement struct {
	Query string
	Args  []any
}

// Statements lists the statements that run on a database during do.
func Statements(store *store.DB, do func()) (ran []Statement) {
	var mu sync.Mutex
	store.Watch(func(query string, args []any) {
		mu.Lock()
		defer mu.Unlock()
		ran = append(ran, Statement{query, slices.Clone(args)})
	})
	defer store.Watch(nil)
	do()
	mu.Lock() // work concurrent with do may still run some
	defer mu.Unlock()
	return slices.Clone(ran)
}

// Plan lists the steps of the query plan for a statement. PostgreSQL's depends on the size of the tables: see Large.
func Plan(t *testing.T, db *store.DB, s Statement) (steps []string) {
	t.Helper()
	explain := "EXPLAIN QUERY PLAN "
	var step string
	dest := []any{new(int64), new(int64), new(int64), &step}
	if db.Engine() == "postgres" {
		explain, dest = "EXPLAIN ", dest[3:]
	}
	Read(t, db, func(tx *store.Tx) error {
		steps = nil
		return tx.Query(explain+s.Query, s.Args, func(scan func(dest ...any) error) error {
			err := scan(dest...)
			steps = append(steps, step)
			return err
		})
	})
	return steps
}

// Large makes PostgreSQL's planner assume that tables are large. SQLite always does.
func Large(t *testing.T, db *store.DB, tables ...string) {
	t.Helper()
	if db.Engine() != "postgres" {
		return
	}
	Write(t, db, func(tx *store.Tx) error {
		_, err := tx.Exec(`UPDATE pg_class SET relpages = 1, reltuples = 1000000 WHERE relname = ANY ($1)`, tables)
		return err
	})
}

// Reading keeps only the statements that read a table.
func Reading(ran []Statement, table string) []Statement {
	return slices.DeleteFunc(ran, func(s Statement) bool {
		return !strings.Contains(strings.Join(strings.Fields(s.Query), " ")+" ", "FROM "+table+" ")
	})
}
