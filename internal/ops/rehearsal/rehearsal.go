// Package rehearsal rehearses the failure of a merchant in a sandbox (R13, R14): the merchant fails, disputes of all kinds arrive over the
// coming days by the clock of the site, and the event ends paid and closed. Each step is a use case of the packages below, as people and
// processors would use it. It owns no tables: what comes next follows from the insolvency and the clock, so a rehearsal that was
// interrupted continues where it stopped. Start at Rehearsals.Run.
package rehearsal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdfast/internal/book/certificates"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/disputes"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/rates"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Rehearsals rehearses failures.
type Rehearsals struct {
	*sites.DB
	Insolvencies *insolvencies.Insolvencies
	Claims       *claims.Claims
	Disputes     *disputes.Disputes
	Certificates *certificates.Certificates
	Rates        *rates.Rates
	// Page is how many payments are read at a time to find one at risk; 0 means 1,000.
	Page int
}

// Options control how far a rehearsal goes. All are optional.
type Options struct {
	Days     int        // how many more days; 0: to the end
	Progress func(Step) // called after each step
	// Move takes the clock of the site to an instant and returns the actor with it. The default moves the clock of the sandbox.
	Move func(ctx context.Context, actor access.Actor, to time.Time) (access.Actor, error)
}

// Step is something that has happened in a rehearsal.
type Step struct {
	Day  int // after the failure
	At   time.Time
	Text string
}

// Result is the state of a rehearsal.
type Result struct {
	Insolvency insolvencies.Insolvency
	Day        int           // the last day that was rehearsed, up to Days
	Figures    claims.Report // of the insolvency
	Merchant   merchant.Channel
}

// Evidence is the evidence of a failure that is rehearsed. Run continues an insolvency that has it.
const Evidence = "Rehearsal: the merchant has not failed."

// Running reports whether an insolvency is a rehearsal that has not ended.
func Running(i insolvencies.Insolvency) bool {
	return i.Evidence == Evidence && slices.Contains(active, i.State)
}

// ErrNotSandbox is the error for a site that is not a sandbox.
var ErrNotSandbox = errs.NotPossibleBecause("not_a_sandbox",
	"This site is not a sandbox. A rehearsal moves the clock and records a failure that has not happened.")

// active are the states of an insolvency that is neither closed nor withdrawn.
var active = []insolvencies.State{insolvencies.Reported, insolvencies.Confirmed, insolvencies.Open, insolvencies.ClaimsClosed}

// Run rehearses the failure of a merchant, or continues its rehearsal. It is safe to repeat. Errors: NotPossible with the reasons
// not_a_sandbox, already_insolvent and nothing_at_risk, and the errors of the steps.
func (r *Rehearsals) Run(ctx context.Context, actor access.Actor, channelID int64, o Options) (Result, error) {
	if err := actor.Require(access.MoveClock); err != nil {
		return Result{}, err
	}
	if o.Days < 0 {
		return Result{}, errs.WrongField("days", "Must be 1 or more.")
	}
	actor.Key = access.IdempotencyKey{} // it belongs to one step, and a rehearsal has many
	e := &event{Rehearsals: r, Options: o, actor: actor}
	if e.Move == nil {
		e.Move = r.moveClock
	}
	if err := e.begin(ctx, channelID); err != nil {
		return Result{}, err
	}
	if err := e.open(ctx); err != nil {
		return Result{}, err
	}
	if err := e.days(ctx); err != nil {
		return Result{}, err
	}
	return e.result(ctx)
}

// moveClock moves the clock of the sandbox.
func (r *Rehearsals) moveClock(ctx context.Context, actor access.Actor, to time.Time) (access.Actor, error) {
	moved, err := r.Rates.MoveClock(ctx, actor, to)
	if err == nil {
		actor.Ahead = moved.Now.Sub(moved.Real)
	}
	return actor, err
}

// event is a rehearsal while it runs.
type event struct {
	*Rehearsals
	Options
	actor      access.Actor
	channel    merchant.Channel
	insolvency insolvencies.Insolvency
	day        int // that is being rehearsed
	book       book
}

// now is the time of the site.
func (e *event) now(ctx context.Context) (now time.Time, err error) {
	return sites.Read(ctx, e.DB, e.actor, func(tx *store.Tx) (time.Time, error) { return tx.Now, nil })
}

// wait takes the clock to an instant, unless it is later already.
func (e *event) wait(ctx context.Context, to time.Time) error {
	now, err := e.now(ctx)
	if err != nil || !now.Before(to) {
		return err
	}
	e.actor, err = e.Move(ctx, e.actor, to)
	return err
}

// tell reports a step.
func (e *event) tell(ctx context.Context, format string, args ...any) error {
	if e.Progress == nil {
		return nil
	}
	now, err := e.now(ctx)
	e.Progress(Step{e.day, now, fmt.Sprintf(format, args...)})
	return err
}

// begin finds the rehearsal of a merchant or, if there is none, reports that the merchant has failed.
func (e *event) begin(ctx context.Context, channelID int64) error {
	now, err := e.check(ctx, channelID)
	if err != nil {
		return err
	}
	list, err := e.Insolvencies.List(ctx, e.actor, insolvencies.Filter{Channels: []int64{channelID}, States: active},
		store.Page{Number: 1, Size: 1, Offset: -1, OrderBy: store.OrderID, Descending: true})
	if err != nil {
		return err
	}
	switch {
	case len(list.Items) > 0 && Running(list.Items[0]):
		e.insolvency = list.Items[0]
		return nil
	case len(list.Items) > 0:
		return insolvent("Merchant %d is already insolvent: insolvency %d is %s.", channelID, list.Items[0].ID, list.Items[0].State)
	case e.channel.Insolvency.InForce():
		return insolvent("Merchant %d is still insolvent after insolvency %d. Reinstate it first.", channelID, e.channel.Insolvency.ID)
	case e.channel.WasTest:
		return nothingAtRisk("Merchant %d is a test merchant, so nothing is at risk.", channelID)
	}
	if err := e.atRisk(ctx, now); err != nil {
		return err
	}
	kind := insolvencies.Kind("liquidation")
	e.insolvency, err = e.Insolvencies.Report(ctx, e.actor, insolvencies.NewReport{
		ChannelID: &channelID, Kind: &kind, TriggerAt: &now, Evidence: Evidence,
	})
	if err != nil {
		return err
	}
	return e.tell(ctx, "%s has failed: insolvency %d reported", e.channel.Name, e.insolvency.ID)
}

func insolvent(format string, args ...any) error {
	return errs.NotPossibleBecause("already_insolvent", format, args...)
}

func nothingAtRisk(format string, args ...any) error {
	return errs.NotPossibleBecause("nothing_at_risk", format, args...)
}

// check reads the merchant and the time, and rejects a site that is not a sandbox. The clock may have been moved since the caller was
// authenticated, such as by another rehearsal.
func (e *event) check(ctx context.Context, channelID int64) (now time.Time, err error) {
	return sites.Read(ctx, e.DB, e.actor, func(tx *store.Tx) (time.Time, error) {
		site, err := sites.Alone(tx, e.actor.SiteID)
		if err != nil {
			return tx.Now, err
		}
		if !site.Sandbox {
			return tx.Now, ErrNotSandbox
		}
		e.actor.Ahead = site.ClockAhead
		e.channel, err = merchants.Channel(tx, e.actor.SiteID, channelID)
		return sites.RealNow(tx).Add(site.ClockAhead), store.NotFoundAs(errs.SettingNotFound, err, "Channel %d not found.", channelID)
	})
}

// atRisk rejects a merchant without payments that could be claimed if it failed now. It stops at the first one.
func (e *event) atRisk(ctx context.Context, now time.Time) error {
	size := e.Page
	if size == 0 {
		size = 1000
	}
	failure := claim.Failure{TriggerAt: now, ConfirmedAt: now}
	for after := int64(0); ; {
		found := false
		more := false
		err := e.ReadBy(ctx, sites.ClockFor(e.actor), func(tx *store.Tx) error {
			policy, err := merchants.PolicyOn(tx, e.actor.SiteID, failure.Day())
			if err != nil {
				return err
			}
			page, err := ledger.HistoriesAfter(tx, size, e.actor.SiteID, after, failure.Day(), now, []int64{e.channel.ID})
			for _, h := range page {
				line, ok := claim.Snapshot(h, failure, policy.Recognition)
				found, after = found || ok && line.Eligible(), h.ID
			}
			more = len(page) == size
			return err
		})
		switch {
		case err != nil || found:
			return err
		case !more:
			return nothingAtRisk("Merchant %d has no protected payment for a journey that is still to come, so nothing would be lost.", e.channel.ID)
		}
	}
}

// open confirms the failure and waits for the snapshot.
func (e *event) open(ctx context.Context) (err error) {
	if e.insolvency.State == insolvencies.Reported {
		if e.insolvency, err = e.Insolvencies.Confirm(ctx, e.actor, e.insolvency.ID, "Rehearsal"); err != nil {
			return err
		}
		if err := e.tell(ctx, "confirmed: new payments are not protected"); err != nil {
			return err
		}
	}
	if e.insolvency.State == insolvencies.Confirmed {
		if err := e.snapshot(ctx); err != nil {
			return err
		}
	}
	list, err := e.Insolvencies.Affected(ctx, e.actor, e.insolvency.ID, store.Page{
		Number: 1, Size: consider, Offset: -1, OrderBy: store.OrderID, Descending: true,
	})
	e.book = book{e.insolvency.ID, e.channel.Name, civil.DayOf(e.insolvency.TriggerAt), partsOf(list.Items)}
	return err
}

// snapshot runs the job that makes the snapshot, when it is due.
func (e *event) snapshot(ctx context.Context) error {
	if err := e.wait(ctx, e.insolvency.ConfirmedAt.Add(store.FinalAfter+time.Second)); err != nil {
		return err
	}
	err := drain(ctx, e.Insolvencies.Work)
	if err == nil {
		e.insolvency, err = e.Insolvencies.Get(ctx, e.actor, e.insolvency.ID)
	}
	if err == nil && e.insolvency.State == insolvencies.Confirmed {
		err = &errs.Error{Kind: errs.Unavailable, RetryAfter: time.Second, Message: "The snapshot is still being made. Run the rehearsal again."}
	}
	if err != nil {
		return err
	}
	return e.tell(ctx, "snapshot made: %d affected payments", e.insolvency.Snapshot.Lines)
}

// drain runs a job until nothing is left.
func drain(ctx context.Context, job func(context.Context) (bool, error)) error {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if more, err = job(ctx); err != nil {
			return err
		}
	}
	return nil
}

// days rehearses the days up to the last one that is wanted. What processors and travellers did on earlier days is repeated, which changes
// nothing. The present day may have been interrupted, so people work on it again.
func (e *event) days(ctx context.Context) error {
	now, err := e.now(ctx)
	if err != nil {
		return err
	}
	present, last := DayAt(e.insolvency, now), Days
	if e.Days > 0 {
		last = min(Days, present+e.Days)
	}
	for e.day = 1; e.day <= last; e.day++ {
		if err := e.wait(ctx, e.insolvency.TriggerAt.AddDate(0, 0, e.day)); err != nil {
			return err
		}
		err := e.report(ctx)
		if err == nil && e.day >= present {
			err = e.work(ctx, e.day == present)
		}
		if err != nil {
			return fmt.Errorf("day %d of the rehearsal: %w", e.day, err)
		}
	}
	return nil
}

// DayAt is the number of days between a failure and an instant, at most Days.
func DayAt(i insolvencies.Insolvency, now time.Time) int {
	return int(min(Days, now.Sub(i.TriggerAt)/(24*time.Hour)))
}

// result sums up the rehearsal.
func (e *event) result(ctx context.Context) (r Result, err error) {
	now, err := e.now(ctx)
	if err != nil {
		return r, err
	}
	r.Day, r.Merchant = DayAt(e.insolvency, now), e.channel
	if r.Figures, err = e.Claims.Report(ctx, e.actor, e.insolvency.ID); err != nil {
		return r, err
	}
	r.Insolvency = r.Figures.Insolvency
	return r, nil
}

// sentence joins the parts that are not empty.
func sentence(parts ...string) string {
	var list []string
	for _, p := range parts {
		if p != "" {
			list = append(list, p)
		}
	}
	return strings.Join(list, ", ")
}
