package disputes_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/account/sessions"
	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/webtest"
)

// house has two payments by the same card, and a dispute of one of them.
type house struct {
	*webtest.House
	t             *testing.T
	first, second payment.Transaction
	one           string // the page of the dispute
}

func begin(t *testing.T) *house {
	t.Helper()
	h := &house{House: webtest.New(t), t: t}
	h.World.At("2024-06-03")
	channel := h.Channel(merchant.ModeProtectionOnly, "EUR")
	b := h.Booking(channel, 90_000, "2024-09-14")
	in := apptest.Report(payment.Purchase, b, 45_000)
	in.LastFour, in.BIN = "4242", "424242"
	h.first, h.second = h.Must(in), h.Must(in)
	c, _, err := h.App.Disputes.Create(t.Context(), h.Actor, disputes.NewReport{Report: dispute.Report{
		Source: "acquirer", CaseID: "A-1", Stage: dispute.Chargeback, Status: dispute.Open, Kind: dispute.Debit, Day: civil.DayOf(h.Now()), Amount: 45_000,
		Currency: "EUR", DueOn: civil.DayOf(h.Now()) + 2, Reason: "Services not provided <b>", Merchant: "AZURE",
		Clues: dispute.Clues{LastFour: "4242", BIN: "424242", PaidOn: civil.DayOf(h.Now())},
	}})
	if err != nil {
		t.Fatal(err)
	}
	h.one = h.At(fmt.Sprintf("/disputes/%d", c.ID))
	return h
}

func (h *house) sent(b *webtest.Browser, path string, form url.Values) {
	h.t.Helper()
	if a := b.Post(path, form); a.Status != http.StatusSeeOther {
		h.t.Fatalf("%s: %d %s", path, a.Status, a.Text())
	}
}

// TestADisputeInTheDashboard goes through the queue, chooses a payment, undoes that, attaches evidence and decides.
func TestADisputeInTheDashboard(t *testing.T) {
	t.Parallel()
	h := begin(t)
	b := h.As(access.MemberAdmin)
	b.Must(h.At("/disputes"), "A-1", "450.00 EUR", "choose a payment", "Due within 3 days", "Services not provided <b>")
	b.Must(h.At("/disputes?status=open&matched=queue&reason_family=services_not_provided"), "A-1")
	if a := b.Must(h.At("/disputes?status=won"), "No disputes"); strings.Contains(a.Text(), "A-1") {
		t.Error("it is not won")
	}
	if a := b.Get(h.At("/disputes?status=perhaps&due_before=soon")); a.Status != http.StatusBadRequest {
		t.Errorf("unknown words: %d", a.Status)
	}
	if a := b.Get(h.At("/search?q=A-1")); a.To != h.one { // the only hit opens
		t.Errorf("the search leads to %q", a.To)
	}
	first := fmt.Sprintf("%s/match/%d", h.one, h.first.ID)
	page := b.Must(h.one, "Answer by", "Candidates", "4242", "Choose", "No files yet", "not in the ledger")
	if !strings.Contains(page.Body, first) || strings.Contains(page.Body, "provided <b>") {
		t.Errorf("the page of the dispute:\n%s", page.Body)
	}
	if a := b.Post(first, url.Values{"reason": {""}}); a.Status != http.StatusBadRequest {
		t.Errorf("without a reason: %d", a.Status)
	}
	h.sent(b, first, url.Values{"reason": {"The traveller named it"}})
	b.Must(h.one, "by person", "450.00 EUR in the ledger", "The traveller named it", "Undo match")
	b.Must(h.At(fmt.Sprintf("/payments/%d", h.first.ID)), "Disputes", "pending")
	h.sent(b, h.one+"/unmatch", url.Values{"reason": {"It was the other one"}})
	h.sent(b, fmt.Sprintf("%s/match/%d", h.one, h.second.ID), url.Values{"reason": {"This one"}})
	h.sent(b, h.one+"/assign", url.Values{"reason": {"ana"}})
	h.sent(b, h.one+"/note", url.Values{"reason": {"Called the hotel"}})
	b.Must(h.At("/disputes?assigned=ana"), "A-1", "matched")
	if a := b.Post(h.one+"/represent", url.Values{"reason": {""}}); a.Status != http.StatusConflict || !strings.Contains(a.Text(), "no evidence") {
		t.Errorf("without evidence: %d %s", a.Status, a.Text())
	}
	file := func(content string) string {
		return "--x\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nThe refund\r\n--x\r\n" +
			"Content-Disposition: form-data; name=\"file\"; filename=\"receipt.pdf\"\r\n\r\n" + content + "\r\n--x--\r\n"
	}
	if a := b.Send(h.one+"/evidence", "multipart/form-data; boundary=x", file("<html>")); a.Status != http.StatusBadRequest {
		t.Errorf("another type: %d", a.Status)
	}
	if a := b.Send(h.one+"/evidence", "multipart/form-data; boundary=x", file("%PDF-1.7 a receipt")); a.Status != http.StatusSeeOther {
		t.Fatalf("evidence: %d %s", a.Status, a.Text())
	}
	b.Must(h.one, "receipt.pdf", "The refund")
	if a := b.Get(h.one + "/evidence/1"); a.Body != "%PDF-1.7 a receipt" {
		t.Errorf("the file is %q", a.Body)
	}
	h.sent(b, h.one+"/represent", url.Values{"reason": {"Sent"}})
	h.sent(b, h.one+"/lost", url.Values{"reason": {"The bank says so"}})
	b.Must(h.one, "Lost", "The bank says so")
	if a := b.Post(h.one+"/accept", nil); a.Status != http.StatusConflict {
		t.Errorf("it is lost: %d", a.Status)
	}
}

// TestADisputeFileInTheDashboard is tried, imported, and imported again.
func TestADisputeFileInTheDashboard(t *testing.T) {
	t.Parallel()
	h := begin(t)
	b, finance := h.As(access.MemberAdmin), h.As(access.Finance)
	b.Must(h.At("/dispute-files"), "No recent files", "200,000 lines", "Dry run")
	if a := finance.Must(h.At("/dispute-files"), "No recent files"); strings.Contains(a.Text(), "Upload") {
		t.Error("finance is offered to upload")
	}
	const mapping = "source: acme\ncolumns: {case_id: case, amount: amount, currency: currency, day: day, word: word}\n" +
		"words:\n  Chargeback: {stage: chargeback, status: open, money: debit}\n"
	send := func(dryRun, mapping string) webtest.Answer {
		t.Helper()
		part := func(name, text string) string {
			return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + text + "\r\n"
		}
		return b.Send(h.At("/dispute-files"), "multipart/form-data; boundary=x", part("format", "")+part("map", mapping)+part("dry_run", dryRun)+
			part("file\"; filename=\"d.csv", "case,amount,currency,day,word\nC-1,100.00,EUR,2024-06-01,Chargeback\nC-2,many,EUR,2024-06-01,Chargeback\n")+"--x--\r\n")
	}
	if a := send("1", ""); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "The format of the file is not known") {
		t.Errorf("an unknown format: %d %s", a.Status, a.Text())
	}
	if a := send("1", "columns: ["); a.Status != http.StatusBadRequest {
		t.Errorf("an unreadable mapping: %d %s", a.Status, a.Text())
	}
	for i, want := range []struct {
		dryRun string
		says   []string
	}{
		{"1", []string{"Dry run finished; nothing has been stored", "Rejected (1)", "No payment (1)"}},
		{"", []string{"Import complete", "Rejected (1)", "No payment (1)"}},
		{"", []string{"Import complete", "Known already (1)"}},
	} {
		sent := send(want.dryRun, mapping)
		if sent.Status != http.StatusSeeOther || sent.To != h.At(fmt.Sprintf("/dispute-files/%d", i+1)) {
			t.Fatalf("%d %s %s", sent.Status, sent.To, sent.Text())
		}
		if a := b.Must(sent.To, "The file is being read"); !strings.Contains(a.Body, "data-refresh") {
			t.Error("the page does not ask again")
		}
		for more := true; more; {
			var err error
			if more, err = h.App.Disputes.NextUpload(t.Context(), sessions.AccessNow); err != nil {
				t.Fatal(err)
			}
		}
		finance.Must(sent.To, want.says...)
		b.Must(sent.To+"?outcome=refused", "Rejected amount:")
	}
	if a := b.Get(h.At("/dispute-files/1?outcome=lost")); a.Status != http.StatusBadRequest {
		t.Errorf("an unknown result: %d", a.Status)
	}
	b.Must(h.At("/dispute-files"), "Done, dry run", "mapped")
	b.Must(h.At("/disputes?status=open"), "C-1", "100.00 EUR")
	if a := h.As(access.ReadOnly).Get(h.At("/dispute-files")); a.Status != http.StatusForbidden {
		t.Errorf("a reader sees the files: %d", a.Status)
	}
}

// TestWhoMayWorkOnDisputes: finance reads them, and others do not see them.
func TestWhoMayWorkOnDisputes(t *testing.T) {
	t.Parallel()
	h := begin(t)
	finance := h.As(access.Finance)
	if a := finance.Must(h.one, "Candidates"); strings.Contains(a.Text(), "Choose") || strings.Contains(a.Text(), "Accept") {
		t.Error("finance may not choose")
	}
	if a := finance.Post(h.one+"/note", url.Values{"reason": {"x"}}); a.Status != http.StatusForbidden {
		t.Errorf("finance adds a note: %d", a.Status)
	}
	reader := h.As(access.ReadOnly)
	for _, path := range []string{h.one, h.At("/disputes")} {
		if a := reader.Get(path); a.Status != http.StatusForbidden {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
	if a := reader.Must(h.At("/payments")); strings.Contains(a.Text(), "Disputes") {
		t.Error("the tab is shown")
	}
}

// TestRatiosInTheDashboard: the page of a month has its merchants, the site and a file.
func TestRatiosInTheDashboard(t *testing.T) {
	t.Parallel()
	h := begin(t)
	finance, reader := h.As(access.Finance), h.As(access.ReadOnly)
	month := h.At("/disputes/ratios?period=" + h.Now().Format("2006-01"))
	finance.Must(month, "Dispute ratios", "Without insolvent merchants", "All", "900.00 EUR")
	if a := finance.Get(month + "&format=csv"); !strings.Contains(a.Body, "amount_ratio") {
		t.Errorf("the CSV is %s", a.Body)
	}
	finance.Must(h.At("/disputes/ratios?period=2020-01"), "No payments and no disputes")
	if a := finance.Get(h.At("/disputes/ratios?period=soon")); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "Must be a month") {
		t.Errorf("a wrong month: %d %s", a.Status, a.Text())
	}
	if a := reader.Get(month); a.Status != http.StatusForbidden {
		t.Errorf("a reader sees the ratios: %d", a.Status)
	}
}
