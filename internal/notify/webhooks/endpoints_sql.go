package webhooks

import (
	"strings"
	"time"

	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

const endpointColumns = `e.site_id, e.id, e.version, e.url, e.types, e.state, e.reason, e.position, e.failures, e.failing_since,
	e.retry_at, e.enabled_at, e.slow, e.created_by, e.created_at, e.modified_at, s.sandbox`

func scanEndpoint(scan func(dest ...any) error) (e Endpoint, err error) {
	var types string
	var failing, retry, enabled, slow, created, modified int64
	err = scan(&e.SiteID, &e.ID, &e.Version, &e.URL, &types, &e.State, &e.Reason, &e.position, &e.failures, &failing,
		&retry, &enabled, &slow, &e.CreatedBy, &created, &modified, &e.sandbox)
	e.Types, e.slow = strings.Fields(types), slow != 0
	e.FailingSince, e.retryAt, e.enabledAt = instantOr0(failing), instantOr0(retry), instantOr0(enabled)
	e.CreatedAt, e.ModifiedAt = store.Instant(created), store.Instant(modified)
	return e, err
}

// Stored reads an endpoint for a room that notifies people about it. The error is store.ErrNotFound if it was deleted.
func Stored(tx *store.Tx, siteID, id int64) (Endpoint, error) { return endpoint(tx, siteID, id) }

// endpoint reads an endpoint, or returns store.ErrNotFound.
func endpoint(tx *store.Tx, siteID, id int64) (Endpoint, error) {
	return scanEndpoint(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+endpointColumns+` FROM webhook_endpoints e JOIN sites s ON s.id = e.site_id
			WHERE e.site_id = $1 AND e.id = $2 AND e.state <> 'deleted'`, []any{siteID, id}, dest...)
	})
}

func endpointsOf(tx *store.Tx, siteID int64) (list []Endpoint, err error) {
	err = tx.Query(`SELECT `+endpointColumns+` FROM webhook_endpoints e JOIN sites s ON s.id = e.site_id
		WHERE e.site_id = $1 AND e.state <> 'deleted' ORDER BY e.id`, []any{siteID}, func(scan func(dest ...any) error) error {
		e, err := scanEndpoint(scan)
		list = append(list, e)
		return err
	})
	return list, err
}

func countEndpoints(tx *store.Tx, siteID int64) (n int, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM webhook_endpoints WHERE site_id = $1 AND state <> 'deleted'`, []any{siteID}, &n)
	return n, err
}

func isSandbox(tx *store.Tx, siteID int64) (sandbox bool, err error) {
	err = tx.QueryRow(`SELECT sandbox FROM sites WHERE id = $1`, []any{siteID}, &sandbox)
	return sandbox, err
}

// lockEndpoint takes an endpoint.
func lockEndpoint(tx *store.Tx, siteID, id int64) (Endpoint, error) {
	n, err := tx.Exec(`UPDATE webhook_endpoints SET version = version WHERE site_id = $1 AND id = $2 AND state <> 'deleted'`,
		siteID, id)
	if err != nil {
		return Endpoint{}, err
	}
	if n == 0 {
		return Endpoint{}, store.ErrNotFound
	}
	return endpoint(tx, siteID, id)
}

func insertEndpoint(tx *store.Tx, e Endpoint) (Endpoint, error) {
	e.Version, e.CreatedAt = 1, sites.RealNow(tx)
	e.ModifiedAt = e.CreatedAt
	var err error
	if e.ID, err = tx.NextID("webhook_endpoints", e.SiteID); err != nil {
		return e, err
	}
	_, err = tx.Exec(`INSERT INTO webhook_endpoints (site_id, version, url, types, state, reason, position, failures, failing_since,
			retry_at, slow, created_by, created_at, modified_at, id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, 0, 0, $8, $9, $9, $10)`,
		e.SiteID, e.Version, e.URL, strings.Join(e.Types, " "), string(e.State), e.Reason, e.position, e.CreatedBy,
		store.Micros(e.CreatedAt), e.ID)
	return e, err
}

// updateEndpoint stores an endpoint that this write has locked, as its next version.
func updateEndpoint(tx *store.Tx, e Endpoint) (Endpoint, error) {
	e.Version, e.ModifiedAt = e.Version+1, sites.RealNow(tx)
	_, err := tx.Exec(`UPDATE webhook_endpoints SET url = $3, types = $4, state = $5, reason = $6, failures = $7,
			failing_since = $8, retry_at = $9, slow = $10, modified_at = $11, version = $12
		WHERE site_id = $1 AND id = $2`,
		e.SiteID, e.ID, e.URL, strings.Join(e.Types, " "), string(e.State), e.Reason, e.failures,
		microsOr0(e.FailingSince), microsOr0(e.retryAt), number(e.slow), store.Micros(e.ModifiedAt), e.Version)
	return e, err
}

// noteFailures stores the effects of failed attempts. This does not count as a change of the endpoint, so its version
// stays: a failing endpoint can be changed with the version that was read.
func noteFailures(tx *store.Tx, e Endpoint) error {
	_, err := tx.Exec(`UPDATE webhook_endpoints SET failures = $3, failing_since = $4, retry_at = $5, slow = $6
		WHERE site_id = $1 AND id = $2`, e.SiteID, e.ID, e.failures, microsOr0(e.FailingSince), microsOr0(e.retryAt), number(e.slow))
	return err
}

// resume restarts an endpoint that was enabled again: its pending deliveries are due immediately, and are tried for
// three days from now. Deliveries in progress keep their lease, which ends within a minute.
func resume(tx *store.Tx, e Endpoint) error {
	now := sites.RealNow(tx)
	if _, err := tx.Exec(`UPDATE webhook_endpoints SET enabled_at = $3 WHERE site_id = $1 AND id = $2`,
		e.SiteID, e.ID, store.Micros(now)); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE webhook_deliveries SET next_at = $3
		WHERE site_id = $1 AND endpoint_id = $2 AND state = 'waiting' AND next_at > $4`,
		e.SiteID, e.ID, store.Micros(now), store.Micros(now.Add(leaseTime)))
	return err
}

// microsOr0 stores the zero time as 0.
func microsOr0(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return store.Micros(t)
}

// instantOr0 reads back what microsOr0 stored.
func instantOr0(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return store.Instant(us)
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func removeSecrets(tx *store.Tx, siteID, endpointID int64) error {
	_, err := tx.Exec(`DELETE FROM webhook_secrets WHERE site_id = $1 AND endpoint_id = $2`, siteID, endpointID)
	return err
}
