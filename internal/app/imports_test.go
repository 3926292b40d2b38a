package app_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/dbtest"
	"holdfast/internal/travel"
)

// aRow is a purchase of EUR 360.00 in channel Direct for a booking of EUR 1,200.00, changed by what follows.
func aRow(line int, key string, changes ...func(r *travel.ImportedPayment)) travel.ImportedPayment {
	content, first, last, email, country := "A week", "Ana", "Sousa", "ana@example.org", "PT"
	total, paid, end := int64(120_000), int64(36_000), civil.Date(2024, time.September, 14)
	currency, paidIn, kind := money.EUR, money.EUR, travel.Purchase
	r := travel.ImportedPayment{
		Line: line, Channel: "Direct", BaseTotal: paid,
		Booking: travel.BookingFields{
			ImportKey: "B-" + key, Content: &content, Firstname: &first, Surname: &last, Email: &email, End: &end,
			Total: &total, Currency: &currency, Country: &country,
		},
		Payment: travel.NewTransaction{
			ImportKey: "P-" + key, Reference: "P-" + key, Currency: &paidIn, Total: &paid, Type: &kind, CardType: "visa",
			EffectiveAt: time.Date(2024, time.April, 9, 8, 0, 0, 0, time.UTC),
		},
	}
	for _, change := range changes {
		change(&r)
	}
	return r
}

// paying changes what is paid, in both currencies alike.
func paying(amount int64) func(r *travel.ImportedPayment) {
	return func(r *travel.ImportedPayment) { r.BaseTotal, r.Payment.Total = amount, &amount }
}

// refunding makes the row a refund of another one's payment; it keeps that one's booking.
func refunding(key string, amount int64) func(r *travel.ImportedPayment) {
	return func(r *travel.ImportedPayment) {
		kind := travel.Refund
		r.Payment.Type, r.Linked, r.Booking.ImportKey = &kind, "P-"+key, "B-"+key
		paying(amount)(r)
	}
}

func of(rows ...travel.ImportedPayment) iter.Seq2[travel.ImportedPayment, error] {
	return func(yield func(travel.ImportedPayment, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// imported runs an import that must come to its end, and gives what it refused by line.
func (w *world) imported(opts app.ImportOptions, rows ...travel.ImportedPayment) (app.ImportReport, map[int]string) {
	w.t.Helper()
	refused := map[int]string{}
	opts.Refused = func(r app.Refusal) { refused[r.Line] = r.Reason }
	report, err := w.app.Imports.Payments(w.t.Context(), w.actor, of(rows...), opts)
	if err != nil {
		w.t.Fatal(err)
	}
	if report.Rows != len(rows) || report.Refused != len(refused) {
		w.t.Errorf("%d rows of which %d refused, reported as %+v", len(rows), len(refused), report)
	}
	return report, refused
}

var protect = app.ImportOptions{Mode: travel.ModeProtectionOnly, CoverFromEffective: true}

// holdings is everything that an import writes to, as far as a caller can see it.
func (w *world) holdings() (text string) {
	w.t.Helper()
	page := travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}
	channels, err := w.app.Channels.List(w.t.Context(), w.actor, travel.ChannelFilter{}, page)
	bookings, err2 := w.app.Bookings.List(w.t.Context(), w.actor, travel.BookingFilter{}, page)
	payments, err3 := w.app.Payments.List(w.t.Context(), w.actor, travel.TransactionFilter{}, page)
	if err := errors.Join(err, err2, err3); err != nil {
		w.t.Fatal(err)
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

func TestImportTwiceChangesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		rows := []travel.ImportedPayment{
			aRow(2, "1"), aRow(3, "1b", func(r *travel.ImportedPayment) { r.Booking.ImportKey = "B-1" }, paying(84_000)),
			aRow(4, "2"), aRow(5, "2r", refunding("2", 10_000)),
			aRow(6, "3", func(r *travel.ImportedPayment) { r.Channel = "Groups" }),
		}
		report, _ := w.imported(protect, rows...)
		if report.Bookings.Created != 3 || report.Payments.Created != 5 || !slices.Equal(report.Channels, []string{"Direct", "Groups"}) {
			t.Errorf("reported %+v", report)
		}
		before := w.holdings()
		for _, want := range []string{"Direct protection-only EUR", "B-1 120000 120000 paid", "P-2 purchase 26000 of 36000"} {
			if !strings.Contains(before, want) {
				t.Errorf("no %q in\n%s", want, before)
			}
		}
		again, _ := w.imported(protect, rows...)
		if again.Bookings != (app.Tally{AlreadyThere: 3}) || again.Payments != (app.Tally{AlreadyThere: 5}) || len(again.Channels) > 0 {
			t.Errorf("the second time: %+v", again)
		}
		if after := w.holdings(); after != before {
			t.Errorf("before\n%s\nafter\n%s", before, after)
		}
	})
}

// badRows are rows that must refuse themselves, and what their reason says. Rows 1 and 2 were imported before.
var badRows = []struct {
	name string
	row  travel.ImportedPayment
	want string
}{
	{"what the reader refused", travel.ImportedPayment{Refused: fault.New(fault.CardNumber, "The column content holds a card number.")}, "card number"},
	{"several wrong cells", aRow(0, "x", paying(0), func(r *travel.ImportedPayment) {
		email := "nobody"
		r.Booking.Email = &email
	}), "booking_total: Item 1: an amount lies between 1 and 1000000000000000 minor units. email: This is not an e-mail address. payment_total:"},
	{"a channel that no database keeps", aRow(0, "x", func(r *travel.ImportedPayment) { r.Channel = "a\xff" }), "channel: This text is not valid UTF-8"},
	{"keys that no database keeps", aRow(0, "x", func(r *travel.ImportedPayment) {
		r.Booking.ImportKey, r.Linked = "a\x00", "\xff"
	}), "booking_reference: This text is not valid UTF-8"},
	{"a payment in the future", aRow(0, "x", func(r *travel.ImportedPayment) { r.Payment.EffectiveAt = began.Add(time.Hour) }), "paid_at:"},
	{"more than the booking costs", aRow(0, "x", paying(120_001)), "booking_total: Booking"},
	{"sums that differ", aRow(0, "x", func(r *travel.ImportedPayment) { r.BaseTotal++ }), "booking_total: The parts come to"},
	{"another currency than the channel's", aRow(0, "x", func(r *travel.ImportedPayment) {
		currency := money.Currency("GBP")
		r.Booking.Currency = &currency
	}), "channel: The currency of the booking"},
	{"the same in a new channel", aRow(0, "x", func(r *travel.ImportedPayment) { r.Channel, r.BaseTotal = "New", 1 }), "booking_total: The parts"},
	{"a channel's name that is none", aRow(0, "x", func(r *travel.ImportedPayment) { r.Channel = strings.Repeat("n", 192) }), "channel: No such channel can be created"},
	{"another booking under the key", aRow(0, "x", func(r *travel.ImportedPayment) {
		total := int64(1_000_000)
		r.Booking.ImportKey, r.Booking.Total = "B-1", &total
	}), "total: The booking is there already"},
	{"another payment under the key", aRow(0, "1", paying(35_000)), "payment_total: The payment is there already and says 36000, not 35000."},
	{"a payment of another booking", aRow(0, "1", func(r *travel.ImportedPayment) { r.Booking.ImportKey = "B-2" }), "for another booking"},
	{"a payment of a booking that is new", aRow(0, "1", func(r *travel.ImportedPayment) { r.Booking.ImportKey = "B-x" }), "for another booking"},
	{"the same payment with another name on it", aRow(0, "1", func(r *travel.ImportedPayment) { r.Payment.PayeeName = "Ana" }), "says something else"},
	{"a refund of nothing", aRow(0, "x", refunding("1", 5), func(r *travel.ImportedPayment) { r.Linked = "" }), "linked_reference: A refund names"},
	{"a refund of what is not there", aRow(0, "x", refunding("1", 5), func(r *travel.ImportedPayment) { r.Linked = "P-9" }), `linked_reference: There is no payment "P-9"`},
	{"a refund of another booking's payment", aRow(0, "x", refunding("1", 5), func(r *travel.ImportedPayment) { r.Linked = "P-2" }), "booking"},
	{"a refund of more than was paid", aRow(0, "x", refunding("1", 36_001)), "remain"},
	{"a refund of a day before the payment", aRow(0, "x", refunding("1", 5), func(r *travel.ImportedPayment) {
		r.Payment.EffectiveAt = r.Payment.EffectiveAt.AddDate(0, 0, -1)
	}), "paid_at: Transaction 1 was made on 2024-04-09"},
	{"a purchase that adjusts another", aRow(0, "x", func(r *travel.ImportedPayment) { r.Linked = "P-1" }), "linked_reference: A purchase adjusts no other"},
}

func TestBadRowRefusesItselfAndNothingElse(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.imported(protect, aRow(2, "1"), aRow(3, "2"))
		before := w.holdings()
		for i, c := range badRows {
			c.row.Line = 7
			report, refused := w.imported(protect, c.row)
			if !strings.Contains(refused[7], c.want) || report.Refused != 1 {
				t.Errorf("%s: refused with %q, want %q", c.name, refused[7], c.want)
			}
			if after := w.holdings(); after != before {
				t.Fatalf("%s: before\n%s\nafter\n%s", c.name, before, after)
			}
			// The same row between two good ones, of which the first shares its booking where that is new.
			first, last := aRow(6, fmt.Sprintf("%d-first", i)), aRow(8, fmt.Sprintf("%d-last", i))
			report, refused = w.imported(protect, first, c.row, last)
			if report.Payments.Created != 2 || report.Bookings.Created != 2 || refused[7] == "" || len(refused) != 1 {
				t.Errorf("%s: among good ones: %+v, refused %v", c.name, report, refused)
			}
			before = w.holdings()
		}
		for _, name := range []string{"New ", "nnnn", "B-x"} {
			if strings.Contains(before, name) {
				t.Errorf("%s is there although its rows were refused:\n%s", name, before)
			}
		}
	})
}

func TestImportAgainWithAnotherStartOfCoverIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.imported(protect, aRow(2, "1"))
		_, refused := w.imported(app.ImportOptions{Mode: travel.ModeProtectionOnly}, aRow(2, "1"))
		if !strings.Contains(refused[2], "cover") {
			t.Errorf("refused with %q", refused[2])
		}
	})
}

func TestImportWithoutAModeCreatesNoChannels(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		_, refused := w.imported(app.ImportOptions{}, aRow(2, "1"))
		if !strings.Contains(refused[2], "no mode was given") || w.holdings() != "" {
			t.Errorf("refused with %q, there is\n%s", refused[2], w.holdings())
		}
		name, currency := "Direct", money.EUR
		if _, err := w.app.Channels.Create(t.Context(), w.actor, travel.ChannelFields{Name: &name, Currency: &currency}); err != nil {
			t.Fatal(err)
		}
		if report, _ := w.imported(app.ImportOptions{}, aRow(2, "1")); report.Payments.Created != 1 {
			t.Errorf("into a channel that is there: %+v", report)
		}
	})
}

// TestCoverStart: a book that is taken over counts at a past day, one that is newly covered does not.
func TestCoverStart(t *testing.T) {
	for effective, want := range map[bool]int64{true: 36_000, false: 0} {
		onBoth(t, func(t *testing.T, w *world) {
			if _, err := w.app.Rates.Add(t.Context(), auth.System(0), []fx.Fixing{fixing(t, "GBP", "2024-04-08", "0.85795")}); err != nil {
				t.Fatal(err)
			}
			w.imported(app.ImportOptions{Mode: travel.ModeProtectionOnly, CoverFromEffective: effective}, aRow(2, "1"))
			day := civil.Date(2024, time.May, 1)
			report, err := w.app.Exposure.Report(t.Context(), w.actor, app.ExposureQuery{Moment: app.Moment{AsOf: &day}})
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

// messyFile is a book with mistakes in it whose rows lie far apart from those that they build on.
func messyFile(seed uint64) []travel.ImportedPayment {
	chance := rand.New(rand.NewPCG(seed, 1))
	var rows []travel.ImportedPayment
	add := func(key string, changes ...func(r *travel.ImportedPayment)) {
		rows = append(rows, aRow(len(rows)+2, key, changes...))
	}
	for n := range 260 {
		add(fmt.Sprint(n), func(r *travel.ImportedPayment) {
			r.Channel = []string{"Direct", "Groups", "Online"}[chance.IntN(3)]
			if currency := money.Currency("GBP"); chance.IntN(20) == 0 { // not the channel's, unless it is the first
				r.Booking.Currency, r.Payment.Currency = &currency, &currency
			}
		})
	}
	for n := range 220 {
		of := rows[chance.IntN(260)]
		add(fmt.Sprintf("r%d", n), refunding(strings.TrimPrefix(of.Payment.ImportKey, "P-"), 9_000+chance.Int64N(12_000)),
			func(r *travel.ImportedPayment) {
				r.Channel, r.Booking.Currency, r.Payment.Currency = of.Channel, of.Booking.Currency, of.Payment.Currency
			})
	}
	for range 40 { // the same again, sometimes otherwise
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
	onBoth(t, func(t *testing.T, w *world) {
		rows := messyFile(7)
		options := protect
		options.DryRun = true
		w.imported(protect, aRow(2, "1")) // something to meet
		before := w.holdings()
		planned, refusedThen := w.imported(options, rows...)
		if after := w.holdings(); after != before {
			t.Errorf("the dry run left\n%s\nof\n%s", after, before)
		}
		done, refused := w.imported(protect, rows...)
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

// TestDryRunWhereWritesTakeFewRows: a machine that cannot take many rows in one write gets fewer at a time, of which none
// are parted that build on each other.
func TestDryRunWhereWritesTakeFewRows(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	options := protect
	options.DryRun = true
	rows := messyFile(7)
	w.imported(protect, aRow(2, "1"))
	planned, refused := w.imported(options, rows...)

	few, err := sql.Open("sqlite", strings.TrimPrefix(w.url, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = few.Close() }()
	// The eleventh payment of a write fails for a reason that no row is to blame for.
	_, err = few.ExecContext(t.Context(), `CREATE TRIGGER few BEFORE INSERT ON transactions
		WHEN (SELECT COUNT(*) FROM transactions) > 10 BEGIN SELECT json('too many'); END`)
	if err != nil {
		t.Fatal(err)
	}
	again, refusedAgain := w.imported(options, rows...)
	if fmt.Sprint(again) != fmt.Sprint(planned) {
		t.Errorf("planned %+v\nand    %+v", planned, again)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(refused)), slices.Sorted(maps.Keys(refusedAgain))) {
		t.Errorf("refused %v\nand    %v", refused, refusedAgain)
	}

	// Where a booking has more payments than that, nobody can say what would come of it.
	var one []travel.ImportedPayment
	for n := range 12 {
		one = append(one, aRow(n+2, fmt.Sprint("of-one-", n), paying(1000), func(r *travel.ImportedPayment) { r.Booking.ImportKey = "B-one" }))
	}
	_, err = w.app.Imports.Payments(t.Context(), w.actor, of(one...), options)
	if err == nil || !strings.Contains(err.Error(), "Line 2 and 11 others build on each other") {
		t.Errorf("it says %v", err)
	}
	options.DryRun = false
	if _, err := w.app.Imports.Payments(t.Context(), w.actor, of(one...), options); err == nil || strings.Contains(err.Error(), "others") {
		t.Errorf("the import says %v", err)
	}
}

func TestImportsAreTheOperators(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		admin := w.actor
		admin.Role = auth.MemberAdmin
		_, err := w.app.Imports.Payments(t.Context(), admin, of(aRow(2, "1")), protect)
		if !fault.Is(err, fault.Forbidden) {
			t.Errorf("answered %v", err)
		}
	})
}

// TestWhatTheSchemaForbidsRefusesOneRow has a row meet a rule of the schema that no check looks for.
func TestWhatTheSchemaForbidsRefusesOneRow(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		draw, drawn := w.core.NewUUID, 0
		taken := draw()
		w.core.NewUUID = func() string {
			if drawn++; drawn%2 == 0 { // bookings and payments take turns; every booking gets the same one
				return taken
			}
			return draw()
		}
		name, currency := "Direct", money.EUR
		if _, err := w.app.Channels.Create(t.Context(), w.actor, travel.ChannelFields{Name: &name, Currency: &currency}); err != nil {
			t.Fatal(err)
		}
		report, refused := w.imported(app.ImportOptions{}, aRow(2, "1"), aRow(3, "2"), aRow(4, "3"))
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
	onBoth(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.app.Imports.Payments(ctx, w.actor, of(aRow(2, "1")), protect); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled import answers %v", err)
		}
		broken := errors.New("the file broke off")
		rows := func(yield func(travel.ImportedPayment, error) bool) {
			if yield(aRow(2, "1"), nil) {
				yield(travel.ImportedPayment{}, broken)
			}
		}
		for _, dry := range []bool{true, false} {
			options := protect
			options.DryRun = dry
			if _, err := w.app.Imports.Payments(t.Context(), w.actor, rows, options); !errors.Is(err, broken) {
				t.Errorf("a file that breaks off answers %v", err)
			}
		}
	})
}
