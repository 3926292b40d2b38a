// Package insolvencies handles the failure of a merchant (R13): it is reported, confirmed by a second person, and from then on
// nothing of the channel is protected. A job takes a snapshot of the payments that were not delivered; claims are made from it. The
// package owns the tables insolvencies and insolvency_*. Start at Insolvencies.Report and Insolvencies.Confirm.
package insolvencies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Insolvencies are the use cases of insolvencies, and the job that makes their snapshots.
type Insolvencies struct {
	*sites.DB
	Approvals *approvals.Approvals
	// Batch is how many allocations or lines of a snapshot are read at a time. It bounds the memory.
	Batch int
}

// Register registers the kinds of proposals that the use cases carry out.
func (r *Insolvencies) Register() *Insolvencies {
	r.Approvals.Register(proposal.Reinstate, approvals.Kind{Carry: r.carry(reinstate)})
	r.Approvals.Register(proposal.InsolventProcessing, approvals.Kind{Carry: r.carry(allowProcessing)})
	return r
}

// Kind is the way in which a merchant failed.
type Kind string

// Kinds lists the kinds.
var Kinds = []Kind{"administration", "liquidation", "ceased_trading", "scheme_revoked", "suspension"}

// State is the state of an insolvency.
type State string

// The states. At most one insolvency of a channel is neither closed nor withdrawn.
const (
	Reported     State = "reported"      // nothing has changed yet
	Confirmed    State = "confirmed"     // nothing of the channel is protected any more
	Open         State = "open"          // the snapshot exists
	ClaimsClosed State = "claims_closed" // no new claims
	Closed       State = "closed"
	Withdrawn    State = "withdrawn" // it was a mistake
)

// States lists the states.
var States = []State{Reported, Confirmed, Open, ClaimsClosed, Closed, Withdrawn}

// Insolvency is the failure of one channel.
type Insolvency struct {
	SiteID            int64
	ID                int64
	ChannelID         int64
	Kind              Kind
	State             State
	TriggerAt         time.Time // T
	Evidence          string
	ReportedByID      int64
	ReportedBy        string
	ReportedAt        time.Time
	ConfirmedBy       string
	ConfirmedAt       time.Time // K; zero: not yet
	Alone             bool      // confirmed by the person who reported it: in a sandbox
	ReinstatedAt      time.Time // zero: the channel is not reinstated
	ProcessingAllowed bool
	Snapshot          Snapshot // its MadeAt is zero until the job has made it
	Version           int64
	ModifiedAt        time.Time
	// Proposal is set when the action waits for another operator (R0). Then nothing has changed yet.
	Proposal *proposal.Proposal
}

// Snapshot describes the snapshot of an insolvency (R13). Its lines are read with Insolvencies.Affected.
type Snapshot struct {
	MadeAt time.Time
	Lines  int64
	SHA256 string // of WriteSnapshot, in hexadecimal
}

// Failure is the moment of the failure, as the rules know it.
func (i Insolvency) Failure() claim.Failure {
	return claim.Failure{TriggerAt: i.TriggerAt, ConfirmedAt: i.ConfirmedAt}
}

// Filter picks insolvencies of a list. An empty field picks all.
type Filter struct {
	States   []State
	Channels []int64
}

// NewReport are the fields of a request that reports a failure. Absent required fields are nil.
type NewReport struct {
	Problems  errs.Problems
	ChannelID *int64
	Kind      *Kind
	TriggerAt *time.Time // T: an instant that is not in the future
	Evidence  string     // such as the notice of a court; required
}

// Get reads one insolvency of the actor's site. The error is SettingNotFound if there is none.
func (r *Insolvencies) Get(ctx context.Context, actor access.Actor, id int64) (Insolvency, error) {
	if err := actor.Require(access.ReadFailures); err != nil {
		return Insolvency{}, err
	}
	found, err := sites.Read(ctx, r.DB, actor, func(tx *store.Tx) (Insolvency, error) { return ByID(tx, actor.SiteID, id) })
	return found, unknown(err, id)
}

// List reads one page of the insolvencies of the actor's site.
func (r *Insolvencies) List(ctx context.Context, actor access.Actor, f Filter, page store.Page) (list store.List[Insolvency], err error) {
	if err := actor.Require(access.ReadFailures); err != nil {
		return list, err
	}
	return sites.ReadPage(ctx, r.DB, actor, page, func(tx *store.Tx) (store.List[Insolvency], error) {
		return insolvenciesPage(tx, actor.SiteID, f, page)
	})
}

// History reads what happened to an insolvency, in order.
func (r *Insolvencies) History(ctx context.Context, actor access.Actor, id int64) ([]Happened, error) {
	if err := actor.Require(access.ReadFailures); err != nil {
		return nil, err
	}
	list, err := sites.Read(ctx, r.DB, actor, func(tx *store.Tx) ([]Happened, error) {
		if _, err := ByID(tx, actor.SiteID, id); err != nil {
			return nil, err
		}
		return historyOf(tx, actor.SiteID, id)
	})
	return list, unknown(err, id)
}

// Report stores that a merchant has failed. Another operator confirms it; until then nothing changes for the channel.
func (r *Insolvencies) Report(ctx context.Context, actor access.Actor, in NewReport) (Insolvency, error) {
	if err := actor.Require(access.ReportFailures); err != nil {
		return Insolvency{}, err
	}
	return idempotency.Once(ctx, r.DB, actor, func(tx *store.Tx) (Insolvency, idempotency.Outcome, error) {
		made, err := in.insolvency(tx, actor)
		if err != nil {
			return made, idempotency.Outcome{}, err
		}
		if made, err = insertInsolvency(tx, made); err != nil {
			return made, idempotency.Outcome{}, err
		}
		return made, idempotency.Outcome{ID: made.ID}, r.note(tx, actor, "insolvency.report", nil, made, in.Evidence)
	}, r.again(actor))
}

// again returns the function that reads what an earlier request has made: an insolvency, or an open proposal.
func (r *Insolvencies) again(actor access.Actor) func(ctx context.Context, made idempotency.Outcome) (Insolvency, error) {
	return func(ctx context.Context, made idempotency.Outcome) (Insolvency, error) {
		if made.ProposalID == 0 {
			return r.Get(ctx, actor, made.ID)
		}
		p, err := r.Approvals.Find(ctx, actor, made.ProposalID)
		return Insolvency{Proposal: &p}, err
	}
}

// insolvency checks the fields and makes a row from them. It locks the channel, so that a channel has one open insolvency.
func (in NewReport) insolvency(tx *store.Tx, actor access.Actor) (made Insolvency, err error) {
	p := in.Problems.Clone()
	need := func(field string, absent bool) {
		if absent && !p.Has(field) {
			p.Missing(field)
		}
	}
	need("channels", in.ChannelID == nil)
	need("kind", in.Kind == nil)
	need("trigger_at", in.TriggerAt == nil)
	need("evidence", in.Evidence == "")
	check.Note(&p, "evidence", in.Evidence)
	if in.Kind != nil {
		check.OneOf(&p, "kind", *in.Kind, Kinds)
	}
	if in.TriggerAt != nil && in.TriggerAt.After(tx.Now) {
		p.Wrong("trigger_at", "Must not be in the future.")
	}
	if in.ChannelID != nil {
		if err := checkChannel(tx, actor.SiteID, *in.ChannelID, &p); err != nil {
			return made, err
		}
	}
	if err := p.Err(); err != nil {
		return made, err
	}
	return Insolvency{
		SiteID: actor.SiteID, ChannelID: *in.ChannelID, Kind: *in.Kind, State: Reported, TriggerAt: *in.TriggerAt, Evidence: in.Evidence,
		ReportedByID: actor.UserID, ReportedBy: actor.Username, ReportedAt: tx.Now,
	}, nil
}

// checkChannel adds a problem if the channel does not exist or cannot fail now.
func checkChannel(tx *store.Tx, siteID, id int64, p *errs.Problems) error {
	c, err := merchants.LockChannel(tx, siteID, id)
	if errors.Is(err, store.ErrNotFound) {
		p.Wrong("channels", "Channel %d not found.", id)
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := merchants.LeaveChannel(tx, c); err != nil {
		return err
	}
	open, err := openOf(tx, siteID, id)
	switch {
	case err != nil:
		return err
	case open != 0:
		p.Wrong("channels", "Insolvency %d of this channel is neither closed nor withdrawn.", open)
	case c.WasTest:
		p.Wrong("channels", "Channel %d is a test channel. Nothing real is lost when it fails.", id)
	case c.Insolvency.InForce():
		p.Wrong("channels", "Channel %d has not been reinstated since insolvency %d.", id, c.Insolvency.ID)
	}
	return nil
}

// note records a change of an insolvency: in its own history, in the events of the site, and in the audit.
func (r *Insolvencies) note(tx *store.Tx, actor access.Actor, action string, before any, after Insolvency, reason string) error {
	if err := insertEvent(tx, actor, after, action, reason); err != nil {
		return err
	}
	events.Record(tx, after.SiteID, eventOf[action], after.ID, event.Details{Status: string(after.State), Kind: string(after.Kind)})
	return audit.Record(tx, actor, action, fmt.Sprintf("insolvency %d", after.ID), before, audited(after))
}

// eventOf are the events of the actions.
var eventOf = map[string]event.Type{
	"insolvency.report": event.InsolvencyReported, "insolvency.confirm": event.InsolvencyConfirmed, "insolvency.open": event.InsolvencyOpened,
	"insolvency.withdraw": event.InsolvencyWithdrawn, "insolvency.close_claims": event.InsolvencyClaimsClosed,
	"insolvency.close": event.InsolvencyClosed, "insolvency.reinstate": event.InsolvencyReinstated,
	"insolvency.allow_processing": event.InsolvencyProcessingAllowed,
}

// auditedInsolvency is the shape of an insolvency in the audit.
type auditedInsolvency struct {
	ID         int64  `json:"id"`
	ChannelID  int64  `json:"channels"`
	Kind       string `json:"kind"`
	State      string `json:"state"`
	TriggerAt  string `json:"trigger_at"`
	Evidence   string `json:"evidence"`
	ReportedBy string `json:"reported_by"`
	Confirmed  string `json:"confirmed_by,omitempty"`
	Alone      bool   `json:"alone"`
	Reinstated bool   `json:"reinstated"`
	Refunds    bool   `json:"processing_allowed"`
	SHA256     string `json:"sha256,omitempty"`
}

func audited(i Insolvency) any {
	return auditedInsolvency{
		ID: i.ID, ChannelID: i.ChannelID, Kind: string(i.Kind), State: string(i.State), TriggerAt: i.TriggerAt.Format(time.RFC3339Nano),
		Evidence: i.Evidence, ReportedBy: i.ReportedBy, Confirmed: i.ConfirmedBy, Alone: i.Alone,
		Reinstated: !i.ReinstatedAt.IsZero(), Refunds: i.ProcessingAllowed, SHA256: i.Snapshot.SHA256,
	}
}

func unknown(err error, id int64) error {
	return store.NotFoundAs(errs.SettingNotFound, err, "Insolvency %d not found.", id)
}

// NotPossible is the error of an action that the state does not allow.
func NotPossible(i Insolvency, reason, format string, args ...any) error {
	return &errs.Error{Kind: errs.ActionNotPossible, State: string(i.State), Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// mustBe returns an error unless the insolvency is in one of the states.
func mustBe(i Insolvency, states ...State) error {
	if slices.Contains(states, i.State) {
		return nil
	}
	return NotPossible(i, "wrong_state", "Insolvency %d is %s.", i.ID, i.State)
}
