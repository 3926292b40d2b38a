package claims

import (
	"maps"
	"slices"

	"holdfast/internal/book/certificates"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
)

// coverOf are the terms of cover of an insolvency: those of the policy in force at the trigger.
func coverOf(tx *store.Tx, siteID, insolvencyID int64) (terms.Cover, error) {
	m, err := makingOf(tx, siteID, insolvencyID)
	return m.cover, err
}

// insolvencyClaims are the claims of an insolvency in order.
type insolvencyClaims struct {
	making
	ids  []int64
	owed []claim.Owed
}

// insolvencyCover is what the cover of an insolvency is computed from.
type insolvencyCover struct {
	making
	total claim.Owed // of all its claims
}

// coversOf reads the insolvencies of a site, each with the totals of its claims, in order of their ids. Those that were withdrawn have none.
func coversOf(tx *store.Tx, siteID int64) (all []insolvencyCover, err error) {
	totals, err := totalsOf(tx, siteID)
	if err != nil {
		return nil, err
	}
	ids, err := store.Ids(tx, `SELECT id FROM insolvencies WHERE site_id = $1 AND state IN ('open', 'claims_closed', 'closed') ORDER BY id`, siteID)
	for _, id := range ids {
		if err != nil {
			return nil, err
		}
		i := insolvencyCover{total: totals[id]}
		i.making, err = makingOf(tx, siteID, id)
		all = append(all, i)
	}
	return all, err
}

// yearOf reads the insolvencies of the year of account and policy currency of one of them.
func yearOf(tx *store.Tx, siteID, insolvencyID int64) (year []insolvencyCover, err error) {
	of, err := makingOf(tx, siteID, insolvencyID)
	if err != nil {
		return nil, err
	}
	all, err := coversOf(tx, siteID)
	for _, i := range all {
		if claim.Year(i.TriggerAt) == claim.Year(of.TriggerAt) && i.currency == of.currency {
			year = append(year, i)
		}
	}
	return year, err
}

// positions computes the cover of each insolvency of a year, without reserves and without the parts of single claims.
func positions(year []insolvencyCover) (list []claim.Position, err error) {
	defer money.Catch(&err)
	return claim.Positions(inputsOf(year)), nil
}

// complete adds what is not in the rows of claims: covered and overpaid amounts, and the travellers' notes.
func complete(tx *store.Tx, siteID int64, list []Claim) error {
	if len(list) == 0 {
		return nil
	}
	var bookings []int64
	for _, c := range list {
		bookings = append(bookings, c.BookingID)
	}
	notes, err := certificates.LastNotes(tx, siteID, bookings)
	if err != nil {
		return err
	}
	refunded, err := refundsOf(tx, siteID, slices.Collect(maps.Keys(notes)))
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Note, list[i].Refunded = notes[list[i].BookingID], refunded[list[i].BookingID]
	}
	return addCover(tx, siteID, list)
}

// addCover sets the covered and overpaid amounts of claims. If everything payable is covered, each claim is covered by itself, and the
// other claims need not be read.
func addCover(tx *store.Tx, siteID int64, list []Claim) error {
	type shares struct {
		full  bool
		parts map[int64]int64 // by claim
	}
	of := map[int64]shares{}
	for i, c := range list {
		s, known := of[c.InsolvencyID]
		if !known {
			p, _, counts, err := totalOf(tx, siteID, c.InsolvencyID)
			if err != nil {
				return err
			}
			if s.full = counts && p.Covered == p.Payable; p.Covered > 0 && !s.full {
				all, err := owedOf(tx, siteID, c.InsolvencyID)
				if err != nil {
					return err
				}
				p.Share(all.owed)
				s.parts = make(map[int64]int64, len(all.ids))
				for j, id := range all.ids {
					s.parts[id] = p.Parts[j]
				}
			}
			of[c.InsolvencyID] = s
		}
		list[i].Covered = s.parts[c.ID]
		if s.full {
			list[i].Covered = c.Value
		}
		list[i].Overpaid = max(0, c.Paid-list[i].Covered)
	}
	return nil
}

// totalOf computes the cover of one insolvency, without the parts of its claims. counts is false if it was withdrawn.
func totalOf(tx *store.Tx, siteID, insolvencyID int64) (p claim.Position, of making, counts bool, err error) {
	year, err := yearOf(tx, siteID, insolvencyID)
	if err != nil {
		return p, of, false, err
	}
	found, err := positions(year)
	for i, y := range year {
		if y.ID == insolvencyID && err == nil {
			p, of, counts = found[i], y.making, true
		}
	}
	return p, of, counts, err
}

// positionOf computes the cover of one insolvency with the parts of its claims, and returns them in their order. Both are empty if it
// was withdrawn.
func positionOf(tx *store.Tx, siteID, insolvencyID int64) (p claim.Position, of insolvencyClaims, err error) {
	p, made, counts, err := totalOf(tx, siteID, insolvencyID)
	if err != nil || !counts {
		return p, of, err
	}
	of, err = owedOf(tx, siteID, insolvencyID)
	of.making = made
	p.Share(of.owed)
	return p, of, err
}
