package store_test

import (
	"slices"
	"strings"
	"testing"

	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// uniqueKeys lists the unique indexes: the table, and the columns in their order.
var uniqueKeys = map[string]string{
	"postgres": `SELECT c.relname, string_agg(a.attname, ', ' ORDER BY array_position(i.indkey::int2[], a.attnum))
		FROM pg_index i
		JOIN pg_class c ON c.oid = i.indrelid
		JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey::int2[])
		WHERE i.indisunique GROUP BY c.relname, i.indexrelid`,
	"sqlite": `SELECT m.name, (SELECT group_concat(x.name, ', ') FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno) x)
		FROM sqlite_master m JOIN pragma_index_list(m.name) i WHERE m.type = 'table' AND i."unique" = 1`,
}

// TestUniqueKeysOfSitesBeginWithTheSite: a database that is distributed by site cannot enforce any others.
func TestUniqueKeysOfSitesBeginWithTheSite(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		var found []string
		dbtest.Read(t, db, func(tx *store.Tx) error {
			return tx.Query(uniqueKeys[db.Engine()], nil, func(scan func(dest ...any) error) error {
				var table, columns string
				err := scan(&table, &columns)
				if slices.Contains(store.TablesOfSites, table) {
					found = append(found, table+" ("+columns+")")
				}
				return err
			})
		})
		if len(found) < 40 {
			t.Fatalf("only %d unique keys were found", len(found))
		}
		for _, key := range found {
			if !strings.Contains(key, " (site_id") {
				t.Errorf("the unique key %s does not begin with the site", key)
			}
		}
	})
}

// TestEachTableIsInOneList: of sites or of the deployment, as its key says.
func TestEachTableIsInOneList(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		dbtest.Read(t, db, func(tx *store.Tx) error {
			tables, err := tx.Catalog().Tables()
			if err != nil {
				return err
			}
			var sites, deployment []string
			for _, table := range tables {
				onEveryNode := []string{"memberships", "api_tokens"}
				if table.Key[0] == "site_id" && !slices.Contains(onEveryNode, table.Name) {
					sites = append(sites, table.Name)
				} else {
					deployment = append(deployment, table.Name)
				}
			}
			same(t, "of sites", sites, store.TablesOfSites)
			same(t, "of the deployment", deployment, store.TablesOfDeployment)
			return nil
		})
	})
}

func same(t *testing.T, what string, made, listed []string) {
	t.Helper()
	if made, listed := slices.Sorted(slices.Values(made)), slices.Sorted(slices.Values(listed)); !slices.Equal(made, listed) {
		t.Errorf("the tables %s are\n%v\nand the list has\n%v", what, made, listed)
	}
}
