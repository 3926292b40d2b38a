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
	return &Deferral{tables: tables, flush: flush}
}

// NewLastDeferral declares a deferral whose rows are written after those of all others at the end of a write. The flush of
// another one may add to them.
func NewLastDeferral(flush func(tx *Tx) error, tables ...string) *Deferral {
	return &Deferral{tables: tables, flush: flush, last: true}
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
	for i := 0; i < len(tx.waiting); {
		if !named.in(query, tx.waiting[i]) {
			i++
			continue
		}
		if err := tx.flushAt(i); err != nil {
			return err
		}
		i = 0
	}
	return nil
}

// knownTexts is how many pairs of a statement's text and a deferral are remembered at most.
const knownTexts = 4096

// naming remembers which statements name a table of a deferral, so that each text is searched once.
type naming struct {
	mu    sync.Mutex
	known map[namingKey]bool
}

type namingKey struct {
	query    string
	deferral *Deferral
}

var named = naming{known: map[namingKey]bool{}}

func (n *naming) in(query string, d *Deferral) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := namingKey{query, d}
	names, ok := n.known[key]
	if !ok {
		if len(n.known) >= knownTexts {
			clear(n.known)
		}
		names = slices.ContainsFunc(d.tables, func(table string) bool { return hasWord(query, table) })
		n.known[key] = names
	}
	return names
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

// InsertRows inserts rows, many with each statement. Each row has one value for each of the columns.
func (tx *Tx) InsertRows(table, columns string, rows [][]any) error {
	insert := func(rows [][]any) error {
		var w Where
		texts := make([]string, len(rows))
		for i, values := range rows {
			texts[i] = w.Values(values...)
		}
		_, err := tx.Exec("INSERT INTO "+table+" ("+columns+") VALUES "+strings.Join(texts, ", "), w.Args...)
		return err
	}
	if n := len(rows); n > 0 && n <= fewRows {
		return insert(rows)
	}
	return InPowers(rows, insert)
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
