package limits_test

import (
	"testing"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// TestAllLimitsThatWereSetAreOnRecord: including replaced ones, and for a channel also those for all channels.
func TestAllLimitsThatWereSetAreOnRecord(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		one, other := w.Channel(merchant.ModeProtectionOnly, "GBP"), w.Channel(merchant.ModeProtectionOnly, "EUR")
		w.Limit(protection.LimitSite, 0, 900)
		w.Limit(protection.LimitChannel, 0, 500)
		w.Limit(protection.LimitChannel, one.ID, 600)
		w.Limit(protection.LimitChannel, one.ID, 700)
		w.Limit(protection.LimitChannel, other.ID, 800)
		for channel, want := range map[int64][]int64{0: {800, 700, 600, 500, 900}, one.ID: {700, 600, 500}, other.ID: {800, 500}} {
			page := store.Page{Number: 1, Size: 10, Offset: -1, OrderBy: "id", Descending: true}
			list, err := w.App.Limits.History(t.Context(), w.Actor, channel, page)
			if err != nil {
				t.Fatal(err)
			}
			got := []int64{}
			for _, l := range list.Items {
				got = append(got, l.Amount)
			}
			apptest.Same(t, "of a channel", got, want)
		}
		_, err := w.App.Limits.History(t.Context(), w.Actor, 9999, store.Page{Number: 1, Size: 10, Offset: -1})
		apptest.WantKind(t, err, errs.Invalid, "of a channel that is not there")
	})
}
