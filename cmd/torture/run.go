package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"
)

// run is one run of one scenario.
type run struct {
	options
	part     string
	dir      string // for databases, logs and files of the scenario
	builder  *builder
	ctx      context.Context // ends at the scenario's time limit
	began    time.Time
	refusals []refusals // of all rounds, in the order of the first round; attacks run one at a time

	mu       sync.Mutex
	out      io.Writer
	failures int
	figures  []figure
}

// refusals are the durations of the rejections that some callers got.
type refusals struct {
	who  string
	took []time.Duration
}

// figure is one row of the table at the end.
type figure struct{ part, what, value string }

// whole runs the scenario within its time limit, from the first line of output to the last.
func (r *run) whole(ctx context.Context, p part) error {
	limit := p.limit
	if r.limit != 0 {
		limit = r.limit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r.ctx, r.began = ctx, time.Now()
	r.say("started: %s", p.about)
	err := os.MkdirAll(r.dir, 0o755)
	if err == nil {
		err = p.run(r)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = errors.Join(fmt.Errorf("exceeded the limit of %s", limit), err)
	}
	if err != nil {
		r.fail("aborted: %v", err)
	}
	r.figure("took", "%s", time.Since(r.began).Round(time.Second))
	r.figure("broken guarantees", "%d", r.failures)
	return err
}

// say prints one line.
func (r *run) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, "%s: %s\n", r.part, fmt.Sprintf(format, args...))
}

// fail prints and counts a broken guarantee.
func (r *run) fail(format string, args ...any) {
	r.say("FAILED: "+format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures++
}

// figure adds a row to the table of figures.
func (r *run) figure(what, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.figures = append(r.figures, figure{r.part, what, fmt.Sprintf(format, args...)})
}

// refusedIn adds a row about the durations of one round's rejections, and keeps them for the row about all rounds.
func (r *run) refusedIn(who string, took []time.Duration) {
	if len(took) == 0 {
		return
	}
	r.figure(who, "%d rejected, %s", len(took), times(took))
	at := slices.IndexFunc(r.refusals, func(of refusals) bool { return of.who == who })
	if at < 0 {
		at = len(r.refusals)
		r.refusals = append(r.refusals, refusals{who: who})
	}
	r.refusals[at].took = append(r.refusals[at].took, took...)
}

// refusedInAll adds the rows about the rejections of all rounds.
func (r *run) refusedInAll() {
	for _, of := range r.refusals {
		r.figure(of.who+", all rounds", "%d rejected, %s", len(of.took), times(of.took))
	}
}

// count is the number of rounds to run; usual is the scenario's default.
func (r *run) count(usual int) int {
	if r.rounds > 0 {
		return r.rounds
	}
	return usual
}

// random is the source of random choices for one round. It does not depend on other rounds, so that a single round can be
// repeated.
func (r *run) random(name string, round int) *rand.Rand {
	var key [32]byte
	copy(key[:], fmt.Sprintf("%d %s %d", r.seed, name, round))
	return rand.New(rand.NewChaCha8(key))
}

// pause waits, or returns early at the scenario's time limit.
func (r *run) pause(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.ctx.Done():
		return r.ctx.Err()
	case <-timer.C:
		return nil
	}
}

// until polls yes until it returns true. It returns how long that took, and an error if it takes longer than limit.
func (r *run) until(limit time.Duration, what string, yes func() bool) (time.Duration, error) {
	began := time.Now()
	for !yes() {
		if time.Since(began) > limit {
			return limit, fmt.Errorf("%s: not within %s", what, limit)
		}
		if err := r.pause(10 * time.Millisecond); err != nil {
			return limit, err
		}
	}
	return time.Since(began), nil
}

// printFigures prints the table in the format of docs/reliability.md.
func printFigures(out io.Writer, o options, table []figure) {
	command := fmt.Sprintf("-seed %d", o.seed)
	if o.only != "" {
		command = "-only " + o.only + " " + command
	}
	if o.first != 1 {
		command += fmt.Sprintf(" -from %d", o.first)
	}
	if o.rounds != 0 {
		command += fmt.Sprintf(" -n %d", o.rounds)
	}
	fmt.Fprintf(out, "\n`make torture ARGS=%q`\n\n| part | what | figure |\n| --- | --- | --- |\n", command)
	for _, f := range table {
		fmt.Fprintf(out, "| %s | %s | %s |\n", f.part, f.what, f.value)
	}
}
