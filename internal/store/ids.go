package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"holdfast/internal/store/postgres"
)

// Ids are unique in the whole database, and those of a site ascend: of two writes of a site, the one that draws its ids later has the higher
// ones. On SQLite and on a single PostgreSQL they come from one sequence per table.
//
// In a Citus cluster each node would draw from sequences of its own, so the ids of a site would jump when it moves. There each site has a
// counter instead, which moves with it (decision 29). An id is the counter times siteFactor plus the site, so no two sites have the same id. A
// write draws from the counter in a transaction of its own, which holds the row for a moment only.

// siteFactor is above the id of any site in a cluster.
const siteFactor = 100_000

// mostIDs is the highest counter whose ids JSON's numbers hold exactly.
const mostIDs = (1<<53)/siteFactor - 1

// idSource is where ids come from: the sequence of a table, or the counter of a site.
type idSource struct {
	table string
	site  int64
}

// drawn are the ids of one source that a transaction has drawn.
type drawn struct {
	last int64   // SQLite: all ids above it are free, as there is one writer
	free []int64 // PostgreSQL: drawn but not assigned yet
	most int     // PostgreSQL: how many the last statement drew
}

// imported are the tables to which an import adds many rows in one write. For these, a write draws more and more ids at once. For other tables,
// unused ids would only cause visible gaps.
var imported = []string{"bookings", "transactions", "payments"}

// Bounds of how many ids one statement draws ahead.
const (
	mostDrawn  = 128
	leastDrawn = 8 // from a counter, which all tables share
)

// NextID allocates the id of a new row of a site in a table, or of a table of the deployment. See NextIDs.
func (tx *Tx) NextID(table string, site int64) (id int64, err error) {
	ids, err := tx.NextIDs(table, site, 1)
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// NextIDs allocates the ids of n new rows of a site in a table, in ascending order. Rows that are passed to Insert without an id get one in the
// same way; every other insert into a table of counted allocates its id here: a cluster has no other source, and SQLite does not know the ids
// of held rows yet.
func (tx *Tx) NextIDs(table string, site int64, n int) (ids []int64, err error) {
	byCounter := tx.byCounter(table)
	from := idSource{table: table}
	if byCounter {
		from = idSource{site: site}
	}
	d, known := tx.held.ids[from]
	if !known {
		d = &drawn{}
		if tx.held.ids == nil {
			tx.held.ids = map[idSource]*drawn{}
		}
		tx.held.ids[from] = d
	}
	if !tx.db.engine.manyWrites {
		if !known {
			err = tx.each(tx.db.engine.nextIDs, []any{table}, func(scan func(dest ...any) error) error { return scan(&d.last) })
		}
		for range n {
			d.last++
			ids = append(ids, d.last)
		}
		return ids, err
	}
	if len(d.free) < n {
		if d.most = max(n, min(2*d.most, mostDrawn)); !byCounter && !slices.Contains(imported, table) {
			d.most = n
		}
		if byCounter {
			d.most = max(d.most, leastDrawn)
			err = tx.drawFromCounter(site, d)
		} else {
			err = tx.drawFromSequence(table, d)
		}
		if err != nil {
			return nil, err
		}
	}
	ids, d.free = d.free[:n:n], d.free[n:]
	return ids, nil
}

// siteIDs is the maximum number of ids that NextSite draws. With ten nodes, none of them leads to the right one in 0.1 % of the cases.
const siteIDs = 64

// NextSite allocates the id of a new site. In a cluster it leads to the node with the fewest sites, as sites are assigned to nodes by a hash
// of their ids. known are the ids of all sites.
func (tx *Tx) NextSite(known []int64) (id int64, err error) {
	if tx.db.cluster == nil || len(tx.db.cluster.Holding()) < 2 {
		return tx.NextID("sites", Deployment)
	}
	sites := map[*postgres.Node]int{}
	for _, n := range tx.db.cluster.Holding() {
		sites[n] = 0
	}
	for _, site := range known {
		sites[tx.db.cluster.Of(site)]++
	}
	fewest := slices.Min(slices.Collect(maps.Values(sites)))
	for range siteIDs {
		if id, err = tx.NextID("sites", Deployment); err != nil || sites[tx.db.cluster.Of(id)] == fewest {
			break
		}
	}
	return id, err
}

// byCounter reports whether the ids of a table come from the counters of its sites.
func (tx *Tx) byCounter(table string) bool {
	return tx.db.cluster != nil && tx.db.cluster.Counters() && slices.Contains(TablesOfSites, table)
}

// drawFromSequence draws d.most ids of a table. In a cluster, the sequences are those of the coordinator.
func (tx *Tx) drawFromSequence(table string, d *drawn) error {
	take := func(scan func(dest ...any) error) error {
		var id int64
		err := scan(&id)
		d.free = append(d.free, id)
		return err
	}
	if tx.db.cluster == nil || tx.on.Coordinator {
		return tx.each(tx.db.engine.nextIDs, []any{table, d.most}, take)
	}
	return onPool(tx.ctx, tx.db.cluster.Coordinator().IDs, tx.db.engine.nextIDs, []any{table, d.most}, take)
}

// drawFromCounter draws d.most ids of a site. Unused ids are lost, as with a sequence.
func (tx *Tx) drawFromCounter(site int64, d *drawn) error {
	if site < 0 || site >= siteFactor {
		return fmt.Errorf("site %d has no ids: a cluster holds sites up to %d", site, siteFactor-1)
	}
	on, err := tx.db.writesAt(site)
	if site == Deployment {
		on, err = tx.db.cluster.Of(site), nil
	}
	if err != nil {
		return err
	}
	var last int64
	err = onPool(tx.ctx, on.IDs, tx.db.engine.nextOfSite, []any{site, d.most}, func(scan func(dest ...any) error) error { return scan(&last) })
	if err != nil {
		return err
	}
	ids, err := idsOfCounter(site, last, d.most)
	d.free = append(d.free, ids...)
	return err
}

// idsOfCounter returns the n ids of a site that end with a value of its counter.
func idsOfCounter(site, last int64, n int) (ids []int64, err error) {
	if last > mostIDs {
		return nil, fmt.Errorf("site %d has used up its ids", site)
	}
	for i := last - int64(n) + 1; i <= last; i++ {
		ids = append(ids, i*siteFactor+site)
	}
	return ids, nil
}

// onPool runs a query in a transaction of its own.
func onPool(ctx context.Context, pool *sql.DB, query string, args []any, row func(scan func(dest ...any) error) error) error {
	rows, err := pool.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// giveIDs allocates ids to held rows without one, where the database does not: in a cluster, and on SQLite if the transaction has already
// allocated ids of the same table.
func (tx *Tx) giveIDs(t *heldRows) error {
	columns := strings.Split(strings.Join(strings.Fields(t.Columns), ""), ",")
	if !slices.Contains(counted, t.Table) || slices.Contains(columns, "id") {
		return nil
	}
	if _, known := tx.held.ids[idSource{table: t.Table}]; !tx.byCounter(t.Table) && !known {
		return nil
	}
	t.Columns = "id, " + t.Columns
	for i, row := range t.rows {
		site := Deployment
		if at := slices.Index(columns, "site_id"); at >= 0 {
			site = row[at].(int64)
		}
		id, err := tx.NextID(t.Table, site)
		if err != nil {
			return err
		}
		t.rows[i] = append([]any{id}, row...)
	}
	return nil
}
