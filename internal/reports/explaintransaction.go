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

// Protection explains how the protection of a transaction, a booking or a line of a statement is computed.
type Protection struct{ *core.Core }

// ProtectionQuery is the moment of an explanation: now, if it is zero.
type ProtectionQuery struct {
	Problems fault.Problems
	ledger.Moment
}

// complete returns the moment of an explanation. The caller adds the recognition of the policy.
func (in ProtectionQuery) complete(tx *db.Tx) (m protection.Moment, err error) {
	problems := in.Problems.Clone()
	m.AsOf, m.KnownAt = in.Moment.Complete(tx.Now, &problems)
	return m, problems.Err()
}

// ProtectionReport explains one transaction at a moment. A transaction that adjusts another one has no allocations of
// its own. Then the report has those of the other one.
type ProtectionReport struct {
	Transaction travel.Transaction
	Moment      protection.Moment
	Policy      travel.Policy
	Allocations []protection.Explained
	Adjusted    bool // the allocations belong to the transaction that this one adjusts
	// OverLimit says, in minor units, by how much the allocations exceeded the limit that they exceeded most (R12), as
	// it was known at the moment.
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
		return p.explain(tx, actor.SiteID, id, m)
	})
}

func (p *Protection) explain(
	tx *db.Tx, siteID, id int64, m protection.Moment,
) (report ProtectionReport, err error) {
	report.Transaction, err = payments.Transaction(tx, siteID, id)
	// At the moment of the report a later transaction was not known.
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
	report.Allocations, err = newExplaining(p.Core, tx, siteID, m).all(ids)
	return report, err
}
