// Package catalog describes the tables of a schema, on either engine. It owns no tables. Start at Table.
package catalog

import (
	"errors"
	"fmt"
	"slices"
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

// Names are the names of the columns.
func (t Table) Names() (list []string) {
	for _, c := range t.Columns {
		list = append(list, c.Name)
	}
	return list
}

// Add adds a column with the engine's name of its type, whose place in the primary key is key, counted from 1; 0 means that it is no part of it.
func (t *Table) Add(column, kind string, key int64, counter bool) error {
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

// InOrder puts tables behind those to which they refer. names has all of them in the order in which they were found, and parents those to
// which each refers.
func InOrder(byName map[string]*Table, names []string, parents map[string][]string) ([]Table, error) {
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
