package insolvencies

import (
	"database/sql"
	"errors"
	"time"

	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const lineColumns = `id, site_id, insolvency_id, allocation_id, transaction_id, booking_id, currency, remaining, undelivered, last_day,
	policy_currency, from_rate, to_rate, not_eligible`

// insertLines stores lines of the snapshot of an insolvency. They never change.
func insertLines(tx *store.Tx, i Insolvency, lines []claim.SnapshotLine) error {
	ids, err := tx.NextIDs("insolvency_lines", i.SiteID, len(lines))
	if err != nil {
		return err
	}
	for n, l := range lines {
		policy, from, to := l.RateTexts()
		tx.Insert("insolvency_lines", lineColumns, []any{ids[n], i.SiteID, i.ID, l.AllocationID, l.TransactionID, l.BookingID, l.Currency,
			l.Remaining, l.Undelivered, l.LastDay, policy, from, to, l.Ineligible})
	}
	return nil
}

// insertSnapshot stores the snapshot of an insolvency as a fact.
func insertSnapshot(tx *store.Tx, i Insolvency) error {
	id, err := tx.NextID("insolvency_snapshots", i.SiteID)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO insolvency_snapshots (site_id, id, insolvency_id, channel_id, trigger_at, confirmed_at, lines, sha256, made_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, i.SiteID, id, i.ID, i.ChannelID, store.Micros(i.TriggerAt), store.Micros(i.ConfirmedAt),
		i.Snapshot.Lines, i.Snapshot.SHA256, store.Micros(i.Snapshot.MadeAt))
	return err
}

// LinesAfter reads up to limit lines of the snapshot of an insolvency, with allocations greater than after, in order of the
// allocations. Their quotes have the rates, without provider and day.
func LinesAfter(tx *store.Tx, siteID, insolvencyID, after int64, limit int) (list []claim.SnapshotLine, err error) {
	err = tx.Query(`SELECT `+snapshotColumns+` FROM insolvency_lines l
		WHERE l.site_id = $1 AND l.insolvency_id = $2 AND l.allocation_id > $3
		ORDER BY l.allocation_id LIMIT $4`, []any{siteID, insolvencyID, after, limit}, func(scan func(dest ...any) error) error {
		l, err := scanLine(scan)
		list = append(list, l)
		return err
	})
	return list, err
}

// LinesOf reads the lines of some allocations in the snapshot of an insolvency, by allocation. Allocations outside it have none.
func LinesOf(tx *store.Tx, siteID, insolvencyID int64, allocations []int64) (map[int64]claim.SnapshotLine, error) {
	var w sqltext.Where
	w.And("l.site_id = ?", siteID)
	w.And("l.insolvency_id = ?", insolvencyID)
	sqltext.In(&w, "l.allocation_id", allocations)
	lines := make(map[int64]claim.SnapshotLine, len(allocations))
	err := tx.Query(`SELECT `+snapshotColumns+` FROM insolvency_lines l WHERE `+w.Text.String(), w.Args, func(scan func(dest ...any) error) error {
		l, err := scanLine(scan)
		lines[l.AllocationID] = l
		return err
	})
	return lines, err
}

// ClaimsClosedAt is when the claims of an insolvency were closed; zero while they are open.
func ClaimsClosedAt(tx *store.Tx, siteID, id int64) (time.Time, error) {
	var at sql.NullInt64
	err := tx.QueryRow(`SELECT MAX(recorded_at) FROM insolvency_events
		WHERE site_id = $1 AND insolvency_id = $2 AND action = 'insolvency.close_claims'`, []any{siteID, id}, &at)
	return store.MaybeInstant(at), err
}

// snapshotColumns are the columns that scanLine reads of a line l.
const snapshotColumns = `l.allocation_id, l.transaction_id, l.booking_id, l.currency, l.remaining, l.undelivered, l.last_day,
	l.policy_currency, l.from_rate, l.to_rate, l.not_eligible`

func scanLine(scan func(dest ...any) error, more ...any) (claim.SnapshotLine, error) {
	var l claim.SnapshotLine
	var from, to string
	err := scan(append([]any{&l.AllocationID, &l.TransactionID, &l.BookingID, &l.Currency, &l.Remaining, &l.Undelivered, &l.LastDay,
		&l.Quote.To, &from, &to, &l.Ineligible}, more...)...)
	if err != nil || l.Quote.To == "" {
		return l, err
	}
	l.Priced, l.Quote.From = true, l.Currency
	if from == "" { // both currencies are the same
		return l, nil
	}
	l.Quote.FromLeg.Currency, l.Quote.ToLeg.Currency = l.Quote.From, l.Quote.To
	var err2 error
	l.Quote.FromLeg.Rate, err = money.ParseRate(from)
	l.Quote.ToLeg.Rate, err2 = money.ParseRate(to)
	return l, errors.Join(err, err2)
}
