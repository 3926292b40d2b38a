package statements_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/webtest"
	"holdfast/internal/web/kit"
)

// issued is a house with one statement over one payment.
func issued(t *testing.T) (h *webtest.House, at string, id int64) {
	t.Helper()
	h = webtest.New(t)
	h.World.At("2024-05-10")
	c := h.Channel("protection-only", h.Site.Policy.Currency)
	h.Must(apptest.Report(payment.Purchase, h.Booking(c, 60000, "2024-09-14"), 60000))
	h.World.At("2024-06-02")
	h.Advance(time.Minute)
	if _, err := h.App.Statements.IssueDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	list := h.Statements(statements.StatementFilter{Channels: []int64{c.ID}})
	if len(list) != 1 || list[0].Closing <= 0 {
		t.Fatalf("there are %+v", list)
	}
	return h, h.At("/statements/" + kit.Ident(list[0].ID).Plain), list[0].ID
}

// TestAStatementByItsPages: the list, the sums, the lines, the documents, and its payments.
func TestAStatementByItsPages(t *testing.T) {
	t.Parallel()
	h, one, id := issued(t)
	b := h.As(access.Finance)
	s, _, err := h.App.Statements.Get(t.Context(), h.Actor, id)
	if err != nil {
		t.Fatal(err)
	}
	closing := strings.ReplaceAll(kit.Money(s.Closing, s.Currency), "\u00a0", " ")
	b.Must(h.At("/statements"), s.ChannelName, closing, "Open")
	if a := b.Must(h.At("/statements?overdue=1"), "No statements found"); strings.Contains(a.Text(), closing) {
		t.Error("it is overdue before its day")
	}
	if a := b.Get(h.At("/statements?channels=x")); a.Status != http.StatusBadRequest {
		t.Errorf("no channel: %d", a.Status)
	}
	b.Must(one, "Statement summary", "No payments yet", "Premium lines", closing, "Record payment")
	if a := b.Get(one + "/pdf"); !strings.HasPrefix(a.Body, "%PDF-") || a.Header.Get("Content-Type") != "application/pdf" {
		t.Errorf("the PDF is %d %.20q", a.Status, a.Body)
	}
	if a := b.Get(one + "/pdf?for=nobody"); a.Status != http.StatusBadRequest {
		t.Errorf("a PDF for nobody: %d", a.Status)
	}
	rows, err := csv.NewReader(strings.NewReader(b.Get(one + "/csv").Body)).ReadAll()
	if last := rows[len(rows)-1]; err != nil || last[2] != "closing" || last[17] != money.FormatPlain(s.Closing, s.Currency) {
		t.Errorf("the CSV ends with %v: %v", rows[len(rows)-1], err)
	}
	lines, err := csv.NewReader(strings.NewReader(b.Get(one + "?format=csv").Body)).ReadAll()
	if err != nil || len(lines) != 2 {
		t.Errorf("the lines are %v: %v", lines, err)
	}
	b.Must(one+"/pay", "Amount open", closing)
	pay := url.Values{"total": {"x"}, "date": {"2024-06-03"}, "reference": {""}}
	if a := b.Post(one+"/pay", pay); a.Status != http.StatusBadRequest || strings.Count(a.Body, `class="problem"`) != 3 {
		t.Errorf("a wrong form: %d\n%s", a.Status, a.Text())
	}
	pay = url.Values{"total": {money.FormatPlain(s.Closing+1, s.Currency)}, "date": {"2024-06-02"}, "reference": {"bank 1"}}
	if a := b.Post(one+"/pay", pay); a.Status != http.StatusConflict || !strings.Contains(a.Text(), "more than the open amount") {
		t.Errorf("too much: %d %s", a.Status, a.Text())
	}
	pay.Set("total", money.FormatPlain(s.Closing, s.Currency))
	for _, says := range []string{fmt.Sprintf("Payment of %s recorded.", closing), "already recorded"} {
		if a := b.Post(one+"/pay", pay); a.To != one {
			t.Fatalf("paying: %d %s", a.Status, a.Text())
		}
		b.Must(one, says, "bank 1", "Paid")
	}
	if s, _, _ = h.App.Statements.Get(t.Context(), h.Actor, id); s.Open != 0 {
		t.Errorf("%d is open", s.Open)
	}
}

// TestStatementsAreForThoseWhoMayReadThem: not for read_only, and a forged payment is rejected.
func TestStatementsAreForThoseWhoMayReadThem(t *testing.T) {
	t.Parallel()
	h, one, id := issued(t)
	b := h.As(access.ReadOnly)
	for _, path := range []string{h.At("/statements"), one, one + "/pdf", one + "/csv", one + "/pay"} {
		if a := b.Get(path); a.Status != http.StatusForbidden {
			t.Errorf("%s answers %d", path, a.Status)
		}
	}
	if a := b.Post(one+"/pay", url.Values{"total": {"1"}, "date": {"2024-06-01"}, "reference": {"x"}}); a.Status != http.StatusForbidden {
		t.Errorf("paying: %d", a.Status)
	}
	if s, _, err := h.App.Statements.Get(t.Context(), h.Actor, id); err != nil || s.Open != s.Closing {
		t.Errorf("it is paid: %+v %v", s, err)
	}
}
