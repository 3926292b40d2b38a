package client

import (
	"context"
	"errors"
	"iter"
)

// Rates are exchange rates per euro, as decimal strings.
type Rates struct{ c *connection }

// List returns one page of rates.
func (s *Rates) List(ctx context.Context, query RatesQuery, page Page) ([]Rate, PageInfo, error) {
	return paged[[]Rate](ctx, s.c, s.c.resource("rates"), query, page)
}

// All iterates over all rates, page by page, and stops at the first error. Items added during the iteration may or may
// not be included.
func (s *Rates) All(ctx context.Context, query RatesQuery) iter.Seq2[Rate, error] {
	return each[Rate](ctx, s.c, s.c.resource("rates"), query)
}

// Create proposes a rate that no provider publishes. In a sandbox the proposal is applied immediately; elsewhere it
// waits for a second person. Its State says which.
func (s *Rates) Create(ctx context.Context, in RateCreate, options ...CallOption) (Proposal, error) {
	made, err := create[Proposal](ctx, s.c, s.c.resource("rates"), in, options)
	if waiting := (*WaitingError)(nil); errors.As(err, &waiting) {
		return waiting.Proposal, nil
	}
	return made, err
}

// SandboxClock is the clock of the site. In a sandbox it can be moved forward.
type SandboxClock struct{ c *connection }

// Get returns the time of the clock.
func (s *SandboxClock) Get(ctx context.Context) (Clock, error) {
	return get[Clock](ctx, s.c, s.c.resource("clock"), nil)
}

// Move sets the clock of a sandbox to a later time.
func (s *SandboxClock) Move(ctx context.Context, in ClockMove, options ...CallOption) (Clock, error) {
	return create[Clock](ctx, s.c, s.c.resource("clock"), in, options)
}

// Proposals are changes that need a second person.
type Proposals struct{ c *connection }

// List returns one page of proposals.
func (s *Proposals) List(ctx context.Context, query ProposalsQuery, page Page) ([]Proposal, PageInfo, error) {
	return paged[[]Proposal](ctx, s.c, s.c.resource("proposals"), query, page)
}

// All iterates over all proposals, page by page, and stops at the first error. Items added during the iteration may or
// may not be included.
func (s *Proposals) All(ctx context.Context, query ProposalsQuery) iter.Seq2[Proposal, error] {
	return each[Proposal](ctx, s.c, s.c.resource("proposals"), query)
}

// Get returns a proposal.
func (s *Proposals) Get(ctx context.Context, id int64, options ...CallOption) (Proposal, error) {
	return get[Proposal](ctx, s.c, s.c.resource("proposals", id), nil, options...)
}

// Approve approves a proposal and applies the change. The operator who proposed it cannot approve it.
func (s *Proposals) Approve(ctx context.Context, id int64, in Decision, options ...CallOption) (Proposal, error) {
	return create[Proposal](ctx, s.c, s.c.resource("proposals", id, "approve"), in, options)
}

// Reject rejects the proposal of another operator.
func (s *Proposals) Reject(ctx context.Context, id int64, in Decision, options ...CallOption) (Proposal, error) {
	return create[Proposal](ctx, s.c, s.c.resource("proposals", id, "reject"), in, options)
}

// Withdraw withdraws your own proposal.
func (s *Proposals) Withdraw(ctx context.Context, id int64, in Decision, options ...CallOption) (Proposal, error) {
	return create[Proposal](ctx, s.c, s.c.resource("proposals", id, "withdraw"), in, options)
}

// AuditTrail is the audit log: a hash chain of all changes to settings.
type AuditTrail struct{ c *connection }

// List returns one page of the audit log.
func (s *AuditTrail) List(ctx context.Context, query AuditQuery, page Page) ([]AuditRecord, PageInfo, error) {
	return paged[[]AuditRecord](ctx, s.c, s.c.resource("audit"), query, page)
}

// All iterates over all entries of the audit log, page by page, and stops at the first error. Items added during the
// iteration may or may not be included.
func (s *AuditTrail) All(ctx context.Context, query AuditQuery) iter.Seq2[AuditRecord, error] {
	return each[AuditRecord](ctx, s.c, s.c.resource("audit"), query)
}
