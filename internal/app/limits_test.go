package app_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

func (w *world) limit(scope protection.LimitScope, channel, amount int64) protection.Limit {
	w.t.Helper()
	in := app.LimitFields{Scope: &scope, Amount: &amount}
	if channel != 0 {
		in.ChannelID = &channel
	}
	made, err := w.app.Limits.Set(w.t.Context(), w.actor, in)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

// settle lets the job see what there is, and settle it when its time has come.
func (w *world) settle() {
	w.t.Helper()
	w.settlePieces()
	w.advance(6 * time.Second)
	w.settlePieces()
}

func (w *world) settlePieces() {
	w.t.Helper()
	for more := true; more; {
		var err error
		if more, err = w.app.Limits.Settle(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
}

var wholeList = travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true}

// events lists events as "scope object percent".
func (w *world) events(scope protection.LimitScope) []string {
	w.t.Helper()
	list, err := w.app.Limits.Events(w.t.Context(), w.actor, app.LimitEvents{Scopes: []protection.LimitScope{scope}}, wholeList)
	if err != nil {
		w.t.Fatal(err)
	}
	var texts []string
	for _, e := range list.Items {
		texts = append(texts, fmt.Sprintf("%d:%d%%=%d", e.ObjectID, e.Percent, e.Use))
	}
	return texts
}

// row reads the row of a channel's limit, or the site's where channel is 0.
func (w *world) row(scope protection.LimitScope, channel int64) app.LimitRow {
	w.t.Helper()
	list, err := w.app.Limits.List(w.t.Context(), w.actor, app.LimitFilter{Scopes: []protection.LimitScope{scope}, Channels: []int64{channel}}, wholeList)
	if err != nil || len(list.Items) != 1 {
		w.t.Fatalf("%d rows of %s %d, %v", len(list.Items), scope, channel, err)
	}
	return list.Items[0]
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s: %s, want %s", what, g, w)
	}
}

// TestLimitsOfPaymentAndBookingAreExact: they hold at once, and refuse nothing.
func TestLimitsOfPaymentAndBookingAreExact(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.channel(travel.ModeProtectionOnly, "GBP")
		b := w.booking(c, 100000, "2024-09-14")
		w.limit(protection.LimitTransaction, 0, 30000)
		w.limit(protection.LimitBooking, 0, 50000)
		w.limit(protection.LimitBooking, c.ID, 60000) // this channel's own
		first := w.must(report(travel.Purchase, b, 24000))
		same(t, "within", first.OverLimit, 0)
		second := w.must(report(travel.Purchase, b, 34000))
		same(t, "above the payment's", []any{second.OverLimit, second.OverLimitCurrency}, []any{4000, "GBP"})
		third := w.must(report(travel.Purchase, b, 20000))
		same(t, "above the booking's", third.OverLimit, 18000)
		same(t, "on file", w.readTransaction(third.ID).OverLimit, 18000)
		same(t, "events of payments", w.events(protection.LimitTransaction), []string{
			fmt.Sprintf("%d:80%%=24000", first.ID), fmt.Sprintf("%d:80%%=34000", second.ID),
			fmt.Sprintf("%d:95%%=34000", second.ID), fmt.Sprintf("%d:100%%=34000", second.ID),
		})
		id := b.ID
		same(t, "events of bookings", w.events(protection.LimitBooking), []string{
			fmt.Sprintf("%d:80%%=58000", id), fmt.Sprintf("%d:95%%=58000", id), fmt.Sprintf("%d:100%%=78000", id),
		})
		// A refund takes the use below 95 %, and what comes after crosses again, from where it fell.
		w.must(linked(travel.Refund, second, b, 24000))
		w.must(report(travel.Purchase, b, 4000))
		same(t, "armed again", w.events(protection.LimitBooking)[3:], []string{fmt.Sprintf("%d:95%%=58000", id)})
		e := w.exposure(app.ExposureQuery{Valuation: protection.Locked})
		same(t, "all is protected", e.Total.E1, 24000+34000+20000-24000+4000)
		over := true
		list, err := w.app.Payments.List(t.Context(), w.actor, travel.TransactionFilter{OverLimit: &over}, wholeList)
		if err != nil || len(list.Items) != 2 {
			t.Errorf("%d payments are over, %v; want 2", len(list.Items), err)
		}
		// The explanation says by which limit.
		x, err := w.app.Protection.Explain(t.Context(), w.actor, third.ID, app.ProtectionQuery{})
		if err != nil {
			t.Fatal(err)
		}
		steps := x.Allocations[0].Steps
		same(t, "explained", steps[len(steps)-1].Name, "over_limit booking")
	})
}

// TestManyPaymentsOfOneBookingAreJudgedExactly: whatever runs at once, what lies above sums up, and each level is
// crossed once.
func TestManyPaymentsOfOneBookingAreJudgedExactly(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		b := w.booking(w.channel(travel.ModeProtectionOnly, "GBP"), 100000, "2024-09-14")
		w.limit(protection.LimitBooking, 0, 10000)
		var mu sync.Mutex
		var over int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 5 {
					made, _, err := w.app.Payments.Create(t.Context(), w.actor, report(travel.Purchase, b, 999))
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
		same(t, "over", over, 40*999-10000)
		same(t, "events", len(w.events(protection.LimitBooking)), 3)
	})
}

// TestLimitsOfChannelAndSite follows a use up, down and up again.
func TestLimitsOfChannelAndSite(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c, other := w.channel(travel.ModeProtectionOnly, "GBP"), w.channel(travel.ModeProtectionOnly, "EUR")
		w.fix("2024-05-31", map[money.Currency]string{"GBP": "0.50000"})
		b, e := w.booking(c, 100000, "2024-09-14"), w.booking(other, 100000, "2024-06-10")
		w.limit(protection.LimitChannel, c.ID, 10000)
		w.limit(protection.LimitSite, 0, 20000)
		first := w.must(report(travel.Purchase, b, 9000))
		euros := w.must(report(travel.Purchase, e, 20000))
		second := w.must(report(travel.Purchase, b, 5000))
		w.settlePieces()
		same(t, "not before its time", w.row(protection.LimitChannel, c.ID).Use, 0)
		w.advance(6 * time.Second)
		w.settlePieces()
		r := w.row(protection.LimitChannel, c.ID)
		same(t, "channel", []any{r.Use, r.Headroom, r.Over, r.Level}, []any{14000, 0, 4000, 100})
		r = w.row(protection.LimitSite, 0)
		same(t, "site", []any{r.Use, r.Headroom, r.Over, r.Level}, []any{24000, 0, 4000, 100})
		same(t, "over", []any{w.readTransaction(first.ID).OverLimit, w.readTransaction(euros.ID).OverLimit, w.readTransaction(second.ID).OverLimit}, []any{0, 0, 4000})
		same(t, "events of the channel", w.events(protection.LimitChannel), []string{
			fmt.Sprintf("%d:80%%=9000", c.ID), fmt.Sprintf("%d:95%%=14000", c.ID), fmt.Sprintf("%d:100%%=14000", c.ID),
		})
		same(t, "events of the site", w.events(protection.LimitSite), []string{"0:80%=19000", "0:95%=19000", "0:100%=24000"})
		w.must(linked(travel.Refund, first, b, 6000)) // the channel falls to 80 %
		w.must(report(travel.Purchase, b, 3000))
		w.settle()
		same(t, "events of the channel after", w.events(protection.LimitChannel)[3:], []string{
			fmt.Sprintf("%d:95%%=11000", c.ID), fmt.Sprintf("%d:100%%=11000", c.ID),
		})
		// What is delivered leaves the use by itself when the day is over.
		w.setClock(time.Date(2024, 6, 11, 0, 2, 0, 0, time.UTC))
		w.settlePieces()
		same(t, "site after the trip", w.row(protection.LimitSite, 0).Use, 11000)
		// A lower limit is an event at once, and of no payment.
		w.limit(protection.LimitSite, 0, 11500)
		w.settle()
		same(t, "events of the site after", w.events(protection.LimitSite)[3:], []string{
			"0:95%=21000", "0:100%=21000", "0:80%=11000", "0:95%=11000",
		})
	})
}

// TestUseFollowsEveryChange: at any time the running use is E1 locked of the report, under each recognition.
func TestUseFollowsEveryChange(t *testing.T) {
	for _, by := range []travel.Recognition{travel.RecognitionEndDate, travel.RecognitionStartDate, travel.RecognitionLinear} {
		t.Run(string(by), func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) { followsEveryChange(t, w, by) })
		})
	}
}

func followsEveryChange(t *testing.T, w *world, by travel.Recognition) {
	policy := w.site.Policy
	policy.FromDay, policy.Recognition = *dayPtr(t, "2024-07-15"), by
	err := w.core.Store.Write(t.Context(), func(tx *store.Tx) (err error) {
		_, err = store.InsertPolicy(tx, w.site.ID, policy)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.limit(protection.LimitSite, 0, 1)
	c := w.channel(travel.ModeProtectionOnly, "EUR")
	start := *dayPtr(t, "2024-07-10")
	b, fields := w.booking(c, 100000, "2024-08-20"), travel.BookingFields{Start: &start}
	if _, err := w.app.Bookings.Update(t.Context(), w.actor, b.ID, fields); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		w.settle()
		want := w.exposure(app.ExposureQuery{Valuation: protection.Locked}).Total.E1
		same(t, when, w.row(protection.LimitSite, 0).Use, want)
	}
	paid := w.must(report(travel.Purchase, b, 60001))
	check("waiting for a rate")
	w.fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
	check("priced")
	same(t, "what was priced late is over", w.readTransaction(paid.ID).OverLimit, 51220-1)
	w.must(linked(travel.Refund, paid, b, 7000))
	w.must(linked(travel.Chargeback, paid, b, 9000))
	check("refunded and charged back")
	w.must(linked(travel.ChargebackReversal, paid, b, 9000))
	check("reversed")
	w.setClock(time.Date(2024, 7, 12, 12, 0, 0, 0, time.UTC))
	check("in travel")
	w.setClock(time.Date(2024, 7, 16, 12, 0, 0, 0, time.UTC))
	check("under the new recognition")
	w.setClock(time.Date(2024, 7, 30, 12, 0, 0, 0, time.UTC))
	check("later")
	end := *dayPtr(t, "2024-09-30")
	if _, err := w.app.Bookings.Update(t.Context(), w.actor, b.ID, travel.BookingFields{End: &end}); err != nil {
		t.Fatal(err)
	}
	check("moved")
	w.setClock(time.Date(2024, 10, 1, 12, 0, 0, 0, time.UTC))
	check("over")
}

// TestSettlingIsTheSameHoweverItRuns: many processes log and settle at once, some of them are stopped half-way; and
// every payment has the part above the limit that it has by the order of the changes.
func TestSettlingIsTheSameHoweverItRuns(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.channel(travel.ModeProtectionOnly, "GBP")
		w.limit(protection.LimitChannel, 0, 50000)
		var bookings []travel.Booking
		for range 4 {
			bookings = append(bookings, w.booking(c, 10_000_000, "2024-09-14"))
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
					_, _, err := w.app.Payments.Create(t.Context(), w.actor, report(travel.Purchase, b, int64(1000+i)))
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
					w.advance(time.Second)
					writes.Unlock()
					// Stopped somewhere: before, within or after the write.
					short, cancel := context.WithTimeout(ctx, time.Duration(i%7*(n+1))*time.Millisecond)
					if _, err := w.app.Limits.Settle(short); err != nil && short.Err() == nil && !fault.Is(err, fault.Unavailable) {
						t.Error(err)
					}
					cancel()
				}
			})
		}
		logging.Wait()
		stop()
		settling.Wait()
		w.settle()
		want := int64(4 * (30*1000 + 29*30/2))
		same(t, "use", w.row(protection.LimitChannel, c.ID).Use, want)
		same(t, "events", len(w.events(protection.LimitChannel)), 3)
		var over int64
		list, err := w.app.Payments.List(t.Context(), w.actor, travel.TransactionFilter{}, travel.Page{Number: 1, Size: 1000, Offset: -1})
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
	onBoth(t, func(t *testing.T, w *world) {
		site, strange := protection.LimitSite, protection.LimitScope("planet")
		one, none, past, nobody := int64(1), int64(0), civil.DayOf(began)-1, int64(999)
		for field, in := range map[string]app.LimitFields{
			"scope":    {Scope: &strange, Amount: &one},
			"channels": {Scope: &site, Amount: &one, ChannelID: &nobody},
			"from":     {Scope: &site, Amount: &one, From: &past},
			"amount":   {Scope: &site, Amount: &none},
		} {
			_, err := w.app.Limits.Set(t.Context(), w.actor, in)
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Params[field] == "" {
				t.Errorf("%s: %v", field, err)
			}
		}
		member := w.actor
		member.Role = auth.MemberAdmin
		if _, err := w.app.Limits.Set(t.Context(), member, app.LimitFields{Scope: &site, Amount: &one}); !fault.Is(err, fault.Forbidden) {
			t.Errorf("a member set a limit: %v", err)
		}
		// Lifted, it bounds nothing any more.
		w.limit(protection.LimitSite, 0, 1)
		if _, err := w.app.Limits.Set(t.Context(), w.actor, app.LimitFields{Scope: &site, Lift: true}); err != nil {
			t.Fatal(err)
		}
		list, err := w.app.Limits.List(t.Context(), w.actor, app.LimitFilter{}, wholeList)
		if err != nil || len(list.Items) != 0 {
			t.Errorf("limits in force: %+v, %v", list.Items, err)
		}
	})
}
