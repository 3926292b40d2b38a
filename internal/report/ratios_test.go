package report_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/internal/book/disputes"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

func ratios(t *testing.T, w *apptest.World, month string) report.RatioReport {
	t.Helper()
	r, err := w.App.Exposure.Ratios(t.Context(), w.Actor, report.RatioQuery{Month: month})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDisputeRatios: chargebacks count once, in the month of their first debit, and not after their dispute was matched to nothing.
// Payments count in their own month.
func TestDisputeRatios(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		sound, failing := w.Channel(merchant.ModeProtectionOnly, "EUR"), w.Channel(merchant.ModeProtectionOnly, "GBP")
		pay := func(c merchant.Channel, total int64) (list []payment.Transaction) {
			for range 4 {
				list = append(list, w.Must(apptest.Report(payment.Purchase, w.Booking(c, total, "2024-09-14"), total)))
			}
			return list
		}
		ofSound, ofFailing := pay(sound, 10_000), pay(failing, 20_000)
		dispute := func(p payment.Transaction, amount int64) {
			w.Must(apptest.Linked(payment.Chargeback, p, w.ReadBooking(p.Payments[0].BookingID), amount))
		}
		w.Advance(24 * time.Hour)
		dispute(ofSound[0], 4_000)
		dispute(ofFailing[0], 20_000)
		dispute(ofFailing[1], 5_000)
		kind, at := insolvencies.Kind("liquidation"), w.Now()
		reported, err := w.App.Insolvencies.Report(t.Context(), w.Actor, insolvencies.NewReport{ChannelID: &failing.ID, Kind: &kind, TriggerAt: &at, Evidence: "Notice"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.App.Insolvencies.Confirm(t.Context(), w.Actor, reported.ID, ""); err != nil {
			t.Fatal(err)
		}
		w.At("2024-07-10")
		dispute(ofSound[1], 1_000)
		list, err := w.App.Disputes.List(t.Context(), w.Actor, disputes.Filter{}, store.Page{Number: 1, Size: 10, Offset: -1, OrderBy: store.OrderID})
		if err != nil || len(list.Items) != 4 {
			t.Fatalf("%+v, %v", list.Items, err)
		}
		last := list.Items[slices.IndexFunc(list.Items, func(c disputes.Case) bool { return c.TransactionID == ofFailing[1].ID })]
		if _, err := w.App.Disputes.Unmatch(t.Context(), w.Actor, last.ID, "Another trip"); err != nil {
			t.Fatal(err)
		}
		june, july := ratios(t, w, "2024-06"), ratios(t, w, "2024-07")
		apptest.Same(t, "June", []any{june.All, june.Sound, len(june.Merchants), june.Merchants[0].Insolvent != june.Merchants[1].Insolvent, june.Thresholds == nil}, []any{
			volume(8, 2, 40_000, 4_000, 80_000, 20_000), volume(4, 1, 40_000, 4_000), 2, true, true,
		})
		apptest.Same(t, "July", []any{july.All, july.Sound, len(july.Merchants)}, []any{volume(0, 1, 0, 1_000), volume(0, 1, 0, 1_000), 1})
		if r := ratios(t, w, "2025-06"); r.Thresholds == nil || len(r.Merchants) != 0 {
			t.Errorf("another year: %+v", r)
		}
		for _, month := range []string{"", "June"} {
			_, err := w.App.Exposure.Ratios(t.Context(), w.Actor, report.RatioQuery{Month: month})
			if err == nil {
				t.Errorf("month %q", month)
			}
		}
		reader := w.Actor
		reader.Role, reader.UserID = access.ReadOnly, 99
		if _, err := w.App.Exposure.Ratios(t.Context(), reader, report.RatioQuery{Month: "2024-06"}); reader.Can(access.ReadDisputes) == (err != nil) {
			t.Errorf("a reader: %v", err)
		}
	})
}

// volume is a volume with pairs of amounts in EUR and GBP.
func volume(payments, count int64, amounts ...int64) dispute.Volume {
	v := dispute.Volume{Payments: payments, Disputes: count}
	for i := 0; i < len(amounts); i += 2 {
		v.Amounts = append(v.Amounts, dispute.VolumeIn{Currency: []money.Currency{"EUR", "GBP"}[i/2], Paid: amounts[i], Disputed: amounts[i+1]})
	}
	return v
}
