package store

import (
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/protection"
)

// historiesPerPage is how many allocations are read at once with all that became of them: what bounds the memory of a
// report over histories, however many there are.
const historiesPerPage = 1000

// Histories calls each for every allocation of the site with a payment up to the end of a day, in order of their ids, with
// its terms and events in effect by then, as known at an instant; of the given channels only, where there are any.
// Simulated ones are outside every total and left out. A page of allocations is read by one query, the terms and the
// events of its ids by one each: joined, the rows of the two would multiply.
func Histories(
	tx *Tx, siteID int64, day civil.Day, known time.Time, channels []int64, each func(protection.History) error,
) error {
	return historiesBy(tx, historiesPerPage, siteID, day, known, channels, each)
}

func historiesBy(
	tx *Tx, size int, siteID int64, day civil.Day, known time.Time, channels []int64, each func(protection.History) error,
) error {
	for after := int64(0); ; {
		page, err := historiesAfter(tx, size, siteID, after, day, known, channels)
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

func historiesAfter(
	tx *Tx, size int, siteID, after int64, day civil.Day, known time.Time, channels []int64,
) ([]protection.History, error) {
	var w where
	w.and("a.site_id = ?", siteID)
	w.and("a.id > ?", after)
	w.and("a.effective_at <= ?", micros(day.End()))
	w.and("a.recorded_at <= ?", micros(known))
	w.and("NOT a.simulated")
	in(&w, "a.channel_id", channels)
	limit := ` ORDER BY a.id LIMIT ` + w.arg(size)
	allocations, err := allocations(tx, `WHERE `+w.text.String()+limit, w.args...)
	if err != nil || len(allocations) == 0 {
		return nil, err
	}
	page := make([]protection.History, len(allocations))
	byID := make(map[int64]*protection.History, len(page))
	for i, a := range allocations {
		page[i].Allocation = a
		byID[a.ID] = &page[i]
	}
	// Where a filter left allocations out, rows of others lie between those of the page and find nobody.
	args := []any{siteID, page[0].ID, page[len(page)-1].ID, micros(day.End()), micros(known)}
	if err := termsInto(tx, byID, args); err != nil {
		return nil, err
	}
	return page, eventsInto(tx, byID, args)
}

// termsInto reads the terms of a page. The first ones of an allocation count for all time before, so they are read
// whatever they took effect.
func termsInto(tx *Tx, byID map[int64]*protection.History, args []any) error {
	return tx.each(`SELECT t.allocation_id, t.start_day, t.end_day, t.last_day, t.country, t.effective_at, t.recorded_at
		FROM allocation_terms t
		WHERE t.site_id = $1 AND t.allocation_id BETWEEN $2 AND $3 AND t.recorded_at <= $5 AND (t.effective_at <= $4
			OR t.id = (SELECT MIN(f.id) FROM allocation_terms f WHERE f.site_id = t.site_id AND f.allocation_id = t.allocation_id))
		ORDER BY t.allocation_id, t.id`, args,
		func(scan func(dest ...any) error) error {
			var t protection.DatedTerms
			var id, effective, recorded int64
			err := scan(&id, &t.Start, &t.End, &t.LastDay, &t.Country, &effective, &recorded)
			t.EffectiveAt, t.RecordedAt = instant(effective), instant(recorded)
			if h := byID[id]; h != nil {
				h.Terms = append(h.Terms, t)
			}
			return err
		})
}

// eventsInto reads the events of a page, in order of effect.
func eventsInto(tx *Tx, byID map[int64]*protection.History, args []any) error {
	return tx.each(`SELECT allocation_id, transaction_id, kind, amount, effective_at, recorded_at FROM allocation_events
		WHERE site_id = $1 AND allocation_id BETWEEN $2 AND $3 AND effective_at <= $4 AND recorded_at <= $5
		ORDER BY allocation_id, effective_at, recorded_at, id`, args,
		func(scan func(dest ...any) error) error {
			var e protection.Event
			var id, effective, recorded int64
			err := scan(&id, &e.TransactionID, &e.Kind, &e.Amount, &effective, &recorded)
			e.EffectiveAt, e.RecordedAt = instant(effective), instant(recorded)
			if h := byID[id]; h != nil {
				h.Events = append(h.Events, e)
			}
			return err
		})
}
