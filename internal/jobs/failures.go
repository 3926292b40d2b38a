package jobs

import (
	"sync"
	"time"

	"holdfast/internal/errs"
)

// logEvery is the minimum time between two log lines about failures of one kind.
const logEvery = 10 * time.Second

// everyJob is the kind of failures that affect all jobs: the database cannot be reached.
const everyJob = "every job"

// failures keeps the log readable during repeated failures: one line per kind every ten seconds, with the number of
// failures since the previous line.
type failures struct {
	clock func() time.Time

	mu       sync.Mutex
	unlogged map[string]int       // by kind: one for each job, and everyJob
	logged   map[string]time.Time // time of the last line
}

func newFailures(clock func() time.Time) *failures {
	return &failures{clock: clock, unlogged: map[string]int{}, logged: map[string]time.Time{}}
}

// note counts a failure of a job. It returns the number of failures since the last line, or 0 if it is too early for another
// line.
func (f *failures) note(job string, err error) (count int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := job
	if errs.Is(err, errs.Unavailable) {
		kind = everyJob
	}
	f.unlogged[kind]++
	now := f.clock()
	if last, ok := f.logged[kind]; ok && now.Sub(last) < logEvery {
		return 0
	}
	count = f.unlogged[kind]
	f.unlogged[kind], f.logged[kind] = 0, now
	return count
}
