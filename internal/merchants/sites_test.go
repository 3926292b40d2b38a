package merchants_test

import (
	"errors"
	"slices"
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

func TestSitesArePaged(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		paths := []string{"a-one", "b-two", "c-three", "d-four", "e-five", "f-six", "g-seven"}
		for _, path := range paths {
			dbtest.ASite(t, store, path)
		}
		var got []string
		for number := 1; number <= 3; number++ {
			dbtest.Read(t, store, func(tx *db.Tx) error {
				list, err := merchants.SitesPage(tx, travel.SiteFilter{}, travel.Page{Number: number, Size: 3, Offset: -1, OrderBy: "path", Descending: true, Count: true})
				for _, s := range list.Items {
					got = append(got, s.Path)
				}
				if list.Total != int64(len(paths)) {
					t.Errorf("%d sites in all, want %d", list.Total, len(paths))
				}
				return err
			})
		}
		slices.Reverse(paths)
		if !slices.Equal(got, paths) {
			t.Errorf("pages of three give %v, want %v", got, paths)
		}
		err := store.Write(t.Context(), func(tx *db.Tx) error {
			_, err := dbtest.InsertSite(tx, travel.Site{Path: "a-one", Policy: travel.DefaultPolicy("GBP")})
			return err
		})
		if !errors.Is(err, db.ErrConflict) {
			t.Errorf("a path that is taken: %v", err)
		}
	})
}
