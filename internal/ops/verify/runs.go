package verify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/store"
)

// Bounds of requested checks.
const (
	beatEvery   = 10 * time.Second // a sign of life
	lostAfter   = 2 * time.Minute  // without one, the process has died
	maxRunTries = 3
	keptRuns    = 20
	keptRows    = 200 // findings of a run that are kept
	rowsOfCheck = 5   // findings of one check of one site, so that all checks are seen
)

// RunState is the progress of a requested check.
type RunState string

// The states of a run.
const (
	RunAsked   RunState = "asked" // it begins within seconds
	Running    RunState = "running"
	RunDone    RunState = "done"
	RunFailed  RunState = "failed"  // it could not be made
	RunStopped RunState = "stopped" // by a user
)

// AskedRun is a requested check of the whole book.
type AskedRun struct {
	ID                        int64
	State                     RunState
	AskedBy                   string
	AskedAt, BeganAt, EndedAt time.Time // zero: not yet
	BeatAt                    time.Time
	Progress                  string
	Total                     int64 // findings in all
	Result                    RunResult
	Problem                   string
	tries                     int64
}

// RunResult is the stored result of a run.
type RunResult struct {
	Lines    []Line    `json:"lines"` // each check over all sites
	Findings []Finding `json:"findings"`
}

// Ask has the whole book checked by the program that serves. One runs at a time: the error is NotPossible with the reason
// verify_running while another one is requested or running.
func (v *Verify) Ask(ctx context.Context, actor access.Actor) (made AskedRun, err error) {
	if err := operators(actor); err != nil {
		return made, err
	}
	err = v.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		free, err := tx.Lock("verify_runs") // no other request at the same time
		if err == nil && free {
			_, err = openRun(tx)
		}
		if err == nil {
			return errs.NotPossibleBecause("verify_running", "A check is already running.")
		} else if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		made = AskedRun{State: RunAsked, AskedBy: actor.Username, AskedAt: tx.Now}
		if made.ID, err = insertRun(tx, made); err != nil {
			return err
		}
		return audit.Record(tx, audit.OfDeployment(actor), "verify.ask", fmt.Sprintf("verify %d", made.ID), nil, nil)
	})
	return made, err
}

// operators checks that the actor may check all sites.
func operators(actor access.Actor) error {
	if err := actor.Require(access.ManageSites); err != nil || actor.Everywhere() {
		return err
	}
	return errs.New(errs.Forbidden, "An API token is limited to one site, but this covers all sites.")
}

// Stop ends a requested or running run within seconds. The error is NotPossible for a run that has ended.
func (v *Verify) Stop(ctx context.Context, actor access.Actor, id int64) error {
	if err := operators(actor); err != nil {
		return err
	}
	return v.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		ok, err := stopRun(tx, id)
		if err == nil && !ok {
			err = errs.NotPossibleBecause("verify_over", "This check has already finished.")
		}
		if err != nil {
			return err
		}
		return audit.Record(tx, audit.OfDeployment(actor), "verify.stop", fmt.Sprintf("verify %d", id), nil, nil)
	})
}

// Runs reads the runs that are kept, the last one first, without their results.
func (v *Verify) Runs(ctx context.Context, actor access.Actor) (list []AskedRun, err error) {
	if err := operators(actor); err != nil {
		return nil, err
	}
	err = v.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		list, err = runsOf(tx)
		return err
	})
	return list, err
}

// RunWith reads a run with its result. The error is SettingNotFound for one that is not there.
func (v *Verify) RunWith(ctx context.Context, actor access.Actor, id int64) (found AskedRun, err error) {
	if err := operators(actor); err != nil {
		return found, err
	}
	err = v.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		found, err = runOf(tx, id)
		return err
	})
	return found, store.NotFoundAs(errs.SettingNotFound, err, "Check %d not found.", id)
}

// Work runs the requested check, if there is one, with its own reads. A process that dies leaves it to
// the next one, which starts again; one that stops returns it. The check itself changes nothing.
func (v *Verify) Work(ctx context.Context) (more bool, err error) {
	var run AskedRun
	err = v.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		run, err = claimRun(tx)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if run.tries > maxRunTries {
		run.State, run.Problem = RunFailed, "The program stopped several times during the check."
		return false, v.end(ctx, run)
	}
	within, stop := context.WithCancel(ctx)
	var current progress
	var beating sync.WaitGroup
	beating.Go(func() { v.beat(within, stop, run, &current) })
	report, failure := v.Run(within, access.System(0), Query{Limit: rowsOfCheck, onStep: current.set})
	stop()
	beating.Wait()
	switch {
	case ctx.Err() != nil: // the program is stopping: the next one starts over
		return false, v.giveBack(context.WithoutCancel(ctx), run)
	case failure != nil && within.Err() != nil && errors.Is(failure, context.Canceled):
		return false, nil // it was stopped by a user
	case failure != nil:
		v.Log.Error("a check of the book failed", "run", run.ID, "error", failure)
		run.State, run.Problem = RunFailed, "The check failed. See the log for the cause."
		if f, ok := errors.AsType[*errs.Error](failure); ok {
			run.Problem = f.Message
		}
	default:
		run.State, run.Total, run.Result = RunDone, report.Total, keptOf(report)
	}
	return false, v.end(ctx, run)
}

// progress is the progress of a run, in words.
type progress struct {
	mu   sync.Mutex
	text string
}

func (p *progress) set(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
}

func (p *progress) get() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text
}

// beat writes heartbeats with the progress until the run ends. It stops the run if it has been ended elsewhere.
func (v *Verify) beat(ctx context.Context, stop func(), run AskedRun, current *progress) {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if alive, err := v.alive(ctx, run, current.get()); err == nil && !alive {
			stop()
			return
		}
	}
}

// alive notes a sign of life. It is false when the run was ended, or another process has it.
func (v *Verify) alive(ctx context.Context, run AskedRun, text string) (alive bool, err error) {
	err = v.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		alive, err = beatRun(tx, run, text)
		return err
	})
	return alive, err
}

func (v *Verify) end(ctx context.Context, run AskedRun) error {
	return v.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error { return endRun(tx, run) })
}

func (v *Verify) giveBack(ctx context.Context, run AskedRun) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return v.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error { return giveRunBack(tx, run) })
}

// keptOf returns the part of a report that is stored: each check added up over all sites, and the first findings.
func keptOf(report Report) (r RunResult) {
	at := map[string]int{}
	for _, line := range report.Lines {
		i, ok := at[line.Check]
		if !ok {
			i = len(r.Lines)
			at[line.Check] = i
			r.Lines = append(r.Lines, Line{Check: line.Check})
		}
		r.Lines[i].Rows += line.Rows
		r.Lines[i].Findings += line.Findings
	}
	r.Findings = report.Findings[:min(len(report.Findings), keptRows)]
	return r
}
