package db

import (
	"slices"
	"strings"
	"sync"
)

// Deferral names the tables whose rows a room may hold back in a write, to insert many with one statement. They are
// written when the write ends, or before a statement that names one of the tables. The ids of such rows are not known
// before. A room declares its deferral once, as a variable of its package.
type Deferral struct {
	tables []string
	flush  func(tx *Tx) error
	last   bool
}

// NewDeferral declares a deferral for tables. flush writes the rows that are held back.
func NewDeferral(flush func(tx *Tx) error, tables ...string) *Deferral {
	named.deferred = append(named.deferred, tables...)
	return &Deferral{tables: tables, flush: flush}
}

// NewLastDeferral declares a deferral whose rows are written after those of all others at the end of a write. The flush of
// another one may add to them.
func NewLastDeferral(flush func(tx *Tx) error, tables ...string) *Deferral {
	d := NewDeferral(flush, tables...)
	d.last = true
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
	for len(tx.waiting) > 0 {
		next := max(0, slices.IndexFunc(tx.waiting, func(d *Deferral) bool { return !d.last }))
		if err := tx.flushAt(next); err != nil {
			return err
		}
	}
	return nil
}

// flushAt runs the flush of one deferral.
func (tx *Tx) flushAt(i int) error {
	d := tx.waiting[i]
	// It leaves the list first: its own statements name its tables, too, and would run the flush again.
	tx.waiting = slices.Delete(slices.Clone(tx.waiting), i, i+1)
	return d.flush(tx)
}

// flushBefore writes the rows that a statement may have to see: those of the tables that it names.
func (tx *Tx) flushBefore(query string) error {
	if len(tx.waiting) == 0 && (tx.shared == nil || tx.shared.count == 0) {
		return nil
	}
	tables := named.in(query)
	names := func(table string) bool { return slices.Contains(tables, table) }
	for i := 0; i < len(tx.waiting); {
		if !slices.ContainsFunc(tx.waiting[i].tables, names) {
			i++
			continue
		}
		if err := tx.flushAt(i); err != nil {
			return err
		}
		i = 0
	}
	if tx.shared != nil && slices.ContainsFunc(tx.shared.tables, func(t sharedTable) bool { return names(t.name) }) {
		return tx.shared.insert(tx)
	}
	return nil
}

// knownTexts is how many texts of statements are remembered at most.
const knownTexts = 4096

// naming remembers which tables of deferrals each statement names, so that each text is searched once.
type naming struct {
	deferred []string // the tables of all deferrals; complete before main begins

	mu    sync.Mutex
	known map[string][]string // by the text of the statement
}

var named = naming{known: map[string][]string{}}

func (n *naming) in(query string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	tables, ok := n.known[query]
	if !ok {
		if len(n.known) >= knownTexts {
			clear(n.known)
		}
		for _, table := range n.deferred {
			if hasWord(query, table) {
				tables = append(tables, table)
			}
		}
		n.known[query] = tables
	}
	return tables
}

// hasWord reports whether a text contains a whole word: modal_payments does not contain payments.
func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if (start == 0 || !wordByte(text[start-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = end
	}
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// mostPerStatement is how many rows share a statement at most: their parameters stay far below the limits of both
// engines. Lists are cut into powers of two, so that there are few different texts, and the engines parse each once.
const mostPerStatement = 64

// fewRows share one statement, whatever their number: a payment has so few of each table.
const fewRows = 8

// InsertRows inserts rows, many with each statement. Each row has one value for each of the columns. At the end of a write
// that shares its transaction, rows of a deferral go in together with those of the other writes.
func (tx *Tx) InsertRows(table, columns string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	if tx.ending && tx.shared != nil && slices.Contains(named.deferred, table) {
		return tx.shared.add(tx, table, columns, rows)
	}
	return tx.insertNow(table, columns, rows)
}

// insertNow inserts rows without waiting for those of others.
func (tx *Tx) insertNow(table, columns string, rows [][]any) error {
	insert := func(rows [][]any) error {
		args := make([]any, 0, len(rows)*len(rows[0]))
		for _, values := range rows {
			args = append(args, values...)
		}
		_, err := tx.Exec(insertText(insertKey{table, columns, len(rows), len(rows[0])}), args...)
		return err
	}
	if len(rows) <= fewRows {
		return insert(rows)
	}
	return InPowers(rows, insert)
}

// insertKey says what an INSERT looks like.
type insertKey struct {
	table, columns string
	rows, values   int // rows, and values of each
}

// insertTexts remembers the texts of INSERTs: making one takes longer than many an insert. There are as many as the
// program has tables, times the numbers of rows that InsertRows has in one statement.
var insertTexts sync.Map

func insertText(key insertKey) string {
	if text, ok := insertTexts.Load(key); ok {
		return text.(string)
	}
	var w Where
	rows := make([]string, key.rows)
	for i := range rows {
		rows[i] = w.Values(make([]any, key.values)...)
	}
	text := "INSERT INTO " + key.table + " (" + key.columns + ") VALUES " + strings.Join(rows, ", ")
	insertTexts.Store(key, text)
	return text
}

// InPowers calls each with pieces of a list, in its order. Their lengths are powers of two, the longest first.
func InPowers[T any](list []T, each func([]T) error) error {
	for size := mostPerStatement; len(list) > 0; {
		if size > len(list) {
			size /= 2
			continue
		}
		if err := each(list[:size]); err != nil {
			return err
		}
		list = list[size:]
	}
	return nil
}

// Values takes the values of a row and returns their placeholders, as "($1, $2)".
func (w *Where) Values(values ...any) string {
	var row strings.Builder
	for i, v := range values {
		if i > 0 {
			row.WriteString(", ")
		}
		row.WriteString(w.Arg(v))
	}
	return "(" + row.String() + ")"
}
