package statements_test

import (
	"encoding/csv"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/terms"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/webtest"
)

// TestABordereauHasItsTotals, with the commission on the net premium; exports name the contract. Invalid settings give
// no file.
func TestABordereauHasItsTotals(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	h.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
	taxes := []terms.TaxCode{{Code: "IPT", RatePPM: 120_000, Label: "Insurance premium tax"}}
	h.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-01-01"), TaxCodes: &taxes})
	c := h.Channel(merchant.ModeProtectionOnly, "EUR")
	b := h.Booking(c, 120000, "2024-09-14")
	p := h.Must(apptest.Report(payment.Purchase, b, 60000)) // 4.35, as in the worked lines
	h.Must(apptest.Linked(payment.Refund, p, b, 30000))
	reader, boss := h.As(access.Finance), h.As(access.Operator)
	at := h.At("/statements/bordereaux?period=2024-06")
	reader.Must(h.At("/statements/contracts"), "No contracts yet")
	in := url.Values{"reference": {"B0001"}, "year_of_account": {"2024"}, "commission": {"12.5"}, "from": {"2024-06-30"}, "key": {"one"}}
	if a := reader.Post(h.At("/statements/contracts"), in); a.Status != http.StatusForbidden {
		t.Errorf("finance names a contract: %d", a.Status)
	}
	for name, value := range map[string]string{"reference": "", "year_of_account": "24", "commission": "101", "from": "June"} {
		wrong := maps.Clone(in)
		wrong.Set(name, value)
		if a := boss.Post(h.At("/statements/contracts"), wrong); a.Status != http.StatusBadRequest || !strings.Contains(a.Body, `id="f-`+name+`-p"`) {
			t.Errorf("%s %q: %d %s", name, value, a.Status, a.Text())
		}
	}
	for range 2 { // sent twice, it is there once
		if a := boss.Post(h.At("/statements/contracts"), in); a.Status != http.StatusSeeOther {
			t.Fatalf("%d %s", a.Status, a.Text())
		}
	}
	in["from"], in["reference"] = []string{"2024-07-01"}, []string{"B0002"} // counts for July
	if a := boss.Post(h.At("/statements/contracts"), in); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	if list, err := h.App.Contracts.List(t.Context(), h.Actor); err != nil || len(list) != 2 {
		t.Errorf("%+v %v", list, err)
	}
	boss.Must(h.At("/statements/contracts"), "B0002", "12.5 %", "1 Jul 2024")
	reader.Must(at, "Original 1 4.35 GBP 0.52 GBP 4.87 GBP", "All in GBP 2 2.18 GBP", "0.27 GBP", "Contract B0001", "600.00 EUR")
	rows, err := csv.NewReader(strings.NewReader(reader.Must(at + "&format=csv&col=contract&col=year&col=type&col=net&col=gross").Body)).ReadAll()
	if err != nil || len(rows) != 3 || strings.Join(rows[1], " ") != "B0001 2024 Original GBP 4.35 4.87" {
		t.Errorf("%v", rows)
	}
	reader.Must(h.At("/statements/bordereaux?period=2023-01"), "No premium in this month")
	for _, wrong := range []string{"?period=June", "?period=2024-13"} {
		if a := reader.Get(h.At("/statements/bordereaux" + wrong)); a.Status != http.StatusBadRequest {
			t.Errorf("%s: %d", wrong, a.Status)
		}
		if a := reader.Get(h.At("/statements/bordereaux" + wrong + "&format=csv")); a.Status != http.StatusBadRequest || a.Header.Get("Content-Disposition") != "" {
			t.Errorf("%s as a file: %d %v", wrong, a.Status, a.Header)
		}
	}
	if a := boss.Get(h.At("/settings/audit?from=June&format=csv")); a.Status != http.StatusBadRequest || a.Header.Get("Content-Disposition") != "" {
		t.Errorf("the audit of no day as a file: %d %v", a.Status, a.Header)
	}
	if a := h.As(access.ReadOnly).Get(at); a.Status != http.StatusForbidden {
		t.Errorf("read_only sees premium: %d", a.Status)
	}
}
