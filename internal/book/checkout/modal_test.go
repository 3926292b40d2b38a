package checkout_test

import (
	"errors"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/book/bookings"
	"holdfast/internal/book/checkout"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/onboarding"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/psp"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

const shopOrigin = "https://shop.example"

// shop is a merchant's page, which opens the payment modal for payments of one channel.
type shop struct {
	*apptest.Processing
	t *testing.T
}

func onBothInShop(t *testing.T, test func(s shop)) {
	t.Helper()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		s := shop{w, t}
		s.permit(shopOrigin)
		test(s)
	})
}

func (s shop) permit(origins ...string) {
	s.t.Helper()
	if _, err := s.App.Sites.Change(s.t.Context(), s.Actor, s.Site.ID, merchant.SiteFields{PermittedURLs: &origins}); err != nil {
		s.t.Fatal(err)
	}
}

// vouched returns the fields of a payment and a current auth string for them.
func (s shop) vouched(total int64, more map[string]string) (fields map[string]string, authString string) {
	s.t.Helper()
	fields = map[string]string{
		"channels": strconv.FormatInt(s.Channel.ID, 10), "currencies": string(s.Channel.Currency), "total": strconv.FormatInt(total, 10),
	}
	maps.Copy(fields, more)
	channel, err := s.App.Channels.Get(s.t.Context(), s.Actor, s.Channel.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	secret, err := s.App.Channels.Secret(channel)
	if err != nil {
		s.t.Fatal(err)
	}
	return fields, secrets.ModalString(secret, fields, s.Now())
}

func (s shop) opening(fields map[string]string, authString string) checkout.ModalOpening {
	environment := checkout.ModalLive
	if s.Channel.Mode == merchant.ModeTest {
		environment = checkout.ModalTest
	}
	return checkout.ModalOpening{
		Path: s.Site.Path, Environment: environment, Origin: shopOrigin, Auth: authString, Fields: fields,
	}
}

func (s shop) open(fields map[string]string, authString string) checkout.ModalView {
	s.t.Helper()
	view, err := s.App.Modals.Open(s.t.Context(), s.opening(fields, authString))
	if err != nil {
		s.t.Fatal(err)
	}
	return view
}

func (s shop) enter(view checkout.ModalView) checkout.ModalUse {
	s.t.Helper()
	use, err := s.App.Modals.Enter(s.t.Context(), view.Token, true)
	if err != nil {
		s.t.Fatal(err)
	}
	return use
}

// traveller is the page's data about a booking in addition to the verified fields.
func traveller() booking.BookingFields {
	first, last, email, country, end := "Ada", "Lovelace", "ada@example.com", "PT", civil.Date(2026, 5, 1)
	return booking.BookingFields{Firstname: &first, Surname: &last, Email: &email, Country: &country, End: &end}
}

// book makes the booking of a session.
func (s shop) book(view checkout.ModalView) booking.Booking {
	s.t.Helper()
	b, created, err := s.App.Modals.Book(s.t.Context(), s.enter(view), traveller(), nil)
	if err != nil || !created {
		s.t.Fatal(created, err)
	}
	return b
}

func (s shop) pay(view checkout.ModalView, token string) (payment.Transaction, error) {
	use, err := s.App.Modals.Enter(s.t.Context(), view.Token, true)
	if err != nil {
		return payment.Transaction{}, err
	}
	t, _, err := s.App.Modals.Pay(s.t.Context(), use, checkout.ModalPayment{NewTransaction: payment.NewTransaction{Token: token}, Address: "192.0.2.1"})
	return t, err
}

// says checks that an error is of a kind and has a reason.
func (s shop) says(what string, err error, kind errs.Kind, reason string) {
	s.t.Helper()
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Kind != kind || f.Reason != reason {
		s.t.Errorf("%s: %+v, want kind %d, reason %q", what, err, kind, reason)
	}
}

func TestModalPaysOnce(t *testing.T) {
	onBothInShop(t, func(s shop) {
		fields, authString := s.vouched(9900, nil)
		first := s.open(fields, authString)
		b := s.book(first)
		views := []checkout.ModalView{first}
		for range 3 { // the same page, open in more windows
			view := s.open(fields, authString)
			if _, err := s.App.Modals.Booking(s.t.Context(), s.enter(view), b.ID); err != nil {
				s.t.Fatal(err)
			}
			views = append(views, view)
		}
		var running sync.WaitGroup
		failures := make([]error, 2*len(views))
		for i := range failures {
			running.Go(func() { _, failures[i] = s.pay(views[i/2], "tok_visa") })
		}
		running.Wait()
		paid := 0
		for _, err := range failures {
			switch f, _ := errors.AsType[*errs.Error](err); {
			case err == nil:
				paid++
			case f == nil || f.Reason != "attempt_open" && f.Reason != "already_paid" || f.Params["transaction_id"] == "":
				s.t.Errorf("another attempt: %v", err)
			}
		}
		if moved := s.Gateway.Moved(); paid != 1 || moved != 1 {
			s.t.Errorf("%d were paid, money moved %d times", paid, moved)
		}
		if got := s.ReadBooking(b.ID); got.Sums.Net != 9900 || got.ModalDraft {
			s.t.Errorf("the booking: %+v", got.Sums)
		}
	})
}

func TestModalAttemptsAreThreeRefusals(t *testing.T) {
	t.Parallel()
	onBothInShop(t, func(s shop) {
		fields, authString := s.vouched(9900, nil)
		view := s.open(fields, authString)
		b := s.book(view)
		for i := range 3 {
			s.Gateway.Set(psp.Purchase, apptest.Unreachable) // nothing happened: that is no attempt
			_, err := s.pay(view, "tok_visa")
			s.says("out of reach", err, errs.Unavailable, "")
			s.Gateway.Set(psp.Purchase, apptest.Declined)
			if made, err := s.pay(view, "tok_visa"); err != nil || made.Status != payment.StatusFailed {
				s.t.Errorf("attempt %d: %v, %v", i+1, made.Status, err)
			}
		}
		_, err := s.pay(view, "tok_visa")
		s.says("a fourth attempt", err, errs.NotPossible, "attempts_used")
		// Another window or a call to the API does not get around this; the merchant can still be paid in other ways.
		again := s.open(fields, authString)
		if _, err := s.App.Modals.Booking(s.t.Context(), s.enter(again), b.ID); err != nil {
			s.t.Fatal(err)
		}
		_, err = s.pay(again, "tok_visa")
		s.says("in another window", err, errs.NotPossible, "attempts_used")
		s.Advance(time.Second)
		fresh := s.open(s.vouched(9900, nil))
		if _, err := s.App.Modals.Booking(s.t.Context(), s.enter(fresh), b.ID); err != nil {
			s.t.Fatal(err)
		}
		if made, err := s.pay(fresh, "tok_visa"); err != nil || made.Status != payment.StatusComplete {
			s.t.Errorf("with another auth string: %v, %v", made.Status, err)
		}
	})
}

func TestModalSessionEnds(t *testing.T) {
	t.Parallel()
	onBothInShop(t, func(s shop) {
		view := s.open(s.vouched(9900, nil))
		b := s.book(view)
		enter := func(writes bool) error {
			_, err := s.App.Modals.Enter(s.t.Context(), view.Token, writes)
			return err
		}
		s.permit("https://elsewhere.example")
		s.says("of a page that may not any more", enter(true), errs.ModalAuth, "")
		if err := enter(false); err != nil {
			s.t.Errorf("what was begun: %v", err)
		}
		s.permit(shopOrigin)
		s.lock(true)
		s.says("of a locked channel", enter(true), errs.ModalAuth, "")
		_, err := s.App.Modals.Open(s.t.Context(), s.opening(s.vouched(9900, nil)))
		s.says("opening a locked channel", err, errs.ModalAuth, "")
		s.lock(false)
		// The clock of a sandbox is the site's own. A session lives longer than the auth string that opened it.
		moved := s.Now()
		for _, live := range []bool{true, false} {
			moved = moved.Add(16 * time.Minute)
			if _, err := s.App.Rates.MoveClock(s.t.Context(), s.Actor, moved); err != nil {
				s.t.Fatal(err)
			}
			if err := enter(true); (err == nil) != live {
				s.t.Errorf("at %v: %v", moved, err)
			}
		}
		s.says("after its time", enter(true), errs.ModalAuth, secrets.ModalExpired)
		use, err := s.App.Modals.Enter(s.t.Context(), view.Token, false)
		if err != nil || !use.Over {
			s.t.Errorf("to be followed to its end: %v", err)
		}
		if got, err := s.App.Modals.Booking(s.t.Context(), use, b.ID); err != nil || got.ID != b.ID {
			s.t.Errorf("its booking: %v", err)
		}
		_, err = s.App.Modals.Open(s.t.Context(), s.opening(s.vouched(9900, nil)))
		s.says("stamped by the real clock", err, errs.ModalAuth, secrets.ModalExpired)
		s.Advance(25 * time.Hour)
		if more, err := s.App.Modals.Forget(s.t.Context()); err != nil || more {
			s.t.Fatal(more, err)
		}
		s.says("forgotten", enter(false), errs.ModalAuth, "")
	})
}

// lock locks the channel, or unlocks it.
func (s shop) lock(locked bool) {
	s.t.Helper()
	err := s.App.DB.Store.Write(s.t.Context(), store.Deployment, func(tx *store.Tx) error {
		c, err := merchants.LockChannel(tx, s.Site.ID, s.Channel.ID)
		if err != nil {
			return err
		}
		c.Locked = locked
		_, err = merchants.UpdateChannel(tx, c)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestModalGoesOnWithAnotherAuthString: the page gets a new string, so that the shopper's input is not lost.
func TestModalGoesOnWithAnotherAuthString(t *testing.T) {
	t.Parallel()
	onBothInShop(t, func(s shop) {
		first := s.open(s.vouched(9900, nil))
		b := s.book(first)
		s.Advance(checkout.ModalLife + time.Second)
		_, err := s.pay(first, "tok_visa")
		s.says("with the first", err, errs.ModalAuth, secrets.ModalExpired)
		next := s.open(s.vouched(9900, nil))
		if _, err := s.App.Modals.Booking(s.t.Context(), s.enter(next), b.ID); err != nil {
			s.t.Fatal(err)
		}
		if made, err := s.pay(next, "tok_visa"); err != nil || made.Status != payment.StatusComplete {
			s.t.Errorf("with the next: %s, %v", made.Status, err)
		}
	})
}

// TestModalTakesTheChannelsEnvironment if the page has none, or an unknown one.
func TestModalTakesTheChannelsEnvironment(t *testing.T) {
	t.Parallel()
	onBothInShop(t, func(s shop) {
		for environment, reason := range map[string]string{"": "", "stage": "", "LIVE": "", checkout.ModalLive: "", checkout.ModalTest: "environment"} {
			in := s.opening(s.vouched(9900, nil))
			in.Environment = environment
			if _, err := s.App.Modals.Open(s.t.Context(), in); reason == "" && err != nil {
				s.t.Errorf("%q: %v", environment, err)
			} else if reason != "" {
				s.says(environment, err, errs.ModalAuth, reason)
			}
		}
	})
}

func TestModalReachesNoFurther(t *testing.T) {
	t.Parallel()
	onBothInShop(t, func(s shop) {
		fields, authString := s.vouched(9900, map[string]string{"email": "ada@example.com"})
		view := s.open(fields, authString)
		use := s.enter(view)
		ctx := s.t.Context()
		foreign := s.Booking(s.Channel, 9900, "2026-05-01") // of a person with another e-mail address
		_, err := s.App.Modals.Booking(ctx, use, foreign.ID)
		s.says("somebody's booking", err, errs.Invalid, "")
		b := s.book(view)
		use = s.enter(view)
		_, err = s.App.Modals.Booking(ctx, use, foreign.ID)
		s.says("another one", err, errs.ModalAuth, "other_booking")
		// Its actor is good for nothing else.
		for what, err := range map[string]error{
			"lists": second(s.App.Bookings.List(ctx, use.Actor, bookings.BookingFilter{}, store.Page{Number: 1, Size: 10, OrderBy: "id"})),
			"read":  second(s.App.Bookings.Get(ctx, use.Actor, b.ID)),
			"write": second(s.App.Bookings.Update(ctx, use.Actor, b.ID, booking.BookingFields{})),
			"trash": s.App.Bookings.Delete(ctx, use.Actor, b.ID, 0),
			"paid":  second(s.App.Payments.List(ctx, use.Actor, payments.TransactionFilter{}, store.Page{Number: 1, Size: 10, OrderBy: "id"})),
			"sites": second(s.App.Sites.Change(ctx, use.Actor, s.Site.ID, merchant.SiteFields{})),
		} {
			s.says(what, err, errs.Forbidden, "")
		}
		// One auth string allows ten bookings.
		for range 9 {
			s.book(s.open(fields, authString))
		}
		_, _, err = s.App.Modals.Book(ctx, s.enter(s.open(fields, authString)), traveller(), nil)
		s.says("an eleventh booking", err, errs.TooMany, "")
		for range 39 {
			s.open(fields, authString)
		}
		_, err = s.App.Modals.Open(ctx, s.opening(fields, authString))
		s.says("a fifty-first session", err, errs.TooMany, "")
	})
}

// second returns the error of a call with two results.
func second[T any](_ T, err error) error { return err }

// TestModalGuessersHoldNobodyUp: a valid auth string opens the modal, whatever was tried before. A wrong one writes
// nothing.
func TestModalGuessersHoldNobodyUp(t *testing.T) {
	t.Parallel()
	onBothInShop(t, func(s shop) {
		fields, authString := s.vouched(9900, nil)
		guess := s.opening(fields, strings.Repeat("0", 64)+authString[64:])
		for range 30 {
			_, err := s.App.Modals.Open(s.t.Context(), guess)
			s.says("a guess", err, errs.ModalAuth, "")
		}
		if _, err := s.App.Modals.Open(s.t.Context(), s.opening(fields, authString)); err != nil {
			s.t.Errorf("a right string after the guesses: %v", err)
		}
		var counted int64
		if err := s.App.DB.Store.Read(s.t.Context(), store.Deployment, func(tx *store.Tx) error {
			return tx.QueryRow(`SELECT COUNT(*) FROM login_attempts`, nil, &counted)
		}); err != nil || counted != 0 {
			s.t.Errorf("%d guesses are counted, %v", counted, err)
		}
	})
}

func TestModalTakesNumbersInHostedFields(t *testing.T) {
	t.Parallel()
	onBothInShop(t, func(s shop) {
		if view := s.open(s.vouched(9900, nil)); view.Tokenizer != checkout.NoCards {
			s.t.Errorf("without a tokenizer: %q", view.Tokenizer)
		}
		id, key := "123456789", "tokenizer-api-key-9f2c"
		if _, err := s.App.Channels.SetGateway(s.t.Context(), s.Actor, s.Channel.ID, onboarding.GatewayFields{
			Processor: "scripted", Credentials: merchants.Credentials{Key: "a-key", FieldsSecret: "a-secret-of-the-fields"},
			Tokenizer: merchant.ProcessorFields{TokenizerID: &id, TokenizerKey: &key},
		}); err != nil {
			s.t.Fatal(err)
		}
		view := s.open(s.vouched(9900, nil))
		want := psp.Tokenizer{ID: id, FieldsSecret: "a-secret-of-the-fields"}.Fields([]string{"https://holdfast.example", shopOrigin}, s.Now())
		if view.Tokenizer != checkout.HostedFields || view.Live || view.Fields != want {
			s.t.Errorf("%q, live %v: %+v", view.Tokenizer, view.Live, view.Fields)
		}
	})
}

func TestModalOfAProtectionOnlyTestChannel(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		gateway := apptest.NewScripted()
		w.With(func(cfg *app.Config) { cfg.Gateways = map[string]psp.Gateway{"sandbox": gateway} })
		w.With(func(cfg *app.Config) { cfg.Processing.BaseURL = "https://holdfast.example" })
		s := shop{&apptest.Processing{World: w, Gateway: gateway, Channel: w.Channel(merchant.ModeTest, "GBP")}, t}
		s.permit(shopOrigin)
		view := s.open(s.vouched(9900, nil))
		if view.Tokenizer != checkout.TestCards || view.Live {
			t.Errorf("%q, live %v", view.Tokenizer, view.Live)
		}
		b := s.book(view)
		gateway.Set(psp.Purchase, apptest.LostAfter)
		made, err := s.pay(view, "tok_visa")
		if err != nil || made.Status != payment.StatusIncomplete || made.PSP != "sandbox" {
			t.Fatalf("%s at %q, %v", made.Status, made.PSP, err)
		}
		// The job queries with the unconfigured account.
		s.Advance(time.Minute)
		s.Jobs()
		if got := s.ReadTransaction(made.ID); got.Status != payment.StatusComplete {
			t.Errorf("after the job: %s", got.Status)
		}
		// What a server reports on the same channel is logged as before.
		if got := s.Must(apptest.Report(payment.Purchase, s.Booking(s.Channel, 500, "2026-05-01"), 500)); got.GatewayCharge != nil {
			t.Errorf("a report went to %s", got.GatewayCharge.Processor)
		}
		if got := s.ReadBooking(b.ID); got.Unpaid() != 0 {
			t.Errorf("%d are unpaid", got.Unpaid())
		}
	})
}
