package claims

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
)

// Checked is a stored claim with the values it should have.
type Checked struct {
	Claim
	// Recorded has the state, the amount and the people of the review by the history of the claim; its State is "" without a history.
	Recorded claim.Review
	Disputed int64 // by the history, as the next four
	Payable  int64
	Value    int64
	FirstDay civil.Day
	Released bool
	// Computed is the claim by the facts that are recorded; nil while the job has not seen all of them.
	Computed *Claim
}

// Between checks the claims of a site with ids in a range, in their order.
func Between(tx *store.Tx, siteID, first, last int64) (list []Checked, err error) {
	err = tx.Query(`SELECT `+claimColumns+` FROM claims WHERE site_id = $1 AND id >= $2 AND id <= $3 ORDER BY id`, []any{siteID, first, last},
		func(scan func(dest ...any) error) error {
			c, err := scanClaim(scan)
			list = append(list, Checked{Claim: c})
			return err
		})
	if err != nil {
		return nil, err
	}
	for i := range list {
		if err := list[i].replay(tx); err != nil {
			return nil, err
		}
		if err := list[i].compute(tx); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// replay goes through the history of the claim.
func (c *Checked) replay(tx *store.Tx) error {
	history, err := historyOf(tx, c.SiteID, c.ID)
	for _, h := range history {
		kept := c.Recorded
		switch {
		case h.Step() == "assess":
			kept = claim.Review{AssessedBy: h.ByID, Assessed: h.Payable}
		case h.Step() == "approve":
			kept.ApprovedBy = append(kept.ApprovedBy, h.ByID)
		case h.Step() == "release":
			c.Released = true
		case h.State == claim.StateOpen, h.State == claim.StateRejected, h.State == claim.StateWithdrawn:
			kept = claim.Review{}
		}
		kept.State, c.Disputed, c.Payable, c.Value, c.FirstDay = h.State, h.Disputed, h.Payable, h.Value, h.FirstDay
		c.Recorded = kept
	}
	return err
}

// compute computes the claim anew, if the job has seen all events of its allocation.
func (c *Checked) compute(tx *store.Tx) (err error) {
	defer money.Catch(&err)
	var unseen int64
	err = tx.QueryRow(`SELECT COUNT(*) FROM allocation_events e WHERE e.site_id = $1 AND e.allocation_id = $2
		AND e.id > COALESCE((SELECT m.events_to FROM claim_marks m WHERE m.site_id = $1 AND m.insolvency_id = $3), 0)`,
		[]any{c.SiteID, c.AllocationID, c.InsolvencyID}, &unseen)
	if err != nil || unseen > 0 {
		return err
	}
	m, err := makingOf(tx, c.SiteID, c.InsolvencyID)
	if err != nil {
		return err
	}
	list, _, err := m.allocations(tx, []int64{c.AllocationID})
	if err != nil {
		return err
	}
	for _, a := range list {
		if !c.Priced && !a.PricedAt.IsZero() { // the job has not seen the rate
			return nil
		}
		for _, computed := range claim.Claims(a, m.Failure()) {
			if computed.ID != c.ID {
				continue
			}
			is := c.Claim
			if len(computed.Debits) > 0 {
				is.FirstDay = computed.FirstDebit()
			}
			is.Disputed, is.Loss, is.Payable = computed.Disputed, computed.Loss, computed.Payable
			is.Represent, is.Reason = computed.Represent(), computed.Reason
			if err := m.value(tx, a, &is); err != nil {
				return err
			}
			c.Computed = &is
		}
	}
	return nil
}
