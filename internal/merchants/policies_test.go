package merchants_test

import (
	"reflect"
	"testing"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

func TestPoliciesAreKeptWhole(t *testing.T) {
	dbtest.OnBothOpen(t, func(t *testing.T, database *db.DB) {
		site, _ := dbtest.ASite(t, database, "demo")
		other, _ := dbtest.ASite(t, database, "other")
		want := travel.DefaultPolicy("JPY")
		want.FromDay, want.Recognition, want.PremiumRefundable = civil.DayOf(dbtest.Start)+3, travel.RecognitionLinear, false
		want.MinimumPerLine, want.MinimumPerMonth, want.PaymentTermsDays, want.StatementPeriod = 7, 8, 9, "biweek"
		want.TaxCodes = []travel.TaxCode{{Code: "IPT", RatePPM: 120_000, Label: "Versicherungsteuer"}, {Code: "ø", Label: "税"}}
		dbtest.Write(t, database, func(tx *db.Tx) (err error) {
			want, err = merchants.InsertPolicy(tx, site.ID, want)
			return err
		})
		dbtest.Read(t, database, func(tx *db.Tx) error {
			got, err := merchants.Policy(tx, site.ID, want.ID)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, want %+v", got, want)
			}
			if _, elsewhere := merchants.Policy(tx, other.ID, want.ID); elsewhere != db.ErrNotFound {
				t.Errorf("another site reads it: %v", elsewhere)
			}
			if last := got.RateCard[len(got.RateCard)-1]; last.To != travel.NoEnd || last.ID == 0 {
				t.Errorf("the last band is %+v", last)
			}
			return err
		})
	})
}

// TestAPolicyIsKnownFromWhenItWasRecorded: a report about what was known before does not see it, whatever its day.
func TestAPolicyIsKnownFromWhenItWasRecorded(t *testing.T) {
	dbtest.OnBothOpen(t, func(t *testing.T, database *db.DB) {
		site, _ := dbtest.ASite(t, database, "demo")
		backdated := travel.DefaultPolicy("GBP")
		backdated.FromDay = civil.DayOf(dbtest.Start) - 100
		dbtest.Write(t, database, func(tx *db.Tx) (err error) {
			tx.Now = dbtest.Start.Add(time.Hour)
			backdated, err = merchants.InsertPolicy(tx, site.ID, backdated)
			return err
		})
		dbtest.Read(t, database, func(tx *db.Tx) error {
			for known, want := range map[time.Time]int64{
				dbtest.Start: site.Policy.ID, dbtest.Start.Add(-time.Hour): site.Policy.ID, // the first one counts for all time before
				dbtest.Start.Add(time.Hour - time.Microsecond): site.Policy.ID, dbtest.Start.Add(time.Hour): backdated.ID,
			} {
				p, err := merchants.PolicyKnown(tx, site.ID, civil.DayOf(dbtest.Start), known)
				if err != nil || p.ID != want {
					t.Errorf("known %s: policy %d, want %d (%v)", known, p.ID, want, err)
				}
			}
			day := civil.DayOf(dbtest.Start) - 101
			list, err := merchants.PoliciesPage(tx, site.ID, &day, travel.Page{Number: 1, Size: 3, Offset: -1, Count: true})
			if list.Total != 1 || len(list.Items) != 1 || list.Items[0].ID != site.Policy.ID || len(list.Items[0].RateCard) != 5 {
				t.Errorf("in force the day before: %+v", list)
			}
			return err
		})
	})
}
