package sandbox_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/domain/payment"
	"holdfast/internal/psp"
	"holdfast/internal/psp/sandbox"
	"holdfast/internal/testkit/dbtest"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

var account = psp.Account{Key: "sandbox-key-1", Now: noon}

// onBoth runs a test over a ledger on each engine.
func onBoth(t *testing.T, test func(t *testing.T, g *sandbox.Gateway)) {
	t.Helper()
	dbtest.OnBoth(t, func(t *testing.T, url string) {
		db := dbtest.Open(t, url, func() time.Time { return noon })
		test(t, sandbox.New(db, "http://bank.test"))
	})
}

func charge(token, reference string, amount int64) psp.Charge {
	return psp.Charge{
		Account: account, Reference: reference, Amount: amount, Currency: "EUR", Card: psp.Card{Token: token}, Descriptor: "Sunny Trips",
	}
}

func must(t *testing.T) func(r psp.Result, err error) psp.Result {
	return func(r psp.Result, err error) psp.Result {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// impatient is a caller who does not wait for an answer.
func impatient(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func luhn(number string) bool {
	sum := 0
	for i := range number {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

func TestCardsAreCards(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range sandbox.Cards {
		if !luhn(c.Number) || seen[c.Number] || seen[c.Token] || !strings.HasPrefix(c.Token, "tok_") || c.What == "" {
			t.Errorf("%s (%s) is no test card of its own", c.Number, c.Token)
		}
		seen[c.Number], seen[c.Token] = true, true
	}
}

func TestWhatEachCardDoes(t *testing.T) {
	type want struct {
		plain, authenticated psp.Outcome // without and with authentication
		decline              psp.Decline
		status, eci          string
		shift                bool
	}
	approved := want{psp.Approved, psp.Approved, "", "authenticated", "05", true}
	declined := func(why psp.Decline) want { return want{psp.Declined, psp.Declined, why, "authenticated", "05", true} }
	challenged := want{psp.Declined, psp.Pending, psp.DeclineAuthenticate, "", "", false}
	cases := map[string]want{
		"tok_visa": approved, "tok_amex": approved, "tok_discover": approved, "tok_diners": approved, "tok_jcb": approved,
		"tok_unionpay": approved, "tok_3ds_frictionless": approved, "tok_chargeback": approved, "tok_chargeback_won": approved,
		"tok_mastercard":               {psp.Approved, psp.Approved, "", "authenticated", "02", true},
		"tok_declined":                 declined(psp.DeclineGeneric),
		"tok_declined_funds":           declined(psp.DeclineFunds),
		"tok_declined_expired":         declined(psp.DeclineExpired),
		"tok_declined_code":            declined(psp.DeclineCode),
		"tok_declined_lost":            declined(psp.DeclineLost),
		"tok_declined_stolen":          declined(psp.DeclineStolen),
		"tok_declined_fraud":           declined(psp.DeclineFraud),
		"tok_declined_limit":           declined(psp.DeclineLimit),
		"tok_declined_processing":      declined(psp.DeclineProcessor),
		"tok_3ds_challenge":            challenged,
		"tok_3ds_challenge_mastercard": challenged,
		"tok_3ds_declined":             challenged,
		"tok_3ds_refused":              {psp.Declined, psp.Declined, psp.DeclineNotAuthenticated, "failed", "07", false},
		"tok_3ds_attempted":            {psp.Approved, psp.Approved, "", "attempted", "06", true},
		"tok_3ds_unavailable":          {psp.Approved, psp.Approved, "", "unavailable", "07", false},
		"tok_timeout":                  {psp.Unknown, psp.Unknown, "", "", "", false},
		"tok_answer_lost":              {psp.Unknown, psp.Unknown, "", "", "", false},
	}
	onBoth(t, func(t *testing.T, g *sandbox.Gateway) {
		for _, card := range sandbox.Cards {
			w, ok := cases[card.Token]
			if !ok {
				t.Errorf("%s is not tested", card.Token)
				continue
			}
			ctx := t.Context()
			if w.plain == psp.Unknown {
				ctx = impatient(t)
			}
			plain := must(t)(g.Purchase(ctx, charge(card.Token, "p-"+card.Token, 1000)))
			c := charge(card.Token, "a-"+card.Token, 1000)
			c.ReturnURL = "https://shop.test/back"
			secured := must(t)(g.Authorize(ctx, c))
			if plain.Outcome != w.plain || secured.Outcome != w.authenticated {
				t.Errorf("%s: %s and %s, want %s and %s", card.Token, plain.Outcome, secured.Outcome, w.plain, w.authenticated)
			}
			if plain.Outcome == psp.Declined {
				why := plain.Decline
				if card.Token == "tok_3ds_refused" {
					why = secured.Decline // without a way to authenticate the bank asks for one
				}
				if why != w.decline || plain.Message == "" || plain.Amount != 0 {
					t.Errorf("%s: %+v, want %s", card.Token, plain, w.decline)
				}
			}
			if s := secured.ThreeDS; s.Status != w.status || s.ECI != w.eci || s.LiabilityShift != w.shift {
				t.Errorf("%s: %+v, want %+v", card.Token, s, w)
			}
			if plain.Outcome == psp.Approved && (plain.Amount != 1000 || plain.BIN != card.BIN || plain.LastFour != card.LastFour ||
				plain.Scheme != card.Scheme || len(plain.AuthCode) != 6) {
				t.Errorf("%s: %+v", card.Token, plain)
			}
		}
	})
}

func TestAmountsDecideToo(t *testing.T) {
	onBoth(t, func(t *testing.T, g *sandbox.Gateway) {
		for i, want := range []psp.Decline{psp.DeclineGeneric, psp.DeclineFunds, psp.DeclineExpired, psp.DeclineCode} {
			amount := int64(400_001 + i)
			if r := must(t)(g.Purchase(t.Context(), charge("tok_visa", fmt.Sprint(amount), amount))); r.Decline != want {
				t.Errorf("%d: %+v, want %s", amount, r, want)
			}
		}
	})
}

func TestAnswersThatAreLost(t *testing.T) {
	onBoth(t, func(t *testing.T, g *sandbox.Gateway) {
		find := func(reference string) psp.Result {
			return must(t)(g.Find(t.Context(), psp.Query{Account: account, Operation: psp.Purchase, Reference: reference}))
		}
		must(t)(g.Purchase(impatient(t), charge("tok_answer_lost", "mute", 1000)))
		if r := find("mute"); r.Outcome != psp.Unknown && r.Outcome != psp.Approved && r.Outcome != psp.Absent {
			t.Errorf("mute: %+v", r)
		}
		// A patient caller: the charge exists, whatever the response.
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if r := must(t)(g.Purchase(ctx, charge("tok_answer_lost", "mute-2", 1000))); r.Outcome != psp.Unknown {
			t.Errorf("mute-2: %+v", r)
		}
		must(t)(g.Purchase(impatient(t), charge("tok_timeout", "silent", 1000)))
		if r := find("silent"); r.Outcome != psp.Absent {
			t.Errorf("silent: %+v", r)
		}
		// What was given up cannot come late.
		if _, err := g.Purchase(t.Context(), charge("tok_visa", "silent", 1000)); psp.KindOf(err) != psp.Invalid {
			t.Errorf("a late request was answered %v", err)
		}
	})
}

func TestTheSameReferenceMovesMoneyOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, g *sandbox.Gateway) {
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				if r, err := g.Authorize(t.Context(), charge("tok_visa", "same", 1000)); err != nil || r.Outcome != psp.Approved {
					t.Errorf("%+v, %v", r, err)
				}
				for _, part := range []string{"part-1", "part-2"} {
					a := psp.Adjustment{Account: account, Reference: part, Original: "sb_same", Amount: 500, Currency: "EUR"}
					if r, err := g.Capture(t.Context(), a); err != nil || r.Outcome != psp.Approved {
						t.Errorf("%s: %+v, %v", part, r, err)
					}
				}
			})
		}
		wait.Wait()
		more := psp.Adjustment{Account: account, Reference: "part-3", Original: "sb_same", Amount: 1, Currency: "EUR"}
		if r := must(t)(g.Capture(t.Context(), more)); r.Outcome != psp.Declined {
			t.Errorf("captured more than was authorised: %+v", r)
		}
	})
}

func TestAdjustments(t *testing.T) {
	onBoth(t, func(t *testing.T, g *sandbox.Gateway) {
		must(t)(g.Authorize(t.Context(), charge("tok_visa", "held", 1000)))
		steps := []struct {
			reference string
			call      func(context.Context, psp.Adjustment) (psp.Result, error)
			amount    int64
			want      psp.Outcome
		}{
			{"refund-0", g.Refund, 1, psp.Declined}, // nothing is taken yet
			{"capture-1", g.Capture, 600, psp.Approved},
			{"refund-1", g.Refund, 200, psp.Approved},
			{"refund-2", g.Refund, 401, psp.Declined},
			{"refund-3", g.Refund, 400, psp.Approved},
			{"void-1", g.Void, 400, psp.Approved},
			{"capture-2", g.Capture, 1, psp.Declined},
			{"refund-3", g.Refund, 400, psp.Approved}, // asked again
		}
		for _, s := range steps {
			a := psp.Adjustment{Account: account, Reference: s.reference, Original: "sb_held", Amount: s.amount, Currency: "EUR"}
			if r := must(t)(s.call(t.Context(), a)); r.Outcome != s.want {
				t.Errorf("%s: %+v, want %s", s.reference, r, s.want)
			}
		}
		q := psp.Query{Account: account, Operation: psp.Refund, Reference: "refund-3", Original: "sb_held"}
		if r := must(t)(g.Find(t.Context(), q)); r.Outcome != psp.Approved || r.Amount != 400 {
			t.Errorf("refund-3 is found as %+v", r)
		}
		q.Reference = "never"
		if r := must(t)(g.Find(t.Context(), q)); r.Outcome != psp.Absent {
			t.Errorf("what was never asked for is found as %+v", r)
		}
		late := psp.Adjustment{Account: account, Reference: "never", Original: "sb_held", Amount: 1, Currency: "EUR"}
		if _, err := g.Refund(t.Context(), late); psp.KindOf(err) != psp.Invalid {
			t.Errorf("a late request was answered %v", err)
		}
	})
}

func TestChargebacksGoByTheClock(t *testing.T) {
	onBoth(t, func(t *testing.T, g *sandbox.Gateway) {
		must(t)(g.Purchase(t.Context(), charge("tok_chargeback_won", "disputed", 1000)))
		must(t)(g.Refund(t.Context(), psp.Adjustment{
			Account: account, Reference: "refund", Original: "sb_disputed", Amount: 300, Currency: "EUR",
		}))
		_, cursor, err := g.Events(t.Context(), account, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			days   int
			events int
			state  payment.DisputeOutcome
		}{{2, 0, ""}, {3, 1, payment.DisputePending}, {4, 0, payment.DisputePending}, {10, 1, payment.DisputeWon}, {99, 0, payment.DisputeWon}} {
			later := account
			later.Now = noon.AddDate(0, 0, step.days)
			notices, next, err := g.Events(t.Context(), later, cursor)
			if err != nil || len(notices) != step.events {
				t.Fatalf("day %d: %v, %v", step.days, notices, err)
			}
			cursor = next
			r := must(t)(g.Find(t.Context(), psp.Query{Account: later, Operation: psp.Purchase, Reference: "disputed"}))
			state := payment.DisputeOutcome("")
			if len(r.Disputes) == 1 {
				if state = r.Disputes[0].Outcome; r.Disputes[0].Total != 700 {
					t.Errorf("day %d: %d is disputed, want what was not given back before", step.days, r.Disputes[0].Total)
				}
			}
			if state != step.state {
				t.Errorf("day %d: %q, want %q", step.days, state, step.state)
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	onBoth(t, func(t *testing.T, g *sandbox.Gateway) {
		live := charge("tok_visa", "live", 1000)
		live.Account.Live = true
		if _, err := g.Purchase(t.Context(), live); psp.KindOf(err) != psp.Refused {
			t.Errorf("a live card: %v", err)
		}
		if _, err := g.Purchase(t.Context(), charge("tok_nobody", "nobody", 1000)); psp.KindOf(err) != psp.Invalid {
			t.Errorf("an unknown token: %v", err)
		}
		a := psp.Adjustment{Account: account, Reference: "r", Original: "sb_nothing", Amount: 1, Currency: "EUR"}
		if _, err := g.Refund(t.Context(), a); psp.KindOf(err) != psp.Invalid {
			t.Errorf("a refund of nothing: %v", err)
		}
		if _, err := g.ReadEvent(account, psp.Event{Body: []byte("{}")}); psp.KindOf(err) != psp.Forged {
			t.Errorf("an event: %v", err)
		}
	})
}

func TestChallenges(t *testing.T) {
	onBoth(t, func(t *testing.T, g *sandbox.Gateway) {
		server := httptest.NewServer(g.Challenges())
		defer server.Close()
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		ask := func(token, reference string) (page string) {
			c := charge(token, reference, 123450)
			c.ReturnURL = "https://shop.test/back?order=7"
			r := must(t)(g.Purchase(t.Context(), c))
			if r.Outcome != psp.Pending || r.Challenge.Type != "redirect" {
				t.Fatalf("%+v", r)
			}
			return server.URL + strings.TrimPrefix(r.Challenge.Value, "http://bank.test")
		}
		find := func(reference string) psp.Result {
			return must(t)(g.Find(t.Context(), psp.Query{Account: account, Operation: psp.Purchase, Reference: reference}))
		}
		for _, c := range []struct {
			token, answer string
			want          psp.Outcome
			decline       psp.Decline
			status        string
		}{
			{"tok_3ds_challenge", "approve", psp.Approved, "", "authenticated"},
			{"tok_3ds_challenge_mastercard", "refuse", psp.Declined, psp.DeclineNotAuthenticated, "failed"},
			{"tok_3ds_declined", "approve", psp.Declined, psp.DeclineGeneric, "authenticated"},
		} {
			page := ask(c.token, "r-"+c.token)
			response, err := client.Get(page)
			if err != nil || response.StatusCode != http.StatusOK {
				t.Fatal(err, response)
			}
			_ = response.Body.Close()
			for _, answer := range []string{c.answer, "approve", "refuse"} { // the first one counts
				response, err := client.PostForm(page, url.Values{"answer": {answer}})
				if err != nil {
					t.Fatal(err)
				}
				_ = response.Body.Close()
				if to := response.Header.Get("Location"); response.StatusCode != http.StatusSeeOther || to != "https://shop.test/back?order=7" {
					t.Errorf("%s: %d to %q", c.token, response.StatusCode, to)
				}
			}
			if r := find("r-" + c.token); r.Outcome != c.want || r.Decline != c.decline || r.ThreeDS.Status != c.status || r.Challenge != nil {
				t.Errorf("%s: %+v", c.token, r)
			}
		}
		// Abandoned: the merchant gives up, and the page can no longer be answered.
		page := ask("tok_3ds_challenge", "left")
		must(t)(g.Void(t.Context(), psp.Adjustment{Account: account, Reference: "give-up", Original: "sb_left", Amount: 123450, Currency: "EUR"}))
		response, err := client.PostForm(page, url.Values{"answer": {"approve"}})
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if r := find("left"); r.Outcome != psp.Declined || r.Decline != psp.DeclineAbandoned {
			t.Errorf("left: %+v", r)
		}
		for path, want := range map[string]int{
			sandbox.ChallengePath + "nobody/nothing": http.StatusNotFound, "/sandbox/other": http.StatusNotFound,
		} {
			response, err := client.Get(server.URL + path)
			if err != nil || response.StatusCode != want {
				t.Errorf("%s: %v %v", path, response, err)
			}
			_ = response.Body.Close()
		}
	})
}
