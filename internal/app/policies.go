package app

import (
	"context"
	"errors"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// Policies is what a site has agreed with the protection provider, and when. One is added, none is ever changed.
type Policies struct{ *Core }

// List reads one page of the site's policies; where a day is named only the one that is in force on it.
func (p *Policies) List(
	ctx context.Context, actor auth.Actor, on *civil.Day, page travel.Page,
) (travel.List[travel.Policy], error) {
	return read(ctx, p.Core, actor, func(tx *store.Tx) (travel.List[travel.Policy], error) {
		return tx.Policies(actor.SiteID, on, page)
	})
}

// Get reads one policy.
func (p *Policies) Get(ctx context.Context, actor auth.Actor, id int64) (travel.Policy, error) {
	found, err := read(ctx, p.Core, actor, func(tx *store.Tx) (travel.Policy, error) {
		return tx.Policy(actor.SiteID, id)
	})
	return found, unknownAs(fault.UnknownTerm, err, "There is no policy %d.", id)
}

// On reads the policy that is in force on a day, today where none is named.
func (p *Policies) On(ctx context.Context, actor auth.Actor, day *civil.Day) (travel.Policy, error) {
	return read(ctx, p.Core, actor, func(tx *store.Tx) (travel.Policy, error) {
		if day == nil {
			return tx.PolicyOn(actor.SiteID, civil.DayOf(tx.Now))
		}
		return tx.PolicyOn(actor.SiteID, *day)
	})
}

// Set adds the policy that is in force from a day on. What the fields leave open stays as it is in the policy in force
// on that day. What was computed before stays as it was: an allocation keeps the policy that it was recorded under. It
// needs two people: outside a sandbox it is a proposal at first, which comes back in place of a policy.
func (p *Policies) Set(ctx context.Context, actor auth.Actor, in travel.PolicyFields) (travel.Policy, error) {
	if err := actor.Require(auth.WritePolicies); err != nil {
		return travel.Policy{}, err
	}
	return write(ctx, p.Core, actor, func(tx *store.Tx) (made travel.Policy, err error) {
		next, err := nextPolicy(tx, actor.SiteID, in)
		if err != nil {
			return made, err
		}
		proposal, err := p.request(tx, actor, travel.Proposal{
			Kind: travel.ProposePolicy, Subject: "policy from " + next.FromDay.String(), Reason: in.Reason,
		}, termsOf(in), func() (any, error) {
			made, err = applyPolicy(tx, actor, next)
			return madeID{made.ID}, err
		})
		if err != nil {
			return made, err
		}
		if proposal.State == travel.ProposalOpen {
			return travel.Policy{Proposal: &proposal}, once(tx, actor, in.Once, -proposal.ID)
		}
		return made, once(tx, actor, in.Once, made.ID)
	})
}

// nextPolicy checks what is said about a new policy and completes it.
func nextPolicy(tx *store.Tx, siteID int64, in travel.PolicyFields) (travel.Policy, error) {
	problems := in.Problems.Clone()
	from := civil.DayOf(tx.Now)
	if in.From != nil {
		from = *in.From
	}
	before, err := tx.PolicyOn(siteID, from)
	if err != nil {
		return travel.Policy{}, unknownAs(fault.UnknownTerm, err, "There is no site %d.", siteID)
	}
	next := in.After(before, &problems)
	for _, id := range next.RateCard.Channels() {
		_, err := tx.Channel(siteID, id)
		if errors.Is(err, store.ErrNotFound) {
			problems.Wrong("rate_card", "There is no channel %d.", id)
		} else if err != nil {
			return travel.Policy{}, err
		}
	}
	return next, problems.Err()
}

// applyPolicy adds a policy that was checked by nextPolicy.
func applyPolicy(tx *store.Tx, actor auth.Actor, p travel.Policy) (travel.Policy, error) {
	before, err := tx.PolicyOn(actor.SiteID, p.FromDay)
	if err != nil {
		return p, err
	}
	made, err := tx.InsertPolicy(actor.SiteID, p)
	if err != nil {
		return made, err
	}
	return made, audit(tx, actor, "policy.change", policyObject(made), auditPolicy(before), auditPolicy(made))
}
