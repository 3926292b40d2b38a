package merchants_test

import (
	"errors"
	"slices"
	"testing"

	"holdfast/internal/civil"
	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

func TestPoliciesAreDated(t *testing.T) {
	dbtest.OnBothOpen(t, func(t *testing.T, database *db.DB) {
		site, _ := dbtest.ASite(t, database, "demo")
		today := civil.DayOf(dbtest.Start)
		dbtest.Write(t, database, func(tx *db.Tx) error {
			for i, from := range []civil.Day{today - 10, today, today, today + 10} {
				p := travel.DefaultPolicy("EUR")
				p.FromDay, p.LateLogDays = from, int64(100+i)
				if _, err := merchants.InsertPolicy(tx, site.ID, p); err != nil {
					return err
				}
			}
			return nil
		})
		dbtest.Read(t, database, func(tx *db.Tx) error {
			for day, want := range map[civil.Day]int64{0: 3, today - 11: 3, today - 10: 100, today - 1: 100, today: 102, today + 9: 102, today + 10: 103} {
				p, err := merchants.PolicyOn(tx, site.ID, day)
				if err != nil || p.LateLogDays != want {
					t.Errorf("on %s: %d days, want %d (%v)", day, p.LateLogDays, want, err)
				}
			}
			found, err := merchants.Site(tx, site.ID)
			if found.Policy.LateLogDays != 102 {
				t.Errorf("the site has the policy %+v today", found.Policy)
			}
			return err
		})
	})
}

func TestSitesArePaged(t *testing.T) {
	dbtest.OnBothOpen(t, func(t *testing.T, database *db.DB) {
		paths := []string{"a-one", "b-two", "c-three", "d-four", "e-five", "f-six", "g-seven"}
		for _, path := range paths {
			dbtest.ASite(t, database, path)
		}
		var got []string
		for number := 1; number <= 3; number++ {
			dbtest.Read(t, database, func(tx *db.Tx) error {
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
		err := database.Write(t.Context(), func(tx *db.Tx) error {
			_, err := dbtest.InsertSite(tx, travel.Site{Path: "a-one", Policy: travel.DefaultPolicy("GBP")})
			return err
		})
		if !errors.Is(err, db.ErrConflict) {
			t.Errorf("a path that is taken: %v", err)
		}
	})
}
