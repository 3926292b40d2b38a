package claims

import (
	"context"

	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
)

// WithdrawInsolvency withdraws an insolvency (insolvencies.Withdraw). It is possible until the first claim is approved.
func (r *Claims) WithdrawInsolvency(ctx context.Context, actor access.Actor, id int64, reason string) (insolvencies.Insolvency, error) {
	return r.Insolvencies.Withdraw(ctx, actor, id, reason, func(tx *store.Tx, i insolvencies.Insolvency) error {
		if err := lockClaims(tx, i.SiteID); err != nil {
			return err
		}
		approved, err := everApproved(tx, i)
		if err == nil && approved != 0 {
			err = insolvencies.NotPossible(i, "claim_approved", "Claim %d has been approved. The insolvency can no longer be withdrawn.", approved)
		}
		return err
	})
}

// CloseInsolvency closes an insolvency (insolvencies.Close). It is possible when everything approved is paid.
func (r *Claims) CloseInsolvency(ctx context.Context, actor access.Actor, id int64, reason string) (insolvencies.Insolvency, error) {
	return r.Insolvencies.Close(ctx, actor, id, reason, func(tx *store.Tx, i insolvencies.Insolvency) error {
		if err := lockClaims(tx, i.SiteID); err != nil {
			return err
		}
		number, err := unsettledOf(tx, i)
		switch {
		case err != nil:
			return err
		case number != 0:
			return insolvencies.NotPossible(i, "payout_not_settled", "Payout %d is neither paid nor failed.", number)
		}
		of, lines, total, err := dueOf(tx, i.SiteID, i.ID)
		if err == nil && lines != nil {
			err = insolvencies.NotPossible(i, "payout_due", "%s %s of approved claims is not paid yet. A payout will be planned.",
				of.currency, money.Format(total, of.currency))
		}
		return err
	})
}

// everApproved returns the id of a claim of an insolvency that was approved, now or before, or 0.
func everApproved(tx *store.Tx, i insolvencies.Insolvency) (id int64, err error) {
	err = tx.QueryRow(`SELECT COALESCE(MIN(c.id), 0) FROM claims c JOIN claim_events e ON e.site_id = $1 AND e.claim_id = c.id
		WHERE c.site_id = $1 AND c.insolvency_id = $2 AND e.state IN ('approved', 'paid')`, []any{i.SiteID, i.ID}, &id)
	return id, err
}

// unsettledOf returns the number of a payout for an insolvency that is planned or signed, or 0.
func unsettledOf(tx *store.Tx, i insolvencies.Insolvency) (number int64, err error) {
	err = tx.QueryRow(`SELECT COALESCE(MIN(o.number), 0) FROM payouts o JOIN payout_lines l ON l.site_id = $1 AND l.payout_id = o.id
		JOIN claims c ON c.site_id = $1 AND c.id = l.claim_id
		WHERE o.site_id = $1 AND c.insolvency_id = $2 AND o.state IN ('planned', 'signed')`, []any{i.SiteID, i.ID}, &number)
	return number, err
}

// dueOf is the next payout of an insolvency: its claims, and the lines in their order, nil if nothing is to be paid.
func dueOf(tx *store.Tx, siteID, insolvencyID int64) (of insolvencyClaims, lines []int64, total int64, err error) {
	p, of, err := positionOf(tx, siteID, insolvencyID)
	if err != nil {
		return of, nil, 0, err
	}
	approved, err := approvedOf(tx, siteID, insolvencyID)
	if err != nil {
		return of, nil, 0, err
	}
	due := make([]claim.Due, len(of.ids))
	for i, id := range of.ids {
		due[i] = claim.Due{Part: p.Parts[i], Paid: of.owed[i].Paid, Approved: approved[id]}
	}
	lines, total, err = payoutOf(due)
	return of, lines, total, err
}
