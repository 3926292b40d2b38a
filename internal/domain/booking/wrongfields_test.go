package booking

import (
	"errors"
	"slices"
	"testing"

	"holdfast/internal/errs"
)

// wrongFields returns the names of invalid fields, and of missing ones with a question mark.
func wrongFields(t *testing.T, p *errs.Problems) []string {
	t.Helper()
	err := p.Err()
	if err == nil {
		return nil
	}
	f, ok := errors.AsType[*errs.Error](err)
	if !ok {
		t.Fatalf("not a fault: %v", err)
	}
	names := []string{}
	for _, name := range f.Absent {
		names = append(names, name+"?")
	}
	for name := range f.Params {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
