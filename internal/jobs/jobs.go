// Package jobs runs background work. It leases a job, calls its use case, and backs off after failures. There is no
// queue: a use case finds its work in its own tables, one bounded batch at a time, so nothing can be lost. See
// docs/decisions/0001-background-work.md. Start at New, which lists all jobs.
package jobs

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"holdfast/internal/account/sessions"
	"holdfast/internal/app"
	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
	"holdfast/internal/errs"
	"holdfast/internal/platform/leases"
)

// Bounds of a run. A run always ends before its lease expires, so that two processes never run the same job concurrently.
const (
	leaseLength = 2 * time.Minute
	runLength   = time.Minute
	tick        = 5 * time.Second
	quickTick   = time.Second // for jobs that run more often than the normal tick
	early       = 10          // a job is due a tenth of its interval early: counted from its end, it would miss every second tick
	backoffMax  = 10 * time.Minute
	backoffAway = 10 * time.Second
)

// Job is one kind of background work.
type Job struct {
	Name  string
	Every time.Duration
	// Talks marks a job that calls other services, which may be slow, or that takes long itself. It does not share a goroutine with other jobs.
	Talks bool
	// Length is the maximum duration of a run; 0 means a minute. A job that runs longer than the lease must itself prevent two
	// processes from doing the same work.
	Length time.Duration
	// Run does one bounded batch of work. It returns more if work is left.
	Run func(ctx context.Context) (more bool, err error)
}

// Runner runs jobs when they are due.
type Runner struct {
	work     *leases.Work
	log      *slog.Logger
	jobs     []Job
	failures *failures
}

// New returns a runner for all jobs of the program, and for additional ones that the settings enable.
func New(a *app.App, log *slog.Logger, more ...Job) *Runner {
	list := []Job{
		{Name: "expire-authorisations", Every: time.Minute, Run: func(ctx context.Context) (bool, error) {
			n, err := a.Payments.ExpireAuthorisations(ctx)
			return n > 0, err
		}},
		{Name: "price-pending", Every: time.Minute, Run: func(ctx context.Context) (bool, error) {
			if _, err := a.Rates.PricePending(ctx); err != nil {
				return false, err
			}
			return false, a.Rates.GoOn(ctx)
		}},
		{Name: "issue-statements", Every: time.Minute, Run: func(ctx context.Context) (bool, error) {
			_, err := a.Statements.IssueDue(ctx)
			return false, err
		}},
		{Name: "fold-exposure", Every: 5 * time.Second, Run: a.Buckets.Fold},
		// Limits must be checked within ten seconds (R12), so this job does not wait for slow ones.
		{Name: "judge-limits", Every: quickTick, Run: a.Limits.Recompute},
		// The snapshot of an insolvency must exist within ten seconds after it can be made (R13).
		{Name: "work-on-insolvencies", Every: quickTick, Talks: true, Run: a.Insolvencies.Work},
		{Name: "make-claims", Every: tick, Run: a.Claims.Make},
		{Name: "plan-payouts", Every: time.Minute, Run: a.Claims.Plan},
		{Name: "complete-bookings", Every: time.Minute, Run: a.Bookings.RecordCompleted},
		{Name: "end-protection", Every: time.Minute, Run: a.Ends.Record},
		{Name: "match-disputes", Every: tick, Run: a.Disputes.Retry},
		{Name: "alert-disputes", Every: time.Minute, Run: a.Disputes.Alert},
		{Name: "place-events", Every: 30 * time.Second, Run: a.Events.PlaceAll},
		{Name: "send-webhooks", Every: quickTick, Talks: true, Run: a.Webhooks.Send},
		{Name: "forget-webhooks", Every: time.Hour, Run: a.Webhooks.Forget},
		{Name: "forget-events", Every: time.Hour, Run: a.Events.Forget},
		{Name: "seal-facts", Every: 30 * time.Second, Run: a.Seals.Seal},
		{Name: "forget-idempotency-keys", Every: time.Hour, Run: a.Idempotency.Forget},
		{Name: "forget-failed-logins", Every: time.Hour, Run: a.Sessions.ForgetFailures},
		{Name: "forget-sign-ins", Every: time.Hour, Run: a.SignIns.Forget},
		{Name: "forget-password-links", Every: time.Hour, Run: a.Links.Forget},
		{Name: "answer-forgotten-passwords", Every: tick, Run: a.Links.Answer},
		// An import may take long and resumes where it stopped. It must not block other jobs, and a user is waiting for it to start.
		{Name: "import-files", Every: quickTick, Talks: true, Run: func(ctx context.Context) (bool, error) {
			return a.ImportFiles.Next(ctx, func(file io.Reader) iter.Seq2[imports.ImportedPayment, error] {
				return paymentfile.Read(file, nil)
			}, sessions.AccessNow)
		}},
		{Name: "import-dispute-files", Every: quickTick, Talks: true, Run: func(ctx context.Context) (bool, error) {
			return a.Disputes.NextUpload(ctx, sessions.AccessNow)
		}},
		{Name: "forget-dispute-files", Every: time.Hour, Run: a.Disputes.ForgetUploads},
		{Name: "forget-imports", Every: time.Hour, Run: a.ImportFiles.Forget},
		{Name: "forget-modal-sessions", Every: time.Hour, Run: a.Modals.Forget},
	}
	// Mails are created within seconds and sent by a separate job, because the mail server may be slow.
	list = append(list,
		Job{Name: "make-mails", Every: tick, Run: a.Mails.Follow},
		Job{Name: "send-mails", Every: tick, Talks: true, Run: a.Mails.Send},
		// Verifying the whole book takes minutes. Its row records which process runs it, for longer than the lease.
		Job{Name: "verify-book", Every: tick, Talks: true, Length: time.Hour, Run: a.Verify.Work},
		Job{Name: "make-reports", Every: 15 * time.Second, Talks: true, Run: a.Schedules.MakeDue},
		Job{Name: "forget-mails", Every: time.Hour, Run: a.Mails.Forget})
	if a.GatewayPayments.Enabled() {
		// These jobs resolve unknown payment outcomes within a minute after the processor is back.
		list = append(list,
			Job{Name: "ask-processors", Every: tick, Talks: true, Run: a.Disputes.Reconcile},
			Job{Name: "follow-processor-events", Every: tick, Talks: true, Run: a.Notices.Follow},
			Job{Name: "read-processor-events", Every: tick, Talks: true, Run: a.Notices.Poll},
			Job{Name: "forget-processor-events", Every: time.Hour, Run: a.Notices.Forget})
	}
	return NewRunner(a.Work, log, append(list, more...))
}

// NewRunner returns a runner for the given jobs.
func NewRunner(work *leases.Work, log *slog.Logger, list []Job) *Runner {
	return &Runner{work: work, log: log, jobs: list, failures: newFailures(work.Clock)}
}

// Jobs lists the jobs of the runner.
func (r *Runner) Jobs() []Job { return r.jobs }

// Run runs jobs until the context ends and returns when all of them have stopped. Quick jobs run one after the
// other in one goroutine, slow jobs in another, and each job that calls other services in its own.
func (r *Runner) Run(ctx context.Context) {
	quick, slow := *r, *r
	quick.jobs, slow.jobs = nil, nil
	var running sync.WaitGroup
	for _, job := range r.jobs {
		switch {
		case job.Talks:
			alone := *r
			alone.jobs = []Job{job}
			running.Go(func() { alone.runEvery(ctx, min(job.Every, tick)) })
		case job.Every < tick:
			quick.jobs = append(quick.jobs, job)
		default:
			slow.jobs = append(slow.jobs, job)
		}
	}
	running.Go(func() { quick.runEvery(ctx, quickTick) })
	running.Go(func() { slow.runEvery(ctx, tick) })
	running.Wait()
}

func (r *Runner) runEvery(ctx context.Context, pause time.Duration) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		r.RunDue(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// RunDue runs every due job once and returns how many it ran.
func (r *Runner) RunDue(ctx context.Context) (ran int) {
	for _, job := range r.jobs {
		if ctx.Err() != nil {
			return ran
		}
		ok, err := r.runOne(ctx, job)
		if err != nil && ctx.Err() == nil {
			if n := r.failures.note(job.Name, err); n > 0 {
				r.log.Error("background job failed", "job", job.Name, "error", err, "failures", n)
			}
		}
		if ok {
			ran++
		}
	}
	return ran
}

func (r *Runner) runOne(ctx context.Context, job Job) (ran bool, err error) {
	lease, ok, err := r.work.Claim(ctx, job.Name, leaseLength)
	if err != nil || !ok {
		return false, err
	}
	failure := r.runBounded(ctx, job)
	after := job.Every - job.Every/early
	if failure != nil {
		after = backoff(failure, lease.Attempts())
	}
	// Release the lease even during shutdown. Otherwise the job could not run again before the lease expires.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := r.work.Finish(ctx, lease, after, failure); err != nil {
		return true, err
	}
	return true, failure
}

// runBounded runs a job until no work is left or its time is up. The next run continues.
func (r *Runner) runBounded(ctx context.Context, job Job) (err error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(job.Length, runLength))
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	for more := true; more && err == nil && ctx.Err() == nil; {
		more, err = job.Run(ctx)
	}
	return err
}

// backoff is the delay after a failure. It doubles with each failure, but stays short while a node of the database or a processor does not
// answer: that ends on its own.
func backoff(failure error, attempts int) time.Duration {
	most := backoffMax
	if errs.Is(failure, errs.Unavailable) {
		most = backoffAway
	}
	return min(most, 5*time.Second<<min(attempts, 10))
}
