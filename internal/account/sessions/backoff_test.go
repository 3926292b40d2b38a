package sessions_test

import (
	"math"
	"testing"
	"time"

	"holdfast/internal/account/sessions"
)

func TestBackoff(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		math.MinInt: 0, -1: 0, 0: 0, 4: 0,
		5: time.Second, 6: 2 * time.Second, 7: 4 * time.Second, 14: 512 * time.Second,
		15: 15 * time.Minute, 16: 15 * time.Minute, math.MaxInt: 15 * time.Minute,
	} {
		if got := sessions.Backoff(failures); got != want {
			t.Errorf("Backoff(%d) = %v, want %v", failures, got, want)
		}
	}
	for failures := range 100 {
		if sessions.Backoff(failures+1) < sessions.Backoff(failures) {
			t.Errorf("the wait shrinks after %d failures", failures+1)
		}
	}
	for failures, want := range map[int]time.Duration{0: 0, 1: time.Second, 2: 2 * time.Second, 11: 15 * time.Minute, math.MaxInt: 15 * time.Minute} {
		if got := sessions.BackoffUnderAttack(failures); got != want {
			t.Errorf("BackoffUnderAttack(%d) = %v, want %v", failures, got, want)
		}
	}
}
