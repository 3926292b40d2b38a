package pspevents_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/psp"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

func TestAnEventIsNoProof(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 1000, "2024-09-14")
		made := w.Challenge(b, 600)
		take := func(signature, body string, channel int64) error {
			return w.App.Notices.Take(t.Context(), w.Event(signature, body, channel))
		}
		if err := take("forged", made.UUID, w.Channel.ID); !errs.Is(err, errs.Forbidden) {
			t.Errorf("a forged event: %v", err)
		}
		if err := take("signed", made.UUID, w.Channel.ID+100); !errs.Is(err, errs.NoRoute) {
			t.Errorf("an event of an unknown channel: %v", err)
		}
		other := w.World.Channel(merchant.ModeTest, "GBP")
		if err := take("signed", made.UUID, other.ID); !errs.Is(err, errs.NoRoute) {
			t.Errorf("an event of a channel that takes no payments: %v", err)
		}
		// It claims that the payment succeeded, and is not trusted.
		w.Events(made)
		if got := w.ReadTransaction(made.ID).Status; got != payment.StatusPending {
			t.Errorf("it is %s", got)
		}
		finds := w.Gateway.Finds
		w.Events(made)
		if w.Gateway.Finds != finds {
			t.Error("the same event was followed twice")
		}
		for _, body := range []string{"somebody else's", "4242424242424242", strings.Repeat("long", 1000), "nothing\x00"} {
			if err := take("signed", body, w.Channel.ID); err != nil {
				t.Error(err)
			}
		}
		if err := w.App.DB.Store.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
			var due []string
			err := tx.Query(`SELECT reference FROM processor_notices WHERE ask_at <= $1`, []any{store.Micros(sites.RealNow(tx))}, func(scan func(dest ...any) error) error {
				due = append(due, "")
				return scan(&due[len(due)-1])
			})
			if !slices.Equal(due, []string{"somebody else's"}) {
				t.Errorf("what no name is was kept: %q", due)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
		w.Jobs()
		w.Gateway.Challenge(made.UUID, true)
		w.Gateway.News = []psp.Notice{{EventID: "news", ProcessorID: "ch-" + made.UUID}}
		w.Gateway.Down = true
		w.Advance(time.Minute)
		w.Jobs()
		w.Gateway.Down = false
		w.Minute()
		if got := w.ReadTransaction(made.ID).Status; got != payment.StatusComplete {
			t.Errorf("it is %s", got)
		}
		w.Advance(91 * 24 * time.Hour)
		if more, err := w.App.Notices.Forget(t.Context()); more || err != nil {
			t.Errorf("%t, %v", more, err)
		}
	})
}
