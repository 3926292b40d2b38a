package ledger

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"holdfast/internal/domain/exposure"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// A fold changes about forty blocks for each delta, but many deltas share their blocks: 2,000 deltas at once take half
// the time of four folds of 500. So deltas wait until there are many, or until the first one has waited long enough.
// Until then reports add them themselves, at 3 µs each.
const (
	deltasToFold = 5_000
	foldAfter    = time.Minute
)

// SitesToFold lists the sites with enough deltas to fold, or with old ones, in order of their ids. It only reads
// unfolded deltas, however many sites there are.
func SitesToFold(tx *store.Tx) ([]int64, error) {
	return store.Ids(tx, `SELECT site_id FROM exposure_deltas GROUP BY site_id HAVING COUNT(*) >= $1 OR MIN(noted_at) <= $2 ORDER BY site_id`,
		deltasToFold, store.Micros(sites.RealNow(tx).Add(-foldAfter)))
}

// Bounds of one fold. Most of the time goes into blocks: deltas of one day and merchant share them, others change about
// forty each.
const (
	deltasPerRead = 500
	blocksPerFold = 8_000
	deltasPerPack = 1_000
)

// fold is changes of a site's exposure on their way from exposure_deltas into the cubes and buckets. Its write may run more than
// once, so it changes nothing of the fold.
type fold struct {
	siteID int64
	ids    []int64 // of the deltas
	kept   []exposure.Delta
	cubes  []map[exposure.BlockKey]*exposure.Block // what the deltas add, by view
}

// errFolded: another fold has taken some of the deltas.
var errFolded = errors.New("the deltas have been folded in the meantime")

// gatherFold reads deltas and adds them up. The order of their ids does not matter: a delta that becomes visible late
// is folded late.
func gatherFold(ctx context.Context, store *store.DB, siteID int64, limit int) (*fold, error) {
	f := &fold{siteID: siteID, cubes: make([]map[exposure.BlockKey]*exposure.Block, len(exposure.Views))}
	for i := range f.cubes {
		f.cubes[i] = map[exposure.BlockKey]*exposure.Block{}
	}
	mostBlocks := max(blocksPerFold, limit*blocksPerFold/deltasPerFold) // more if more is requested
	for touched := 0; len(f.ids) < limit && touched < mostBlocks; {
		deltas, err := f.read(ctx, store, min(deltasPerRead, limit-len(f.ids)))
		if err != nil {
			return nil, err
		}
		if len(deltas) == 0 {
			break
		}
		f.kept = append(f.kept, exposure.Merge(deltas)...)
		for i := range deltas {
			deltas[i].Known = 0 // not available from the cubes
		}
		deltas = exposure.Merge(deltas) // often equal: the parts of a booking are paid on one day
		touched = 0
		for i, v := range exposure.Views {
			v.Gather(deltas, f.cubes[i])
			touched += len(f.cubes[i])
		}
	}
	return f, nil
}

// read reads the deltas that the fold does not have yet.
func (f *fold) read(ctx context.Context, db *store.DB, limit int) (deltas []exposure.Delta, err error) {
	last := int64(0)
	if n := len(f.ids); n > 0 {
		last = f.ids[n-1]
	}
	var ids []int64
	err = db.Read(ctx, f.siteID, func(tx *store.Tx) error {
		deltas, ids = nil, nil
		return tx.Query(`SELECT id, `+deltaColumns+` FROM exposure_deltas WHERE site_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
			[]any{f.siteID, last, limit}, func(scan func(dest ...any) error) error {
				var id int64
				d, err := scanDelta(func(dest ...any) error { return scan(append([]any{&id}, dest...)...) })
				deltas, ids = append(deltas, d), append(ids, id)
				return err
			})
	})
	f.ids = append(f.ids, ids...)
	return deltas, err
}

// store removes the deltas and adds them up in one transaction, so every reader counts each of them once.
func (f *fold) store(tx *store.Tx) error {
	_, err := tx.Exec(`INSERT INTO exposure_folds (site_id, version) VALUES ($1, 1)
		ON CONFLICT (site_id) DO UPDATE SET version = exposure_folds.version + 1`, f.siteID)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(f.ids, deltasPerRead) {
		w := sqltext.Where{}
		w.And("site_id = ?", f.siteID)
		sqltext.In(&w, "id", some)
		switch n, err := tx.Exec(`DELETE FROM exposure_deltas WHERE `+w.Text.String(), w.Args...); {
		case err != nil:
			return err
		case n < int64(len(some)):
			return errFolded
		}
	}
	for i, v := range exposure.Views {
		if err := addBlocks(tx, f.siteID, v, f.cubes[i]); err != nil {
			return err
		}
	}
	return keepDeltas(tx, f.siteID, slices.Clone(f.kept))
}

// keepDeltas adds deltas to the buckets, in packs. The deltas of a small fold join the last pack, so that packs do not
// stay small. The caller has locked the site's row in exposure_folds.
func keepDeltas(tx *store.Tx, siteID int64, deltas []exposure.Delta) error {
	var id, counted int64
	var packed, known []byte
	err := tx.QueryRow(`SELECT id, counted, deltas, known FROM exposure_buckets WHERE site_id = $1
		AND id = (SELECT MAX(id) FROM exposure_buckets WHERE site_id = $1)`, []any{siteID}, &id, &counted, &packed, &known)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err == nil && counted+int64(len(deltas)) <= deltasPerPack {
		if err := EachDelta(packed, known, func(d exposure.Delta) { deltas = append(deltas, d) }); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM exposure_buckets WHERE site_id = $1 AND id = $2`, siteID, id); err != nil {
			return err
		}
	}
	deltas = exposure.Merge(deltas)
	inOrder(deltas)
	for part := range slices.Chunk(deltas, deltasPerPack) {
		p := PackDeltas(part)
		tx.Insert("exposure_buckets", "site_id, first_day, final_day, last_day, counted, deltas, known, final_known",
			[]any{siteID, p.FirstDay, p.FinalDay, p.LastDay, len(part), p.Deltas, p.Known, p.FinalKnown})
	}
	return nil
}

// place is the key of a block in the table of its view.
type place struct {
	block, cell int64
}

// blocksPerStatement is how many blocks share an SQL statement at most. Each needs twelve parameters.
const blocksPerStatement = 32

// addBlocks adds changes to the blocks of a cube. The caller has locked the site's row in exposure_folds.
func addBlocks(tx *store.Tx, siteID int64, v exposure.View, changes map[exposure.BlockKey]*exposure.Block) error {
	ids, err := cellsFor(tx, siteID, v, changes)
	if err != nil {
		return err
	}
	added := make(map[place]*exposure.Block, len(changes))
	places := make([]place, 0, len(changes))
	for key, b := range changes {
		at := place{key.Block, ids[key.Cell]}
		added[at] = b
		places = append(places, at)
	}
	slices.SortFunc(places, func(a, b place) int { // neighbours are stored together in the table
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.cell, b.cell))
	})
	return sqltext.InPowers(places, blocksPerStatement, func(some []place) error {
		blocks, err := readBlocks(tx, siteID, v, some)
		if err != nil {
			return err
		}
		for _, p := range some {
			for _, d := range added[p].Days {
				blocks[p].Add(d.Day, d.Tally)
			}
		}
		return saveBlocks(tx, siteID, v, some, blocks)
	})
}

// cellsFor finds the ids of the cells that change, and inserts new cells. Each is looked up by its key, as in
// readBlocks.
func cellsFor(
	tx *store.Tx, siteID int64, v exposure.View, changes map[exposure.BlockKey]*exposure.Block,
) (map[exposure.Cell]int64, error) {
	ids := map[exposure.Cell]int64{}
	for key := range changes {
		ids[key.Cell] = 0
	}
	known := func(c exposure.Cell, id int64) { ids[c] = id }
	err := sqltext.InPowers(slices.Collect(maps.Keys(ids)), blocksPerStatement, func(some []exposure.Cell) error {
		w := sqltext.Where{Args: []any{siteID, v.String()}}
		rows := make([]string, len(some))
		for i, c := range some {
			rows[i] = w.Values(c.First, c.Second, c.Currency, c.Category, c.ValuedIn)
		}
		return cells(tx, `WITH wanted (first, second, money, stands, valued) AS (VALUES `+strings.Join(rows, ", ")+`)
			SELECT COALESCE((SELECT c.id FROM exposure_cells c
				WHERE c.site_id = $1 AND c.view = $2 AND c.first_key = w.first AND c.second_key = w.second
					AND c.currency = w.money AND c.standing = w.stands AND c.valued_in = w.valued), 0),
				w.first, w.second, w.money, w.stands, w.valued FROM wanted w`, w.Args, known)
	})
	if err != nil {
		return nil, err
	}
	var fresh []exposure.Cell
	for c, id := range ids {
		if id == 0 {
			fresh = append(fresh, c)
		}
	}
	return ids, sqltext.InPowers(fresh, blocksPerStatement, func(some []exposure.Cell) error {
		var w sqltext.Where
		rows := make([]string, len(some))
		fresh, err := tx.NextIDs("exposure_cells", siteID, len(some))
		if err != nil {
			return err
		}
		for i, c := range some {
			rows[i] = w.Values(siteID, fresh[i], v.String(), c.First, c.Second, c.Currency, c.Category, c.ValuedIn)
		}
		return cells(tx, `INSERT INTO exposure_cells (site_id, id, view, first_key, second_key, currency, standing, valued_in)
			VALUES `+strings.Join(rows, ", ")+` RETURNING `+cellColumns, w.Args, known)
	})
}

// readBlocks reads some blocks; those that are not stored are empty. Each is looked up by its key, because PostgreSQL would rather
// read all blocks of the view to join them, while it believes that there are few.
func readBlocks(tx *store.Tx, siteID int64, v exposure.View, places []place) (map[place]*exposure.Block, error) {
	w := sqltext.Where{Args: []any{siteID, v.String()}}
	rows := make([]string, len(places))
	blocks := make(map[place]*exposure.Block, len(places))
	for i, p := range places {
		// PostgreSQL takes the type of a column of VALUES from its first row. Without a CAST the type is text.
		rows[i] = "(CAST(" + w.Arg(p.block) + " AS BIGINT), CAST(" + w.Arg(p.cell) + " AS BIGINT))"
		blocks[p] = &exposure.Block{}
	}
	err := tx.Query(`WITH wanted (block, cell) AS (VALUES `+strings.Join(rows, ", ")+`)
		SELECT w.block, w.cell, (SELECT b.days FROM exposure_blocks b
			WHERE b.site_id = $1 AND b.view = $2 AND b.block = w.block AND b.cell = w.cell)
		FROM wanted w`, w.Args, func(scan func(dest ...any) error) error {
		var p place
		var days []byte
		if err := scan(&p.block, &p.cell, &days); err != nil || days == nil {
			return err
		}
		return EachDay(days, blocks[p].Add)
	})
	return blocks, err
}

// saveBlocks stores the new values of blocks.
func saveBlocks(
	tx *store.Tx, siteID int64, v exposure.View, places []place, blocks map[place]*exposure.Block,
) error {
	w := sqltext.Where{Args: []any{siteID, v.String()}}
	rows := make([]string, len(places))
	for i, p := range places {
		b := blocks[p]
		rows[i] = "($1, $2, " + strings.TrimPrefix(w.Values(p.block, p.cell, b.Sum.Count, b.Sum.Amount, b.Sum.End,
			b.Sum.Start, b.Sum.Locked, b.Sum.LockedEnd, b.Sum.LockedStart, packDays(*b)), "(")
	}
	_, err := tx.Exec(`INSERT INTO exposure_blocks (site_id, view, block, cell, counted, amount, by_end, by_start, locked,
			locked_end, locked_start, days)
		VALUES `+strings.Join(rows, ", ")+`
		ON CONFLICT (site_id, view, block, cell) DO UPDATE SET
			counted = excluded.counted, amount = excluded.amount, by_end = excluded.by_end, by_start = excluded.by_start,
			locked = excluded.locked, locked_end = excluded.locked_end, locked_start = excluded.locked_start,
			days = excluded.days`, w.Args...)
	return err
}
