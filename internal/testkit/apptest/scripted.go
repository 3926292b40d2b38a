package apptest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"holdfast/internal/domain/payment"
	"holdfast/internal/psp"
)

// Conduct is the outcome of the next call of an operation.
type Conduct int

// Outcomes of a call. An ordinary call is carried out and answered. An unreachable, declined or invalid one gets that
// response.
const (
	Ordinary   Conduct = iota
	LostBefore         // the request is lost: nothing happens, and the outcome is unknown
	LostAfter          // the request is carried out, but the response is lost
	Unreachable
	DieBefore // the program crashes before the request is sent
	DieAfter  // the program crashes before it has the response
	Declined
	challenged
	Invalid
)

// Scripted is a processor whose calls can all be interrupted. It records what really happened, to compare with the book.
type Scripted struct {
	mu      sync.Mutex
	next    map[psp.Operation]Conduct
	die     func()
	During  func() // called during each call
	charges map[string]*scriptedCharge
	Moves   []string // movements of money: operation, reference, amount
	Down    bool     // Find is unreachable
	Fatal   bool     // the program crashes before it has the next response of Find
	Finds   int
	News    []psp.Notice // returned by Events
}

type scriptedCharge struct {
	reference           string
	op                  psp.Operation
	amount, taken, held int64
	result              psp.Result
	disputes            []payment.Dispute
	adjustments         map[string]psp.Result
}

// NewScripted is a processor whose calls are ordinary unless changed with Set.
func NewScripted() *Scripted {
	return &Scripted{next: map[psp.Operation]Conduct{}, charges: map[string]*scriptedCharge{}, die: func() {}, During: func() {}}
}

// Set sets the outcome of the next call of an operation.
func (g *Scripted) Set(op psp.Operation, c Conduct) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next[op] = c
}

// Check accepts every account.
func (g *Scripted) Check(psp.Account) error { return nil }

// Authorize holds an amount on a card.
func (g *Scripted) Authorize(_ context.Context, c psp.Charge) (psp.Result, error) {
	return g.Charge(psp.Authorize, c)
}

// Purchase takes an amount from a card.
func (g *Scripted) Purchase(_ context.Context, c psp.Charge) (psp.Result, error) {
	return g.Charge(psp.Purchase, c)
}

// Capture captures a held amount.
func (g *Scripted) Capture(_ context.Context, a psp.Adjustment) (psp.Result, error) {
	return g.adjust(psp.Capture, a)
}

// Refund refunds a captured amount.
func (g *Scripted) Refund(_ context.Context, a psp.Adjustment) (psp.Result, error) {
	return g.adjust(psp.Refund, a)
}

// Void releases a held amount, or cancels a challenge.
func (g *Scripted) Void(_ context.Context, a psp.Adjustment) (psp.Result, error) {
	return g.adjust(psp.Void, a)
}

// Charge carries out a purchase or an authorisation, once for each reference.
func (g *Scripted) Charge(op psp.Operation, c psp.Charge) (psp.Result, error) {
	return g.cut(op, func(how Conduct) psp.Result {
		if before := g.charges[c.Reference]; before != nil {
			return before.result
		}
		made := &scriptedCharge{
			reference: c.Reference, op: op, amount: c.Amount, adjustments: map[string]psp.Result{},
			result: psp.Result{ProcessorID: "ch-" + c.Reference, Scheme: "visa", BIN: "424242", LastFour: "4242"},
		}
		g.charges[c.Reference] = made
		switch how {
		case Declined:
			made.result.Outcome, made.result.Decline, made.result.Message = psp.Declined, psp.DeclineFunds, "Insufficient funds."
		case challenged:
			made.result.Outcome = psp.Pending
			made.result.Challenge = &payment.Challenge{Type: "redirect", Value: "https://bank.example/challenge"}
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

// cut runs a call with the outcome that is set for it.
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

// Challenge completes the challenge of a charge.
func (g *Scripted) Challenge(reference string, passed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.charges[reference]
	c.result.ThreeDS = payment.ThreeDS{Status: "authenticated", Flow: "challenge", ECI: "05", Version: "2.2.0", DirectoryID: "ds-1", LiabilityShift: true}
	if passed {
		g.approve(c)
		return
	}
	c.result.ThreeDS = payment.ThreeDS{Status: "failed", Flow: "challenge", ECI: "07"}
	c.result.Outcome, c.result.Decline, c.result.Challenge = psp.Declined, psp.DeclineNotAuthenticated, nil
}

// Find returns the result of a charge or an adjustment.
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

// ReadEvent parses an event whose body is the reference of a charge.
func (g *Scripted) ReadEvent(_ psp.Account, e psp.Event) (psp.Notice, error) {
	if e.Signature != "signed" {
		return psp.Notice{}, &psp.Error{Source: psp.AtProcessor, Kind: psp.Forged, Message: "the signature is wrong"}
	}
	return psp.Notice{EventID: "ev-" + string(e.Body), Reference: string(e.Body)}, nil
}

// Events returns the news once.
func (g *Scripted) Events(_ context.Context, _ psp.Account, cursor string) ([]psp.Notice, string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	news := g.News
	g.News = nil
	return news, cursor + "+", nil
}

// Moved counts the movements of money.
func (g *Scripted) Moved() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.Moves)
}
