package imports_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// sold is a file of bookings with dependent rows: each total is paid, refunded and paid again, by payments of the same
// second, and a part is authorised, captured, refunded, charged back and won. The rows are in a valid order.
func sold(bookings int) (header string, rows []string) {
	header = "booking_reference,channel,countries,currencies,date,total,firstname,surname,email,content,payment_reference," +
		"linked_reference,transaction_types,paid_at,payment_currencies,payment_total,booking_total\n"
	for n := range bookings {
		add := func(key, linked, kind, at string, total int) {
			if linked != "" {
				linked = fmt.Sprintf("P-%d-%s", n, linked)
			}
			rows = append(rows, fmt.Sprintf("B-%d,Direct,PT,EUR,2024-09-14,120000,Ana,Sousa,ana@example.org,Seven nights,P-%d-%s,%s,%s,%s,EUR,%d,%d\n",
				n, n, key, linked, kind, at, total, total))
		}
		add("1", "", "purchase", "2024-04-09 00:00:00", 120000)
		add("2", "1", "refund", "2024-04-09 00:00:00", 120000)
		add("3", "", "authorize", "2024-04-09 00:00:00", 120000)
		add("4", "3", "capture", "2024-04-09 00:00:00", 120000)
		add("5", "4", "refund", "2024-04-10 00:00:00", 20000)
		add("6", "4", "chargeback", "2024-04-08 00:00:00", 50000)
		add("7", "4", "chargeback-reversal", "2024-04-11 00:00:00", 50000)
	}
	return header, rows
}

// TestAnyOrderOfRowsIsTaken: dependent rows are sorted within the file, whatever their order.
func TestAnyOrderOfRowsIsTaken(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		header, rows := sold(40)
		chance := rand.New(rand.NewPCG(1, 2))
		chance.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		file := header + strings.Join(rows, "")
		take := func(dry bool) imports.ImportReport {
			options := apptest.Protect
			options.DryRun = dry
			options.Refused = func(r imports.Refusal) { t.Errorf("dry run %v, line %d: %s", dry, r.Line, r.Reason) }
			report, err := w.App.Imports.Payments(t.Context(), w.Actor, paymentfile.Read(strings.NewReader(file), nil), options)
			if err != nil {
				t.Fatal(err)
			}
			return report
		}
		planned, done, again := take(true), take(false), take(false)
		if fmt.Sprint(planned) != fmt.Sprint(done) || done.Payments.Created != len(rows) || done.Bookings.Created != 40 {
			t.Errorf("planned %+v\ndone    %+v", planned, done)
		}
		if again.Payments.AlreadyThere != len(rows) {
			t.Errorf("again %+v", again)
		}
		page := store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}
		list, err := w.App.Bookings.List(t.Context(), w.Actor, bookings.BookingFilter{}, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range list.Items {
			if b.Sums.Net != 100000 || b.Sums.Held != 100000 {
				t.Errorf("booking %s holds %d, of which %d is paid", b.ImportKey, b.Sums.Held, b.Sums.Net)
			}
		}
	})
}

// TestWhatNoOrderCanHelp: rows that adjust each other, or missing payments, are rejected with their line numbers.
func TestWhatNoOrderCanHelp(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	adjusts := func(line int, key, linked string) imports.ImportedPayment {
		return apptest.ARow(line, key, apptest.Refunding("1", 100), func(r *imports.ImportedPayment) {
			r.Payment.EffectiveAt = r.Payment.EffectiveAt.Add(time.Duration(line) * time.Hour)
			r.Linked = linked
		})
	}
	rows := []imports.ImportedPayment{
		adjusts(2, "a", "P-b"), adjusts(3, "b", "P-c"), adjusts(4, "c", "P-a"), // a circle of three
		adjusts(5, "d", "P-a"), // leads into it
		adjusts(6, "e", "P-e"), adjusts(7, "f", "P-1"), adjusts(8, "g", "P-9"), apptest.ARow(9, "1"),
	}
	for _, dry := range []bool{true, false} {
		options := apptest.Protect
		options.DryRun = dry
		report, refused := w.Imported(options, rows...)
		if report.Payments.Created != 2 || len(refused) != 6 {
			t.Errorf("dry run %v: %+v, refused %v", dry, report, refused)
		}
		for line, want := range map[int]string{
			2: "that of line 3", 3: "that of line 4", 4: "that of line 2", 5: `Payment "P-a" not found`, 6: "adjusts itself",
			8: `Payment "P-9" not found`,
		} {
			if !strings.HasPrefix(refused[line], "linked_reference: ") || !strings.Contains(refused[line], want) {
				t.Errorf("dry run %v: line %d is refused with %q, want %q", dry, line, refused[line], want)
			}
		}
	}
}

// TestChannelsByIDAndByName: a name that two channels have names none of them.
func TestChannelsByIDAndByName(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		var ids []int64
		for _, name := range []string{"Twin", "Twin", "Direct"} {
			currency := money.EUR
			c, err := w.App.Channels.Create(t.Context(), w.Actor, merchant.ChannelFields{Name: &name, Currency: &currency})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, c.ID)
		}
		in := func(line int, id int64, name string) imports.ImportedPayment {
			return apptest.ARow(line, fmt.Sprint(line), func(r *imports.ImportedPayment) { r.Channel, r.ChannelID = name, id })
		}
		_, refused := w.Imported(apptest.Protect, in(2, 0, "Twin"), in(3, ids[1], "Twin"), in(4, ids[1], ""), in(5, ids[0], "Direct"),
			in(6, 9999, ""), in(7, 9999, "New"), in(8, ids[2], ""), in(9, 0, "Direct"))
		for line, want := range map[int]string{
			2: fmt.Sprintf("channel: Several channels have this name: %d, %d.", ids[0], ids[1]),
			5: fmt.Sprintf("channel: Channel %d has a different name.", ids[0]),
			6: "channel_id: Channel 9999 not found.", 7: "channel_id: Channel 9999 not found.",
		} {
			if !strings.HasPrefix(refused[line], want) {
				t.Errorf("line %d is refused with %q, want %q", line, refused[line], want)
			}
		}
		if len(refused) != 4 {
			t.Errorf("refused %v", refused)
		}
		page := store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}
		list, err := w.App.Bookings.List(t.Context(), w.Actor, bookings.BookingFilter{}, page)
		if err != nil {
			t.Fatal(err)
		}
		var of []int64
		for _, b := range list.Items {
			of = append(of, b.ChannelID)
		}
		if !slices.Equal(of, []int64{ids[1], ids[1], ids[2], ids[2]}) {
			t.Errorf("bookings of channels %v, of %v", of, ids)
		}
	})
}
