package office_test

import (
	"encoding/csv"
	"net/http"
	"strings"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/webtest"
)

// TestReceivablesAreShownByAge over all sandboxes, and exported as shown.
func TestReceivablesAreShownByAge(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	h.World.At("2024-04-09")
	h.Fix("2024-04-08", map[money.Currency]string{"GBP": "0.85795"})
	c := h.Channel(merchant.ModeProtectionOnly, "GBP")
	h.Must(apptest.Report(payment.Purchase, h.Booking(c, 100000, "2024-12-31"), 100000))
	h.World.At("2024-06-03")
	h.Issue(2)
	b := h.As(access.Operator)
	b.Must("/receivables", "No open statements", "Sandboxes")
	b.Must("/receivables?sandboxes=1", "By age", "12.00 GBP", "No. 1", c.Name)
	rows, err := csv.NewReader(strings.NewReader(b.Must("/receivables?sandboxes=1&site=demo&format=csv").Body)).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][0] != "1" || rows[1][5] != "GBP" || rows[1][6] != "12.00" || rows[1][1] != "Demo" {
		t.Errorf("%v, %v", rows, err)
	}
	if a := h.As(access.Finance).Get("/receivables"); a.Status != http.StatusNotFound {
		t.Errorf("finance sees them: %d", a.Status)
	}
}
