package webhooks_test

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/notify/webhooks"
	"holdfast/internal/store"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func TestEventsOfOneObjectKeepTheirOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, func(answer http.ResponseWriter, line string) {
			if line == "1 a" {
				answer.WriteHeader(http.StatusInternalServerError)
			}
		})
		w.happens(1, "before")
		e := w.endpoint(r.URL)
		w.happens(1, "a")
		w.happens(1, "b")
		w.happens(2, "x")
		w.send()
		got := r.lines()
		slices.Sort(got)
		same(t, got, "1 a", "2 x") // b waits, and events from before the endpoint was created are not sent
		same(t, w.log(e.ID), "waiting 1", "waiting 0", "delivered 1")
		w.happens(2, "y")
		w.send()
		same(t, r.lines()[2:], "2 y")
		r.answers(nil)
		w.send() // the pause is not over
		if n := len(r.lines()); n != 3 {
			t.Fatalf("%d calls, want 3", n)
		}
		w.Advance(6 * time.Second)
		w.send()
		same(t, r.lines()[3:], "1 a", "1 b")
		same(t, w.log(e.ID), "delivered 2", "delivered 1", "delivered 1", "delivered 1")
	})
}

func TestReceiversThatHangAndAreDeadDelayNobody(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		release, hangs := make(chan struct{}), make(chan struct{}, 8)
		slow := newReceiver(t, func(http.ResponseWriter, string) {
			hangs <- struct{}{}
			<-release
		})
		free := sync.OnceFunc(func() { close(release) })
		t.Cleanup(free)
		dead := newReceiver(t, nil)
		dead.Close()
		all := make(chan string, 8)
		good := newReceiver(t, func(_ http.ResponseWriter, line string) { all <- line })
		w.endpoint(slow.URL)
		lost := w.endpoint(dead.URL)
		w.endpoint(good.URL)
		for i := range int64(6) {
			w.happens(i+1, "a")
		}
		sent := make(chan error, 1)
		go func() {
			_, err := w.Send(context.WithoutCancel(t.Context()))
			sent <- err
		}()
		<-hangs
		for range 6 {
			<-all // the good one has received everything while the slow one still holds its first calls
		}
		if n := len(slow.lines()); n > 2 {
			t.Errorf("%d calls at once to one receiver", n)
		}
		free()
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		if a := w.attempts(lost.ID); len(a) != 1 || a[0].Error != "The connection was refused." || a[0].Status != 0 {
			t.Errorf("attempts at the dead one: %+v", a)
		}
		tried := 0
		for _, d := range w.deliveries(lost.ID) {
			tried += int(d.Attempts)
		}
		if tried > 6 { // after five failures it gets one try at a time, after a pause
			t.Errorf("%d tries", tried)
		}
	})
}

func TestAProgramThatDiesAfterTheCallSendsAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		ctx, die := context.WithCancel(t.Context())
		r := newReceiver(t, func(http.ResponseWriter, string) { die() })
		e := w.endpoint(r.URL)
		w.happens(1, "a")
		_, _ = w.Send(ctx)
		w.send() // the lease is not over
		if n := len(r.lines()); n != 1 {
			t.Fatalf("%d calls", n)
		}
		w.Advance(61 * time.Second)
		w.send()
		same(t, r.lines(), "1 a", "1 a")
		first, second := r.headers[0].Get("webhook-id"), r.headers[1].Get("webhook-id")
		if first != second || !strings.HasPrefix(first, "evt_") {
			t.Errorf("webhook-id %q, then %q", first, second)
		}
		same(t, w.log(e.ID), "delivered 1")
	})
}

func TestManyProcessesFollowTheFeedOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, nil)
		e := w.endpoint(r.URL)
		var writers sync.WaitGroup
		for i := range int64(4) {
			writers.Go(func() {
				w.happens(i+1, "a")
				if _, err := w.Follow(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		if _, err := w.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.send()
		got := r.lines()
		slices.Sort(got)
		same(t, got, "1 a", "2 a", "3 a", "4 a")
		same(t, w.log(e.ID), "delivered 1", "delivered 1", "delivered 1", "delivered 1")
	})
}

// verifies reports whether a secret has signed the last webhook.
func (r *receiver) verifies(t *testing.T, secret string) bool {
	t.Helper()
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	last := len(r.headers) - 1
	return hook.VerifyIgnoringTimestamp(r.bodies[last], r.headers[last]) == nil
}

func TestTwoSecretsAreValidWhileOneReplacesTheOther(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, nil)
		e := w.endpoint(r.URL)
		secrets := []string{e.Secret}
		check := func(want ...bool) {
			t.Helper()
			w.happens(1, "a")
			w.send()
			for i, secret := range secrets {
				if r.verifies(t, secret) != want[i] {
					t.Errorf("secret %d: %v, want %v", i, !want[i], want[i])
				}
			}
		}
		rotate := func(now bool) {
			t.Helper()
			e, err := w.Rotate(t.Context(), w.Actor, e.ID, 0, now)
			if err != nil {
				t.Fatal(err)
			}
			secrets = append(secrets, e.Secret)
		}
		check(true)
		rotate(false)
		check(true, true)
		w.Advance(24*time.Hour - time.Second)
		check(true, true)
		w.Advance(time.Second)
		check(false, true)
		rotate(false)
		rotate(false)
		check(false, false, true, true)
		rotate(true)
		check(false, false, false, false, true)
		if got := w.get(e.ID); got.Secret != "" {
			t.Error("a secret is shown once only")
		}
	})
}

func TestAnEndpointThatTakesNothingForThreeDaysIsDisabled(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r, other := newReceiver(t, status(500)), newReceiver(t, nil)
		e := w.endpoint(r.URL)
		w.endpoint(other.URL, "webhook.*")
		w.happens(1, "a")
		hours := 0
		for ; w.get(e.ID).State == webhooks.Enabled && hours < 100; hours++ {
			w.send()
			w.Advance(time.Hour)
		}
		w.send() // pending deliveries are no longer sent to it
		found := w.get(e.ID)
		if hours < 72 || hours > 74 || found.Reason == "" {
			t.Errorf("disabled after %d hours: %+v", hours, found)
		}
		same(t, other.lines(), "1 disabled") // the object is the endpoint
		if !strings.Contains(string(other.bodies[0]), `"reason":"failing"`) {
			t.Errorf("the event says %s", other.bodies[0])
		}
		if n := len(r.lines()); n < 10 || n > 20 {
			t.Errorf("%d tries", n)
		}
		same(t, w.log(e.ID), "given_up "+strings.TrimPrefix(w.log(e.ID)[0], "given_up "))
		// Enabled again, it continues where it stopped.
		w.happens(2, "b")
		r.answers(nil)
		on := true
		if _, err := w.Change(t.Context(), w.Actor, e.ID, webhooks.EndpointFields{Enabled: &on}); err != nil {
			t.Fatal(err)
		}
		w.send()
		if got := r.lines(); !slices.Contains(got, "2 b") {
			t.Errorf("after it was enabled: %q", got)
		}
	})
}

func TestAReceiverMayAskForNoMore(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, status(http.StatusGone))
		e := w.endpoint(r.URL)
		w.happens(1, "a")
		w.happens(1, "b")
		w.send()
		w.Advance(time.Hour)
		w.send()
		same(t, r.lines(), "1 a")
		if found := w.get(e.ID); found.State != webhooks.Disabled || !strings.Contains(found.Reason, "410") {
			t.Errorf("%+v", found)
		}
		_, err := w.Test(t.Context(), w.Actor, e.ID)
		notPossible(t, err, "webhook_disabled")
	})
}

func TestAnswersAreCutAndRedirectsAreNotFollowed(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		target := newReceiver(t, nil)
		wrote := make(chan int, 1)
		r := newReceiver(t, func(answer http.ResponseWriter, line string) {
			if line == "2 b" {
				answer.Header().Set("Location", target.URL)
				answer.WriteHeader(http.StatusTemporaryRedirect)
				return
			}
			n, _ := answer.Write(bytes.Repeat([]byte("0123456789abcdef"), 1<<20))
			wrote <- n
		})
		big, away := w.endpoint(r.URL), w.endpoint(r.URL+"/away")
		w.happens(1, "a")
		w.send()
		<-wrote
		if a := w.attempts(big.ID); len(a) != 1 || a[0].Status != 200 || len(a[0].Answer) != 1024 {
			t.Errorf("a long answer: %+v", a)
		}
		<-wrote
		w.happens(2, "b")
		w.send()
		if len(target.lines()) > 0 {
			t.Error("a redirect was followed")
		}
		same(t, w.log(away.ID), "delivered 1", "waiting 1")
	})
}

func TestTheLogIsForgotten(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, nil)
		kept, gone := w.endpoint(r.URL), w.endpoint(r.URL)
		w.happens(1, "a")
		w.send()
		if err := w.Delete(t.Context(), w.Actor, gone.ID, 0); err != nil {
			t.Fatal(err)
		}
		w.Advance(29 * 24 * time.Hour)
		if _, err := w.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		same(t, w.log(kept.ID), "delivered 1")
		same(t, w.rows(), "1", "1", "1", "1")
		w.Advance(25 * time.Hour)
		if _, err := w.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		same(t, w.rows(), "1", "1", "0", "0")
	})
}

// rows counts the rows of each table of the room.
func (w *world) rows() (counts []string) {
	w.t.Helper()
	err := w.World.App.DB.Store.Read(w.t.Context(), store.Deployment, func(tx *store.Tx) error {
		counts = nil
		for _, table := range []string{"webhook_endpoints", "webhook_secrets", "webhook_deliveries", "webhook_attempts"} {
			var n string
			if err := tx.QueryRow(`SELECT CAST(COUNT(*) AS TEXT) FROM `+table, nil, &n); err != nil {
				return err
			}
			counts = append(counts, n)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return counts
}
