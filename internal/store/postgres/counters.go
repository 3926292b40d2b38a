package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// The counters of the sites, on the nodes of the sites: where a cluster with more than one node takes ids from. A site without a row
// begins at 0. The table is made when the tables are distributed, so it is not part of the schema and of backups.
const (
	hasCounters = `SELECT to_regclass('site_ids') IS NOT NULL`
	// NextOfSite adds $2 to the counter of site $1 and returns it.
	NextOfSite = `INSERT INTO site_ids (site_id, last) VALUES ($1, $2)
		ON CONFLICT (site_id) DO UPDATE SET last = site_ids.last + excluded.last RETURNING began + last`
	// HighestOfSites is the highest counter of all sites.
	HighestOfSites = `SELECT MAX(began + last) FROM site_ids`
)

// countBySite switches the tables of sites from sequences to counters if the cluster has more than one node, because each node would draw from
// sequences of its own. A counter is multiplied by t.Factor, and begins above all ids from the sequences. These are dropped, so that a
// process that still expects them gets an error and no id.
func countBySite(ctx context.Context, sqlTx *sql.Tx, t Tables) (changed bool, err error) {
	var workers, made bool
	err = sqlTx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_dist_node WHERE groupid <> 0), to_regclass('site_ids') IS NOT NULL`).
		Scan(&workers, &made)
	if err != nil || !workers {
		return false, err
	}
	var run []string
	highest := int64(0)
	for _, table := range t.Counted {
		if !slices.Contains(t.OfSites, table) {
			continue
		}
		var sequence sql.NullString
		var last int64
		err := sqlTx.QueryRowContext(ctx, `SELECT s, COALESCE(pg_sequence_last_value(s::regclass), 0)
			FROM (SELECT pg_get_serial_sequence($1, 'id') AS s) q`, table).Scan(&sequence, &last)
		if err != nil {
			return false, err
		}
		if sequence.Valid {
			run = append(run, "ALTER TABLE "+table+" ALTER COLUMN id DROP DEFAULT", "DROP SEQUENCE "+sequence.String)
		}
		highest = max(highest, last)
	}
	if !made {
		run = append(run, fmt.Sprintf(`CREATE TABLE site_ids (site_id BIGINT NOT NULL PRIMARY KEY, last BIGINT NOT NULL,
			began BIGINT NOT NULL DEFAULT %d)`, highest/t.Factor+1),
			"SELECT create_distributed_table('site_ids', 'site_id', colocate_with => '"+t.OfSites[0]+"')",
			"INSERT INTO site_ids (site_id, last) VALUES (0, 0)")
	}
	for _, statement := range run {
		if _, err := sqlTx.ExecContext(ctx, statement); err != nil {
			return false, fmt.Errorf("%s: %w", statement, err)
		}
	}
	return len(run) > 0, nil
}
