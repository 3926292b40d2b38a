package events_test

import (
	"context"
	"testing"

	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestAWatchIsNotified: of this process's events when they are stored, and of another process's at the next look.
func TestAWatchIsNotified(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		own, listener := w.App.Events.Watch(w.Site.ID), w.App.DB.Store.Listen(w.Site.ID)
		defer own.Close()
		defer listener.Close()
		heard := func() bool {
			select {
			case <-listener.C:
				return true
			default:
				return false
			}
		}
		record(t, w, 1)
		if !own.Wait(t.Context()) || !heard() || heard() {
			t.Error("an event of this process is not heard once")
		}
		w.App.Events.Look(t.Context()) // the first look at a site always notifies
		read(t, w, "")
		w.App.Events.Look(t.Context())
		heard()
		w.App.Events.Look(t.Context())
		if heard() {
			t.Error("nothing has happened, and it is heard")
		}
		other := apptest.Over(t, w, dbtest.Open(t, w.URL, w.Now))
		record(t, other, 2)
		if heard() {
			t.Error("an event of another process is heard before anybody looks")
		}
		w.App.Events.Look(t.Context())
		if !heard() {
			t.Error("an event of another process without a position is not heard")
		}
		read(t, other, "")
		w.App.Events.Look(t.Context())
		if !heard() {
			t.Error("a feed that another process has made longer is not heard")
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		fresh := w.App.Events.Watch(w.Site.ID)
		defer fresh.Close()
		if fresh.Wait(over) {
			t.Error("nothing has happened, and the wait was not for nothing")
		}
	})
}
