package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// errNotThisOne is an error of the test.
var errNotThisOne = errors.New("not this one")

// TestSavepointFailsAlone makes ten changes in one transaction, of which every third fails, some with the caller's own
// error and some with a constraint.
func TestSavepointFailsAlone(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			for i := range 10 {
				path := fmt.Sprintf("site-%d", i)
				err := tx.Savepoint(func() error {
					if _, err := dbtest.InsertSite(tx, merchant.Site{Path: path, Name: path, Policy: terms.DefaultPolicy("GBP")}); err != nil {
						return err
					}
					switch i % 3 {
					case 1:
						return errNotThisOne
					case 2:
						_, err := dbtest.InsertSite(tx, merchant.Site{Path: path, Name: "the same path again"})
						return err
					}
					return nil
				})
				if failed := err != nil; failed != (i%3 != 0) {
					return fmt.Errorf("part %d: %w", i, err)
				}
				if i%3 == 1 && !errors.Is(err, errNotThisOne) {
					return fmt.Errorf("part %d answers %w", i, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sitePaths(t, db), []string{"site-0", "site-3", "site-6", "site-9"}; !slices.Equal(got, want) {
			t.Errorf("stored %v, want %v", got, want)
		}
	})
}

func TestWhatASavepointKeptGoesWithItsTransaction(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			err := tx.Savepoint(func() error {
				_, err := dbtest.InsertSite(tx, merchant.Site{Path: "kept", Name: "Kept", Policy: terms.DefaultPolicy("GBP")})
				return err
			})
			return errors.Join(err, errNotThisOne)
		})
		if !errors.Is(err, errNotThisOne) {
			t.Fatal(err)
		}
		if got := sitePaths(t, db); len(got) > 0 {
			t.Errorf("stored %v", got)
		}
	})
}

func sitePaths(t *testing.T, db *store.DB) (paths []string) {
	t.Helper()
	err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
		list, err := merchants.SitesPage(tx, merchants.SiteFilter{}, store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"})
		for _, site := range list.Items {
			paths = append(paths, site.Path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
