package webhooks_test

import (
	"testing"
	"time"

	"holdfast/internal/db"
	"holdfast/internal/webhooks"
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
		// The pauses begin with the shortest one again.
		w.Advance(6 * time.Second)
		w.send()
		if n := len(r.lines()); n != tries+2 {
			t.Errorf("%d tries after the first pause, want %d", n, tries+2)
		}
		// Another three days, and not for ever.
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
		if err := w.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		// One delivery pauses for an hour or longer. Another is on its way at this moment: its lease stays.
		lease := w.Now().Add(30 * time.Second)
		w.exec(`UPDATE webhook_deliveries SET next_at = $1 WHERE object_id = 2`, db.Micros(lease))
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
		// What is on is not enabled again by a request that says so.
		w.switchTo(e.ID, true)
		w.Advance(31 * time.Second)
		w.send()
		same(t, r.lines()[before:], "1 a", "2 b")
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

// exec changes rows as no use case does.
func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	err := w.World.Core.Store.Write(w.t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}
