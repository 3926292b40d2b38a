package ledger_test

import (
	"strings"
	"testing"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestPositionsGoFromRowToRow: SQLite finds the rows of an allocation by its id. With the index on times it would scan
// the whole site for each of them.
func TestPositionsGoFromRowToRow(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	dbtest.Write(t, db, func(tx *store.Tx) error {
		_, err := dbtest.InsertSite(tx, merchant.Site{Path: "demo", Name: "Demo", Policy: terms.DefaultPolicy("GBP")})
		return err
	})
	for _, c := range []struct {
		day   civil.Day
		index string // by which they are read in order
	}{{dbtest.StartDay, "allocations_open"}, {dbtest.StartDay - 1, "allocations_by_booking"}} {
		ran := dbtest.Reading(dbtest.Statements(db, func() {
			dbtest.Read(t, db, func(tx *store.Tx) error {
				return ledger.Positions(tx, 1, c.day, dbtest.Start, nil, func(exposure.Position) error { return nil })
			})
		}), "allocations a")
		if len(ran) != 1 {
			t.Fatalf("positions ran %d statements that read allocations", len(ran))
		}
		plan := dbtest.Plan(t, db, ran[0])
		for _, step := range plan {
			if strings.Contains(step, "_by_effect") || strings.HasPrefix(step, "SCAN") || strings.Contains(step, "TEMP B-TREE") {
				t.Error(step)
			}
		}
		if len(plan) < 8 || !strings.Contains(plan[0], c.index) {
			t.Errorf("the plan has %d steps and begins with %s", len(plan), plan[0])
		}
	}
}

// TestVintagesGoByTheBookingsOfTheChannel: SQLite reads the allocations of the bookings instead of the whole site, and
// the rows of an allocation by its id.
func TestVintagesGoByTheBookingsOfTheChannel(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	c := w.Channel(merchant.ModeProtectionOnly, "GBP")
	for range 2 {
		w.Must(apptest.Report(payment.Purchase, w.Booking(c, 1000, "2024-09-14"), 1000))
	}
	found := 0
	ran := dbtest.Reading(dbtest.Statements(w.App.DB.Store, func() {
		dbtest.Read(t, w.App.DB.Store, func(tx *store.Tx) error {
			return ledger.VintagesOf(tx, w.Site.ID, c.ID, civil.DayOf(w.Now()), w.Now(), func(estimate.VintagePart) error {
				found++
				return nil
			})
		})
	}), "bookings b")
	if found != 2 || len(ran) != 1 {
		t.Fatalf("%d payments with %d statements that read allocations", found, len(ran))
	}
	byID, byBooking := 0, false
	for _, step := range dbtest.Plan(t, w.App.DB.Store, ran[0]) {
		byBooking = byBooking || strings.Contains(step, "allocations_by_booking (site_id=? AND booking_id=?)")
		if strings.Contains(step, "allocation_id=?)") {
			byID++
		}
		if strings.HasPrefix(step, "SCAN") || strings.Contains(step, "TEMP B-TREE") {
			t.Error(step)
		}
	}
	if !byBooking || byID != 6 { // terms twice, premium, three kinds of events
		t.Errorf("by booking %t, %d steps by allocation", byBooking, byID)
	}
}
