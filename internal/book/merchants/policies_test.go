package merchants_test

import (
	"reflect"
	"testing"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

func TestPoliciesAreDated(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site, _ := dbtest.ASite(t, db, "demo")
		today := civil.DayOf(dbtest.Start)
		dbtest.Write(t, db, func(tx *store.Tx) error {
			for i, from := range []civil.Day{today - 10, today, today, today + 10} {
				p := terms.DefaultPolicy("EUR")
				p.FromDay, p.LateLogDays = from, int64(100+i)
				if _, err := merchants.InsertPolicy(tx, site.ID, p); err != nil {
					return err
				}
			}
			return nil
		})
		dbtest.Read(t, db, func(tx *store.Tx) error {
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

func TestPoliciesAreKeptWhole(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site, _ := dbtest.ASite(t, db, "demo")
		other, _ := dbtest.ASite(t, db, "other")
		want := terms.DefaultPolicy("JPY")
		want.FromDay, want.Recognition, want.PremiumRefundable = civil.DayOf(dbtest.Start)+3, terms.RecognitionLinear, false
		want.MinimumPerLine, want.MinimumPerMonth, want.PaymentTermsDays, want.StatementPeriod = 7, 8, 9, "biweek"
		want.TaxCodes = []terms.TaxCode{{Code: "IPT", RatePPM: 120_000, Label: "Versicherungsteuer"}, {Code: "ø", Label: "税"}}
		dbtest.Write(t, db, func(tx *store.Tx) (err error) {
			want, err = merchants.InsertPolicy(tx, site.ID, want)
			return err
		})
		dbtest.Read(t, db, func(tx *store.Tx) error {
			got, err := merchants.Policy(tx, site.ID, want.ID)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, want %+v", got, want)
			}
			if _, elsewhere := merchants.Policy(tx, other.ID, want.ID); elsewhere != store.ErrNotFound {
				t.Errorf("another site reads it: %v", elsewhere)
			}
			if last := got.RateCard[len(got.RateCard)-1]; last.To != terms.NoEnd || last.ID == 0 {
				t.Errorf("the last band is %+v", last)
			}
			return err
		})
	})
}

// TestAPolicyIsKnownFromWhenItWasRecorded: a report about what was known before does not see it, whatever its day.
func TestAPolicyIsKnownFromWhenItWasRecorded(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site, _ := dbtest.ASite(t, db, "demo")
		backdated := terms.DefaultPolicy("GBP")
		backdated.FromDay = civil.DayOf(dbtest.Start) - 100
		dbtest.Write(t, db, func(tx *store.Tx) (err error) {
			tx.Now = dbtest.Start.Add(time.Hour)
			backdated, err = merchants.InsertPolicy(tx, site.ID, backdated)
			return err
		})
		dbtest.Read(t, db, func(tx *store.Tx) error {
			for known, want := range map[time.Time]int64{
				dbtest.Start: site.Policy.ID, dbtest.Start.Add(-time.Hour): site.Policy.ID, // the first one also counts for all earlier times
				dbtest.Start.Add(time.Hour - time.Microsecond): site.Policy.ID, dbtest.Start.Add(time.Hour): backdated.ID,
			} {
				p, err := merchants.PolicyKnown(tx, site.ID, civil.DayOf(dbtest.Start), known)
				if err != nil || p.ID != want {
					t.Errorf("known %s: policy %d, want %d (%v)", known, p.ID, want, err)
				}
			}
			day := civil.DayOf(dbtest.Start) - 101
			list, err := merchants.PoliciesPage(tx, site.ID, &day, store.Page{Number: 1, Size: 3, Offset: -1, Count: true})
			if list.Total != 1 || len(list.Items) != 1 || list.Items[0].ID != site.Policy.ID || len(list.Items[0].RateCard) != 5 {
				t.Errorf("in force the day before: %+v", list)
			}
			return err
		})
	})
}
