package claims

import (
	"cmp"
	"maps"
	"slices"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
)

// Sum adds up claims. Amounts are minor units of the policy currency.
type Sum struct {
	Claims                           int64
	Disputed, Payable, Covered, Paid int64
}

func (s *Sum) add(o Sum) {
	s.Claims += o.Claims
	for _, a := range []struct {
		to *int64
		by int64
	}{{&s.Disputed, o.Disputed}, {&s.Payable, o.Payable}, {&s.Covered, o.Covered}, {&s.Paid, o.Paid}} {
		*a.to = money.Sum(*a.to, a.by)
	}
}

// DaySum adds up the claims whose first debit is of a day.
type DaySum struct {
	Day civil.Day
	Sum
}

// SchemeSum adds up the claims of a card scheme.
type SchemeSum struct {
	Scheme card.Scheme
	Sum
}

// ReasonSum adds up the claims that are not payable in full for a reason.
type ReasonSum struct {
	Reason claim.Reason // "" for claims that are payable in full
	Sum
}

// Breakdown has the claims of an insolvency by day, scheme and reason, and the run-off of its deadlines.
type Breakdown struct {
	Total   Sum
	Days    []DaySum
	Schemes []SchemeSum
	Reasons []ReasonSum
	RunOff  []claim.RunOffPoint
}

// claimed is a claim as it is added up.
type claimed struct {
	id, disputed, payable, value, paid int64
	day                                civil.Day
	scheme                             card.Scheme
	reason                             claim.Reason
}

// adding makes a breakdown while the lines of a snapshot are read.
type adding struct {
	claims map[int64][]claimed // by allocation, those that are not added up yet
	parts  map[int64]int64     // by claim
	runOff *claim.RunOff

	total   Sum
	days    map[civil.Day]*Sum
	schemes map[card.Scheme]*Sum
	reasons map[claim.Reason]*Sum
}

// breakDown reads the claims of an insolvency. p has their parts.
func (m making) breakDown(tx *store.Tx, p claim.Position, of insolvencyClaims) (a *adding, err error) {
	a = &adding{
		claims: map[int64][]claimed{}, parts: make(map[int64]int64, len(of.ids)), runOff: claim.NewRunOff(m.Failure().Day()),
		days: map[civil.Day]*Sum{}, schemes: map[card.Scheme]*Sum{}, reasons: map[claim.Reason]*Sum{},
	}
	for i, id := range of.ids {
		a.parts[id] = p.Parts[i]
	}
	err = tx.Query(`SELECT c.id, c.allocation_id, c.first_day, a.scheme, c.reason, c.disputed, c.payable, COALESCE(c.value, 0), c.paid
		FROM claims c JOIN allocations a ON a.site_id = $1 AND a.id = c.allocation_id
		WHERE c.site_id = $1 AND c.insolvency_id = $2 ORDER BY c.first_day, c.source, c.case_id, c.id`, []any{m.SiteID, m.ID},
		func(scan func(dest ...any) error) error {
			var allocation int64
			var c claimed
			err := scan(&c.id, &allocation, &c.day, &c.scheme, &c.reason, &c.disputed, &c.payable, &c.value, &c.paid)
			a.claims[allocation] = append(a.claims[allocation], c)
			return err
		})
	return a, err
}

// line adds up the claims of a line of the snapshot, with its share of the run-off.
func (a *adding) line(l claim.SnapshotLine, value func(int64) (int64, error)) error {
	var taken []claim.Taken
	for _, c := range a.claims[l.AllocationID] {
		if c.payable > 0 {
			taken = append(taken, claim.Taken{Day: c.day, Payable: c.payable})
		}
	}
	if err := a.runOff.Add(l, taken, value); err != nil {
		return err
	}
	return a.add(l.AllocationID, value)
}

// add adds up the claims of an allocation. value is nil while it has no rate.
func (a *adding) add(allocation int64, value func(int64) (int64, error)) (err error) {
	for _, c := range a.claims[allocation] {
		s := Sum{Claims: 1, Payable: c.value, Covered: a.parts[c.id], Paid: c.paid}
		if value != nil {
			if s.Disputed, err = value(c.disputed); err != nil {
				return err
			}
		}
		a.total.add(s)
		of(a.days, c.day).add(s)
		of(a.schemes, c.scheme).add(s)
		of(a.reasons, c.reason).add(s)
	}
	delete(a.claims, allocation)
	return nil
}

func of[K comparable](sums map[K]*Sum, key K) *Sum {
	if sums[key] == nil {
		sums[key] = &Sum{}
	}
	return sums[key]
}

// rest adds up the claims of payments that are not in the snapshot.
func (a *adding) rest(tx *store.Tx, siteID int64, valueOf func(fx.Quote) (func(int64) (int64, error), error)) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(a.claims)), linesAtOnce) {
		found, err := ledger.HistoriesWithIDs(tx, siteID, ids, nil)
		if err != nil {
			return err
		}
		for _, h := range found {
			var value func(int64) (int64, error)
			if h.Priced(tx.Now) {
				if value, err = valueOf(h.Quote); err != nil {
					return err
				}
			}
			if err := a.add(h.ID, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// breakdown is the result: days in order, schemes and reasons with the largest disputed amount first.
func (a *adding) breakdown() (b Breakdown) {
	b.Total, b.RunOff = a.total, a.runOff.Points()
	for _, day := range slices.Sorted(maps.Keys(a.days)) {
		b.Days = append(b.Days, DaySum{day, *a.days[day]})
	}
	for _, scheme := range slices.Sorted(maps.Keys(a.schemes)) {
		b.Schemes = append(b.Schemes, SchemeSum{scheme, *a.schemes[scheme]})
	}
	for _, reason := range slices.Sorted(maps.Keys(a.reasons)) {
		b.Reasons = append(b.Reasons, ReasonSum{reason, *a.reasons[reason]})
	}
	slices.SortStableFunc(b.Schemes, func(x, y SchemeSum) int { return cmp.Compare(y.Disputed, x.Disputed) })
	slices.SortStableFunc(b.Reasons, func(x, y ReasonSum) int { return cmp.Compare(y.Disputed, x.Disputed) })
	return b
}
