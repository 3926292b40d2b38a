package report

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// RatioQuery selects the month of a report of ratios.
type RatioQuery struct {
	Problems errs.Problems
	Month    string // YYYY-MM
}

// RatioReport has the dispute ratios of a month, for the site with and without merchants that are insolvent, and by merchant.
type RatioReport struct {
	Period     terms.Period
	AsOf       civil.Day // the last day of the month, or today while it is not over
	All        dispute.Volume
	Sound      dispute.Volume // without insolvent merchants
	Merchants  []MerchantVolume
	Thresholds *dispute.Thresholds // in force on the last day of the month; nil: none
}

// MerchantVolume is the volume of a merchant.
type MerchantVolume struct {
	ChannelID int64
	Merchant  string
	Insolvent bool // on some day of the month
	dispute.Volume
}

// Ratios computes the dispute ratios of a month from what is recorded now (R15).
func (e *Exposure) Ratios(ctx context.Context, actor access.Actor, in RatioQuery) (RatioReport, error) {
	if err := actor.Require(access.ReadDisputes); err != nil {
		return RatioReport{}, err
	}
	problems := in.Problems.Clone()
	period, err := monthOf(in.Month)
	switch {
	case in.Month == "":
		problems.Missing("period")
	case err != nil:
		problems.Wrong("period", "Must be a month such as 2024-06.")
	}
	if err := problems.Err(); err != nil {
		return RatioReport{}, err
	}
	return sites.Report(ctx, e.DB, actor, func(tx *store.Tx) (report RatioReport, err error) {
		defer money.Catch(&err)
		report = RatioReport{Period: period, AsOf: min(period.Last, civil.DayOf(tx.Now))}
		if t, ok := dispute.ThresholdsOn(period.Last); ok {
			report.Thresholds = &t
		}
		list, err := volumesOf(tx, actor.SiteID, period)
		for _, m := range list {
			report.All = report.All.Add(m.Volume)
			if !m.Insolvent {
				report.Sound = report.Sound.Add(m.Volume)
			}
		}
		report.Merchants = list
		return report, err
	})
}

// volumesOf reads the volumes of a month by merchant, those with the most disputes first.
func volumesOf(tx *store.Tx, siteID int64, month terms.Period) ([]MerchantVolume, error) {
	volumes := map[int64]dispute.Volume{}
	if err := paidIn(tx, siteID, month, volumes); err != nil {
		return nil, err
	}
	if err := disputedIn(tx, siteID, month, volumes); err != nil {
		return nil, err
	}
	insolvent := map[int64]bool{}
	failed, err := store.Ids(tx, `SELECT channel_id FROM insolvencies WHERE site_id = $1 AND confirmed_at IS NOT NULL AND state <> 'withdrawn'
		AND trigger_at < $2 AND (reinstated_at IS NULL OR reinstated_at >= $3) ORDER BY id`,
		siteID, store.Micros((month.Last + 1).Start()), store.Micros(month.First.Start()))
	if err != nil {
		return nil, err
	}
	for _, id := range failed {
		insolvent[id] = true
	}
	var list []MerchantVolume
	err = tx.Query(`SELECT id, name FROM channels WHERE site_id = $1 ORDER BY id`, []any{siteID}, func(scan func(dest ...any) error) error {
		var m MerchantVolume
		err := scan(&m.ChannelID, &m.Merchant)
		if v, ok := volumes[m.ChannelID]; ok {
			m.Volume, m.Insolvent = v, insolvent[m.ChannelID]
			list = append(list, m)
		}
		return err
	})
	slices.SortStableFunc(list, func(a, b MerchantVolume) int {
		return cmp.Or(cmp.Compare(b.Disputes, a.Disputes), cmp.Compare(b.Payments, a.Payments))
	})
	return list, err
}

// paidIn adds the card payments of a month, without those of test merchants.
func paidIn(tx *store.Tx, siteID int64, month terms.Period, volumes map[int64]dispute.Volume) error {
	return tx.Query(`SELECT channel_id, currency, COUNT(DISTINCT transaction_id), CAST(SUM(amount) AS BIGINT) FROM allocations
		WHERE site_id = $1 AND effective_at >= $2 AND effective_at < $3 AND NOT simulated AND reason <> $4
		GROUP BY channel_id, currency ORDER BY channel_id, currency`,
		[]any{siteID, store.Micros(month.First.Start()), store.Micros((month.Last + 1).Start()), protection.ReasonNotCardPayment},
		func(scan func(dest ...any) error) error {
			var channel int64
			var v dispute.Volume
			var in dispute.VolumeIn
			err := scan(&channel, &in.Currency, &v.Payments, &in.Paid)
			v.Amounts = []dispute.VolumeIn{in}
			volumes[channel] = volumes[channel].Add(v)
			return err
		})
}

// disputedIn adds the chargebacks whose first debit is of a month, each with the amount of that debit. Debits that were undone, because
// the dispute was matched to another payment, do not count.
func disputedIn(tx *store.Tx, siteID int64, month terms.Period, volumes map[int64]dispute.Volume) error {
	type first struct {
		day     civil.Day
		channel int64
		in      dispute.VolumeIn
	}
	firsts := map[int64]first{} // by dispute
	err := tx.Query(`SELECT p.dispute_id, p.day, t.channel_id, d.base_currency, p.base FROM dispute_postings p
		JOIN disputes d ON d.site_id = $1 AND d.id = p.dispute_id
		JOIN transactions t ON t.site_id = $1 AND t.id = p.transaction_id
		LEFT JOIN dispute_postings u ON u.site_id = $1 AND u.undoes = p.id
		WHERE p.site_id = $1 AND p.kind = 'debit' AND p.undoes IS NULL AND u.id IS NULL AND p.day <= $2
			AND EXISTS (SELECT 1 FROM allocations a WHERE a.site_id = $1 AND a.transaction_id = p.transaction_id AND NOT a.simulated)
		ORDER BY p.dispute_id, p.day DESC, p.id DESC`, []any{siteID, month.Last}, func(scan func(dest ...any) error) error {
		var id int64
		var f first
		err := scan(&id, &f.day, &f.channel, &f.in.Currency, &f.in.Disputed)
		firsts[id] = f // the last one read is the first
		return err
	})
	for _, id := range slices.Sorted(maps.Keys(firsts)) {
		if f := firsts[id]; f.day >= month.First {
			volumes[f.channel] = volumes[f.channel].Add(dispute.Volume{Disputes: 1, Amounts: []dispute.VolumeIn{f.in}})
		}
	}
	return err
}
