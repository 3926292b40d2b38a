package ledger

import (
	"cmp"
	"slices"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// historiesPerPage is how many allocations are read per batch, with their terms and events. It bounds the memory of a
// report, however many allocations there are.
const historiesPerPage = 1000

// Histories calls each for every allocation of the site that was paid up to the end of a day, in order of their ids.
// Each has its terms and events that took effect by then, as known at an instant. If channels are given, only theirs
// are read. Simulated allocations count in no total and are left out. A page of allocations is read by one query, their
// terms by a second and their events by a third one: in a join, the rows of terms and events would multiply.
func Histories(
	tx *store.Tx, siteID int64, day civil.Day, known time.Time, channels []int64, each func(protection.History) error,
) error {
	return HistoriesInPages(tx, historiesPerPage, siteID, day, known, channels, each)
}

// HistoriesInPages is Histories with a page size of the caller's own. Tests use small pages.
func HistoriesInPages(
	tx *store.Tx, size int, siteID int64, day civil.Day, known time.Time, channels []int64, each func(protection.History) error,
) error {
	for after := int64(0); ; {
		page, err := HistoriesAfter(tx, size, siteID, after, day, known, channels)
		if err != nil {
			return err
		}
		for _, h := range page {
			if err := each(h); err != nil {
				return err
			}
		}
		if len(page) < size {
			return nil
		}
		after = page[len(page)-1].ID
	}
}

// HistoriesAfter is a page of Histories: the allocations with ids greater than after, at most limit of them.
func HistoriesAfter(
	tx *store.Tx, limit int, siteID, after int64, day civil.Day, known time.Time, channels []int64,
) ([]protection.History, error) {
	var w sqltext.Where
	w.And("a.site_id = ?", siteID)
	w.And("a.id > ?", after)
	w.And("+a.effective_at <= ?", store.Micros(day.End())) // "+": SQLite does not take the index of this column
	w.And("a.recorded_at <= ?", store.Micros(known))
	w.And("NOT a.simulated")
	sqltext.In(&w, "a.channel_id", channels)
	end := ` ORDER BY a.id LIMIT ` + w.Arg(limit)
	allocations, err := allocations(tx, `WHERE `+w.Text.String()+end, w.Args...)
	if err != nil || len(allocations) == 0 {
		return nil, err
	}
	page := make([]protection.History, len(allocations))
	byID := make(map[int64]*protection.History, len(page))
	for i, a := range allocations {
		page[i].Allocation = a
		byID[a.ID] = &page[i]
	}
	// With a filter, this range of ids also finds rows of other allocations. They are not in byID and are dropped.
	args := []any{siteID, page[0].ID, page[len(page)-1].ID, store.Micros(day.End()), store.Micros(known)}
	// The first terms of an allocation also count for all earlier times, so they are always read.
	err = readTerms(tx, byID, `allocation_terms t
		WHERE t.site_id = $1 AND t.allocation_id BETWEEN $2 AND $3 AND t.recorded_at <= $5 AND (t.effective_at <= $4
			OR t.id = (SELECT MIN(f.id) FROM allocation_terms f WHERE f.site_id = $1 AND f.allocation_id = t.allocation_id))`,
		args)
	if err != nil {
		return nil, err
	}
	return page, readEvents(tx, byID, `allocation_events e
		WHERE e.site_id = $1 AND e.allocation_id BETWEEN $2 AND $3 AND +e.effective_at <= $4 AND e.recorded_at <= $5`, args)
}

// HistoriesBetween calls each for the allocations to which something happened on the days after one and up to another, in
// order of their ids, as Histories gives them: which were paid, whose cover began, or which have terms or events of these
// days. It begins with the cover when the payment takes effect, or when it and its first terms are recorded.
func HistoriesBetween(
	tx *store.Tx, siteID int64, from, day civil.Day, known time.Time, channels []int64, each func(protection.History) error,
) error {
	ids, err := store.Ids(tx, `SELECT id FROM allocations WHERE site_id = $1 AND effective_at > $2 AND effective_at <= $3
		UNION SELECT allocation_id FROM allocation_terms WHERE site_id = $1 AND effective_at > $2 AND effective_at <= $3
		UNION SELECT allocation_id FROM allocation_events WHERE site_id = $1 AND effective_at > $2 AND effective_at <= $3
		ORDER BY 1`, siteID, store.Micros(from.End()), store.Micros(day.End()))
	if err != nil {
		return err
	}
	for page := range slices.Chunk(ids, historiesPerPage) {
		list, err := historiesIn(tx, siteID, "a.id", page, day, known, channels)
		if err != nil {
			return err
		}
		for _, h := range list {
			if err := each(h); err != nil {
				return err
			}
		}
	}
	return nil
}

// historiesIn gives the allocations with the given ids in a column.
func historiesIn(
	tx *store.Tx, siteID int64, column string, ids []int64, day civil.Day, known time.Time, channels []int64,
) ([]protection.History, error) {
	var w sqltext.Where
	w.And("a.site_id = ?", siteID)
	sqltext.In(&w, column, ids)
	w.And("+a.effective_at <= ?", store.Micros(day.End())) // "+": SQLite does not take the index of this column
	w.And("a.recorded_at <= ?", store.Micros(known))
	w.And("NOT a.simulated")
	sqltext.In(&w, "a.channel_id", channels)
	allocations, err := allocations(tx, `WHERE `+w.Text.String(), w.Args...)
	if err != nil || len(allocations) == 0 {
		return nil, err
	}
	// With an ORDER BY, SQLite may go through all allocations of the site instead of sorting a few.
	slices.SortFunc(allocations, func(a, b protection.Allocation) int { return cmp.Compare(a.ID, b.ID) })
	page := make([]protection.History, len(allocations))
	byID := make(map[int64]*protection.History, len(page))
	found := make([]int64, len(page))
	for i, a := range allocations {
		page[i].Allocation, found[i] = a, a.ID
		byID[a.ID] = &page[i]
	}
	w = sqltext.Where{}
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "allocation_id", found)
	w.And("recorded_at <= ?", store.Micros(known))
	if err := readTerms(tx, byID, "allocation_terms t WHERE "+w.Text.String(), w.Args); err != nil {
		return nil, err
	}
	for i := range page { // the first terms also count for all earlier times
		h, place := &page[i], 0
		h.Terms = slices.DeleteFunc(h.Terms, func(t protection.DatedTerms) bool {
			place++
			return place > 1 && t.EffectiveAt.After(day.End())
		})
	}
	w.And("+effective_at <= ?", store.Micros(day.End()))
	return page, readEvents(tx, byID, "allocation_events e WHERE "+w.Text.String(), w.Args)
}

// historiesOf reads the terms and events of allocations.
func historiesOf(tx *store.Tx, siteID int64, list []protection.Allocation) ([]protection.History, error) {
	page := make([]protection.History, len(list))
	for i, a := range list {
		page[i].Allocation = a
	}
	for batch := range slices.Chunk(page, historiesPerPage) {
		byID := make(map[int64]*protection.History, len(batch))
		var ids []int64
		for i := range batch {
			byID[batch[i].ID] = &batch[i]
			ids = append(ids, batch[i].ID)
		}
		slices.Sort(ids)
		var w sqltext.Where
		w.And("site_id = ?", siteID)
		sqltext.In(&w, "allocation_id", ids)
		err := readTerms(tx, byID, "allocation_terms t WHERE "+w.Text.String(), w.Args)
		if err != nil {
			return nil, err
		}
		if err := readEvents(tx, byID, "allocation_events e WHERE "+w.Text.String(), w.Args); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// HistoriesOfBookings reads the allocations of the bookings with ids from first to last, simulated ones too, each with all
// its terms and events. They are in order of their ids.
func HistoriesOfBookings(tx *store.Tx, siteID, first, last int64) ([]protection.History, error) {
	list, err := allocations(tx, `WHERE a.site_id = $1 AND a.booking_id BETWEEN $2 AND $3 ORDER BY a.id`, siteID, first, last)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return historiesOf(tx, siteID, list)
}

// PremiumOfBookings reads the premium lines of the bookings with ids from first to last, by the ids of their allocations.
// Each list is in the order in which the lines were booked.
func PremiumOfBookings(tx *store.Tx, siteID, first, last int64) (map[int64][]protection.PremiumLine, error) {
	lines := map[int64][]protection.PremiumLine{}
	err := tx.Query(`SELECT `+premiumColumns+` FROM premium_lines WHERE site_id = $1 AND booking_id BETWEEN $2 AND $3
		ORDER BY id`, []any{siteID, first, last}, func(scan func(dest ...any) error) error {
		l, err := scanPremium(scan)
		lines[l.AllocationID] = append(lines[l.AllocationID], l)
		return err
	})
	return lines, err
}

// HistoriesWithIDs reads the allocations with the given ids and those of the given transactions, in order of their ids,
// each once. Each has all its terms and events. The number of queries does not grow with the number of allocations.
func HistoriesWithIDs(tx *store.Tx, siteID int64, ids, transactions []int64) ([]protection.History, error) {
	var all []protection.Allocation
	for _, by := range []struct {
		column string
		values []int64
	}{{"a.id", ids}, {"a.transaction_id", transactions}} {
		if len(by.values) == 0 {
			continue
		}
		var w sqltext.Where
		w.And("a.site_id = ?", siteID)
		sqltext.In(&w, by.column, by.values)
		list, err := allocations(tx, `WHERE `+w.Text.String()+` ORDER BY a.id`, w.Args...)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b protection.Allocation) int { return cmp.Compare(a.ID, b.ID) })
	all = slices.CompactFunc(all, func(a, b protection.Allocation) bool { return a.ID == b.ID })
	return historiesOf(tx, siteID, all)
}

// numbered is a row with its id. The ids are in the order of recording.
type numbered[T any] struct {
	id  int64
	row T
}

// readTerms reads terms from a source and adds them to their allocations, in order of recording. It sorts them itself:
// with an ORDER BY, SQLite reads all terms of the site instead of sorting a few.
func readTerms(tx *store.Tx, byID map[int64]*protection.History, source string, args []any) error {
	found := map[int64][]numbered[protection.DatedTerms]{}
	err := tx.Query(`SELECT t.allocation_id, t.id, t.start_day, t.end_day, t.last_day, t.country, t.suppliers,
		t.effective_at, t.recorded_at FROM `+source, args,
		func(scan func(dest ...any) error) error {
			var t protection.DatedTerms
			var allocation, id, effective, recorded int64
			err := scan(&allocation, &id, &t.Start, &t.End, &t.LastDay, &t.Country, &t.Suppliers, &effective, &recorded)
			t.EffectiveAt, t.RecordedAt = store.Instant(effective), store.Instant(recorded)
			found[allocation] = append(found[allocation], numbered[protection.DatedTerms]{id, t})
			return err
		})
	for allocation, rows := range found {
		if h := byID[allocation]; h != nil {
			slices.SortFunc(rows, func(a, b numbered[protection.DatedTerms]) int { return cmp.Compare(a.id, b.id) })
			for _, r := range rows {
				h.Terms = append(h.Terms, r.row)
			}
		}
	}
	return err
}

// readEvents reads events from a source and adds them to their allocations, in order of effect.
func readEvents(tx *store.Tx, byID map[int64]*protection.History, source string, args []any) error {
	found := map[int64][]numbered[protection.Event]{}
	err := tx.Query(`SELECT e.allocation_id, e.id, e.transaction_id, e.kind, e.amount, e.effective_at, e.recorded_at
		FROM `+source, args,
		func(scan func(dest ...any) error) error {
			var e protection.Event
			var allocation, id, effective, recorded int64
			err := scan(&allocation, &id, &e.TransactionID, &e.Kind, &e.Amount, &effective, &recorded)
			e.EffectiveAt, e.RecordedAt = store.Instant(effective), store.Instant(recorded)
			found[allocation] = append(found[allocation], numbered[protection.Event]{id, e})
			return err
		})
	for allocation, rows := range found {
		if h := byID[allocation]; h != nil {
			slices.SortFunc(rows, func(a, b numbered[protection.Event]) int { return cmp.Compare(a.id, b.id) })
			for _, r := range rows {
				h.Learn(r.row)
			}
		}
	}
	return err
}

// historyOfOne reads all terms and events of one allocation.
func historyOfOne(tx *store.Tx, siteID, allocationID int64) (h protection.History, err error) {
	byID, args := map[int64]*protection.History{allocationID: &h}, []any{siteID, allocationID}
	err = readTerms(tx, byID, "allocation_terms t WHERE t.site_id = $1 AND t.allocation_id = $2", args)
	if err != nil {
		return h, err
	}
	err = readEvents(tx, byID, "allocation_events e WHERE e.site_id = $1 AND e.allocation_id = $2", args)
	return h, err
}
