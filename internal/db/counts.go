package db

import (
	"errors"
	"sync"
	"time"
)

// FinalAfter is the time after which a write is surely over. All rows that were recorded longer ago can be seen (R0).
const FinalAfter = 2 * writeLifetime

// defaultCountStep is how many rows each request may count before the remembered count moves on.
const defaultCountStep = 5000

// counts remembers, per table and site, how many rows there are up to an id. The tables it serves never lose a row, so
// this number stays true, and only the rows after that id are counted again. So a list of a large table is as fast
// with its total as without. A counter in the database would do the same, but every write would wait for its row. The
// first count in a process reads all rows.
type counts struct {
	step int64

	mu    sync.Mutex
	known map[countKey]counted
}

type countKey struct {
	table  string
	siteID int64
}

type counted struct {
	upTo int64 // id
	rows int64 // with an id up to there
}

func newCounts() *counts {
	return &counts{step: defaultCountStep, known: map[countKey]counted{}}
}

func (c *counts) get(key countKey) counted {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[key]
}

func (c *counts) set(key countKey, n counted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n.upTo > c.known[key].upTo { // another request may have counted further
		c.known[key] = n
	}
}

// CountRows counts all rows of a site in a table from which no row is ever removed. final returns the instant up to
// which every row can be seen.
func (tx *Tx) CountRows(table string, siteID int64, final func() (time.Time, error)) (int64, error) {
	key := countKey{table, siteID}
	known := tx.counts.get(key)
	var since int64
	err := tx.Row(`SELECT COUNT(*) FROM `+table+` WHERE site_id = $1 AND id > $2`, []any{siteID, known.upTo}, &since)
	if err != nil || since < tx.counts.step {
		return known.rows + since, err
	}
	return known.rows + since, tx.advanceCount(key, known, final)
}

// advanceCount moves the remembered count to the last row that is final. Not to the last row: a transaction that is
// still open may hold a lower id.
func (tx *Tx) advanceCount(key countKey, known counted, final func() (time.Time, error)) error {
	upTo, err := final()
	if err != nil {
		return err
	}
	next := counted{}
	err = tx.Row(`SELECT id FROM `+key.table+` WHERE site_id = $1 AND created_at <= $2 ORDER BY id DESC LIMIT 1`,
		[]any{key.siteID, Micros(upTo)}, &next.upTo)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	err = tx.Row(`SELECT COUNT(*) FROM `+key.table+` WHERE site_id = $1 AND id > $2 AND id <= $3`,
		[]any{key.siteID, known.upTo, next.upTo}, &next.rows)
	if err != nil {
		return err
	}
	next.rows += known.rows
	tx.counts.set(key, next)
	return nil
}
