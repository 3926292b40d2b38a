package client

import (
	"context"
	"errors"
	"iter"
)

// Rates are exchange rates per euro, as texts of decimals.
type Rates struct{ c *connection }

// List reads one page of rates.
func (s *Rates) List(ctx context.Context, query RatesQuery, page Page) ([]Rate, PageInfo, error) {
	return paged[[]Rate](ctx, s.c, s.c.resource("rates"), query, page)
}

// All goes through all of rates, page by page. An error ends it. A list that grows meanwhile may end with the new
// items, or without.
func (s *Rates) All(ctx context.Context, query RatesQuery) iter.Seq2[Rate, error] {
	return each[Rate](ctx, s.c, s.c.resource("rates"), query)
}

// Create proposes a rate that no provider has. The proposal is done at once in a sandbox, and waits for another person
// elsewhere: its State says which.
func (s *Rates) Create(ctx context.Context, in RateCreate, options ...CallOption) (Proposal, error) {
	made, err := create[Proposal](ctx, s.c, s.c.resource("rates"), in, options)
	if waiting := (*WaitingError)(nil); errors.As(err, &waiting) {
		return waiting.Proposal, nil
	}
	return made, err
}

// SandboxClock is the clock of the site. In a sandbox it can be moved on.
type SandboxClock struct{ c *connection }

// Get reads the clock.
func (s *SandboxClock) Get(ctx context.Context) (Clock, error) {
	return get[Clock](ctx, s.c, s.c.resource("clock"), nil)
}

// Move sets the clock of a sandbox to a later time.
func (s *SandboxClock) Move(ctx context.Context, in ClockMove, options ...CallOption) (Clock, error) {
	return create[Clock](ctx, s.c, s.c.resource("clock"), in, options)
}

// Proposals are changes that need a second person.
type Proposals struct{ c *connection }

// List reads one page of proposals.
func (s *Proposals) List(ctx context.Context, query ProposalsQuery, page Page) ([]Proposal, PageInfo, error) {
	return paged[[]Proposal](ctx, s.c, s.c.resource("proposals"), query, page)
}

// All goes through all of proposals, page by page. An error ends it. A list that grows meanwhile may end with the new
// items, or without.
func (s *Proposals) All(ctx context.Context, query ProposalsQuery) iter.Seq2[Proposal, error] {
	return each[Proposal](ctx, s.c, s.c.resource("proposals"), query)
}

// Get reads a proposal.
func (s *Proposals) Get(ctx context.Context, id int64, options ...CallOption) (Proposal, error) {
	return get[Proposal](ctx, s.c, s.c.resource("proposals", id), nil, options...)
}

// Approve carries the change out. It takes another operator than the one who proposed it.
func (s *Proposals) Approve(ctx context.Context, id int64, in Decision, options ...CallOption) (Proposal, error) {
	return create[Proposal](ctx, s.c, s.c.resource("proposals", id, "approve"), in, options)
}

// Reject ends the proposal of another operator.
func (s *Proposals) Reject(ctx context.Context, id int64, in Decision, options ...CallOption) (Proposal, error) {
	return create[Proposal](ctx, s.c, s.c.resource("proposals", id, "reject"), in, options)
}

// Withdraw ends an own proposal.
func (s *Proposals) Withdraw(ctx context.Context, id int64, in Decision, options ...CallOption) (Proposal, error) {
	return create[Proposal](ctx, s.c, s.c.resource("proposals", id, "withdraw"), in, options)
}

// AuditTrail is the record of all changes of settings, as a chain.
type AuditTrail struct{ c *connection }

// List reads one page of the audit.
func (s *AuditTrail) List(ctx context.Context, query AuditQuery, page Page) ([]AuditRecord, PageInfo, error) {
	return paged[[]AuditRecord](ctx, s.c, s.c.resource("audit"), query, page)
}

// All goes through all of the audit, page by page. An error ends it. A list that grows meanwhile may end with the new
// items, or without.
func (s *AuditTrail) All(ctx context.Context, query AuditQuery) iter.Seq2[AuditRecord, error] {
	return each[AuditRecord](ctx, s.c, s.c.resource("audit"), query)
}
