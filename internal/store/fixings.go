package store

import (
	"database/sql"
	"fmt"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/fx"
	"holdfast/internal/money"
)

const fixingColumns = `id, provider, currency, day, rate, recorded_at, expires_at, quote_id`

// candidatesPerProvider is how many fixings of a provider and currency are read for one lookup: the last one counts
// unless it is a manual quote that has expired.
const candidatesPerProvider = 8

func scanFixing(scan func(dest ...any) error) (fx.Fixing, error) {
	var f fx.Fixing
	var rate string
	var recorded int64
	var expires sql.NullInt64
	if err := scan(&f.ID, &f.Provider, &f.Currency, &f.Day, &rate, &recorded, &expires, &f.QuoteID); err != nil {
		return fx.Fixing{}, err
	}
	var err error
	if f.Rate, err = money.ParseRate(rate); err != nil {
		return fx.Fixing{}, fmt.Errorf("fixing %d: %w", f.ID, err)
	}
	f.RecordedAt, f.ExpiresAt = instant(recorded), maybeInstant(expires)
	return f, nil
}

// InsertFixing puts a fixing on file; inserted is false where its provider, currency, day and quote are on file
// already, whose rate is then returned.
func (tx *Tx) InsertFixing(f fx.Fixing) (onFile money.Rate, inserted bool, err error) {
	err = tx.each(`INSERT INTO fixings (provider, currency, day, rate, recorded_at, expires_at, quote_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (provider, currency, day, quote_id) DO NOTHING
			RETURNING id`,
		[]any{f.Provider, f.Currency, f.Day, f.Rate.String(), micros(tx.Now), maybeMicros(f.ExpiresAt), f.QuoteID},
		func(scan func(dest ...any) error) error {
			inserted = true
			var id int64
			return scan(&id)
		})
	if err != nil || inserted {
		return f.Rate, inserted, err
	}
	var rate string
	err = tx.row(`SELECT rate FROM fixings WHERE provider = $1 AND currency = $2 AND day = $3 AND quote_id = $4`,
		[]any{f.Provider, f.Currency, f.Day, f.QuoteID}, &rate)
	if err != nil {
		return money.Rate{}, false, err
	}
	onFile, err = money.ParseRate(rate)
	return onFile, false, err
}

// FixingsUpTo reads what can count on a day for the given currencies: of each provider the last few fixings dated on
// or before it and on file at known. The euro needs none and is passed over.
func (tx *Tx) FixingsUpTo(
	providers []fx.Provider, currencies []money.Currency, day civil.Day, known time.Time,
) ([]fx.Fixing, error) {
	var list []fx.Fixing
	for _, c := range currencies {
		if c == money.EUR {
			continue
		}
		for _, p := range providers {
			err := tx.each(`SELECT `+fixingColumns+` FROM fixings
				WHERE currency = $1 AND provider = $2 AND day <= $3 AND recorded_at <= $4
				ORDER BY day DESC, id DESC LIMIT $5`,
				[]any{c, p, day, micros(known), candidatesPerProvider},
				func(scan func(dest ...any) error) error {
					f, err := scanFixing(scan)
					list = append(list, f)
					return err
				})
			if err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}
