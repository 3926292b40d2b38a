package verify_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/ops/factchain"
	"holdfast/internal/ops/verify"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/pgtest"
)

// errTakenBack rolls back the write in which a book was broken.
var errTakenBack = errors.New("taken back")

// TestEachCheckFindsWhatItIsFor: one value at a time is changed in a book by hand, as by someone with the database
// password. Its check reports the place; only consequences may be found as well.
func TestEachCheckFindsWhatItIsFor(t *testing.T) {
	t.Parallel()
	pgtest.NotOverNodes(t)
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		aBook(t, w)
		clean := wantClean(t, w)
		sites := []merchant.Site{{}, w.Site, siteOf(t, w, "live")}
		shown := map[string]bool{}
		for _, c := range corruptions {
			t.Run(c.check+": "+c.what, func(t *testing.T) {
				shown[c.check] = true
				q := verify.Query{Limit: 3}
				if c.against {
					q.Against = clean.Heads
				}
				report := broken(t, w, sites, q, c.sql)
				c.compare(t, report)
			})
		}
		for _, line := range append(clean.Lines, verify.Line{Check: "kept heads"}) {
			if !shown[line.Check] {
				t.Errorf("no corruption shows that %q finds anything", line.Check)
			}
		}
	})
}

func (c corruption) compare(t *testing.T, report verify.Report) {
	t.Helper()
	var all []string
	found := false
	for _, f := range report.Findings {
		all = append(all, text(f))
		found = found || f.Check == c.check && strings.HasPrefix(f.Table, c.table) && strings.Contains(f.Field, c.field)
		if f.Check != c.check && !slices.Contains(strings.Split(c.follows, ", "), f.Check) {
			t.Errorf("this does not follow from it: %s", text(f))
		}
	}
	if !found {
		t.Errorf("not found: %s, %s of %s, but\n%s", c.check, c.field, c.table, strings.Join(all, "\n"))
	}
}

// broken runs statements in a write, checks the sites in it, and rolls it back.
func broken(t *testing.T, w *apptest.World, sites []merchant.Site, q verify.Query, statements string) (report verify.Report) {
	t.Helper()
	off := "PRAGMA defer_foreign_keys = ON"
	if w.App.DB.Store.Engine() == "postgres" {
		off = "SET LOCAL session_replication_role = replica"
	}
	err := w.App.DB.Store.Write(t.Context(), store.Deployment, func(tx *store.Tx) (err error) {
		if _, err = tx.Exec(off); err != nil {
			return err
		}
		for statement := range strings.SplitSeq(statements, ";") {
			n, err := tx.Exec(statement)
			if err != nil {
				return err
			}
			if n == 0 {
				return errors.New("nothing to break: " + statement)
			}
		}
		if report, err = verify.RunIn(tx, w.App.Config.Rulepacks, sites, q); err != nil {
			return err
		}
		return errTakenBack
	})
	if !errors.Is(err, errTakenBack) {
		t.Fatal(err)
	}
	return report
}

func siteOf(t *testing.T, w *apptest.World, path string) (site merchant.Site) {
	t.Helper()
	err := w.App.DB.Store.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
		site.Path = path
		return tx.QueryRow(`SELECT id FROM sites WHERE path = $1`, []any{path}, &site.ID)
	})
	if err != nil {
		t.Fatal(err)
	}
	return site
}

// TestAHashAloneIsFound: a hash stored outside is searched in all chains.
func TestAHashAloneIsFound(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		h := apptest.NewHistory(w, 3)
		h.NewBooking()
		runJobs(t, w)
		heads := run(t, w, verify.Query{}).Heads
		i := slices.IndexFunc(heads, func(h factchain.Head) bool { return h.Site == "demo" && h.Chain == factchain.ChainFacts })
		if i < 0 || heads[i].Count == 0 {
			t.Fatalf("heads %+v", heads)
		}
		if got := run(t, w, verify.Query{Hash: heads[i].Hash}); got.Total != 0 {
			t.Errorf("%+v", got.Findings)
		}
		if got := run(t, w, verify.Query{Hash: "00ff"}); got.Total != 1 || got.Findings[0].Check != "kept heads" {
			t.Errorf("a hash that nobody made: %+v", got.Findings)
		}
	})
}
