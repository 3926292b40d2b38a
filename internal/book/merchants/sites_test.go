package merchants_test

import (
	"errors"
	"slices"
	"testing"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

func TestSitesArePaged(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		paths := []string{"a-one", "b-two", "c-three", "d-four", "e-five", "f-six", "g-seven"}
		for _, path := range paths {
			dbtest.ASite(t, db, path)
		}
		var got []string
		for number := 1; number <= 3; number++ {
			dbtest.Read(t, db, func(tx *store.Tx) error {
				list, err := merchants.SitesPage(tx, merchants.SiteFilter{}, store.Page{Number: number, Size: 3, Offset: -1, OrderBy: "path", Descending: true, Count: true})
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
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			_, err := dbtest.InsertSite(tx, merchant.Site{Path: "a-one", Policy: terms.DefaultPolicy("GBP")})
			return err
		})
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("a path that is taken: %v", err)
		}
	})
}
