package merchants_test

import (
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
)

// TestABordereauHasTheContractOfItsMonth, as it was known: a contract that is added later changes no earlier bordereau.
func TestABordereauHasTheContractOfItsMonth(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		set := func(from, reference string, year, commission int64) error {
			_, err := w.App.Contracts.Set(t.Context(), w.Actor, terms.ContractFields{
				From: apptest.DayPtr(t, from), Reference: &reference, Year: &year, CommissionPPM: &commission,
			})
			w.Advance(time.Minute)
			return err
		}
		of := func(month string, knownAt time.Time) string {
			b, err := w.App.Bordereaux.Premium(t.Context(), w.Actor, report.BordereauQuery{Month: month, KnownAt: knownAt})
			if err != nil {
				t.Fatal(err)
			}
			return b.Contract.Reference
		}
		for _, c := range []struct {
			from, reference string
		}{{"2024-01-01", "B1"}, {"2024-05-31", "B2"}} {
			if err := set(c.from, c.reference, 2024, 125_000); err != nil {
				t.Fatal(err)
			}
		}
		before := w.Now().Add(-time.Second)
		apptest.Same(t, "December", of("2023-12", time.Time{}), "")
		apptest.Same(t, "April", of("2024-04", time.Time{}), "B1")
		apptest.Same(t, "May", of("2024-05", time.Time{}), "B2")
		if err := set("2024-05-31", "B3", 0, 0); err != nil {
			t.Fatal(err)
		}
		apptest.Same(t, "May, corrected", of("2024-05", time.Time{}), "B3")
		apptest.Same(t, "May, as known before", of("2024-05", before), "B2")
		// A renamed site keeps its old name in bordereaux with an earlier known_at.
		was, is := w.Site.Name, "Northern Acquiring plc"
		known := w.Now().Add(-time.Second)
		member := w.Actor
		member.Role = access.MemberAdmin
		if same, err := w.App.Sites.Change(t.Context(), member, w.Site.ID, merchant.SiteFields{Name: &is}); err != nil || same.Name != was {
			t.Errorf("a customer changes the name: %+v %v", same, err)
		}
		if changed, err := w.App.Sites.Change(t.Context(), w.Actor, w.Site.ID, merchant.SiteFields{Name: &is}); err != nil || changed.Name != is {
			t.Fatalf("%+v %v", changed, err)
		}
		w.Advance(time.Minute)
		for at, want := range map[time.Time]string{known: was, {}: is} {
			b, err := w.App.Bordereaux.Premium(t.Context(), w.Actor, report.BordereauQuery{Month: "2024-05", KnownAt: at})
			if err != nil || b.Insured != want {
				t.Errorf("known at %s it is %q, %v", at, b.Insured, err)
			}
		}
		none := ""
		_, err := w.App.Sites.Change(t.Context(), w.Actor, w.Site.ID, merchant.SiteFields{Name: &none})
		apptest.WantKind(t, err, errs.Missing, "a site without a name")
		for name, err := range map[string]error{
			"a year of two digits": set("2024-05-31", "B4", 24, 0), "a commission above all": set("2024-05-31", "B4", 2024, 1_000_001),
			"a card number": set("2024-05-31", "4111 1111 1111 1111", 2024, 0),
		} {
			apptest.WantKind(t, err, errs.Invalid, name)
		}
	})
}
