package api_test

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/testkit/dbtest"
)

// beyondOneSite lists the transactions of requests that write more than the rows of one site, by the other rows, each
// with its reason. A cluster commits them in two phases, all or nothing.
var beyondOneSite = map[string]string{
	"a site and api_tokens":       "a new or deleted token is in the audit of its site",
	"a site and fixings":          "new rates are in the audit of the site where they were added, and price what waited there",
	"a site and memberships":      "a person's access to a site is in its audit",
	"a site and rate_versions":    "new rates and policies have a version that each process compares with what it keeps",
	"a site and refresh_families": "sign-ins that an administrator ends are in the audit of the site",
	"a site and sites":            "a new site, its name and its clock",
}

// TestRequestsWriteRowsOfOneSite: a request writes rows of its site, or of the deployment. Those that write both are few.
func TestRequestsWriteRowsOfOneSite(t *testing.T) {
	t.Parallel()
	dbtest.Engines[1].Database(t) // skips the test where there is no PostgreSQL
	files, err := filepath.Glob("testdata/*.txt")
	must(t, err)
	processing, err := filepath.Glob("testdata/server-to-server/*.txt")
	must(t, err)
	found := map[string]bool{}
	for _, file := range slices.Concat(files, processing) {
		profile := merchant.ProtectionOnlyProfile
		if slices.Contains(processing, file) {
			profile = merchant.ServerToServerProfile
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			w := newWorldOf(t, profile, dbtest.Engines[1].Database(t), io.Discard)
			soFar := dbtest.Touches(t, w.app.Config.Store)
			converse(t, w, file, false)
			for _, one := range soFar() {
				for _, table := range one.Deployment {
					found["a site and "+table] = true
				}
				if one.Sites > 1 {
					found[fmt.Sprintf("%d sites: %v", one.Sites, one.OfSites)] = true
				}
			}
		})
	}
	for _, what := range slices.Sorted(maps.Keys(found)) {
		if beyondOneSite[what] == "" {
			t.Errorf("a transaction writes rows of %s", what)
		}
	}
	for what := range beyondOneSite {
		if !found[what] {
			t.Errorf("no transaction writes rows of %s: remove it from beyondOneSite", what)
		}
	}
}
