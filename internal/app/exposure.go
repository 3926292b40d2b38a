package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// finalAfter is how long after a moment a report about what was known then can no longer change (R0): a write lives at
// most five seconds.
const finalAfter = 10 * time.Second

// Exposure answers what would be lost if merchants failed (R7).
type Exposure struct{ *Core }

// ExposureQuery asks for an exposure report. Zero values stand for the defaults: today, what is known now, the policy
// currency, spot, by channel, all channels.
type ExposureQuery struct {
	Problems fault.Problems
	Moment
	Currency  money.Currency
	Valuation protection.Valuation
	By        protection.Dimension
	Channels  []int64
}

// ExposureReport is an exposure report with the names that its keys had then.
type ExposureReport struct {
	protection.Report
	Final        bool // asking again gives the same bytes for ever
	ChannelNames map[int64]string
}

// Moment is what every report is about: the end of a day, as known at an instant. Zero values stand for today and for
// what is known now.
type Moment struct {
	AsOf    *civil.Day
	KnownAt time.Time
}

// complete fills in the defaults and notes what cannot be known.
func (m Moment) complete(now time.Time, p *fault.Problems) (asOf civil.Day, knownAt time.Time) {
	asOf, knownAt = civil.DayOf(now), now
	if m.AsOf != nil {
		asOf = *m.AsOf
	}
	if !m.KnownAt.IsZero() {
		knownAt = m.KnownAt
	}
	if knownAt.After(now) {
		p.Wrong("known_at", "Nobody knows yet what will be known then.")
	}
	return asOf, knownAt
}

// Report computes an exposure report.
func (e *Exposure) Report(ctx context.Context, actor auth.Actor, in ExposureQuery) (ExposureReport, error) {
	return read(ctx, e.Core, actor, func(tx *store.Tx) (report ExposureReport, err error) {
		site, err := tx.Site(actor.SiteID)
		if err != nil {
			return report, err
		}
		q, err := in.complete(tx, site)
		if err != nil {
			return report, err
		}
		if report.Report, err = exposureOf(tx, site, q, in.Channels); err != nil {
			return report, err
		}
		report.Final = tx.Now.Sub(q.KnownAt) >= finalAfter
		report.ChannelNames, err = tx.ChannelNamesAt(site.ID, q.KnownAt)
		return report, err
	})
}

// complete fills in the defaults and refuses what cannot be answered, naming every wrong parameter.
func (in ExposureQuery) complete(tx *store.Tx, site travel.Site) (protection.ReportQuery, error) {
	p := in.Problems.Clone()
	q := protection.ReportQuery{
		Currency:  in.Currency,
		Valuation: cmp.Or(in.Valuation, protection.Valuations[0]),
		By:        cmp.Or(in.By, protection.Dimensions[0]),
	}
	q.AsOf, q.KnownAt = in.Moment.complete(tx.Now, &p)
	if !slices.Contains(protection.Valuations, q.Valuation) {
		p.Wrong("valuation", "This is not one of spot, locked.")
	}
	if !slices.Contains(protection.Dimensions, q.By) {
		p.Wrong("by", "This is not one of channel, month, currency, scheme, country.")
	}
	policy, err := tx.PolicyOn(site.ID, q.AsOf)
	if err != nil {
		return q, err
	}
	q.Recognition, q.Policy = policy.Recognition, policy.Currency
	if q.Currency == "" {
		q.Currency = policy.Currency
	}
	if q.Valuation == protection.Locked && q.Currency != policy.Currency {
		p.Wrong("currency", "Locked values exist in the policy currency, %s, alone.", policy.Currency)
	}
	return q, p.Err()
}

func exposureOf(
	tx *store.Tx, site travel.Site, q protection.ReportQuery, channels []int64,
) (protection.Report, error) {
	rates, err := tx.FixingsUpTo(providersOf(site), money.Currencies(), q.AsOf, q.KnownAt)
	if err != nil {
		return protection.Report{}, err
	}
	sums := protection.NewExposure(q, fx.NewTable(rates))
	if err := tx.Positions(site.ID, q.AsOf, q.KnownAt, channels, sums.Add); err != nil {
		return protection.Report{}, tooLarge(err)
	}
	report, err := sums.Report()
	return report, tooLarge(err)
}

// tooLarge tells the caller when a figure does not fit the report's currency: an input of its own making.
func tooLarge(err error) error {
	if errors.Is(err, money.ErrRange) {
		return &fault.Error{
			Kind: fault.Invalid, Message: "Invalid parameter(s): currency", Err: err,
			Params: map[string]string{"currency": "An amount is too large to be counted in this currency."},
		}
	}
	if err != nil {
		return fmt.Errorf("exposure: %w", err)
	}
	return nil
}
