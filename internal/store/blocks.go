package store

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/protection"
)

func compareBlockKeys(a, b protection.BlockKey) int {
	return cmp.Or(
		cmp.Compare(a.Block, b.Block), cmp.Compare(a.First, b.First), cmp.Compare(a.Second, b.Second),
		cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Standing, b.Standing), cmp.Compare(a.ValuedIn, b.ValuedIn),
	)
}

// readBlocks adds what is stored of some blocks to the changes.
func (tx *Tx) readBlocks(
	siteID int64, v protection.View, keys []protection.BlockKey, blocks map[protection.BlockKey]*protection.Block,
) error {
	w := where{args: []any{siteID, v.String()}}
	rows := make([]string, len(keys))
	for i, k := range keys {
		// PostgreSQL takes the type of a column of values from its first row, and text where it is told nothing.
		rows[i] = "(CAST(" + w.arg(k.Block) + " AS BIGINT), " +
			strings.Trim(w.values(k.First, k.Second, k.Currency, k.Standing, k.ValuedIn), "()") + ")"
	}
	return tx.each(`WITH wanted (block, first_key, second_key, currency, standing, valued_in) AS
			(VALUES `+strings.Join(rows, ", ")+`)
		SELECT b.block, b.first_key, b.second_key, b.currency, b.standing, b.valued_in, b.days
		FROM wanted w JOIN exposure_blocks b ON b.site_id = $1 AND b.view = $2 AND b.block = w.block
			AND b.first_key = w.first_key AND b.second_key = w.second_key AND b.currency = w.currency
			AND b.standing = w.standing AND b.valued_in = w.valued_in`, w.args,
		func(scan func(dest ...any) error) error {
			var k protection.BlockKey
			var days string
			if err := scan(&k.Block, &k.First, &k.Second, &k.Currency, &k.Standing, &k.ValuedIn, &days); err != nil {
				return err
			}
			stored, err := protection.ParseBlock(days)
			for _, d := range stored.Days {
				blocks[k].Add(d.Day, d.Tally)
			}
			return err
		})
}

// saveBlocks stores blocks as they are now.
func (tx *Tx) saveBlocks(
	siteID int64, v protection.View, keys []protection.BlockKey, blocks map[protection.BlockKey]*protection.Block,
) error {
	var w where
	rows := make([]string, len(keys))
	for i, k := range keys {
		b := blocks[k]
		rows[i] = w.values(siteID, v.String(), k.Block, k.First, k.Second, k.Currency, k.Standing, k.ValuedIn, b.Sum.Count,
			b.Sum.Amount, b.Sum.End, b.Sum.Start, b.Sum.Locked, b.Sum.LockedEnd, b.Sum.LockedStart, b.Text())
	}
	_, err := tx.exec(`INSERT INTO exposure_blocks (site_id, view, block, first_key, second_key, currency, standing,
			valued_in, counted, amount, by_end, by_start, locked, locked_end, locked_start, days)
		VALUES `+strings.Join(rows, ", ")+`
		ON CONFLICT (site_id, view, block, first_key, second_key, currency, standing, valued_in) DO UPDATE SET
			counted = excluded.counted, amount = excluded.amount, by_end = excluded.by_end, by_start = excluded.by_start,
			locked = excluded.locked, locked_end = excluded.locked_end, locked_start = excluded.locked_start,
			days = excluded.days`, w.args...)
	return err
}

// cellColumns name a cell in the order in which its fields are scanned.
const cellColumns = `first_key, second_key, currency, standing, valued_in`

// ExposureOn calls each for the cells of a view with what counts in them at the end of a day, as known now: from the
// cube, and from the deltas that are not in it yet, so that a cell may come more than once. Where there are channels
// given it is theirs only; the view must know them.
func (tx *Tx) ExposureOn(
	siteID int64, v protection.View, day civil.Day, channels []int64, each func(protection.Cell, protection.Tally),
) error {
	w := cube(siteID, v, channels)
	w.and("block < ?", protection.BlockOf(day))
	err := tx.each(`SELECT `+cellColumns+`, CAST(SUM(counted) AS BIGINT), CAST(SUM(amount) AS BIGINT),
			CAST(SUM(by_end) AS BIGINT), CAST(SUM(by_start) AS BIGINT), CAST(SUM(locked) AS BIGINT),
			CAST(SUM(locked_end) AS BIGINT), CAST(SUM(locked_start) AS BIGINT)
		FROM exposure_blocks WHERE `+w.text.String()+` GROUP BY `+cellColumns, w.args,
		func(scan func(dest ...any) error) error {
			var c protection.Cell
			var t protection.Tally
			err := scan(&c.First, &c.Second, &c.Currency, &c.Standing, &c.ValuedIn, &t.Count, &t.Amount, &t.End, &t.Start,
				&t.Locked, &t.LockedEnd, &t.LockedStart)
			each(c, t)
			return err
		})
	if err != nil {
		return err
	}
	w = cube(siteID, v, channels)
	w.and("block = ?", protection.BlockOf(day))
	err = tx.eachBlock(w, func(c protection.Cell, b protection.Block) { each(c, b.UpTo(day)) })
	if err != nil {
		return err
	}
	return tx.eachUnfolded(siteID, channels, func(d protection.Delta) {
		if t := d.On(day); t != (protection.Tally{}) {
			each(v.CellOf(d.Bucket), t)
		}
	})
}

// ExposureAhead calls each for the changes that the days after one bring to the cells of a view, as known now. Days of a
// cell may come in any order, and more than once.
func (tx *Tx) ExposureAhead(
	siteID int64, v protection.View, day civil.Day, channels []int64,
	each func(protection.Cell, civil.Day, protection.Tally),
) error {
	w := cube(siteID, v, channels)
	w.and("block >= ?", protection.BlockOf(day+1))
	later := func(c protection.Cell) func(civil.Day, protection.Tally) {
		return func(on civil.Day, t protection.Tally) {
			if on > day {
				each(c, on, t)
			}
		}
	}
	err := tx.eachBlock(w, func(c protection.Cell, b protection.Block) {
		take := later(c)
		for _, d := range b.Days {
			take(d.Day, d.Tally)
		}
	})
	if err != nil {
		return err
	}
	return tx.eachUnfolded(siteID, channels, func(d protection.Delta) { d.Changes(later(v.CellOf(d.Bucket))) })
}

// cube picks the blocks of a view.
func cube(siteID int64, v protection.View, channels []int64) *where {
	w := &where{}
	w.and("site_id = ?", siteID)
	w.and("view = ?", v.String())
	if v.First == protection.ByChannel {
		texts := make([]string, len(channels))
		for i, id := range channels {
			texts[i] = strconv.FormatInt(id, 10)
		}
		in(w, "first_key", texts)
	}
	return w
}

func (tx *Tx) eachBlock(w *where, each func(protection.Cell, protection.Block)) error {
	return tx.each(`SELECT `+cellColumns+`, days FROM exposure_blocks WHERE `+w.text.String(), w.args,
		func(scan func(dest ...any) error) error {
			var c protection.Cell
			var days string
			if err := scan(&c.First, &c.Second, &c.Currency, &c.Standing, &c.ValuedIn, &days); err != nil {
				return err
			}
			b, err := protection.ParseBlock(days)
			if err == nil {
				each(c, b)
			}
			return err
		})
}

func (tx *Tx) eachUnfolded(siteID int64, channels []int64, each func(protection.Delta)) error {
	w := &where{}
	w.and("site_id = ?", siteID)
	in(w, "channel_id", channels)
	return tx.each(`SELECT `+deltaColumns+` FROM exposure_deltas WHERE `+w.text.String(), w.args,
		func(scan func(dest ...any) error) error {
			d, err := scanDelta(scan)
			each(d)
			return err
		})
}

// CurrenciesOf lists the currencies that amounts of a site are in: those of its channels and of its collateral.
func (tx *Tx) CurrenciesOf(siteID int64) (list []money.Currency, err error) {
	err = tx.each(`SELECT currencies FROM channels WHERE site_id = $1
		UNION SELECT currency FROM collateral WHERE site_id = $1 ORDER BY 1`, []any{siteID},
		func(scan func(dest ...any) error) error {
			var c money.Currency
			err := scan(&c)
			list = append(list, c)
			return err
		})
	return list, err
}

// noteTotal notes that a locked booking's total is about to change, where it is.
func (tx *Tx) noteTotal(siteID, bookingID, total int64) error {
	var before int64
	err := tx.row(`SELECT total FROM bookings WHERE site_id = $1 AND id = $2`, []any{siteID, bookingID}, &before)
	if errors.Is(err, ErrNotFound) || err == nil && before == total {
		return nil
	}
	if err != nil {
		return err
	}
	return tx.changeRisk(siteID, bookingID, func() error {
		_, err := tx.exec(`INSERT INTO booking_totals (site_id, booking_id, changed_at, total) VALUES ($1, $2, $3, $4)`,
			siteID, bookingID, micros(tx.Now), before)
		return err
	}, func(b *protection.BookingRisk) {
		b.Total = total
		b.Totals = slices.Concat(b.Totals, []protection.TotalChange{{At: tx.Now, Before: before}})
	})
}
