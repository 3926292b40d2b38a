// Package statements issues statements and keeps the payments against them (R11). It owns statements and statement_*.
// Begin reading at Statements.IssueDue.
package statements

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/merchants"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// Statements issues the statements of channels (R11), reads them, and records what was paid against them.
type Statements struct{ *core.Core }

// channelsPerLook is how many channels' progress one read looks at.
const channelsPerLook = 500

// IssueDue issues the statements of all sites whose periods have ended, and returns how many it issued.
func (s *Statements) IssueDue(ctx context.Context) (issued int, err error) {
	var sites []core.SiteClock
	err = s.Store.Read(ctx, func(tx *db.Tx) error {
		sites, err = core.SiteClocks(tx)
		return err
	})
	for _, clock := range sites {
		actor := auth.System(clock.SiteID)
		actor.Ahead = clock.Ahead
		n, err := s.Issue(ctx, actor)
		issued += n
		if err != nil {
			return issued, fmt.Errorf("site %d: %w", clock.SiteID, err)
		}
	}
	return issued, err
}

// Issue issues every statement of the actor's site whose period has ended, one period of one channel in each write, and
// returns how many it issued. It may be cut short at any point and called by any number of processes at once: a write
// that moves a channel on holds its statements too, and nobody moves it on twice.
func (s *Statements) Issue(ctx context.Context, actor auth.Actor) (issued int, err error) {
	if err := actor.Require(auth.IssueStatements); err != nil {
		return 0, err
	}
	for after := int64(0); ; {
		var list []StatementProgress
		var settled time.Time
		err := s.ReadBy(ctx, core.ClockFor(actor), func(tx *db.Tx) (err error) {
			if list, err = ProgressOfStatements(tx, actor.SiteID, after, channelsPerLook); err != nil {
				return err
			}
			settled, err = core.Final(tx, actor.SiteID)
			return err
		})
		if err != nil || len(list) == 0 {
			return issued, err
		}
		for _, p := range list {
			after = p.Channel.ID
			n, err := s.issueChannel(ctx, actor, p, settled)
			issued += n
			if err != nil {
				return issued, fmt.Errorf("channel %d: %w", p.Channel.ID, err)
			}
		}
	}
}

// EndedPeriods is the periods of channels that have ended and cannot be stated yet: what was being recorded in them may
// still be on its way.
type EndedPeriods struct {
	Count int
	From  time.Time // from then on, by the real clock, Issue issues the statements of all of them
}

// Waiting tells what Issue leaves for later.
func (s *Statements) Waiting(ctx context.Context, actor auth.Actor) (ended EndedPeriods, err error) {
	if err := actor.Require(auth.IssueStatements); err != nil {
		return ended, err
	}
	err = s.ReadBy(ctx, core.ClockFor(actor), func(tx *db.Tx) error {
		ended = EndedPeriods{}
		settled, err := core.Final(tx, actor.SiteID)
		if err != nil {
			return err
		}
		last := settled // end of a period
		for after := int64(0); ; {
			list, err := ProgressOfStatements(tx, actor.SiteID, after, channelsPerLook)
			if err != nil {
				return err
			}
			for _, p := range list {
				after = p.Channel.ID
				for until := range endsOf(p, tx.Now) {
					if until.After(settled) { // else another process is about to issue it
						ended.Count++
						last = slices.MaxFunc([]time.Time{last, until}, time.Time.Compare)
					}
				}
			}
			if len(list) == 0 {
				ended.From, err = core.FinalFrom(tx, last)
				return err
			}
		}
	})
	return ended, err
}

// issueChannel issues the statements of one channel, period by period, up to the last one that ended before settled.
func (s *Statements) issueChannel(
	ctx context.Context, actor auth.Actor, p StatementProgress, settled time.Time,
) (issued int, err error) {
	for {
		period, from := nextPeriod(p)
		until := (period.Last + 1).Start()
		if until.After(settled) {
			return issued, nil
		}
		made, err := core.Write(ctx, s.Core, actor, func(tx *db.Tx) (int, error) {
			moved, err := MoveStatementProgress(tx, actor.SiteID, p.Channel.ID, from, until)
			if err != nil || !moved {
				return -1, err
			}
			return issuePeriod(tx, actor.SiteID, p.Channel, period, from, until)
		})
		if err != nil || made < 0 { // another process is at this channel
			return issued, err
		}
		issued += made
		p.Covered = until
	}
}

// nextPeriod is the next period of a channel and from when on it covers what was recorded. A channel whose kind of
// period was changed begins the new kind where the old one ended, in the middle of a period if need be.
func nextPeriod(p StatementProgress) (travel.Period, time.Time) {
	if p.Covered.IsZero() {
		period := travel.PeriodOf(p.Channel.StatementPeriod, civil.DayOf(p.Channel.CreatedAt))
		return period, period.First.Start()
	}
	from := civil.DayOf(p.Covered)
	period := travel.PeriodOf(p.Channel.StatementPeriod, from)
	period.First = from
	return period, p.Covered
}

// endsOf gives the ends, up to now, of the periods that a channel has no statements of yet.
func endsOf(p StatementProgress, now time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for {
			period, _ := nextPeriod(p)
			p.Covered = (period.Last + 1).Start()
			if p.Covered.After(now) || !yield(p.Covered) {
				return
			}
		}
	}
}

// issuePeriod makes the statements of a channel and period: one for each currency in which there is anything to state.
func issuePeriod(
	tx *db.Tx, siteID int64, c travel.Channel, period travel.Period, from, until time.Time,
) (issued int, err error) {
	site, err := merchants.Site(tx, siteID)
	if err != nil {
		return 0, err
	}
	policy, err := merchants.PolicyOn(tx, siteID, period.Last)
	if err != nil {
		return 0, err
	}
	charges, err := chargesOf(tx, siteID, c.ID, from, until)
	if err != nil {
		return 0, err
	}
	if err := addMinimum(tx, siteID, c.ID, period, policy, charges); err != nil {
		return 0, err
	}
	for _, currency := range slices.Sorted(maps.Keys(charges)) {
		statement := protection.Statement{
			SiteID: siteID, ChannelID: c.ID, Period: period, From: from, Until: until, Currency: currency,
			SiteName: site.Name, ChannelName: c.Name, Language: c.Language,
			Due: travel.AfterBusinessDays(civil.DayOf(tx.Now), policy.PaymentTermsDays),
		}
		if err := statement.Settle(*charges[currency]); err != nil {
			return 0, fmt.Errorf("statement in %s: %w", currency, err)
		}
		if statement.Empty() {
			continue
		}
		if _, err := InsertStatement(tx, statement); err != nil {
			return 0, err
		}
		issued++
	}
	return issued, nil
}

// chargesOf reads what the statements of a period are made of, by currency.
func chargesOf(
	tx *db.Tx, siteID, channelID int64, from, until time.Time,
) (map[money.Currency]*protection.Charges, error) {
	charges := map[money.Currency]*protection.Charges{}
	of := func(c money.Currency) *protection.Charges {
		if charges[c] == nil {
			charges[c] = &protection.Charges{}
		}
		return charges[c]
	}
	accounts, err := Accounts(tx, siteID, channelID)
	if err != nil {
		return nil, err
	}
	for currency, a := range accounts {
		of(currency).Opening, of(currency).Account = a.Closing, a.Account
	}
	paid, err := PaidBetween(tx, siteID, channelID, from, until)
	if err != nil {
		return nil, err
	}
	for currency, sum := range paid {
		of(currency).Payments = sum
	}
	booked, err := BookedBetween(tx, siteID, channelID, from, until)
	if err != nil {
		return nil, err
	}
	for _, b := range booked {
		policy, err := merchants.Policy(tx, siteID, b.PolicyID)
		if err != nil {
			return nil, err
		}
		c := of(b.Currency)
		c.Booked = append(c.Booked, protection.BookedSum{StatementSum: b.StatementSum, Taxes: policy.TaxCodes})
	}
	return charges, nil
}

// addMinimum adds what a month that ended in the period is short of the minimum premium. A month counts in which the
// channel has premium lines: a merchant without business has none to insure.
func addMinimum(
	tx *db.Tx, siteID, channelID int64, period travel.Period, policy travel.Policy,
	charges map[money.Currency]*protection.Charges,
) error {
	if policy.MinimumPerMonth <= 0 {
		return nil
	}
	month := travel.PeriodOf(travel.PeriodMonth, period.First)
	if month.Last > period.Last { // no month ended: at most one does in a week or two
		return nil
	}
	booked, err := BookedBetween(tx, siteID, channelID, month.First.Start(), (month.Last + 1).Start())
	if err != nil {
		return err
	}
	var sum int64
	found := false
	for _, b := range booked {
		if b.Currency == policy.Currency {
			sum, found = sum+b.Amount, true
		}
	}
	if !found {
		return nil
	}
	if charges[policy.Currency] == nil { // all lines of the month stood on earlier statements of it
		charges[policy.Currency] = &protection.Charges{}
	}
	c := charges[policy.Currency]
	c.Minimum, c.MinTaxes = protection.Shortfall(month.Last.Month(), policy.MinimumPerMonth, sum), policy.TaxCodes
	return nil
}

// List reads one page of statements.
func (s *Statements) List(
	ctx context.Context, actor auth.Actor, filter travel.StatementFilter, page travel.Page,
) (travel.List[protection.IssuedStatement], time.Time, error) {
	var now time.Time
	list, err := readStatements(ctx, s.Core, actor, func(tx *db.Tx) (travel.List[protection.IssuedStatement], error) {
		now = tx.Now
		return statementsPage(tx, actor.SiteID, filter, page)
	})
	return list, now, err
}

// Get reads one statement. The instant says when what is open of it was read.
func (s *Statements) Get(ctx context.Context, actor auth.Actor, id int64) (protection.IssuedStatement, time.Time, error) {
	var now time.Time
	found, err := readStatements(ctx, s.Core, actor, func(tx *db.Tx) (protection.IssuedStatement, error) {
		now = tx.Now
		return Statement(tx, actor.SiteID, id)
	})
	return found, now, err
}

// Lines reads one page of the premium lines of a statement.
func (s *Statements) Lines(
	ctx context.Context, actor auth.Actor, id int64, page travel.Page,
) (travel.List[protection.StatementLine], error) {
	return readStatements(ctx, s.Core, actor, func(tx *db.Tx) (travel.List[protection.StatementLine], error) {
		list := travel.List[protection.StatementLine]{Total: -1}
		statement, err := Statement(tx, actor.SiteID, id)
		if err != nil {
			return list, err
		}
		if list.Items, err = StatementLines(tx, actor.SiteID, id, page); err != nil {
			return list, err
		}
		if len(list.Items) > page.Size { // one more than the page was read, to know whether there is a next one
			list.Items, list.More = list.Items[:page.Size], true
		}
		if page.Count {
			list.Total = statement.LineCount()
		}
		list.PastEnd = len(list.Items) == 0 && page.Offset < 0 && page.Number > 1 && statement.LineCount() > 0
		return list, nil
	})
}

// AllLines gives every premium line of a statement, in their order. They are read piece by piece while they are asked
// for, so that neither memory nor a transaction grows with a statement; lines never change, so the pieces fit.
func (s *Statements) AllLines(
	ctx context.Context, actor auth.Actor, id int64,
) iter.Seq2[protection.StatementLine, error] {
	return func(yield func(protection.StatementLine, error) bool) {
		for mark := (LineMark{}); ; {
			list, err := readStatements(ctx, s.Core, actor, func(tx *db.Tx) ([]protection.StatementLine, error) {
				return StatementLinesAfter(tx, actor.SiteID, id, mark, s.Pieces.Lines)
			})
			if err != nil {
				yield(protection.StatementLine{}, err)
				return
			}
			for _, l := range list {
				mark = LineMark{RecordedAt: l.RecordedAt, ID: l.ID}
				if !yield(l, nil) {
					return
				}
			}
			if len(list) < s.Pieces.Lines {
				return
			}
		}
	}
}

// WithLines reads a statement and the first of its premium lines.
func (s *Statements) WithLines(
	ctx context.Context, actor auth.Actor, id int64, limit int,
) (statement protection.IssuedStatement, lines []protection.StatementLine, err error) {
	lines, err = readStatements(ctx, s.Core, actor, func(tx *db.Tx) ([]protection.StatementLine, error) {
		if statement, err = Statement(tx, actor.SiteID, id); err != nil {
			return nil, err
		}
		return StatementLinesAfter(tx, actor.SiteID, id, LineMark{}, limit)
	})
	return statement, lines, err
}

// Pay records a payment against a statement. The same reference again is the same payment; created is false then.
func (s *Statements) Pay(
	ctx context.Context, actor auth.Actor, id int64, in travel.StatementPaymentFields,
) (travel.StatementPayment, bool, error) {
	if err := actor.Require(auth.RecordStatementPayments); err != nil {
		return travel.StatementPayment{}, false, err
	}
	var created bool
	made, err := core.Write(ctx, s.Core, actor, func(tx *db.Tx) (stored travel.StatementPayment, err error) {
		problems := in.Problems.Clone()
		in.Check(tx.Now, &problems)
		statement, err := Statement(tx, actor.SiteID, id)
		if err != nil {
			return stored, err
		}
		if in.Currency != nil && *in.Currency != statement.Currency {
			problems.Wrong("currencies", "The statement is in %s.", statement.Currency)
		}
		if err := problems.Err(); err != nil {
			return stored, err
		}
		payment := in.Payment(actor.SiteID, id, statement.ChannelID, statement.Currency, actor.Username)
		if stored, created, err = RecordStatementPayment(tx, payment); err != nil {
			return stored, err
		}
		if !created && !stored.Same(payment) {
			return stored, fault.New(fault.ReferenceExists,
				"The reference is taken by payment %d of the statement, which says something else.", stored.ID)
		}
		if !created {
			return stored, nil
		}
		return stored, core.Record(tx, actor, "statement.pay", fmt.Sprintf("statement %d", id), nil, auditedStatementPayment{
			stored.ID, stored.PaidOn, stored.Amount, stored.Currency, stored.Reference,
		})
	})
	return made, created, core.NotFoundAs(fault.RecordNotFound, err, "There is no statement %d.", id)
}

type auditedStatementPayment struct {
	ID        int64          `json:"id"`
	Date      civil.Day      `json:"date"`
	Total     int64          `json:"total"`
	Currency  money.Currency `json:"currencies"`
	Reference string         `json:"reference"`
}

// Payments reads one page of the payments against a statement.
func (s *Statements) Payments(
	ctx context.Context, actor auth.Actor, id int64, page travel.Page,
) (travel.List[travel.StatementPayment], error) {
	return readStatements(ctx, s.Core, actor, func(tx *db.Tx) (travel.List[travel.StatementPayment], error) {
		if _, err := Statement(tx, actor.SiteID, id); err != nil {
			return travel.List[travel.StatementPayment]{}, err
		}
		return StatementPayments(tx, actor.SiteID, id, page)
	})
}

// readStatements is read for those who may see statements.
func readStatements[T any](
	ctx context.Context, c *core.Core, actor auth.Actor, fn func(tx *db.Tx) (T, error),
) (found T, err error) {
	if err := actor.Require(auth.ReadStatements); err != nil {
		return found, err
	}
	found, err = core.Read(ctx, c, actor, fn)
	return found, core.NotFoundAs(fault.RecordNotFound, err, "There is no such statement.")
}
