package store_test

import (
	"crypto/rand"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/store"
	"holdfast/internal/storetest"
	"holdfast/internal/travel"
)

// queueing is the statement of the migration that brought the limits which queues what was on file before them.
func queueing(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("migrations/0008_limits_and_collateral.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "INSERT INTO limit_changes")
	statement, _, ended := strings.Cut(after, ";\n")
	if !found || !ended {
		t.Fatal("the migration queues nothing")
	}
	return "INSERT INTO limit_changes" + statement
}

// olderBook is a site with payments from before there were limits.
type olderBook struct {
	t     *testing.T
	db    *store.DB
	app   *app.App
	actor auth.Actor
	now   time.Time
}

func newOlderBook(t *testing.T, url string) *olderBook {
	t.Helper()
	o := &olderBook{t: t, now: start}
	o.db = storetest.Open(t, url, func() time.Time { return o.now })
	o.app = app.New(&app.Core{
		Store: o.db, Clock: func() time.Time { return o.now }, Random: rand.Reader, NewUUID: uuid.NewString,
		Log: slog.New(slog.DiscardHandler),
	})
	o.write(func(tx *store.Tx) error {
		site, err := store.InsertSite(tx, travel.Site{Path: "a", Name: "A", Sandbox: true, Policy: travel.DefaultPolicy("GBP")})
		o.actor = auth.System(site.ID)
		return err
	})
	return o
}

func (o *olderBook) write(fn func(tx *store.Tx) error) {
	o.t.Helper()
	if err := o.db.Write(o.t.Context(), fn); err != nil {
		o.t.Fatal(err)
	}
}

func (o *olderBook) booking(currency money.Currency) travel.Booking {
	o.t.Helper()
	name, mode := "Merchant in "+string(currency), travel.ModeProtectionOnly
	c, err := o.app.Channels.Create(o.t.Context(), o.actor, travel.ChannelFields{Name: &name, Currency: &currency, Mode: &mode})
	if err != nil {
		o.t.Fatal(err)
	}
	content, first, last, email, country := "A week", "Ada", "Byron", "ada@example.org", "PT"
	end, total := civil.DayOf(start)+90, int64(1_000_000)
	b, err := o.app.Bookings.Create(o.t.Context(), o.actor, travel.BookingFields{
		ChannelID: &c.ID, Content: &content, Firstname: &first, Surname: &last, Email: &email, End: &end, Total: &total,
		Currency: &currency, Country: &country,
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return b
}

func (o *olderBook) log(kind travel.TransactionType, b travel.Booking, total, linked int64) int64 {
	o.t.Helper()
	made, _, err := o.app.Payments.Create(o.t.Context(), o.actor, travel.NewTransaction{
		ChannelID: &b.ChannelID, Currency: &b.Currency, Total: &total, Type: &kind, CardType: "visa", LinkedID: linked,
		Items: &[]travel.Item{{BookingID: b.ID, Currency: b.Currency, Total: total}},
	})
	if err != nil {
		o.t.Fatalf("%s: %v", kind, err)
	}
	return made.ID
}

// forget takes the database back to where the migration found it, and queues by the migration's own statement.
func (o *olderBook) forget() {
	o.t.Helper()
	o.write(func(tx *store.Tx) error {
		for _, table := range []string{"limit_changes", "limit_horizons", "limit_books", "limit_lines", "limit_uses", "limit_events", "over_limits"} {
			if _, err := tx.Exec(`DELETE FROM ` + table); err != nil {
				return err
			}
		}
		_, err := tx.Exec(queueing(o.t))
		return err
	})
}

func (o *olderBook) limit(scope protection.LimitScope, amount int64) {
	o.t.Helper()
	if _, err := o.app.Limits.Set(o.t.Context(), o.actor, app.LimitFields{Scope: &scope, Amount: &amount}); err != nil {
		o.t.Fatal(err)
	}
}

func (o *olderBook) settle() {
	o.t.Helper()
	for range 2 {
		for more := true; more; {
			var err error
			if more, err = o.app.Limits.Settle(o.t.Context()); err != nil {
				o.t.Fatal(err)
			}
		}
		o.now = o.now.Add(10 * time.Second)
	}
}

// TestLimitsOfAnOlderBook: what was logged before there were limits is in the uses, as if they had always been there,
// and is judged by a limit that is set then.
func TestLimitsOfAnOlderBook(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, url string) {
		o := newOlderBook(t, url)
		pounds, euros := o.booking("GBP"), o.booking("EUR")
		first := o.log(travel.Purchase, pounds, 50_000, 0)
		o.log(travel.Refund, pounds, 5000, first)
		charged := o.log(travel.Purchase, pounds, 20_000, 0)
		o.log(travel.Chargeback, pounds, 8000, charged)
		o.log(travel.ChargebackReversal, pounds, 3000, charged)
		held := o.log(travel.Authorize, pounds, 7000, 0)
		o.log(travel.Capture, pounds, 6000, held)
		o.log(travel.Purchase, euros, 9000, 0) // waits for a rate
		o.forget()
		o.limit(protection.LimitSite, 60_000)
		o.limit(protection.LimitBooking, 50_000)
		o.settle()
		report, err := o.app.Exposure.Report(t.Context(), o.actor, app.ExposureQuery{Valuation: protection.Locked})
		if err != nil {
			t.Fatal(err)
		}
		page := travel.Page{Number: 1, Size: 100, Offset: -1}
		rows, err := o.app.Limits.List(t.Context(), o.actor, app.LimitFilter{Scopes: []protection.LimitScope{protection.LimitSite}}, page)
		if err != nil || len(rows.Items) != 1 || rows.Items[0].Use != report.Total.E1 || report.Total.E1 < 60_000 {
			t.Errorf("the site's use: %+v, %v; want %d", rows.Items, err, report.Total.E1)
		}
		events, err := o.app.Limits.Events(t.Context(), o.actor, app.LimitEvents{}, page)
		if err != nil || len(events.Items) != 6 { // three of the site, three of the booking
			t.Errorf("%d events, %v: %+v", len(events.Items), err, events.Items)
		}
		var waiting int
		o.write(func(tx *store.Tx) error {
			list, err := store.WaitingChanges(tx, o.actor.SiteID, 1<<40, 100)
			waiting = len(list)
			return err
		})
		if waiting != 0 {
			t.Errorf("%d changes are left", waiting)
		}
	})
}
