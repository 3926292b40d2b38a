package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"holdfast/internal/book/merchants"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/money"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// BordereauTotal adds up the rows of a bordereau that have one kind and one currency of settlement. Amounts are in minor units.
type BordereauTotal struct {
	Kind     string
	Currency money.Currency
	Rows     int64
	Net, Tax int64
}

// Gross is the premium with its tax.
func (t BordereauTotal) Gross() int64 { return t.Net + t.Tax }

func (t *BordereauTotal) add(rows, net, tax int64) {
	t.Rows, t.Net, t.Tax = t.Rows+rows, t.Net+net, t.Tax+tax
}

type totalKey struct {
	kind     string
	currency money.Currency
}

// Totals adds up all rows of a bordereau, in order of kinds and currencies. The database adds up identical lines: the
// tax on each is the same.
func (b *Bordereaux) Totals(ctx context.Context, actor access.Actor, report Bordereau) ([]BordereauTotal, error) {
	if err := actor.Require(access.ReadStatements); err != nil {
		return nil, err
	}
	totals, err := sites.Report(ctx, b.DB, actor, func(tx *store.Tx) (map[totalKey]*BordereauTotal, error) {
		totals := map[totalKey]*BordereauTotal{}
		codes, err := merchants.TaxCodes(tx, actor.SiteID)
		if err != nil {
			return nil, err
		}
		from, until := report.Period.First.Start(), (report.Period.Last + 1).Start()
		err = statements.BordereauSums(tx, actor.SiteID, from, until, report.KnownAt, func(s statements.PremiumSum) error {
			tax, err := taxesOn(s.Amount, codes[s.PolicyID])
			if err != nil {
				return fmt.Errorf("lines of %d: %w", s.Amount, err)
			}
			totalOf(totals, s.Kind, s.Currency).add(s.Lines, s.Amount*s.Lines, tax*s.Lines)
			return nil
		})
		return totals, err
	})
	for after := int64(0); err == nil; {
		var rows []BordereauRow
		if rows, after, err = b.minimums(ctx, actor, report, after, b.LinesAtOnce); after == 0 {
			break
		}
		for _, row := range rows {
			totalOf(totals, row.Kind, row.Settlement).add(1, row.Amount, row.Tax)
		}
	}
	if err != nil {
		return nil, err
	}
	list := make([]BordereauTotal, 0, len(totals))
	for _, key := range slices.SortedFunc(maps.Keys(totals), func(a, b totalKey) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.currency, b.currency))
	}) {
		list = append(list, *totals[key])
	}
	return list, nil
}

// totalOf is the total of a kind in a currency.
func totalOf(totals map[totalKey]*BordereauTotal, kind string, currency money.Currency) *BordereauTotal {
	key := totalKey{kind, currency}
	if totals[key] == nil {
		totals[key] = &BordereauTotal{Kind: kind, Currency: currency}
	}
	return totals[key]
}
