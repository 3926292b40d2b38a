package client

import (
	"context"
	"iter"
)

// Claims is the API of claims, which are made from the disputes of insolvent merchants.
type Claims struct{ c *connection }

// List returns one page of claims.
func (s *Claims) List(ctx context.Context, query ClaimsQuery, page Page) ([]Claim, PageInfo, error) {
	return paged[[]Claim](ctx, s.c, s.c.resource("claims"), query, page)
}

// All iterates over all claims, page by page, and stops at the first error.
func (s *Claims) All(ctx context.Context, query ClaimsQuery) iter.Seq2[Claim, error] {
	return each[Claim](ctx, s.c, s.c.resource("claims"), query)
}

// Sums adds up the claims that a query selects, by currency.
func (s *Claims) Sums(ctx context.Context, query SumClaimsQuery, options ...CallOption) ([]ClaimSums, error) {
	return get[[]ClaimSums](ctx, s.c, s.c.resource("claims", "sums"), query, options...)
}

// Get returns a claim.
func (s *Claims) Get(ctx context.Context, id int64, options ...CallOption) (Claim, error) {
	return get[Claim](ctx, s.c, s.c.resource("claims", id), nil, options...)
}

// Events returns the history of a claim.
func (s *Claims) Events(ctx context.Context, id int64, options ...CallOption) ([]ClaimEvent, error) {
	return get[[]ClaimEvent](ctx, s.c, s.c.resource("claims", id, "events"), nil, options...)
}

// Explain explains a claim in words and step by step.
func (s *Claims) Explain(ctx context.Context, id int64, options ...CallOption) (ClaimExplanation, error) {
	return get[ClaimExplanation](ctx, s.c, s.c.resource("claims", id, "explanation"), nil, options...)
}

// Assess records that a claim was checked and is payable as it is now.
func (s *Claims) Assess(ctx context.Context, id int64, in Decision, options ...CallOption) (Claim, error) {
	return create[Claim](ctx, s.c, s.c.resource("claims", id, "assess"), in, options)
}

// Approve approves an assessed claim. The user who assessed it cannot approve it.
func (s *Claims) Approve(ctx context.Context, id int64, in Decision, options ...CallOption) (Claim, error) {
	return create[Claim](ctx, s.c, s.c.resource("claims", id, "approve"), in, options)
}

// Reject rejects a claim.
func (s *Claims) Reject(ctx context.Context, id int64, in ReasonGiven, options ...CallOption) (Claim, error) {
	return create[Claim](ctx, s.c, s.c.resource("claims", id, "reject"), in, options)
}

// Withdraw withdraws a claim.
func (s *Claims) Withdraw(ctx context.Context, id int64, in ReasonGiven, options ...CallOption) (Claim, error) {
	return create[Claim](ctx, s.c, s.c.resource("claims", id, "withdraw"), in, options)
}

// Reopen reopens a claim: it has to be assessed and approved again.
func (s *Claims) Reopen(ctx context.Context, id int64, in ReasonGiven, options ...CallOption) (Claim, error) {
	return create[Claim](ctx, s.c, s.c.resource("claims", id, "reopen"), in, options)
}

// Release records that other protection does not pay.
func (s *Claims) Release(ctx context.Context, id int64, in ReasonGiven, options ...CallOption) (Claim, error) {
	return create[Claim](ctx, s.c, s.c.resource("claims", id, "release"), in, options)
}

// LossRatio reports the loss ratio and the aggregate used of a year of account.
func (s *Claims) LossRatio(ctx context.Context, query LossRatioQuery) (LossRatio, error) {
	return get[LossRatio](ctx, s.c, s.c.resource("loss-ratio"), query)
}

// Bordereau is the report to the underwriter about the claims of a month.
func (s *Claims) Bordereau(ctx context.Context, query ClaimsBordereauQuery) (ClaimsBordereau, error) {
	query.Format = "json"
	return get[ClaimsBordereau](ctx, s.c, s.c.resource("bordereaux", "claims"), query)
}

// BordereauCSV returns it as CSV.
func (s *Claims) BordereauCSV(ctx context.Context, query ClaimsBordereauQuery) ([]byte, error) {
	query.Format = "csv"
	return s.c.file(ctx, s.c.resource("bordereaux", "claims"), query)
}

// BordereauXLSX returns it as a workbook.
func (s *Claims) BordereauXLSX(ctx context.Context, query ClaimsBordereauQuery) ([]byte, error) {
	query.Format = "xlsx"
	return s.c.file(ctx, s.c.resource("bordereaux", "claims"), query)
}

// PresentBordereau records that the bordereau of a month was presented to the underwriter.
func (s *Claims) PresentBordereau(ctx context.Context, in ClaimsMonth, options ...CallOption) (PresentedMonth, error) {
	return create[PresentedMonth](ctx, s.c, s.c.resource("bordereaux", "claims", "present"), in, options)
}

// Payouts is the API of payouts to the beneficiaries of merchants.
type Payouts struct{ c *connection }

// List returns one page of payouts.
func (s *Payouts) List(ctx context.Context, query PayoutsQuery, page Page) ([]Payout, PageInfo, error) {
	return paged[[]Payout](ctx, s.c, s.c.resource("payouts"), query, page)
}

// All iterates over all payouts, page by page, and stops at the first error.
func (s *Payouts) All(ctx context.Context, query PayoutsQuery) iter.Seq2[Payout, error] {
	return each[Payout](ctx, s.c, s.c.resource("payouts"), query)
}

// Get returns a payout.
func (s *Payouts) Get(ctx context.Context, id int64, options ...CallOption) (Payout, error) {
	return get[Payout](ctx, s.c, s.c.resource("payouts", id), nil, options...)
}

// Lines returns the amount that a payout pays for each claim.
func (s *Payouts) Lines(ctx context.Context, id int64, options ...CallOption) ([]PayoutLine, error) {
	return get[[]PayoutLine](ctx, s.c, s.c.resource("payouts", id, "lines"), nil, options...)
}

// PDF downloads a payout as a PDF.
func (s *Payouts) PDF(ctx context.Context, id int64) ([]byte, error) {
	return s.c.file(ctx, s.c.resource("payouts", id, "pdf"), nil)
}

// Sign signs a planned payout.
func (s *Payouts) Sign(ctx context.Context, id int64, options ...CallOption) (Payout, error) {
	return create[Payout](ctx, s.c, s.c.resource("payouts", id, "sign"), nil, options)
}

// Paid records that the bank has paid a signed payout.
func (s *Payouts) Paid(ctx context.Context, id int64, in PayoutPaid, options ...CallOption) (Payout, error) {
	return create[Payout](ctx, s.c, s.c.resource("payouts", id, "paid"), in, options)
}

// Failed records that a payout was not paid. Its claims are planned again.
func (s *Payouts) Failed(ctx context.Context, id int64, in ReasonGiven, options ...CallOption) (Payout, error) {
	return create[Payout](ctx, s.c, s.c.resource("payouts", id, "failed"), in, options)
}

// Recoveries is the API of money recovered after insolvencies.
type Recoveries struct{ c *connection }

// List returns one page of recoveries.
func (s *Recoveries) List(ctx context.Context, query RecoveriesQuery, page Page) ([]Recovery, PageInfo, error) {
	return paged[[]Recovery](ctx, s.c, s.c.resource("recoveries"), query, page)
}

// All iterates over all recoveries, page by page, and stops at the first error.
func (s *Recoveries) All(ctx context.Context, query RecoveriesQuery) iter.Seq2[Recovery, error] {
	return each[Recovery](ctx, s.c, s.c.resource("recoveries"), query)
}

// Get returns a recovery.
func (s *Recoveries) Get(ctx context.Context, id int64, options ...CallOption) (Recovery, error) {
	return get[Recovery](ctx, s.c, s.c.resource("recoveries", id), nil, options...)
}

// Record records a recovery.
func (s *Recoveries) Record(ctx context.Context, in NewRecovery, options ...CallOption) (Recovery, error) {
	return create[Recovery](ctx, s.c, s.c.resource("recoveries"), in, options)
}

// Cancel cancels a recovery that was recorded by mistake.
func (s *Recoveries) Cancel(ctx context.Context, id int64, in ReasonGiven, options ...CallOption) (Recovery, error) {
	return create[Recovery](ctx, s.c, s.c.resource("recoveries", id, "cancel"), in, options)
}
