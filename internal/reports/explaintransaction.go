package reports

import (
	"context"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/ledger"
	"holdfast/internal/merchants"
	"holdfast/internal/money"
	"holdfast/internal/payments"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// Protection explains what a transaction means for protection, line by line.
type Protection struct{ *core.Core }

// ProtectionQuery asks for an explanation.
type ProtectionQuery struct {
	Problems fault.Problems
	ledger.Moment
}

// complete gives the moment of an explanation, but for the recognition, which is the policy's.
func (in ProtectionQuery) complete(tx *db.Tx) (m protection.Moment, err error) {
	problems := in.Problems.Clone()
	m.AsOf, m.KnownAt = in.Moment.Complete(tx.Now, &problems)
	return m, problems.Err()
}

// ProtectionReport explains one transaction at a moment. A transaction that takes no money in has no allocations of
// its own; Adjusted are those that it changed.
type ProtectionReport struct {
	Transaction travel.Transaction
	Moment      protection.Moment
	Policy      travel.Policy
	Allocations []protection.Explained
	Adjusted    bool // the allocations are those of the original that this transaction adjusts
	// OverLimit is what of the allocations lay above the limit that they exceed most (R12), as far as it was known.
	OverLimit         int64
	OverLimitCurrency money.Currency
}

// Explain computes the protection of a transaction, with every input and step.
func (p *Protection) Explain(
	ctx context.Context, actor auth.Actor, id int64, in ProtectionQuery,
) (ProtectionReport, error) {
	return core.Read(ctx, p.Core, actor, func(tx *db.Tx) (ProtectionReport, error) {
		m, err := in.complete(tx)
		if err != nil {
			return ProtectionReport{}, err
		}
		return explain(p.Core, tx, actor.SiteID, id, m)
	})
}

func explain(
	c *core.Core, tx *db.Tx, siteID, id int64, m protection.Moment,
) (report ProtectionReport, err error) {
	report.Transaction, err = payments.Transaction(tx, siteID, id)
	// What was not known at the moment is not there for a report about it.
	if err == nil && report.Transaction.CreatedAt.After(m.KnownAt) {
		err = db.ErrNotFound
	}
	if err != nil {
		return report, core.NotFoundAs(fault.RecordNotFound, err, "There is no transaction %d.", id)
	}
	if report.Policy, err = merchants.PolicyKnown(tx, siteID, m.AsOf, m.KnownAt); err != nil {
		return report, err
	}
	m.Recognition = report.Policy.Recognition
	report.Moment = m
	of := id
	if !report.Transaction.Type.Takes() && report.Transaction.LinkedID != 0 {
		of, report.Adjusted = report.Transaction.LinkedID, true
	}
	allocations, err := ledger.AllocationsOfTransaction(tx, siteID, of)
	if err != nil {
		return report, err
	}
	over, err := overLimitsKnown(tx, siteID, []int64{of}, m.KnownAt)
	if err != nil {
		return report, err
	}
	report.OverLimit, report.OverLimitCurrency = protection.OverLimitAmount(over)
	ids := make([]int64, len(allocations))
	for i, a := range allocations {
		ids[i] = a.ID
	}
	report.Allocations, err = newExplaining(c, tx, siteID, m).all(ids)
	return report, err
}
