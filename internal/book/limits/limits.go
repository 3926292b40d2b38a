package limits

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Limits manages the limits of transactions, bookings, channels and sites, and records what exceeds them (R12). A limit
// never rejects a payment.
type Limits struct {
	*sites.DB
	Approvals *approvals.Approvals
	Reviewed  int // allocations in one write of the review of a limit
}

// Register registers how an approved proposal of a limit is carried out.
func (l *Limits) Register() *Limits {
	l.Approvals.Register(proposal.Limits, approvals.Kind{Carry: carryOutLimit, Effect: l.effect})
	return l
}

// LimitFields are the fields of a request for a new limit.
type LimitFields struct {
	Problems  errs.Problems
	Scope     *protection.LimitScope
	ChannelID *int64         // for this channel only; nil: for all
	From      *civil.Day     // in force from this day on; nil: today
	Amount    *int64         // minor units of the policy currency
	Currency  money.Currency // if given, it must be that of the policy
	Lift      bool           // end the limit from that day on
	Note      string
}

// Set adds a limit. It needs two people: outside a sandbox the result has an open proposal and no limit yet. It needs the
// permission WriteLimits.
func (l *Limits) Set(ctx context.Context, actor access.Actor, in LimitFields) (protection.Limit, error) {
	if err := actor.Require(access.WriteLimits); err != nil {
		return protection.Limit{}, err
	}
	set := func(tx *store.Tx) (made protection.Limit, outcome idempotency.Outcome, err error) {
		limit, err := in.limit(tx, actor) // check it now, so that a proposal is never wrong
		if err != nil {
			return made, outcome, err
		}
		p, err := l.Approvals.Request(tx, actor, proposal.Proposal{
			Kind: proposal.Limits, Subject: "limit of " + string(limit.Scope), Reason: in.Note,
		}, in.terms(limit.Currency), func() (any, error) {
			made, err = applyLimit(tx, actor, in)
			return approvals.MadeID{ID: made.ID}, err
		})
		if err == nil && p.State == proposal.Open {
			return protection.Limit{Proposal: &p}, idempotency.Outcome{ProposalID: p.ID}, nil
		}
		return made, idempotency.Outcome{ID: made.ID}, err
	}
	return idempotency.Once(ctx, l.DB, actor, set, func(ctx context.Context, made idempotency.Outcome) (protection.Limit, error) {
		if made.ProposalID == 0 {
			return l.Get(ctx, actor, made.ID)
		}
		proposal, err := l.Approvals.Find(ctx, actor, made.ProposalID)
		return protection.Limit{Proposal: &proposal}, err
	})
}

// applyLimit checks and stores a limit inside a write, and has the job judge all uses by it.
func applyLimit(tx *store.Tx, actor access.Actor, in LimitFields) (protection.Limit, error) {
	limit, err := in.limit(tx, actor)
	if err != nil {
		return limit, err
	}
	if limit, err = insertLimit(tx, limit); err != nil {
		return limit, err
	}
	NoteChange(tx, limit.SiteID, ChangeLimit, 0, 0)
	if limit.Scope == protection.LimitTransaction || limit.Scope == protection.LimitBooking {
		if err := beginReview(tx, limit); err != nil {
			return limit, err
		}
	}
	return limit, audit.Record(tx, actor, "limit.set", limitObject(limit), nil, auditLimit(limit))
}

// limit checks the fields and makes a limit from them.
func (in LimitFields) limit(tx *store.Tx, actor access.Actor) (protection.Limit, error) {
	p := in.Problems.Clone()
	today := civil.DayOf(tx.Now)
	limit := protection.Limit{
		SiteID: actor.SiteID, FromDay: today, Lifted: in.Lift, Note: in.Note, AuthorID: actor.UserID, Author: actor.Username,
	}
	if in.Scope == nil {
		p.Missing("scope")
	} else if limit.Scope = *in.Scope; !slices.Contains(protection.LimitScopes, limit.Scope) {
		p.Wrong("scope", "Must be one of: transaction, booking, channel, site.")
	}
	if in.ChannelID != nil {
		limit.ChannelID = *in.ChannelID
		if limit.Scope == protection.LimitSite {
			p.Wrong("channels", "Not allowed for a limit of the site.")
		} else if _, err := merchants.Channel(tx, actor.SiteID, limit.ChannelID); err != nil {
			p.Wrong("channels", "Channel %d not found.", limit.ChannelID)
		}
	}
	if in.From != nil {
		limit.FromDay = *in.From
	}
	// Payments of earlier days are judged already, and that stays as it is.
	if limit.FromDay < today {
		p.Wrong("from", "Must be today or later.")
	}
	in.checkAmount(&limit, &p)
	check.Note(&p, "note", in.Note)
	if err := p.Err(); err != nil {
		return limit, err
	}
	policy, err := merchants.PolicyOn(tx, actor.SiteID, limit.FromDay)
	if err == nil && in.Currency != "" && in.Currency != policy.Currency {
		return limit, errs.WrongField("amount", "The policy on %s is in %s, but this amount is in %s.", limit.FromDay,
			policy.Currency, in.Currency)
	}
	limit.Currency = policy.Currency
	return limit, err
}

func (in LimitFields) checkAmount(limit *protection.Limit, p *errs.Problems) {
	switch {
	case in.Lift && in.Amount != nil:
		p.Wrong("amount", "Give either an amount or lift, not both.")
	case in.Lift:
	case in.Amount == nil:
		if !p.Has("amount") {
			p.Missing("amount")
		}
	case *in.Amount < 1 || *in.Amount > check.MaxAmount:
		p.Wrong("amount", "Must be between 1 and %d.", int64(check.MaxAmount))
	default:
		limit.Amount = *in.Amount
	}
}

// Get reads one limit. If there is none, the error has the kind SettingNotFound.
func (l *Limits) Get(ctx context.Context, actor access.Actor, id int64) (protection.Limit, error) {
	found, err := sites.Read(ctx, l.DB, actor, func(tx *store.Tx) (protection.Limit, error) { return limitByID(tx, actor.SiteID, id) })
	return found, store.NotFoundAs(errs.SettingNotFound, err, "Limit %d not found.", id)
}

// History reads one page of all limits that were ever set, including past and future ones. If channelID is not 0, it
// reads the limits that apply to this channel: its own, and those for all channels.
func (l *Limits) History(ctx context.Context, actor access.Actor, channelID int64, page store.Page) (store.List[protection.Limit], error) {
	return sites.ReadPage(ctx, l.DB, actor, page, func(tx *store.Tx) (list store.List[protection.Limit], err error) {
		if err := checkChannels(tx, actor.SiteID, []int64{channelID}); err != nil {
			return list, err
		}
		return limitsPage(tx, actor.SiteID, channelID, page)
	})
}

// LimitRow is a limit in force and its use. A limit of transactions or bookings has no use here, because each
// transaction or booking has its own. Amounts are minor units of the limit's currency.
type LimitRow struct {
	protection.Limit
	ChannelID   int64 // the channel of the use; 0 for the site, or for a limit of every transaction or booking
	ChannelName string
	HasUse      bool
	Use         int64 // E1 at locked rates (R7), without amounts that have no rate yet
	Headroom    int64 // 0 while part of the use is waiting for a rate
	Over        int64
	Percent     string // the use as a percentage of the limit, rounded to one decimal
	Level       int64  // the highest of 80, 95 and 100 percent that the use has reached, or 0
	// Pending is the E1 waiting for a rate, ordered by currency. If there is any, the use is higher than Use (R12).
	Pending []PendingUse
	// NotInForce says why new payments do not count against the limit; empty if they do.
	NotInForce string
	// Unknown says why the limit has no use, although it is one of a channel or of the site; empty if it has one.
	Unknown string
}

// PendingUse is a part of a use that is waiting for a rate, in minor units of the base currency.
type PendingUse struct {
	Currency money.Currency
	Amount   int64
}

// LimitFilter chooses rows; empty fields choose all.
type LimitFilter struct {
	Scopes   []protection.LimitScope
	Channels []int64
	Over     bool // only limits that are exceeded
}

// List reads the limits in force today, with their running uses. There is a row for the site, one for each channel with a
// limit, and one for each limit of transactions or bookings.
func (l *Limits) List(ctx context.Context, actor access.Actor, f LimitFilter, page store.Page) (store.List[LimitRow], error) {
	return sites.ReadPage(ctx, l.DB, actor, page, func(tx *store.Tx) (list store.List[LimitRow], err error) {
		if err := checkChannels(tx, actor.SiteID, f.Channels); err != nil {
			return list, err
		}
		rows, err := limitRows(tx, actor.SiteID)
		if err != nil {
			return list, err
		}
		rows = slices.DeleteFunc(rows, func(r LimitRow) bool {
			return len(f.Scopes) > 0 && !slices.Contains(f.Scopes, r.Scope) || f.Over && r.Over == 0 ||
				len(f.Channels) > 0 && !slices.Contains(f.Channels, r.ChannelID)
		})
		return store.PageOf(rows, page, func(r LimitRow) (int64, time.Time) { return r.ID, r.RecordedAt }), nil
	})
}

// checkChannels returns an error for channels that the site does not have. 0 means no channel.
func checkChannels(tx *store.Tx, siteID int64, ids []int64) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return id == 0 })
	return merchants.KnownChannels(tx, siteID, ids)
}

func limitRows(tx *store.Tx, siteID int64) ([]LimitRow, error) {
	today := civil.DayOf(tx.Now)
	limits, err := LimitsUpTo(tx, siteID, today)
	if err != nil || len(limits) == 0 {
		return nil, err
	}
	uses, err := runningUses(tx, siteID)
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
	insolvent, err := merchants.InsolventSince(tx, siteID)
	if err != nil {
		return nil, err
	}
	v := newValuing(tx, siteID, today, policy.Currency)
	waiting, err := pendingUses(tx, siteID, today, policy.Recognition)
	if err != nil {
		return nil, err
	}
	channels := []int64{0}
	for id := range names {
		channels = append(channels, id)
	}
	slices.Sort(channels)
	var rows []LimitRow
	for _, scope := range []protection.LimitScope{
		protection.LimitSite, protection.LimitChannel, protection.LimitBooking, protection.LimitTransaction,
	} {
		for _, id := range channels {
			limit, ok := limits.InForce(scope, id, today, everything)
			// A general limit of bookings or transactions is one row. A general limit of channels is a row for each channel.
			general := id == 0 && scope != protection.LimitChannel
			ownOnly := scope == protection.LimitBooking || scope == protection.LimitTransaction
			if !ok || !general && (id == 0 || scope == protection.LimitSite || ownOnly && limit.ChannelID != id) {
				continue
			}
			row := LimitRow{Limit: limit, ChannelID: id, ChannelName: names[id], HasUse: !ownOnly}
			row.NotInForce = notInForce(limit, policy)
			if i := insolvent[id]; i.InForce() {
				row.NotInForce = "The merchant has been insolvent since " + i.Day().Long() + ". New payments are not protected and do not count."
			}
			if row.HasUse {
				use, known, err := uses.in(v, scope, id, limit.Currency)
				if err != nil {
					return nil, err
				}
				row.setUse(use, known, waiting[id])
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (r *LimitRow) setUse(use int64, known bool, waiting []PendingUse) {
	r.Pending = waiting
	if !known {
		r.HasUse = false
		r.Unknown = fmt.Sprintf("Part of the use was priced under a policy in another currency, and there is no rate from it to %s. "+
			"The use is therefore unknown.", r.Currency)
		return
	}
	r.Use, r.Percent, r.Level = use, r.Limit.Percent(use), r.Limit.Level(use)
	r.Over = max(0, use-r.Amount)
	if len(waiting) == 0 {
		r.Headroom = r.Limit.Headroom(use)
	}
}

// pendingUses returns the E1 waiting for a rate at the end of a day, by channel; 0 is the whole site. Linear delivery is not deducted:
// amounts without a rate count in full until the end of the trip.
func pendingUses(tx *store.Tx, siteID int64, day civil.Day, by terms.Recognition) (map[int64][]PendingUse, error) {
	// Most often nothing waits, and one look into an index says so.
	if first, err := ledger.PendingAllocations(tx, siteID, 0, 1); err != nil || len(first) == 0 {
		return nil, err
	}
	sums := map[int64]map[money.Currency]int64{0: {}}
	var broken error
	r := ledger.Reading{SiteID: siteID, Day: day}
	err := ledger.ExposureOn(tx, r, []exposure.View{exposure.ChannelView}, func(_ exposure.View, c exposure.Cell, t exposure.Tally) {
		if c.Category != exposure.Covered || c.ValuedIn != "" {
			return
		}
		id, err := strconv.ParseInt(c.First, 10, 64)
		if err != nil {
			broken = fmt.Errorf("cell of channel %q: %w", c.First, err)
			return
		}
		if sums[id] == nil {
			sums[id] = map[money.Currency]int64{}
		}
		amount, _ := t.Undelivered(by)
		sums[id][c.Currency] = money.Sum(sums[id][c.Currency], amount)
		sums[0][c.Currency] = money.Sum(sums[0][c.Currency], amount)
	})
	waiting := map[int64][]PendingUse{}
	for id, of := range sums {
		for _, c := range slices.Sorted(maps.Keys(of)) {
			if of[c] != 0 {
				waiting[id] = append(waiting[id], PendingUse{c, of[c]})
			}
		}
	}
	return waiting, cmp.Or(err, broken)
}

// notInForce says why new payments do not count against a limit in another currency than the policy's: amounts in two
// currencies cannot be compared.
func notInForce(l protection.Limit, p terms.Policy) string {
	if l.Currency == p.Currency {
		return ""
	}
	return fmt.Sprintf("The policy in force since %s is in %s. Its payments do not count toward a limit in %s. "+
		"Only payments under older policies do. Set a limit in %s.", p.FromDay, p.Currency, l.Currency, p.Currency)
}

// LimitEvents chooses events of the list; empty fields choose all.
type LimitEvents struct {
	Scopes   []protection.LimitScope
	Channels []int64
	Percent  int64      // 80, 95 or 100
	Recorded civil.Span // when
}

// Events reads one page of the events. There is an event when a use rises to 80, 95 or 100 % of its limit.
func (l *Limits) Events(
	ctx context.Context, actor access.Actor, f LimitEvents, page store.Page,
) (store.List[protection.LimitEvent], error) {
	return sites.ReadPage(ctx, l.DB, actor, page, func(tx *store.Tx) (store.List[protection.LimitEvent], error) {
		if err := checkChannels(tx, actor.SiteID, f.Channels); err != nil {
			return store.List[protection.LimitEvent]{}, err
		}
		return eventsPage(tx, actor.SiteID, f, page)
	})
}
