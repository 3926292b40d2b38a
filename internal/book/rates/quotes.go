package rates

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"holdfast/internal/book/fixings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// QuoteFields are the fields of a manual quote: a rate that two operators agree on, because no provider has one. A field
// that is absent is nil.
type QuoteFields struct {
	Problems errs.Problems
	Currency *money.Currency
	Day      *civil.Day
	Rate     *string    // units of the currency per euro, decimal text
	QuoteID  *string    // the reference of the bank or dealer that gave the quote
	Expires  *time.Time // nil: never
	Reason   string     // for the operator who approves it
}

// quote is the payload of a proposal of a manual rate, and also its result.
type quote struct {
	Currency money.Currency `json:"currency"`
	Day      string         `json:"day"`
	Rate     string         `json:"rate"`
	QuoteID  string         `json:"quote_id"`
	Expires  string         `json:"expires,omitempty"`
}

// check notes the problems of a quote at an instant, and returns the quote as the payload of a proposal.
func (f QuoteFields) check(now time.Time, p *errs.Problems) (q quote) {
	for _, field := range []struct {
		name   string
		absent bool
	}{{"currency", f.Currency == nil}, {"day", f.Day == nil}, {"rate", f.Rate == nil}, {"quote_id", f.QuoteID == nil}} {
		if field.absent && !p.Has(field.name) {
			p.Missing(field.name)
		}
	}
	if f.Currency != nil {
		if q.Currency = *f.Currency; q.Currency == money.EUR {
			p.Wrong("currency", "Rates are units of a currency per euro, so the euro itself has none.")
		}
	}
	if f.Day != nil {
		if q.Day = f.Day.String(); *f.Day > civil.DayOf(now) {
			p.Wrong("day", "Must not be in the future.")
		}
	}
	if f.Rate != nil {
		rate, err := money.ParseRate(*f.Rate)
		if err != nil {
			p.Wrong("rate", "Must be a positive decimal number such as 1.0845.")
		} else {
			q.Rate = rate.String()
		}
	}
	if f.QuoteID != nil {
		q.QuoteID = *f.QuoteID
		if check.Line(p, "quote_id", q.QuoteID); q.QuoteID == "" {
			p.Wrong("quote_id", "This field cannot be empty.")
		}
	}
	if f.Expires != nil {
		if q.Expires = civil.FormatInstant(*f.Expires); !f.Expires.After(now) {
			p.Wrong("expires", "Must not be in the past.")
		}
	}
	return q
}

// fixing makes the fixing of a stored quote. It checks the quote again, by the present time.
func (q quote) fixing(siteID int64, now time.Time) (fx.Fixing, error) {
	var p errs.Problems
	f := QuoteFields{Currency: &q.Currency, Rate: &q.Rate, QuoteID: &q.QuoteID}
	day, err := civil.ParseDay(q.Day)
	f.Day = &day
	if q.Expires != "" {
		at, parseErr := civil.ParseInstant(q.Expires)
		f.Expires, err = &at, errors.Join(err, parseErr)
	}
	f.check(now, &p)
	rate, rateErr := money.ParseRate(q.Rate)
	fixing := fx.Fixing{SiteID: siteID, Provider: fx.Manual, Day: day, Currency: q.Currency, Rate: rate, QuoteID: q.QuoteID}
	if f.Expires != nil {
		fixing.ExpiresAt = *f.Expires
	}
	return fixing, errors.Join(p.Err(), err, rateErr)
}

// Quote proposes a manual quote for the actor's site. In a sandbox it is on file immediately, and the returned proposal is
// approved. Elsewhere the proposal is open. Errors: Invalid, and NotPossible with the reason quote_exists.
func (r *Rates) Quote(ctx context.Context, actor access.Actor, in QuoteFields) (proposal.Proposal, error) {
	if err := actor.Require(access.WriteRates); err != nil {
		return proposal.Proposal{}, err
	}
	p, err := idempotency.Once(ctx, r.DB, actor, func(tx *store.Tx) (made proposal.Proposal, _ idempotency.Outcome, err error) {
		problems := in.Problems.Clone()
		q := in.check(tx.Now, &problems)
		if err := problems.Err(); err != nil {
			return made, idempotency.Outcome{}, err
		}
		if err := quoteIsNew(tx, actor.SiteID, q); err != nil {
			return made, idempotency.Outcome{}, err
		}
		made, err = r.Approvals.Request(tx, actor, proposal.Proposal{
			Kind: proposal.ManualRate, Subject: "rate " + string(q.Currency) + " " + q.Day, Reason: in.Reason,
		}, q, func() (any, error) { return putOnFile(tx, actor, q) })
		return made, idempotency.Outcome{ProposalID: made.ID}, err
	}, func(ctx context.Context, made idempotency.Outcome) (proposal.Proposal, error) {
		return r.Approvals.Find(ctx, actor, made.ProposalID)
	})
	if err == nil && p.State == proposal.Approved {
		_, err = r.pricePendingOf(ctx, sites.ClockFor(actor)) // allocations that waited for this rate
	}
	return p, err
}

// quoteIsNew returns an error when the quote is already on file.
func quoteIsNew(tx *store.Tx, siteID int64, q quote) error {
	day, err := civil.ParseDay(q.Day)
	if err != nil {
		return err
	}
	_, err = fixings.Quote(tx, siteID, q.Currency, day, q.QuoteID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return errs.NotPossibleBecause("quote_exists", "Quote %s of %s for %s is already on file.", q.QuoteID, q.Currency, q.Day)
}

// carryOutQuote puts the quote of an approved proposal on file.
func carryOutQuote(tx *store.Tx, actor access.Actor, p proposal.Proposal) (any, error) {
	q, err := approvals.PayloadOf[quote](p)
	if err != nil {
		return nil, err
	}
	if err := quoteIsNew(tx, actor.SiteID, q); err != nil {
		return nil, err
	}
	return putOnFile(tx, actor, q)
}

// maxCounted is how many waiting allocations are read to report what a quote would price.
const maxCounted = 20_000

// effectOfQuote compares the quote of a proposal with the last rate on file, and counts the allocations that it may price.
func effectOfQuote(tx *store.Tx, p proposal.Proposal) (effect proposal.Effect, err error) {
	q, err := approvals.PayloadOf[quote](p)
	if err != nil {
		return effect, err
	}
	if err := quoteIsNew(tx, p.SiteID, q); err != nil {
		return effect, err
	}
	fixing, err := q.fixing(p.SiteID, tx.Now)
	if err != nil {
		return effect, err
	}
	last, err := fixings.Page(tx, p.SiteID, fx.Filter{Currencies: []money.Currency{q.Currency}, Last: fixing.Day},
		store.Page{Number: 1, Size: 1, Offset: -1, OrderBy: "date", Descending: true})
	if err != nil {
		return effect, err
	}
	var before any
	if len(last.Items) > 0 {
		before = rateOnFile(last.Items[0])
	}
	if effect.Changes, err = approvals.Changes(before, rateOnFile(fixing)); err != nil {
		return effect, err
	}
	effect.Figures, err = waitingFor(tx, fixing)
	return effect, err
}

// comparedRate is a rate, as the effect of a quote compares it.
type comparedRate struct {
	Currency money.Currency `json:"currency"`
	Day      string         `json:"day"`
	Rate     string         `json:"rate"`
	Provider string         `json:"provider"`
	QuoteID  string         `json:"quote_id"`
}

func rateOnFile(f fx.Fixing) any {
	return comparedRate{f.Currency, f.Day.String(), f.Rate.String(), string(f.Provider), f.QuoteID}
}

// waitingFor counts the allocations that wait for a rate and were paid in the days of a fixing, and adds them up by currency.
func waitingFor(tx *store.Tx, f fx.Fixing) ([]proposal.Figure, error) {
	waiting, err := ledger.PendingAllocations(tx, f.SiteID, 0, maxCounted)
	if err != nil {
		return nil, err
	}
	sums := map[money.Currency]int64{}
	var total int64
	for _, a := range waiting {
		age := int64(a.Paid() - f.Day)
		if (a.Currency == f.Currency || a.PolicyCurrency == f.Currency) && age >= 1 && age <= a.MaxFixingAge {
			sums[a.Currency] += a.Amount
			total++
		}
	}
	figures := []proposal.Figure{proposal.CountOf("allocations_waiting", total)}
	for _, c := range slices.Sorted(maps.Keys(sums)) {
		figures = append(figures, proposal.AmountOf("amount_waiting", sums[c], c))
	}
	return figures, nil
}

func putOnFile(tx *store.Tx, actor access.Actor, q quote) (any, error) {
	fixing, err := q.fixing(actor.SiteID, tx.Now)
	if err != nil {
		return nil, err
	}
	if err := putFixings(tx, []fx.Fixing{fixing}); err != nil {
		return nil, err
	}
	return q, audit.Record(tx, actor, "rates.add", fmt.Sprintf("rate %s %s", q.Currency, q.Day), nil, q)
}

// List reads one page of the fixings that count for the actor's site.
func (r *Rates) List(
	ctx context.Context, actor access.Actor, filter fx.Filter, page store.Page,
) (store.List[fx.Fixing], error) {
	return sites.ReadPage(ctx, r.DB, actor, page, func(tx *store.Tx) (store.List[fx.Fixing], error) {
		return fixings.Page(tx, actor.SiteID, filter, page)
	})
}
