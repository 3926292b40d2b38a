package verify

import (
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
)

// WholeTables are the queries over all rows of a table.
var WholeTables = []string{allLimitLines, allStatedLines}

// RunIn checks sites inside an open transaction. Tests break a book in it, and roll it back.
func RunIn(tx *store.Tx, packs protection.Rulepacks, sites []merchant.Site, q Query) (Report, error) {
	var report Report
	kept := newKept(q)
	for _, s := range sites {
		if err := checkSite(tx, packs, s, q.Limit, kept, &report, func(string) {}); err != nil {
			return report, err
		}
	}
	report.add(kept.rest(q.Limit))
	return report, nil
}
