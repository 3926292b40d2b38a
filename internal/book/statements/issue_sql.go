package statements

import (
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// progress says up to when the statements of a channel are issued.
type progress struct {
	Channel merchant.Channel
	Covered time.Time // zero: none was ever due
}

// sitesDue lists the sites with a channel that has an ended period without statements, and sites whose clock is ahead,
// where each channel is checked.
func sitesDue(tx *store.Tx) ([]sites.Clock, error) {
	ahead, err := sites.ClocksAhead(tx)
	if err != nil {
		return nil, err
	}
	today, args := civil.DayOf(sites.RealNow(tx).Add(-store.FinalAfter)), []any{}
	for _, kind := range []string{terms.PeriodWeek, terms.PeriodBiweek, terms.PeriodMonth} {
		args = append(args, store.Micros(terms.PeriodOf(kind, today).First.Start()))
	}
	list, err := store.Ids(tx, `SELECT DISTINCT c.site_id FROM channels c
		LEFT JOIN statement_progress p ON p.site_id = c.site_id AND p.channel_id = c.id
		WHERE NOT c.was_test AND COALESCE(p.covered_until, c.created_at)
			< CASE c.statement_period WHEN 'week' THEN CAST($1 AS BIGINT) WHEN 'biweek' THEN CAST($2 AS BIGINT) ELSE CAST($3 AS BIGINT) END ORDER BY c.site_id`, args...)
	for _, id := range list {
		if !slices.ContainsFunc(ahead, func(c sites.Clock) bool { return c.SiteID == id }) {
			ahead = append(ahead, sites.Clock{SiteID: id})
		}
	}
	return ahead, err
}

// progressAfter reads the progress of the channels of a site with ids after a given one, in order of these ids. Test
// channels have no statements.
func progressAfter(tx *store.Tx, siteID, after int64, limit int) ([]progress, error) {
	var list []progress
	err := tx.Query(`SELECT c.id, c.name, c.language, c.statement_period, c.created_at, p.covered_until FROM channels c
		LEFT JOIN statement_progress p ON p.site_id = c.site_id AND p.channel_id = c.id
		WHERE c.site_id = $1 AND c.id > $2 AND NOT c.was_test ORDER BY c.id LIMIT $3`, []any{siteID, after, limit},
		func(scan func(dest ...any) error) error {
			var p progress
			var created int64
			var covered sql.NullInt64
			c := &p.Channel
			err := scan(&c.ID, &c.Name, &c.Language, &c.StatementPeriod, &created, &covered)
			c.SiteID, c.CreatedAt, p.Covered = siteID, store.Instant(created), store.MaybeInstant(covered)
			list = append(list, p)
			return err
		})
	return list, err
}

// moveOn moves the progress of a channel, and so locks it for this write. moved is false if another write has moved it
// in the meantime: so no period is issued twice.
func moveOn(tx *store.Tx, siteID, channelID int64, from, until time.Time) (moved bool, err error) {
	_, err = tx.Exec(`INSERT INTO statement_progress (site_id, channel_id, covered_until) VALUES ($1, $2, $3)
		ON CONFLICT (site_id, channel_id) DO NOTHING`, siteID, channelID, store.Micros(from))
	if err != nil {
		return false, err
	}
	n, err := tx.Exec(`UPDATE statement_progress SET covered_until = $4
		WHERE site_id = $1 AND channel_id = $2 AND covered_until = $3`, siteID, channelID, store.Micros(from), store.Micros(until))
	return n == 1, err
}

// Booked adds up the premium lines of one kind, currency and policy.
type Booked struct {
	Currency money.Currency
	PolicyID int64
	protection.StatementSum
}

// BookedBetween adds up the premium lines of a channel that were recorded from an instant on and before another. In
// each currency the newest policy comes first.
func BookedBetween(tx *store.Tx, siteID, channelID int64, from, until time.Time) ([]Booked, error) {
	var list []Booked
	err := tx.Query(`SELECT currency, policy_id, kind, COUNT(*), CAST(SUM(amount) AS BIGINT), CAST(SUM(retained) AS BIGINT)
		FROM premium_lines
		WHERE site_id = $1 AND channel_id = $2 AND recorded_at >= $3 AND recorded_at < $4 AND NOT simulated
		GROUP BY currency, policy_id, kind ORDER BY currency, policy_id DESC, kind`,
		[]any{siteID, channelID, store.Micros(from), store.Micros(until)},
		func(scan func(dest ...any) error) error {
			var b Booked
			err := scan(&b.Currency, &b.PolicyID, &b.Kind, &b.Lines, &b.Amount, &b.Retained)
			list = append(list, b)
			return err
		})
	return list, err
}

// account is the account of a channel in one currency, after its last statement, in minor units.
type account struct {
	Closing int64
	Account int64 // as Closing, without the payments
}

// accountsOf reads the accounts of a channel, by currency.
func accountsOf(tx *store.Tx, siteID, channelID int64) (map[money.Currency]account, error) {
	accounts := map[money.Currency]account{}
	err := tx.Query(`SELECT s.currency, s.closing, s.account FROM statements s WHERE s.site_id = $1 AND s.channel_id = $2
		AND s.until_at = (SELECT MAX(t.until_at) FROM statements t
			WHERE t.site_id = $1 AND t.channel_id = s.channel_id AND t.currency = s.currency)`,
		[]any{siteID, channelID},
		func(scan func(dest ...any) error) error {
			var c money.Currency
			var a account
			err := scan(&c, &a.Closing, &a.Account)
			accounts[c] = a
			return err
		})
	return accounts, err
}

// TaxesBefore adds up the taxes of a channel's statements that end up to an instant, by currency.
func TaxesBefore(tx *store.Tx, siteID, channelID int64, until time.Time) (map[money.Currency]protection.EarlierTaxes, error) {
	taxed := map[money.Currency]protection.EarlierTaxes{}
	err := tx.Query(`SELECT currency, content FROM statements WHERE site_id = $1 AND channel_id = $2 AND until_at <= $3`,
		[]any{siteID, channelID, store.Micros(until)}, func(scan func(dest ...any) error) error {
			var currency money.Currency
			var text string
			if err := scan(&currency, &text); err != nil {
				return err
			}
			var content statementContent
			if err := json.Unmarshal([]byte(text), &content); err != nil {
				return err
			}
			if taxed[currency] == nil {
				taxed[currency] = protection.EarlierTaxes{}
			}
			taxed[currency].Add(content.Taxes)
			return nil
		})
	return taxed, err
}

// paidBetween adds up the payments of a channel that were recorded from an instant on and before another, by currency.
func paidBetween(tx *store.Tx, siteID, channelID int64, from, until time.Time) (map[money.Currency]int64, error) {
	paid := map[money.Currency]int64{}
	err := tx.Query(`SELECT currency, CAST(SUM(amount) AS BIGINT) FROM statement_payments
		WHERE site_id = $1 AND channel_id = $2 AND recorded_at >= $3 AND recorded_at < $4 GROUP BY currency`,
		[]any{siteID, channelID, store.Micros(from), store.Micros(until)},
		func(scan func(dest ...any) error) error {
			var c money.Currency
			var sum int64
			err := scan(&c, &sum)
			paid[c] = sum
			return err
		})
	return paid, err
}
