package ledger

import (
	"cmp"
	"slices"
	"strings"

	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/protection"
)

// deltasPerInsert is how many rows share an INSERT. Both engines take many more parameters.
const deltasPerInsert = 100

// InsertDeltas appends changes of buckets. Each is a row of its own, so that no write waits for another one. What does not
// say when it was recorded is recorded now.
func InsertDeltas(tx *db.Tx, siteID int64, deltas []protection.Delta) error {
	for batch := range slices.Chunk(deltas, deltasPerInsert) {
		var w db.Where
		rows := make([]string, len(batch))
		for i, d := range batch {
			rows[i] = w.Values(siteID, d.Day, d.ChannelID, d.Currency, d.Scheme, d.Country, d.Suppliers, d.Standing,
				d.ValuedIn, d.Start, d.End, d.LastDay, d.Count, d.Amount, d.Locked, db.Micros(core.RealNow(tx)),
				cmp.Or(d.Known, db.Micros(tx.Now)))
		}
		_, err := tx.Exec(`INSERT INTO exposure_deltas (site_id, day, channel_id, currency, scheme, country, suppliers,
				standing, valued_in, start_day, end_day, last_day, counted, amount, locked, noted_at, known_at)
			VALUES `+strings.Join(rows, ", "), w.Args...)
		if err != nil {
			return err
		}
	}
	return nil
}

const deltaColumns = `day, channel_id, currency, scheme, country, suppliers, standing, valued_in, start_day, end_day,
	last_day, counted, amount, locked, known_at`

func scanDelta(scan func(dest ...any) error) (d protection.Delta, err error) {
	err = scan(&d.Day, &d.ChannelID, &d.Currency, &d.Scheme, &d.Country, &d.Suppliers, &d.Standing, &d.ValuedIn,
		&d.Start, &d.End, &d.LastDay, &d.Count, &d.Amount, &d.Locked, &d.Known)
	return d, err
}
