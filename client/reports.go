package client

import (
	"context"
	"iter"
)

// Reports show what would be lost if merchants failed, when this risk ends, and why two days differ. Amounts are in the
// report's Currency; nil means that a rate is missing. Too many concurrent reports return 429 or 503 with Retry-After,
// which the client respects.
type Reports struct{ c *connection }

// Exposure is what would be lost at the end of a day (E1), what can still be charged back (E2), and more.
func (s *Reports) Exposure(ctx context.Context, query ExposureQuery) (Exposure, error) {
	return get[Exposure](ctx, s.c, s.c.resource("exposure"), query)
}

// RunOff is how much of the exposure remains on each later day.
func (s *Reports) RunOff(ctx context.Context, query RunOffQuery) (RunOff, error) {
	return get[RunOff](ctx, s.c, s.c.resource("exposure", "run-off"), query)
}

// Ageing is the exposure by the time left until the trip.
func (s *Reports) Ageing(ctx context.Context, query AgeingQuery) (Ageing, error) {
	return get[Ageing](ctx, s.c, s.c.resource("exposure", "ageing"), query)
}

// Movement explains why the exposure of two days differs.
func (s *Reports) Movement(ctx context.Context, query MovementQuery) (Movement, error) {
	return get[Movement](ctx, s.c, s.c.resource("exposure", "movement"), query)
}

// Model compares an estimate from turnover with the exposure.
func (s *Reports) Model(ctx context.Context, query ModelQuery) (Model, error) {
	return get[Model](ctx, s.c, s.c.resource("exposure", "model"), query)
}

// WhatIf estimates what the failure of channels would cost.
func (s *Reports) WhatIf(ctx context.Context, query WhatIfQuery) (WhatIf, error) {
	return get[WhatIf](ctx, s.c, s.c.resource("exposure", "what-if"), query)
}

// Details returns one page of the payments behind a figure of Exposure, RunOff or Ageing.
func (s *Reports) Details(ctx context.Context, query ExposureDetailsQuery, page Page) (ExposureDetails, PageInfo, error) {
	return paged[ExposureDetails](ctx, s.c, s.c.resource("exposure", "details"), query, page)
}

// AllDetails iterates over all payments behind a figure of Exposure, RunOff or Ageing. Set KnownAt, so that all pages
// show the same state.
func (s *Reports) AllDetails(ctx context.Context, query ExposureDetailsQuery) iter.Seq2[ExposureDetail, error] {
	return all(func(n Page) (ExposureDetails, PageInfo, error) { return s.Details(ctx, query, n) },
		func(d ExposureDetails) []ExposureDetail { return d.Rows })
}

// MovementDetails returns one page of the payments behind a figure of Movement.
func (s *Reports) MovementDetails(ctx context.Context, query MovementDetailsQuery, page Page) (MovementDetails, PageInfo, error) {
	return paged[MovementDetails](ctx, s.c, s.c.resource("exposure", "movement", "details"), query, page)
}

// TrackRecord returns the outcomes of a channel's card payments, by the month in which they were made.
func (s *Reports) TrackRecord(ctx context.Context, channel int64, query TrackRecordQuery) (TrackRecord, error) {
	return get[TrackRecord](ctx, s.c, s.c.resource("channels", channel, "record"), query)
}

// AllMovementDetails iterates over all payments behind a figure of Movement. Set KnownAt, so that all pages show the
// same state.
func (s *Reports) AllMovementDetails(ctx context.Context, query MovementDetailsQuery) iter.Seq2[MovementDetail, error] {
	return all(func(n Page) (MovementDetails, PageInfo, error) { return s.MovementDetails(ctx, query, n) },
		func(d MovementDetails) []MovementDetail { return d.Rows })
}

// ModelDetails returns one page of the payments behind the estimate of Model.
func (s *Reports) ModelDetails(ctx context.Context, query ModelDetailsQuery, page Page) (ModelDetails, PageInfo, error) {
	return paged[ModelDetails](ctx, s.c, s.c.resource("exposure", "model", "details"), query, page)
}

// AllModelDetails iterates over all payments behind the estimate of Model. Set KnownAt, so that all pages show the same
// state.
func (s *Reports) AllModelDetails(ctx context.Context, query ModelDetailsQuery) iter.Seq2[ModelDetail, error] {
	return all(func(n Page) (ModelDetails, PageInfo, error) { return s.ModelDetails(ctx, query, n) },
		func(d ModelDetails) []ModelDetail { return d.Rows })
}

// Limits set how much exposure is acceptable. A limit never rejects a payment.
type Limits struct{ c *connection }

// List returns one page of limits, with their use.
func (s *Limits) List(ctx context.Context, query LimitsQuery, page Page) ([]LimitRow, PageInfo, error) {
	return paged[[]LimitRow](ctx, s.c, s.c.resource("limits"), query, page)
}

// All iterates over all limits, with their use, page by page, and stops at the first error. Items added during the
// iteration may or may not be included.
func (s *Limits) All(ctx context.Context, query LimitsQuery) iter.Seq2[LimitRow, error] {
	return each[LimitRow](ctx, s.c, s.c.resource("limits"), query)
}

// Get returns a limit.
func (s *Limits) Get(ctx context.Context, id int64, options ...CallOption) (Limit, error) {
	return get[Limit](ctx, s.c, s.c.resource("limits", id), nil, options...)
}

// Create sets or lifts a limit. Outside a sandbox, a change that opens cover has to be approved by a second person: the
// error is then a *WaitingError.
func (s *Limits) Create(ctx context.Context, in LimitCreate, options ...CallOption) (Limit, error) {
	return create[Limit](ctx, s.c, s.c.resource("limits"), in, options)
}

// Events returns one page of limit events: when 80, 95 and 100 % of a limit were reached.
func (s *Limits) Events(ctx context.Context, query LimitEventsQuery, page Page) ([]LimitEvent, PageInfo, error) {
	return paged[[]LimitEvent](ctx, s.c, s.c.resource("limits", "events"), query, page)
}

// AllEvents iterates over all limit events.
func (s *Limits) AllEvents(ctx context.Context, query LimitEventsQuery) iter.Seq2[LimitEvent, error] {
	return each[LimitEvent](ctx, s.c, s.c.resource("limits", "events"), query)
}

// CollateralRecords are the collateral that merchants have provided. It is deducted from their exposure.
type CollateralRecords struct{ c *connection }

// List returns one page of collateral.
func (s *CollateralRecords) List(ctx context.Context, query CollateralQuery, page Page) ([]Collateral, PageInfo, error) {
	return paged[[]Collateral](ctx, s.c, s.c.resource("collateral"), query, page)
}

// All iterates over all collateral, page by page, and stops at the first error. Items added during the iteration may or
// may not be included.
func (s *CollateralRecords) All(ctx context.Context, query CollateralQuery) iter.Seq2[Collateral, error] {
	return each[Collateral](ctx, s.c, s.c.resource("collateral"), query)
}

// Get returns a record of collateral.
func (s *CollateralRecords) Get(ctx context.Context, id int64, options ...CallOption) (Collateral, error) {
	return get[Collateral](ctx, s.c, s.c.resource("collateral", id), nil, options...)
}

// Create records collateral, or corrects an earlier record.
func (s *CollateralRecords) Create(ctx context.Context, in CollateralCreate, options ...CallOption) (Collateral, error) {
	return create[Collateral](ctx, s.c, s.c.resource("collateral"), in, options)
}
