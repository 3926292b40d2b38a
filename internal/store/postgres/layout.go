package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// Layout describes how the tables of a PostgreSQL database are distributed over Citus nodes.
type Layout struct {
	Nodes     []LaidNode
	BySite    []string // tables whose rows are on the node of their site
	Reference []string // tables on every node
	Central   []string // tables on the coordinator that every node can read
	Left      []string // tables that are not distributed yet, in the order of the schema

	tables Tables
}

// Plan sorts the tables that are not distributed yet by what would happen to them: distribution by site, a copy on every node, or only on the
// coordinator.
func (l Layout) Plan() (bySite, everywhere, central []string) {
	for _, table := range l.Left {
		switch {
		case slices.Contains(l.tables.OfSites, table):
			bySite = append(bySite, table)
		case slices.Contains(l.tables.Central, table):
			central = append(central, table)
		default:
			everywhere = append(everywhere, table)
		}
	}
	return bySite, everywhere, central
}

// LaidNode is a node in a layout.
type LaidNode struct {
	Address     string
	Coordinator bool
	Sites       int64 // sites on this node
	Away        bool  // it does not answer
}

// Tables names the tables to distribute, in the order of the schema. OfSites are those with a column site_id, by which they are
// distributed. Central are on the coordinator only. All others go to every node. Sites is the table of the sites themselves. Counted are the
// tables with ids; an id from a counter is a multiple of Factor plus the site.
type Tables struct {
	All, OfSites, Central, Counted []string
	Sites                          string
	Factor                         int64
}

// Unbounded lifts the time limits of a transaction.
const Unbounded = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"

// ErrNoCitus: the database is not the coordinator of a Citus cluster.
var ErrNoCitus = errors.New("the database cannot be distributed over several nodes")

// hasCitus checks whether the extension is installed.
const hasCitus = `SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')`

// LayoutOf reads the layout. Tables of other programs are ignored. The error is ErrNoCitus if the database is not the coordinator of a
// cluster.
func LayoutOf(ctx context.Context, sqlTx *sql.Tx, t Tables) (laid Layout, err error) {
	laid.tables = t
	var installed, coordinator bool
	if err := sqlTx.QueryRowContext(ctx, hasCitus).Scan(&installed); err != nil {
		return laid, err
	}
	if !installed {
		return laid, fmt.Errorf("%w: it has no Citus extension. Run CREATE EXTENSION citus in it on every node, and add the nodes on the coordinator", ErrNoCitus)
	}
	if err := sqlTx.QueryRowContext(ctx, `SELECT citus_is_coordinator()`).Scan(&coordinator); err != nil {
		return laid, err
	}
	if !coordinator {
		return laid, fmt.Errorf("%w: this node is not the coordinator", ErrNoCitus)
	}
	kinds := map[string]string{}
	err = each(ctx, sqlTx, `SELECT c.relname, p.partmethod::text || p.repmodel::text FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
		WHERE c.relnamespace = current_schema()::regnamespace`, func(scan func(dest ...any) error) error {
		var name, kind string
		err := scan(&name, &kind)
		kinds[name] = kind
		return err
	})
	if err != nil {
		return laid, err
	}
	for _, table := range append([]string{"schema_migrations"}, t.All...) {
		switch kinds[table] {
		case "hs":
			laid.BySite = append(laid.BySite, table)
		case "nt":
			laid.Reference = append(laid.Reference, table)
		case "ns":
			laid.Central = append(laid.Central, table)
		default:
			laid.Left = append(laid.Left, table)
		}
	}
	return laid, nil
}

// ReadNodes sets the active nodes of a layout, with the number of sites on each.
func (l *Layout) ReadNodes(ctx context.Context, sqlTx *sql.Tx, t Tables) error {
	l.Nodes = nil
	at := map[string]int{}
	err := each(ctx, sqlTx, `SELECT nodename || ':' || nodeport, groupid = 0 FROM pg_dist_node WHERE isactive AND noderole = 'primary'
		ORDER BY groupid`, func(scan func(dest ...any) error) error {
		var n LaidNode
		err := scan(&n.Address, &n.Coordinator)
		at[n.Address], l.Nodes = len(l.Nodes), append(l.Nodes, n)
		return err
	})
	if err != nil || len(l.BySite) == 0 {
		return err
	}
	return each(ctx, sqlTx, `SELECT n.nodename || ':' || n.nodeport, COUNT(*)
		FROM (SELECT get_shard_id_for_distribution_column('`+t.OfSites[0]+`', id) AS shard FROM `+t.Sites+`) s
		JOIN pg_dist_placement p ON p.shardid = s.shard
		JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
		GROUP BY n.nodename, n.nodeport`, func(scan func(dest ...any) error) error {
		var address string
		var sites int64
		err := scan(&address, &sites)
		if i, known := at[address]; known {
			l.Nodes[i].Sites = sites
		}
		return err
	})
}

// LayOut distributes tables: t.OfSites by site, so that all rows of a site are on one node, and all others except t.Central to every node.
// Citus only distributes tables without foreign keys, so these are dropped first and added again afterwards. It reports whether it changed
// anything.
func LayOut(ctx context.Context, sqlTx *sql.Tx, t Tables, left []string) (changed bool, err error) {
	if len(left) > 0 {
		if err := layOut(ctx, sqlTx, t, left); err != nil {
			return false, err
		}
	}
	counted, err := countBySite(ctx, sqlTx, t)
	return counted || len(left) > 0, err
}

func layOut(ctx context.Context, sqlTx *sql.Tx, t Tables, left []string) error {
	// Statements that touch many shards of many tables run on one shard at a time, so that connections suffice on a cluster of any size.
	run := []string{Unbounded, "SET LOCAL citus.multi_shard_modify_mode TO 'sequential'"}
	var back []string
	err := each(ctx, sqlTx, `SELECT c.relname, p.relname, k.conname, pg_get_constraintdef(k.oid) FROM pg_constraint k
		JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class p ON p.oid = k.confrelid
		WHERE k.contype = 'f' AND k.connamespace = current_schema()::regnamespace ORDER BY c.relname, k.conname`,
		func(scan func(dest ...any) error) error {
			var table, parent, name, text string
			err := scan(&table, &parent, &name, &text)
			if slices.Contains(left, table) || slices.Contains(left, parent) {
				run = append(run, "ALTER TABLE "+table+" DROP CONSTRAINT "+name)
				back = append(back, "ALTER TABLE "+table+" ADD CONSTRAINT "+name+" "+text)
			}
			return err
		})
	if err != nil {
		return err
	}
	bySite, everywhere, central := Layout{Left: left, tables: t}.Plan()
	for _, table := range everywhere {
		run = append(run, "SELECT create_reference_table('"+table+"')")
	}
	for _, table := range bySite {
		together := ""
		if table != t.OfSites[0] {
			together = ", colocate_with => '" + t.OfSites[0] + "'"
		}
		run = append(run, "SELECT create_distributed_table('"+table+"', 'site_id'"+together+")")
	}
	for _, table := range central {
		run = append(run, "SELECT citus_add_local_table_to_metadata('"+table+"')")
	}
	for _, table := range slices.Concat(everywhere, bySite) { // the coordinator's own rows are on the nodes now
		back = append(back, "SELECT truncate_local_data_after_distributing_table('"+table+"')")
	}
	for _, statement := range append(run, back...) {
		if _, err := sqlTx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// each runs a query about the schema and calls take for each row.
func each(ctx context.Context, sqlTx *sql.Tx, query string, take func(scan func(dest ...any) error) error) error {
	rows, err := sqlTx.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := take(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// KeepLaidOut distributes the tables that a migration has added to a database that is already distributed.
func KeepLaidOut(ctx context.Context, sqlTx *sql.Tx, t Tables) (changed bool, err error) {
	laid, err := LayoutOf(ctx, sqlTx, t)
	if errors.Is(err, ErrNoCitus) || err == nil && len(laid.BySite) == 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return LayOut(ctx, sqlTx, t, laid.Left)
}
