package payments_test

import (
	"testing"

	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/testkit/apptest"
)

// fail reports and confirms that a channel has failed.
func fail(t *testing.T, w *apptest.World, channelID int64) insolvencies.Insolvency {
	t.Helper()
	kind, trigger := insolvencies.Kinds[0], w.Now()
	made, err := w.App.Insolvencies.Report(t.Context(), w.Actor, insolvencies.NewReport{
		ChannelID: &channelID, Kind: &kind, TriggerAt: &trigger, Evidence: "Notice",
	})
	if err == nil {
		made, err = w.App.Insolvencies.Confirm(t.Context(), w.Actor, made.ID, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestNothingIsCarriedOutForAnInsolventChannel: its processor gets no request until refunds and voids are allowed. Payments and
// captures stay impossible (R13).
func TestNothingIsCarriedOutForAnInsolventChannel(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, world *apptest.World) {
		w := apptest.NewProcessing(t, world, merchant.ModeLive)
		b := w.Booking(w.Channel, 10_000, "2024-09-14")
		paid, held := w.Must(apptest.Pay(payment.Purchase, b, 6_000)), w.Must(apptest.Pay(payment.Authorize, b, 1_000))
		i := fail(t, w.World, w.Channel.ID)
		moved := w.Gateway.Moved()
		refund, capture, void := apptest.Linked(payment.Refund, paid, b, 500), apptest.Linked(payment.Capture, held, b, 400), apptest.Linked(payment.Void, held, b, 1_000)
		for _, in := range []payment.NewTransaction{apptest.Pay(payment.Purchase, b, 100), refund, capture, void} {
			w.Refused(in, errs.NotPossible, "insolvent")
		}
		if w.Gateway.Moved() != moved {
			t.Error("the processor was asked")
		}
		if _, err := w.App.Insolvencies.AllowProcessing(t.Context(), w.Actor, i.ID, "The administrator pays"); err != nil {
			t.Fatal(err)
		}
		w.Refused(capture, errs.NotPossible, "insolvent")
		w.Must(void)
		if got := w.Must(refund); got.Status != payment.StatusComplete {
			t.Errorf("the refund is %s", got.Status)
		}
	})
}

// TestAnInsolventChannelLogs: a refund that was made elsewhere is recorded with a flag, never rejected (R2).
func TestAnInsolventChannelLogs(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, w.Site.Policy.Currency)
		b := w.Booking(c, 10_000, "2024-09-14")
		paid := w.Must(apptest.Report(payment.Purchase, b, 6_000))
		fail(t, w, c.ID)
		got, _, err := w.App.Payments.Create(t.Context(), w.Actor, apptest.Linked(payment.Refund, paid, b, 500))
		if err != nil || len(got.Flags) != 1 || got.Flags[0] != payment.FlagInsolvent {
			t.Errorf("%v %v", got.Flags, err)
		}
	})
}
