package store_test

import (
	"reflect"
	"testing"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

func TestPoliciesAreKeptWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		site, _ := aSite(t, db, "demo")
		other, _ := aSite(t, db, "other")
		want := travel.DefaultPolicy("JPY")
		want.FromDay, want.Recognition, want.PremiumRefundable = civil.DayOf(start)+3, travel.RecognitionLinear, false
		want.MinimumPerLine, want.MinimumPerMonth, want.PaymentTermsDays, want.StatementPeriod = 7, 8, 9, "biweek"
		want.TaxCodes = []travel.TaxCode{{Code: "IPT", RatePPM: 120_000, Label: "Versicherungsteuer"}, {Code: "ø", Label: "税"}}
		write(t, db, func(tx *store.Tx) (err error) {
			want, err = store.InsertPolicy(tx, site.ID, want)
			return err
		})
		read(t, db, func(tx *store.Tx) error {
			got, err := store.Policy(tx, site.ID, want.ID)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, want %+v", got, want)
			}
			if _, elsewhere := store.Policy(tx, other.ID, want.ID); elsewhere != store.ErrNotFound {
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
	onBoth(t, func(t *testing.T, db *store.DB) {
		site, _ := aSite(t, db, "demo")
		backdated := travel.DefaultPolicy("GBP")
		backdated.FromDay = civil.DayOf(start) - 100
		write(t, db, func(tx *store.Tx) (err error) {
			tx.Now = start.Add(time.Hour)
			backdated, err = store.InsertPolicy(tx, site.ID, backdated)
			return err
		})
		read(t, db, func(tx *store.Tx) error {
			for known, want := range map[time.Time]int64{
				start: site.Policy.ID, start.Add(-time.Hour): site.Policy.ID, // the first one counts for all time before
				start.Add(time.Hour - time.Microsecond): site.Policy.ID, start.Add(time.Hour): backdated.ID,
			} {
				p, err := store.PolicyKnown(tx, site.ID, civil.DayOf(start), known)
				if err != nil || p.ID != want {
					t.Errorf("known %s: policy %d, want %d (%v)", known, p.ID, want, err)
				}
			}
			day := civil.DayOf(start) - 101
			list, err := store.Policies(tx, site.ID, &day, travel.Page{Number: 1, Size: 3, Offset: -1, Count: true})
			if list.Total != 1 || len(list.Items) != 1 || list.Items[0].ID != site.Policy.ID || len(list.Items[0].RateCard) != 5 {
				t.Errorf("in force the day before: %+v", list)
			}
			return err
		})
	})
}
