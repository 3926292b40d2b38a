package apptest

import (
	"testing"

	"holdfast/internal/civil"
)

func DayPtr(t testing.TB, s string) *civil.Day {
	t.Helper()
	d, err := civil.ParseDay(s)
	if err != nil {
		t.Fatal(err)
	}
	return &d
}
