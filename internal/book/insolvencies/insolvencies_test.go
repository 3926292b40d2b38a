package insolvencies_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/limits"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/ops/verify"
	"holdfast/internal/platform/events"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// failing is a world in which a merchant fails.
type failing struct {
	*apptest.World
	t       *testing.T
	channel merchant.Channel
}

func begin(t *testing.T, w *apptest.World) *failing {
	w.With(func(cfg *app.Config) { cfg.Batches.Snapshots = 2 })
	w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
	card := terms.RateCard{{From: 0, To: terms.NoEnd, PPM: 10_000}}
	refundable := true
	w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-03"), RateCard: &card, PremiumRefundable: &refundable})
	return &failing{w, t, w.Channel(merchant.ModeProtectionOnly, "EUR")}
}

// paid logs a protected payment for a trip that ends on a day.
func (f *failing) paid(amount int64, end string) payment.Transaction {
	f.t.Helper()
	return f.Must(apptest.Report(payment.Purchase, f.Booking(f.channel, amount, end), amount))
}

func (f *failing) report(trigger time.Time) insolvencies.Insolvency {
	f.t.Helper()
	made, err := f.try(trigger)
	if err != nil {
		f.t.Fatal(err)
	}
	return made
}

func (f *failing) try(trigger time.Time) (insolvencies.Insolvency, error) {
	kind := insolvencies.Kind("administration")
	return f.App.Insolvencies.Report(f.t.Context(), f.Actor, insolvencies.NewReport{
		ChannelID: &f.channel.ID, Kind: &kind, TriggerAt: &trigger, Evidence: "Notice of the court",
	})
}

func (f *failing) must(i insolvencies.Insolvency, err error) insolvencies.Insolvency {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
	return i
}

func (f *failing) confirm(id int64) insolvencies.Insolvency {
	f.t.Helper()
	return f.must(f.App.Insolvencies.Confirm(f.t.Context(), f.Actor, id, ""))
}

// work runs the job until nothing is left to do.
func (f *failing) work() {
	f.t.Helper()
	for range 100 {
		if more, err := f.App.Insolvencies.Work(f.t.Context()); err != nil {
			f.t.Fatal(err)
		} else if !more {
			return
		}
	}
	f.t.Fatal("the job does not end")
}

func (f *failing) get(id int64) insolvencies.Insolvency {
	f.t.Helper()
	return f.must(f.App.Insolvencies.Get(f.t.Context(), f.Actor, id))
}

// affected reads the lines of the snapshot by allocation.
func (f *failing) affected(id int64) []insolvencies.Affected {
	f.t.Helper()
	list, err := f.App.Insolvencies.Affected(f.t.Context(), f.Actor, id, store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: insolvencies.OrderTravel})
	if err != nil {
		f.t.Fatal(err)
	}
	return list.Items
}

// verified fails the test if the check of the whole book finds anything.
func (f *failing) verified() {
	f.t.Helper()
	report, err := f.App.Verify.Run(f.t.Context(), access.System(0), verify.Query{})
	if err != nil || len(report.Findings) > 0 {
		f.t.Errorf("%v: %+v", err, report.Findings)
	}
}

// premium is the sum of the lines of a payment, and of what they retained.
func (f *failing) premium(t payment.Transaction) (booked, retained int64) {
	f.t.Helper()
	for _, l := range f.Lines(protection.PremiumFilter{Payments: []int64{t.Payments[0].ID}}) {
		booked, retained = booked+l.Amount, retained+l.Retained
	}
	return booked, retained
}

// TestAMerchantFails goes through an insolvency: payments before the trigger are in the snapshot and eligible; those between
// trigger and confirmation are not eligible and get their premium back; those after it are not protected.
func TestAMerchantFails(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := begin(t, w)
		away, later, over := f.paid(100_000, "2024-06-03"), f.paid(60_000, "2024-09-14"), f.paid(10_000, "2024-06-03")
		f.Must(apptest.Linked(payment.Refund, over, f.ReadBooking(over.Payments[0].BookingID), 10_000))
		f.Advance(time.Hour)
		trigger := f.Now()
		f.Advance(time.Hour)
		in := apptest.Report(payment.Purchase, f.Booking(f.channel, 40_000, "2024-08-01"), 40_000)
		in.EffectiveAt = trigger.Add(-time.Minute) // taken before the trigger, and logged after it
		between := f.Must(in)
		if booked, _ := f.premium(between); booked != 341 { // 40,000 EUR cents are 34,146 pence
			t.Fatalf("premium %d", booked)
		}
		reported := f.report(trigger)
		if before := f.paid(20_000, "2024-08-02"); !before.Protected || before.ProtectionReason != "channel_protected" {
			t.Errorf("reported only: %v %s", before.Protected, before.ProtectionReason)
		}
		f.Advance(time.Second)
		f.confirm(reported.ID)
		channel, err := f.App.Channels.Get(t.Context(), f.Actor, f.channel.ID)
		if err != nil || channel.Status() != "locked" || !channel.Insolvency.InForce() {
			t.Errorf("the channel is %+v, %v", channel, err)
		}
		after := f.paid(50_000, "2024-08-01")
		if after.Protected || after.ProtectionReason != "insolvent" || len(after.Flags) != 1 || after.Flags[0] != payment.FlagInsolvent {
			t.Errorf("after confirmation: %v %s %v", after.Protected, after.ProtectionReason, after.Flags)
		}
		if f.work(); f.get(reported.ID).State != insolvencies.Confirmed {
			t.Error("the snapshot was made too early")
		}
		if _, err := f.App.Insolvencies.Affected(t.Context(), f.Actor, reported.ID, store.Page{Number: 1, Size: 1, Offset: -1}); !errs.Is(err, errs.ActionNotPossible) {
			t.Errorf("affected before the snapshot: %v", err)
		}
		f.Advance(11 * time.Second)
		f.work()
		open := f.get(reported.ID)
		lines := f.affected(open.ID)
		if open.State != insolvencies.Open || open.Snapshot.Lines != 3 || len(lines) != 3 {
			t.Fatalf("%+v, %d lines", open, len(lines))
		}
		want := map[int64]struct {
			left    int64
			not     string
			travels bool
		}{
			away.ID: {100_000, "", true}, later.ID: {60_000, "", false},
			between.ID: {40_000, "recorded_after_trigger", false},
		}
		if lines[0].TransactionID != away.ID {
			t.Error("who travels now does not come first")
		}
		for _, l := range lines {
			c, ok := want[l.TransactionID]
			if !ok || l.Remaining != c.left || string(l.Ineligible) != c.not || l.Travelling != c.travels || l.Undelivered != c.left {
				t.Errorf("%+v", l)
			}
		}
		n := 0 // read in batches of two
		for a, err := range f.App.Insolvencies.AllAffected(t.Context(), f.Actor, open.ID) {
			if err != nil || n == len(lines) || a.ID != lines[n].ID {
				t.Fatalf("line %d: %+v, %v", n, a, err)
			}
			n++
		}
		if n != len(lines) {
			t.Errorf("%d affected payments of %d", n, len(lines))
		}
		var text bytes.Buffer
		if err := f.App.Insolvencies.WriteSnapshot(t.Context(), f.Actor, open.ID, &text); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text.Bytes())
		if hex.EncodeToString(sum[:]) != open.Snapshot.SHA256 {
			t.Error("the hash is not that of the text")
		}
		if booked, retained := f.premium(between); booked != 0 || retained != 0 {
			t.Errorf("after the trigger: booked %d, retained %d", booked, retained)
		}
		if booked, _ := f.premium(later); booked != 512 {
			t.Errorf("before the trigger: booked %d", booked)
		}
		f.Must(apptest.Linked(payment.Refund, later, f.ReadBooking(later.Payments[0].BookingID), 30_000))
		if booked, retained := f.premium(later); booked != 512 || retained != 256 {
			t.Errorf("refunded after the trigger: booked %d, retained %d", booked, retained)
		}
		f.verified()
		f.ends(open)
	})
}

// ends closes an insolvency and reinstates the merchant.
func (f *failing) ends(open insolvencies.Insolvency) {
	ctx, room := f.t.Context(), f.App.Insolvencies
	if _, err := f.App.Claims.CloseInsolvency(ctx, f.Actor, open.ID, ""); !errs.Is(err, errs.ActionNotPossible) {
		f.t.Errorf("closed with open claims: %v", err)
	}
	f.must(room.CloseClaims(ctx, f.Actor, open.ID, ""))
	f.must(f.App.Claims.CloseInsolvency(ctx, f.Actor, open.ID, ""))
	if _, err := f.try(f.Now()); !errs.Is(err, errs.Invalid) {
		f.t.Errorf("a merchant failed twice: %v", err)
	}
	if paid := f.paid(1_000, "2024-08-01"); paid.Protected {
		f.t.Error("closing an insolvency does not reinstate the merchant")
	}
	f.Advance(time.Minute)
	f.must(room.Reinstate(ctx, f.Actor, open.ID, "New owners"))
	if paid := f.paid(1_000, "2024-08-01"); !paid.Protected || len(paid.Flags) != 0 {
		f.t.Errorf("reinstated: %v %v", paid.Protected, paid.Flags)
	}
	f.verified()
	history, err := room.History(ctx, f.Actor, open.ID)
	if err != nil || len(history) != 6 || history[5].Reason != "New owners" {
		f.t.Errorf("%v, %+v", err, history)
	}
	page, err := f.App.Events.List(ctx, f.Actor, events.Filter{Types: []string{
		"insolvency.reported", "insolvency.confirmed", "insolvency.opened", "insolvency.reinstated"}, Size: 10})
	if err != nil || len(page.Items) != 4 {
		f.t.Errorf("%v, %+v", err, page.Items)
	}
}

// TestAWithdrawnInsolvency: the channel takes protection again, and the premium that went back is booked again.
func TestAWithdrawnInsolvency(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := begin(t, w)
		trigger := f.Now()
		f.Advance(time.Hour)
		between := f.paid(40_000, "2024-08-01")
		i := f.report(trigger)
		f.confirm(i.ID)
		meanwhile := f.paid(1_000, "2024-08-01")
		f.Advance(11 * time.Second)
		f.work()
		if booked, _ := f.premium(between); booked != 0 {
			t.Fatalf("booked %d", booked)
		}
		f.must(f.App.Claims.WithdrawInsolvency(t.Context(), f.Actor, i.ID, "Another company of that name"))
		f.work()
		if booked, retained := f.premium(between); booked != 341 || retained != 0 {
			t.Errorf("booked %d, retained %d", booked, retained)
		}
		if f.ReadTransaction(meanwhile.ID).Protected || !f.paid(1_000, "2024-08-01").Protected {
			t.Error("what was logged meanwhile stays unprotected, and what comes now is protected")
		}
		f.verified()
		f.report(f.Now())
	})
}

// TestWhoMayConfirm: outside a sandbox, another operator confirms and approves. Members of the site can report and withdraw.
func TestWhoMayConfirm(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ann, ben := apptest.ActorOf(h.User(t, "ann", access.Operator), access.Operator), apptest.ActorOf(h.User(t, "ben", access.Operator), access.Operator)
		member := apptest.ActorOf(h.User(t, "mia", access.MemberAdmin), access.MemberAdmin)
		name, currency := "Nordlys", money.Currency("EUR")
		c, err := h.Channels.Create(t.Context(), ann, merchant.ChannelFields{Name: &name, Currency: &currency, Mode: new(merchant.ModeDraft)})
		if err != nil {
			t.Fatal(err)
		}
		at, kind := h.Now.Read(), insolvencies.Kind("liquidation")
		in := insolvencies.NewReport{ChannelID: &c.ID, Kind: &kind, TriggerAt: &at, Evidence: "Notice"}
		i, err := h.Insolvencies.Report(t.Context(), ann, in)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Insolvencies.Report(t.Context(), member, in); !errs.Is(err, errs.Invalid) {
			t.Errorf("reported twice: %v", err)
		}
		for who, want := range map[*access.Actor]errs.Kind{&ann: errs.SamePerson, &member: errs.Forbidden} {
			_, err := h.Insolvencies.Confirm(t.Context(), *who, i.ID, "")
			apptest.WantKind(t, err, want, who.Username)
		}
		_, err = h.Insolvencies.Confirm(t.Context(), access.System(1), i.ID, "")
		apptest.WantKind(t, err, errs.ActionNotPossible, "the program")
		if i, err = h.Insolvencies.Confirm(t.Context(), ben, i.ID, "The court confirmed it"); err != nil || i.Alone {
			t.Errorf("%+v, %v", i, err)
		}
		asked, err := h.Insolvencies.AllowProcessing(t.Context(), ann, i.ID, "The administrator pays")
		if err != nil || asked.Proposal == nil {
			t.Fatalf("%+v, %v", asked, err)
		}
		if _, err := h.Approvals.Approve(t.Context(), ben, asked.Proposal.ID, ""); err != nil {
			t.Fatal(err)
		}
		if c, err = h.Channels.Get(t.Context(), ann, c.ID); err != nil || !c.Insolvency.ProcessingAllowed {
			t.Errorf("%+v, %v", c.Insolvency, err)
		}
		_, err = h.Insolvencies.AllowProcessing(t.Context(), ann, i.ID, "")
		apptest.WantKind(t, err, errs.ActionNotPossible, "again")
		reader := apptest.ActorOf(h.User(t, "rea", access.ReadOnly), access.ReadOnly)
		_, err = h.Insolvencies.Get(t.Context(), reader, i.ID)
		apptest.WantKind(t, err, errs.Forbidden, "read")
		_, err = h.Claims.WithdrawInsolvency(t.Context(), reader, i.ID, "")
		apptest.WantKind(t, err, errs.Forbidden, "withdraw")
		if i, err = h.Claims.WithdrawInsolvency(t.Context(), member, i.ID, "Another company"); err != nil || i.State != insolvencies.Withdrawn {
			t.Errorf("%+v, %v", i, err)
		}
	})
}

// TestWhatCannotBeReported: each wrong field is named.
func TestWhatCannotBeReported(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := begin(t, w)
		_, err := f.App.Insolvencies.Report(t.Context(), f.Actor, insolvencies.NewReport{})
		apptest.WantKind(t, err, errs.Missing, "nothing")
		_, err = f.try(f.Now().Add(time.Second))
		apptest.WantKind(t, err, errs.Invalid, "in the future")
		f.channel.ID = 99
		_, err = f.try(f.Now())
		apptest.WantKind(t, err, errs.Invalid, "an unknown channel")
		f.channel = w.Channel(merchant.ModeTest, "EUR")
		_, err = f.try(f.Now())
		apptest.WantKind(t, err, errs.Invalid, "a test channel")
	})
}

// TestLimitsOfAnInsolventMerchant say that new payments do not count, and the list of merchants can show those that are insolvent.
func TestLimitsOfAnInsolventMerchant(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := begin(t, w)
		other := w.Channel(merchant.ModeProtectionOnly, "GBP")
		w.Limit(protection.LimitChannel, 0, 500_000)
		f.confirm(f.report(f.Now()).ID)
		list, err := w.App.Limits.List(t.Context(), w.Actor, limits.LimitFilter{Channels: []int64{f.channel.ID, other.ID}},
			store.Page{Number: 1, Size: 10, Offset: -1, OrderBy: store.OrderID})
		if err != nil || len(list.Items) != 2 {
			t.Fatalf("%+v, %v", list.Items, err)
		}
		for _, row := range list.Items {
			if insolvent := row.ChannelID == f.channel.ID; insolvent != strings.Contains(row.NotInForce, "insolvent since 3 June 2024") {
				t.Errorf("channel %d: %q", row.ChannelID, row.NotInForce)
			}
		}
		found, err := w.App.Channels.List(t.Context(), w.Actor, merchants.ChannelFilter{Insolvent: true},
			store.Page{Number: 1, Size: 10, Offset: -1, OrderBy: store.OrderID})
		if err != nil || len(found.Items) != 1 || found.Items[0].ID != f.channel.ID {
			t.Errorf("%+v, %v", found.Items, err)
		}
	})
}
