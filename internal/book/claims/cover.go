package claims

import (
	"holdfast/internal/book/certificates"
	"holdfast/internal/book/insolvencies"
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

// insolvencyClaims are the claims of an insolvency in order, as the cover is computed from them.
type insolvencyClaims struct {
	making
	ids  []int64
	owed []claim.Owed
}

// yearOf reads the claims of all insolvencies of the year of account and policy currency of one of them, in order of their ids.
// Insolvencies that were withdrawn have none.
func yearOf(tx *store.Tx, siteID, insolvencyID int64) (year []insolvencyClaims, err error) {
	of, err := makingOf(tx, siteID, insolvencyID)
	if err != nil {
		return nil, err
	}
	ids, err := store.Ids(tx, `SELECT id FROM insolvencies WHERE site_id = $1 AND state IN ('open', 'claims_closed', 'closed') ORDER BY id`, siteID)
	for _, id := range ids {
		if err != nil {
			return nil, err
		}
		var i insolvencyClaims
		if i.making, err = makingOf(tx, siteID, id); err != nil {
			return nil, err
		}
		if claim.Year(i.TriggerAt) != claim.Year(of.TriggerAt) || i.currency != of.currency {
			continue
		}
		if i.ids, i.owed, err = owedOf(tx, siteID, id); err != nil {
			return nil, err
		}
		year = append(year, i)
	}
	return year, err
}

// positions computes the cover of each insolvency of a year, without reserves.
func positions(year []insolvencyClaims) (list []claim.Position, err error) {
	defer money.Catch(&err)
	in := make([]claim.Insolvency, len(year))
	for i, y := range year {
		in[i] = claim.Insolvency{TriggerAt: y.TriggerAt, Cover: y.cover, Claims: y.owed, Closed: y.State != insolvencies.Open}
	}
	return claim.Positions(in), nil
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
	for i := range list {
		list[i].Note = notes[list[i].BookingID]
	}
	return addCover(tx, siteID, list)
}

// addCover sets the covered and overpaid amounts of claims.
func addCover(tx *store.Tx, siteID int64, list []Claim) error {
	done := map[int64]bool{}
	parts, overpaid := map[int64]int64{}, map[int64]int64{}
	for _, c := range list {
		if done[c.InsolvencyID] {
			continue
		}
		year, err := yearOf(tx, siteID, c.InsolvencyID)
		if err != nil {
			return err
		}
		found, err := positions(year)
		if err != nil {
			return err
		}
		for i, y := range year {
			done[y.ID] = true
			for j, id := range y.ids {
				parts[id], overpaid[id] = found[i].Parts[j], found[i].Overpaid[j]
			}
		}
		done[c.InsolvencyID] = true
	}
	for i := range list {
		list[i].Covered, list[i].Overpaid = parts[list[i].ID], overpaid[list[i].ID]
	}
	return nil
}

// positionOf computes the cover of one insolvency, and returns its claims. Both are empty if it was withdrawn.
func positionOf(tx *store.Tx, siteID, insolvencyID int64) (p claim.Position, of insolvencyClaims, err error) {
	year, err := yearOf(tx, siteID, insolvencyID)
	if err != nil {
		return p, of, err
	}
	found, err := positions(year)
	for i, y := range year {
		if y.ID == insolvencyID && err == nil {
			p, of = found[i], y
		}
	}
	return p, of, err
}
