package store

import (
	"context"
	"errors"
	"slices"
	"strings"

	"holdfast/internal/store/catalog"
	"holdfast/internal/store/postgres"
	"holdfast/internal/store/sqltext"
)

// Snapshot runs fn on one consistent snapshot of the database, like Read, until ctx ends: for a backup, which
// reads every row.
func (db *DB) Snapshot(ctx context.Context, fn func(tx *Tx) error) error {
	return db.outward(db.readOn(ctx, Deployment, shortRead, func(tx *Tx) error {
		if _, err := tx.Exec(db.engine.unbounded); err != nil {
			return err
		}
		return fn(tx)
	}))
}

// Catalog is a transaction's view of the database schema: for backups, restored databases and checks.
type Catalog struct{ tx *Tx }

// Catalog is the catalog of the database.
func (tx *Tx) Catalog() Catalog { return Catalog{tx} }

// Size is how many bytes the database has.
func (c Catalog) Size() (bytes int64, err error) {
	err = c.tx.QueryRow(c.tx.db.engine.size, nil, &bytes)
	return bytes, err
}

// Tables gives all tables but schema_migrations. One that refers to another comes after it, so that rows can be inserted
// in this order.
func (c Catalog) Tables() ([]catalog.Table, error) {
	tx := c.tx
	byName := map[string]*catalog.Table{}
	var order []string
	err := tx.Query(tx.db.engine.columns, nil, func(scan func(dest ...any) error) error {
		var table, column, kind string
		var key int64
		var counter bool
		if err := scan(&table, &column, &kind, &key, &counter); err != nil || table == "schema_migrations" {
			return err
		}
		t := byName[table]
		if t == nil {
			t = &catalog.Table{Name: table}
			byName[table], order = t, append(order, table)
		}
		return t.Add(column, kind, key, counter)
	})
	if err != nil {
		return nil, err
	}
	parents := map[string][]string{}
	err = tx.Query(tx.db.engine.parents, nil, func(scan func(dest ...any) error) error {
		var child, parent string
		err := scan(&child, &parent)
		parents[child] = append(parents[child], parent)
		return err
	})
	if err != nil {
		return nil, err
	}
	return catalog.InOrder(byName, order, parents)
}

// Own returns the tables that the migrations of the database have created, in the order of Tables, and the names of all
// others: tables and columns added by someone else, such as notes and sites.colour.
func (c Catalog) Own() (own []catalog.Table, others []string, err error) {
	schema, err := c.Schema()
	if err != nil {
		return nil, nil, err
	}
	if own, err = tablesOf(c.tx.ctx, schema); err != nil {
		return nil, nil, err
	}
	columns := map[string][]string{}
	for _, t := range own {
		columns[t.Name] = t.Names()
	}
	err = c.tx.Query(c.tx.db.engine.columns, nil, func(scan func(dest ...any) error) error {
		var table, column, kind string
		var key int64
		var counter bool
		if err := scan(&table, &column, &kind, &key, &counter); err != nil || table == "schema_migrations" {
			return err
		}
		if known, ok := columns[table]; ok && slices.Contains(known, column) {
			return nil
		} else if ok {
			table += "." + column
		}
		if !slices.Contains(others, table) {
			others = append(others, table)
		}
		return nil
	})
	return own, others, err
}

// LastID is the last id that the database has given to a row of a table.
func (c Catalog) LastID(table string) (int64, error) {
	return c.Whole(catalog.Table{Name: table, Counter: "id"}).Counted()
}

// Whole is a table with all its rows, for backups, restores and checks.
type Whole struct {
	catalog.Table
	tx *Tx
}

// Whole is all of a table.
func (c Catalog) Whole(t catalog.Table) Whole { return Whole{t, c.tx} }

// Each calls row for all rows of the table, ordered by its key, with the values in the order of its columns: int64,
// string, bool, []byte or nil. The slice is reused for the next row.
func (t Whole) Each(row func(values []any) error) error {
	var key []string
	for _, name := range t.Key {
		// Text is ordered by its bytes, whatever the collation of the database.
		if i := slices.IndexFunc(t.Columns, func(c catalog.Column) bool { return c.Name == name }); t.Columns[i].Kind == catalog.Text {
			name += t.tx.db.engine.byBytes
		}
		key = append(key, name)
	}
	values, dest := make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range values {
		dest[i] = &values[i]
	}
	query := "SELECT " + strings.Join(t.Names(), ", ") + " FROM " + t.Name + " ORDER BY " + strings.Join(key, ", ")
	return t.tx.Query(query, nil, func(scan func(dest ...any) error) error {
		if err := scan(dest...); err != nil {
			return err
		}
		for i, c := range t.Columns {
			// SQLite has no booleans: it stores 0 and 1.
			if n, ok := values[i].(int64); ok && c.Kind == catalog.Truth && (n == 0 || n == 1) {
				values[i] = n == 1
			}
		}
		return row(values)
	})
}

// CountWithoutIndex counts the rows by reading the table itself. If this differs from what a read by an index
// finds, the index is damaged.
func (t Whole) CountWithoutIndex() (rows int64, err error) {
	for _, text := range t.tx.db.engine.scanOnly(t.Name) {
		if strings.HasPrefix(text, "SELECT") {
			err = t.tx.QueryRow(text, nil, &rows)
		} else {
			_, err = t.tx.Exec(text)
		}
		if err != nil {
			return 0, err
		}
	}
	return rows, nil
}

// bulkRunner inserts rows faster than statements do.
type bulkRunner struct {
	runner
	bulk func(t catalog.Table, rows [][]any) error
}

// Put inserts rows. Each has a value for each of its columns, in their order.
func (t Whole) Put(rows [][]any) error {
	if b, ok := t.tx.sql.(bulkRunner); ok && len(rows) > 0 {
		return b.bulk(t.Table, rows)
	}
	return t.tx.execAll(t.tx.statements(sqltext.Rows{Table: t.Name, Columns: strings.Join(t.Names(), ", ")}, rows))
}

// Clear removes all rows.
func (t Whole) Clear() error {
	_, err := t.tx.Exec("DELETE FROM " + t.Name)
	return err
}

// Counted is the last id that the database has given out, where the table has a counter.
func (t Whole) Counted() (last int64, err error) {
	if t.tx.byCounter(t.Name) {
		err = t.tx.QueryRow(postgres.HighestOfSites, nil, &last)
		return (last+1)*siteFactor - 1, err
	}
	err = t.tx.QueryRow(t.tx.db.engine.counted, []any{t.Name, t.Counter}, &last)
	if errors.Is(err, ErrNotFound) { // none yet
		return 0, nil
	}
	return last, err
}

// SetCounter makes the counter of the table continue after an id, which is more than 0.
func (t Whole) SetCounter(last int64) error {
	for _, text := range t.tx.db.engine.setCounter {
		args := []any{t.Name, t.Counter, last}
		if err := t.tx.Query(text, args, func(func(dest ...any) error) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}
