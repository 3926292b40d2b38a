package main

import (
	"strings"
	"testing"
	"time"

	"holdfast/bench/book"
	"holdfast/internal/apptest"
	"holdfast/internal/civil"
	"holdfast/internal/db"
	"holdfast/internal/dbtest"
)

// TestTheRowsOfARequest: what a booking and a payment insert is learnt from the product, and goes into another book again and
// again.
func TestTheRowsOfARequest(t *testing.T) {
	t.Parallel()
	l, err := learn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a booking: %s; a payment: %s; a booking is read by %d columns", l.booking, l.payment, l.find.columns)
	for _, table := range []string{"transactions 1", "payments 1", "allocations 1", "events "} {
		if !strings.Contains(l.payment.String(), table) {
			t.Errorf("a payment inserts no %s: %s", table, l.payment)
		}
	}
	url := dbtest.SQLite(t)
	store, service, err := open(t.Context(), url, apptest.KeyLine)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	defer service.Close()
	size := book.Size{Bookings: 200, Payments: 1}
	if _, err := book.Make(t.Context(), store, service, civil.DayOf(time.Now()), size, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []pattern{l.booking, l.payment} {
		for _, numbers := range [][2]int64{{1, 1}, {2, 2}, {3, 9}} {
			if err := store.Write(t.Context(), func(tx *db.Tx) error { return p.insert(tx, numbers[0], numbers[1]) }); err != nil {
				t.Fatalf("%s: %v", p, err)
			}
		}
	}
	if err := store.Read(t.Context(), func(tx *db.Tx) error { return l.find.run(tx, 7) }); err != nil {
		t.Errorf("%s: %v", l.find.query, err)
	}
}
