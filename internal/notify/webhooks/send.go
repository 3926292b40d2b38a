package webhooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"holdfast/internal/domain/event"
	"holdfast/internal/lib/limiter"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Limits of sending. Slow and failing receivers share half of the slots, so the others always have the rest.
const (
	atOnce      = 64
	slowAtOnce  = atOnce / 2
	perSite     = 8
	perEndpoint = 2
	leaseTime   = time.Minute // longer than a call and its note
	sendTime    = 45 * time.Second
	lookEvery   = time.Second
	slowAnswer  = 2 * time.Second
)

// When it is tried again, and for how long. The pauses vary by a tenth, so that not all come back at the same moment.
var pauses = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
	4 * time.Hour, 6 * time.Hour, 8 * time.Hour,
}

// TryFor is how long an endpoint may take nothing until it is disabled, and how long a delivery is tried.
const TryFor = 72 * time.Hour

// After some consecutive failures, whatever the reason, an endpoint gets one try at a time, with separate pauses.
const (
	manyFailures = 5
	probeFirst   = 10 * time.Second
	probeMax     = time.Minute
)

// Send follows the feed and sends due deliveries, until none is left or its time is over. Only one process sends at a
// time, because the job is leased. Each delivery also has a lease: if a process dies, another one sends the delivery
// after a minute.
func (w *Webhooks) Send(ctx context.Context) (more bool, err error) {
	if w.Show == nil || !w.taking.TryLock() {
		return false, nil
	}
	defer w.taking.Unlock()
	until, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	r := w.newRound(ctx)
	var failed error
	for follow, behind := true, false; ; {
		if follow && until.Err() == nil {
			var problem error
			behind, problem = w.Follow(until)
			failed = cmp.Or(problem, failed) // due deliveries are still sent
		}
		if err == nil && until.Err() == nil {
			err = r.begin(until)
		}
		if until.Err() != nil || err != nil || failed != nil {
			behind = false // not in this run
		}
		idle := r.calls.Taken() == 0
		if idle && !behind {
			return false, errors.Join(failed, err)
		}
		if follow = idle; follow {
			continue
		}
		select {
		case done := <-r.done:
			r.release(done)
		case <-tick.C:
			follow = true
		}
	}
}

// job is one delivery that is being sent.
type job struct {
	endpoint Endpoint
	delivery Delivery
	slow     bool // it has one of the places of slow receivers
}

// round is one run of Send. A call has a place of the whole, of its site and of its endpoint, and if it may take long, one of
// slow receivers.
type round struct {
	*Webhooks
	ctx       context.Context // of the calls
	done      chan job
	calls     *limiter.Limiter // by site
	endpoints *limiter.Limiter // by endpoint
	slow      *limiter.Limiter
}

func (w *Webhooks) newRound(ctx context.Context) *round {
	return &round{
		Webhooks: w, ctx: ctx, done: make(chan job, atOnce),
		calls:     limiter.New(limiter.Bounds{Places: atOnce, PerCaller: perSite}),
		endpoints: limiter.New(limiter.Bounds{Places: atOnce * perEndpoint, PerCaller: perEndpoint}),
		slow:      limiter.New(limiter.Bounds{Places: slowAtOnce}),
	}
}

// admit takes the places of a call, or reports that there are not enough. The limiters have no queue, so nothing waits.
func (r *round) admit(j job) bool {
	if j.slow && r.slow.Acquire(r.ctx, "", 1) != nil {
		return false
	}
	if r.endpoints.Acquire(r.ctx, j.endpoint.caller(), j.share()) == nil {
		if r.calls.Acquire(r.ctx, j.endpoint.site(), 1) == nil {
			return true
		}
		r.endpoints.Release(j.endpoint.caller(), j.share())
	}
	if j.slow {
		r.slow.Release("", 1)
	}
	return false
}

// release ends what admit began.
func (r *round) release(done ...job) {
	for _, j := range done {
		r.endpoints.Release(j.endpoint.caller(), j.share())
		r.calls.Release(j.endpoint.site(), 1)
		if j.slow {
			r.slow.Release("", 1)
		}
	}
}

// share is how many of its endpoint's places a call takes: all of them if it may take long.
func (j job) share() int64 {
	if j.slow {
		return perEndpoint
	}
	return 1
}

// site names the endpoint's site for a limiter, and caller the endpoint.
func (e Endpoint) site() string   { return strconv.FormatInt(e.SiteID, 10) }
func (e Endpoint) caller() string { return fmt.Sprintf("%d/%d", e.SiteID, e.ID) }

// suspect reports whether the next call may take long.
func (e Endpoint) suspect() bool { return e.slow || e.failures > 0 }

// begin takes as many due deliveries as there are free slots, and sends them.
func (r *round) begin(ctx context.Context) error {
	var taken []job
	err := r.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		r.release(taken...) // this may run more than once
		due, err := dueEndpoints(tx, sitesALook)
		if taken = nil; err == nil {
			taken, err = r.choose(tx, r.fromLast(due))
		}
		return err
	})
	if err != nil || len(taken) == 0 {
		r.release(taken...)
		return err
	}
	leased := make([]bool, len(taken))
	err = r.Store.Write(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		for i, j := range taken {
			if leased[i], err = lease(tx, j.delivery, leaseTime); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		r.release(taken...)
		return err
	}
	for i, j := range taken {
		if !leased[i] { // another process sends it
			r.release(j)
			continue
		}
		r.last = j.endpoint.key()
		go func() {
			r.deliver(r.ctx, j.endpoint, j.delivery)
			r.done <- j
		}()
	}
	return nil
}

// fromLast moves the endpoints after the one served last to the front, so that each gets its turn.
func (r *round) fromLast(due []Endpoint) []Endpoint {
	i := slices.IndexFunc(due, func(e Endpoint) bool {
		return e.SiteID > r.last.site || e.SiteID == r.last.site && e.ID > r.last.id
	})
	if i <= 0 {
		return due
	}
	return slices.Concat(due[i:], due[:i])
}

// choose reads what can be sent now. Each delivery that it returns, with an error too, has its places.
func (r *round) choose(tx *store.Tx, due []Endpoint) (taken []job, err error) {
	for _, e := range due {
		places, j := 0, job{endpoint: e, slow: e.suspect()}
		for r.admit(j) {
			places++
		}
		if places == 0 {
			continue
		}
		list, err := dueDeliveries(tx, e.key(), places)
		for i := range places {
			if err != nil || i >= len(list) {
				r.release(j)
				continue
			}
			j.delivery = list[i]
			taken = append(taken, j)
		}
		if err != nil {
			return taken, err
		}
	}
	return taken, nil
}

// deliver makes one attempt and records its outcome. Errors on our side are not failures of the receiver: the delivery
// is sent again when its lease ends.
func (w *Webhooks) deliver(ctx context.Context, e Endpoint, d Delivery) {
	attempt, gone, err := w.attempt(ctx, e, d)
	if err == nil && ctx.Err() == nil {
		err = w.note(ctx, d, attempt, gone)
	}
	if err != nil && ctx.Err() == nil {
		w.Log.Error("internal error while delivering a webhook", "site", d.SiteID, "webhook", d.EndpointID, "delivery", d.ID, "error", err)
	}
}

// note stores an attempt, the new state of the delivery, and that of the endpoint. gone means that the event or the
// endpoint was deleted, so nothing can be sent any more.
func (w *Webhooks) note(ctx context.Context, d Delivery, a Attempt, gone bool) error {
	return w.WriteBy(ctx, sites.Clock{SiteID: d.SiteID}, func(tx *store.Tx) error {
		switch {
		case gone:
			_, err := finishAttempt(tx, d, GivenUp, time.Time{}, a)
			return err
		case a.Status/100 == 2:
			first, err := finishAttempt(tx, d, Delivered, time.Time{}, a)
			if err != nil || !first {
				return err
			}
			return received(tx, d, a.Took >= slowAnswer)
		default:
			return w.noteFailure(tx, d, a)
		}
	})
}

// noteFailure stores an attempt that failed. It takes the endpoint first, as everybody does who writes both, and reads when
// it was enabled: that may be later than the call.
func (w *Webhooks) noteFailure(tx *store.Tx, d Delivery, a Attempt) error {
	e, err := lockEndpoint(tx, d.SiteID, d.EndpointID)
	if err != nil {
		return notDeleted(err)
	}
	tries, err := countTries(tx, d, e.enabledAt)
	if err != nil {
		return err
	}
	now := sites.RealNow(tx)
	state, next := w.afterFailure(e, d, tries, now)
	first, err := finishAttempt(tx, d, state, next, a)
	if err != nil || !first {
		return err
	}
	return failed(tx, e, a, now)
}

// afterFailure returns the new state of a delivery that failed, given the number of earlier failures since the endpoint
// was enabled.
func (w *Webhooks) afterFailure(e Endpoint, d Delivery, tries int, now time.Time) (DeliveryState, time.Time) {
	last := d.MadeAt.Add(TryFor)
	if again := e.enabledAt.Add(TryFor); again.After(last) {
		last = again
	}
	if !now.Before(last) {
		return GivenUp, time.Time{}
	}
	next := now.Add(w.jittered(pauses[min(tries, len(pauses)-1)]))
	if next.After(last) {
		next = last
	}
	return Waiting, next
}

// jittered is a pause that is up to a tenth shorter or longer.
func (w *Webhooks) jittered(pause time.Duration) time.Duration {
	var b [1]byte
	_, _ = w.Random.Read(b[:]) // without chance the pause is the shortest one
	return pause*9/10 + pause/5*time.Duration(b[0])/255
}

// received notes that an endpoint took something. It writes only if that is news.
func received(tx *store.Tx, d Delivery, slow bool) error {
	_, err := tx.Exec(`UPDATE webhook_endpoints SET failures = 0, failing_since = 0, retry_at = 0, slow = $3
		WHERE site_id = $1 AND id = $2 AND (failures <> 0 OR slow <> $3)`, d.SiteID, d.EndpointID, number(slow))
	return err
}

// failed records a failure of an endpoint that this write has locked. An endpoint that responded with 410 is disabled
// immediately, and one that has failed for three days as well.
func failed(tx *store.Tx, e Endpoint, a Attempt, now time.Time) error {
	before := e
	e.failures++
	e.slow = a.Took >= slowAnswer
	if e.FailingSince.IsZero() {
		e.FailingSince = now
	}
	if n := e.failures - manyFailures; n >= 0 {
		e.retryAt = now.Add(min(probeMax, probeFirst<<min(n, 10)))
	}
	why := ""
	switch {
	case a.Status == statusGone:
		why = WantsNoMore
		e = e.switched(false, "The receiver responded with status 410: it no longer accepts events.")
	case now.Sub(e.FailingSince) >= TryFor:
		why = Failing
		e = e.switched(false, "All deliveries have failed for three days.")
	}
	if e.State == before.State {
		return noteFailures(tx, e)
	}
	if _, err := updateEndpoint(tx, e); err != nil {
		return err
	}
	return tellDisabled(tx, before, e, why)
}

// statusGone is the status by which a receiver declines further events.
const statusGone = 410

// Why the program disables an endpoint, in the details of the event.
const (
	Failing     = "failing"       // it has taken nothing for TryFor
	WantsNoMore = "wants_no_more" // its receiver has said so
)

// tellDisabled records that an endpoint was disabled by the program, for the feed and for the audit.
func tellDisabled(tx *store.Tx, before, after Endpoint, why string) error {
	events.Record(tx, after.SiteID, event.WebhookDisabled, after.ID, event.Details{Status: string(after.State), Reason: why})
	return audit.Record(tx, system(after.SiteID), "webhook.disable", endpointObject(after.ID), auditEndpoint(before), auditEndpoint(after))
}
