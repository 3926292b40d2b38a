package app_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/psp"
	"holdfast/internal/dbtest"
	"holdfast/internal/travel"
)

// conduct is what the next call of an operation is like.
type conduct int

const (
	ordinary   conduct = iota
	lostBefore         // the request is lost on the way: nothing happens, and nobody knows
	lostAfter          // it is carried out, and the answer is lost
	unreachable
	dieBefore // the program dies before the request is sent
	dieAfter  // it dies before it has the answer
	declined
	challenged
	invalid
)

// scripted is a processor whose every call can be cut. It keeps what really happened, to compare with what is on record.
type scripted struct {
	mu      sync.Mutex
	next    map[psp.Operation]conduct
	die     func()
	during  func() // while a call is under way
	charges map[string]*scriptedCharge
	moves   []string // what moved money: operation, reference, amount
	down    bool     // nobody can ask what became of anything
	fatal   bool     // the program dies before it has the next answer to such a question
	finds   int
	news    []psp.Hint // what Events gives
}

type scriptedCharge struct {
	reference           string
	op                  psp.Operation
	amount, taken, held int64
	result              psp.Result
	disputes            []psp.Dispute
	adjustments         map[string]psp.Result
	refused             map[string]bool // references that were asked for before they came
}

func newScripted() *scripted {
	return &scripted{next: map[psp.Operation]conduct{}, charges: map[string]*scriptedCharge{}, die: func() {}, during: func() {}}
}

func (g *scripted) Check(psp.Account) error { return nil }

func (g *scripted) Authorize(_ context.Context, c psp.Charge) (psp.Result, error) {
	return g.charge(psp.Authorize, c)
}

func (g *scripted) Purchase(_ context.Context, c psp.Charge) (psp.Result, error) {
	return g.charge(psp.Purchase, c)
}

func (g *scripted) Capture(_ context.Context, a psp.Adjustment) (psp.Result, error) {
	return g.adjust(psp.Capture, a)
}

func (g *scripted) Refund(_ context.Context, a psp.Adjustment) (psp.Result, error) {
	return g.adjust(psp.Refund, a)
}

func (g *scripted) Void(_ context.Context, a psp.Adjustment) (psp.Result, error) {
	return g.adjust(psp.Void, a)
}

// cut does what the script says around the act of a call.
func (g *scripted) cut(op psp.Operation, act func(c conduct) psp.Result) (psp.Result, error) {
	g.during()
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.next[op]
	delete(g.next, op)
	switch c {
	case lostBefore:
		return psp.Result{Outcome: psp.Unknown}, nil
	case unreachable:
		return psp.Result{}, &psp.Error{Source: psp.Network, Kind: psp.Unreachable, Message: "no route"}
	case invalid:
		return psp.Result{}, &psp.Error{Source: psp.AtTokenizer, Kind: psp.Invalid, Message: "There is no such token."}
	case dieBefore:
		g.die()
		return psp.Result{Outcome: psp.Unknown}, nil
	}
	result := act(c)
	switch c {
	case lostAfter:
		return psp.Result{Outcome: psp.Unknown}, nil
	case dieAfter:
		g.die()
	}
	return result, nil
}

func (g *scripted) charge(op psp.Operation, c psp.Charge) (psp.Result, error) {
	return g.cut(op, func(how conduct) psp.Result {
		if before := g.charges[c.Reference]; before != nil {
			return before.result
		}
		made := &scriptedCharge{
			reference: c.Reference, op: op, amount: c.Amount, adjustments: map[string]psp.Result{}, refused: map[string]bool{},
			result: psp.Result{ProcessorID: "ch-" + c.Reference, Scheme: "visa", BIN: "424242", LastFour: "4242"},
		}
		g.charges[c.Reference] = made
		switch how {
		case declined:
			made.result.Outcome, made.result.Decline, made.result.Message = psp.Declined, psp.DeclineFunds, "Insufficient funds."
		case challenged:
			made.result.Outcome = psp.Pending
			made.result.Challenge = &psp.Challenge{Type: "redirect", Value: "https://bank.example/challenge"}
		default:
			g.approve(made)
		}
		return made.result
	})
}

func (g *scripted) approve(c *scriptedCharge) {
	c.result.Outcome, c.result.Amount, c.result.Challenge, c.result.AuthCode = psp.Approved, c.amount, nil, "A1B2C3"
	if c.op == psp.Purchase {
		c.taken = c.amount
	} else {
		c.held = c.amount
	}
	g.moves = append(g.moves, fmt.Sprint(c.op, " ", c.reference, " ", c.amount))
}

// challenge ends the challenge of a charge.
func (g *scripted) challenge(reference string, passed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.charges[reference]
	c.result.ThreeDS = psp.ThreeDS{Status: "authenticated", Flow: "challenge", ECI: "05", Version: "2.2.0", DirectoryID: "ds-1", LiabilityShift: true}
	if passed {
		g.approve(c)
		return
	}
	c.result.ThreeDS = psp.ThreeDS{Status: "failed", Flow: "challenge", ECI: "07"}
	c.result.Outcome, c.result.Decline, c.result.Challenge = psp.Declined, psp.DeclineNotAuthenticated, nil
}

func (g *scripted) adjust(op psp.Operation, a psp.Adjustment) (psp.Result, error) {
	return g.cut(op, func(how conduct) psp.Result {
		c := g.charges[a.Original[len("ch-"):]]
		if before, ok := c.adjustments[a.Reference]; ok {
			return before
		}
		result := psp.Result{Outcome: psp.Approved, ProcessorID: "ad-" + a.Reference, Amount: a.Amount}
		switch {
		case how == declined || op == psp.Refund && a.Amount > c.taken || op != psp.Refund && a.Amount > c.held && c.result.Outcome != psp.Pending:
			result = psp.Result{Outcome: psp.Declined, Decline: psp.DeclineOther, Message: "No."}
		case op == psp.Refund:
			c.taken -= a.Amount
		case op == psp.Capture:
			c.held, c.taken = c.held-a.Amount, c.taken+a.Amount
		case c.result.Outcome == psp.Pending:
			c.result.Outcome, c.result.Decline, c.result.Challenge = psp.Declined, psp.DeclineAbandoned, nil
		default:
			c.held -= a.Amount
		}
		c.adjustments[a.Reference] = result
		if result.Outcome == psp.Approved {
			g.moves = append(g.moves, fmt.Sprint(op, " ", a.Reference, " ", a.Amount))
		}
		return result
	})
}

func (g *scripted) Find(_ context.Context, q psp.Query) (psp.Result, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.finds++
	if g.fatal {
		g.fatal = false
		g.die()
	}
	if g.down {
		return psp.Result{}, &psp.Error{Source: psp.Network, Kind: psp.Unreachable, Message: "no route"}
	}
	if q.Original != "" {
		if result, ok := g.charges[q.Original[len("ch-"):]].adjustments[q.Reference]; ok {
			return result, nil
		}
		return psp.Result{Outcome: psp.Absent}, nil
	}
	c := g.charges[q.Reference]
	if c == nil {
		return psp.Result{Outcome: psp.Absent}, nil
	}
	result := c.result
	result.Disputes = slices.Clone(c.disputes)
	return result, nil
}

func (g *scripted) ReadEvent(_ psp.Account, e psp.Event) (psp.Hint, error) {
	if e.Signature != "signed" {
		return psp.Hint{}, &psp.Error{Source: psp.AtProcessor, Kind: psp.Forged, Message: "the signature is wrong"}
	}
	return psp.Hint{EventID: "ev-" + string(e.Body), Reference: string(e.Body)}, nil
}

func (g *scripted) Events(_ context.Context, _ psp.Account, cursor string) ([]psp.Hint, string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	news := g.news
	g.news = nil
	return news, cursor + "+", nil
}

// set says what the next call of an operation is like.
func (g *scripted) set(op psp.Operation, c conduct) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next[op] = c
}

func (g *scripted) moved() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.moves)
}

// processing is a world in the server-to-server profile whose channel takes payments at a scripted processor.
type processing struct {
	*world
	gateway *scripted
	channel travel.Channel
	dead    bool
}

// onBothProcessing runs one test on each engine, over a live channel in pounds whose payments are protected.
func onBothProcessing(t *testing.T, test func(t *testing.T, w *processing)) {
	t.Helper()
	onBoth(t, func(t *testing.T, w *world) { test(t, newProcessing(t, w, travel.ModeLive)) })
}

func newProcessing(t *testing.T, w *world, mode travel.AccountMode) *processing {
	t.Helper()
	p := &processing{world: w, gateway: newScripted()}
	line, err := auth.NewSealKey(w.core.Random)
	if err != nil {
		t.Fatal(err)
	}
	w.core.Keys = func() (auth.SealKeys, error) { return auth.ParseSealKeys(line) }
	w.core.Profile = travel.ServerToServerProfile
	w.core.Gateways = map[string]psp.Gateway{"scripted": p.gateway}
	w.core.Processing.BaseURL = "https://holdfast.example"
	name, currency, account, yes := "Shop", w.site.Policy.Currency, travel.TypeProtected, true
	p.channel, err = w.app.Channels.Create(t.Context(), w.actor, travel.ChannelFields{
		Name: &name, Currency: &currency, Mode: &mode, AccountType: &account,
		Processing: travel.ProcessingFields{ServerToServer: &yes},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.app.Channels.SetGateway(t.Context(), w.actor, p.channel.ID, app.GatewayFields{
		Processor: "scripted", Credentials: app.Credentials{Key: "a-key", WebhookSecret: "a-secret"},
	}); err != nil {
		t.Fatal(err)
	}
	p.gateway.die = func() { p.dead = true; _ = p.core.Store.Close() }
	return p
}

// reopen starts the program again over the same database, after it died.
func (p *processing) reopen() {
	p.t.Helper()
	p.dead = false
	before := p.core
	p.core = &app.Core{
		Store: dbtest.Open(p.t, p.url, p.now), Clock: p.now, Random: before.Random, NewUUID: before.NewUUID, Log: before.Log, Cost: before.Cost,
		Profile: before.Profile, Gateways: before.Gateways, Processing: before.Processing, Keys: before.Keys,
	}
	p.app = app.New(p.core)
}

// minute lets a minute pass in which the jobs run. A program that dies meanwhile is started again.
func (p *processing) minute() {
	p.t.Helper()
	for range 12 {
		p.advance(5 * time.Second)
		p.jobs()
		if p.dead {
			p.reopen()
		}
	}
}

// jobs runs the jobs that talk to processors once.
func (p *processing) jobs() {
	p.t.Helper()
	for _, run := range []func(context.Context) (bool, error){
		p.app.Processing.Ask, p.app.Processing.ReadFeeds, p.app.Processing.FollowHints,
	} {
		for more := true; more; {
			var err error
			if more, err = run(p.t.Context()); err != nil && !p.dead {
				p.t.Fatal(err)
			}
		}
	}
}

// pay is a payment by card of a booking.
func pay(kind travel.TransactionType, b travel.Booking, total int64) travel.NewTransaction {
	in := report(kind, b, total)
	in.CardType, in.Token = "", "tok_visa"
	return in
}

func (p *processing) taken(reference string) (taken, held int64) {
	p.gateway.mu.Lock()
	defer p.gateway.mu.Unlock()
	if c := p.gateway.charges[reference]; c != nil {
		return c.taken, c.held
	}
	return 0, 0
}

func (p *processing) event(signature, body string, channel int64) app.ProcessorEvent {
	return app.ProcessorEvent{
		Processor: "scripted", SiteID: p.site.ID, ChannelID: channel, Signature: signature, Body: []byte(body),
	}
}
