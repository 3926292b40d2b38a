package disputes

import (
	"cmp"
	"slices"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// Disputed is a dispute matched with the payment of an allocation, and its movements on that allocation. Claims are made from these (R13).
type Disputed struct {
	AllocationID int64
	DisputeID    int64
	Source       string
	CaseID       string
	Stage        dispute.Stage
	Status       dispute.Status
	ReasonCode   string
	ReceivedAt   time.Time  // when its first event was received
	Waiting      int64      // movements that wait for a rate: they are not in Movements
	Movements    []Movement // debits before credits, each in order of their days
}

// Movement is a debit, a prevented dispute or a credit on one allocation.
type Movement struct {
	EventID    int64
	Kind       dispute.Kind
	Day        civil.Day // R14
	Base       int64     // the allocation's part of it, in minor units of the allocation's currency
	Debit      int64     // of a credit: the EventID of the debit that it names; 0 if the dispute has none
	ReceivedAt time.Time
}

// OfAllocations reads the disputes matched with the payments of some allocations, also those without a movement, in the order of
// (allocation, dispute). A dispute of a payment for several bookings occurs once for each of the allocations. The caller passes a page of them.
func OfAllocations(tx *store.Tx, siteID int64, allocations []int64) ([]Disputed, error) {
	if len(allocations) == 0 {
		return nil, nil
	}
	var w sqltext.Where
	w.And("a.site_id = ?", siteID)
	sqltext.In(&w, "a.id", allocations)
	var list []Disputed
	var ids []int64
	// A CROSS JOIN makes SQLite start with the allocations. Otherwise it reads all disputes of the site.
	err := tx.Query(`SELECT a.id, d.id FROM allocations a CROSS JOIN disputes d
		WHERE d.site_id = $1 AND d.transaction_id = a.transaction_id AND `+w.Text.String()+` ORDER BY a.id, d.id`, w.Args, func(scan func(dest ...any) error) error {
		var d Disputed
		err := scan(&d.AllocationID, &d.DisputeID)
		list, ids = append(list, d), append(ids, d.DisputeID)
		return err
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	slices.Sort(ids)
	cases, err := casesByID(tx, siteID, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	parts, err := partsOfMovements(tx, &w)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].fill(cases[list[i].DisputeID], parts)
	}
	return list, nil
}

// partKey is a movement on an allocation.
type partKey struct{ allocation, movement int64 }

// partsOfMovements reads the amount of each movement on each of the allocations a that a condition selects.
func partsOfMovements(tx *store.Tx, allocations *sqltext.Where) (map[partKey]int64, error) {
	parts := map[partKey]int64{}
	err := tx.Query(`SELECT e.allocation_id, e.transaction_id, e.amount FROM allocations a
		CROSS JOIN allocation_events e CROSS JOIN dispute_postings p
		WHERE e.site_id = $1 AND e.allocation_id = a.id AND p.site_id = $1 AND p.movement_id = e.transaction_id AND `+allocations.Text.String(), allocations.Args, func(scan func(dest ...any) error) error {
		var key partKey
		var amount int64
		err := scan(&key.allocation, &key.movement, &amount)
		parts[key] += amount
		return err
	})
	return parts, err
}

func (d *Disputed) fill(c Case, parts map[partKey]int64) {
	d.Source, d.CaseID, d.Stage, d.Status, d.ReasonCode, d.Waiting = c.Source, c.CaseID, c.Stage, c.Status, c.ReasonCode, c.Waiting
	if len(c.Events) > 0 {
		d.ReceivedAt = c.Events[0].ReceivedAt
	}
	named := dispute.Named(c.reported())
	for _, e := range c.movements() {
		p := c.posted(e.ID)
		if p == nil {
			continue
		}
		if part := parts[partKey{d.AllocationID, p.MovementID}]; part != 0 {
			d.Movements = append(d.Movements, Movement{
				EventID: e.ID, Kind: e.Kind, Day: e.On(), Base: part, Debit: named[e.ID], ReceivedAt: e.ReceivedAt,
			})
		}
	}
	slices.SortStableFunc(d.Movements, func(a, b Movement) int {
		return cmp.Or(cmp.Compare(credits(a.Kind), credits(b.Kind)), cmp.Compare(a.Day, b.Day), cmp.Compare(a.EventID, b.EventID))
	})
}
