package statements

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// channelsPerLook is how many channels one transaction looks at.
const channelsPerLook = 500

// IssueDue issues, on all sites, the statements of periods that have ended. It returns how many it issued.
func (s *Statements) IssueDue(ctx context.Context) (issued int, err error) {
	var clocks []sites.Clock
	err = s.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		clocks, err = sitesDue(tx)
		return err
	})
	for _, clock := range clocks {
		actor := access.System(clock.SiteID)
		actor.Ahead = clock.Ahead
		n, _, err := s.Issue(ctx, actor)
		issued += n
		if err != nil {
			return issued, fmt.Errorf("site %d: %w", clock.SiteID, err)
		}
	}
	return issued, err
}

// Issue issues the statements of ended periods on the actor's site. It returns how many it issued, and whether another process issued some
// at the same time. Each write issues one period of one channel and records the channel's progress. So Issue can be stopped at any point,
// and several processes can run it concurrently: none issues a period twice, and each returns once all statements exist.
func (s *Statements) Issue(ctx context.Context, actor access.Actor) (issued int, others bool, err error) {
	if err := actor.Require(access.IssueStatements); err != nil {
		return 0, false, err
	}
	for after := int64(0); ; {
		var list []progress
		var final time.Time
		err := s.ReadBy(ctx, sites.ClockFor(actor), func(tx *store.Tx) (err error) {
			if list, err = progressAfter(tx, actor.SiteID, after, channelsPerLook); err != nil {
				return err
			}
			final, err = sites.Final(tx, actor.SiteID)
			return err
		})
		if err != nil || len(list) == 0 {
			return issued, others, err
		}
		for _, p := range list {
			after = p.Channel.ID
			n, met, err := s.issueChannel(ctx, actor, p, final)
			issued, others = issued+n, others || met
			if err != nil {
				return issued, others, fmt.Errorf("channel %d: %w", p.Channel.ID, err)
			}
		}
	}
}

// EndedPeriods counts the ended periods of channels that have no statements. They were not final when Issue ran: writes that began in them
// could still be open.
type EndedPeriods struct {
	Count int
	From  time.Time // when all of them will be final, by the real clock
}

// Waiting counts the ended periods that Issue leaves for later.
func (s *Statements) Waiting(ctx context.Context, actor access.Actor) (ended EndedPeriods, err error) {
	if err := actor.Require(access.IssueStatements); err != nil {
		return ended, err
	}
	err = s.ReadBy(ctx, sites.ClockFor(actor), func(tx *store.Tx) error {
		ended = EndedPeriods{}
		final, err := sites.Final(tx, actor.SiteID)
		if err != nil {
			return err
		}
		last := final // the latest end of a period
		for after := int64(0); ; {
			list, err := progressAfter(tx, actor.SiteID, after, channelsPerLook)
			if err != nil {
				return err
			}
			for _, p := range list {
				after = p.Channel.ID
				for until := range endsOf(p, tx.Now) {
					ended.Count++
					last = slices.MaxFunc([]time.Time{last, until}, time.Time.Compare)
				}
			}
			if len(list) == 0 {
				ended.From, err = sites.FinalFrom(tx, last)
				return err
			}
		}
	})
	return ended, err
}

// issueChannel issues the statements of one channel, period by period, for all periods that ended by final. If another process issues one
// first, it continues with the next.
func (s *Statements) issueChannel(
	ctx context.Context, actor access.Actor, p progress, final time.Time,
) (issued int, others bool, err error) {
	for {
		period, from := nextPeriod(p)
		until := (period.Last + 1).Start()
		if until.After(final) {
			return issued, others, nil
		}
		made, err := sites.Write(ctx, s.DB, actor, func(tx *store.Tx) (int, error) {
			moved, err := moveOn(tx, actor.SiteID, p.Channel.ID, from, until)
			if err != nil || !moved {
				return -1, err
			}
			return issuePeriod(tx, actor.SiteID, p.Channel, period, from, until)
		})
		if err != nil {
			return issued, others, err
		}
		if made >= 0 {
			issued += made
			p.Covered = until
			continue
		}
		others = true
		again, err := s.progressOf(ctx, actor, p.Channel.ID)
		if err != nil || len(again) == 0 { // the channel was deleted
			return issued, others, err
		}
		p = again[0]
	}
}

// progressOf reads which statements of one channel have been issued. It returns nothing if the channel does not exist.
func (s *Statements) progressOf(ctx context.Context, actor access.Actor, channelID int64) (list []progress, err error) {
	err = s.ReadBy(ctx, sites.ClockFor(actor), func(tx *store.Tx) error {
		list, err = progressAfter(tx, actor.SiteID, channelID-1, 1)
		list = slices.DeleteFunc(list, func(p progress) bool { return p.Channel.ID != channelID })
		return err
	})
	return list, err
}

// nextPeriod returns the next period of a channel, and the recording time from which its statements start. If the
// channel's period length has changed, the first new period begins where the last old one ended, so it may be shorter.
func nextPeriod(p progress) (terms.Period, time.Time) {
	if p.Covered.IsZero() {
		period := terms.PeriodOf(p.Channel.StatementPeriod, civil.DayOf(p.Channel.CreatedAt))
		return period, period.First.Start()
	}
	from := civil.DayOf(p.Covered)
	period := terms.PeriodOf(p.Channel.StatementPeriod, from)
	period.First = from
	return period, p.Covered
}

// endsOf gives the ends, up to now, of the periods for which no statements of the channel were issued yet.
func endsOf(p progress, now time.Time) iter.Seq[time.Time] {
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

// issuePeriod issues the statements of a channel for a period: one for each currency, unless it would be empty.
func issuePeriod(
	tx *store.Tx, siteID int64, c merchant.Channel, period terms.Period, from, until time.Time,
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
	site.Policyholder.Name = cmp.Or(site.Policyholder.Name, site.Name)
	for _, currency := range slices.Sorted(maps.Keys(charges)) {
		statement := protection.Statement{
			SiteID: siteID, ChannelID: c.ID, Period: period, From: from, Until: until, Currency: currency,
			ChannelName: c.Name, Language: c.Language, Issuer: site.Issuer, Policyholder: site.Policyholder,
			Due: terms.AfterBusinessDays(civil.DayOf(tx.Now), policy.PaymentTermsDays),
		}
		if err := statement.AddUp(*charges[currency]); err != nil {
			return 0, fmt.Errorf("statement in %s: %w", currency, err)
		}
		if statement.Empty() {
			continue
		}
		if _, err := insert(tx, statement); err != nil {
			return 0, err
		}
		issued++
	}
	return issued, nil
}

// chargesOf reads the charges of a period, by currency: the premium lines, the payments, and the balance before.
func chargesOf(
	tx *store.Tx, siteID, channelID int64, from, until time.Time,
) (map[money.Currency]*protection.Charges, error) {
	charges := map[money.Currency]*protection.Charges{}
	of := func(c money.Currency) *protection.Charges {
		if charges[c] == nil {
			charges[c] = &protection.Charges{}
		}
		return charges[c]
	}
	accounts, err := accountsOf(tx, siteID, channelID)
	if err != nil {
		return nil, err
	}
	for currency, a := range accounts {
		of(currency).Opening, of(currency).Account = a.Closing, a.Account
	}
	taxed, err := TaxesBefore(tx, siteID, channelID, from)
	if err != nil {
		return nil, err
	}
	for currency, taxes := range taxed {
		of(currency).Taxed = taxes
	}
	paid, err := paidBetween(tx, siteID, channelID, from, until)
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

// addMinimum adds the shortfall to the minimum premium of the month, if a month ends in the period. A month in which
// the channel has no premium lines does not count: there was nothing to insure.
func addMinimum(
	tx *store.Tx, siteID, channelID int64, period terms.Period, policy terms.Policy,
	charges map[money.Currency]*protection.Charges,
) error {
	if policy.MinimumPerMonth <= 0 {
		return nil
	}
	month := terms.PeriodOf(terms.PeriodMonth, period.First)
	if month.Last > period.Last { // no month ends in this period of one or two weeks
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
	if charges[policy.Currency] == nil { // all lines of the month are on earlier statements
		charges[policy.Currency] = &protection.Charges{}
	}
	c := charges[policy.Currency]
	c.Minimum, c.MinTaxes = protection.Shortfall(month.Last.Month(), policy.MinimumPerMonth, sum), policy.TaxCodes
	return nil
}
