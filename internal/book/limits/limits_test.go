package limits_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"holdfast/internal/book/limits"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// TestLimitsOfPaymentAndBookingAreExact: they apply immediately, and reject nothing.
func TestLimitsOfPaymentAndBookingAreExact(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		b := w.Booking(c, 100000, "2024-09-14")
		w.Limit(protection.LimitTransaction, 0, 30000)
		w.Limit(protection.LimitBooking, 0, 50000)
		w.Limit(protection.LimitBooking, c.ID, 60000) // this channel's own
		first := w.Must(apptest.Report(payment.Purchase, b, 24000))
		apptest.Same(t, "within", first.OverLimit, 0)
		second := w.Must(apptest.Report(payment.Purchase, b, 34000))
		apptest.Same(t, "above the payment's", []any{second.OverLimit, second.OverLimitCurrency}, []any{4000, "GBP"})
		third := w.Must(apptest.Report(payment.Purchase, b, 20000))
		apptest.Same(t, "above the booking's", third.OverLimit, 18000)
		apptest.Same(t, "on file", w.ReadTransaction(third.ID).OverLimit, 18000)
		apptest.Same(t, "events of payments", eventsOf(t, w, protection.LimitTransaction), []string{
			fmt.Sprintf("%d:80%%=24000", first.ID), fmt.Sprintf("%d:80%%=34000", second.ID),
			fmt.Sprintf("%d:95%%=34000", second.ID), fmt.Sprintf("%d:100%%=34000", second.ID),
		})
		id := b.ID
		apptest.Same(t, "events of bookings", eventsOf(t, w, protection.LimitBooking), []string{
			fmt.Sprintf("%d:80%%=58000", id), fmt.Sprintf("%d:95%%=58000", id), fmt.Sprintf("%d:100%%=78000", id),
		})
		// A refund takes the use below 95 %, and later payments cross it again.
		w.Must(apptest.Linked(payment.Refund, second, b, 24000))
		w.Must(apptest.Report(payment.Purchase, b, 4000))
		apptest.Same(t, "armed again", eventsOf(t, w, protection.LimitBooking)[3:], []string{fmt.Sprintf("%d:95%%=58000", id)})
		e := w.Exposure(report.ExposureQuery{Valuation: exposure.Locked})
		apptest.Same(t, "all is protected", e.Total.E1, 24000+34000+20000-24000+4000)
		over := true
		list, err := w.App.Payments.List(t.Context(), w.Actor, payments.TransactionFilter{OverLimit: &over}, apptest.WholeList)
		if err != nil || len(list.Items) != 2 {
			t.Errorf("%d payments are over, %v; want 2", len(list.Items), err)
		}
		apptest.Same(t, "the flag", w.ReadTransaction(third.ID).AllFlags(), []string{payment.FlagOverLimit})
		list, err = w.App.Payments.List(t.Context(), w.Actor, payments.TransactionFilter{
			Flags: []string{payment.FlagOverLimit, payment.FlagLateCapture},
		}, apptest.WholeList)
		if err != nil || len(list.Items) != 2 {
			t.Errorf("%d payments have the flag, %v; want 2", len(list.Items), err)
		}
		counts, err := w.App.Payments.FlagCounts(t.Context(), w.Actor, c.ID)
		if err != nil || counts[payment.FlagOverLimit] != 2 {
			t.Errorf("counted %v, %v", counts, err)
		}
		// The explanation says by which limit.
		x, err := w.App.Protection.Explain(t.Context(), w.Actor, third.ID, report.ProtectionQuery{})
		if err != nil {
			t.Fatal(err)
		}
		steps := x.Allocations[0].Steps
		apptest.Same(t, "explained", steps[len(steps)-1].Name, "over_limit booking")
	})
}

// TestManyPaymentsOfOneBookingAreJudgedExactly: with concurrent payments, the amounts above the limit add up, and each
// level is crossed once.
func TestManyPaymentsOfOneBookingAreJudgedExactly(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 100000, "2024-09-14")
		w.Limit(protection.LimitBooking, 0, 10000)
		var mu sync.Mutex
		var over int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 5 {
					made, _, err := w.App.Payments.Create(t.Context(), w.Actor, apptest.Report(payment.Purchase, b, 999))
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					over += made.OverLimit
					mu.Unlock()
				}
			})
		}
		all.Wait()
		apptest.Same(t, "over", over, 40*999-10000)
		apptest.Same(t, "events", len(eventsOf(t, w, protection.LimitBooking)), 3)
	})
}

// TestLimitsOfChannelAndSite follows a use up, down and up again.
func TestLimitsOfChannelAndSite(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c, other := w.Channel(merchant.ModeProtectionOnly, "GBP"), w.Channel(merchant.ModeProtectionOnly, "EUR")
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.50000"})
		b, e := w.Booking(c, 100000, "2024-09-14"), w.Booking(other, 100000, "2024-06-10")
		w.Limit(protection.LimitChannel, c.ID, 10000)
		w.Limit(protection.LimitSite, 0, 20000)
		first := w.Must(apptest.Report(payment.Purchase, b, 9000))
		euros := w.Must(apptest.Report(payment.Purchase, e, 20000))
		second := w.Must(apptest.Report(payment.Purchase, b, 5000))
		settlePieces(t, w)
		apptest.Same(t, "not before its time", rowOf(t, w, protection.LimitChannel, c.ID).Use, 0)
		w.Advance(6 * time.Second)
		settlePieces(t, w)
		r := rowOf(t, w, protection.LimitChannel, c.ID)
		apptest.Same(t, "channel", []any{r.Use, r.Headroom, r.Over, r.Level}, []any{14000, 0, 4000, 100})
		r = rowOf(t, w, protection.LimitSite, 0)
		apptest.Same(t, "site", []any{r.Use, r.Headroom, r.Over, r.Level}, []any{24000, 0, 4000, 100})
		apptest.Same(t, "over", []any{w.ReadTransaction(first.ID).OverLimit, w.ReadTransaction(euros.ID).OverLimit, w.ReadTransaction(second.ID).OverLimit}, []any{0, 0, 4000})
		apptest.Same(t, "events of the channel", eventsOf(t, w, protection.LimitChannel), []string{
			fmt.Sprintf("%d:80%%=9000", c.ID), fmt.Sprintf("%d:95%%=14000", c.ID), fmt.Sprintf("%d:100%%=14000", c.ID),
		})
		apptest.Same(t, "events of the site", eventsOf(t, w, protection.LimitSite), []string{"0:80%=19000", "0:95%=19000", "0:100%=24000"})
		w.Must(apptest.Linked(payment.Refund, first, b, 6000)) // the channel falls to 80 %
		w.Must(apptest.Report(payment.Purchase, b, 3000))
		settle(t, w)
		apptest.Same(t, "events of the channel after", eventsOf(t, w, protection.LimitChannel)[3:], []string{
			fmt.Sprintf("%d:95%%=11000", c.ID), fmt.Sprintf("%d:100%%=11000", c.ID),
		})
		// Delivered amounts leave the use when the day is over.
		w.SetClock(time.Date(2024, 6, 11, 0, 2, 0, 0, time.UTC))
		settlePieces(t, w)
		apptest.Same(t, "site after the trip", rowOf(t, w, protection.LimitSite, 0).Use, 11000)
		// A lower limit is an event immediately, without a payment.
		w.Limit(protection.LimitSite, 0, 11500)
		settle(t, w)
		apptest.Same(t, "events of the site after", eventsOf(t, w, protection.LimitSite)[3:], []string{
			"0:95%=21000", "0:100%=21000", "0:80%=11000", "0:95%=11000",
		})
	})
}

// TestUseFollowsEveryChange: at any time the running use is E1 locked of the report, under each recognition.
func TestUseFollowsEveryChange(t *testing.T) {
	t.Parallel()
	for _, by := range []terms.Recognition{terms.RecognitionEndDate, terms.RecognitionStartDate, terms.RecognitionLinear} {
		t.Run(string(by), func(t *testing.T) {
			apptest.OnBoth(t, func(t *testing.T, w *apptest.World) { followsEveryChange(t, w, by) })
		})
	}
}

func followsEveryChange(t *testing.T, w *apptest.World, by terms.Recognition) {
	policy := w.Site.Policy
	policy.FromDay, policy.Recognition = *apptest.DayPtr(t, "2024-07-15"), by
	err := w.App.DB.Store.Write(t.Context(), store.Deployment, func(tx *store.Tx) (err error) {
		_, err = merchants.InsertPolicy(tx, w.Site.ID, policy)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Limit(protection.LimitSite, 0, 1)
	c := w.Channel(merchant.ModeProtectionOnly, "EUR")
	start := *apptest.DayPtr(t, "2024-07-10")
	b, fields := w.Booking(c, 100000, "2024-08-20"), booking.BookingFields{Start: &start}
	if _, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, fields); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		settle(t, w)
		want := w.Exposure(report.ExposureQuery{Valuation: exposure.Locked}).Total.E1
		apptest.Same(t, when, rowOf(t, w, protection.LimitSite, 0).Use, want)
	}
	paid := w.Must(apptest.Report(payment.Purchase, b, 60001))
	check("waiting for a rate")
	w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
	check("priced")
	apptest.Same(t, "what was priced late is over", w.ReadTransaction(paid.ID).OverLimit, 51220-1)
	w.Must(apptest.Linked(payment.Refund, paid, b, 7000))
	w.Must(apptest.Linked(payment.Chargeback, paid, b, 9000))
	check("refunded and charged back")
	w.Must(apptest.Linked(payment.ChargebackReversal, paid, b, 9000))
	check("reversed")
	w.SetClock(time.Date(2024, 7, 12, 12, 0, 0, 0, time.UTC))
	check("in travel")
	w.SetClock(time.Date(2024, 7, 16, 12, 0, 0, 0, time.UTC))
	check("under the new recognition")
	w.SetClock(time.Date(2024, 7, 30, 12, 0, 0, 0, time.UTC))
	check("later")
	end := *apptest.DayPtr(t, "2024-09-30")
	if _, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, booking.BookingFields{End: &end}); err != nil {
		t.Fatal(err)
	}
	check("moved")
	w.SetClock(time.Date(2024, 10, 1, 12, 0, 0, 0, time.UTC))
	check("over")
}

// TestSettlingIsTheSameHoweverItRuns: many processes log and settle concurrently, some are stopped half-way; and every
// payment has the part above the limit that follows from the order of the changes.
func TestSettlingIsTheSameHoweverItRuns(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		w.Limit(protection.LimitChannel, 0, 50000)
		var bookings []booking.Booking
		for range 4 {
			bookings = append(bookings, w.Booking(c, 10_000_000, "2024-09-14"))
		}
		ctx, stop := context.WithCancel(t.Context())
		var logging, settling sync.WaitGroup
		// No write lives longer than five seconds (R0), so the clock, which goes faster here than the real one, waits for
		// those that have begun.
		var writes sync.RWMutex
		for _, b := range bookings {
			logging.Go(func() {
				for i := range 30 {
					writes.RLock()
					_, _, err := w.App.Payments.Create(t.Context(), w.Actor, apptest.Report(payment.Purchase, b, int64(1000+i)))
					writes.RUnlock()
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for n := range 3 {
			settling.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					writes.Lock()
					w.Advance(time.Second)
					writes.Unlock()
					// Stopped somewhere: before, within or after the write.
					short, cancel := context.WithTimeout(ctx, time.Duration(i%7*(n+1))*time.Millisecond)
					if _, err := w.App.Limits.Recompute(short); err != nil && short.Err() == nil && !errs.Is(err, errs.Unavailable) {
						t.Error(err)
					}
					cancel()
				}
			})
		}
		logging.Wait()
		stop()
		settling.Wait()
		settle(t, w)
		want := int64(4 * (30*1000 + 29*30/2))
		apptest.Same(t, "use", rowOf(t, w, protection.LimitChannel, c.ID).Use, want)
		apptest.Same(t, "events", len(eventsOf(t, w, protection.LimitChannel)), 3)
		var over int64
		list, err := w.App.Payments.List(t.Context(), w.Actor, payments.TransactionFilter{}, store.Page{Number: 1, Size: 1000, Offset: -1})
		if err != nil {
			t.Fatal(err)
		}
		partly := 0
		for _, p := range list.Items {
			over += p.OverLimit
			if p.OverLimit > 0 && p.OverLimit < p.BaseTotal {
				partly++
			}
		}
		if over != want-50000 || partly > 1 {
			t.Errorf("over %d, want %d; %d payments are partly over", over, want-50000, partly)
		}
	})
}

func TestWhatCannotBeALimit(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		site, strange := protection.LimitSite, protection.LimitScope("planet")
		one, none, past, nobody := int64(1), int64(0), civil.DayOf(apptest.Began)-1, int64(999)
		for _, c := range []struct {
			field string
			in    limits.LimitFields
		}{
			{"scope", limits.LimitFields{Scope: &strange, Amount: &one}},
			{"channels", limits.LimitFields{Scope: &site, Amount: &one, ChannelID: &nobody}},
			{"from", limits.LimitFields{Scope: &site, Amount: &one, From: &past}},
			{"amount", limits.LimitFields{Scope: &site, Amount: &none}},
			{"amount", limits.LimitFields{Scope: &site, Amount: &one, Currency: "EUR"}}, // the policy is in pounds
		} {
			_, err := w.App.Limits.Set(t.Context(), w.Actor, c.in)
			if f, ok := errors.AsType[*errs.Error](err); !ok || f.Params[c.field] == "" {
				t.Errorf("%s: %v", c.field, err)
			}
		}
		member := w.Actor
		member.Role = access.MemberAdmin
		if _, err := w.App.Limits.Set(t.Context(), member, limits.LimitFields{Scope: &site, Amount: &one}); !errs.Is(err, errs.Forbidden) {
			t.Errorf("a member set a limit: %v", err)
		}
		// Once lifted, it limits nothing any more.
		w.Limit(protection.LimitSite, 0, 1)
		if _, err := w.App.Limits.Set(t.Context(), w.Actor, limits.LimitFields{Scope: &site, Lift: true}); err != nil {
			t.Fatal(err)
		}
		list, err := w.App.Limits.List(t.Context(), w.Actor, limits.LimitFilter{}, apptest.WholeList)
		if err != nil || len(list.Items) != 0 {
			t.Errorf("limits in force: %+v, %v", list.Items, err)
		}
	})
}

// eventsOf lists the events of a scope, each as "object:percent%=use".
func eventsOf(t *testing.T, w *apptest.World, scope protection.LimitScope) []string {
	t.Helper()
	list, err := w.App.Limits.Events(t.Context(), w.Actor, limits.LimitEvents{Scopes: []protection.LimitScope{scope}}, apptest.WholeList)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, e := range list.Items {
		texts = append(texts, fmt.Sprintf("%d:%d%%=%d", e.ObjectID, e.Percent, e.Use))
	}
	return texts
}

// rowOf reads the row of a channel's limit, or the site's where channel is 0.
func rowOf(t *testing.T, w *apptest.World, scope protection.LimitScope, channel int64) limits.LimitRow {
	t.Helper()
	list, err := w.App.Limits.List(t.Context(), w.Actor, limits.LimitFilter{Scopes: []protection.LimitScope{scope}, Channels: []int64{channel}}, apptest.WholeList)
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%d rows of %s %d, %v", len(list.Items), scope, channel, err)
	}
	return list.Items[0]
}

// settle runs the job so that it sees all changes, and later settles them.
func settle(t *testing.T, w *apptest.World) {
	t.Helper()
	settlePieces(t, w)
	w.Advance(6 * time.Second)
	settlePieces(t, w)
}

// settlePieces runs the job until there is nothing left to do for now.
func settlePieces(t *testing.T, w *apptest.World) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = w.App.Limits.Recompute(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnOverflowingUseIsAboveTheLimit: a sum beyond 64 bits is above any limit until the use is computed again (R0).
func TestAnOverflowingUseIsAboveTheLimit(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-05-31", map[money.Currency]string{"IDR": "17000.00"})
		rupiah := money.Currency("IDR")
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-01"), Currency: &rupiah})
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		w.Limit(protection.LimitSite, 0, 1_000_000_000_000_000)
		w.Limit(protection.LimitBooking, 0, 1_000_000_000_000_000)
		const large = 400_000_000_000_000
		b := w.Booking(c, 3*large/2, "2024-09-14")
		var paid []payment.Transaction
		for range 2 {
			paid = append(paid, w.Must(apptest.Report(payment.Purchase, b, large)))
		}
		settle(t, w)
		list, err := w.App.Limits.List(t.Context(), w.Actor, limits.LimitFilter{Scopes: []protection.LimitScope{protection.LimitSite}}, apptest.WholeList)
		if err != nil || len(list.Items) != 1 || list.Items[0].Over <= 0 || list.Items[0].Use != math.MaxInt64 {
			t.Errorf("%+v, %v", list.Items, err)
		}
		if got := w.ReadTransaction(paid[1].ID); got.OverLimit <= 0 {
			t.Errorf("the second payment is %d over the limit of its booking", got.OverLimit)
		}
	})
}
