package app_test

import (
	"errors"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// moveClock moves the clock of the world's site, and lets the actor act by it from then on.
func (w *world) moveClock(to time.Time) {
	w.t.Helper()
	if _, err := w.app.Clocks.Move(w.t.Context(), w.actor, to); err != nil {
		w.t.Fatal(err)
	}
	site, err := w.app.Sites.At(w.t.Context(), auth.System(0), w.site.Path)
	if err != nil {
		w.t.Fatal(err)
	}
	w.actor = app.SystemAt(site)
}

// wantReason fails the test unless err is a NotPossible fault with that reason.
func wantReason(t *testing.T, err error, reason, doing string) {
	t.Helper()
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.NotPossible || f.Reason != reason {
		t.Errorf("%s: %v, want the reason %s", doing, err, reason)
	}
}

func TestAClockMovesForwardInASandboxOnly(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.moveClock(began.Add(48 * time.Hour))
		got, err := w.app.Clocks.Show(t.Context(), w.actor)
		if want := (app.SiteTime{Sandbox: true, Now: began.Add(48 * time.Hour), Real: began}); err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
		_, err = w.app.Clocks.Move(t.Context(), w.actor, began.Add(47*time.Hour))
		wantReason(t, err, "clock_backwards", "moving it back")
		path, name, currency := "real", "Real", w.site.Policy.Currency
		real, err := w.app.Sites.Create(t.Context(), auth.System(0), travel.SiteFields{Path: &path, Name: &name, Currency: &currency})
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.app.Clocks.Move(t.Context(), auth.System(real.ID), began.Add(time.Hour))
		wantReason(t, err, "not_a_sandbox", "moving a real one")
		customer := w.actor
		customer.Role = auth.MemberAdmin
		_, err = w.app.Clocks.Move(t.Context(), customer, began.Add(96*time.Hour))
		wantKind(t, err, fault.Forbidden, "moving it as a customer")
	})
}

// otherSandbox makes a second sandbox, whose clock nobody moves.
func (w *world) otherSandbox() auth.Actor {
	w.t.Helper()
	path, name, currency := "other", "Other", w.site.Policy.Currency
	made, err := w.app.Sites.Create(w.t.Context(), auth.System(0),
		travel.SiteFields{Path: &path, Name: &name, Currency: &currency, Sandbox: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return app.SystemAt(made)
}

func TestProtectionFollowsTheClockOfItsSite(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.channel(travel.ModeProtectionOnly, "GBP")
		b := w.booking(c, 10000, "2024-06-20")
		bought := w.must(report(travel.Purchase, b, 10000))
		other := w.otherSandbox()
		if got := w.exposure(app.ExposureQuery{}); got.Total.E1 != 10000 || got.Query.AsOf != civil.DayOf(began) {
			t.Fatalf("E1 %d as of %s", got.Total.E1, got.Query.AsOf)
		}
		later := began.AddDate(0, 1, 0)
		w.moveClock(later)
		if got := w.exposure(app.ExposureQuery{}); got.Total.E1 != 0 || got.Total.E2 != 10000 || got.Query.AsOf != civil.DayOf(later) {
			t.Errorf("after travel: E1 %d, E2 %d as of %s", got.Total.E1, got.Total.E2, got.Query.AsOf)
		}
		if refund := w.must(linked(travel.Refund, bought, b, 100)); !refund.CreatedAt.Equal(later) || !refund.EffectiveAt.Equal(later) {
			t.Errorf("recorded at %s, effective at %s", refund.CreatedAt, refund.EffectiveAt)
		}
		before := app.ExposureQuery{Moment: app.Moment{KnownAt: began}}
		if got := w.exposure(before); got.Final {
			t.Error("what was known at the moment of the move is final at once")
		}
		w.advance(10 * time.Second)
		if got := w.exposure(before); !got.Final {
			t.Error("a month ago is not final")
		}
		got, err := w.app.Exposure.Report(t.Context(), other, app.ExposureQuery{})
		if err != nil || got.Query.AsOf != civil.DayOf(began) {
			t.Errorf("the other site is at %s, %v", got.Query.AsOf, err)
		}
	})
}

// TestAWriteUnderWayWhileTheClockMoves: a payment that begins before the clock is moved and becomes durable after it is
// in every report that counts as final, and on its statement.
func TestAWriteUnderWayWhileTheClockMoves(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		b := w.booking(w.channel(travel.ModeProtectionOnly, "GBP"), 200_000, "2024-12-31")
		before := app.ExposureQuery{Moment: app.Moment{AsOf: dayPtr(t, "2024-06-03"), KnownAt: began}}
		newUUID := w.core.NewUUID
		writing, goOn := make(chan bool), make(chan bool)
		w.core.NewUUID = func() string { // called in the middle of the write of a payment
			writing <- true
			<-goOn
			return newUUID()
		}
		logged, moved := make(chan error, 1), make(chan error, 1)
		go func() {
			_, _, err := w.app.Payments.Create(t.Context(), w.actor, report(travel.Purchase, b, 100_000))
			logged <- err
		}()
		<-writing
		w.core.NewUUID = newUUID
		go func() {
			_, err := w.app.Clocks.Move(t.Context(), w.actor, began.AddDate(0, 1, 0))
			moved <- err
		}()
		if w.core.Store.Engine() == "sqlite" { // one write at a time: the move waits for the payment
			goOn <- true
		}
		if err := <-moved; err != nil {
			t.Fatal(err)
		}
		stale := w.actor // of a caller that was read before the move
		w.actor.Ahead = began.AddDate(0, 1, 0).Sub(began)
		early := w.exposure(before)
		w.issue(0)
		if w.core.Store.Engine() == "postgres" {
			if early.Total.E1 != 0 {
				t.Errorf("what is under way is seen: %d", early.Total.E1)
			}
			goOn <- true
		}
		if err := <-logged; err != nil {
			t.Fatal(err)
		}
		if got := w.exposure(before); early.Final || got.Final || got.Total.E1 != 100_000 {
			t.Errorf("final %v, then %v with %d", early.Final, got.Final, got.Total.E1)
		}
		// Who was read before the move writes by the clock as it is now.
		late, _, err := w.app.Payments.Create(t.Context(), stale, report(travel.Purchase, b, 100))
		if err != nil || !late.CreatedAt.Equal(w.now().Add(w.actor.Ahead)) {
			t.Errorf("logged at %s, %v", late.CreatedAt, err)
		}
		w.advance(10 * time.Second)
		if got := w.exposure(before); !got.Final || got.Total.E1 != 100_000 {
			t.Errorf("ten seconds later: final %v, %d", got.Final, got.Total.E1)
		}
		w.issue(1)
		if lines := w.statementLines(w.statements(travel.StatementFilter{})[0].ID); len(lines) != 1 || lines[0].Amount != 1200 {
			t.Errorf("on the statement: %+v", lines)
		}
	})
}

func TestAuthorisationsExpireByTheClockOfTheirSite(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		authorise := func() travel.Transaction {
			b := w.booking(w.channel(travel.ModeProtectionOnly, "EUR"), 10000, "2024-09-14")
			return w.must(report(travel.Authorize, b, 1000))
		}
		moved := authorise()
		here := w.actor
		w.actor = w.otherSandbox()
		still := authorise()
		there := w.actor
		w.actor = here
		w.moveClock(began.Add(travel.AuthorisationLife))
		expire := func(want int) {
			t.Helper()
			if n, err := w.app.Payments.ExpireAuthorisations(t.Context()); n != want || err != nil {
				t.Errorf("%d expired, %v; want %d", n, err, want)
			}
		}
		expire(1)
		expire(0)
		if got := w.readTransaction(moved.ID); got.Status != travel.StatusExpired {
			t.Errorf("on the site ahead: %s", got.Status)
		}
		w.actor = there
		if got := w.readTransaction(still.ID); got.Status != travel.StatusComplete {
			t.Errorf("on the other: %s", got.Status)
		}
		w.advance(travel.AuthorisationLife)
		expire(1)
	})
}

func TestWhatIsPendingIsPricedByTheClockOfItsSite(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.moveClock(began.AddDate(0, 6, 0))
		b := w.booking(w.channel(travel.ModeProtectionOnly, "EUR"), 10000, "2025-09-14")
		w.must(report(travel.Purchase, b, 10000))
		if got := w.exposure(app.ExposureQuery{}); len(got.PendingRate) != 1 {
			t.Fatalf("pending: %+v", got.PendingRate)
		}
		w.fix("2024-12-02", map[money.Currency]string{"GBP": "0.85"})
		if got := w.exposure(app.ExposureQuery{Valuation: protection.Locked}); len(got.PendingRate) != 0 || got.Total.E1 != 8500 {
			t.Errorf("pending %+v, E1 %d", got.PendingRate, got.Total.E1)
		}
	})
}

func TestTokensAndLoginsFollowTheClockOfTheSite(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		other := w.otherSandbox()
		user, err := w.app.Accounts.CreateUser(ctx, w.actor,
			travel.UserFields{Username: "olga", Email: "o@example.com", Password: goodPassword}, auth.Operator, false)
		if err != nil {
			t.Fatal(err)
		}
		token := func(site auth.Actor) string {
			name, last := "Server", civil.DayOf(began)+9
			actor := actorOf(user, auth.Operator)
			actor.SiteID = site.SiteID
			_, text, err := w.app.Tokens.Create(ctx, actor, travel.TokenFields{Name: &name, Expires: &last})
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		here, there := token(w.actor), token(other)
		session, err := w.app.Sessions.Login(ctx, app.Login{Username: "olga", Password: goodPassword})
		if err != nil {
			t.Fatal(err)
		}
		try := func(path, bearer string, kind fault.Kind, doing string) {
			t.Helper()
			_, err := w.app.Sessions.Authenticate(ctx, path, bearer)
			wantKind(t, err, kind, doing)
		}
		w.advance(2 * time.Second) // a login and a move in one second have no order
		w.moveClock(w.now().Add(10 * time.Minute))
		try("demo", session.Token, fault.Internal, "a login of ten minutes ago")
		w.moveClock(w.now().Add(20 * time.Minute))
		try("demo", session.Token, fault.JWTInvalid, "a login of twenty minutes ago")
		try("other", session.Token, fault.Internal, "the same login elsewhere")
		w.moveClock(began.AddDate(0, 0, 10))
		w.advance(2 * time.Second)
		try("demo", here, fault.TokenInvalid, "a token past its last day")
		try("other", there, fault.Internal, "a token of the other site")
		again, err := w.app.Sessions.Login(ctx, app.Login{Username: "olga", Password: goodPassword, Path: "demo"})
		if err != nil {
			t.Fatal(err)
		}
		try("demo", again.Token, fault.Internal, "a login made since")
		w.advance(16 * time.Minute)
		try("demo", again.Token, fault.JWTInvalid, "the same when it is over")
		try("other", again.Token, fault.JWTInvalid, "the same elsewhere: no clock ahead makes it live longer")
	})
}
