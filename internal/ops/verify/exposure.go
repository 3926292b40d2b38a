package verify

import (
	"database/sql"
	"encoding/binary"
	"hash/fnv"
	"strconv"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// The buckets of a large book are as many as its payments, so they are not compared one by one. All deltas of a channel
// with the same currency, category and month are added up, and so are products of their amounts with a number derived
// from everything that distinguishes a delta. Two sets of deltas with the same sums and the same products are the same
// set, except with a probability of one in 2^64. The memory only grows with the number of channels and months.

// group is what deltas are added up by.
type group struct {
	channel  int64
	currency money.Currency
	category exposure.Category
	month    string // of the day from which on the delta counts
}

// sums of deltas or of daily changes.
type sums struct {
	count, amount, locked int64
	mark                  uint64
}

func (s *sums) add(d exposure.Delta) {
	s.count, s.amount, s.locked = s.count+d.Count, s.amount+d.Amount, s.locked+d.Locked
	h := fnv.New64a()
	var text []byte
	for _, part := range []string{string(d.Scheme), d.Country, d.Suppliers, string(d.ValuedIn)} {
		text = append(binary.AppendVarint(text, int64(len(part))), part...)
	}
	for _, day := range []civil.Day{d.Day, d.Start, d.End, d.LastDay} {
		text = binary.AppendVarint(text, int64(day))
	}
	_, _ = h.Write(text) // it never fails
	s.mark += spread(h.Sum64(), d.Count, d.Amount, d.Locked)
}

// spread mixes numbers with what they belong to. It is linear in the numbers: parts add up to the whole.
func spread(of uint64, numbers ...int64) (sum uint64) {
	for _, n := range numbers {
		of ^= of >> 31
		of *= 0x9e3779b97f4a7c15
		of ^= of >> 29
		sum += (of | 1) * uint64(n)
	}
	return sum
}

// exposureSums are the deltas that follow from the bookings of a site.
type exposureSums struct {
	from map[group]*sums
}

func newExposureSums() exposureSums { return exposureSums{from: map[group]*sums{}} }

func groupOf(d exposure.Delta) group {
	return group{d.ChannelID, d.Currency, d.Category, d.Day.Month()}
}

func addTo[K comparable](all map[K]*sums, key K) *sums {
	if all[key] == nil {
		all[key] = &sums{}
	}
	return all[key]
}

// should adds the expected values of a booking.
func (e *exposureSums) should(b *booked) error {
	deltas, err := b.risk().Deltas()
	for _, d := range deltas {
		addTo(e.from, groupOf(d)).add(d)
	}
	return err
}

// storedExposure compares the stored deltas with those that follow from the bookings (R7), and the cubes with the stored
// deltas.
func storedExposure(l *look) error {
	stored := map[group]*sums{}
	cubes := map[cubeCell]*sums{}
	at := place{check: "exposure buckets", table: "exposure_buckets"}
	line := l.line(at.check)
	err := l.tx.Query(`SELECT id, first_day, final_day, last_day, counted, deltas, known, final_known FROM exposure_buckets WHERE site_id = $1`,
		[]any{l.site.ID}, func(scan func(dest ...any) error) error {
			var id, counted int64
			var p ledger.Pack
			if err := scan(&id, &p.FirstDay, &p.FinalDay, &p.LastDay, &counted, &p.Deltas, &p.Known, &p.FinalKnown); err != nil {
				return err
			}
			line.Rows++
			l.pack(place{at.check, at.table, id}, p, counted, func(d exposure.Delta) {
				addTo(stored, groupOf(d)).add(d)
				addToCubes(cubes, d)
			})
			return nil
		})
	if err != nil {
		return err
	}
	err = l.tx.Query(`SELECT day, channel_id, currency, scheme, country, suppliers, standing, valued_in, start_day, end_day,
			last_day, counted, amount, locked FROM exposure_deltas WHERE site_id = $1`, []any{l.site.ID},
		func(scan func(dest ...any) error) error {
			var d exposure.Delta
			err := scan(&d.Day, &d.ChannelID, &d.Currency, &d.Scheme, &d.Country, &d.Suppliers, &d.Category, &d.ValuedIn,
				&d.Start, &d.End, &d.LastDay, &d.Count, &d.Amount, &d.Locked)
			addTo(stored, groupOf(d)).add(d)
			line.Rows++
			return err
		})
	if err != nil {
		return err
	}
	if l.unread {
		stored, l.exposure = nil, newExposureSums()
	}
	for g, should := range l.exposure.from {
		l.compareGroup(at.check, g, *addTo(stored, g), *should)
	}
	for g, has := range stored {
		if l.exposure.from[g] == nil {
			l.compareGroup(at.check, g, *has, sums{})
		}
	}
	l.exposure = newExposureSums() // the memory is free again
	return l.cubes(cubes)
}

// compareGroup compares the deltas of a group.
func (l *look) compareGroup(check string, g group, stored, should sums) {
	at := place{check, "exposure_buckets, exposure_deltas of channel", g.channel}
	what := words(string(g.currency), string(g.category), "from", g.month)
	l.compareSums(at, what, stored, should)
}

// compareSums names the first sum that differs.
func (l *look) compareSums(at place, what string, stored, should sums) {
	switch {
	case stored.count != should.count:
		l.wrong(at, words(what, "counted"), stored.count, should.count)
	case stored.amount != should.amount:
		l.wrong(at, words(what, "amount"), stored.amount, should.amount)
	case stored.locked != should.locked:
		l.wrong(at, words(what, "locked"), stored.locked, should.locked)
	case stored.mark != should.mark:
		l.wrong(at, words(what, "days and attributes"), strconv.FormatUint(stored.mark, 16), strconv.FormatUint(should.mark, 16))
	}
}

// pack checks what a pack says about its deltas, and calls each for them.
func (l *look) pack(at place, p ledger.Pack, counted int64, each func(exposure.Delta)) {
	var deltas []exposure.Delta
	err := ledger.EachDelta(p.Deltas, p.Known, func(d exposure.Delta) {
		deltas = append(deltas, d)
		each(d)
	})
	if err != nil || len(deltas) == 0 {
		l.wrong(at, "deltas", "cannot be read", show(counted)+" deltas")
		return
	}
	should := ledger.PackDeltas(deltas)
	same(l, at, "first_day", p.FirstDay, should.FirstDay)
	same(l, at, "final_day", p.FinalDay, should.FinalDay)
	same(l, at, "last_day", p.LastDay, should.LastDay)
	same(l, at, "final_known", p.FinalKnown, should.FinalKnown)
	same(l, at, "counted", counted, int64(len(deltas)))
}

// cubeCell is a cell of a view of the cubes.
type cubeCell struct {
	view exposure.View
	exposure.Cell
}

func addToCubes(cubes map[cubeCell]*sums, d exposure.Delta) {
	for _, v := range exposure.Views {
		cell := addTo(cubes, cubeCell{v, v.CellOf(d.Bucket)})
		d.Changes(func(day civil.Day, t exposure.Tally) { cell.addDay(day, t) })
	}
}

// addDay adds the change of a day. Amounts that come in and go out again cancel out, so only the mark shows them.
func (s *sums) addDay(day civil.Day, t exposure.Tally) {
	s.mark += spread(uint64(day)*0xbf58476d1ce4e5b9+1, t.Count, t.Amount, t.End, t.Start, t.Locked, t.LockedEnd, t.LockedStart)
}

// cubes compares the cubes with the deltas that are folded.
func (l *look) cubes(should map[cubeCell]*sums) error {
	at := place{check: "exposure cubes", table: "exposure_cells"}
	line := l.line(at.check)
	cells, ids := map[int64]cubeCell{}, map[cubeCell]int64{}
	err := l.tx.Query(`SELECT id, view, first_key, second_key, currency, standing, valued_in FROM exposure_cells
		WHERE site_id = $1`, []any{l.site.ID}, func(scan func(dest ...any) error) error {
		var id int64
		var view string
		var c cubeCell
		err := scan(&id, &view, &c.First, &c.Second, &c.Currency, &c.Category, &c.ValuedIn)
		for _, v := range exposure.Views {
			if v.String() == view {
				c.view = v
			}
		}
		cells[id], ids[c] = c, id
		return err
	})
	if err != nil {
		return err
	}
	stored := map[cubeCell]*sums{}
	err = l.tx.Query(`SELECT view, block, cell, counted, amount, by_end, by_start, locked, locked_end, locked_start, days
		FROM exposure_blocks WHERE site_id = $1`, []any{l.site.ID}, func(scan func(dest ...any) error) error {
		var view string
		var block, cell int64
		var sum exposure.Tally
		var days sql.RawBytes
		err := scan(&view, &block, &cell, &sum.Count, &sum.Amount, &sum.End, &sum.Start, &sum.Locked, &sum.LockedEnd,
			&sum.LockedStart, &days)
		if err != nil {
			return err
		}
		line.Rows++
		of, known := cells[cell]
		var added exposure.Tally
		unread := ledger.EachDay(days, func(day civil.Day, t exposure.Tally) {
			added.Add(t)
			if exposure.BlockOf(day) == block {
				addTo(stored, of).addDay(day, t)
			}
		})
		if unread != nil || added != sum || !known || of.view.String() != view {
			l.wrong(place{at.check, "exposure_blocks of cell", cell}, words(view, "block", show(block)), sum, added)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for c, s := range should {
		l.compareSums(place{at.check, at.table, ids[c]}, cellText(c), *addTo(stored, c), *s)
	}
	for c, s := range stored {
		if should[c] == nil {
			l.compareSums(place{at.check, at.table, ids[c]}, cellText(c), *s, sums{})
		}
	}
	return nil
}

func cellText(c cubeCell) string {
	return words(c.view.String(), c.First, c.Second, string(c.Currency), string(c.Category), string(c.ValuedIn))
}

// Queries over all rows of a table neither group nor sort: SQLite would hold all rows in memory.
const (
	allLimitLines  = `SELECT channel_id, currency, amount FROM limit_lines WHERE site_id = $1`
	allStatedLines = `SELECT l.channel_id, l.currency FROM statement_progress p
			JOIN premium_lines l ON l.site_id = p.site_id AND l.channel_id = p.channel_id AND l.recorded_at < p.covered_until
		WHERE p.site_id = $1 AND NOT l.simulated`
)

// limitUses: the running use of each channel and of the site is the sum of its lines (R12).
func limitUses(l *look) error {
	type use struct {
		scope    protection.LimitScope
		object   int64
		currency money.Currency
	}
	at := place{check: "limit uses", table: "limit_uses"}
	line := l.line(at.check)
	should, stored := map[use]int64{}, map[use]int64{}
	err := l.tx.Query(allLimitLines, []any{l.site.ID}, func(scan func(dest ...any) error) error {
		u := use{scope: protection.LimitChannel}
		var amount int64
		err := scan(&u.object, &u.currency, &amount)
		should[u] += amount
		should[use{protection.LimitSite, 0, u.currency}] += amount
		line.Rows++
		return err
	})
	if err != nil {
		return err
	}
	err = l.tx.Query(`SELECT scope, object_id, currency, amount FROM limit_uses
		WHERE site_id = $1 AND scope IN ('channel', 'site')`, []any{l.site.ID}, func(scan func(dest ...any) error) error {
		var u use
		var amount int64
		err := scan(&u.scope, &u.object, &u.currency, &amount)
		stored[u] = amount
		should[u] += 0
		return err
	})
	for u, sum := range should {
		same(l, place{at.check, at.table, u.object}, words(string(u.scope), string(u.currency), "amount"), stored[u], sum)
	}
	return err
}
