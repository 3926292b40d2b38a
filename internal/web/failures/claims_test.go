package failures_test

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"

	"holdfast/internal/book/payments"
)

// jobs runs the jobs of claims until nothing is left.
func (f *failing) jobs() {
	f.t.Helper()
	f.Advance(time.Minute)
	for _, job := range []func(ctx context.Context) (bool, error){f.App.Insolvencies.Work, f.App.Claims.Make, f.App.Claims.Plan} {
		for more := true; more; {
			var err error
			if more, err = job(f.t.Context()); err != nil {
				f.t.Fatal(err)
			}
		}
	}
}

// TestAClaimInTheDashboard goes from a claim to its payout, by the pages.
func TestAClaimInTheDashboard(t *testing.T) {
	t.Parallel()
	f := begin(t)
	b, finance, member, reader := f.As(access.Operator), f.As(access.Finance), f.As(access.MemberAdmin), f.As(access.ReadOnly)
	b.Must(f.At("/claims"), "No claims")
	b.Must(f.At("/payouts"), "No payouts")
	one := f.sent(b, f.At("/insolvencies"), f.form())
	f.sent(b, one+"/confirm", nil)
	f.jobs()
	f.Advance(time.Hour)
	list, err := f.App.Payments.List(t.Context(), f.Actor, payments.TransactionFilter{}, store.Page{Number: 1, Size: 1, Offset: -1, OrderBy: store.OrderID})
	if err != nil {
		t.Fatal(err)
	}
	paid := list.Items[0]
	f.Must(apptest.Linked(payment.Chargeback, paid, f.ReadBooking(paid.Payments[0].BookingID), 50_000))
	f.jobs()
	claim := f.At("/claims/1")
	b.Must(f.At("/claims"), f.channel.Name, "Open", "500.00 EUR", "426.83 GBP")
	b.Must(f.At("/claims?state=paid"), "No claims")
	for _, query := range []string{"state=lost", "reason=lost", "channels=x", "to_represent=2"} {
		if a := b.Get(f.At("/claims?" + query)); a.Status != http.StatusBadRequest {
			t.Errorf("%s: %d", query, a.Status)
		}
	}
	b.Must(f.At("/claims?to_represent=1"), "No claims")
	dispute := f.At("/disputes/1")
	if a := b.Must(claim, "recorded by hand"); !strings.Contains(a.Body, dispute) {
		t.Error("the claim does not link to its dispute")
	}
	if a := b.Must(dispute, "Recorded by hand"); strings.Contains(a.Body, "representment") {
		t.Error("a paper for a dispute that is payable in full")
	}
	if a := b.Get(dispute + "/representment.pdf"); a.Status != http.StatusConflict {
		t.Errorf("the paper of a dispute that is payable in full: %d", a.Status)
	}
	if a := finance.Must(claim, "All of the disputed €500.00 is payable. It is worth £426.83, which is covered in full.", "min(loss, remaining C) = min(50000, 60000) = 50000", "Made from a dispute"); strings.Contains(a.Body, "/assess") {
		t.Error("finance is offered to assess")
	}
	if a := member.Must(claim, "Assess"); strings.Contains(a.Body, claim+"/approve") {
		t.Error("a member is offered to approve")
	}
	if a := reader.Get(claim); a.Status != http.StatusForbidden {
		t.Errorf("a reader sees the claim: %d", a.Status)
	}
	if a := b.Post(claim+"/reject", url.Values{"reason": {""}}); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "This field is required") {
		t.Errorf("rejected without a reason: %d %s", a.Status, a.Text())
	}
	if a := b.Post(claim+"/approve", nil); a.Status != http.StatusConflict || !strings.Contains(a.Text(), "Claim 1 is open") {
		t.Errorf("approved before it was assessed: %d %s", a.Status, a.Text())
	}
	member.Must(claim+"/assess", "Another person approves it")
	f.sent(member, claim+"/assess", url.Values{"reason": {"Papers seen"}})
	f.sent(b, claim+"/approve", nil)
	b.Must(claim, "Approved", "Papers seen")
	f.jobs()
	payout := f.At("/payouts/1")
	finance.Must(f.At("/payouts"), "Planned", "426.83 GBP")
	if a := finance.Must(payout, "426.83 GBP"); strings.Contains(a.Text(), "Sign payout") {
		t.Error("finance is offered to sign without the right to")
	}
	if a := finance.Post(payout+"/sign", nil); a.Status != http.StatusForbidden {
		t.Errorf("finance signs: %d", a.Status)
	}
	f.sent(b, payout+"/sign", nil)
	if a := b.Post(payout+"/paid", url.Values{"bank_reference": {" "}}); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "This field is required") {
		t.Errorf("paid without a reference: %d %s", a.Status, a.Text())
	}
	f.sent(b, payout+"/paid", url.Values{"bank_reference": {"BANK-4711"}})
	if a := b.Post(payout+"/failed", url.Values{"reason": {"Again"}}); a.Status != http.StatusConflict {
		t.Errorf("failed after it was paid: %d", a.Status)
	}
	b.Must(payout, "Paid", "BANK-4711")
	if a := finance.Get(payout + "/pdf"); !strings.HasPrefix(a.Body, "%PDF-") || a.Header.Get("Content-Type") != "application/pdf" {
		t.Errorf("the PDF is %d %.20q", a.Status, a.Body)
	}
	b.Must(one, "Exposed", "1,365.84 GBP", "Incurred", "426.83 GBP", "View claims", "Disputed on", "Payable in full", "Claims and deadlines", "Can still be disputed")
	b.Must(f.At("/recoveries"), "No recoveries", "Record a recovery")
	b.Must(f.At("/recoveries/new"), "Insolvency", f.channel.Name)
	money := url.Values{"insolvencies": {"1"}, "kind": {"dividend"}, "total": {"50.00"}, "currencies": {"GBP"}, "date": {f.Now().Format("2006-01-02")}, "key": {"r"}}
	for field, wrong := range map[string]string{"insolvencies": "99", "kind": "gift", "total": "many", "currencies": "XXX", "date": "2099-01-01"} {
		form := maps.Clone(money)
		form.Set(field, wrong)
		if a := b.Post(f.At("/recoveries"), form); a.Status != http.StatusBadRequest {
			t.Errorf("%s=%s: %d", field, wrong, a.Status)
		}
	}
	f.sent(b, f.At("/recoveries"), money)
	f.sent(b, f.At("/recoveries"), money) // sent twice
	b.Must(f.At("/recoveries?kind=dividend"), "50.00 GBP", "Counts", "Cancel")
	if a := b.Get(f.At("/recoveries?format=csv")); strings.Count(a.Body, "50.00") != 2 {
		t.Errorf("the CSV is %s", a.Body)
	}
	if a := finance.Must(f.At("/recoveries"), "50.00 GBP"); strings.Contains(a.Body, "/cancel") {
		t.Error("finance is offered to cancel")
	}
	if a := finance.Post(f.At("/recoveries/1/cancel"), url.Values{"reason": {"No"}}); a.Status != http.StatusForbidden {
		t.Errorf("finance cancels: %d", a.Status)
	}
	if a := b.Post(f.At("/recoveries/1/cancel"), url.Values{"reason": {""}}); a.Status != http.StatusBadRequest {
		t.Errorf("cancelled without a reason: %d", a.Status)
	}
	f.sent(b, f.At("/recoveries/1/cancel"), url.Values{"reason": {"Another estate"}})
	b.Must(f.At("/recoveries"), "Cancelled")
	if a := b.Post(one+"/withdraw", nil); a.Status != http.StatusConflict || !strings.Contains(a.Text(), "has been approved") {
		t.Errorf("withdrawn after an approval: %d %s", a.Status, a.Text())
	}
	if list, err = f.App.Payments.List(t.Context(), f.Actor, payments.TransactionFilter{}, store.Page{Number: 2, Size: 1, Offset: -1, OrderBy: store.OrderID}); err != nil {
		t.Fatal(err)
	}
	paid = list.Items[0] // of a journey that had ended
	f.Must(apptest.Linked(payment.Chargeback, paid, f.ReadBooking(paid.Payments[0].BookingID), 70_000))
	f.jobs()
	f.sent(b, f.At("/claims/2/reject"), url.Values{"reason": {"The traveller has slept there"}})
	b.Must(f.At("/claims?to_represent=1"), "To represent 700.00 EUR")
	dispute = f.At("/disputes/2")
	b.Must(dispute, "There is no evidence against this dispute on record.", "Download representment PDF")
	if a := finance.Get(dispute + "/representment.pdf"); !strings.HasPrefix(a.Body, "%PDF-") {
		t.Errorf("the paper is %d %.20q", a.Status, a.Body)
	}
	if a := b.Get(f.At("/claims?format=csv")); !strings.Contains(a.Body, "426.83") {
		t.Errorf("the CSV is %s", a.Body)
	}
}

// TestTheBordereauInTheDashboard: the month of a claim is presented once it is over.
func TestTheBordereauInTheDashboard(t *testing.T) {
	t.Parallel()
	f := begin(t)
	f.sent(f.As(access.MemberAdmin), f.At("/insolvencies"), f.form())
	if _, err := f.App.Insolvencies.Confirm(t.Context(), f.Actor, 1, ""); err != nil {
		t.Fatal(err)
	}
	f.jobs()
	list, err := f.App.Payments.List(t.Context(), f.Actor, payments.TransactionFilter{}, store.Page{Number: 1, Size: 1, Offset: -1, OrderBy: store.OrderID})
	if err != nil {
		t.Fatal(err)
	}
	paid := list.Items[0]
	f.Must(apptest.Linked(payment.Chargeback, paid, f.ReadBooking(paid.Payments[0].BookingID), 50_000))
	f.jobs()
	f.Advance(28 * 24 * time.Hour) // longer than a session
	b, finance, reader := f.As(access.Operator), f.As(access.Finance), f.As(access.ReadOnly)
	page, present := f.At("/claims/bordereau?period=2024-06"), f.At("/claims/bordereau/present?period=2024-06")
	finance.Must(f.At("/claims/bordereau?period=2024-07"), "The month is not over", f.channel.Name, "426.83 GBP", "Open", "Totals")
	finance.Must(f.At("/claims/bordereau?period=2024-05"), "No claims")
	if a := b.Get(f.At("/claims/bordereau?period=soon")); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "Must be a month") {
		t.Errorf("a wrong month: %d %s", a.Status, a.Text())
	}
	if a := reader.Get(page); a.Status != http.StatusForbidden {
		t.Errorf("a reader sees the bordereau: %d", a.Status)
	}
	if a := b.Post(f.At("/claims/bordereau/present?period=2024-07"), nil); a.Status != http.StatusBadRequest {
		t.Errorf("presented before it was over: %d", a.Status)
	}
	if a := finance.Must(page, "has not been presented yet"); strings.Contains(a.Body, "/present") {
		t.Error("finance is offered to present")
	}
	b.Must(page, "Present")
	b.Must(present, "A month can be presented once")
	finance.Must(f.At("/insolvencies/loss-ratio"), "Aggregate used", "Loss ratio", f.channel.Name, "426.83 GBP")
	finance.Must(f.At("/insolvencies/loss-ratio?year=2020"), "No premium and no insolvencies")
	for _, year := range []string{"24", "x"} {
		if a := finance.Get(f.At("/insolvencies/loss-ratio?year=" + year)); a.Status != http.StatusBadRequest || !strings.Contains(a.Body, `class="problem"`) {
			t.Errorf("year %s: %d %s", year, a.Status, a.Text())
		}
	}
	f.sent(b, present, nil)
	b.Must(page, "Presented on", "SHA-256")
	for end, starts := range map[string]string{".csv": "as_of,Reporting Period (End Date)", ".xlsx": "PK"} {
		if a := finance.Get(f.At("/claims/bordereau" + end + "?period=2024-06")); a.Status != http.StatusOK || !strings.HasPrefix(a.Body, starts) {
			t.Errorf("%s: %d %.40q", end, a.Status, a.Body)
		}
	}
}
