package store

import (
	"slices"
	"strings"

	"holdfast/internal/store/postgres"
	"holdfast/internal/store/sqltext"
)

// Deferral names the tables whose rows a room may hold back in a write, to insert many with one statement. They are
// written when the write ends, or before a statement that names one of the tables. The ids of such rows are not known
// before, unless they are drawn (NewID). A room declares its deferral once, as a variable of its package.
type Deferral struct {
	tables []string
	flush  func(tx *Tx) error
	last   bool
	sums   bool // see NewSumDeferral
	parent int  // place among those whose rows others refer to, from 1; 0: it is none of them
}

// NewDeferral declares a deferral for tables. flush writes the rows that are held back.
func NewDeferral(flush func(tx *Tx) error, tables ...string) *Deferral {
	declared.tables = append(declared.tables, tables...)
	return &Deferral{tables: tables, flush: flush}
}

// NewParentDeferral declares a deferral whose rows those of other tables refer to. They are written before any statement that
// changes something, and before the rows of other deferrals. Of two, the one that is declared first comes first.
func NewParentDeferral(flush func(tx *Tx) error, tables ...string) *Deferral {
	d := NewDeferral(flush, tables...)
	declared.parents++
	d.parent = declared.parents
	return d
}

// NewLastDeferral declares a deferral whose rows are written after those of all others at the end of a write. The flush of
// another one may add to them.
func NewLastDeferral(flush func(tx *Tx) error, tables ...string) *Deferral {
	d := NewDeferral(flush, tables...)
	d.last = true
	declared.last = append(declared.last, tables...)
	return d
}

// NewSumDeferral declares a deferral whose rows say what all of a write comes to. FlushBeside leaves them to its end.
func NewSumDeferral(flush func(tx *Tx) error, tables ...string) *Deferral {
	d := NewDeferral(flush, tables...)
	d.sums = true
	return d
}

// Defer notes that d holds rows back, so that its flush runs in time.
func (tx *Tx) Defer(d *Deferral) {
	if !slices.Contains(tx.waiting, d) {
		tx.waiting = append(tx.waiting, d)
	}
}

// Flush writes all rows that are held back.
func (tx *Tx) Flush() error {
	return tx.flushAll(func(*Deferral) bool { return true })
}

// flushAll writes the rows of those deferrals that are wanted.
func (tx *Tx) flushAll(wanted func(d *Deferral) bool) error {
	for {
		next := slices.IndexFunc(tx.waiting, func(d *Deferral) bool { return wanted(d) && !d.last })
		if next < 0 {
			next = slices.IndexFunc(tx.waiting, wanted)
		}
		if next < 0 {
			return nil
		}
		if err := tx.flushAt(next); err != nil {
			return err
		}
	}
}

// FlushBeside begins to write the rows that are held back, but for sums, while the write goes on. Its next statement waits for
// them, and has their error. It is for a long write that runs alone: what it computes between its statements then takes no time of its own.
func FlushBeside(tx *Tx) error {
	tx.gather = true
	err := tx.flushAll(func(d *Deferral) bool { return !d.sums })
	if tx.gather = false; err != nil {
		return err
	}
	tx.handOver()
	return tx.beside.Start()
}

// flushAt runs the flush of one deferral.
func (tx *Tx) flushAt(i int) error {
	d := tx.waiting[i]
	// It leaves the list first: its own statements name its tables, too, and would run the flush again.
	tx.waiting = slices.Delete(slices.Clone(tx.waiting), i, i+1)
	defer func(outer int) { tx.parentsBelow = outer }(tx.parentsBelow)
	if d.parent > 0 && (tx.parentsBelow == 0 || d.parent < tx.parentsBelow) {
		tx.parentsBelow = d.parent
	}
	if err := tx.flushParents(); err != nil {
		return err
	}
	return d.flush(tx)
}

// comesLater reports whether the rows of a deferral may refer to those that are being written.
func (tx *Tx) comesLater(d *Deferral) bool { return tx.parentsBelow > 0 && d.parent >= tx.parentsBelow }

// flushParents writes the rows that those of the next statement may refer to.
func (tx *Tx) flushParents() error {
	for {
		first := -1
		for i, d := range tx.waiting {
			if d.parent > 0 && !tx.comesLater(d) && (first < 0 || d.parent < tx.waiting[first].parent) {
				first = i
			}
		}
		if first < 0 {
			return nil
		}
		if err := tx.flushAt(first); err != nil {
			return err
		}
	}
}

// flushBefore writes the rows that a statement may have to see: those of the tables that it names.
func (tx *Tx) flushBefore(query string) error {
	if len(tx.waiting) == 0 && (tx.shared == nil || tx.shared.count == 0) {
		return nil
	}
	tables := named.In(query)
	names := func(table string) bool { return slices.Contains(tables, table) }
	if changes(query) {
		if err := tx.flushParents(); err != nil {
			return err
		}
	}
	for i := 0; i < len(tx.waiting); {
		if tx.comesLater(tx.waiting[i]) || !slices.ContainsFunc(tx.waiting[i].tables, names) {
			i++
			continue
		}
		if err := tx.flushAt(i); err != nil {
			return err
		}
		i = 0
	}
	if tx.shared != nil && tx.shared.names(tables) {
		return tx.shared.write(tx)
	}
	return nil
}

// changes reports whether a statement may change something.
func changes(query string) bool { return !strings.HasPrefix(query, "SELECT ") }

// declared is what the deferrals are of, complete before main begins: tables of all of them, of last ones, and how many are parents.
var declared struct {
	tables, last []string
	parents      int
}

// named finds these tables in statements.
var named = sqltext.NewWords(func() []string { return declared.tables })

// fewRows share one statement, whatever their number: a payment has so few of each table.
const fewRows = 8

// InsertRows inserts rows, many with each statement. Each row has one value for each of the columns. At the end of a write
// that shares its transaction, rows of a deferral go in together with those of the other writes.
func (tx *Tx) InsertRows(table, columns string, rows [][]any) error {
	return tx.writeRows(sqltext.Rows{Table: table, Columns: columns}, rows)
}

// UpdateRows changes rows of a table, many with each statement, as InsertRows inserts them. Each of rows has a value for each of
// types; the first two are the site and the id. set is the SET clause, in which they are v.column1, v.column2, and so on.
func (tx *Tx) UpdateRows(table, types, set string, rows [][]any) error {
	return tx.writeRows(sqltext.Rows{Table: table, Columns: types, Set: set}, rows)
}

func (tx *Tx) writeRows(to sqltext.Rows, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	if tx.ending && tx.shared != nil && slices.Contains(declared.tables, to.Table) {
		return tx.shared.add(tx, to, rows)
	}
	return tx.writeNow(to, rows)
}

// writeNow writes rows without waiting for those of others.
func (tx *Tx) writeNow(to sqltext.Rows, rows [][]any) error {
	write := func(rows [][]any) error {
		text := to.Text(len(rows), len(rows[0]))
		args := slices.Concat(rows...)
		if !tx.gather {
			_, err := tx.Exec(text, args...)
			return err
		}
		if err := tx.flushBefore(text); err != nil {
			return err
		}
		tx.changed = true
		tx.show(text, args)
		tx.gathered = append(tx.gathered, postgres.Statement{Text: text, Args: args})
		return nil
	}
	if len(rows) <= fewRows {
		return write(rows)
	}
	return sqltext.InPowers(rows, tx.engine.rowsAtOnce, write)
}
