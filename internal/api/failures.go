package api

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// failureLog decides which failures are logged: the first one of each kind. Those of the next ten seconds are counted.
// So a failing database produces a line and a count, not a line per request.
type failureLog struct {
	mu    sync.Mutex
	kinds map[string]*failureKind
}

type failureKind struct {
	since time.Time // of its line
	more  int       // failures after that
}

// Bounds of the log of failures.
const (
	failurePause = 10 * time.Second
	failureKinds = 100 // beyond that all others are one kind
	failureText  = 160 // bytes of an error that make its kind
)

// leftOut is how often a kind of failure has no line of its own.
type leftOut struct {
	kind  string
	times int
}

// note counts a failure of a kind, and says whether it gets a line.
func (f *failureLog) note(kind string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kinds == nil {
		f.kinds = map[string]*failureKind{}
	}
	if f.kinds[kind] == nil && len(f.kinds) >= failureKinds {
		kind = "others"
	}
	if of := f.kinds[kind]; of != nil {
		of.more++
		return false
	}
	f.kinds[kind] = &failureKind{since: now}
	return true
}

// over returns the failures that have been left out for ten seconds, in order of the kinds. The next failure of each is
// logged again.
func (f *failureLog) over(now time.Time) (list []leftOut) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, kind := range slices.Sorted(maps.Keys(f.kinds)) {
		of := f.kinds[kind]
		if now.Sub(of.since) < failurePause {
			continue
		}
		if of.more > 0 {
			list = append(list, leftOut{kind, of.more})
		}
		delete(f.kinds, kind)
	}
	return list
}

// kindOfError names the kind of an error of the program: its first line without digits, which are mostly ids and ports.
func kindOfError(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	line = line[:min(len(line), failureText)]
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, line)
}
