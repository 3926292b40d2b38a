package apptest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/dbtest"
	"holdfast/internal/merchants"
	"holdfast/internal/payments"
	"holdfast/internal/psp"
	"holdfast/internal/travel"
)

// Conduct is what the next call of an operation is like.
type Conduct int

const (
	Ordinary   Conduct = iota
	LostBefore         // the request is lost on the way: nothing happens, and nobody knows
	LostAfter          // it is carried out, and the answer is lost
	Unreachable
	DieBefore // the program dies before the request is sent
	DieAfter  // it dies before it has the answer
	Declined
	challenged
	Invalid
)

// Scripted is a processor whose every call can be cut. It keeps what really happened, to compare with what is on record.
type Scripted struct {
	mu      sync.Mutex
	next    map[psp.Operation]Conduct
	die     func()
	During  func() // while a call is under way
	charges map[string]*scriptedCharge
	Moves   []string // what moved money: operation, reference, amount
	Down    bool     // nobody can ask what became of anything
	Fatal   bool     // the program dies before it has the next answer to such a question
	Finds   int
	News    []psp.Hint // what Events gives
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

func NewScripted() *Scripted {
	return &Scripted{next: map[psp.Operation]Conduct{}, charges: map[string]*scriptedCharge{}, die: func() {}, During: func() {}}
}

func (g *Scripted) Check(psp.Account) error { return nil }

func (g *Scripted) Authorize(_ context.Context, c psp.Charge) (psp.Result, error) {
	return g.Charge(psp.Authorize, c)
}

func (g *Scripted) Purchase(_ context.Context, c psp.Charge) (psp.Result, error) {
	return g.Charge(psp.Purchase, c)
}

func (g *Scripted) Capture(_ context.Context, a psp.Adjustment) (psp.Result, error) {
	return g.adjust(psp.Capture, a)
}

func (g *Scripted) Refund(_ context.Context, a psp.Adjustment) (psp.Result, error) {
	return g.adjust(psp.Refund, a)
}

func (g *Scripted) Void(_ context.Context, a psp.Adjustment) (psp.Result, error) {
	return g.adjust(psp.Void, a)
}

// cut does what the script says around the act of a call.
func (g *Scripted) cut(op psp.Operation, act func(c Conduct) psp.Result) (psp.Result, error) {
	g.During()
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.next[op]
	delete(g.next, op)
	switch c {
	case LostBefore:
		return psp.Result{Outcome: psp.Unknown}, nil
	case Unreachable:
		return psp.Result{}, &psp.Error{Source: psp.Network, Kind: psp.Unreachable, Message: "no route"}
	case Invalid:
		return psp.Result{}, &psp.Error{Source: psp.AtTokenizer, Kind: psp.Invalid, Message: "There is no such token."}
	case DieBefore:
		g.die()
		return psp.Result{Outcome: psp.Unknown}, nil
	}
	result := act(c)
	switch c {
	case LostAfter:
		return psp.Result{Outcome: psp.Unknown}, nil
	case DieAfter:
		g.die()
	}
	return result, nil
}

func (g *Scripted) Charge(op psp.Operation, c psp.Charge) (psp.Result, error) {
	return g.cut(op, func(how Conduct) psp.Result {
		if before := g.charges[c.Reference]; before != nil {
			return before.result
		}
		made := &scriptedCharge{
			reference: c.Reference, op: op, amount: c.Amount, adjustments: map[string]psp.Result{}, refused: map[string]bool{},
			result: psp.Result{ProcessorID: "ch-" + c.Reference, Scheme: "visa", BIN: "424242", LastFour: "4242"},
		}
		g.charges[c.Reference] = made
		switch how {
		case Declined:
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

func (g *Scripted) approve(c *scriptedCharge) {
	c.result.Outcome, c.result.Amount, c.result.Challenge, c.result.AuthCode = psp.Approved, c.amount, nil, "A1B2C3"
	if c.op == psp.Purchase {
		c.taken = c.amount
	} else {
		c.held = c.amount
	}
	g.Moves = append(g.Moves, fmt.Sprint(c.op, " ", c.reference, " ", c.amount))
}

// Challenge ends the challenge of a charge.
func (g *Scripted) Challenge(reference string, passed bool) {
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

func (g *Scripted) adjust(op psp.Operation, a psp.Adjustment) (psp.Result, error) {
	return g.cut(op, func(how Conduct) psp.Result {
		c := g.charges[a.Original[len("ch-"):]]
		if before, ok := c.adjustments[a.Reference]; ok {
			return before
		}
		result := psp.Result{Outcome: psp.Approved, ProcessorID: "ad-" + a.Reference, Amount: a.Amount}
		switch {
		case how == Declined || op == psp.Refund && a.Amount > c.taken || op != psp.Refund && a.Amount > c.held && c.result.Outcome != psp.Pending:
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
			g.Moves = append(g.Moves, fmt.Sprint(op, " ", a.Reference, " ", a.Amount))
		}
		return result
	})
}

func (g *Scripted) Find(_ context.Context, q psp.Query) (psp.Result, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Finds++
	if g.Fatal {
		g.Fatal = false
		g.die()
	}
	if g.Down {
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

func (g *Scripted) ReadEvent(_ psp.Account, e psp.Event) (psp.Hint, error) {
	if e.Signature != "signed" {
		return psp.Hint{}, &psp.Error{Source: psp.AtProcessor, Kind: psp.Forged, Message: "the signature is wrong"}
	}
	return psp.Hint{EventID: "ev-" + string(e.Body), Reference: string(e.Body)}, nil
}

func (g *Scripted) Events(_ context.Context, _ psp.Account, cursor string) ([]psp.Hint, string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	news := g.News
	g.News = nil
	return news, cursor + "+", nil
}

// Set says what the next call of an operation is like.
func (g *Scripted) Set(op psp.Operation, c Conduct) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next[op] = c
}

func (g *Scripted) Moved() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.Moves)
}

// Processing is a world in the server-to-server profile whose channel takes payments at a scripted processor.
type Processing struct {
	*World
	Gateway *Scripted
	Channel travel.Channel
	Dead    bool
}

// OnBothProcessing runs one test on each engine, over a live channel in pounds whose payments are protected.
func OnBothProcessing(t *testing.T, test func(t *testing.T, w *Processing)) {
	t.Helper()
	OnBoth(t, func(t *testing.T, w *World) { test(t, NewProcessing(t, w, travel.ModeLive)) })
}

func NewProcessing(t *testing.T, w *World, mode travel.AccountMode) *Processing {
	t.Helper()
	p := &Processing{World: w, Gateway: NewScripted()}
	line, err := auth.NewSealKey(w.Core.Random)
	if err != nil {
		t.Fatal(err)
	}
	w.Core.Keys = func() (auth.SealKeys, error) { return auth.ParseSealKeys(line) }
	w.Core.Profile = travel.ServerToServerProfile
	w.Core.Gateways = map[string]psp.Gateway{"scripted": p.Gateway}
	w.Core.Processing.BaseURL = "https://holdfast.example"
	name, currency, account, yes := "Shop", w.Site.Policy.Currency, travel.TypeProtected, true
	p.Channel, err = w.App.Channels.Create(t.Context(), w.Actor, travel.ChannelFields{
		Name: &name, Currency: &currency, Mode: &mode, AccountType: &account,
		Processing: travel.ProcessorFields{ServerToServer: &yes},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.App.Channels.SetGateway(t.Context(), w.Actor, p.Channel.ID, merchants.GatewayFields{
		Processor: "scripted", Credentials: merchants.Credentials{Key: "a-key", WebhookSecret: "a-secret"},
	}); err != nil {
		t.Fatal(err)
	}
	p.Gateway.die = func() { p.Dead = true; _ = p.Core.Store.Close() }
	return p
}

// Reopen starts the program again over the same database, after it died.
func (p *Processing) Reopen() {
	p.t.Helper()
	p.Dead = false
	before := p.Core
	p.Core = &core.Core{
		Store: dbtest.Open(p.t, p.URL, p.Now), Clock: p.Now, Random: before.Random, NewUUID: before.NewUUID, Log: before.Log, Cost: before.Cost,
		Profile: before.Profile, Gateways: before.Gateways, Processing: before.Processing, Keys: before.Keys,
	}
	p.App = app.New(p.Core)
}

// Minute lets a minute pass in which the jobs run. A program that dies meanwhile is started again.
func (p *Processing) Minute() {
	p.t.Helper()
	for range 12 {
		p.Advance(5 * time.Second)
		p.Jobs()
		if p.Dead {
			p.Reopen()
		}
	}
}

// Jobs runs the jobs that talk to processors once.
func (p *Processing) Jobs() {
	p.t.Helper()
	for _, run := range []func(context.Context) (bool, error){
		p.App.GatewayPayments.Ask, p.App.GatewayPayments.ReadFeeds, p.App.GatewayPayments.FollowHints,
	} {
		for more := true; more; {
			var err error
			if more, err = run(p.t.Context()); err != nil && !p.Dead {
				p.t.Fatal(err)
			}
		}
	}
}

// Pay is a payment by card of a booking.
func Pay(kind travel.TransactionType, b travel.Booking, total int64) travel.NewTransaction {
	in := Report(kind, b, total)
	in.CardType, in.Token = "", "tok_visa"
	return in
}

func (p *Processing) Taken(reference string) (taken, held int64) {
	p.Gateway.mu.Lock()
	defer p.Gateway.mu.Unlock()
	if c := p.Gateway.charges[reference]; c != nil {
		return c.taken, c.held
	}
	return 0, 0
}

func (p *Processing) Event(signature, body string, channel int64) payments.ProcessorEvent {
	return payments.ProcessorEvent{
		Processor: "scripted", SiteID: p.Site.ID, ChannelID: channel, Signature: signature, Body: []byte(body),
	}
}
