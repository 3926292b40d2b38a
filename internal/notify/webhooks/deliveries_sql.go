package webhooks

import (
	"time"

	"holdfast/internal/domain/event"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// endpointsBehind lists endpoints for which the feed has more, in order of their sites: those behind an endpoint first.
func endpointsBehind(tx *store.Tx, last endpointKey, limit int) (list []endpointKey, err error) {
	err = tx.Query(`SELECT e.site_id, e.id FROM webhook_endpoints e LEFT JOIN event_heads h ON h.site_id = e.site_id
		WHERE e.state = 'enabled' AND (e.position < COALESCE(h.position, 0)
			OR EXISTS (SELECT 1 FROM events v WHERE v.site_id = e.site_id AND v.position IS NULL))
		ORDER BY CASE WHEN e.site_id > $1 OR e.site_id = $1 AND e.id > $2 THEN 0 ELSE 1 END, e.site_id, e.id LIMIT $3`,
		[]any{last.site, last.id, limit}, func(scan func(dest ...any) error) error {
			var key endpointKey
			err := scan(&key.site, &key.id)
			list = append(list, key)
			return err
		})
	return list, err
}

// countWaiting counts what waits for an endpoint, up to maxWaiting.
func countWaiting(tx *store.Tx, key endpointKey) (n int, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM (SELECT 1 FROM webhook_deliveries WHERE site_id = $1 AND endpoint_id = $2
		AND state = 'waiting' LIMIT $3) w`, []any{key.site, key.id, maxWaiting}, &n)
	return n, err
}

func insertDeliveries(tx *store.Tx, e Endpoint, list []event.Event) {
	now := store.Micros(sites.RealNow(tx))
	rows := make([][]any, len(list))
	for i, event := range list {
		rows[i] = []any{e.SiteID, e.ID, event.ID, string(event.Type), string(event.Type.Kind()), event.ObjectID,
			string(Waiting), now, int64(0), now, int64(0)}
	}
	tx.Insert("webhook_deliveries", `site_id, endpoint_id, event_id, type, kind, object_id, state, next_at,
		attempts, made_at, done_at`, rows...)
}

const deliveryColumns = `d.site_id, d.id, d.endpoint_id, d.event_id, d.type, d.kind, d.object_id, d.state, d.next_at,
	d.attempts, d.made_at, d.done_at`

func scanDelivery(scan func(dest ...any) error) (d Delivery, err error) {
	var next, made, done int64
	err = scan(&d.SiteID, &d.ID, &d.EndpointID, &d.EventID, &d.Type, &d.Kind, &d.ObjectID, &d.State, &next, &d.Attempts, &made, &done)
	d.NextAt, d.MadeAt, d.DoneAt = instantOr0(next), instantOr0(made), instantOr0(done)
	return d, err
}

// dueEndpoints lists the endpoints for which something is due.
func dueEndpoints(tx *store.Tx, limit int) (list []Endpoint, err error) {
	err = tx.Query(`SELECT `+endpointColumns+` FROM webhook_endpoints e JOIN sites s ON s.id = e.site_id
		WHERE e.state = 'enabled' AND e.retry_at <= $1 AND EXISTS (SELECT 1 FROM webhook_deliveries d
			WHERE d.site_id = e.site_id AND d.endpoint_id = e.id AND d.state = 'waiting' AND d.next_at <= $1)
		ORDER BY e.site_id, e.id LIMIT $2`, []any{store.Micros(sites.RealNow(tx)), limit}, func(scan func(dest ...any) error) error {
		e, err := scanEndpoint(scan)
		list = append(list, e)
		return err
	})
	return list, err
}

// dueDeliveries reads what may be sent to an endpoint now. An event waits while an earlier one about the same object does.
func dueDeliveries(tx *store.Tx, key endpointKey, limit int) (list []Delivery, err error) {
	err = tx.Query(`SELECT `+deliveryColumns+` FROM webhook_deliveries d
		WHERE d.site_id = $1 AND d.endpoint_id = $2 AND d.state = 'waiting' AND d.next_at <= $3
			AND NOT EXISTS (SELECT 1 FROM webhook_deliveries b WHERE b.site_id = d.site_id AND b.endpoint_id = d.endpoint_id
				AND b.state = 'waiting' AND b.kind = d.kind AND b.object_id = d.object_id AND b.id < d.id)
		ORDER BY d.next_at, d.id LIMIT $4`, []any{key.site, key.id, store.Micros(sites.RealNow(tx)), limit},
		func(scan func(dest ...any) error) error {
			d, err := scanDelivery(scan)
			list = append(list, d)
			return err
		})
	return list, err
}

// lease takes a delivery for a time. It reports false if another process has it, or it is done.
func lease(tx *store.Tx, d Delivery, length time.Duration) (bool, error) {
	now := sites.RealNow(tx)
	n, err := tx.Exec(`UPDATE webhook_deliveries SET next_at = $3
		WHERE site_id = $1 AND id = $2 AND state = 'waiting' AND next_at <= $4`,
		d.SiteID, d.ID, store.Micros(now.Add(length)), store.Micros(now))
	return n == 1, err
}

// finishAttempt stores the outcome of a delivery after an attempt. It reports false if it was done already.
func finishAttempt(tx *store.Tx, d Delivery, state DeliveryState, next time.Time, a Attempt) (bool, error) {
	done := int64(0)
	if state != Waiting {
		done, next = store.Micros(sites.RealNow(tx)), time.Time{}
	}
	n, err := tx.Exec(`UPDATE webhook_deliveries SET state = $3, next_at = $4, attempts = attempts + 1, done_at = $5
		WHERE site_id = $1 AND id = $2 AND state = 'waiting'`, d.SiteID, d.ID, string(state), microsOr0(next), done)
	if err != nil || n == 0 {
		return false, err
	}
	tx.Insert("webhook_attempts", "site_id, delivery_id, at, took, status, answer, error",
		[]any{d.SiteID, d.ID, store.Micros(a.At), a.Took.Microseconds(), a.Status, a.Answer, a.Error})
	return true, nil
}

// deliveries reads a page of the log of an endpoint.
func deliveries(tx *store.Tx, siteID, endpointID int64, f DeliveryFilter, page store.Page) (store.List[Delivery], error) {
	var w sqltext.Where
	w.And("d.site_id = ? AND d.endpoint_id = ?", siteID, endpointID)
	sqltext.In(&w, "d.state", f.States)
	sqltext.In(&w, "d.event_id", f.Events)
	sqltext.In(&w, "d.type", f.types)
	return store.ListPage(tx, "webhook_deliveries d", deliveryColumns, &w, page, store.Orders{"id": "d.id", "modified": "CASE WHEN d.done_at > 0 THEN d.done_at ELSE d.made_at END"}, scanDelivery)
}

func delivery(tx *store.Tx, siteID, endpointID, id int64) (Delivery, error) {
	return scanDelivery(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+deliveryColumns+` FROM webhook_deliveries d WHERE d.site_id = $1 AND d.endpoint_id = $2 AND d.id = $3`,
			[]any{siteID, endpointID, id}, dest...)
	})
}

// maxAttempts is more than three days have room for.
const maxAttempts = 100

// countTries counts the attempts of a delivery from an instant on, up to as many as there are pauses.
func countTries(tx *store.Tx, d Delivery, since time.Time) (n int, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM (SELECT 1 FROM webhook_attempts WHERE site_id = $1 AND delivery_id = $2 AND at >= $3
		LIMIT $4) a`, []any{d.SiteID, d.ID, microsOr0(since), len(pauses)}, &n)
	return n, err
}

func attemptsOf(tx *store.Tx, siteID, deliveryID int64) (list []Attempt, err error) {
	err = tx.Query(`SELECT id, at, took, status, answer, error FROM webhook_attempts WHERE site_id = $1 AND delivery_id = $2
		ORDER BY id LIMIT $3`, []any{siteID, deliveryID, maxAttempts}, func(scan func(dest ...any) error) error {
		var a Attempt
		var at, took int64
		err := scan(&a.ID, &at, &took, &a.Status, &a.Answer, &a.Error)
		a.At, a.Took = store.Instant(at), time.Duration(took)*time.Microsecond
		list = append(list, a)
		return err
	})
	return list, err
}

// forgetEnded removes up to limit deliveries of a site that ended long ago, with their attempts, and returns how many.
func forgetEnded(tx *store.Tx, siteID int64, limit int) (int, error) {
	return forget(tx, `(SELECT d.id FROM webhook_deliveries d WHERE d.site_id = $1 AND d.state <> 'waiting' AND d.done_at < $3
		ORDER BY d.done_at, d.id LIMIT $2)`, siteID, limit, store.Micros(sites.RealNow(tx).Add(-keptFor)))
}

// sitesWithDeleted is a query for sites.Each.
const sitesWithDeleted = `SELECT DISTINCT e.site_id, 0 AS ahead FROM webhook_endpoints e WHERE e.state = 'deleted' AND e.created_at <= $1 ORDER BY e.site_id`

// forgetDeleted removes up to limit deliveries of deleted endpoints of a site, and then endpoints that have none left. It returns how many
// deliveries.
func forgetDeleted(tx *store.Tx, siteID int64, limit int) (int, error) {
	n, err := forget(tx, `(SELECT d.id FROM webhook_endpoints e JOIN webhook_deliveries d ON d.site_id = e.site_id AND d.endpoint_id = e.id
		WHERE e.site_id = $1 AND d.site_id = $1 AND e.state = 'deleted' ORDER BY d.id LIMIT $2)`, siteID, limit)
	if err != nil {
		return n, err
	}
	_, err = tx.Exec(`DELETE FROM webhook_endpoints WHERE site_id = $1 AND state = 'deleted' AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d
		WHERE d.site_id = $1 AND d.endpoint_id = webhook_endpoints.id)`, siteID)
	return n, err
}

// forget removes the deliveries of a site that a query selects, with their attempts.
func forget(tx *store.Tx, which string, args ...any) (int, error) {
	if _, err := tx.Exec(`DELETE FROM webhook_attempts WHERE site_id = $1 AND delivery_id IN `+which, args...); err != nil {
		return 0, err
	}
	n, err := tx.Exec(`DELETE FROM webhook_deliveries WHERE site_id = $1 AND id IN `+which, args...)
	return int(n), err
}
