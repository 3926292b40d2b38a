package imports_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/imports"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

func TestImportTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		rows := []imports.ImportedPayment{
			apptest.ARow(2, "1"), apptest.ARow(3, "1b", func(r *imports.ImportedPayment) { r.Booking.ImportKey = "B-1" }, apptest.Paying(84_000)),
			apptest.ARow(4, "2"), apptest.ARow(5, "2r", apptest.Refunding("2", 10_000)),
			apptest.ARow(6, "3", func(r *imports.ImportedPayment) { r.Channel = "Groups" }),
		}
		report, _ := w.Imported(apptest.Protect, rows...)
		if report.Bookings.Created != 3 || report.Payments.Created != 5 || !slices.Equal(report.Channels, []string{"Direct", "Groups"}) {
			t.Errorf("reported %+v", report)
		}
		before := holdings(t, w)
		for _, want := range []string{"Direct protection-only EUR", "B-1 120000 120000 paid", "P-2 purchase 26000 of 36000"} {
			if !strings.Contains(before, want) {
				t.Errorf("no %q in\n%s", want, before)
			}
		}
		again, _ := w.Imported(apptest.Protect, rows...)
		if again.Bookings != (imports.Tally{AlreadyThere: 3}) || again.Payments != (imports.Tally{AlreadyThere: 5}) || len(again.Channels) > 0 {
			t.Errorf("the second time: %+v", again)
		}
		if after := holdings(t, w); after != before {
			t.Errorf("before\n%s\nafter\n%s", before, after)
		}
	})
}

// badRows are rows that must be rejected, with part of the reason. Rows 1 and 2 were imported before.
var badRows = []struct {
	name string
	row  imports.ImportedPayment
	want string
}{
	{"what the reader refused", imports.ImportedPayment{Refused: errs.New(errs.CardNumber, "The column content contains a card number.")}, "card number"},
	{"several wrong cells", apptest.ARow(0, "x", apptest.Paying(0), func(r *imports.ImportedPayment) {
		email := "nobody"
		r.Booking.Email = &email
	}), "booking_total: Must be between 1 and 1000000000000000 minor units. email: Must be a valid e-mail address. payment_total:"},
	{"names of several lines", apptest.ARow(0, "x", func(r *imports.ImportedPayment) {
		r.Booking.Content, r.Booking.Surname, r.Payment.AuthCode = new("one\ntwo"), new("Da\nSilva"), "1\r2"
	}), "auth_code: Line breaks are not allowed in this field. surname: Line breaks are not allowed in this field."},
	{"nobody who travels", apptest.ARow(0, "x", func(r *imports.ImportedPayment) { r.Booking.Pax = new(int64(0)) }), "pax: Must be between 1"},
	{"a channel that no database keeps", apptest.ARow(0, "x", func(r *imports.ImportedPayment) { r.Channel = "a\xff" }), "channel: This text is not valid UTF-8"},
	{"keys that no database keeps", apptest.ARow(0, "x", func(r *imports.ImportedPayment) {
		r.Booking.ImportKey, r.Linked = "a\x00", "\xff"
	}), "booking_reference: This text is not valid UTF-8"},
	{"a payment in the future", apptest.ARow(0, "x", func(r *imports.ImportedPayment) { r.Payment.EffectiveAt = apptest.Began.Add(time.Hour) }), "paid_at:"},
	{"sums that differ", apptest.ARow(0, "x", func(r *imports.ImportedPayment) { r.BaseTotal++ }), "booking_total: The amounts add up to"},
	{"another currency than the channel's", apptest.ARow(0, "x", func(r *imports.ImportedPayment) {
		currency := money.Currency("GBP")
		r.Booking.Currency = &currency
	}), "channel: The booking currency"},
	{"the same in a new channel", apptest.ARow(0, "x", func(r *imports.ImportedPayment) { r.Channel, r.BaseTotal = "New", 1 }), "booking_total: The amounts"},
	{"a channel's name that is none", apptest.ARow(0, "x", func(r *imports.ImportedPayment) { r.Channel = strings.Repeat("n", 192) }), "channel: The channel cannot be created"},
	{"another booking under the key", apptest.ARow(0, "x", func(r *imports.ImportedPayment) {
		total := int64(1_000_000)
		r.Booking.ImportKey, r.Booking.Total = "B-1", &total
	}), "total: Booking 1 already exists with €1,200.00, not €10,000.00"},
	{"another payment under the key", apptest.ARow(0, "1", apptest.Paying(35_000)), "payment_total: The payment already exists with 36000, not 35000."},
	{"a payment of another booking", apptest.ARow(0, "1", func(r *imports.ImportedPayment) { r.Booking.ImportKey = "B-2" }), "for another booking"},
	{"a payment of a booking that is new", apptest.ARow(0, "1", func(r *imports.ImportedPayment) { r.Booking.ImportKey = "B-x" }), "for another booking"},
	{"the same payment with another name on it", apptest.ARow(0, "1", func(r *imports.ImportedPayment) { r.Payment.PayeeName = "Ana" }), "with different content"},
	{"the same payment with an acquirer reference", apptest.ARow(0, "1", func(r *imports.ImportedPayment) {
		r.Payment.AcquirerReference = "74537605006000000012345"
	}), "acquirer_reference: The payment already exists with , not 74537605006000000012345."},
	{"the same payment with a processor reference", apptest.ARow(0, "1", func(r *imports.ImportedPayment) {
		r.Payment.ProcessorReference = "ch_7"
	}), "processor_reference: The payment already exists with , not ch_7."},
	{"half an acquirer reference", apptest.ARow(0, "x", func(r *imports.ImportedPayment) {
		r.Payment.AcquirerReference = "74537605006"
	}), "acquirer_reference: Must be an acquirer reference number (ARN) of 23 digits."},
	{"another protection of a booking that is there", apptest.ARow(0, "1", func(r *imports.ImportedPayment) {
		r.Payment.ImportKey = "P-x"
		r.Booking.OtherProtection = new(merchant.OtherProtection("bond"))
	}), "other_protection: Booking 1 already exists with none, not bond"},
	{"an unknown protection", apptest.ARow(0, "x", func(r *imports.ImportedPayment) {
		r.Booking.OtherProtection = new(merchant.OtherProtection("luck"))
	}), "other_protection: Must be one of: none, bond"},
	{"an unknown type", apptest.ARow(0, "x", apptest.Refunding("1", 5), func(r *imports.ImportedPayment) {
		r.Payment.Type = new(payment.TransactionType("Refund"))
	}), "transaction_types: Must be one of: purchase, authorize, capture, refund, void, chargeback, chargeback-reversal, prevented."},
	{"an invalid country", apptest.ARow(0, "x", func(r *imports.ImportedPayment) { r.Booking.Country = new("UK") }), `countries: "UK" is not an ISO 3166 country code. Use GB.`},
	{"a refund of nothing", apptest.ARow(0, "x", apptest.Refunding("1", 5), func(r *imports.ImportedPayment) { r.Linked = "" }), "linked_reference: A refund must reference"},
	{"a refund of an unknown payment", apptest.ARow(0, "x", apptest.Refunding("1", 5), func(r *imports.ImportedPayment) { r.Linked = "P-9" }), `linked_reference: Payment "P-9" not found`},
	{"a refund of another booking's payment", apptest.ARow(0, "x", apptest.Refunding("1", 5), func(r *imports.ImportedPayment) { r.Linked = "P-2" }), "booking"},
	{"a refund of more than was paid", apptest.ARow(0, "x", apptest.Refunding("1", 36_001)), "remain"},
	{"a refund of a day before the payment", apptest.ARow(0, "x", apptest.Refunding("1", 5), func(r *imports.ImportedPayment) {
		r.Payment.EffectiveAt = r.Payment.EffectiveAt.AddDate(0, 0, -1)
	}), "paid_at: Transaction 1 was made on 2024-04-09"},
	{"a purchase that adjusts another", apptest.ARow(0, "x", func(r *imports.ImportedPayment) { r.Linked = "P-1" }), "linked_reference: Not allowed for the type purchase"},
}

func TestBadRowRefusesItselfAndNothingElse(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Imported(apptest.Protect, apptest.ARow(2, "1"), apptest.ARow(3, "2"))
		before := holdings(t, w)
		for i, c := range badRows {
			c.row.Line = 7
			report, refused := w.Imported(apptest.Protect, c.row)
			if !strings.Contains(refused[7], c.want) || report.Refused != 1 {
				t.Errorf("%s: refused with %q, want %q", c.name, refused[7], c.want)
			}
			if after := holdings(t, w); after != before {
				t.Fatalf("%s: before\n%s\nafter\n%s", c.name, before, after)
			}
			// The same row between two good ones, of which the first shares its booking where that is new.
			first, last := apptest.ARow(6, fmt.Sprintf("%d-first", i)), apptest.ARow(8, fmt.Sprintf("%d-last", i))
			report, refused = w.Imported(apptest.Protect, first, c.row, last)
			if report.Payments.Created != 2 || report.Bookings.Created != 2 || refused[7] == "" || len(refused) != 1 {
				t.Errorf("%s: among good ones: %+v, refused %v", c.name, report, refused)
			}
			before = holdings(t, w)
		}
		for _, name := range []string{"New ", "nnnn", "B-x"} {
			if strings.Contains(before, name) {
				t.Errorf("%s is there although its rows were refused:\n%s", name, before)
			}
		}
	})
}

func TestImportAgainWithAnotherStartOfCoverIsRefused(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Imported(apptest.Protect, apptest.ARow(2, "1"))
		_, refused := w.Imported(imports.ImportOptions{Mode: merchant.ModeProtectionOnly}, apptest.ARow(2, "1"))
		if !strings.Contains(refused[2], "cover") {
			t.Errorf("refused with %q", refused[2])
		}
	})
}

func TestImportWithoutAModeCreatesNoChannels(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		_, refused := w.Imported(imports.ImportOptions{}, apptest.ARow(2, "1"))
		if !strings.Contains(refused[2], "set a mode") || holdings(t, w) != "" {
			t.Errorf("refused with %q, there is\n%s", refused[2], holdings(t, w))
		}
		name, currency := "Direct", money.EUR
		if _, err := w.App.Channels.Create(t.Context(), w.Actor, merchant.ChannelFields{Name: &name, Currency: &currency}); err != nil {
			t.Fatal(err)
		}
		if report, _ := w.Imported(imports.ImportOptions{}, apptest.ARow(2, "1")); report.Payments.Created != 1 {
			t.Errorf("into a channel that is there: %+v", report)
		}
	})
}

// TestCoverStart: an imported book counts on a past day, a newly covered one does not.
func TestCoverStart(t *testing.T) {
	t.Parallel()
	for _, effective := range []bool{true, false} {
		want := int64(0)
		if effective {
			want = 36_000
		}
		apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
			if _, err := w.App.Rates.Add(t.Context(), access.System(0), []fx.Fixing{fixing(t, "GBP", "2024-04-08", "0.85795")}); err != nil {
				t.Fatal(err)
			}
			w.Imported(imports.ImportOptions{Mode: merchant.ModeProtectionOnly, CoverFromEffective: effective}, apptest.ARow(2, "1"))
			day := civil.Date(2024, time.May, 1)
			report, err := w.App.Exposure.Report(t.Context(), w.Actor, report.ExposureQuery{Moment: ledger.Moment{AsOf: &day}})
			if err != nil {
				t.Fatal(err)
			}
			var e1 int64
			for _, row := range report.Rows {
				e1 += row.E1
			}
			if e1 != want {
				t.Errorf("cover from effective %t: E1 %d, want %d", effective, e1, want)
			}
		})
	}
}

func fixing(t *testing.T, currency money.Currency, day, rate string) fx.Fixing {
	t.Helper()
	d, err := civil.ParseDay(day)
	r, err2 := money.ParseRate(rate)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return fx.Fixing{Provider: fx.ECB, Day: d, Currency: currency, Rate: r}
}

// messyFile is a book with mistakes whose rows are far from those that they depend on: it takes two writes.
func messyFile(seed uint64) []imports.ImportedPayment {
	chance := rand.New(rand.NewPCG(seed, 1))
	var rows []imports.ImportedPayment
	add := func(key string, changes ...func(r *imports.ImportedPayment)) {
		rows = append(rows, apptest.ARow(len(rows)+2, key, changes...))
	}
	for n := range 120 {
		add(fmt.Sprint(n), func(r *imports.ImportedPayment) {
			r.Channel = []string{"Direct", "Groups", "Online"}[chance.IntN(3)]
			if currency := money.Currency("GBP"); chance.IntN(20) == 0 { // not the channel's unless it is the first
				r.Booking.Currency, r.Payment.Currency = &currency, &currency
			}
		})
	}
	for n := range 110 {
		of := rows[chance.IntN(120)]
		add(fmt.Sprintf("r%d", n), apptest.Refunding(strings.TrimPrefix(of.Payment.ImportKey, "P-"), 9_000+chance.Int64N(12_000)),
			func(r *imports.ImportedPayment) {
				r.Channel, r.Booking.Currency, r.Payment.Currency = of.Channel, of.Booking.Currency, of.Payment.Currency
			})
	}
	for range 30 { // the same again, sometimes with differences
		again := rows[chance.IntN(len(rows))]
		again.Line = len(rows) + 2
		if chance.IntN(2) == 0 {
			again.BaseTotal++
		}
		rows = append(rows, again)
	}
	return rows
}

func TestDryRunSaysWhatTheImportThenDoes(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		rows := messyFile(7)
		options := apptest.Protect
		options.DryRun = true
		w.Imported(apptest.Protect, apptest.ARow(2, "1")) // something to meet
		before := holdings(t, w)
		planned, refusedThen := w.Imported(options, rows...)
		if after := holdings(t, w); after != before {
			t.Errorf("the dry run left\n%s\nof\n%s", after, before)
		}
		done, refused := w.Imported(apptest.Protect, rows...)
		slices.Sort(planned.Channels) // found in the order of bookings, not of rows
		slices.Sort(done.Channels)
		if fmt.Sprint(planned) != fmt.Sprint(done) {
			t.Errorf("planned %+v\ndone    %+v", planned, done)
		}
		if lines := slices.Sorted(maps.Keys(refused)); !slices.Equal(lines, slices.Sorted(maps.Keys(refusedThen))) || len(lines) < 20 {
			t.Errorf("refused %v, and on the dry run %v", refused, refusedThen)
		}
	})
}

// TestDryRunWhereWritesTakeFewRows: a slow machine gets fewer rows per write, and dependent rows stay together.
func TestDryRunWhereWritesTakeFewRows(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	options := apptest.Protect
	options.DryRun = true
	rows := messyFile(7)
	w.Imported(apptest.Protect, apptest.ARow(2, "1"))
	planned, refused := w.Imported(options, rows...)

	few, err := sql.Open("sqlite", strings.TrimPrefix(w.URL, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = few.Close() }()
	// The eleventh payment of a write fails for a reason unrelated to its row.
	_, err = few.ExecContext(t.Context(), `CREATE TRIGGER few BEFORE INSERT ON transactions
		WHEN (SELECT COUNT(*) FROM transactions) > 10 BEGIN SELECT json('too many'); END`)
	if err != nil {
		t.Fatal(err)
	}
	again, refusedAgain := w.Imported(options, rows...)
	if fmt.Sprint(again) != fmt.Sprint(planned) {
		t.Errorf("planned %+v\nand    %+v", planned, again)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(refused)), slices.Sorted(maps.Keys(refusedAgain))) {
		t.Errorf("refused %v\nand    %v", refused, refusedAgain)
	}

	// If a booking has more payments than that, the result cannot be predicted.
	var one []imports.ImportedPayment
	for n := range 12 {
		one = append(one, apptest.ARow(n+2, fmt.Sprint("of-one-", n), apptest.Paying(1000), func(r *imports.ImportedPayment) { r.Booking.ImportKey = "B-one" }))
	}
	_, err = w.App.Imports.Payments(t.Context(), w.Actor, apptest.Of(one...), options)
	if err == nil || !strings.Contains(err.Error(), "Line 2 and 11 other lines depend on each other") {
		t.Errorf("it says %v", err)
	}
	options.DryRun = false
	if _, err := w.App.Imports.Payments(t.Context(), w.Actor, apptest.Of(one...), options); err == nil || strings.Contains(err.Error(), "other lines") {
		t.Errorf("the import says %v", err)
	}
}

func TestWhoWritesNothingImportsNothing(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		for _, role := range []access.Role{access.ReadOnly, access.Finance, access.Modal} {
			actor := w.Actor
			actor.Role = role
			_, err := w.App.Imports.Payments(t.Context(), actor, apptest.Of(apptest.ARow(2, "1")), imports.ImportOptions{DryRun: true})
			apptest.WantKind(t, err, errs.Forbidden, string(role))
		}
	})
}

// TestWhatTheSchemaForbidsRefusesOneRow: a row violates a constraint of the schema that no check covers.
func TestWhatTheSchemaForbidsRefusesOneRow(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		draw, drawn := w.App.Imports.NewUUID, 0
		taken := draw()
		w.App.Imports.NewUUID = func() string {
			if drawn++; drawn%2 == 0 { // bookings and payments take turns; every booking gets the same one
				return taken
			}
			return draw()
		}
		name, currency := "Direct", money.EUR
		if _, err := w.App.Channels.Create(t.Context(), w.Actor, merchant.ChannelFields{Name: &name, Currency: &currency}); err != nil {
			t.Fatal(err)
		}
		report, refused := w.Imported(imports.ImportOptions{}, apptest.ARow(2, "1"), apptest.ARow(3, "2"), apptest.ARow(4, "3"))
		if report.Payments.Created != 1 || len(refused) != 2 {
			t.Errorf("%+v, refused %v", report, refused)
		}
		for line, reason := range refused {
			if !strings.Contains(reason, "conflicts") {
				t.Errorf("line %d: %s", line, reason)
			}
		}
	})
}

func TestImportEndsWithItsContextAndWithItsFile(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.App.Imports.Payments(ctx, w.Actor, apptest.Of(apptest.ARow(2, "1")), apptest.Protect); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled import answers %v", err)
		}
		broken := errors.New("the file broke off")
		rows := func(yield func(imports.ImportedPayment, error) bool) {
			if yield(apptest.ARow(2, "1"), nil) {
				yield(imports.ImportedPayment{}, broken)
			}
		}
		for _, dry := range []bool{true, false} {
			options := apptest.Protect
			options.DryRun = dry
			if _, err := w.App.Imports.Payments(t.Context(), w.Actor, rows, options); !errors.Is(err, broken) {
				t.Errorf("a file that breaks off answers %v", err)
			}
		}
	})
}

// holdings is everything that an import writes and a caller can see.
func holdings(t *testing.T, w *apptest.World) (text string) {
	t.Helper()
	page := store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}
	channels, err := w.App.Channels.List(t.Context(), w.Actor, merchants.ChannelFilter{}, page)
	bookings, err2 := w.App.Bookings.List(t.Context(), w.Actor, bookings.BookingFilter{}, page)
	payments, err3 := w.App.Payments.List(t.Context(), w.Actor, payments.TransactionFilter{}, page)
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	for _, c := range channels.Items {
		text += fmt.Sprintf("%s %s %s\n", c.Name, c.Mode, c.Currency)
	}
	for _, b := range bookings.Items {
		text += fmt.Sprintf("%d %s %d %d %s v%d\n", b.ID, b.ImportKey, b.Total, b.Sums.Net, b.StatusOn(0), b.Version)
	}
	for _, p := range payments.Items {
		text += fmt.Sprintf("%d %s %s %d of %d remain\n", p.ID, p.ImportKey, p.Type, p.Remaining, p.Total)
	}
	return text
}
