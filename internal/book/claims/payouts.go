package claims

import (
	"context"
	"fmt"
	"time"

	"holdfast/internal/book/fixings"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Payout is a payment to the beneficiary of a merchant for its approved claims.
type Payout struct {
	SiteID         int64
	ID             int64
	Number         int64 // without gaps in the site
	ChannelID      int64
	State          claim.PayoutState
	PolicyCurrency money.Currency
	Value          int64 // the sum of its lines, minor units of PolicyCurrency
	Quote          fx.Quote
	Amount         int64 // minor units of Quote.To, in which it is paid
	Beneficiary    string
	PlannedAt      time.Time
	SignedBy       string
	SettledBy      string // who recorded that it was paid, or that it failed
	BankReference  string
	Failure        string
	Version        int64
	ModifiedAt     time.Time
}

// PayoutFilter picks payouts of a list. An empty field picks all.
type PayoutFilter struct {
	States     []claim.PayoutState
	Channels   []int64
	Currencies []money.Currency
}

// PayoutOrders lists the values of orderby, besides those of every list, for payouts.
var PayoutOrders = []string{"number"}

// PayoutLine is the amount that a payout pays for a claim: minor units of the policy currency, negative if an overpaid amount is set off.
type PayoutLine struct {
	ClaimID int64
	Value   int64
}

// Document is a payout with the data of its PDF.
type Document struct {
	Payout
	From     merchant.Party // who pays: the issuer of the site
	Merchant string
	Claims   []PaidClaim
	More     int64 // claims that are not in Claims
}

// PaidClaim is a line of a payout with its claim.
type PaidClaim struct {
	PayoutLine
	BookingID      int64
	Source, CaseID string
}

// Document reads a payout with at most so many of its claims, to print it.
func (r *Claims) Document(ctx context.Context, actor access.Actor, id int64, most int) (Document, error) {
	if err := actor.Require(access.ReadPayouts); err != nil {
		return Document{}, err
	}
	found, err := sites.Read(ctx, r.DB, actor, func(tx *store.Tx) (d Document, err error) {
		if d.Payout, err = PayoutByID(tx, actor.SiteID, id); err != nil {
			return d, err
		}
		site, err := sites.Alone(tx, actor.SiteID)
		if err != nil {
			return d, err
		}
		channel, err := merchants.Channel(tx, actor.SiteID, d.ChannelID)
		if err != nil {
			return d, err
		}
		d.From, d.Merchant = site.Issuer, channel.Name
		if d.From.Name == "" {
			d.From.Name = site.Name
		}
		d.Claims, d.More, err = paidClaims(tx, actor.SiteID, id, most)
		return d, err
	})
	return found, unknownPayout(err, id)
}

// Payout reads a payout of the actor's site.
func (r *Claims) Payout(ctx context.Context, actor access.Actor, id int64) (Payout, error) {
	if err := actor.Require(access.ReadPayouts); err != nil {
		return Payout{}, err
	}
	found, err := sites.Read(ctx, r.DB, actor, func(tx *store.Tx) (Payout, error) { return PayoutByID(tx, actor.SiteID, id) })
	return found, unknownPayout(err, id)
}

// Payouts reads one page of the payouts of the actor's site.
func (r *Claims) Payouts(ctx context.Context, actor access.Actor, f PayoutFilter, page store.Page) (list store.List[Payout], err error) {
	if err := actor.Require(access.ReadPayouts); err != nil {
		return list, err
	}
	return sites.ReadPage(ctx, r.DB, actor, page, func(tx *store.Tx) (store.List[Payout], error) {
		return payoutsPage(tx, actor.SiteID, f, page)
	})
}

// PayoutLines reads the amount that a payout pays for each claim.
func (r *Claims) PayoutLines(ctx context.Context, actor access.Actor, id int64) ([]PayoutLine, error) {
	if err := actor.Require(access.ReadPayouts); err != nil {
		return nil, err
	}
	list, err := sites.Read(ctx, r.DB, actor, func(tx *store.Tx) ([]PayoutLine, error) {
		if _, err := PayoutByID(tx, actor.SiteID, id); err != nil {
			return nil, err
		}
		return linesOfPayout(tx, actor.SiteID, id)
	})
	return list, unknownPayout(err, id)
}

// Plan plans payouts of approved claims: when the unpaid amount of a channel has reached its payout_minimum, or its claims are
// closed. A planned amount counts as paid, so that nothing is planned twice. It returns more if it
// has planned one.
func (r *Claims) Plan(ctx context.Context) (more bool, err error) {
	return sites.Each(ctx, r.DB, sitesWithWork, 1, func(tx *store.Tx, siteID int64, _ int) (int, error) {
		list, err := insolvenciesToPay(tx, siteID)
		for _, id := range list {
			if err != nil {
				return 0, err
			}
			planned, err := r.plan(tx, siteID, id)
			if err != nil || planned {
				return 1, err
			}
		}
		return 0, err
	})
}

// plan plans the payout of an insolvency, if one is due.
func (r *Claims) plan(tx *store.Tx, siteID, insolvencyID int64) (planned bool, err error) {
	if err := lockClaims(tx, siteID); err != nil {
		return false, err
	}
	of, lines, total, err := dueOf(tx, siteID, insolvencyID)
	if err != nil || lines == nil {
		return false, err
	}
	return r.pay(tx, of, lines, total)
}

// payoutOf computes the next payout of an insolvency.
func payoutOf(due []claim.Due) (lines []int64, total int64, err error) {
	defer money.Catch(&err)
	lines, total = claim.Payout(due)
	return lines, total, err
}

// pay stores a planned payout with its lines, unless the minimum of the channel is not reached or a rate is missing.
func (r *Claims) pay(tx *store.Tx, of insolvencyClaims, lines []int64, total int64) (bool, error) {
	c, err := merchants.Channel(tx, of.SiteID, of.ChannelID)
	if err != nil {
		return false, err
	}
	p := Payout{
		SiteID: of.SiteID, ChannelID: of.ChannelID, State: claim.PayoutPlanned, PolicyCurrency: of.currency, Value: total,
		Beneficiary: c.BeneficiaryID, PlannedAt: tx.Now,
	}
	to := of.currency
	if c.SettlementCurrency != "" {
		to = money.Currency(c.SettlementCurrency)
	}
	today := civil.DayOf(tx.Now)
	quote, ok, err := fixings.SpotQuote(tx, of.SiteID, of.currency, to, today)
	if err != nil || !ok {
		return false, err
	}
	p.Quote = quote
	if of.State == insolvencies.Open {
		if enough, err := reaches(tx, c, p, today); err != nil || !enough {
			return false, err
		}
	}
	lines, p.Value = firstLines(lines, total, r.MostLines)
	if p.Amount, err = quote.Convert(p.Value); err != nil || p.Amount == 0 {
		return false, err
	}
	if err := insertPayout(tx, &p); err != nil {
		return false, err
	}
	var paid []PayoutLine
	for i, value := range lines {
		if value != 0 {
			paid = append(paid, PayoutLine{of.ids[i], value})
		}
	}
	if err := insertPayoutLines(tx, p, paid); err != nil {
		return false, err
	}
	if err := addPaid(tx, p, 1); err != nil {
		return false, err
	}
	return true, notePayout(tx, access.System(p.SiteID), "payout.plan", nil, p)
}

// firstLines keeps at most so many lines of a payout, so that a write is bounded: first the amounts set off, then the payments, in the
// order of the claims. All are kept if their sum would not be positive.
func firstLines(lines []int64, total int64, most int) (kept []int64, value int64) {
	kept = make([]int64, len(lines))
	n := 0
	for _, negative := range []bool{true, false} {
		for i, line := range lines {
			if line != 0 && line < 0 == negative && n < most {
				kept[i], value, n = line, value+line, n+1
			}
		}
	}
	if value <= 0 {
		return lines, total
	}
	return kept, value
}

// reaches reports whether a payout has reached the payout_minimum of its channel, which is in the channel's settlement currency. Without
// a rate it has not.
func reaches(tx *store.Tx, c merchant.Channel, p Payout, today civil.Day) (bool, error) {
	if c.PayoutMinimum == 0 {
		return true, nil
	}
	quote, ok, err := fixings.SpotQuote(tx, p.SiteID, p.PolicyCurrency, money.Currency(c.Settlement()), today)
	if err != nil || !ok {
		return false, err
	}
	amount, err := quote.Convert(p.Value)
	return amount >= c.PayoutMinimum, err
}

// Sign signs a planned payout. It is refused if less is covered now than it pays: the payout must be marked as failed then.
func (r *Claims) Sign(ctx context.Context, actor access.Actor, id int64) (Payout, error) {
	return r.settle(ctx, actor, id, "payout.sign", func(tx *store.Tx, p *Payout) error {
		p.SignedBy = actor.Username
		return stillCovered(tx, *p)
	}, claim.PayoutSigned)
}

// Paid records that the bank has paid a signed payout, with its reference.
func (r *Claims) Paid(ctx context.Context, actor access.Actor, id int64, reference string) (Payout, error) {
	var problems errs.Problems
	if reference == "" {
		problems.Missing("bank_reference")
	}
	check.Line(&problems, "bank_reference", reference)
	if err := problems.Err(); err != nil {
		return Payout{}, err
	}
	return r.settle(ctx, actor, id, "payout.paid", func(tx *store.Tx, p *Payout) error {
		p.BankReference, p.SettledBy = reference, actor.Username
		return nil
	}, claim.PayoutPaid)
}

// Failed records that a payout was not paid. Its claims are planned anew. The reason is required.
func (r *Claims) Failed(ctx context.Context, actor access.Actor, id int64, reason string) (Payout, error) {
	if err := needReason(reason); err != nil {
		return Payout{}, err
	}
	return r.settle(ctx, actor, id, "payout.fail", func(tx *store.Tx, p *Payout) error {
		p.Failure, p.SettledBy = reason, actor.Username
		return addPaid(tx, *p, -1)
	}, claim.PayoutFailed)
}

// settle takes a payout from its state to another.
func (r *Claims) settle(
	ctx context.Context, actor access.Actor, id int64, action string, change func(tx *store.Tx, p *Payout) error, to claim.PayoutState,
) (Payout, error) {
	if err := actor.Require(access.SignOffPayout); err != nil {
		return Payout{}, err
	}
	changed, err := idempotency.Once(ctx, r.DB, actor, func(tx *store.Tx) (Payout, idempotency.Outcome, error) {
		if err := lockClaims(tx, actor.SiteID); err != nil {
			return Payout{}, idempotency.Outcome{}, err
		}
		p, err := PayoutByID(tx, actor.SiteID, id)
		if err != nil {
			return p, idempotency.Outcome{}, err
		}
		if !p.State.Can(to) {
			return p, idempotency.Outcome{}, payoutNotPossible(p, "state", "Payout %d is %s.", p.Number, p.State)
		}
		before := auditedPayout(p)
		p.State = to
		if err := change(tx, &p); err != nil {
			return p, idempotency.Outcome{}, err
		}
		if err := savePayout(tx, &p); err != nil {
			return p, idempotency.Outcome{}, err
		}
		if err := notePayout(tx, actor, action, before, p); err != nil {
			return p, idempotency.Outcome{}, err
		}
		return p, idempotency.Outcome{ID: id}, followPayout(tx, actor, p)
	}, func(ctx context.Context, made idempotency.Outcome) (Payout, error) {
		return r.Payout(ctx, actor, made.ID)
	})
	return changed, unknownPayout(err, id)
}

// stillCovered refuses a payout that pays more for a claim than its covered amount is now.
func stillCovered(tx *store.Tx, p Payout) error {
	lines, err := linesOfPayout(tx, p.SiteID, p.ID)
	if err != nil {
		return err
	}
	pays := map[int64]int64{} // by claim
	for _, l := range lines {
		pays[l.ClaimID] = l.Value
	}
	list, err := claimsOfPayout(tx, p)
	if err != nil {
		return err
	}
	if err := addCover(tx, p.SiteID, list); err != nil {
		return err
	}
	for _, c := range list {
		if pays[c.ID] > 0 && (c.Overpaid > 0 || !c.Approved()) {
			return payoutNotPossible(p, "claims_changed",
				"The covered amount of claim %d has fallen since payout %d was planned. Mark the payout as failed: its claims are planned again.", c.ID, p.Number)
		}
	}
	return nil
}

// followPayout marks the approved claims of a payout as paid once the bank has paid it.
func followPayout(tx *store.Tx, actor access.Actor, p Payout) error {
	if p.State != claim.PayoutPaid {
		return nil
	}
	list, err := claimsOfPayout(tx, p)
	for _, c := range list {
		if err != nil {
			return err
		}
		if c.State != claim.StateApproved {
			continue
		}
		c.Review = c.Follow(c.Payable, true)
		if err = save(tx, &c); err != nil {
			return err
		}
		err = note(tx, actor, c, "claim.pay", "")
	}
	return err
}

func payoutNotPossible(p Payout, reason, format string, args ...any) error {
	return &errs.Error{Kind: errs.ActionNotPossible, State: string(p.State), Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func unknownPayout(err error, id int64) error {
	return store.NotFoundAs(errs.SettingNotFound, err, "Payout %d not found.", id)
}

// notePayout records a change of a payout: in its own history, in the events of the site, and in the audit.
func notePayout(tx *store.Tx, actor access.Actor, action string, before any, p Payout) error {
	if err := insertPayoutEvent(tx, actor, p, action); err != nil {
		return err
	}
	events.Record(tx, p.SiteID, eventOf[action], p.ID, event.Details{Status: string(p.State), Amount: p.Amount, Currency: string(p.Quote.To)})
	return audit.Record(tx, actor, action, fmt.Sprintf("payout %d", p.ID), before, auditedPayout(p))
}

// payoutInAudit is the shape of a payout in the audit.
type payoutInAudit struct {
	Number        int64          `json:"number"`
	ChannelID     int64          `json:"channels"`
	State         string         `json:"state"`
	Amount        int64          `json:"amount"`
	Currency      money.Currency `json:"currency"`
	Beneficiary   string         `json:"beneficiary_id"`
	BankReference string         `json:"bank_reference,omitempty"`
	Failure       string         `json:"failure,omitempty"`
}

func auditedPayout(p Payout) any {
	return payoutInAudit{
		Number: p.Number, ChannelID: p.ChannelID, State: string(p.State), Amount: p.Amount, Currency: p.Quote.To,
		Beneficiary: p.Beneficiary, BankReference: p.BankReference, Failure: p.Failure,
	}
}
