package dbtest

import (
	"slices"
	"testing"

	"holdfast/internal/store"
)

// Touched are the tables that one transaction has written.
type Touched struct {
	Sites      int      // whose rows it has written
	OfSites    []string // tables of these rows, in alphabetical order
	Deployment []string // tables of the deployment that it has written
}

// Touches records which tables each transaction of a PostgreSQL database writes from now on. The returned function
// lists the transactions so far that have written rows of several sites, or rows of a site and of the deployment. Site
// 0 counts as a site, because its rows are also on a node.
func Touches(t testing.TB, db *store.DB) (soFar func() []Touched) {
	t.Helper()
	err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
		statements := []string{
			`CREATE TABLE touched (tx BIGINT, name TEXT, site BIGINT)`,
			`CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO touched
				VALUES (txid_current(), TG_TABLE_NAME, CAST(to_jsonb(COALESCE(NEW, OLD))->>'site_id' AS BIGINT)); RETURN NULL; END $$`,
		}
		for _, table := range slices.Concat(store.TablesOfSites, store.TablesOfDeployment) {
			statements = append(statements, `CREATE TRIGGER touch AFTER INSERT OR UPDATE OR DELETE ON `+table+` FOR EACH ROW EXECUTE FUNCTION touch()`)
		}
		for _, statement := range statements {
			if _, err := tx.Exec(statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() (list []Touched) {
		byTx := map[int64]map[string]map[int64]bool{}
		Read(t, db, func(tx *store.Tx) error {
			return tx.Query(`SELECT DISTINCT tx, name, COALESCE(site, 0) FROM touched`, nil, func(scan func(dest ...any) error) error {
				var id, site int64
				var table string
				err := scan(&id, &table, &site)
				if byTx[id] == nil {
					byTx[id] = map[string]map[int64]bool{}
				}
				if byTx[id][table] == nil {
					byTx[id][table] = map[int64]bool{}
				}
				byTx[id][table][site] = true
				return err
			})
		})
		for _, tables := range byTx {
			var one Touched
			sites := map[int64]bool{}
			for table, of := range tables {
				if slices.Contains(store.TablesOfDeployment, table) {
					one.Deployment = append(one.Deployment, table)
					continue
				}
				one.OfSites = append(one.OfSites, table)
				for site := range of {
					sites[site] = true
				}
			}
			one.Sites = len(sites)
			slices.Sort(one.OfSites)
			slices.Sort(one.Deployment)
			if one.Sites > 1 || one.Sites == 1 && len(one.Deployment) > 0 {
				list = append(list, one)
			}
		}
		return list
	}
}
