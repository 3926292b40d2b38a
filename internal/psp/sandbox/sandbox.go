// Package sandbox is a card processor inside the program, for tests and demos. The card or the amount alone
// determines the outcome of a payment. No money moves. Card numbers never get here, because each test card has a
// token. It owns the table sandbox_charges. Start reading at New.
package sandbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"holdfast/internal/domain/payment"
	"holdfast/internal/psp"
	"holdfast/internal/store"
)

// Name is the name of the processor: the value of psp (section 2.6).
const Name = "sandbox"

// Gateway is the processor.
type Gateway struct {
	db      *store.DB
	baseURL string
}

// New makes the processor. The addresses of its challenges begin with baseURL.
func New(db *store.DB, baseURL string) *Gateway { return &Gateway{db: db, baseURL: baseURL} }

var _ psp.Gateway = (*Gateway)(nil)

// accountOf makes a name for an account that does not show its key.
func accountOf(a psp.Account) string {
	sum := sha256.Sum256([]byte("holdfast sandbox account\n" + a.Key))
	return hex.EncodeToString(sum[:16])
}

// idPrefix begins the ids of the processor.
const idPrefix = "sb_"

// Check refuses live cards and an account without a key.
func (g *Gateway) Check(a psp.Account) error {
	switch {
	case a.Live:
		return &psp.Error{Source: psp.AtProcessor, Kind: psp.Refused, Message: "The sandbox does not accept live cards."}
	case a.Key == "":
		return &psp.Error{Source: psp.AtProcessor, Kind: psp.Refused, Message: "The sandbox account has no key."}
	}
	return nil
}

// Authorize holds an amount on a test card.
func (g *Gateway) Authorize(ctx context.Context, c psp.Charge) (psp.Result, error) {
	return g.charge(ctx, psp.Authorize, c)
}

// Purchase takes an amount from a test card.
func (g *Gateway) Purchase(ctx context.Context, c psp.Charge) (psp.Result, error) {
	return g.charge(ctx, psp.Purchase, c)
}

func (g *Gateway) charge(ctx context.Context, op psp.Operation, c psp.Charge) (psp.Result, error) {
	if err := g.Check(c.Account); err != nil {
		return psp.Result{}, err
	}
	card, ok := CardOf(c.Card.Token)
	if !ok {
		return psp.Result{}, &psp.Error{
			Source: psp.AtTokenizer, Kind: psp.Invalid, Code: "unknown_token",
			Message: "This token is not of a test card. The sandbox only accepts test cards.",
		}
	}
	does := conductOf(card, c.Amount)
	if does.silent {
		return lost(ctx)
	}
	var result psp.Result
	at := key{accountOf(c.Account), c.Reference}
	err := g.change(ctx, at, func(e *entry) error {
		switch e.State {
		case refusedFor:
			return tooLate()
		case none:
			e.take(op, c)
			g.decide(e, at, card, does)
		}
		result = e.Result
		return nil
	})
	if psp.KindOf(err) != "" {
		return psp.Result{}, err
	}
	if err != nil || does.mute {
		return unknown(ctx, does.mute, err)
	}
	return result, nil
}

// lost is the result of a request without an answer.
func lost(ctx context.Context) (psp.Result, error) { return unknown(ctx, true, nil) }

// unknown is the result of a request that may have moved money. With wait it returns only when the caller gives up.
func unknown(ctx context.Context, wait bool, err error) (psp.Result, error) {
	if wait && err == nil {
		<-ctx.Done()
		err = context.Cause(ctx)
	}
	return psp.Result{Outcome: psp.Unknown, Message: err.Error()}, nil
}

func (e *entry) take(op psp.Operation, c psp.Charge) {
	e.Operation, e.Amount, e.Currency, e.At = op, c.Amount, c.Currency, c.Account.Now
	e.Token, e.Merchant, e.ReturnURL = c.Card.Token, cmp.Or(c.Merchant, c.Descriptor), c.ReturnURL
}

// decide makes the bank's answer to a new charge.
func (g *Gateway) decide(e *entry, at key, card Card, does conduct) {
	e.Result = psp.Result{
		ProcessorID: idPrefix + e.Reference, Scheme: card.Scheme, BIN: card.BIN, LastFour: card.LastFour,
	}
	switch {
	case e.ReturnURL == "" && does.required:
		e.decline(psp.DeclineAuthenticate)
	case e.ReturnURL == "":
		e.conclude(does)
	case does.authentic == challenge:
		e.State = challenged
		e.Result.Outcome = psp.Pending
		e.Result.Challenge = &payment.Challenge{
			Type: "redirect", Value: g.baseURL + ChallengePath + at.account + "/" + at.reference,
		}
	case does.authentic == failed:
		e.authenticated("failed", "frictionless")
		e.decline(psp.DeclineNotAuthenticated)
	default:
		status := does.authentic
		if status == "" {
			status = "authenticated"
		}
		e.authenticated(status, "frictionless")
		e.conclude(does)
	}
}

// indicators are the ECI by result of the authentication. Mastercard has other numbers, which are the second ones.
var indicators = map[string][2]string{
	"authenticated": {"05", "02"}, attempted: {"06", "01"}, unavailable: {"07", "00"}, failed: {"07", "00"},
}

func (e *entry) authenticated(status, flow string) {
	eci := indicators[status][0]
	if e.Result.Scheme == "mastercard" {
		eci = indicators[status][1]
	}
	e.Result.ThreeDS = payment.ThreeDS{
		Status: status, Flow: flow, ECI: eci, Version: "2.2.0", DirectoryID: e.Reference,
		LiabilityShift: status == "authenticated" || status == attempted,
	}
}

// conclude approves or declines the charge, after its authentication.
func (e *entry) conclude(does conduct) {
	if does.decline != "" {
		e.decline(does.decline)
		return
	}
	e.State = done
	e.Result.Outcome, e.Result.Amount, e.Result.Challenge = psp.Approved, e.Amount, nil
	e.Result.Message = "Succeeded!"
	e.Result.AuthCode = authCode(e.Reference)
	if e.Operation == psp.Purchase {
		e.Captured = e.Amount
	}
}

func (e *entry) decline(why psp.Decline) {
	e.State = done
	e.Result.Outcome, e.Result.Challenge = psp.Declined, nil
	e.Result.Decline, e.Result.Code, e.Result.Message = why, string(why), messages[why]
}

// authCode makes six characters from the reference.
func authCode(reference string) string {
	sum := sha256.Sum256([]byte(reference))
	return strings.ToUpper(hex.EncodeToString(sum[:3]))
}

// Capture takes all or a part of the amount that was authorised.
func (g *Gateway) Capture(ctx context.Context, a psp.Adjustment) (psp.Result, error) {
	return g.adjust(ctx, psp.Capture, a)
}

// Refund gives back all or a part of the amount that was taken.
func (g *Gateway) Refund(ctx context.Context, a psp.Adjustment) (psp.Result, error) {
	return g.adjust(ctx, psp.Refund, a)
}

// Void releases the part of an authorisation that was not captured. A charge that waits for its challenge is
// cancelled.
func (g *Gateway) Void(ctx context.Context, a psp.Adjustment) (psp.Result, error) {
	return g.adjust(ctx, psp.Void, a)
}

func (g *Gateway) adjust(ctx context.Context, op psp.Operation, a psp.Adjustment) (psp.Result, error) {
	if err := g.Check(a.Account); err != nil {
		return psp.Result{}, err
	}
	does := amounts[a.Amount]
	if does.silent {
		return lost(ctx)
	}
	var result psp.Result
	err := g.change(ctx, g.original(a.Account, a.Original), func(e *entry) error {
		if before, ok := e.Adjustments[a.Reference]; ok {
			if result = before.Result; result.Outcome == psp.Absent {
				return tooLate()
			}
			return nil
		}
		if e.State == none || e.State == refusedFor {
			return &psp.Error{
				Source: psp.AtProcessor, Kind: psp.Invalid, Code: "unknown_charge", Message: "Charge not found.",
			}
		}
		result = e.apply(op, a, does)
		return nil
	})
	if psp.KindOf(err) != "" {
		return psp.Result{}, err
	}
	if err != nil || does.mute {
		return unknown(ctx, does.mute, err)
	}
	return result, nil
}

func (g *Gateway) original(a psp.Account, processorID string) key {
	return key{accountOf(a), strings.TrimPrefix(processorID, idPrefix)}
}

// apply makes an adjustment or declines it, and keeps the result under its reference.
func (e *entry) apply(op psp.Operation, a psp.Adjustment, does conduct) psp.Result {
	result := psp.Result{Outcome: psp.Approved, ProcessorID: idPrefix + a.Reference, Amount: a.Amount, Message: "Succeeded!"}
	switch left := e.leftFor(op); {
	case does.decline != "":
		result = declined(result, does.decline)
	case op == psp.Void && e.State == challenged:
		e.authenticated("abandoned", "challenge")
		e.decline(psp.DeclineAbandoned)
	case a.Amount > left || a.Currency != e.Currency:
		result = declined(result, psp.DeclineOther)
		result.Message = fmt.Sprintf("Only %d minor units of %s are left.", left, e.Currency)
	case op == psp.Capture:
		e.Captured += a.Amount
	case op == psp.Refund:
		e.Refunded += a.Amount
	case op == psp.Void:
		e.Released += a.Amount
	}
	if e.Adjustments == nil {
		e.Adjustments = map[string]adjustment{}
	}
	e.Adjustments[a.Reference] = adjustment{op, a.Amount, result}
	return result
}

func declined(r psp.Result, why psp.Decline) psp.Result {
	r.Outcome, r.Amount = psp.Declined, 0
	r.Decline, r.Code, r.Message = why, string(why), messages[why]
	return r
}

// leftFor is how many minor units an operation can still move.
func (e *entry) leftFor(op psp.Operation) int64 {
	switch {
	case e.Result.Outcome != psp.Approved:
		return 0
	case op == psp.Refund:
		return e.Captured - e.Refunded
	case e.Operation == psp.Authorize:
		return e.Amount - e.Captured - e.Released
	default:
		return 0
	}
}

// Find returns the outcome of the request with a reference. If the request never came, its reference is rejected from
// then on, so that Absent stays true.
func (g *Gateway) Find(ctx context.Context, q psp.Query) (result psp.Result, err error) {
	if err := g.Check(q.Account); err != nil {
		return psp.Result{}, err
	}
	at := key{accountOf(q.Account), q.Reference}
	adjusts := q.Operation != psp.Authorize && q.Operation != psp.Purchase
	if adjusts {
		at = g.original(q.Account, q.Original)
	}
	err = g.change(ctx, at, func(e *entry) error {
		switch {
		case adjusts:
			result = e.found(q)
		case e.State == none || e.State == refusedFor:
			e.State, e.Result = refusedFor, absent()
			result = e.Result
		default:
			result = e.Result
			result.Disputes = e.disputes(q.Account.Now)
		}
		return nil
	})
	if err != nil {
		return psp.Result{}, &psp.Error{
			Source: psp.Network, Kind: psp.Unreachable, Message: "The sandbox cannot be reached.", Err: err,
		}
	}
	return result, nil
}

func absent() psp.Result {
	return psp.Result{Outcome: psp.Absent, Message: "The processor never received the request."}
}

// tooLate refuses a request that comes after Find has said Absent.
func tooLate() error {
	return &psp.Error{
		Source: psp.AtProcessor, Kind: psp.Invalid, Code: "too_late", Message: "The request arrived too late.",
	}
}

// found is the result of an adjustment. When it never came, its reference is refused from then on.
func (e *entry) found(q psp.Query) psp.Result {
	if known, ok := e.Adjustments[q.Reference]; ok {
		return known.Result
	}
	if e.Adjustments == nil {
		e.Adjustments = map[string]adjustment{}
	}
	e.Adjustments[q.Reference] = adjustment{q.Operation, 0, absent()}
	return absent()
}

// ReadEvent refuses everything: the sandbox sends no webhook notices. Events lists what happens there.
func (g *Gateway) ReadEvent(psp.Account, psp.Event) (psp.Notice, error) {
	return psp.Notice{}, &psp.Error{
		Source: psp.AtProcessor, Kind: psp.Forged, Message: "The sandbox does not send events.",
	}
}

// eventsPerCall is the greatest number of events that one call of Events returns.
const eventsPerCall = 100

// Events lists the charges whose dispute was opened or won since the cursor.
func (g *Gateway) Events(ctx context.Context, a psp.Account, cursor string) ([]psp.Notice, string, error) {
	if err := g.Check(a); err != nil {
		return nil, cursor, err
	}
	now := a.Now.UTC()
	if cursor == "" {
		return nil, now.Format(time.RFC3339Nano), nil
	}
	since, err := time.Parse(time.RFC3339Nano, cursor)
	if err != nil {
		return nil, cursor, &psp.Error{
			Source: psp.AtProcessor, Kind: psp.Invalid, Message: "This is not a sandbox cursor.", Err: err,
		}
	}
	var notices []psp.Notice
	var last time.Time
	happened, err := g.disputesBetween(ctx, accountOf(a), since, now, eventsPerCall)
	if err != nil {
		return nil, cursor, &psp.Error{
			Source: psp.Network, Kind: psp.Unreachable, Message: "The sandbox cannot be reached.", Err: err,
		}
	}
	for _, h := range happened {
		last = h.at.UTC()
		notices = append(notices, psp.Notice{
			EventID:   "se_" + h.reference + "_" + last.Format(time.RFC3339Nano),
			Reference: h.reference, ProcessorID: idPrefix + h.reference,
		})
	}
	if len(notices) == eventsPerCall {
		// The next call includes the last instant again, because more may have happened in it. Callers recognise a
		// repeated event by its id.
		return notices, last.Add(-time.Microsecond).Format(time.RFC3339Nano), nil
	}
	return notices, now.Format(time.RFC3339Nano), nil
}

// errNotChallenged: no charge has this challenge.
var errNotChallenged = errors.New("no challenge is open")
