package client

import (
	"context"
	"iter"
)

// Insolvencies are merchants that have failed.
type Insolvencies struct{ c *connection }

// List returns one page of insolvencies.
func (s *Insolvencies) List(ctx context.Context, query InsolvenciesQuery, page Page) ([]Insolvency, PageInfo, error) {
	return paged[[]Insolvency](ctx, s.c, s.c.resource("insolvencies"), query, page)
}

// All goes through all insolvencies, page by page, and stops at the first error.
func (s *Insolvencies) All(ctx context.Context, query InsolvenciesQuery) iter.Seq2[Insolvency, error] {
	return each[Insolvency](ctx, s.c, s.c.resource("insolvencies"), query)
}

// Get returns an insolvency.
func (s *Insolvencies) Get(ctx context.Context, id int64, options ...CallOption) (Insolvency, error) {
	return get[Insolvency](ctx, s.c, s.c.resource("insolvencies", id), nil, options...)
}

// Events returns the history of an insolvency.
func (s *Insolvencies) Events(ctx context.Context, id int64, options ...CallOption) ([]InsolvencyEvent, error) {
	return get[[]InsolvencyEvent](ctx, s.c, s.c.resource("insolvencies", id, "events"), nil, options...)
}

// Report reports the insolvency of a merchant. Another operator confirms it.
func (s *Insolvencies) Report(ctx context.Context, in InsolvencyReport, options ...CallOption) (Insolvency, error) {
	return create[Insolvency](ctx, s.c, s.c.resource("insolvencies"), in, options)
}

// Confirm confirms a reported insolvency: from now on, the merchant's new payments are not protected.
func (s *Insolvencies) Confirm(ctx context.Context, id int64, in Decision, options ...CallOption) (Insolvency, error) {
	return create[Insolvency](ctx, s.c, s.c.resource("insolvencies", id, "confirm"), in, options)
}

// Withdraw withdraws an insolvency that was reported by mistake.
func (s *Insolvencies) Withdraw(ctx context.Context, id int64, in Decision, options ...CallOption) (Insolvency, error) {
	return create[Insolvency](ctx, s.c, s.c.resource("insolvencies", id, "withdraw"), in, options)
}

// CloseClaims closes the insolvency to new claims.
func (s *Insolvencies) CloseClaims(ctx context.Context, id int64, in Decision, options ...CallOption) (Insolvency, error) {
	return create[Insolvency](ctx, s.c, s.c.resource("insolvencies", id, "close-claims"), in, options)
}

// Close closes an insolvency. The merchant remains insolvent until it is reinstated.
func (s *Insolvencies) Close(ctx context.Context, id int64, in Decision, options ...CallOption) (Insolvency, error) {
	return create[Insolvency](ctx, s.c, s.c.resource("insolvencies", id, "close"), in, options)
}

// Reinstate reinstates the merchant. If another operator has to approve it, the error is a *WaitingError.
func (s *Insolvencies) Reinstate(ctx context.Context, id int64, in Decision, options ...CallOption) (Insolvency, error) {
	return create[Insolvency](ctx, s.c, s.c.resource("insolvencies", id, "reinstate"), in, options)
}

// AllowProcessing allows the merchant's processor to carry out refunds. If another operator has to approve it, the
// error is a *WaitingError.
func (s *Insolvencies) AllowProcessing(ctx context.Context, id int64, in Decision, options ...CallOption) (Insolvency, error) {
	return create[Insolvency](ctx, s.c, s.c.resource("insolvencies", id, "allow-processing"), in, options)
}

// Affected returns one page of the affected payments, starting with travellers who are away now.
func (s *Insolvencies) Affected(ctx context.Context, id int64, query AffectedQuery, page Page) ([]AffectedPayment, PageInfo, error) {
	return paged[[]AffectedPayment](ctx, s.c, s.c.resource("insolvencies", id, "affected"), query, page)
}

// AllAffected iterates over all affected payments, page by page, and stops at the first error.
func (s *Insolvencies) AllAffected(ctx context.Context, id int64, query AffectedQuery) iter.Seq2[AffectedPayment, error] {
	return each[AffectedPayment](ctx, s.c, s.c.resource("insolvencies", id, "affected"), query)
}

// Figures returns the exposed, payable, covered, paid and recovered amounts.
func (s *Insolvencies) Figures(ctx context.Context, id int64, options ...CallOption) (InsolvencyFigures, error) {
	return get[InsolvencyFigures](ctx, s.c, s.c.resource("insolvencies", id, "report"), nil, options...)
}

// AffectedCSV downloads the affected payments as CSV.
func (s *Insolvencies) AffectedCSV(ctx context.Context, id int64) ([]byte, error) {
	return s.c.file(ctx, s.c.resource("insolvencies", id, "affected", "csv"), nil)
}

// AffectedXLSX downloads the affected payments as an Excel workbook.
func (s *Insolvencies) AffectedXLSX(ctx context.Context, id int64) ([]byte, error) {
	return s.c.file(ctx, s.c.resource("insolvencies", id, "affected", "xlsx"), nil)
}

// Snapshot downloads the snapshot. Its SHA-256 is that of the insolvency.
func (s *Insolvencies) Snapshot(ctx context.Context, id int64) ([]byte, error) {
	return s.c.file(ctx, s.c.resource("insolvencies", id, "snapshot"), nil)
}
