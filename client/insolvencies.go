package client

import (
	"context"
	"iter"
)

// Insolvencies are merchants that have failed.
type Insolvencies struct{ c *connection }

// List reads one page of insolvencies.
func (s *Insolvencies) List(ctx context.Context, query InsolvenciesQuery, page Page) ([]Insolvency, PageInfo, error) {
	return paged[[]Insolvency](ctx, s.c, s.c.resource("insolvencies"), query, page)
}

// All goes through all insolvencies, page by page. An error ends it.
func (s *Insolvencies) All(ctx context.Context, query InsolvenciesQuery) iter.Seq2[Insolvency, error] {
	return each[Insolvency](ctx, s.c, s.c.resource("insolvencies"), query)
}

// Get reads an insolvency.
func (s *Insolvencies) Get(ctx context.Context, id int64, options ...CallOption) (Insolvency, error) {
	return get[Insolvency](ctx, s.c, s.c.resource("insolvencies", id), nil, options...)
}

// Events reads the history of an insolvency.
func (s *Insolvencies) Events(ctx context.Context, id int64, options ...CallOption) ([]InsolvencyEvent, error) {
	return get[[]InsolvencyEvent](ctx, s.c, s.c.resource("insolvencies", id, "events"), nil, options...)
}

// Report reports that a merchant has failed. Another operator confirms it.
func (s *Insolvencies) Report(ctx context.Context, in InsolvencyReport, options ...CallOption) (Insolvency, error) {
	return create[Insolvency](ctx, s.c, s.c.resource("insolvencies"), in, options)
}

// Confirm makes a reported insolvency count: from now on, nothing of the merchant is protected.
func (s *Insolvencies) Confirm(ctx context.Context, id int64, in Decision, options ...CallOption) (Insolvency, error) {
	return create[Insolvency](ctx, s.c, s.c.resource("insolvencies", id, "confirm"), in, options)
}

// Withdraw ends an insolvency that was a mistake.
func (s *Insolvencies) Withdraw(ctx context.Context, id int64, in Decision, options ...CallOption) (Insolvency, error) {
	return create[Insolvency](ctx, s.c, s.c.resource("insolvencies", id, "withdraw"), in, options)
}

// CloseClaims ends the time for claims.
func (s *Insolvencies) CloseClaims(ctx context.Context, id int64, in Decision, options ...CallOption) (Insolvency, error) {
	return create[Insolvency](ctx, s.c, s.c.resource("insolvencies", id, "close-claims"), in, options)
}

// Close ends an insolvency. The merchant stays insolvent until it is reinstated.
func (s *Insolvencies) Close(ctx context.Context, id int64, in Decision, options ...CallOption) (Insolvency, error) {
	return create[Insolvency](ctx, s.c, s.c.resource("insolvencies", id, "close"), in, options)
}

// Reinstate takes the merchant on again. If another operator has to approve it, the error says so.
func (s *Insolvencies) Reinstate(ctx context.Context, id int64, in Decision, options ...CallOption) (Insolvency, error) {
	return create[Insolvency](ctx, s.c, s.c.resource("insolvencies", id, "reinstate"), in, options)
}

// AllowProcessing lets the processor of the merchant carry out refunds. If another operator has to approve it, the error says so.
func (s *Insolvencies) AllowProcessing(ctx context.Context, id int64, in Decision, options ...CallOption) (Insolvency, error) {
	return create[Insolvency](ctx, s.c, s.c.resource("insolvencies", id, "allow-processing"), in, options)
}

// Affected reads one page of the affected payments, those travelling now first.
func (s *Insolvencies) Affected(ctx context.Context, id int64, query AffectedQuery, page Page) ([]AffectedPayment, PageInfo, error) {
	return paged[[]AffectedPayment](ctx, s.c, s.c.resource("insolvencies", id, "affected"), query, page)
}

// AllAffected goes through all affected payments, page by page. An error ends it.
func (s *Insolvencies) AllAffected(ctx context.Context, id int64, query AffectedQuery) iter.Seq2[AffectedPayment, error] {
	return each[AffectedPayment](ctx, s.c, s.c.resource("insolvencies", id, "affected"), query)
}

// AffectedCSV reads the affected payments as a file.
func (s *Insolvencies) AffectedCSV(ctx context.Context, id int64) ([]byte, error) {
	return s.c.file(ctx, s.c.resource("insolvencies", id, "affected", "csv"), nil)
}

// AffectedXLSX reads the affected payments as a spreadsheet.
func (s *Insolvencies) AffectedXLSX(ctx context.Context, id int64) ([]byte, error) {
	return s.c.file(ctx, s.c.resource("insolvencies", id, "affected", "xlsx"), nil)
}

// Snapshot reads the snapshot as text, whose SHA-256 is that of the insolvency.
func (s *Insolvencies) Snapshot(ctx context.Context, id int64) ([]byte, error) {
	return s.c.file(ctx, s.c.resource("insolvencies", id, "snapshot"), nil)
}
