package report_test

import (
	"testing"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

func vintages(t *testing.T, w *apptest.World, channel int64, m ledger.Moment) report.VintageReport {
	t.Helper()
	r, err := w.App.Exposure.Vintages(t.Context(), w.Actor, report.VintageQuery{Moment: m, ChannelID: channel})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPremiumIsEarnedDayByDay: from the payment to the last day of dispute, and immediately after a full refund.
func TestPremiumIsEarnedDayByDay(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.50000"})
		c, other := w.Channel(merchant.ModeProtectionOnly, "GBP"), w.Channel(merchant.ModeProtectionOnly, "EUR")
		b := w.Booking(c, 1000000, "2024-06-22") // last day of dispute: 2024-10-20, the 140th day of the first payment
		kept := w.Must(apptest.Report(payment.Purchase, b, 560000))
		w.Must(apptest.Report(payment.Purchase, w.Booking(other, 50000, "2024-06-22"), 50000))
		w.At("2024-06-10")
		gone := w.Must(apptest.Report(payment.Purchase, b, 40000))
		w.At("2024-07-01")
		w.Must(apptest.Report(payment.Purchase, w.Booking(c, 20000, "2024-08-22"), 20000))
		w.Must(apptest.Linked(payment.Chargeback, gone, b, 40000))
		w.Must(apptest.Linked(payment.Chargeback, kept, b, 1000))
		w.Must(apptest.Linked(payment.ChargebackReversal, kept, b, 1000))

		first := vintages(t, w, c.ID, ledger.Moment{AsOf: apptest.DayPtr(t, "2024-06-07")}) // the fifth day
		want := []estimate.Vintage{{
			Month: "2024-06", Currency: "GBP", Payments: 1, Amounts: protection.Amounts{Allocated: 560000}, Policy: "GBP", Booked: 1400, Earned: 50,
		}}
		apptest.Same(t, "the first week", first.Rows, want)
		now := vintages(t, w, c.ID, ledger.Moment{})
		june := estimate.Vintage{
			Month: "2024-06", Currency: "GBP", Payments: 2, Disputed: 2, Policy: "GBP", Booked: 1500, Earned: 290 + 100,
			Amounts: protection.Amounts{Allocated: 600000, ChargedBack: 41000, Reversed: 1000},
		}
		apptest.Same(t, "June", now.Rows[0], june)
		over := vintages(t, w, c.ID, ledger.Moment{AsOf: apptest.DayPtr(t, "2025-12-31")})
		var booked int64
		for _, l := range w.Lines(protection.PremiumFilter{Channels: []int64{c.ID}}) {
			booked += l.Amount
		}
		if len(over.Totals) != 1 || over.Totals[0].Booked != booked || over.Totals[0].Earned != booked || over.Totals[0].Payments != 3 {
			t.Errorf("at the end %+v, booked %d", over.Totals, booked)
		}
		_, err := w.App.Exposure.Vintages(t.Context(), w.Actor, report.VintageQuery{ChannelID: 999})
		apptest.WantKind(t, err, errs.Invalid, "a channel that is not there")
	})
}

// TestVintagesOfAnyHistory: the premium is that of the ledger, the earned part never exceeds the booked premium, and
// never falls unless the booking changes.
func TestVintagesOfAnyHistory(t *testing.T) {
	t.Parallel()
	for seed := range apptest.Histories(t, 4) {
		apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
			h := apptest.NewHistory(w, seed)
			for range 60 {
				h.Step()
			}
			list, err := w.App.Channels.List(t.Context(), w.Actor, merchants.ChannelFilter{}, apptest.WholeList)
			if err != nil {
				t.Fatal(err)
			}
			today := civil.DayOf(w.Now())
			for _, c := range list.Items {
				booked := map[money.Currency]int64{}
				for _, l := range w.Lines(protection.PremiumFilter{Channels: []int64{c.ID}}) {
					if !l.Simulated && civil.DayOf(l.EffectiveAt) <= today {
						booked[l.Currency] += l.Amount
					}
				}
				day := today - 3
				theirs := amountsByMonth(t, w, c.ID, day)
				for _, v := range vintages(t, w, c.ID, ledger.Moment{AsOf: &day}).Rows {
					apptest.Same(t, v.Month+" as the histories tell it", estimate.Vintage{Payments: v.Payments, Amounts: v.Amounts},
						theirs[v.Month+string(v.Currency)])
					delete(theirs, v.Month+string(v.Currency))
				}
				if len(theirs) > 0 {
					t.Errorf("channel %d: months are missing: %v", c.ID, theirs)
				}
				got := map[money.Currency]int64{}
				for _, v := range vintages(t, w, c.ID, ledger.Moment{}).Totals {
					got[v.Policy] += v.Booked
					if v.Earned > v.Booked || v.Earned < 0 || v.Disputed > v.Payments {
						t.Errorf("channel %d: %+v", c.ID, v)
					}
				}
				for currency, want := range booked {
					if got[currency] != want {
						t.Errorf("channel %d: %d %s are booked, want %d", c.ID, got[currency], currency, want)
					}
				}
			}
		})
	}
}

// amountsByMonth adds up the histories of a channel's card payments, by month of payment and currency.
func amountsByMonth(t *testing.T, w *apptest.World, channel int64, day civil.Day) map[string]estimate.Vintage {
	t.Helper()
	sums := map[string]estimate.Vintage{}
	err := w.App.DB.Store.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
		return ledger.Histories(tx, w.Site.ID, day, w.Now(), []int64{channel}, func(h protection.History) error {
			if h.Decision.Reason == protection.ReasonNotCardPayment {
				return nil
			}
			a, key := h.AmountsAt(h.Events, day, w.Now()), h.Paid().Month()+string(h.Currency)
			sum := sums[key]
			sum.Payments++
			sum.Allocated += a.Allocated
			sum.Refunded += a.Refunded
			sum.ChargedBack += a.ChargedBack
			sum.Reversed += a.Reversed
			sums[key] = sum
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}
