package statements

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// Ages are the spans of days since the due day by which receivables are added up: not due yet, then up to each number of days,
// and the last one has no end.
var Ages = [5]string{"Not due", "1 to 30 days", "31 to 60 days", "61 to 90 days", "Over 90 days"}

// ageOf is the place in Ages of a statement that was due so many days ago.
func ageOf(days int64) int {
	switch {
	case days <= 0:
		return 0
	case days <= 90:
		return int((days-1)/30) + 1
	}
	return 4
}

// ReceivablesQuery says which sites are looked at.
type ReceivablesQuery struct {
	Path    string // of the only site; "" for all sandboxes, or all other sites
	Sandbox bool
}

// Receivables are the open amounts of statements, each on the current day of its site.
type Receivables struct {
	Sums []Receivable // by currency and site, the largest amounts of a currency first
	// Open are the statements of one page, the longest overdue first.
	Open store.List[OpenStatement]
}

// Receivable adds up what one site owes in one currency, in minor units of it, by Ages.
type Receivable struct {
	Path, Name string
	Currency   money.Currency
	Open       int64
	ByAge      [5]int64
}

// OpenStatement is a statement that is not paid in full.
type OpenStatement struct {
	Path, Name string // of the site
	ID, Number int64
	ChannelID  int64
	Channel    string
	Due        civil.Day
	Overdue    int64 // days; 0 or less for one that is not due yet
	Currency   money.Currency
	Closing    int64
	Open       int64 // of what this statement has added
	siteID     int64
}

// Receivables reads the open amounts, over all sites or on one. It is for operators, not for API tokens. It looks at
// every statement of the sites, so it is a report.
func (s *Statements) Receivables(ctx context.Context, actor access.Actor, q ReceivablesQuery, page store.Page) (Receivables, error) {
	if err := actor.Require(access.ManageSites); err != nil {
		return Receivables{}, err
	}
	if !actor.Everywhere() {
		return Receivables{}, errs.New(errs.Forbidden, "An API token can only see the statements of its own site.")
	}
	return sites.Report(ctx, s.DB, actor, func(tx *store.Tx) (Receivables, error) {
		return receivables(tx, q, page)
	})
}

// openAccount is one that statements charge: all of a channel in one currency.
type openAccount struct {
	siteID, channelID int64
	currency          money.Currency
}

// receivables iterates over the open statements, account by account. The open amount of a statement includes that of
// earlier statements, so each counts with the difference.
func receivables(tx *store.Tx, q ReceivablesQuery, page store.Page) (Receivables, error) {
	var w sqltext.Where
	today := fmt.Sprintf("(%s + t.clock_ahead) / 86400000000", w.Arg(store.Micros(sites.RealNow(tx))))
	w.And(openOfStatement("s.site_id") + " > 0")
	if w.And("t.sandbox = ?", q.Sandbox); q.Path != "" {
		w.And("t.path = ?", q.Path)
	}
	var list []OpenStatement
	var last openAccount
	var before int64
	err := tx.Query(`SELECT t.path, t.name, s.site_id, s.id, s.number, s.channel_id, c.name, s.due_day, s.currency, s.closing, `+
		openOfStatement("s.site_id")+`, `+today+` FROM statements s JOIN sites t ON t.id = s.site_id
		JOIN channels c ON c.site_id = s.site_id AND c.id = s.channel_id WHERE `+w.Text.String()+`
		ORDER BY s.site_id, s.channel_id, s.currency, s.until_at`, w.Args,
		func(scan func(dest ...any) error) error {
			var o OpenStatement
			var day civil.Day
			err := scan(&o.Path, &o.Name, &o.siteID, &o.ID, &o.Number, &o.ChannelID, &o.Channel, &o.Due, &o.Currency, &o.Closing, &o.Open, &day)
			of := openAccount{o.siteID, o.ChannelID, o.Currency}
			if of != last {
				last, before = of, 0
			}
			before, o.Open, o.Overdue = o.Open, o.Open-before, int64(day-o.Due)
			if o.Open > 0 {
				list = append(list, o)
			}
			return err
		})
	if err != nil {
		return Receivables{}, err
	}
	slices.SortFunc(list, func(a, b OpenStatement) int {
		return cmp.Or(cmp.Compare(b.Overdue, a.Overdue), cmp.Compare(b.Open, a.Open), cmp.Compare(a.ID, b.ID))
	})
	return Receivables{Sums: sumsOf(list), Open: store.PageOf(list, page, nil)}, nil
}

func sumsOf(list []OpenStatement) (sums []Receivable) {
	for _, o := range list {
		i := slices.IndexFunc(sums, func(r Receivable) bool { return r.Path == o.Path && r.Currency == o.Currency })
		if i < 0 {
			sums = append(sums, Receivable{Path: o.Path, Name: o.Name, Currency: o.Currency})
			i = len(sums) - 1
		}
		sums[i].Open += o.Open
		sums[i].ByAge[ageOf(o.Overdue)] += o.Open
	}
	slices.SortFunc(sums, func(a, b Receivable) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(b.Open, a.Open), cmp.Compare(a.Path, b.Path))
	})
	return sums
}
