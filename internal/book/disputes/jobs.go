package disputes

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/event"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Bounds of the jobs.
const (
	triedAtOnce   = 200 // cases that one write tries again
	alertedAtOnce = 200
	// settled is how old a payment is before waiting cases are tried with it. Every write that could have an earlier time has ended by then.
	settled = 10 * time.Second
	// retried is how long a case that waits for a rate is left alone.
	retried = time.Minute
	// alertDays is how many days before its deadline an open case is announced.
	alertDays = 3
)

// Retry tries the cases that wait for a payment with the payments that are new or changed since, and those that wait for a rate.
// more: there may be others.
func (d *Disputes) Retry(ctx context.Context) (more bool, err error) {
	return sites.Each(ctx, d.DB, sitesThatWait, triedAtOnce, d.retry)
}

// sitesThatWait selects the sites with cases that wait for a payment or a rate.
const sitesThatWait = `SELECT s.id, s.clock_ahead FROM site_places p JOIN sites s ON s.id = p.site_id WHERE $1 + s.clock_ahead > 0 AND EXISTS (
	SELECT 1 FROM disputes c WHERE c.site_id = p.site_id AND (c.matching <> 'matched' OR c.waiting > 0)) ORDER BY s.id`

func (d *Disputes) retry(tx *store.Tx, siteID int64, limit int) (tried int, err error) {
	ids, upTo, full, err := dueCases(tx, siteID, limit)
	if err != nil {
		return 0, err
	}
	site, err := merchants.SiteInForce(tx, siteID)
	if err != nil {
		return 0, err
	}
	actor := access.System(siteID)
	actor.Ahead = tx.Clock.Ahead
	w := &write{payments: d.Payments, tx: tx, actor: actor, site: site, origin: originProcessor}
	for _, id := range ids {
		if err := w.again(id); err != nil {
			return 0, err
		}
	}
	if err := setMark(tx, siteID, upTo); err != nil {
		return 0, err
	}
	if full {
		tried = limit
	}
	return tried, ledger.SaveChanges(tx)
}

// again tries to match a case, and to record what waits.
func (w *write) again(id int64) error {
	c, err := lockByID(w.tx, w.site.ID, id)
	if err != nil {
		return err
	}
	before := c
	if err := w.settle(&c, 0); err != nil {
		return err
	}
	if c.TransactionID == before.TransactionID && len(c.Postings) == len(before.Postings) {
		return saveCase(w.tx, c) // its candidates, and when it was tried
	}
	return w.save(before, &c, false)
}

// paymentsByCase has the columns that find the payment of a case, and those of the case that wait for them.
var paymentsByCase = [][2]string{
	{"acquirer_reference", "acquirer_reference"}, {"processor_reference", "processor_reference"}, {"processor_reference", "processor_alias"},
	{"reference", "payment_reference"}, {"last_four", "last_four"},
}

// changedPayments selects the cases that share a value with a payment changed in a range of time, and were not tried since. SQLite reads the
// left side of a CROSS JOIN first: with a plain JOIN it would read the range once for each case.
var changedPayments = func() string {
	var parts []string
	for _, c := range paymentsByCase {
		parts = append(parts, fmt.Sprintf(`SELECT c.id FROM (SELECT %[1]s AS value, MAX(modified_at) AS changed FROM transactions
				WHERE site_id = $1 AND modified_at > $2 AND modified_at <= $3 GROUP BY %[1]s) t
			CROSS JOIN disputes c WHERE c.site_id = $1 AND c.%[2]s = t.value AND c.matching <> 'matched' AND c.%[2]s <> ''
				AND c.tried_at < t.changed + $4`, c[0], c[1]))
	}
	return strings.Join(parts, " UNION ") + " ORDER BY 1 LIMIT $5"
}()

// dueCases lists the cases to try: those that share a reference or the last four digits with a payment changed since the mark, up to the
// mark that is returned, and those that wait for a rate. full: there may be more. The mark stays until all cases before it were tried.
func dueCases(tx *store.Tx, siteID int64, limit int) (ids []int64, upTo int64, full bool, err error) {
	var mark int64
	err = tx.QueryRow(`SELECT COALESCE((SELECT up_to FROM dispute_marks WHERE site_id = $1), 0)`, []any{siteID}, &mark)
	if err != nil {
		return nil, 0, false, err
	}
	// A batch of changed payments ends with a whole instant, so that none of the same instant is left out.
	last := store.Micros(tx.Now.Add(-settled))
	var end sql.NullInt64
	err = tx.QueryRow(`SELECT MAX(modified_at) FROM (SELECT modified_at FROM transactions WHERE site_id = $1 AND modified_at > $2 AND modified_at <= $3
		ORDER BY modified_at LIMIT $4) AS batch`, []any{siteID, mark, last, 10 * limit}, &end)
	if err != nil {
		return nil, 0, false, err
	}
	upTo = mark
	if end.Valid {
		upTo = end.Int64
		full = upTo < last
		ids, err = store.Ids(tx, changedPayments, siteID, mark, upTo, settled.Microseconds(), limit)
		if err != nil {
			return nil, 0, false, err
		}
		if len(ids) == limit {
			upTo, full = mark, true
		}
	}
	waiting, err := store.Ids(tx, `SELECT id FROM disputes WHERE site_id = $1 AND waiting > 0 AND tried_at <= $2 ORDER BY tried_at, id LIMIT $3`,
		siteID, store.Micros(tx.Now.Add(-retried)), limit)
	return append(ids, waiting...), upTo, full || len(waiting) == limit, err
}

func setMark(tx *store.Tx, siteID, upTo int64) error {
	_, err := tx.Exec(`INSERT INTO dispute_marks (site_id, up_to) VALUES ($1, $2)
		ON CONFLICT (site_id) DO UPDATE SET up_to = EXCLUDED.up_to`, siteID, upTo)
	return err
}

// Alert announces open cases whose deadline is near, once for each deadline. more: there may be others.
func (d *Disputes) Alert(ctx context.Context) (more bool, err error) {
	return sites.Each(ctx, d.DB, sitesWithDeadlines, alertedAtOnce, alert)
}

// sitesWithDeadlines selects the sites with open cases that are due soon, by the real time.
const sitesWithDeadlines = `SELECT s.id, s.clock_ahead FROM site_places p JOIN sites s ON s.id = p.site_id WHERE EXISTS (
	SELECT 1 FROM disputes c WHERE c.site_id = p.site_id AND c.status = 'open'
		AND c.due_day BETWEEN ($1 + s.clock_ahead) / 86400000000 AND ($1 + s.clock_ahead) / 86400000000 + 3
		AND (c.alerted_day IS NULL OR c.alerted_day <> c.due_day)) ORDER BY s.id`

func alert(tx *store.Tx, siteID int64, limit int) (alerted int, err error) {
	today := civil.DayOf(tx.Now)
	var list []Case
	err = tx.Query(`UPDATE disputes SET alerted_day = due_day WHERE site_id = $1 AND id IN (SELECT c.id FROM disputes c
			WHERE c.site_id = $1 AND c.status = 'open' AND c.due_day BETWEEN $2 AND $3
				AND (c.alerted_day IS NULL OR c.alerted_day <> c.due_day) ORDER BY c.due_day, c.id LIMIT $4)
		RETURNING `+caseColumns, []any{siteID, today, today + alertDays, limit}, func(scan func(dest ...any) error) error {
		c, err := scanCase(scan)
		list = append(list, c)
		return err
	})
	if err != nil {
		return 0, err
	}
	w := &write{tx: tx, actor: access.System(siteID), origin: originProcessor}
	for _, c := range list {
		e := act(dispute.AlertKind, w)
		e.DueOn = c.DueOn
		if _, err := insertEvent(tx, &c, e); err != nil {
			return 0, err
		}
		events.Record(tx, siteID, event.DisputeDue, c.ID, c.details())
	}
	return len(list), nil
}
