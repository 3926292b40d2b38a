package ledger_test

import (
	"strings"
	"testing"

	"holdfast/internal/app"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// packs reads rulepacks in which each version has a different window for every scheme.
func packs(t *testing.T, versions ...string) protection.Rulepacks {
	t.Helper()
	windows := map[string]string{"1": "120", "2": "60"}
	from := map[string]string{"1": "1970-01-01", "2": "2024-06-10"}
	var list []string
	for _, v := range versions {
		var schemes []string
		for _, s := range append([]card.Scheme{card.Unknown}, card.Schemes...) {
			schemes = append(schemes, `"`+string(s)+`": {"days": `+windows[v]+`}`)
		}
		list = append(list, `{"version": "`+v+`", "from": "`+from[v]+`", "windows": {`+strings.Join(schemes, ", ")+`}}`)
	}
	read, err := protection.ParseRulepacks([]byte("[" + strings.Join(list, ", ") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// TestAnAllocationKeepsItsRulepack: a newer rulepack only counts for payments from its day on, also if the booking is
// changed later.
func TestAnAllocationKeepsItsRulepack(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	w.With(func(cfg *app.Config) { cfg.Rulepacks = packs(t, "1") })
	b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 100000, "2024-09-14")
	before := w.Must(apptest.Report(payment.Purchase, b, 10000))
	w.At("2024-06-11")
	w.With(func(cfg *app.Config) { cfg.Rulepacks = packs(t, "1", "2") })
	after := w.Must(apptest.Report(payment.Purchase, b, 10000))
	w.Move(b, *apptest.DayPtr(t, "2024-10-01"))
	for _, c := range []struct {
		id            int64
		version, last string
	}{{before.ID, "1", "2025-01-29"}, {after.ID, "2", "2024-11-30"}} {
		x, err := w.App.Protection.Explain(t.Context(), w.Actor, c.id, report.ProtectionQuery{})
		if err != nil {
			t.Fatal(err)
		}
		if a := x.Allocations[0]; a.Rulepack != c.version || a.Terms.LastDay != *apptest.DayPtr(t, c.last) {
			t.Errorf("rulepack %s, last day %s; want %s, %s", a.Rulepack, a.Terms.LastDay, c.version, c.last)
		}
	}
}

// TestAnEditedRulepackIsNotMadeUp: a file whose windows were changed under the same version does not change computed
// values, and the explanation says so instead of showing a wrong sum.
func TestAnEditedRulepackIsNotMadeUp(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	w.With(func(cfg *app.Config) { cfg.Rulepacks = packs(t, "1") })
	made := w.Must(apptest.Report(payment.Purchase, w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 100000, "2024-09-14"), 10000))
	edited := packs(t, "2")
	edited[0].Version, edited[0].From = "1", packs(t, "1")[0].From
	w.With(func(cfg *app.Config) { cfg.Rulepacks = edited })
	x, err := w.App.Protection.Explain(t.Context(), w.Actor, made.ID, report.ProtectionQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range x.Allocations[0].Steps {
		if s.Name == "L" && !strings.HasPrefix(s.Text, "L = 2025-01-12, by rulepack 1 as on file when L was computed") {
			t.Errorf("%s", s.Text)
		}
	}
}
