package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind is what the values of a column are, whatever the engine calls it.
type Kind string

// The kinds of columns in our schema.
const (
	Whole Kind = "whole" // int64
	Text  Kind = "text"  // string
	Truth Kind = "truth" // bool
	Bytes Kind = "bytes" // []byte
)

// kinds are the kinds by the engines' names of types.
var kinds = map[string]Kind{
	"BIGINT": Whole, "INTEGER": Whole, "TEXT": Text, "BOOLEAN": Truth, "BLOB": Bytes, "BYTEA": Bytes,
}

// Column is a column of a table.
type Column struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
}

// Table is a table of the schema, as the engine's catalog describes it.
type Table struct {
	Name    string   `json:"name"`
	Columns []Column `json:"columns"`
	// Key orders the rows, in the same way on both engines.
	Key []string `json:"key"`
	// Counter is the column whose values the database gives out itself; "" where it gives out none.
	Counter string `json:"counter,omitempty"`
}

func (t Table) columns() (list []string) {
	for _, c := range t.Columns {
		list = append(list, c.Name)
	}
	return list
}

// names are the names of the columns, with commas.
func (t Table) names() string { return strings.Join(t.columns(), ", ") }

// Snapshot runs fn on one consistent picture of the database, like Read, for as long as ctx lets it: for a backup, which
// reads every row.
func (db *DB) Snapshot(ctx context.Context, fn func(tx *Tx) error) error {
	return db.outward(db.readOn(ctx, db.read, false, func(tx *Tx) error {
		if _, err := tx.Exec(db.engine.unbounded); err != nil {
			return err
		}
		return fn(tx)
	}))
}

// Tables gives all tables but schema_migrations. One that refers to another comes after it, so that rows can be inserted
// in this order.
func (tx *Tx) Tables() ([]Table, error) {
	byName := map[string]*Table{}
	var order []string
	err := tx.Each(tx.engine.columns, nil, func(scan func(dest ...any) error) error {
		var table, column, kind string
		var key int64
		var counter bool
		if err := scan(&table, &column, &kind, &key, &counter); err != nil || table == migrationsTable {
			return err
		}
		t := byName[table]
		if t == nil {
			t = &Table{Name: table}
			byName[table], order = t, append(order, table)
		}
		return t.add(column, kind, key, counter)
	})
	if err != nil {
		return nil, err
	}
	parents := map[string][]string{}
	err = tx.Each(tx.engine.parents, nil, func(scan func(dest ...any) error) error {
		var child, parent string
		err := scan(&child, &parent)
		parents[child] = append(parents[child], parent)
		return err
	})
	if err != nil {
		return nil, err
	}
	return inOrder(byName, order, parents)
}

// add adds a column, whose place in the primary key is key, counted from 1; 0 means that it is no part of it.
func (t *Table) add(column, kind string, key int64, counter bool) error {
	known, ok := kinds[kind]
	if !ok {
		return fmt.Errorf("the column %s of the table %s has the type %s, which this program does not know", column, t.Name, kind)
	}
	t.Columns = append(t.Columns, Column{Name: column, Kind: known})
	if counter {
		t.Counter = column
	}
	for int64(len(t.Key)) < key {
		t.Key = append(t.Key, "")
	}
	if key > 0 {
		t.Key[key-1] = column
	}
	return nil
}

// inOrder puts tables behind those to which they refer.
func inOrder(byName map[string]*Table, names []string, parents map[string][]string) ([]Table, error) {
	var list []Table
	placed := map[string]bool{}
	for len(list) < len(names) {
		before := len(list)
		for _, name := range names {
			waits := slices.ContainsFunc(parents[name], func(parent string) bool { return parent != name && !placed[parent] })
			if placed[name] || waits {
				continue
			}
			t := byName[name]
			if len(t.Key) == 0 || slices.Contains(t.Key, "") {
				return nil, fmt.Errorf("the table %s has no primary key", name)
			}
			// SQLite's key of such a table is the id alone, and PostgreSQL's begins with the site.
			if first := t.Columns[0].Name; len(t.Key) == 1 && t.Key[0] == "id" && first == "site_id" {
				t.Key = []string{first, "id"}
			}
			placed[name], list = true, append(list, *t)
		}
		if len(list) == before {
			return nil, errors.New("tables refer to each other in a circle")
		}
	}
	return list, nil
}

// EachRow calls row for all rows of a table, ordered by its key, with the values in the order of its columns: int64, string,
// bool, []byte or nil. The slice is used again for the next row.
func (tx *Tx) EachRow(t Table, row func(values []any) error) error {
	var key []string
	for _, name := range t.Key {
		// Text is ordered by its bytes, whatever language the database sorts by.
		if i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name }); t.Columns[i].Kind == Text {
			name += tx.engine.byBytes
		}
		key = append(key, name)
	}
	values, dest := make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range values {
		dest[i] = &values[i]
	}
	query := "SELECT " + t.names() + " FROM " + t.Name + " ORDER BY " + strings.Join(key, ", ")
	return tx.eachAsIs(query, nil, func(scan func(dest ...any) error) error {
		if err := scan(dest...); err != nil {
			return err
		}
		for i, c := range t.Columns {
			// SQLite knows no truth: it stores 0 and 1.
			if n, ok := values[i].(int64); ok && c.Kind == Truth && (n == 0 || n == 1) {
				values[i] = n == 1
			}
		}
		return row(values)
	})
}

// CountWithoutIndex counts the rows of a table by reading the table itself. If this differs from what a read by an index
// finds, the index is damaged.
func (tx *Tx) CountWithoutIndex(t Table) (rows int64, err error) {
	for _, text := range tx.engine.scanOnly(t.Name) {
		if strings.HasPrefix(text, "SELECT") {
			err = tx.Row(text, nil, &rows)
		} else {
			_, err = tx.Exec(text)
		}
		if err != nil {
			return 0, err
		}
	}
	return rows, nil
}

// Put inserts rows of a table. Each has a value for each of its columns, in their order.
func (tx *Tx) Put(t Table, rows [][]any) error {
	if tx.bulk != nil && len(rows) > 0 {
		return tx.bulk(t, rows)
	}
	return tx.InsertRows(t.Name, t.names(), rows)
}

// Clear removes all rows of a table.
func (tx *Tx) Clear(t Table) error {
	_, err := tx.Exec("DELETE FROM " + t.Name)
	return err
}

// Counted is the last id that the database has given out in a table with a counter.
func (tx *Tx) Counted(t Table) (last int64, err error) {
	err = tx.Row(tx.engine.counted, []any{t.Name, t.Counter}, &last)
	if errors.Is(err, ErrNotFound) { // none yet
		return 0, nil
	}
	return last, err
}

// SetCounter makes a table with a counter go on after an id, which is more than 0.
func (tx *Tx) SetCounter(t Table, last int64) error {
	for _, text := range tx.engine.setCounter {
		args := []any{t.Name, t.Counter, last}
		if err := tx.Each(text, args, func(func(dest ...any) error) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}
