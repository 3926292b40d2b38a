package fixings

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const fixingColumns = `id, site_id, provider, currency, day, rate, recorded_at, expires_at, quote_id`

// candidatesPerProvider is how many fixings of a provider and currency UpTo reads. The last one counts, unless it
// is a manual quote that has expired.
const candidatesPerProvider = 8

func scanFixing(scan func(dest ...any) error) (fx.Fixing, error) {
	var f fx.Fixing
	var rate string
	var recorded int64
	var expires sql.NullInt64
	if err := scan(&f.ID, &f.SiteID, &f.Provider, &f.Currency, &f.Day, &rate, &recorded, &expires, &f.QuoteID); err != nil {
		return fx.Fixing{}, err
	}
	var err error
	if f.Rate, err = money.ParseRate(rate); err != nil {
		return fx.Fixing{}, fmt.Errorf("fixing %d: %w", f.ID, err)
	}
	f.RecordedAt, f.ExpiresAt = store.Instant(recorded), store.MaybeInstant(expires)
	return f, nil
}

// fixingsPerInsert is how many rows share an INSERT. Both engines allow many more parameters.
const fixingsPerInsert = 100

// Insert puts fixings on file. It passes over a fixing when there is already one with the same site, provider,
// currency, day and quote id.
func Insert(tx *store.Tx, list []fx.Fixing) error {
	if err := sites.RatesChanged(tx); err != nil {
		return err
	}
	if len(list) == 0 {
		return nil
	}
	for batch := range slices.Chunk(list, fixingsPerInsert) {
		var w sqltext.Where
		rows := make([]string, len(batch))
		ids, err := tx.NextIDs("fixings", store.Deployment, len(batch))
		if err != nil {
			return err
		}
		for i, f := range batch {
			rows[i] = "(" + strings.Join([]string{
				w.Arg(ids[i]), w.Arg(f.SiteID), w.Arg(f.Provider), w.Arg(f.Currency), w.Arg(f.Day), w.Arg(f.Rate.String()),
				w.Arg(store.Micros(sites.RealNow(tx))), w.Arg(store.MaybeMicros(f.ExpiresAt)), w.Arg(f.QuoteID),
			}, ", ") + ")"
		}
		_, err = tx.Exec(`INSERT INTO fixings (id, site_id, provider, currency, day, rate, recorded_at, expires_at, quote_id)
			VALUES `+strings.Join(rows, ", ")+` ON CONFLICT (site_id, provider, currency, day, quote_id) DO NOTHING`, w.Args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// Between reads the fixings of a provider that count for every site, from a first to a last day.
func Between(tx *store.Tx, p fx.Provider, first, last civil.Day) ([]fx.Fixing, error) {
	return fixings(tx, `site_id = 0 AND provider = $1 AND day BETWEEN $2 AND $3 ORDER BY id`, p, first, last)
}

// Within reads the fixings of the given providers and currencies from a first to a last day that were on file at
// the instant known. The euro has no fixings.
func Within(
	tx *store.Tx, providers []fx.Provider, currencies []money.Currency, first, last civil.Day, known time.Time,
) ([]fx.Fixing, error) {
	foreign := slices.DeleteFunc(slices.Clone(currencies), func(c money.Currency) bool { return c == money.EUR })
	if len(foreign) == 0 {
		return nil, nil
	}
	type question struct {
		siteID      int64
		what        string
		first, last civil.Day
	}
	siteID := tx.Clock.SiteID
	list, err := sites.KnownRates(tx, question{siteID, fmt.Sprint(providers, foreign), first, last}, func() ([]fx.Fixing, error) {
		return readFixingsWithin(tx, siteID, providers, foreign, first, last)
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	known, err = sites.RealTime(tx, known)
	// The clock of another process may be a little ahead. What it recorded after known does not count yet.
	return slices.DeleteFunc(slices.Clone(list), func(f fx.Fixing) bool { return f.RecordedAt.After(known) }), err
}

func readFixingsWithin(
	tx *store.Tx, siteID int64, providers []fx.Provider, foreign []money.Currency, first, last civil.Day,
) ([]fx.Fixing, error) {
	var w sqltext.Where
	w.And("site_id = 0 OR site_id = ?", siteID)
	sqltext.In(&w, "currency", foreign)
	sqltext.In(&w, "provider", providers)
	w.And("day BETWEEN ? AND ?", first, last)
	return fixings(tx, w.Text.String()+` ORDER BY id`, w.Args...)
}

func fixings(tx *store.Tx, condition string, args ...any) ([]fx.Fixing, error) {
	return fixingsOf(tx, `SELECT `+fixingColumns+` FROM fixings WHERE `+condition, args)
}

func fixingsOf(tx *store.Tx, query string, args []any) ([]fx.Fixing, error) {
	var list []fx.Fixing
	err := tx.Query(query, args, func(scan func(dest ...any) error) error {
		f, err := scanFixing(scan)
		list = append(list, f)
		return err
	})
	return list, err
}

// seriesPerQuery is how many pairs of currency and provider one statement looks up. SQLite allows 500.
const seriesPerQuery = 100

// SpotQuote finds the quote that values an amount at the end of a day (R7), with the fixings that count for a site, as
// known now. ok is false when a leg has no fixing.
func SpotQuote(tx *store.Tx, siteID int64, from, to money.Currency, day civil.Day) (quote fx.Quote, ok bool, err error) {
	site, err := sites.Alone(tx, siteID)
	if err != nil {
		return fx.Quote{}, false, err
	}
	list, err := UpTo(tx, ProvidersOf(site), []money.Currency{from, to}, day, tx.Now)
	if err != nil {
		return fx.Quote{}, false, err
	}
	quote, ok = fx.Spot(fx.NewTable(list), from, to, day, tx.Now)
	return quote, ok, nil
}

// UpTo reads the fixings that can count on a day for the given currencies: for each provider, the last few fixings
// up to that day that were on file at the instant known. The euro has no fixings.
func UpTo(
	tx *store.Tx, providers []fx.Provider, currencies []money.Currency, day civil.Day, known time.Time,
) ([]fx.Fixing, error) {
	known, err := sites.RealTime(tx, known)
	if err != nil {
		return nil, err
	}
	type series struct {
		currency money.Currency
		provider fx.Provider
	}
	var wanted []series
	for _, c := range currencies {
		for _, p := range providers {
			if c != money.EUR {
				wanted = append(wanted, series{c, p})
			}
		}
	}
	var list []fx.Fixing
	for some := range slices.Chunk(wanted, seriesPerQuery) {
		var w sqltext.Where
		lookups := make([]string, len(some))
		for i, s := range some {
			lookups[i] = fmt.Sprintf(`SELECT * FROM (SELECT `+fixingColumns+` FROM fixings
				WHERE currency = %s AND provider = %s AND day <= %s AND recorded_at <= %s AND (site_id = 0 OR site_id = %s)
				ORDER BY day DESC, id DESC LIMIT %s) AS last`, w.Arg(s.currency), w.Arg(s.provider), w.Arg(day),
				w.Arg(store.Micros(known)), w.Arg(tx.Clock.SiteID), w.Arg(candidatesPerProvider))
		}
		found, err := fixingsOf(tx, strings.Join(lookups, " UNION ALL "), w.Args)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// Quote reads the manual quote of a site for a currency and a day with a quote id.
func Quote(tx *store.Tx, siteID int64, currency money.Currency, day civil.Day, quoteID string) (fx.Fixing, error) {
	list, err := fixings(tx, `site_id = $1 AND provider = $2 AND currency = $3 AND day = $4 AND quote_id = $5`,
		siteID, fx.Manual, currency, day, quoteID)
	switch {
	case err != nil:
		return fx.Fixing{}, err
	case len(list) == 0:
		return fx.Fixing{}, store.ErrNotFound
	}
	return list[0], nil
}

// Page reads one page of the fixings that apply to a site: its own, and those for all sites.
func Page(tx *store.Tx, siteID int64, f fx.Filter, page store.Page) (store.List[fx.Fixing], error) {
	var w sqltext.Where
	w.And("site_id = 0 OR site_id = ?", siteID)
	sqltext.In(&w, "currency", f.Currencies)
	sqltext.In(&w, "provider", f.Providers)
	if f.First != civil.NoDay {
		w.And("day >= ?", f.First)
	}
	if f.Last != civil.NoDay {
		w.And("day <= ?", f.Last)
	}
	orders := store.Orders{"modified": "recorded_at", "date": "day", "currency": `currency COLLATE "C"`}
	return store.ListPage(tx, "fixings", fixingColumns, &w, page, orders, scanFixing)
}
