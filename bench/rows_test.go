package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"holdfast/bench/book"
	"holdfast/internal/domain/civil"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestTheRowsOfARequest: the rows of bookings and payments are learnt from the product and can be inserted into another
// book repeatedly, with channels, days and words that vary as in real requests.
func TestTheRowsOfARequest(t *testing.T) {
	t.Parallel()
	l, err := learn(t.Context(), 12)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a booking: %s; a payment: %s; a row of a file: %s; reading a booking returns %d columns", l.bookings, l.payments, l.imports, l.find.columns)
	for _, table := range []string{"transactions 1", "payments 1", "allocations 1", "events "} {
		if !strings.Contains(l.payments.String(), table) || !strings.Contains(l.imports.String(), table) {
			t.Errorf("a payment inserts no %s: %s; %s", table, l.payments, l.imports)
		}
	}
	ctx := t.Context()
	db, service, err := open(ctx, dbtest.SQLite(t), apptest.KeyLine, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	defer service.Close()
	size := book.Size{Bookings: 200, Payments: 1}
	if _, err := book.Make(ctx, db, service, civil.DayOf(time.Now()), size, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	first := int64(0)
	for _, s := range []samples{l.bookings, l.payments, l.imports} {
		for _, n := range []int64{1, 1, 34} {
			if err := db.Write(ctx, store.Deployment, func(tx *store.Tx) error { return s.insert(tx, first+1, first+n) }); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
			first += n
		}
	}
	for query, want := range map[string]int64{
		"SELECT COUNT(*) FROM bookings": 72, "SELECT COUNT(DISTINCT channel_id) FROM bookings": 12,
		"SELECT COUNT(DISTINCT start_day) FROM bookings": 12, "SELECT COUNT(DISTINCT reference) FROM bookings": 72,
		"SELECT COUNT(DISTINCT uuid) FROM bookings": 72, "SELECT COUNT(*) FROM bookings WHERE email LIKE '%sample%'": 0,
		"SELECT COUNT(*) FROM bookings WHERE reference || surname LIKE '%SAMPLE%'": 0, "SELECT COUNT(*) FROM payments": 72,
		"SELECT COUNT(DISTINCT booking_id) FROM payments": 12 + 36,
	} {
		if got := count(ctx, t, db, query); got != want {
			t.Errorf("%s: %d, not %d", query, got, want)
		}
	}
	if err := db.Read(ctx, store.Deployment, func(tx *store.Tx) error { return l.find.run(tx, 7) }); err != nil {
		t.Errorf("%s: %v", l.find.query, err)
	}
}

// count runs a query on the rows that the samples inserted.
func count(ctx context.Context, t *testing.T, db *store.DB, query string) (n int64) {
	t.Helper()
	if !strings.Contains(query, "WHERE") {
		query += " WHERE true"
	}
	if err := db.Read(ctx, store.Deployment, func(tx *store.Tx) error { return tx.QueryRow(query+" AND id > $1", []any{int64(firstID)}, &n) }); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// TestTheScriptOfPgbench: a script draws new ids and words for each run and contains none of the sample's.
func TestTheScriptOfPgbench(t *testing.T) {
	t.Parallel()
	l, err := learn(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []samples{l.bookings, l.payments} {
		script := s.script(1)
		for _, mark := range marks {
			if strings.Contains(script, mark) {
				t.Errorf("%s appears in\n%s", mark, script)
			}
		}
		if !strings.Contains(script, "'B-' || :first || 'a' || :second || ''") || strings.Count(script, "nextval") != 1 {
			t.Errorf("no new reference and number in\n%s", script)
		}
	}
}
