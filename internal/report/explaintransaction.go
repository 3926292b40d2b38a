package report

import (
	"context"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Protection explains how the protection of a transaction, a booking or a line of a statement is computed.
type Protection struct {
	*sites.DB
	Rulepacks   protection.Rulepacks // the dispute windows (R5)
	Allocations int                  // in memory for an explanation, in addition to those it shows
}

// ProtectionQuery is the moment of an explanation: now, if it is zero.
type ProtectionQuery struct {
	Problems errs.Problems
	ledger.Moment
}

// complete returns the moment of an explanation. The caller adds the recognition of the policy.
func (in ProtectionQuery) complete(tx *store.Tx) (m protection.Moment, err error) {
	problems := in.Problems.Clone()
	m.AsOf, m.KnownAt = in.Moment.Complete(tx.Now, &problems)
	return m, problems.Err()
}

// ProtectionReport explains one transaction at a moment. A transaction that adjusts another one has no allocations of
// its own. Then the report has those of the other one.
type ProtectionReport struct {
	Summary     string // in words
	Transaction payment.Transaction
	Moment      protection.Moment
	Policy      terms.Policy
	Allocations []protection.Explained
	Adjusted    bool // the allocations belong to the transaction that this one adjusts
	// OverLimit says, in minor units, by how much the allocations exceeded the limit that they exceeded most (R12), as
	// it was known at the moment.
	OverLimit         int64
	OverLimitCurrency money.Currency
}

// Explain computes the protection of a transaction, with every input and step.
func (p *Protection) Explain(
	ctx context.Context, actor access.Actor, id int64, in ProtectionQuery,
) (ProtectionReport, error) {
	return sites.Read(ctx, p.DB, actor, func(tx *store.Tx) (ProtectionReport, error) {
		m, err := in.complete(tx)
		if err != nil {
			return ProtectionReport{}, err
		}
		return p.explain(tx, actor.SiteID, id, m)
	})
}

func (p *Protection) explain(
	tx *store.Tx, siteID, id int64, m protection.Moment,
) (report ProtectionReport, err error) {
	report.Transaction, err = payments.Transaction(tx, siteID, id)
	// At the moment of the report a later transaction was not known.
	if err == nil && report.Transaction.CreatedAt.After(m.KnownAt) {
		err = store.ErrNotFound
	}
	if err != nil {
		return report, store.NotFoundAs(errs.RecordNotFound, err, "Transaction %d not found.", id)
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
	report.Allocations, err = newExplaining(p, tx, siteID, m).all(ids)
	report.Summary = summarizeTransaction(report)
	return report, err
}
