package ledger

import (
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// cellColumns are the columns of a cell, in the order in which cells reads them.
const cellColumns = `id, first_key, second_key, currency, standing, valued_in`

// cells runs a query that returns cells, and calls each with every cell and its id.
func cells(tx *store.Tx, query string, args []any, each func(exposure.Cell, int64)) error {
	return tx.Query(query, args, func(scan func(dest ...any) error) error {
		var c exposure.Cell
		var id int64
		err := scan(&id, &c.First, &c.Second, &c.Currency, &c.Category, &c.ValuedIn)
		each(c, id)
		return err
	})
}

// eachCell calls each for the cells of a view. If channels are given, it reads theirs only; the first key of the view's
// cells must then be the channel.
func eachCell(tx *store.Tx, siteID int64, v exposure.View, channels []int64, each func(exposure.Cell, int64)) error {
	w := &sqltext.Where{}
	w.And("site_id = ?", siteID)
	w.And("view = ?", v.String())
	texts := make([]string, len(channels))
	for i, id := range channels {
		texts[i] = strconv.FormatInt(id, 10)
	}
	sqltext.In(w, "first_key", texts)
	return cells(tx, `SELECT `+cellColumns+` FROM exposure_cells WHERE `+w.Text.String(), w.Args, each)
}

// Reading says which part of the buckets a report reads: of a site, at the end of a day, as known at an instant. If
// channels are given, it is theirs only; the first key of the cells of a view must then be the channel.
type Reading struct {
	SiteID   int64
	Day      civil.Day
	Known    time.Time // zero: everything known now
	Channels []int64
}

// known reports whether a delta was recorded by the instant of the report.
func (r Reading) known(d exposure.Delta) bool {
	return r.Known.IsZero() || d.Known <= store.Micros(r.Known)
}

// KnownSince is the earliest known_at for which the buckets of a site can be used: reports as known earlier read the
// allocations. It is zero unless the site is older than the buckets.
func KnownSince(tx *store.Tx, siteID int64) (time.Time, error) {
	var since int64
	err := tx.QueryRow(`SELECT known_since FROM exposure_folds WHERE site_id = $1`, []any{siteID}, &since)
	if errors.Is(err, store.ErrNotFound) || err == nil && since == 0 {
		return time.Time{}, nil
	}
	return store.Instant(since), err
}

// LaterPacks counts the packs with changes that were recorded after the instant of a report, and those without.
func LaterPacks(tx *store.Tx, r Reading) (later, others int64, err error) {
	if r.Known.IsZero() {
		return 0, 0, nil
	}
	err = tx.QueryRow(`SELECT COALESCE(SUM(CASE WHEN final_known > $2 THEN 1 ELSE 0 END), 0),
			COALESCE(SUM(CASE WHEN final_known > $2 THEN 0 ELSE 1 END), 0)
		FROM exposure_buckets WHERE site_id = $1`, []any{r.SiteID, store.Micros(r.Known)}, &later, &others)
	return later, others, err
}

// ExposureOn calls each for the cells of some views, with the tally of a cell on the day. It reads the cubes, takes out
// what was recorded later, and adds the deltas that are not folded yet. So a cell may be reported more than once: add
// its tallies.
func ExposureOn(
	tx *store.Tx, r Reading, views []exposure.View, each func(exposure.View, exposure.Cell, exposure.Tally),
) error {
	for _, v := range views {
		err := foldedOn(tx, r, v, func(c exposure.Cell, t exposure.Tally) { each(v, c, t) })
		if err != nil {
			return err
		}
	}
	add := func(d exposure.Delta) {
		if t := d.On(r.Day); t != (exposure.Tally{}) {
			for _, v := range views {
				each(v, v.CellOf(d.Bucket), t)
			}
		}
	}
	if !r.Known.IsZero() {
		err := eachKept(tx, r, `final_known > $2`, store.Micros(r.Known), func(d exposure.Delta) {
			if !r.known(d) { // the cubes have it
				add(d.Negative())
			}
		})
		if err != nil {
			return err
		}
	}
	return eachUnfolded(tx, r, add)
}

func foldedOn(tx *store.Tx, r Reading, v exposure.View, each func(exposure.Cell, exposure.Tally)) error {
	sums := map[int64]*exposure.Tally{}
	cells := map[int64]exposure.Cell{}
	err := eachCell(tx, r.SiteID, v, r.Channels, func(c exposure.Cell, id int64) {
		cells[id], sums[id] = c, &exposure.Tally{}
	})
	if err != nil {
		return err
	}
	args := []any{r.SiteID, v.String(), exposure.BlockOf(r.Day)}
	err = tx.Query(`SELECT cell, CAST(SUM(counted) AS BIGINT), CAST(SUM(amount) AS BIGINT), CAST(SUM(by_end) AS BIGINT),
			CAST(SUM(by_start) AS BIGINT), CAST(SUM(locked) AS BIGINT), CAST(SUM(locked_end) AS BIGINT),
			CAST(SUM(locked_start) AS BIGINT)
		FROM exposure_blocks WHERE site_id = $1 AND view = $2 AND block < $3 GROUP BY cell`, args,
		func(scan func(dest ...any) error) error {
			var id int64
			var t exposure.Tally
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
		return EachDay(days, func(on civil.Day, t exposure.Tally) {
			if on <= r.Day {
				sum.Add(t)
			}
		})
	})
	for id, sum := range sums {
		each(cells[id], *sum)
	}
	return err
}

// ExposureAhead returns the changes of the cells of a view on later days due to the passing of time alone. Whatever
// starts to count on a later day is left out. For each cell, of returns the function that takes its changes, or nil if
// none shall take them. The days of a cell come in any order and may repeat. For a day in the past, or an earlier
// known_at, it reads everything that has happened since.
func ExposureAhead(
	tx *store.Tx, r Reading, v exposure.View, of func(exposure.Cell) func(civil.Day, exposure.Tally),
) error {
	byID := map[int64]func(civil.Day, exposure.Tally){}
	byCell := map[exposure.Cell]func(civil.Day, exposure.Tally){}
	err := eachCell(tx, r.SiteID, v, r.Channels, func(c exposure.Cell, id int64) {
		byCell[c] = of(c)
		byID[id] = byCell[c]
	})
	if err != nil {
		return err
	}
	err = blocks(tx, `block >= $3`, []any{r.SiteID, v.String(), 0}, func(id int64, days []byte) error {
		if take := byID[id]; take != nil {
			return EachDay(days, take)
		}
		return nil
	})
	if err != nil {
		return err
	}
	changes := func(d exposure.Delta) {
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
	takeOut := func(d exposure.Delta) {
		if d.Day > r.Day || !r.known(d) { // the cube has it
			changes(d.Negative())
		}
	}
	if r.Known.IsZero() {
		err = eachKept(tx, r, `final_day > $2`, int64(r.Day), takeOut)
	} else {
		err = eachKept(tx, r, `(final_day > $2 OR final_known > $3)`, int64(r.Day), takeOut)
	}
	if err != nil {
		return err
	}
	return eachUnfolded(tx, r, func(d exposure.Delta) {
		if d.Day <= r.Day {
			changes(d)
		}
	})
}

// BucketsOn calls each for the changes of buckets that count on the day. A bucket may come more than once: add its changes.
func BucketsOn(tx *store.Tx, r Reading, each func(exposure.Delta)) error {
	counts := func(d exposure.Delta) {
		if d.Day <= r.Day && r.Day <= d.LastDay && r.known(d) {
			each(d)
		}
	}
	if err := eachKept(tx, r, `first_day <= $2 AND last_day >= $2`, int64(r.Day), counts); err != nil {
		return err
	}
	return eachUnfolded(tx, r, counts)
}

// blocks reads the blocks of a view that meet a condition on $3.
func blocks(tx *store.Tx, condition string, args []any, each func(cell int64, days []byte) error) error {
	return tx.Query(`SELECT cell, days FROM exposure_blocks WHERE site_id = $1 AND view = $2 AND `+condition, args,
		func(scan func(dest ...any) error) error {
			var id int64
			var days sql.RawBytes // valid until the next row is read
			if err := scan(&id, &days); err != nil {
				return err
			}
			return each(id, days)
		})
}

// eachKept reads the deltas in the packs that meet a condition. $2 in it is the given number, $3 the instant of the
// report. The deltas have their recording times if the report needs them.
func eachKept(tx *store.Tx, r Reading, condition string, number int64, each func(exposure.Delta)) error {
	picked := map[int64]bool{}
	for _, id := range r.Channels {
		picked[id] = true
	}
	columns, args := `deltas, ''`, []any{r.SiteID, number}
	if !r.Known.IsZero() {
		columns = `deltas, known`
	}
	if strings.Contains(condition, "$3") {
		args = append(args, store.Micros(r.Known))
	}
	return tx.Query(`SELECT `+columns+` FROM exposure_buckets WHERE site_id = $1 AND `+condition, args,
		func(scan func(dest ...any) error) error {
			var packed, known sql.RawBytes
			if err := scan(&packed, &known); err != nil {
				return err
			}
			return EachDelta(packed, known, func(d exposure.Delta) {
				if len(picked) == 0 || picked[d.ChannelID] {
					each(d)
				}
			})
		})
}

// eachUnfolded reads the deltas that are not folded yet and were known at the instant of the report.
func eachUnfolded(tx *store.Tx, r Reading, each func(exposure.Delta)) error {
	w := &sqltext.Where{}
	w.And("site_id = ?", r.SiteID)
	sqltext.In(w, "channel_id", r.Channels)
	return tx.Query(`SELECT `+deltaColumns+` FROM exposure_deltas WHERE `+w.Text.String(), w.Args,
		func(scan func(dest ...any) error) error {
			d, err := scanDelta(scan)
			if err == nil && r.known(d) {
				each(d)
			}
			return err
		})
}

// CurrenciesOf lists the currencies of a site's amounts, in order: those of its channels, collateral and policies.
func CurrenciesOf(tx *store.Tx, siteID int64) (list []money.Currency, err error) {
	err = tx.Query(`SELECT currencies FROM channels WHERE site_id = $1
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
