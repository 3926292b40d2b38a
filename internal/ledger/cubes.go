package ledger

import (
	"database/sql"
	"strconv"

	"holdfast/internal/civil"
	"holdfast/internal/db"
	"holdfast/internal/money"
	"holdfast/internal/protection"
)

// cellColumns are the columns of a cell, in the order in which cells reads them.
const cellColumns = `id, first_key, second_key, currency, standing, valued_in`

// cells runs a query that returns cells, and calls each with every cell and its id.
func cells(tx *db.Tx, query string, args []any, each func(protection.Cell, int64)) error {
	return tx.Each(query, args, func(scan func(dest ...any) error) error {
		var c protection.Cell
		var id int64
		err := scan(&id, &c.First, &c.Second, &c.Currency, &c.Standing, &c.ValuedIn)
		each(c, id)
		return err
	})
}

// eachCell calls each for the cells of a view. If channels are given, it reads theirs only; the first key of the view's
// cells must then be the channel.
func eachCell(tx *db.Tx, siteID int64, v protection.View, channels []int64, each func(protection.Cell, int64)) error {
	w := &db.Where{}
	w.And("site_id = ?", siteID)
	w.And("view = ?", v.String())
	texts := make([]string, len(channels))
	for i, id := range channels {
		texts[i] = strconv.FormatInt(id, 10)
	}
	db.In(w, "first_key", texts)
	return cells(tx, `SELECT `+cellColumns+` FROM exposure_cells WHERE `+w.Text.String(), w.Args, each)
}

// ExposureOn calls each for the cells of some views, with the tally of a cell at the end of a day, as known now. It reads
// the cubes and the deltas that are not folded yet, so a cell may come more than once: add its tallies. If channels are
// given, it reads theirs only; the first key of the views' cells must then be the channel.
func ExposureOn(
	tx *db.Tx, siteID int64, views []protection.View, day civil.Day, channels []int64,
	each func(protection.View, protection.Cell, protection.Tally),
) error {
	for _, v := range views {
		err := foldedOn(tx, siteID, v, day, channels, func(c protection.Cell, t protection.Tally) { each(v, c, t) })
		if err != nil {
			return err
		}
	}
	return eachUnfolded(tx, siteID, channels, func(d protection.Delta) {
		if t := d.On(day); t != (protection.Tally{}) {
			for _, v := range views {
				each(v, v.CellOf(d.Bucket), t)
			}
		}
	})
}

func foldedOn(
	tx *db.Tx, siteID int64, v protection.View, day civil.Day, channels []int64, each func(protection.Cell, protection.Tally),
) error {
	sums := map[int64]*protection.Tally{}
	cells := map[int64]protection.Cell{}
	err := eachCell(tx, siteID, v, channels, func(c protection.Cell, id int64) {
		cells[id], sums[id] = c, &protection.Tally{}
	})
	if err != nil {
		return err
	}
	args := []any{siteID, v.String(), protection.BlockOf(day)}
	err = tx.Each(`SELECT cell, CAST(SUM(counted) AS BIGINT), CAST(SUM(amount) AS BIGINT), CAST(SUM(by_end) AS BIGINT),
			CAST(SUM(by_start) AS BIGINT), CAST(SUM(locked) AS BIGINT), CAST(SUM(locked_end) AS BIGINT),
			CAST(SUM(locked_start) AS BIGINT)
		FROM exposure_blocks WHERE site_id = $1 AND view = $2 AND block < $3 GROUP BY cell`, args,
		func(scan func(dest ...any) error) error {
			var id int64
			var t protection.Tally
			err := scan(&id, &t.Count, &t.Amount, &t.End, &t.Start, &t.Locked, &t.LockedEnd, &t.LockedStart)
			if sum := sums[id]; sum != nil {
				sum.Add(t)
			}
			return err
		})
	if err != nil {
		return err
	}
	err = blocks(tx, `block = $3`, args, func(id int64, days []byte) error {
		sum := sums[id]
		if sum == nil {
			return nil
		}
		return protection.EachDay(days, func(on civil.Day, t protection.Tally) {
			if on <= day {
				sum.Add(t)
			}
		})
	})
	for id, sum := range sums {
		each(cells[id], *sum)
	}
	return err
}

// ExposureAhead gives the changes of the cells of a view on all days, as time alone makes them after the given day. What
// begins to count on a later day is left out. For each cell, of returns the function that takes its changes, or nil if
// none shall take them. The days of a cell come in any order, and may come more than once.
func ExposureAhead(
	tx *db.Tx, siteID int64, v protection.View, day civil.Day, channels []int64,
	of func(protection.Cell) func(civil.Day, protection.Tally),
) error {
	if day < civil.DayOf(tx.Now) { // it reads the deltas since then; from today on there are none
		if err := tx.Long(); err != nil {
			return err
		}
	}
	byID := map[int64]func(civil.Day, protection.Tally){}
	byCell := map[protection.Cell]func(civil.Day, protection.Tally){}
	err := eachCell(tx, siteID, v, channels, func(c protection.Cell, id int64) {
		byCell[c] = of(c)
		byID[id] = byCell[c]
	})
	if err != nil {
		return err
	}
	err = blocks(tx, `block >= $3`, []any{siteID, v.String(), 0}, func(id int64, days []byte) error {
		if take := byID[id]; take != nil {
			return protection.EachDay(days, take)
		}
		return nil
	})
	if err != nil {
		return err
	}
	changes := func(d protection.Delta) {
		c := v.CellOf(d.Bucket)
		take, known := byCell[c]
		if !known {
			take = of(c)
			byCell[c] = take
		}
		if take != nil {
			d.Changes(take)
		}
	}
	err = eachKept(tx, siteID, `final_day > $2`, day, channels, func(d protection.Delta) {
		if d.Day > day { // the cube has it
			changes(d.Negative())
		}
	})
	if err != nil {
		return err
	}
	return eachUnfolded(tx, siteID, channels, func(d protection.Delta) {
		if d.Day <= day {
			changes(d)
		}
	})
}

// BucketsOn calls each for the changes of buckets that count at the end of a day, as known now. If channels are given, it
// reads theirs only. A bucket may come more than once: add its changes.
func BucketsOn(tx *db.Tx, siteID int64, day civil.Day, channels []int64, each func(protection.Delta)) error {
	if err := tx.Long(); err != nil {
		return err
	}
	counts := func(d protection.Delta) {
		if d.Day <= day && day <= d.LastDay {
			each(d)
		}
	}
	if err := eachKept(tx, siteID, `first_day <= $2 AND last_day >= $2`, day, channels, counts); err != nil {
		return err
	}
	return eachUnfolded(tx, siteID, channels, counts)
}

// blocks reads the blocks of a view that meet a condition on $3.
func blocks(tx *db.Tx, condition string, args []any, each func(cell int64, days []byte) error) error {
	return tx.Each(`SELECT cell, days FROM exposure_blocks WHERE site_id = $1 AND view = $2 AND `+condition, args,
		func(scan func(dest ...any) error) error {
			var id int64
			var days sql.RawBytes // valid until the next row is read
			if err := scan(&id, &days); err != nil {
				return err
			}
			return each(id, days)
		})
}

// eachKept reads the deltas in the packs that meet a condition on a day, $2.
func eachKept(
	tx *db.Tx, siteID int64, condition string, day civil.Day, channels []int64, each func(protection.Delta),
) error {
	picked := map[int64]bool{}
	for _, id := range channels {
		picked[id] = true
	}
	return tx.Each(`SELECT deltas FROM exposure_buckets WHERE site_id = $1 AND `+condition, []any{siteID, day},
		func(scan func(dest ...any) error) error {
			var packed sql.RawBytes
			if err := scan(&packed); err != nil {
				return err
			}
			return protection.EachDelta(packed, func(d protection.Delta) {
				if len(picked) == 0 || picked[d.ChannelID] {
					each(d)
				}
			})
		})
}

func eachUnfolded(tx *db.Tx, siteID int64, channels []int64, each func(protection.Delta)) error {
	w := &db.Where{}
	w.And("site_id = ?", siteID)
	db.In(w, "channel_id", channels)
	return tx.Each(`SELECT `+deltaColumns+` FROM exposure_deltas WHERE `+w.Text.String(), w.Args,
		func(scan func(dest ...any) error) error {
			d, err := scanDelta(scan)
			each(d)
			return err
		})
}

// CurrenciesOf lists the currencies of a site's amounts, in order: those of its channels, collateral and policies.
func CurrenciesOf(tx *db.Tx, siteID int64) (list []money.Currency, err error) {
	err = tx.Each(`SELECT currencies FROM channels WHERE site_id = $1
		UNION SELECT currency FROM collateral WHERE site_id = $1
		UNION SELECT currency FROM policies WHERE site_id = $1 ORDER BY 1`, []any{siteID},
		func(scan func(dest ...any) error) error {
			var c money.Currency
			err := scan(&c)
			list = append(list, c)
			return err
		})
	return list, err
}
