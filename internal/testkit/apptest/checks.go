package apptest

import (
	"fmt"
	"testing"

	"holdfast/internal/errs"
)

// Same compares values by their printed form.
func Same(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s: %s, want %s", what, g, w)
	}
}

// WantKind fails the test unless err has this kind, or is nil if kind is Internal.
func WantKind(t *testing.T, err error, kind errs.Kind, doing string) {
	t.Helper()
	if (err == nil) != (kind == errs.Internal) || err != nil && !errs.Is(err, kind) {
		t.Errorf("%s: %v, want kind %d", doing, err, kind)
	}
}
