package claims

import (
	"cmp"
	"context"
	"slices"
	"time"

	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// The bounds of years of account.
const (
	FirstYear = 1990
	LastYear  = 2200
)

// YearReport has the claims of a year of account against its premium and its aggregate limit (R13).
type YearReport struct {
	Year     int
	AsOf     civil.Day
	Accounts []Account // one per policy currency
}

// Account is a year of account in one policy currency.
type Account struct {
	Currency money.Currency
	Limit    int64 // the aggregate limit of the policy in force at the last trigger; 0: none
	claim.Account
	Merchants []MerchantAccount // those with the largest incurred amount first
}

// Remaining is the part of the aggregate limit that no claim uses.
func (a Account) Remaining() int64 { return max(0, a.Limit-a.Covered) }

// MerchantAccount is a merchant in a year of account.
type MerchantAccount struct {
	ChannelID    int64
	Merchant     string
	Insolvencies []int64 // of the year
	claim.Account
}

// YearOfAccount reports the aggregate used and the loss ratios of a year of account. Year 0 is the present one.
func (r *Claims) YearOfAccount(ctx context.Context, actor access.Actor, year int64, problems errs.Problems) (YearReport, error) {
	if err := actor.Require(access.ReadFailures); err != nil {
		return YearReport{}, err
	}
	p := problems.Clone()
	if year != 0 && (year < FirstYear || year > LastYear) {
		p.Wrong("year", "Must be between %d and %d.", FirstYear, LastYear)
	}
	if err := p.Err(); err != nil {
		return YearReport{}, err
	}
	return sites.Report(ctx, r.DB, actor, func(tx *store.Tx) (report YearReport, err error) {
		defer money.Catch(&err)
		report = YearReport{Year: cmp.Or(int(year), tx.Now.Year()), AsOf: civil.DayOf(tx.Now)}
		report.Accounts, err = accountsOf(tx, actor.SiteID, report.Year)
		return report, err
	})
}

// accountsOf adds up the premium and the insolvencies of a year by policy currency and merchant.
func accountsOf(tx *store.Tx, siteID int64, year int) (accounts []Account, err error) {
	all, err := coversOf(tx, siteID)
	if err != nil {
		return nil, err
	}
	of := func(c money.Currency) *Account {
		i := slices.IndexFunc(accounts, func(a Account) bool { return a.Currency == c })
		if i < 0 {
			i, accounts = len(accounts), append(accounts, Account{Currency: c})
		}
		return &accounts[i]
	}
	err = premiumOf(tx, siteID, year, func(c money.Currency, m MerchantAccount) {
		a := of(c)
		a.Account, a.Merchants = a.Add(m.Account), append(a.Merchants, m)
	})
	if err != nil {
		return nil, err
	}
	years := map[money.Currency][]insolvencyCover{}
	for _, i := range all {
		if claim.Year(i.TriggerAt) == year {
			of(i.currency)
			years[i.currency] = append(years[i.currency], i)
		}
	}
	for i := range accounts {
		if err := accounts[i].addLosses(tx, years[accounts[i].Currency]); err != nil {
			return nil, err
		}
		slices.SortStableFunc(accounts[i].Merchants, func(a, b MerchantAccount) int {
			return cmp.Or(cmp.Compare(b.Incurred(), a.Incurred()), cmp.Compare(a.ChannelID, b.ChannelID))
		})
	}
	slices.SortFunc(accounts, func(a, b Account) int { return cmp.Compare(a.Currency, b.Currency) })
	return accounts, nil
}

// addLosses adds the insolvencies of the year.
func (a *Account) addLosses(tx *store.Tx, year []insolvencyCover) error {
	in := inputsOf(year)
	for i, y := range year {
		if in[i].Closed {
			continue
		}
		var err error
		if _, _, in[i].Expected, err = y.expected(tx, civil.DayOf(tx.Now), nil); err != nil {
			return err
		}
	}
	a.Limit = claim.Aggregate(in)
	for i, p := range claim.Positions(in) {
		y := year[i]
		at := slices.IndexFunc(a.Merchants, func(m MerchantAccount) bool { return m.ChannelID == y.ChannelID })
		if at < 0 {
			c, err := merchants.Channel(tx, y.SiteID, y.ChannelID)
			if err != nil {
				return err
			}
			at, a.Merchants = len(a.Merchants), append(a.Merchants, MerchantAccount{ChannelID: c.ID, Merchant: c.Name})
		}
		m := &a.Merchants[at]
		loss := claim.Account{Payable: p.Payable, Covered: p.Covered, Paid: p.Paid, Reserve: p.Reserve}
		m.Insolvencies, m.Account, a.Account = append(m.Insolvencies, y.ID), m.Add(loss), a.Add(loss)
	}
	return nil
}

// inputsOf has the inputs of the cover of insolvencies, without reserves and without single claims.
func inputsOf(year []insolvencyCover) []claim.Insolvency {
	in := make([]claim.Insolvency, len(year))
	for i, y := range year {
		in[i] = claim.Insolvency{TriggerAt: y.TriggerAt, Cover: y.cover, Claims: []claim.Owed{y.total}, Closed: y.State != insolvencies.Open}
	}
	return in
}

// premiumOf calls each with the premium that was booked for a merchant in a year, without the minimums of statements.
func premiumOf(tx *store.Tx, siteID int64, year int, each func(money.Currency, MerchantAccount)) error {
	start := func(year int) int64 { return store.Micros(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)) }
	return tx.Query(`SELECT l.currency, l.channel_id, c.name, CAST(SUM(l.amount) AS BIGINT) FROM premium_lines l
		JOIN channels c ON c.site_id = $1 AND c.id = l.channel_id
		WHERE l.site_id = $1 AND l.recorded_at >= $2 AND l.recorded_at < $3 AND NOT l.simulated
		GROUP BY l.currency, l.channel_id, c.name ORDER BY l.currency, l.channel_id`, []any{siteID, start(year), start(year + 1)},
		func(scan func(dest ...any) error) error {
			var c money.Currency
			var m MerchantAccount
			err := scan(&c, &m.ChannelID, &m.Merchant, &m.Premium)
			each(c, m)
			return err
		})
}
