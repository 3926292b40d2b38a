package payment_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"holdfast/internal/errs"
)

// wrongFields returns the names in a Problems, sorted; absent ones in brackets.
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
	names := slices.Sorted(maps.Keys(f.Params))
	for _, absent := range f.Absent {
		names = append(names, "["+absent+"]")
	}
	return names
}
