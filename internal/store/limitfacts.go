package store

import (
	"database/sql"
	"slices"

	"holdfast/internal/civil"
	"holdfast/internal/protection"
)

// LimitFacts is an allocation with all that its use rests on, and what it adds to the running use so far.
type LimitFacts struct {
	Allocation protection.Allocation
	History    []protection.DatedTerms
	Events     []protection.Event
	Line       LimitLine
}

// FactsOf reads allocations of a site by their ids, under these, and those of the given payments too: a statement for
// each kind of fact and not for each allocation, because a job settles many at once.
func FactsOf(tx *Tx, siteID int64, ids, payments []int64) (map[int64]*LimitFacts, error) {
	facts := map[int64]*LimitFacts{}
	for column, values := range map[string][]int64{"a.id": ids, "a.transaction_id": payments} {
		if len(values) == 0 {
			continue
		}
		var w where
		w.and("a.site_id = ?", siteID)
		in(&w, column, values)
		list, err := allocations(tx, `WHERE `+w.text.String(), w.args...)
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			line := LimitLine{AllocationID: a.ID, LimitUse: protection.LimitUse{Due: civil.NoDay}}
			facts[a.ID] = &LimitFacts{Allocation: a, Line: line}
		}
	}
	if len(facts) == 0 {
		return facts, nil
	}
	var w where
	w.and("site_id = ?", siteID)
	found := []int64{}
	for id := range facts {
		found = append(found, id)
	}
	slices.Sort(found)
	in(&w, "allocation_id", found)
	for _, read := range []func(*Tx, *where, map[int64]*LimitFacts) error{termsOf, eventsOf, linesOf} {
		if err := read(tx, &w, facts); err != nil {
			return nil, err
		}
	}
	return facts, nil
}

func termsOf(tx *Tx, w *where, facts map[int64]*LimitFacts) error {
	return tx.each(`SELECT allocation_id, start_day, end_day, last_day, country, effective_at, recorded_at
		FROM allocation_terms WHERE `+w.text.String()+` ORDER BY allocation_id, id`, w.args,
		func(scan func(dest ...any) error) error {
			var id, effective, recorded int64
			var t protection.DatedTerms
			if err := scan(&id, &t.Start, &t.End, &t.LastDay, &t.Country, &effective, &recorded); err != nil {
				return err
			}
			t.EffectiveAt, t.RecordedAt = instant(effective), instant(recorded)
			facts[id].History = append(facts[id].History, t)
			return nil
		})
}

func eventsOf(tx *Tx, w *where, facts map[int64]*LimitFacts) error {
	return tx.each(`SELECT allocation_id, transaction_id, kind, amount, effective_at, recorded_at FROM allocation_events
		WHERE `+w.text.String()+` ORDER BY allocation_id, recorded_at, id`, w.args,
		func(scan func(dest ...any) error) error {
			var id, effective, recorded int64
			var e protection.Event
			if err := scan(&id, &e.TransactionID, &e.Kind, &e.Amount, &effective, &recorded); err != nil {
				return err
			}
			e.EffectiveAt, e.RecordedAt = instant(effective), instant(recorded)
			facts[id].Events = append(facts[id].Events, e)
			return nil
		})
}

func linesOf(tx *Tx, w *where, facts map[int64]*LimitFacts) error {
	return tx.each(`SELECT allocation_id, channel_id, currency, amount, due_day FROM limit_lines WHERE `+w.text.String(), w.args,
		func(scan func(dest ...any) error) error {
			var l LimitLine
			var due sql.NullInt64
			if err := scan(&l.AllocationID, &l.ChannelID, &l.Currency, &l.Amount, &due); err != nil {
				return err
			}
			l.Due = dayOr(due)
			facts[l.AllocationID].Line = l
			return nil
		})
}

// AdjustedBy reads which allocations each of the given refunds, chargebacks and reversals changed, in order.
func AdjustedBy(tx *Tx, siteID int64, transactions []int64) (map[int64][]int64, error) {
	adjusted := map[int64][]int64{}
	if len(transactions) == 0 {
		return adjusted, nil
	}
	var w where
	w.and("site_id = ?", siteID)
	in(&w, "transaction_id", transactions)
	err := tx.each(`SELECT transaction_id, linked_id FROM payments WHERE `+w.text.String()+` AND linked_id IS NOT NULL
		ORDER BY transaction_id, linked_id`, w.args, func(scan func(dest ...any) error) error {
		var transaction, allocation int64
		err := scan(&transaction, &allocation)
		adjusted[transaction] = append(adjusted[transaction], allocation)
		return err
	})
	return adjusted, err
}
