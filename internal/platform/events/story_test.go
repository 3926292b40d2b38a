package events_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/disputefile"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/statements"
	"holdfast/internal/book/underwriting"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/events"
	"holdfast/internal/psp"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// story is the history of one booking, from a new channel to the end of its protection.
type story struct {
	*apptest.World
	t          *testing.T
	after      string
	channel    merchant.Channel
	processing *apptest.Processing // in the story at a processor
	booking    booking.Booking
	paid       payment.Transaction
	failed     merchant.Channel
	insolvency int64
	dispute    int64
}

// confirmed makes the failed merchant insolvent, with its snapshot.
func (s *story) confirmed() {
	s.t.Helper()
	kind, trigger := insolvencies.Kind("administration"), s.Now()
	made, err := s.App.Insolvencies.Report(s.t.Context(), s.Actor, insolvencies.NewReport{
		ChannelID: &s.failed.ID, Kind: &kind, TriggerAt: &trigger, Evidence: "Notice of the court",
	})
	if err == nil {
		s.insolvency = made.ID
		_, err = s.App.Insolvencies.Confirm(s.t.Context(), s.Actor, made.ID, "")
	}
	s.Advance(time.Minute)
	for more := true; err == nil && more; {
		more, err = s.App.Insolvencies.Work(s.t.Context())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// chapter is one step of the story and its events, in order.
type chapter struct {
	name string
	play func(s *story)
	want string
}

const deleted = "a booking is deleted"

var chapters = []chapter{
	{"a channel that covers is made", func(s *story) { s.channel = s.Channel(merchant.ModeProtectionOnly, "GBP") },
		"proposal.opened channel.created proposal.decided"},
	{"a booking", func(s *story) { s.booking = s.Booking(s.channel, 60000, "2024-09-14") }, "booking.created"},
	{"a deposit", func(s *story) { s.Must(apptest.Report(payment.Purchase, s.booking, 10000)) }, "transaction.created transaction.completed booking.updated protection.allocated"},
	{"a second deposit", func(s *story) { s.Must(apptest.Report(payment.Purchase, s.booking, 10000)) },
		"transaction.created transaction.completed protection.allocated"},
	{"a limit", func(s *story) { s.Limit(protection.LimitBooking, 0, 62000) }, "proposal.opened proposal.decided"},
	{"the rest", func(s *story) { s.paid = s.Must(apptest.Report(payment.Purchase, s.booking, 40000)) },
		"transaction.created transaction.completed booking.paid protection.allocated limit.crossed limit.crossed"},
	{"another end date", func(s *story) { s.Move(s.booking, day(s.t, "2024-09-20")) },
		"protection.changed protection.changed protection.changed booking.updated"},
	{"a refund", func(s *story) { s.Must(apptest.Linked(payment.Refund, s.paid, s.booking, 5000)) },
		"transaction.created transaction.completed booking.updated protection.changed"},
	{"a chargeback", func(s *story) { s.Must(apptest.Linked(payment.Chargeback, s.paid, s.booking, 1000)) },
		"transaction.created transaction.completed transaction.locked protection.changed dispute.opened"},
	{"its reversal", func(s *story) { s.Must(apptest.Linked(payment.ChargebackReversal, s.paid, s.booking, 1000)) },
		"transaction.created transaction.completed transaction.unlocked protection.changed dispute.closed"},
	{"a file names a dispute of a payment that is not known, and its deadline is near", func(s *story) {
		file := "case,amount,currency,day,due\nC-1,10.00,GBP," + civil.DayOf(s.Now()).String() + "," + (civil.DayOf(s.Now()) + 2).String() + "\n"
		mapping := &disputefile.Mapping{
			Source: "acme", Columns: map[string]string{"case_id": "case", "amount": "amount", "currency": "currency", "day": "day", "due_on": "due"},
			Always: &disputefile.Meaning{Stage: dispute.Chargeback, Status: dispute.Open, Money: "debit"},
		}
		done, err := s.App.Disputes.ImportFile(s.t.Context(), s.Actor, strings.NewReader(file), disputefile.Options{Mapping: mapping}, false)
		if err != nil || len(done.Lines) != 1 {
			s.t.Fatalf("%+v, %v", done, err)
		}
		s.dispute = done.Lines[0].DisputeID
		if _, err := s.App.Disputes.Alert(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}, "dispute.opened dispute.due"},
	{"somebody works on it", func(s *story) {
		if _, err := s.App.Disputes.Assign(s.t.Context(), s.Actor, s.dispute, "ada"); err != nil {
			s.t.Fatal(err)
		}
	}, "dispute.updated"},
	{"the refunded part is paid again", func(s *story) { s.Must(apptest.Report(payment.Purchase, s.booking, 5000)) },
		"transaction.created transaction.completed booking.paid protection.allocated limit.crossed"},
	{"an authorisation that nobody captures", func(s *story) {
		s.Must(apptest.Report(payment.Authorize, s.Booking(s.channel, 1000, "2030-09-14"), 1000))
		s.Advance(8 * 24 * time.Hour)
		if _, err := s.App.Payments.ExpireAuthorisations(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}, "booking.created transaction.created transaction.completed booking.updated booking.updated transaction.expired"},
	{"a currency that waits for its rate", func(s *story) {
		c := s.Channel(merchant.ModeProtectionOnly, "USD")
		s.Must(apptest.Report(payment.Purchase, s.Booking(c, 90000, "2030-09-14"), 10000))
		s.Fix(civil.DayOf(s.Now().Add(-24*time.Hour)).String(), map[money.Currency]string{"USD": "1.10000", "GBP": "0.85365"})
		if _, err := s.App.Rates.PricePending(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}, "proposal.opened channel.created proposal.decided booking.created transaction.created transaction.completed " +
		"booking.updated protection.allocated protection.priced"},
	{"a month passes", func(s *story) {
		s.At("2024-07-02")
		s.Advance(time.Minute)
		if _, err := s.App.Statements.IssueDue(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}, "statement.issued statement.issued"},
	{"a statement is paid", func(s *story) {
		list := s.Statements(statements.StatementFilter{Channels: []int64{s.channel.ID}})
		amount, on, reference := int64(1), civil.DayOf(s.Now()), "bank 1"
		if _, _, err := s.App.Statements.Pay(s.t.Context(), s.Actor, list[0].ID, statements.StatementPaymentFields{
			Amount: &amount, PaidOn: &on, Reference: &reference, Currency: &list[0].Currency,
		}); err != nil {
			s.t.Fatal(err)
		}
	}, "statement.paid"},
	{"the trip is over", func(s *story) { s.At("2024-09-21"); s.clock() }, "booking.completed"},
	{"nothing is recorded twice", func(s *story) { s.clock() }, ""},
	{"the end moves, and comes again", func(s *story) {
		s.Move(s.booking, day(s.t, "2024-09-25"))
		s.clock()
		s.At("2024-09-26")
		s.clock()
	}, strings.Repeat("protection.changed ", 4) + "booking.updated booking.completed"},
	{"the last day of dispute is over", func(s *story) { s.At("2027-01-01"); s.clock() },
		strings.Repeat("protection.ended ", 5)},
	{"the booking ended long ago, and is corrected", func(s *story) { s.Move(s.booking, day(s.t, "2024-09-24")); s.clock() },
		strings.Repeat("protection.changed ", 4) + "booking.updated"},
	{"the channel is locked, unlocked and closed", func(s *story) {
		locked, open, closed := true, false, merchant.ModeClosed
		for _, in := range []merchant.ChannelFields{{Locked: &locked}, {Locked: &open}, {Mode: &closed}} {
			if _, err := s.App.Channels.Change(s.t.Context(), s.Actor, s.channel.ID, in); err != nil {
				s.t.Fatal(err)
			}
		}
	}, "channel.locked proposal.opened channel.unlocked proposal.decided channel.mode_changed"},
	{"a merchant asks for protection, and gets an answer", func(s *story) {
		c := s.Channel(merchant.ModeDraft, "GBP")
		boss := access.Actor{SiteID: s.Site.ID, UserID: 7, Username: "ada", Role: access.MemberAdmin}
		facts := underwriting.Facts{
			Company: "Alpine Ltd", RegistrationNo: "HRB 1", Website: "https://alpine.example", Sells: "Walking holidays", Contact: "Ada Byron",
			ContactMail: "ada@alpine.example", Licence: "none", SupplierCover: "Insurance", Currency: "GBP", Turnover: 250_000_000, Bookings: 400, AverageBooking: 120_000,
			Lead: [5]int64{10, 20, 30, 30, 10},
		}
		if _, err := s.App.Underwriting.Save(s.t.Context(), boss, c.ID, facts, false, 0); err != nil {
			s.t.Fatal(err)
		}
		if _, err := s.App.Underwriting.Save(s.t.Context(), boss, c.ID, facts, true, 0); err != nil {
			s.t.Fatal(err)
		}
		answer := underwriting.Answer{State: underwriting.Taken}
		if _, err := s.App.Underwriting.Answer(s.t.Context(), s.Actor, s.Site.ID, c.ID, answer); err != nil {
			s.t.Fatal(err)
		}
	}, "channel.created channel.protection_asked channel.protection_answered"},
	{deleted, func(s *story) {
		c := s.Channel(merchant.ModeTest, "GBP")
		if err := s.App.Bookings.Delete(s.t.Context(), s.Actor, s.Booking(c, 1000, "2030-09-14").ID, 0); err != nil {
			s.t.Fatal(err)
		}
	}, "channel.created booking.created booking.deleted"},
	{"a merchant fails", func(s *story) {
		s.failed = s.Channel(merchant.ModeProtectionOnly, "GBP")
		s.paid = s.Must(apptest.Report(payment.Purchase, s.Booking(s.failed, 90000, "2030-09-14"), 10000))
		s.confirmed()
	}, "proposal.opened channel.created proposal.decided booking.created transaction.created transaction.completed booking.updated " +
		"protection.allocated insolvency.reported insolvency.confirmed insolvency.opened"},
	{"a traveller asks the bank, and the claim is paid", (*story).claimed,
		"transaction.created transaction.completed transaction.locked protection.changed dispute.opened claim.created claim.rejected " +
			"claim.changed claim.reopened claim.changed claim.withdrawn claim.changed claim.reopened claim.changed claim.released " +
			"transaction.created transaction.completed protection.changed dispute.updated claim.changed claim.assessed claim.approved " +
			"payout.planned payout.failed payout.planned payout.signed payout.paid claim.paid recovery.recorded recovery.cancelled"},
	{"it is settled, and may be protected again", func(s *story) {
		for _, act := range []func(ctx context.Context, actor access.Actor, id int64, reason string) (insolvencies.Insolvency, error){
			s.App.Insolvencies.AllowProcessing, s.App.Insolvencies.CloseClaims, s.App.Claims.CloseInsolvency, s.App.Insolvencies.Reinstate,
		} {
			if _, err := act(s.t.Context(), s.Actor, s.insolvency, "settled"); err != nil {
				s.t.Fatal(err)
			}
		}
	}, "proposal.opened insolvency.processing_allowed proposal.decided insolvency.claims_closed insolvency.closed proposal.opened " +
		"insolvency.reinstated proposal.decided"},
	{"it fails again, by mistake", func(s *story) {
		s.confirmed()
		if _, err := s.App.Claims.WithdrawInsolvency(s.t.Context(), s.Actor, s.insolvency, "a mistake"); err != nil {
			s.t.Fatal(err)
		}
	}, "insolvency.reported insolvency.confirmed insolvency.opened insolvency.withdrawn"},
}

// claimed takes a claim of the failed merchant through all its steps.
func (s *story) claimed() {
	s.t.Helper()
	ctx, room := s.t.Context(), s.App.Claims
	work := func() {
		s.t.Helper()
		s.Advance(time.Minute)
		for _, job := range []func(ctx context.Context) (bool, error){room.Make, room.Plan} {
			for more := true; more; {
				var err error
				if more, err = job(ctx); err != nil {
					s.t.Fatal(err)
				}
			}
		}
	}
	must := func(_ any, err error) {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
	}
	s.Advance(time.Hour)
	b := s.ReadBooking(s.paid.Payments[0].BookingID)
	s.Must(apptest.Linked(payment.Chargeback, s.paid, b, 5000))
	work()
	list, err := room.List(ctx, s.Actor, claims.Filter{}, store.Page{Number: 1, Size: 1, Offset: -1, OrderBy: store.OrderID})
	if err != nil || len(list.Items) != 1 {
		s.t.Fatalf("%+v, %v", list.Items, err)
	}
	id := list.Items[0].ID
	must(room.Reject(ctx, s.Actor, id, "no papers"))
	must(room.Reopen(ctx, s.Actor, id, "papers"))
	must(room.Withdraw(ctx, s.Actor, id, "recorded twice"))
	must(room.Reopen(ctx, s.Actor, id, "it was not"))
	must(room.Release(ctx, s.Actor, id, "the bond does not pay"))
	s.Must(apptest.Linked(payment.ChargebackReversal, s.paid, b, 1000))
	work()
	must(room.Assess(ctx, s.Actor, id, ""))
	must(room.Approve(ctx, s.Actor, id, ""))
	work()
	must(room.Failed(ctx, s.Actor, 1, "account closed"))
	work()
	must(room.Sign(ctx, s.Actor, 2))
	must(room.Paid(ctx, s.Actor, 2, "BANK-1"))
	kind, pounds, amount := claims.RecoveryKinds[0], money.Currency("GBP"), int64(500)
	made, err := room.Recover(ctx, s.Actor, claims.NewRecovery{InsolvencyID: &s.insolvency, Kind: &kind, Currency: &pounds, Amount: &amount})
	must(made, err)
	must(room.Cancel(ctx, s.Actor, made.ID, "another estate"))
}

// atProcessor is the story of a payment that a processor carries out.
var atProcessor = []chapter{
	{"a channel", func(*story) {}, "proposal.opened channel.created proposal.decided"},
	{"a payment that a shopper may not make", func(s *story) {
		made := s.processing.Challenge(s.Booking(s.processing.Channel, 1000, "2030-09-14"), 1000)
		s.processing.Gateway.Challenge(made.UUID, false)
		s.processing.ComeBack(made)
	}, "booking.created transaction.created transaction.failed"},
	{"a payment of which nobody knows the outcome", func(s *story) {
		s.processing.Gateway.Set(psp.Purchase, apptest.LostAfter)
		s.Must(apptest.Pay(payment.Purchase, s.Booking(s.processing.Channel, 1000, "2030-09-14"), 1000))
		s.processing.Minute()
	}, "booking.created transaction.created transaction.updated booking.paid transaction.completed protection.allocated"},
}

func day(t *testing.T, text string) civil.Day {
	t.Helper()
	d, err := civil.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// clock runs the jobs that follow the clock.
func (s *story) clock() {
	for _, play := range []func() (bool, error){
		func() (bool, error) { return s.App.Bookings.RecordCompleted(s.t.Context()) },
		func() (bool, error) { return s.App.Ends.Record(s.t.Context()) },
	} {
		if _, err := play(); err != nil {
			s.t.Fatal(err)
		}
	}
}

// news reads the new events of the feed.
func (s *story) news() []event.Event {
	s.t.Helper()
	page, err := s.App.Events.List(s.t.Context(), s.Actor, events.Filter{After: s.after, Size: events.MaxPage})
	if err != nil || page.More {
		s.t.Fatalf("more: %v, %v", page.More, err)
	}
	s.after = page.Next
	return page.Items
}

// TestTheStory creates events of each type, and checks the feed after each chapter. The chapters together have all
// types.
func TestTheStory(t *testing.T) {
	t.Parallel()
	for _, kind := range event.Types {
		if kind.Kind() == event.Webhook { // webhooks have their own story in their room
			continue
		}
		if !slices.ContainsFunc(slices.Concat(chapters, atProcessor), func(c chapter) bool {
			return slices.Contains(strings.Fields(c.want), string(kind))
		}) {
			t.Errorf("%s happens in no chapter", kind)
		}
	}
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) { (&story{World: w, t: t}).play(chapters) })
}

func TestTheStoryAtAProcessor(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		(&story{World: w.World, processing: w, t: t}).play(atProcessor)
	})
}

func (s *story) play(chapters []chapter) {
	service := api.New(s.App, api.Config{})
	for _, c := range chapters {
		c.play(s)
		happened := s.news()
		var got []string
		for _, e := range happened {
			got = append(got, string(e.Type))
		}
		if !slices.Equal(got, strings.Fields(c.want)) {
			s.t.Errorf("%s:\ngot  %s\nwant %s", c.name, strings.Join(got, " "), c.want)
		}
		shown, err := service.ShowEvents(s.t.Context(), s.Site.ID, happened)
		if err != nil {
			s.t.Fatalf("%s: %v", c.name, err)
		}
		for i, e := range happened {
			gone := bytes.HasSuffix(shown[i], []byte(`"object":null}`))
			if deleted := c.name == deleted && e.Type.Kind() == event.Booking; gone != deleted {
				s.t.Errorf("%s: %s is shown as %s", c.name, e.Type, shown[i])
			}
			if bytes.Contains(shown[i], []byte(`"channel_secret":"`)) {
				s.t.Errorf("%s shows a secret", e.Type)
			}
		}
	}
}
