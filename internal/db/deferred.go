package db

import (
	"slices"
	"strings"
	"sync"
)

// Deferral names the tables whose rows a room may hold back until a write ends, or until a statement names one of
// them. Nobody is given the ids of such rows. Flush writes all that waits. A room declares its deferral once, as a
// variable of its package.
type Deferral struct {
	tables []string
	flush  func(tx *Tx) error
}

// NewDeferral declares that a room may hold back rows of the tables, and how they are written.
func NewDeferral(flush func(tx *Tx) error, tables ...string) *Deferral {
	return &Deferral{tables: tables, flush: flush}
}

// Defer notes that something of d waits.
func (tx *Tx) Defer(d *Deferral) {
	if !slices.Contains(tx.waiting, d) {
		tx.waiting = append(tx.waiting, d)
	}
}

// Flush writes all that waits.
func (tx *Tx) Flush() error {
	for len(tx.waiting) > 0 {
		if err := tx.flushFirst(0); err != nil {
			return err
		}
	}
	return nil
}

// flushFirst writes what waits at a place of the list.
func (tx *Tx) flushFirst(i int) error {
	d := tx.waiting[i]
	// Taken off first: what the flush runs are statements, too.
	tx.waiting = slices.Delete(slices.Clone(tx.waiting), i, i+1)
	return d.flush(tx)
}

// flushBefore writes what a statement may want to see: what waits of the tables that it names.
func (tx *Tx) flushBefore(query string) error {
	for i := 0; i < len(tx.waiting); {
		if !named.in(query, tx.waiting[i]) {
			i++
			continue
		}
		if err := tx.flushFirst(i); err != nil {
			return err
		}
		i = 0
	}
	return nil
}

// knownTexts bounds how many pairs of a statement's text and a deferral are remembered.
const knownTexts = 4096

// naming remembers which statements name a table of a deferral, so that a text is searched once.
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

// hasWord reports whether a text has a whole word in it: payments is not in modal_payments.
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

// mostPerStatement bounds how many rows share a statement: their parameters stay far below what both engines take. Rows
// are cut into powers of two, so that there are few different texts, which engines prepare once.
const mostPerStatement = 64

// InsertRows inserts rows of values, many at a time.
func (tx *Tx) InsertRows(table, columns string, rows [][]any) error {
	return InPowers(rows, func(rows [][]any) error {
		var w Where
		texts := make([]string, len(rows))
		for i, values := range rows {
			texts[i] = w.Values(values...)
		}
		_, err := tx.Exec("INSERT INTO "+table+" ("+columns+") VALUES "+strings.Join(texts, ", "), w.Args...)
		return err
	})
}

// InPowers hands a list on in pieces whose lengths are powers of two, the longest first.
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

// Values takes values and returns a row of their placeholders.
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
