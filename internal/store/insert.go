package store

import (
	"fmt"
	"slices"

	"holdfast/internal/store/postgres"
	"holdfast/internal/store/sqltext"
)

// held are the rows that a transaction has inserted (see Tx.Insert) and not written yet, and the ids that it has drawn.
type held struct {
	tables []heldRows // in the order of tables
	ids    map[idSource]*drawn
	failed error // of rows that could not be written: without them, the transaction must not be committed
}

// heldRows are the rows of one table with the same columns.
type heldRows struct {
	sqltext.Rows
	place int // of the table
	rows  [][]any
}

// drop forgets the rows: they were rolled back. The ids stay drawn.
func (h *held) drop() { h.tables, h.failed = nil, nil }

// Insert inserts rows of a table. Each has one value for each of the columns. They are written with the next statement of
// the transaction or at its end, all rows of a table together, the tables in the order of the schema: so many rows share a
// statement, and a row is there before those that refer to it.
func (tx *Tx) Insert(table, columns string, rows ...[]any) {
	if len(rows) == 0 {
		return
	}
	to := sqltext.Rows{Table: table, Columns: columns}
	list := tx.held.tables
	i := slices.IndexFunc(list, func(t heldRows) bool { return t.Rows == to })
	if i < 0 {
		place := slices.Index(tables, table)
		if place < 0 {
			tx.held.failed = fmt.Errorf("table %s is not in the list of tables", table)
		}
		if i = slices.IndexFunc(list, func(t heldRows) bool { return t.place > place }); i < 0 {
			i = len(list)
		}
		list = slices.Insert(list, i, heldRows{Rows: to, place: place})
		tx.held.tables = list
	}
	list[i].rows = append(list[i].rows, rows...)
}

// flush writes the held rows.
func (tx *Tx) flush() error {
	if tx.held.failed != nil {
		return tx.held.failed
	}
	list := tx.held.tables
	if len(list) == 0 {
		return nil
	}
	tx.held.tables = nil
	var statements []postgres.Statement
	for _, t := range list {
		if err := tx.giveIDs(&t); err != nil {
			tx.held.failed = err
			return err
		}
		statements = append(statements, tx.statements(t.Rows, t.rows)...)
	}
	tx.held.failed = tx.execAll(statements)
	return tx.held.failed
}

// UpdateRows changes rows of a table, many with each statement. Each of rows has a value for each of types; the first two
// are the site and the id. set is the SET clause, in which they are v.column1, v.column2, and so on.
func (tx *Tx) UpdateRows(table, types, set string, rows [][]any) error {
	if err := tx.flush(); err != nil {
		return err
	}
	var list []postgres.Statement
	for len(rows) > 0 { // each statement is for one site
		n := slices.IndexFunc(rows, func(row []any) bool { return row[0] != rows[0][0] })
		if n < 0 {
			n = len(rows)
		}
		list = append(list, tx.statements(sqltext.Rows{Table: table, Columns: types, Set: set}, rows[:n])...)
		rows = rows[n:]
	}
	return tx.execAll(list)
}

// fewRows share one statement, whatever their number: a payment has so few of each table.
const fewRows = 8

// statements are the statements that write rows.
func (tx *Tx) statements(to sqltext.Rows, rows [][]any) (list []postgres.Statement) {
	add := func(rows [][]any) error {
		list = append(list, postgres.Statement{Text: to.Text(len(rows), len(rows[0])), Args: slices.Concat(rows...)})
		return nil
	}
	if len(rows) > 0 && len(rows) <= fewRows {
		_ = add(rows)
		return list
	}
	_ = sqltext.InPowers(rows, tx.db.engine.rowsAtOnce, add)
	return list
}

// execAll runs statements in their order: on PostgreSQL, in one round trip.
func (tx *Tx) execAll(list []postgres.Statement) error {
	if all, ok := tx.sql.(*postgres.Tx); ok && len(list) > 1 {
		for _, s := range list {
			tx.db.show(s.Text, s.Args)
		}
		return all.SendAll(tx.ctx, list)
	}
	for _, s := range list {
		if _, err := tx.exec(s.Text, s.Args); err != nil {
			return err
		}
	}
	return nil
}
