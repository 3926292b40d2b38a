package jobs

import (
	"sync"
	"time"

	"holdfast/internal/errs"
)

// tellEvery is the shortest time between two log lines about failures of one kind.
const tellEvery = 10 * time.Second

// everyJob is the kind of the failures that all jobs have in common: the database cannot be reached.
const everyJob = "every job"

// failures keeps the log readable while the same thing fails again and again. Of each kind there is one line in ten
// seconds, with the number of failures since the line before.
type failures struct {
	clock func() time.Time

	mu     sync.Mutex
	untold map[string]int       // by kind: there are as many kinds as jobs, and one more
	told   map[string]time.Time // when the last line was written
}

func newFailures(clock func() time.Time) *failures {
	return &failures{clock: clock, untold: map[string]int{}, told: map[string]time.Time{}}
}

// note counts a failure of a job. It returns how many there were since the last line, or 0 if it is too early for a line.
func (f *failures) note(job string, err error) (tell int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := job
	if errs.Is(err, errs.Unavailable) {
		kind = everyJob
	}
	f.untold[kind]++
	now := f.clock()
	if last, ok := f.told[kind]; ok && now.Sub(last) < tellEvery {
		return 0
	}
	tell = f.untold[kind]
	f.untold[kind], f.told[kind] = 0, now
	return tell
}
