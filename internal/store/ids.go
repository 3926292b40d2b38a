package store

import (
	"strconv"
	"strings"

	"holdfast/internal/store/sqltext"
)

// mostDrawn is how many times as many ids as are wanted one statement draws at most, where the write does not say how often (Expect).
const mostDrawn = 128

// drawnIDs are ids that a transaction has drawn for rows that it has not written yet.
type drawnIDs map[*Deferral]*drawn

// drawn are the ids for the tables of one deferral, in their order.
type drawn struct {
	last []int64   // where there is one writer: all ids above these are free
	free [][]int64 // where there are many
	more int64     // times as many as are wanted the next statement draws
}

// Expect says how often a write will need ids at most, such as once for each row of a file. So its first statement draws them all, and
// none of them stands between the rows that are written beside it.
func Expect(tx *Tx, times int) { tx.expected = int64(times) }

// NewIDs draws the ids of new rows that wait with those of a deferral: so many for each of its tables, in their order. All ids of
// these tables are drawn so, because those of rows that wait are in no counter of the database. One statement draws for all tables,
// and the more often a transaction needs ids, the more it draws at once.
func (tx *Tx) NewIDs(d *Deferral, wanted ...int) (ids [][]int64, err error) {
	if tx.ids == nil {
		tx.ids = drawnIDs{}
	}
	has, known := tx.ids[d]
	if !known {
		has = &drawn{last: make([]int64, len(wanted)), free: make([][]int64, len(wanted)), more: max(1, tx.expected)}
	}
	few := !known
	for i, n := range wanted {
		few = few || !tx.engine.serial && len(has.free[i]) < n
	}
	if few {
		if err := tx.draw(d.tables, has, wanted); err != nil {
			return nil, err
		}
		tx.ids[d] = has
	}
	ids = make([][]int64, len(wanted))
	for i, n := range wanted {
		if !tx.engine.serial {
			ids[i], has.free[i] = has.free[i][:n:n], has.free[i][n:]
			continue
		}
		for range n {
			has.last[i]++
			ids[i] = append(ids[i], has.last[i])
		}
	}
	return ids, nil
}

// InsertsNow reports whether the write inserts a row of a deferral at once (InsertNow) and draws no ids: it runs alone in its
// transaction, nobody waits behind it, and no id of the deferral is drawn yet. So a write that comes alone needs one statement less.
func InsertsNow(tx *Tx, d *Deferral) bool { return tx.lone && tx.ids[d] == nil }

// InsertNow inserts a row and returns the id that the database gives it.
func InsertNow(tx *Tx, table, columns string, row []any) (id int64, err error) {
	err = tx.Row(sqltext.Rows{Table: table, Columns: columns}.Text(1, len(row))+" RETURNING id", row, &id)
	return id, err
}

// draw draws ids of those tables that have fewer than are wanted.
func (tx *Tx) draw(tables []string, has *drawn, wanted []int) error {
	parts, args := make([]string, len(tables)), make([]any, len(tables))
	for i, table := range tables {
		place := strconv.Itoa(i + 1)
		parts[i] = strings.NewReplacer("{{table}}", table, "{{at}}", strconv.Itoa(i), "{{n}}", "$"+place).Replace(tx.engine.draw)
		if args[i] = int64(0); tx.engine.serial || len(has.free[i]) < wanted[i] {
			args[i] = int64(wanted[i]) * has.more
		}
	}
	has.more = min(2*has.more, mostDrawn)
	return tx.eachAsIs(strings.Join(parts, " UNION ALL "), args, func(scan func(dest ...any) error) error {
		var at int
		var id int64
		err := scan(&at, &id)
		if has.last[at] = id; !tx.engine.serial {
			has.free[at] = append(has.free[at], id)
		}
		return err
	})
}
