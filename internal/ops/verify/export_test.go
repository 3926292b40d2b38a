package verify

import (
	"holdfast/internal/domain/merchant"
	"holdfast/internal/platform/core"
	"holdfast/internal/store"
)

// WholeTables are the queries that go through all rows of a table.
var WholeTables = []string{allLimitLines, allStatedLines}

// RunIn checks sites inside a transaction that is open already. Tests break a book in it, and take that back.
func RunIn(tx *store.Tx, c *core.Core, sites []merchant.Site, q Query) (Report, error) {
	var report Report
	kept := newKept(q)
	for _, s := range sites {
		if err := checkSite(tx, c, s, q.Limit, kept, &report, func(string) {}); err != nil {
			return report, err
		}
	}
	report.add(kept.rest(q.Limit))
	return report, nil
}
