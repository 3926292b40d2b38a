package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"holdfast/internal/dbtest"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

var errNotThisOne = errors.New("not this one")

// TestSavepointFailsAlone puts ten things into one transaction, of which every third fails, some by the caller's own
// error and some by a rule of the schema.
func TestSavepointFailsAlone(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		err := db.Write(t.Context(), func(tx *store.Tx) error {
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
		if got, want := sitePaths(t, db), []string{"site-0", "site-3", "site-6", "site-9"}; !slices.Equal(got, want) {
			t.Errorf("stored %v, want %v", got, want)
		}
	})
}

func TestWhatASavepointKeptGoesWithItsTransaction(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		err := db.Write(t.Context(), func(tx *store.Tx) error {
			err := tx.Savepoint(func() error {
				_, err := dbtest.InsertSite(tx, travel.Site{Path: "kept", Name: "Kept", Policy: travel.DefaultPolicy("GBP")})
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
	err := db.Read(t.Context(), func(tx *store.Tx) error {
		list, err := store.Sites(tx, travel.SiteFilter{}, travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"})
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
