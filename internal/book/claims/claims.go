// Package claims makes claims from the disputes of insolvent merchants, and has people assess and approve them (R13). The
// covered amount of a claim is computed from all claims of its year of account when it is read. Payouts pay them. The package owns the
// tables claims, claim_*, payouts, payout_* and recoveries. Start at Claims.Make, the job, and at Claims.Assess.
package claims

import (
	"context"
	"fmt"
	"time"

	"holdfast/internal/book/certificates"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Claims are the use cases of claims, and the job that makes them.
type Claims struct {
	*sites.DB
	Insolvencies *insolvencies.Insolvencies
	MostLines    int // the most claims of one payout; others are in the next one
}

// Claim is a claim made from a dispute of one allocation.
type Claim struct {
	SiteID         int64
	ID             int64
	InsolvencyID   int64
	ChannelID      int64
	AllocationID   int64
	TransactionID  int64 // the payment
	BookingID      int64
	Source, CaseID string
	FirstDay       civil.Day // of the first debit
	Currency       money.Currency
	Disputed       int64 // minor units of Currency, as the next three
	Loss           int64
	Payable        int64
	Represent      int64
	Reason         claim.Reason
	PolicyCurrency money.Currency
	Priced         bool  // false while pending_rate
	Value          int64 // of Payable, minor units of PolicyCurrency, as all that follow
	Covered        int64
	Paid           int64
	Overpaid       int64
	Released       bool              // other protection does not pay
	Note           certificates.Note // the traveller's latest
	Refunded       int64             // refunds of the booking on record, minor units of Currency
	claim.Review
	AssessedByName string
	Version        int64
	CreatedAt      time.Time
	ModifiedAt     time.Time
}

// MayBeDuplicate reports whether others may pay the traveller, or have paid more than the refunds on record: by their own note.
func (c Claim) MayBeDuplicate() bool { return !c.Note.At.IsZero() && c.Note.Elsewhere(c.Refunded) }

// Filter picks claims of a list. An empty field picks all.
type Filter struct {
	States       []claim.State
	Insolvencies []int64
	Channels     []int64
	Reasons      []claim.Reason
	ToRepresent  bool // not payable in full, and the dispute is open
}

// Sums are the sums of claims in one currency.
type Sums struct {
	Currency  money.Currency
	Claims    int64
	Disputed  int64 // minor units of Currency, as the next two
	Payable   int64
	Represent int64
}

// Orders lists the values of orderby, besides those of every list, for claims.
var Orders = []string{"payable"}

// Get reads a claim of the actor's site. The error is SettingNotFound if there is none.
func (r *Claims) Get(ctx context.Context, actor access.Actor, id int64) (Claim, error) {
	if err := actor.Require(access.ReadFailures); err != nil {
		return Claim{}, err
	}
	found, err := sites.Read(ctx, r.DB, actor, func(tx *store.Tx) (Claim, error) {
		c, err := byID(tx, actor.SiteID, id)
		if err != nil {
			return c, err
		}
		list := []Claim{c}
		err = complete(tx, actor.SiteID, list)
		return list[0], err
	})
	return found, unknown(err, id)
}

// List reads one page of the claims of the actor's site.
func (r *Claims) List(ctx context.Context, actor access.Actor, f Filter, page store.Page) (list store.List[Claim], err error) {
	if err := actor.Require(access.ReadFailures); err != nil {
		return list, err
	}
	return sites.ReadPage(ctx, r.DB, actor, page, func(tx *store.Tx) (store.List[Claim], error) {
		list, err := claimsPage(tx, actor.SiteID, f, page)
		if err != nil {
			return list, err
		}
		return list, complete(tx, actor.SiteID, list.Items)
	})
}

// Sums adds up the claims of the actor's site that a filter selects, by currency.
func (r *Claims) Sums(ctx context.Context, actor access.Actor, f Filter) ([]Sums, error) {
	if err := actor.Require(access.ReadFailures); err != nil {
		return nil, err
	}
	return sites.Read(ctx, r.DB, actor, func(tx *store.Tx) ([]Sums, error) { return sums(tx, actor.SiteID, f) })
}

// History reads what happened to a claim, in order.
func (r *Claims) History(ctx context.Context, actor access.Actor, id int64) ([]Happened, error) {
	if err := actor.Require(access.ReadFailures); err != nil {
		return nil, err
	}
	list, err := sites.Read(ctx, r.DB, actor, func(tx *store.Tx) ([]Happened, error) {
		if _, err := byID(tx, actor.SiteID, id); err != nil {
			return nil, err
		}
		return historyOf(tx, actor.SiteID, id)
	})
	return list, unknown(err, id)
}

// Assess records that a person has checked the claim, and that it is payable as it is now.
func (r *Claims) Assess(ctx context.Context, actor access.Actor, id int64, note string) (Claim, error) {
	return r.act(ctx, actor, access.AssessClaims, id, "claim.assess", note, func(tx *store.Tx, by claim.Reviewer, c *Claim) (refused claim.Refusal, err error) {
		if !c.Priced {
			return "", notPossible(*c, "pending_rate", "Claim %d waits for an exchange rate.", c.ID)
		}
		c.Review, refused = c.Review.Assess(by, c.Payable)
		c.AssessedByName = actor.Username
		return refused, nil
	})
}

// Approve approves an assessed claim. The assessor never approves; above the policy's two_signatures two people do.
func (r *Claims) Approve(ctx context.Context, actor access.Actor, id int64, note string) (Claim, error) {
	return r.act(ctx, actor, access.DecideClaims, id, "claim.approve", note, func(tx *store.Tx, by claim.Reviewer, c *Claim) (refused claim.Refusal, err error) {
		cover, err := coverOf(tx, c.SiteID, c.InsolvencyID)
		if err != nil {
			return "", err
		}
		c.Review, refused = c.Review.Approve(by, c.Payable, c.Covered, cover)
		return refused, nil
	})
}

// Reject ends a claim that is not to be paid. The reason is required.
func (r *Claims) Reject(ctx context.Context, actor access.Actor, id int64, reason string) (Claim, error) {
	return r.drop(ctx, actor, access.DecideClaims, id, "claim.reject", reason, claim.StateRejected)
}

// Withdraw ends a claim that the site no longer makes. The reason is required.
func (r *Claims) Withdraw(ctx context.Context, actor access.Actor, id int64, reason string) (Claim, error) {
	return r.drop(ctx, actor, access.AssessClaims, id, "claim.withdraw", reason, claim.StateWithdrawn)
}

func (r *Claims) drop(
	ctx context.Context, actor access.Actor, right access.Permission, id int64, action, reason string, to claim.State,
) (Claim, error) {
	if err := needReason(reason); err != nil {
		return Claim{}, err
	}
	return r.act(ctx, actor, right, id, action, reason, func(tx *store.Tx, _ claim.Reviewer, c *Claim) (refused claim.Refusal, err error) {
		c.Review, refused = c.Review.Drop(to)
		return refused, nil
	})
}

// Reopen makes a claim open again: it is assessed and approved anew. The reason is required.
func (r *Claims) Reopen(ctx context.Context, actor access.Actor, id int64, reason string) (Claim, error) {
	if err := needReason(reason); err != nil {
		return Claim{}, err
	}
	return r.act(ctx, actor, access.DecideClaims, id, "claim.reopen", reason, func(tx *store.Tx, _ claim.Reviewer, c *Claim) (refused claim.Refusal, err error) {
		c.Review, refused = c.Review.Reopen()
		return refused, nil
	})
}

// Release notes that other protection of the traveller does not pay: the claim no longer waits for it. The reason is required.
func (r *Claims) Release(ctx context.Context, actor access.Actor, id int64, reason string) (Claim, error) {
	if err := needReason(reason); err != nil {
		return Claim{}, err
	}
	return r.act(ctx, actor, access.DecideClaims, id, "claim.release", reason, func(tx *store.Tx, _ claim.Reviewer, c *Claim) (claim.Refusal, error) {
		if c.Released {
			return claim.RefusedState, nil
		}
		c.Released = true
		return "", nil
	})
}

// needReason is the error of an action without a reason.
func needReason(reason string) error {
	var p errs.Problems
	if reason == "" {
		p.Missing("reason")
	}
	return p.Err()
}

// act takes a step of the review of a claim, notes it, and computes the claims of its allocation anew.
func (r *Claims) act(
	ctx context.Context, actor access.Actor, right access.Permission, id int64, action, reason string,
	step func(tx *store.Tx, by claim.Reviewer, c *Claim) (claim.Refusal, error),
) (Claim, error) {
	var p errs.Problems
	check.Note(&p, "reason", reason)
	if err := p.Err(); err != nil {
		return Claim{}, err
	}
	if err := actor.Require(right); err != nil {
		return Claim{}, err
	}
	changed, err := idempotency.Once(ctx, r.DB, actor, func(tx *store.Tx) (Claim, idempotency.Outcome, error) {
		c, err := r.change(tx, actor, id, action, reason, step)
		return c, idempotency.Outcome{ID: id}, err
	}, func(ctx context.Context, made idempotency.Outcome) (Claim, error) { return r.Get(ctx, actor, made.ID) })
	return changed, unknown(err, id)
}

func (r *Claims) change(
	tx *store.Tx, actor access.Actor, id int64, action, reason string,
	step func(tx *store.Tx, by claim.Reviewer, c *Claim) (claim.Refusal, error),
) (Claim, error) {
	if err := lockClaims(tx, actor.SiteID); err != nil {
		return Claim{}, err
	}
	c, err := byID(tx, actor.SiteID, id)
	if err != nil {
		return c, err
	}
	site, err := sites.Alone(tx, actor.SiteID)
	if err != nil {
		return c, err
	}
	list := []Claim{c}
	if err := complete(tx, actor.SiteID, list); err != nil {
		return c, err
	}
	c = list[0]
	m, err := makingOf(tx, actor.SiteID, c.InsolvencyID)
	if err == nil && m.State != insolvencies.Open && m.State != insolvencies.ClaimsClosed {
		err = notPossible(c, "insolvency_"+string(m.State), "Insolvency %d of claim %d is %s.", m.ID, c.ID, m.State)
	}
	if err != nil {
		return c, err
	}
	before := audited(c)
	refused, err := step(tx, claim.Reviewer{ID: actor.UserID, Alone: site.Sandbox}, &c)
	if err == nil {
		err = refusal(c, refused)
	}
	if err != nil {
		return c, err
	}
	if err := save(tx, &c); err != nil {
		return c, err
	}
	if err := note(tx, actor, c, action, reason); err != nil {
		return c, err
	}
	if err := audit.Record(tx, actor, action, fmt.Sprintf("claim %d", id), before, audited(c)); err != nil {
		return c, err
	}
	if err := makeOf(tx, c.SiteID, c.InsolvencyID, []int64{c.AllocationID}); err != nil {
		return c, err
	}
	if list[0], err = byID(tx, actor.SiteID, id); err != nil {
		return c, err
	}
	return list[0], complete(tx, actor.SiteID, list)
}

// eventOf are the events of the actions.
var eventOf = map[string]event.Type{
	"claim.make": event.ClaimCreated, "claim.change": event.ClaimChanged, "claim.assess": event.ClaimAssessed,
	"claim.approve": event.ClaimApproved, "claim.reject": event.ClaimRejected, "claim.withdraw": event.ClaimWithdrawn,
	"claim.reopen": event.ClaimReopened, "claim.release": event.ClaimReleased, "claim.pay": event.ClaimPaid,
	"payout.plan": event.PayoutPlanned, "payout.sign": event.PayoutSigned, "payout.paid": event.PayoutPaid, "payout.fail": event.PayoutFailed,
	"recovery.record": event.RecoveryRecorded, "recovery.cancel": event.RecoveryCancelled,
}

// note records a change of a claim: in its own history, and in the events of the site.
func note(tx *store.Tx, actor access.Actor, c Claim, action, reason string) error {
	events.Record(tx, c.SiteID, eventOf[action], c.ID, event.Details{
		Status: string(c.State), Reason: string(c.Reason), Amount: c.Payable, Currency: string(c.Currency),
	})
	return insertEvent(tx, actor, c, action, reason)
}

// refusal is the error of a step that is not possible.
func refusal(c Claim, refused claim.Refusal) error {
	switch refused {
	case "":
		return nil
	case claim.RefusedAssessor:
		return errs.New(errs.SamePerson, "You assessed this claim yourself. Another operator must approve it.")
	case claim.RefusedTwice:
		return errs.New(errs.SamePerson, "You have already approved this claim. It needs a second operator.")
	case claim.RefusedUnnamed:
		return notPossible(c, string(refused), "Only a person can do this. Use --as to give your user name.")
	case claim.RefusedChanged:
		return notPossible(c, string(refused), "The payable amount of claim %d has changed since it was assessed. Assess it again.", c.ID)
	default:
		return notPossible(c, string(refused), "Claim %d is %s.", c.ID, c.State)
	}
}

func notPossible(c Claim, reason, format string, args ...any) error {
	return &errs.Error{Kind: errs.ActionNotPossible, State: string(c.State), Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func unknown(err error, id int64) error {
	return store.NotFoundAs(errs.SettingNotFound, err, "Claim %d not found.", id)
}

// auditedClaim is the shape of a claim in the audit.
type auditedClaim struct {
	ID         int64          `json:"id"`
	Insolvency int64          `json:"insolvency"`
	State      string         `json:"state"`
	Payable    int64          `json:"payable"`
	Currency   money.Currency `json:"currency"`
	Covered    int64          `json:"covered"`
	AssessedBy int64          `json:"assessed_by,omitempty"`
	ApprovedBy []int64        `json:"approved_by,omitempty"`
	Released   bool           `json:"released"`
}

func audited(c Claim) any {
	return auditedClaim{
		ID: c.ID, Insolvency: c.InsolvencyID, State: string(c.State), Payable: c.Payable, Currency: c.Currency, Covered: c.Covered,
		AssessedBy: c.AssessedBy, ApprovedBy: c.ApprovedBy, Released: c.Released,
	}
}
