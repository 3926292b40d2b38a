package core

import (
	"slices"
	"strings"
	"sync"

	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// Rider is a question that rides along with the first statement of a write, or with one that reads a row, so that it needs no
// statement of its own.
type Rider struct {
	Query string // a scalar subquery, with a ? for each argument; always the same text
	Args  []any
	Dest  any // takes the answer, which may be NULL
	// Locks: the row that it finds stays locked to the end of the write, as if the write had changed it.
	Locks bool
}

// Along gives a query that takes riders along, with its values and where its answers go. Before the riders stands head, with columns for
// dest, and behind them tail, with a ? for each of args. Both are always the same text, too, so that it is put together once.
func Along(tx *store.Tx, head, tail string, args []any, riders []Rider, dest ...any) (query string, values, answers []any) {
	made := along{head: head, tail: tail, lock: store.RowLock(tx), n: len(riders)}
	values, dest = make([]any, 0, len(args)+2*len(riders)), slices.Grow(dest, len(riders))
	for i, r := range riders {
		if i < len(made.riders) {
			made.riders[i] = r.Query
		}
		values = append(values, r.Args...)
		dest = append(dest, r.Dest)
	}
	return alongTexts.of(made, riders), append(values, args...), dest
}

// along is what the text of such a query is made of.
type along struct {
	head, tail, lock string
	riders           [4]string
	n                int
}

// queryTexts remembers texts of queries: a text of 2 kB takes longer to put together than to find. There are as many as the program has
// queries with riders.
type queryTexts struct {
	mu    sync.RWMutex
	texts map[along]string
}

var alongTexts = queryTexts{texts: map[along]string{}}

func (t *queryTexts) of(a along, riders []Rider) string {
	if a.n > len(a.riders) {
		return a.text(riders)
	}
	t.mu.RLock()
	text, ok := t.texts[a]
	t.mu.RUnlock()
	if !ok {
		text = a.text(riders)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.texts[a] = text
	}
	return text
}

// text puts a query together. The columns of riders have names: SQLite's driver copies the name of a column with each answer, and
// without one that is all of its text.
func (a along) text(riders []Rider) string {
	var text strings.Builder
	text.WriteString(a.head)
	for i, r := range riders {
		if i > 0 || a.head != "SELECT" {
			text.WriteByte(',')
		}
		text.WriteString(" (" + r.Query)
		if r.Locks {
			text.WriteString(a.lock)
		}
		text.WriteString(") AS rider")
	}
	return sqltext.Numbered(text.String() + a.tail)
}
