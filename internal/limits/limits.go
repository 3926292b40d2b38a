package limits

import (
	"context"
	"fmt"
	"slices"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/ledger"
	"holdfast/internal/merchants"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// Limits says what transactions, bookings, channels and sites may come to, and what is over (R12). It refuses nothing.
type Limits struct{ *core.Core }

// NewLimits makes the use cases.
func NewLimits(c *core.Core) *Limits {
	c.Kinds.Register(travel.ProposeLimits, core.Kind{Carry: carryOutLimit})
	return &Limits{c}
}

// LimitFields asks for a limit.
type LimitFields struct {
	Problems  fault.Problems
	Once      travel.Once
	Scope     *protection.LimitScope
	ChannelID *int64     // of this channel alone
	From      *civil.Day // in force from this day; today where it is nil
	Amount    *int64     // minor units of the policy currency
	Lift      bool       // no limit of its own from then on
	Note      string
}

// Set adds a limit. It needs two people: outside a sandbox it is a proposal at first, which comes back in place of one.
func (l *Limits) Set(ctx context.Context, actor auth.Actor, in LimitFields) (protection.Limit, error) {
	if err := actor.Require(auth.WriteLimits); err != nil {
		return protection.Limit{}, err
	}
	set := func(tx *db.Tx) (made protection.Limit, outcome core.Outcome, err error) {
		limit, err := in.limit(tx, actor) // judged now, so that nothing wrong is proposed
		if err != nil {
			return made, outcome, err
		}
		proposal, err := core.Request(l.Core, tx, actor, travel.Proposal{
			Kind: travel.ProposeLimits, Subject: "limit of " + string(limit.Scope), Reason: in.Note,
		}, in.terms(), func() (any, error) {
			made, err = applyLimit(tx, actor, in)
			return core.MadeID{ID: made.ID}, err
		})
		if err == nil && proposal.State == travel.ProposalOpen {
			return protection.Limit{Proposal: &proposal}, core.Outcome{ProposalID: proposal.ID}, nil
		}
		return made, core.Outcome{ID: made.ID}, err
	}
	return core.Create(ctx, l.Core, actor, in.Once, set, func(ctx context.Context, made core.Outcome) (protection.Limit, error) {
		if made.ProposalID == 0 {
			return l.Get(ctx, actor, made.ID)
		}
		proposal, err := core.FindProposal(ctx, l.Core, actor, made.ProposalID)
		return protection.Limit{Proposal: &proposal}, err
	})
}

// applyLimit checks and stores a limit inside a write, and has the uses judged by it.
func applyLimit(tx *db.Tx, actor auth.Actor, in LimitFields) (protection.Limit, error) {
	limit, err := in.limit(tx, actor)
	if err != nil {
		return limit, err
	}
	if limit, err = InsertLimit(tx, limit); err != nil {
		return limit, err
	}
	NoteChange(tx, limit.SiteID, ChangeLimit, 0, 0)
	if limit.Scope == protection.LimitTransaction || limit.Scope == protection.LimitBooking {
		if err := BeginReview(tx, limit); err != nil {
			return limit, err
		}
	}
	return limit, core.Record(tx, actor, "limit.set", limitObject(limit), nil, auditLimit(limit))
}

// limit checks the fields and makes the limit of them.
func (in LimitFields) limit(tx *db.Tx, actor auth.Actor) (protection.Limit, error) {
	p := in.Problems.Clone()
	today := civil.DayOf(tx.Now)
	limit := protection.Limit{
		SiteID: actor.SiteID, FromDay: today, Lifted: in.Lift, Note: in.Note, AuthorID: actor.UserID, Author: actor.Username,
	}
	if in.Scope == nil {
		p.Missing("scope")
	} else if limit.Scope = *in.Scope; !slices.Contains(protection.LimitScopes, limit.Scope) {
		p.Wrong("scope", "This is not one of transaction, booking, channel, site.")
	}
	if in.ChannelID != nil {
		limit.ChannelID = *in.ChannelID
		if limit.Scope == protection.LimitSite {
			p.Wrong("channels", "A limit of the site has no channel.")
		} else if _, err := merchants.Channel(tx, actor.SiteID, limit.ChannelID); err != nil {
			p.Wrong("channels", "There is no channel %d.", limit.ChannelID)
		}
	}
	if in.From != nil {
		limit.FromDay = *in.From
	}
	// What was judged by the limits of a day stays as it is.
	if limit.FromDay < today {
		p.Wrong("from", "A limit begins today or later.")
	}
	in.checkAmount(&limit, &p)
	core.CheckNote(&p, "note", in.Note)
	if err := p.Err(); err != nil {
		return limit, err
	}
	policy, err := merchants.PolicyOn(tx, actor.SiteID, limit.FromDay)
	limit.Currency = policy.Currency
	return limit, err
}

func (in LimitFields) checkAmount(limit *protection.Limit, p *fault.Problems) {
	switch {
	case in.Lift && in.Amount != nil:
		p.Wrong("amount", "A limit that is lifted has no amount.")
	case in.Lift:
	case in.Amount == nil:
		if !p.Has("amount") {
			p.Missing("amount")
		}
	case *in.Amount < 1 || *in.Amount > travel.MaxAmount:
		p.Wrong("amount", "An amount between 1 and %d is expected.", int64(travel.MaxAmount))
	default:
		limit.Amount = *in.Amount
	}
}

// Get reads one limit.
func (l *Limits) Get(ctx context.Context, actor auth.Actor, id int64) (protection.Limit, error) {
	found, err := core.Read(ctx, l.Core, actor, func(tx *db.Tx) (protection.Limit, error) { return Limit(tx, actor.SiteID, id) })
	return found, core.NotFoundAs(fault.SettingNotFound, err, "There is no limit %d.", id)
}

// LimitRow is a limit in force and what is used of it. Of transactions and bookings there is no one use: each has its
// own.
type LimitRow struct {
	protection.Limit
	ChannelID   int64 // whose use it is; 0 for the site, and for every one
	ChannelName string
	HasUse      bool
	Use         int64 // E1 locked, minor units of the limit's currency
	Headroom    int64
	Over        int64
	Level       int64
	// NotInForce says why payments that are logged now do not count against the limit; empty where they do.
	NotInForce string
}

// LimitFilter chooses rows; empty fields choose all.
type LimitFilter struct {
	Scopes   []protection.LimitScope
	Channels []int64
	Over     bool // only what is over
}

// List reads the limits in force today with the running uses: a row for the site, for each channel that is limited, and
// for each limit of transactions and bookings.
func (l *Limits) List(ctx context.Context, actor auth.Actor, f LimitFilter, page travel.Page) (travel.List[LimitRow], error) {
	return core.Read(ctx, l.Core, actor, func(tx *db.Tx) (list travel.List[LimitRow], err error) {
		rows, err := limitRows(tx, actor.SiteID)
		if err != nil {
			return list, err
		}
		rows = slices.DeleteFunc(rows, func(r LimitRow) bool {
			return len(f.Scopes) > 0 && !slices.Contains(f.Scopes, r.Scope) || f.Over && r.Over == 0 ||
				len(f.Channels) > 0 && !slices.Contains(f.Channels, r.ChannelID)
		})
		return core.PageOf(rows, page), nil
	})
}

func limitRows(tx *db.Tx, siteID int64) ([]LimitRow, error) {
	today := civil.DayOf(tx.Now)
	limits, err := LimitsUpTo(tx, siteID, today)
	if err != nil {
		return nil, err
	}
	stored, err := RunningUses(tx, siteID)
	if err != nil {
		return nil, err
	}
	names, err := ledger.ChannelNamesAt(tx, siteID, everything)
	if err != nil {
		return nil, err
	}
	policy, err := merchants.PolicyOn(tx, siteID, today)
	if err != nil {
		return nil, err
	}
	type key struct {
		scope    protection.LimitScope
		object   int64
		currency money.Currency
	}
	uses := map[key]RunningUse{}
	for _, u := range stored {
		uses[key{u.Scope, u.ObjectID, u.Currency}] = u
	}
	channels := []int64{0}
	for id := range names {
		channels = append(channels, id)
	}
	slices.Sort(channels)
	var rows []LimitRow
	for _, scope := range []protection.LimitScope{protection.LimitSite, protection.LimitChannel, protection.LimitBooking, protection.LimitTransaction} {
		for _, id := range channels {
			limit, ok := limits.InForce(scope, id, today, everything)
			// The general limit of a booking or transaction is one row, that of channels one for each of them.
			general := id == 0 && scope != protection.LimitChannel
			ownOnly := scope == protection.LimitBooking || scope == protection.LimitTransaction
			if !ok || !general && (id == 0 || scope == protection.LimitSite || ownOnly && limit.ChannelID != id) {
				continue
			}
			row := LimitRow{Limit: limit, ChannelID: id, ChannelName: names[id], HasUse: !ownOnly}
			row.NotInForce = notInForce(limit, policy)
			if row.HasUse {
				u := uses[key{scope, id, limit.Currency}]
				row.Use, row.Level = u.Amount, limit.Level(u.Amount)
				row.Headroom, row.Over = limit.Headroom(u.Amount), max(0, u.Amount-limit.Amount)
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// notInForce says why nothing new counts against a limit of another currency than the policy's: amounts of two
// currencies are not compared.
func notInForce(l protection.Limit, p travel.Policy) string {
	if l.Currency == p.Currency {
		return ""
	}
	return fmt.Sprintf("The policy in force since %s is in %s: no payment under it counts against a limit in %s, only what was "+
		"paid under an older policy does. Set a limit in %s.", p.FromDay, p.Currency, l.Currency, p.Currency)
}

// LimitEvents is a filter of the list of events.
type LimitEvents struct {
	Scopes   []protection.LimitScope
	Channels []int64
	Percent  int64
	After    time.Time
}

// Events reads one page of the events: uses that rose to 80, 95 or 100 % of their limit.
func (l *Limits) Events(
	ctx context.Context, actor auth.Actor, f LimitEvents, page travel.Page,
) (travel.List[protection.LimitEvent], error) {
	return core.Read(ctx, l.Core, actor, func(tx *db.Tx) (travel.List[protection.LimitEvent], error) {
		return eventsPage(tx, actor.SiteID, LimitEventFilter(f), page)
	})
}
