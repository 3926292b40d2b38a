package ledger

import (
	"cmp"

	"holdfast/internal/domain/exposure"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// InsertDeltas appends changes of buckets, each as a separate row, so that no write waits for another one. Those
// without a recording time are recorded now.
func InsertDeltas(tx *store.Tx, siteID int64, deltas []exposure.Delta) {
	rows := make([][]any, len(deltas))
	for i, d := range deltas {
		rows[i] = []any{siteID, d.Day, d.ChannelID, d.Currency, d.Scheme, d.Country, d.Suppliers, d.Category,
			d.ValuedIn, d.Start, d.End, d.LastDay, d.Count, d.Amount, d.Locked, store.Micros(sites.RealNow(tx)),
			cmp.Or(d.Known, store.Micros(tx.Now))}
	}
	tx.Insert("exposure_deltas", `site_id, day, channel_id, currency, scheme, country, suppliers, standing,
		valued_in, start_day, end_day, last_day, counted, amount, locked, noted_at, known_at`, rows...)
}

const deltaColumns = `day, channel_id, currency, scheme, country, suppliers, standing, valued_in, start_day, end_day,
	last_day, counted, amount, locked, known_at`

func scanDelta(scan func(dest ...any) error) (d exposure.Delta, err error) {
	err = scan(&d.Day, &d.ChannelID, &d.Currency, &d.Scheme, &d.Country, &d.Suppliers, &d.Category, &d.ValuedIn,
		&d.Start, &d.End, &d.LastDay, &d.Count, &d.Amount, &d.Locked, &d.Known)
	return d, err
}
