package limits

import (
	"database/sql"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// LimitFacts is an allocation with all facts that its use is computed from, and the line that it has in the running use.
type LimitFacts struct {
	protection.History
	line limitLine
}

// FactsOf reads the allocations with the given ids and those of the given payments (ids of transactions). The map has
// the ids of the allocations as keys.
func FactsOf(tx *store.Tx, siteID int64, ids, payments []int64) (map[int64]*LimitFacts, error) {
	list, err := ledger.HistoriesWithIDs(tx, siteID, ids, payments)
	if err != nil || len(list) == 0 {
		return map[int64]*LimitFacts{}, err
	}
	facts := make(map[int64]*LimitFacts, len(list))
	found := make([]int64, len(list))
	for i, h := range list {
		line := limitLine{AllocationID: h.ID, LimitUse: protection.LimitUse{Due: civil.NoDay}}
		facts[h.ID], found[i] = &LimitFacts{History: h, line: line}, h.ID
	}
	return facts, linesOf(tx, siteID, found, facts)
}

// linesOf reads the lines of allocations into their facts.
func linesOf(tx *store.Tx, siteID int64, ids []int64, facts map[int64]*LimitFacts) error {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "allocation_id", ids)
	return tx.Query(`SELECT allocation_id, channel_id, currency, amount, due_day FROM limit_lines WHERE `+w.Text.String(), w.Args,
		func(scan func(dest ...any) error) error {
			var l limitLine
			var due sql.NullInt64
			if err := scan(&l.AllocationID, &l.ChannelID, &l.Currency, &l.Amount, &due); err != nil {
				return err
			}
			l.Due = store.DayOr(due)
			facts[l.AllocationID].line = l
			return nil
		})
}

// adjustedBy reads the ids of the allocations that each of the given refunds, chargebacks and reversals changed, in order.
func adjustedBy(tx *store.Tx, siteID int64, transactions []int64) (map[int64][]int64, error) {
	adjusted := map[int64][]int64{}
	if len(transactions) == 0 {
		return adjusted, nil
	}
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "transaction_id", transactions)
	err := tx.Query(`SELECT transaction_id, allocation_id FROM allocation_events WHERE `+w.Text.String()+`
		ORDER BY transaction_id, allocation_id`, w.Args, func(scan func(dest ...any) error) error {
		var transaction, allocation int64
		err := scan(&transaction, &allocation)
		adjusted[transaction] = append(adjusted[transaction], allocation)
		return err
	})
	return adjusted, err
}
