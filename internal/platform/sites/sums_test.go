package sites_test

import (
	"errors"
	"math"
	"testing"

	"holdfast/internal/domain/money"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// TestASumThatIsTooLargeIsAnError: in each kind of transaction, and never a panic.
func TestASumThatIsTooLargeIsAnError(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		clock := sites.ClockFor(w.Actor)
		sum := func(*store.Tx) error {
			money.Sum(math.MaxInt64, 1)
			return nil
		}
		for name, run := range map[string]func() error{
			"read": func() error {
				_, err := sites.Read(t.Context(), w.App.DB, w.Actor, func(tx *store.Tx) (int, error) { return 0, sum(tx) })
				return err
			},
			"read by a clock": func() error { return w.App.DB.ReadBy(t.Context(), clock, sum) },
			"write":           func() error { return w.App.DB.WriteAs(t.Context(), w.Actor, sum) },
			"long write":      func() error { return w.App.DB.WriteLongBy(t.Context(), clock, sum) },
		} {
			if err := run(); !errors.Is(err, money.ErrRange) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
