package rehearsal

import (
	"context"
	"fmt"
	"time"

	"holdfast/internal/book/claims"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
)

// How many days after the dispute its claim is assessed and approved.
const (
	assessAfter  = 2
	approveAfter = 4
)

// payDays are the days on which payouts are planned.
var payDays = map[int]bool{7: true, 12: true, closeClaimsOn: true, Days: true}

// pay works on the claims and payouts of a day.
func (e *event) pay(ctx context.Context) error {
	if err := drain(ctx, e.Claims.Make); err != nil {
		return err
	}
	if err := e.review(ctx); err != nil {
		return err
	}
	if e.day >= closeClaimsOn && e.insolvency.State == insolvencies.Open {
		var err error
		if e.insolvency, err = e.Insolvencies.CloseClaims(ctx, e.actor, e.insolvency.ID, "Rehearsal"); err != nil {
			return err
		}
		if err := e.tell(ctx, "claims closed"); err != nil {
			return err
		}
	}
	if payDays[e.day] {
		if err := drain(ctx, e.Claims.Plan); err != nil {
			return err
		}
	}
	if err := e.settle(ctx); err != nil {
		return err
	}
	return e.end(ctx)
}

// end records the recovery, and closes the insolvency on the last day.
func (e *event) end(ctx context.Context) error {
	if e.day >= recoverOn {
		if err := e.recover(ctx); err != nil {
			return err
		}
	}
	if e.day < Days || e.insolvency.State != insolvencies.ClaimsClosed {
		return nil
	}
	closed, err := e.Claims.CloseInsolvency(ctx, e.actor, e.insolvency.ID, "Rehearsal")
	if err != nil {
		return err
	}
	e.insolvency = closed
	return e.tell(ctx, "insolvency closed")
}

// each reads all rows of a list, a page at a time.
func each[T any](read func(page store.Page) (store.List[T], error)) (all []T, err error) {
	page := store.Page{Number: 1, Size: store.LongestPage, Offset: -1, OrderBy: store.OrderID}
	for {
		list, err := read(page)
		if err != nil {
			return nil, err
		}
		if all = append(all, list.Items...); !list.More {
			return all, nil
		}
		page.After = list.Last
	}
}

// claims reads the claims of the insolvency.
func (e *event) claims(ctx context.Context) ([]claims.Claim, error) {
	return each(func(page store.Page) (store.List[claims.Claim], error) {
		return e.Claims.List(ctx, e.actor, claims.Filter{Insolvencies: []int64{e.insolvency.ID}}, page)
	})
}

// review assesses claims, and approves the payable ones. The others stay assessed, with the reason.
func (e *event) review(ctx context.Context) error {
	list, err := e.claims(ctx)
	if err != nil {
		return err
	}
	assessed, approved := 0, 0
	for _, c := range list {
		age := e.day - int(c.FirstDay-e.book.failed)
		if e.day == closeClaimsOn || e.day == Days {
			age = approveAfter // before the last payouts
		}
		if c.Reason == claim.OtherProtectionFirst && !c.Released && age >= assessAfter {
			if c, err = e.Claims.Release(ctx, e.actor, c.ID, "The other protection does not pay."); err != nil {
				return err
			}
		}
		if c.State == claim.StateOpen && c.Priced && age >= assessAfter {
			if c, err = e.Claims.Assess(ctx, e.actor, c.ID, ""); err != nil {
				return err
			}
			assessed++
		}
		if c.State == claim.StateAssessed && c.Payable > 0 && age >= approveAfter {
			if _, err = e.Claims.Approve(ctx, e.actor, c.ID, ""); err != nil {
				return err
			}
			approved++
		}
	}
	if assessed+approved == 0 {
		return nil
	}
	return e.tell(ctx, "claims: %d assessed, %d approved", assessed, approved)
}

// settle signs the payouts planned on earlier days, and records those signed as paid. On the last day it does all of it.
func (e *event) settle(ctx context.Context) error {
	now, err := e.now(ctx)
	if err != nil {
		return err
	}
	list, err := each(func(page store.Page) (store.List[claims.Payout], error) {
		return e.Claims.Payouts(ctx, e.actor, claims.PayoutFilter{
			Channels: []int64{e.channel.ID}, States: []claim.PayoutState{claim.PayoutPlanned, claim.PayoutSigned},
		}, page)
	})
	for _, p := range list {
		if err != nil {
			return err
		}
		age := int(now.Sub(p.PlannedAt) / (23 * time.Hour))
		if e.day == Days {
			age = 2
		}
		if p.State == claim.PayoutPlanned && age >= 1 {
			if p, err = e.Claims.Sign(ctx, e.actor, p.ID); err != nil {
				return err
			}
			if err = e.tell(ctx, "payout %d signed", p.Number); err != nil {
				return err
			}
		}
		if p.State == claim.PayoutSigned && age >= 2 {
			if p, err = e.Claims.Paid(ctx, e.actor, p.ID, fmt.Sprintf("REHEARSAL-%d", p.Number)); err != nil {
				return err
			}
			err = e.tell(ctx, "payout %d paid: %s %s", p.Number, p.Quote.To, money.Format(p.Amount, p.Quote.To))
		}
	}
	return err
}

// recover records a dividend from the estate: a tenth of what was paid.
func (e *event) recover(ctx context.Context) error {
	known, err := e.Claims.Recoveries(ctx, e.actor, claims.RecoveryFilter{Insolvencies: []int64{e.insolvency.ID}},
		store.Page{Number: 1, Size: 1, Offset: -1, OrderBy: store.OrderID})
	if err != nil || len(known.Items) > 0 {
		return err
	}
	report, err := e.Claims.Report(ctx, e.actor, e.insolvency.ID)
	if err != nil || report.Paid < 10 {
		return err
	}
	kind, day, amount := claims.RecoveryKind("dividend"), e.book.failed+civil.Day(e.day), report.Paid/10
	made, err := e.Claims.Recover(ctx, e.actor, claims.NewRecovery{
		InsolvencyID: &e.insolvency.ID, Kind: &kind, Day: &day, Currency: &report.Currency, Amount: &amount, Reference: "Rehearsal",
	})
	if err != nil {
		return err
	}
	return e.tell(ctx, "dividend of %s %s received", made.Currency, money.Format(made.Amount, made.Currency))
}
