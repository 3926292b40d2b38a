package db_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

// errNotThisOne is a reason of the test's own to fail.
var errNotThisOne = errors.New("not this one")

// TestSavepointFailsAlone puts ten things into one transaction, of which every third fails, some by the caller's own
// error and some by a rule of the schema.
func TestSavepointFailsAlone(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		err := store.Write(t.Context(), func(tx *db.Tx) error {
			for i := range 10 {
				path := fmt.Sprintf("site-%d", i)
				err := tx.Savepoint(func() error {
					if _, err := dbtest.InsertSite(tx, travel.Site{Path: path, Name: path, Policy: travel.DefaultPolicy("GBP")}); err != nil {
						return err
					}
					switch i % 3 {
					case 1:
						return errNotThisOne
					case 2:
						_, err := dbtest.InsertSite(tx, travel.Site{Path: path, Name: "the same path again"})
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
		if got, want := sitePaths(t, store), []string{"site-0", "site-3", "site-6", "site-9"}; !slices.Equal(got, want) {
			t.Errorf("stored %v, want %v", got, want)
		}
	})
}

func TestWhatASavepointKeptGoesWithItsTransaction(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		err := store.Write(t.Context(), func(tx *db.Tx) error {
			err := tx.Savepoint(func() error {
				_, err := dbtest.InsertSite(tx, travel.Site{Path: "kept", Name: "Kept", Policy: travel.DefaultPolicy("GBP")})
				return err
			})
			return errors.Join(err, errNotThisOne)
		})
		if !errors.Is(err, errNotThisOne) {
			t.Fatal(err)
		}
		if got := sitePaths(t, store); len(got) > 0 {
			t.Errorf("stored %v", got)
		}
	})
}

func sitePaths(t *testing.T, store *db.DB) (paths []string) {
	t.Helper()
	err := store.Read(t.Context(), db.Deployment, func(tx *db.Tx) error {
		list, err := merchants.SitesPage(tx, travel.SiteFilter{}, travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"})
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
