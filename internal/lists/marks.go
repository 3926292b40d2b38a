package lists

import (
	"errors"
	"math"
	"sync"
	"time"

	"holdfast/internal/db"
	"holdfast/internal/sqltext"
	"holdfast/internal/travel"
)

// Bounds of marks: rows between two, how many one statement sets, and the rows of how many a quick read counts one by one.
const (
	markStep    = 200
	marksAtOnce = 1000
	quickMarks  = 50
)

// SiteTable is all rows of a site in a table from which no row is ever removed. Lists of it have a total, and pages by id, that
// cost the same however many rows there are.
type SiteTable struct {
	Table  string
	SiteID int64
	// Hidden is the condition of rows that are in no list, such as deleted ones; "" where there are none. They are few, and
	// have an index by site and id.
	Hidden string
	// Final returns the instant up to which every row can be seen.
	Final func() (time.Time, error)
}

// AndAllOf adds the conditions that keep all rows of a site in a table. It is the first to add any.
func AndAllOf(w *sqltext.Where, rows SiteTable) {
	w.And("site_id = ?", rows.SiteID)
	if rows.Hidden != "" {
		w.And("NOT (" + rows.Hidden + ")")
	}
	w.Keep(rows)
}

// marks remembers, per table and site, the id of every 200th row in order of the ids (step). Rows are never removed, and a
// mark is set where no further row can appear before it: so a mark stays true for ever, in every process. A total is the
// number of marks and the rows after the last one. A page begins at the mark before it. Counters in the database would do the
// same, but every write would wait for their row. The first list in a process goes through all ids.
type marks struct {
	step int64

	mu    sync.Mutex
	known map[markKey][]int64
}

type markKey struct {
	table  string
	siteID int64
}

// marksOf are the marks of a database.
var marksOf = db.NewMemory(func() *marks { return &marks{step: markStep, known: map[markKey][]int64{}} })

// add remembers marks that follow after n others, and returns all that are known now: another request may have come further.
// Nobody changes a list that it returned, only longer ones take its place.
func (m *marks) add(key markKey, n int, next []int64) []int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.known[key]; len(known) >= n && len(known) < n+len(next) {
		m.known[key] = append(known, next[len(known)-n:]...)
	}
	return m.known[key]
}

// siteRows is a SiteTable as one transaction sees it.
type siteRows struct {
	SiteTable
	tx    *db.Tx
	known *marks
	marks []int64
	after int64 // rows after the last mark
	all   int64 // rows that are not hidden
}

// look finds out how many rows there are. Where many have come after the last mark, it sets further ones; in a write it does
// not, because its rows may be taken back.
func (w SiteTable) look(tx *db.Tx) (siteRows, error) {
	key, known := markKey{w.Table, w.SiteID}, marksOf.Of(tx)
	seen := siteRows{SiteTable: w, tx: tx, known: known, marks: known.add(key, 0, nil)}
	if !db.Reads(tx) {
		return seen, seen.count()
	}
	if len(seen.marks) > 0 {
		if err := seen.count(); err != nil || seen.after < known.step {
			return seen, err
		}
	}
	if err := seen.advance(key); err != nil {
		return seen, err
	}
	return seen, seen.count()
}

// last is the last mark, 0 if there is none.
func (w *siteRows) last() int64 {
	if len(w.marks) == 0 {
		return 0
	}
	return w.marks[len(w.marks)-1]
}

// count counts the rows after the last mark, and all. A mark that another transaction has set may lie behind what this one
// sees: then it is left out.
func (w *siteRows) count() error {
	inTrash, hidden := "0", int64(0)
	if w.Hidden != "" {
		inTrash = `(SELECT COUNT(*) FROM ` + w.Table + ` WHERE site_id = $1 AND ` + w.Hidden + `)`
	}
	for {
		err := w.tx.Row(`SELECT COUNT(*), `+inTrash+` FROM `+w.Table+` WHERE site_id = $1 AND id > $2`,
			[]any{w.SiteID, w.last()}, &w.after, &hidden)
		if err != nil {
			return err
		}
		w.all = int64(len(w.marks))*w.known.step + w.after - hidden
		if w.after > 0 || len(w.marks) == 0 {
			return nil
		}
		var seen bool
		err = w.tx.Row(`SELECT EXISTS (SELECT 1 FROM `+w.Table+` WHERE site_id = $1 AND id = $2)`, []any{w.SiteID, w.last()}, &seen)
		if err != nil || seen {
			return err
		}
		w.marks = w.marks[:len(w.marks)-1]
	}
}

// advance sets marks up to the last row that is final. Not up to the last row: a transaction that is still open may hold a
// lower id.
func (w *siteRows) advance(key markKey) error {
	final, err := w.finalID()
	for err == nil {
		step := `(SELECT t.id FROM ` + w.Table + ` t WHERE t.site_id = $1 AND t.id > `
		var next []int64
		next, err = db.Ids(w.tx, `WITH RECURSIVE marks (id) AS (
				SELECT `+step+`$2 ORDER BY t.id LIMIT 1 OFFSET $3)
				UNION ALL SELECT `+step+`marks.id ORDER BY t.id LIMIT 1 OFFSET $3) FROM marks WHERE marks.id <= $4)
			SELECT id FROM marks WHERE id <= $4 LIMIT $5`, w.SiteID, w.last(), w.known.step-1, final, marksAtOnce)
		if len(next) == 0 {
			return err
		}
		w.marks = w.known.add(key, len(w.marks), next)
	}
	return err
}

// finalID is the id up to which no further row can appear.
func (w *siteRows) finalID() (id int64, err error) {
	if db.CommitsInOrder(w.tx) {
		return math.MaxInt64, nil
	}
	upTo, err := w.Final()
	if err != nil {
		return 0, err
	}
	err = w.tx.Row(`SELECT id FROM `+w.Table+` WHERE site_id = $1 AND created_at <= $2 ORDER BY id DESC LIMIT 1`,
		[]any{w.SiteID, db.Micros(upTo)}, &id)
	if errors.Is(err, db.ErrNotFound) {
		return 0, nil
	}
	return id, err
}

// seek adds the condition that a page by id begins behind a mark, and returns how many rows are left to pass over.
func (w *siteRows) seek(where *sqltext.Where, page travel.Page) (skip int64, err error) {
	skip = int64(page.Skip())
	if skip < w.known.step {
		return skip, nil
	}
	if page.Descending {
		return w.seekBack(where, skip)
	}
	// Of the rows up to a mark some may be hidden. Then the mark to begin at lies further on.
	for n, hidden := 0, int64(0); ; {
		next := min(len(w.marks), int((skip+hidden)/w.known.step))
		if next == n && n > 0 {
			where.And("id > ?", w.marks[n-1])
			skip -= int64(n)*w.known.step - hidden
		}
		if next == n {
			return skip, nil
		}
		n = next
		if hidden, err = w.hiddenUpTo(n); err != nil {
			return 0, err
		}
	}
}

// seekBack is seek for a page whose ids go down. It passes over the last rows.
func (w *siteRows) seekBack(where *sqltext.Where, skip int64) (rest int64, err error) {
	left := w.all - skip // so many rows are not passed over
	if left <= 0 {
		where.And("1 = 0")
		return 0, nil
	}
	for n, hidden := 0, int64(0); ; {
		n = int((left + hidden + w.known.step - 1) / w.known.step)
		if n > len(w.marks) {
			return skip, nil
		}
		if hidden, err = w.hiddenUpTo(n); err != nil {
			return 0, err
		}
		if upTo := int64(n)*w.known.step - hidden; upTo >= left {
			where.And("id <= ?", w.marks[n-1])
			return upTo - left, nil
		}
	}
}

// hiddenUpTo counts the hidden rows up to the nth mark.
func (w *siteRows) hiddenUpTo(n int) (hidden int64, err error) {
	if w.Hidden == "" {
		return 0, nil
	}
	err = w.tx.Row(`SELECT COUNT(*) FROM `+w.Table+` WHERE site_id = $1 AND `+w.Hidden+` AND id <= $2`,
		[]any{w.SiteID, w.marks[n-1]}, &hidden)
	return hidden, err
}
