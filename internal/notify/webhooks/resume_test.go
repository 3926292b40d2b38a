package webhooks_test

import (
	"context"
	"testing"
	"time"

	"holdfast/internal/notify/webhooks"
	"holdfast/internal/store"
)

// switchTo enables or disables an endpoint.
func (w *world) switchTo(id int64, on bool) {
	w.t.Helper()
	if _, err := w.Change(w.t.Context(), w.Actor, id, webhooks.EndpointFields{Enabled: &on}); err != nil {
		w.t.Fatal(err)
	}
}

func TestWhatWaitedAtADisabledEndpointIsTriedForThreeDaysAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, status(500))
		e := w.endpoint(r.URL)
		w.happens(1, "a")
		for range 6 { // the next pause is one of hours
			w.send()
			w.Advance(time.Hour)
		}
		w.switchTo(e.ID, false)
		w.Advance(90 * time.Hour)
		w.send() // nothing: it is disabled
		tries := len(r.lines())
		w.switchTo(e.ID, true)
		w.send()
		if d := w.deliveries(e.ID)[0]; d.State != webhooks.Waiting || len(r.lines()) != tries+1 {
			t.Fatalf("%+v after %d tries more", d, len(r.lines())-tries)
		}
		// The pauses start with the shortest one again.
		w.Advance(6 * time.Second)
		w.send()
		if n := len(r.lines()); n != tries+2 {
			t.Errorf("%d tries after the first pause, want %d", n, tries+2)
		}
		// Another three days, not forever.
		w.Advance(71 * time.Hour)
		w.send()
		if d := w.deliveries(e.ID)[0]; d.State != webhooks.Waiting {
			t.Errorf("on the third day: %+v", d)
		}
		w.Advance(time.Hour)
		w.send()
		if d := w.deliveries(e.ID)[0]; d.State != webhooks.GivenUp {
			t.Errorf("after three days: %+v", d)
		}
	})
}

func TestAnEndpointThatIsEnabledDoesNotFinishItsPauses(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, status(500))
		e := w.endpoint(r.URL)
		w.happens(1, "a")
		for range 6 {
			w.send()
			w.Advance(2 * time.Hour)
		}
		w.send()
		r.answers(nil)
		w.happens(2, "b")
		if _, err := w.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		// One delivery pauses for an hour or longer. Another one is in progress: its lease stays.
		lease := w.Now().Add(30 * time.Second)
		w.exec(`UPDATE webhook_deliveries SET next_at = $1 WHERE object_id = 2`, store.Micros(lease))
		if next := w.deliveries(e.ID)[0].NextAt; next.Before(w.Now().Add(30 * time.Minute)) {
			t.Fatalf("the pause ends at %s", next)
		}
		before := len(r.lines())
		w.switchTo(e.ID, false)
		w.switchTo(e.ID, true)
		w.send()
		same(t, r.lines()[before:], "1 a")
		if next := w.deliveries(e.ID)[1].NextAt; !next.Equal(lease) {
			t.Errorf("the lease ends at %s, want %s", next, lease)
		}
		// An enabled endpoint is not enabled again.
		w.switchTo(e.ID, true)
		w.Advance(31 * time.Second)
		w.send()
		same(t, r.lines()[before:], "1 a", "2 b")
	})
}

// TestARestoredDatabaseSendsNothing until the endpoint is enabled again. Then nothing is lost.
func TestARestoredDatabaseSendsNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, status(200))
		e := w.endpoint(r.URL)
		w.happens(1, "a")
		if err := w.World.App.DB.Store.Write(t.Context(), store.Deployment, webhooks.Restored); err != nil {
			t.Fatal(err)
		}
		w.send()
		same(t, r.lines())
		if is := w.get(e.ID); is.State != webhooks.Disabled || is.Reason == "" || is.Version == e.Version {
			t.Errorf("after the restore it is %+v", is)
		}
		w.switchTo(e.ID, true)
		w.send()
		same(t, r.lines(), "1 a")
	})
}

func TestNothingGoesOutUnsigned(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, nil)
		e := w.endpoint(r.URL)
		w.happens(1, "a")
		w.exec(`DELETE FROM webhook_secrets WHERE endpoint_id = $1`, e.ID) // as when it is deleted while the delivery is taken
		w.send()
		same(t, r.lines())
		same(t, w.log(e.ID), "given_up 1")
	})
}

func TestOneEndpointFarBehindDelaysNobody(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.World.App.Webhooks.Followed = 1
		far, near := w.endpoint("https://8.8.8.8/"), w.endpoint("https://8.8.8.8/near")
		for range 6 {
			w.happens(1, "a")
		}
		// A missing site comes before all others: every query about it fails.
		w.exec(`INSERT INTO event_heads (site_id, epoch, position, removed_to) VALUES (-1, 1, 6, 0)`)
		w.exec(`INSERT INTO webhook_endpoints (site_id, version, url, types, state, reason, position, failures, failing_since, retry_at,
			slow, created_by, created_at, modified_at) VALUES (-1, 1, '', '', 'enabled', '', 0, 0, 0, 0, 0, '', 1, 1)`)
		for _, want := range []int{4, 6} { // each gets its turn, and none takes the whole call
			more, err := w.Follow(t.Context())
			if err == nil || more != (want < 6) {
				t.Errorf("more %v, error %v", more, err)
			}
			if a, b := len(w.deliveries(far.ID)), len(w.deliveries(near.ID)); a != want || b != want {
				t.Errorf("%d and %d deliveries, want %d", a, b, want)
			}
		}
		// A call that cannot process all endpoints starts after the last one of the previous call.
		w.happens(1, "a")
		w.World.App.Webhooks.Followers = 1
		for range 3 {
			_, _ = w.Follow(t.Context())
		}
		if a, b := len(w.deliveries(far.ID)), len(w.deliveries(near.ID)); a != 7 || b != 7 {
			t.Errorf("%d and %d deliveries after three looks, want 7", a, b)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if more, err := w.Follow(over); !more || err != nil {
			t.Errorf("when the time is over: more %v, error %v", more, err)
		}
	})
}

func TestARunSendsAllAlthoughALookIsShort(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.World.App.Webhooks.Followed = 1
		r := newReceiver(t, nil)
		w.happens(1, "before")         // so that the feed of the site has begun
		w.endpoint(r.URL, "webhook.*") // subscribes to none of these, so nothing is in progress while it catches up
		w.endpoint(r.URL)
		for range 9 {
			w.exec(`UPDATE event_heads SET position = position + 1`) // positions without events: the job removed them
		}
		w.happens(1, "a")
		w.send()
		same(t, r.lines(), "1 a")
	})
}

// exec changes rows in ways that no use case does.
func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	err := w.World.App.DB.Store.Write(w.t.Context(), store.Deployment, func(tx *store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}
