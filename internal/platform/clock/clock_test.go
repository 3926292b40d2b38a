package clock_test

import (
	"testing"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/account/sessions"
	"holdfast/internal/account/tokens"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/platform/clock"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
)

func TestAClockMovesForwardInASandboxOnly(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.MoveClock(apptest.Began.Add(48 * time.Hour))
		got, err := w.App.Clocks.Show(t.Context(), w.Actor)
		if want := (clock.Time{Sandbox: true, Now: apptest.Began.Add(48 * time.Hour), Real: apptest.Began}); err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
		_, err = w.App.Rates.MoveClock(t.Context(), w.Actor, apptest.Began.Add(47*time.Hour))
		apptest.WantReason(t, err, "clock_backwards", "moving it back")
		path, name, currency := "real", "Real", w.Site.Policy.Currency
		real, err := w.App.Sites.Create(t.Context(), access.System(0), merchant.SiteFields{Path: &path, Name: &name, Currency: &currency})
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.App.Rates.MoveClock(t.Context(), access.System(real.ID), apptest.Began.Add(time.Hour))
		apptest.WantReason(t, err, "not_a_sandbox", "moving a real one")
		customer := w.Actor
		customer.Role = access.MemberAdmin
		_, err = w.App.Rates.MoveClock(t.Context(), customer, apptest.Began.Add(96*time.Hour))
		apptest.WantKind(t, err, errs.Forbidden, "moving it as a customer")
	})
}

func TestProtectionFollowsTheClockOfItsSite(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		b := w.Booking(c, 10000, "2024-06-20")
		bought := w.Must(apptest.Report(payment.Purchase, b, 10000))
		other := w.OtherSandbox()
		if got := w.Exposure(report.ExposureQuery{}); got.Total.E1 != 10000 || got.Query.AsOf != civil.DayOf(apptest.Began) {
			t.Fatalf("E1 %d as of %s", got.Total.E1, got.Query.AsOf)
		}
		later := apptest.Began.AddDate(0, 1, 0)
		w.MoveClock(later)
		if got := w.Exposure(report.ExposureQuery{}); got.Total.E1 != 0 || got.Total.E2 != 10000 || got.Query.AsOf != civil.DayOf(later) {
			t.Errorf("after travel: E1 %d, E2 %d as of %s", got.Total.E1, got.Total.E2, got.Query.AsOf)
		}
		if refund := w.Must(apptest.Linked(payment.Refund, bought, b, 100)); !refund.CreatedAt.Equal(later) || !refund.EffectiveAt.Equal(later) {
			t.Errorf("recorded at %s, effective at %s", refund.CreatedAt, refund.EffectiveAt)
		}
		before := report.ExposureQuery{Moment: ledger.Moment{KnownAt: apptest.Began}}
		if got := w.Exposure(before); got.Final {
			t.Error("what was known at the moment of the move is final at once")
		}
		w.Advance(10 * time.Second)
		if got := w.Exposure(before); !got.Final {
			t.Error("a month ago is not final")
		}
		got, err := w.App.Exposure.Report(t.Context(), other, report.ExposureQuery{})
		if err != nil || got.Query.AsOf != civil.DayOf(apptest.Began) {
			t.Errorf("the other site is at %s, %v", got.Query.AsOf, err)
		}
	})
}

// TestAWriteUnderWayWhileTheClockMoves: a payment that begins before the clock is moved and becomes durable afterwards
// is in every final report, and on its statement.
func TestAWriteUnderWayWhileTheClockMoves(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 200_000, "2024-12-31")
		before := report.ExposureQuery{Moment: ledger.Moment{AsOf: apptest.DayPtr(t, "2024-06-03"), KnownAt: apptest.Began}}
		newUUID := w.App.Payments.NewUUID
		writing, goOn := make(chan bool), make(chan bool)
		w.App.Payments.NewUUID = func() string { // called in the middle of the write of a payment
			writing <- true
			<-goOn
			return newUUID()
		}
		logged, moved := make(chan error, 1), make(chan error, 1)
		go func() {
			_, _, err := w.App.Payments.Create(t.Context(), w.Actor, apptest.Report(payment.Purchase, b, 100_000))
			logged <- err
		}()
		<-writing
		w.App.Payments.NewUUID = newUUID
		go func() {
			_, err := w.App.Rates.MoveClock(t.Context(), w.Actor, apptest.Began.AddDate(0, 1, 0))
			moved <- err
		}()
		if w.App.DB.Store.Engine() == "sqlite" { // one write at a time: the move waits for the payment
			goOn <- true
		}
		if err := <-moved; err != nil {
			t.Fatal(err)
		}
		stale := w.Actor // of a caller that was read before the move
		w.Actor.Ahead = apptest.Began.AddDate(0, 1, 0).Sub(apptest.Began)
		early := w.Exposure(before)
		w.Issue(0)
		if w.App.DB.Store.Engine() == "postgres" {
			if early.Total.E1 != 0 {
				t.Errorf("what is under way is seen: %d", early.Total.E1)
			}
			goOn <- true
		}
		if err := <-logged; err != nil {
			t.Fatal(err)
		}
		if got := w.Exposure(before); early.Final || got.Final || got.Total.E1 != 100_000 {
			t.Errorf("final %v, then %v with %d", early.Final, got.Final, got.Total.E1)
		}
		// A caller read before the move writes by the current clock.
		late, _, err := w.App.Payments.Create(t.Context(), stale, apptest.Report(payment.Purchase, b, 100))
		if err != nil || !late.CreatedAt.Equal(w.Now().Add(w.Actor.Ahead)) {
			t.Errorf("logged at %s, %v", late.CreatedAt, err)
		}
		w.Advance(10 * time.Second)
		if got := w.Exposure(before); !got.Final || got.Total.E1 != 100_000 {
			t.Errorf("ten seconds later: final %v, %d", got.Final, got.Total.E1)
		}
		w.Issue(1)
		if lines := w.StatementLines(w.Statements(statements.StatementFilter{})[0].ID); len(lines) != 1 || lines[0].Amount != 1200 {
			t.Errorf("on the statement: %+v", lines)
		}
	})
}

func TestAuthorisationsExpireByTheClockOfTheirSite(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		authorise := func() payment.Transaction {
			b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 10000, "2024-09-14")
			return w.Must(apptest.Report(payment.Authorize, b, 1000))
		}
		moved := authorise()
		here := w.Actor
		w.Actor = w.OtherSandbox()
		still := authorise()
		there := w.Actor
		w.Actor = here
		w.MoveClock(apptest.Began.Add(apptest.AuthorisationLife))
		expire := func(want int) {
			t.Helper()
			if n, err := w.App.Payments.ExpireAuthorisations(t.Context()); n != want || err != nil {
				t.Errorf("%d expired, %v; want %d", n, err, want)
			}
		}
		expire(1)
		expire(0)
		if got := w.ReadTransaction(moved.ID); got.Status != payment.StatusExpired {
			t.Errorf("on the site ahead: %s", got.Status)
		}
		asked := authorise()
		w.MoveClock(apptest.Began.Add(2 * apptest.AuthorisationLife))
		if got := w.ReadTransaction(asked.ID); got.Status != payment.StatusExpired {
			t.Errorf("on the site ahead, before the job: %s", got.Status)
		}
		w.Actor = there
		if got := w.ReadTransaction(still.ID); got.Status != payment.StatusComplete {
			t.Errorf("on the other: %s", got.Status)
		}
		w.Advance(apptest.AuthorisationLife)
		expire(1)
	})
}

func TestWhatIsPendingIsPricedByTheClockOfItsSite(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.MoveClock(apptest.Began.AddDate(0, 6, 0))
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 10000, "2025-09-14")
		w.Must(apptest.Report(payment.Purchase, b, 10000))
		if got := w.Exposure(report.ExposureQuery{}); len(got.PendingRate) != 1 {
			t.Fatalf("pending: %+v", got.PendingRate)
		}
		w.Fix("2024-12-02", map[money.Currency]string{"GBP": "0.85"})
		if got := w.Exposure(report.ExposureQuery{Valuation: exposure.Locked}); len(got.PendingRate) != 0 || got.Total.E1 != 8500 {
			t.Errorf("pending %+v, E1 %d", got.PendingRate, got.Total.E1)
		}
	})
}

func TestTokensAndLoginsFollowTheClockOfTheSite(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		ctx := t.Context()
		other := w.OtherSandbox()
		user, err := w.App.Accounts.CreateUser(ctx, w.Actor,
			people.UserFields{Username: "olga", Email: "o@example.com", Password: apptest.GoodPassword}, access.Operator, false)
		if err != nil {
			t.Fatal(err)
		}
		token := func(site access.Actor) string {
			name, last := "Server", civil.DayOf(apptest.Began)+9
			actor := apptest.ActorOf(user, access.Operator)
			actor.SiteID = site.SiteID
			_, text, err := w.App.Tokens.Create(ctx, actor, tokens.TokenFields{Name: &name, Expires: &last})
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		here, there := token(w.Actor), token(other)
		session, err := w.App.Sessions.Login(ctx, sessions.Login{Username: "olga", Password: apptest.GoodPassword})
		if err != nil {
			t.Fatal(err)
		}
		try := func(path, bearer string, kind errs.Kind, doing string) {
			t.Helper()
			_, err := w.App.Sessions.Authenticate(ctx, path, bearer, "")
			apptest.WantKind(t, err, kind, doing)
		}
		w.Advance(2 * time.Second) // a login and a move in one second have no order
		w.MoveClock(w.Now().Add(10 * time.Minute))
		try("demo", session.Token, errs.Internal, "a login of ten minutes ago")
		w.MoveClock(w.Now().Add(20 * time.Minute))
		try("demo", session.Token, errs.JWTInvalid, "a login of twenty minutes ago")
		try("other", session.Token, errs.Internal, "the same login elsewhere")
		w.MoveClock(apptest.Began.AddDate(0, 0, 10))
		w.Advance(2 * time.Second)
		try("demo", here, errs.TokenInvalid, "a token past its last day")
		try("other", there, errs.Internal, "a token of the other site")
		again, err := w.App.Sessions.Login(ctx, sessions.Login{Username: "olga", Password: apptest.GoodPassword, Path: "demo"})
		if err != nil {
			t.Fatal(err)
		}
		try("demo", again.Token, errs.Internal, "a login made since")
		w.Advance(16 * time.Minute)
		try("demo", again.Token, errs.JWTInvalid, "the same when it is over")
		try("other", again.Token, errs.JWTInvalid, "the same elsewhere: no clock ahead makes it live longer")
	})
}
