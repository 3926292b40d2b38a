package trade_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/webtest"
	"holdfast/internal/web/kit"
)

// travelPayment is a purchase by card.
func travelPayment(b booking.Booking, total int64) payment.NewTransaction {
	return apptest.Report(payment.Purchase, b, total)
}

// TestAPaymentIsLoggedAndGivenBack on pages, and problems are shown next to their fields.
func TestAPaymentIsLoggedAndGivenBack(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.MemberAdmin)
	booking := h.Booking(h.Channel(merchant.ModeProtectionOnly, "EUR"), 1000_00, "2030-03-01")
	at := h.At("/bookings/" + idOf(booking.ID))
	if a := b.Must(at+"/pay", "Log payment"); !strings.Contains(a.Body, `value="1000.00"`) {
		t.Error("the form does not offer all that is open")
	}
	form := func(more ...string) url.Values {
		values := url.Values{
			"transaction_types": {"purchase"}, "total": {"600"}, "currencies": {"EUR"}, "card_types": {"visa"}, "reference": {"P-1"},
			"payment_methods": {"credit-card"}, "key": {"one"},
		}
		for i := 0; i+1 < len(more); i += 2 {
			values.Set(more[i], more[i+1])
		}
		return values
	}
	for _, wrong := range []struct{ field, value, says string }{
		{"total", "", "This field is required"}, {"currencies", "XXX", "Unknown currency"}, {"currencies", "USD", "Enter the amount in EUR"},
		{"transaction_types", "refund", "Choose purchase"}, {"effective_at", "2999-01-01T10:00", "in the future"},
		{"effective_at", "noon", "Enter a time in GMT"}, {"bin_number", "12", "BIN"}, {"content", "4111 1111 1111 1111", "card number"},
	} {
		a := b.Post(at+"/pay", form(wrong.field, wrong.value))
		if a.Status != http.StatusBadRequest || !strings.Contains(strings.ToLower(a.Text()), strings.ToLower(wrong.says)) {
			t.Errorf("%s %q: %d, and it does not say %q:\n%s", wrong.field, wrong.value, a.Status, wrong.says, a.Text())
		}
	}
	made := b.Post(at+"/pay", form())
	if again := b.Post(at+"/pay", form()); made.Status != http.StatusSeeOther || again.To != made.To {
		t.Fatalf("%d to %q, and again to %q\n%s", made.Status, made.To, again.To, made.Text())
	}
	b.Must(made.To, "600.00 EUR", "Protected", "Visa", "P-1", "cover start", "Of €600.00 paid, nothing was refunded; all of it is at risk until")
	b.Must(at, "Paid 600.00 EUR", "Purchase", "Protected now 600.00 EUR", "Another €400.00 is still to be paid.")
	if a := b.Post(made.To+"/refund", url.Values{"total": {"600.01"}, "key": {"two"}}); a.Status != http.StatusConflict && a.Status != http.StatusBadRequest {
		t.Errorf("more than all was given back: %d", a.Status)
	}
	b.Must(made.To+"/refund", "Amount in EUR")
	back := b.Post(made.To+"/refund", url.Values{"total": {"100.50"}, "reference": {"R-1"}, "key": {"three"}})
	if back.Status != http.StatusSeeOther {
		t.Fatalf("%d\n%s", back.Status, back.Text())
	}
	b.Must(made.To, "499.50 EUR", "Refund")
	b.Must(back.To, "Adjusts")
	if got := h.ReadBooking(booking.ID); got.Sums.Net != 499_50 {
		t.Errorf("paid is %d", got.Sums.Net)
	}
	b.Must(h.At("/payments?transaction_types=refund"), "R-1")
	rows, err := csv.NewReader(strings.NewReader(b.Must(h.At("/payments?format=csv&col=type&col=total&col=currency&sort=id")).Body)).ReadAll()
	if err != nil || len(rows) != 3 || strings.Join(rows[1], " ") != "Purchase 600.00 EUR" || strings.Join(rows[2], " ") != "Refund 100.50 EUR" {
		t.Errorf("%v %q", err, rows)
	}
}

// TestAPaymentOfSeveralBookingsIsDividedAgain when it is refunded in a different currency.
func TestAPaymentOfSeveralBookingsIsDividedAgain(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel(merchant.ModeProtectionOnly, "EUR")
	one, two := h.Booking(c, 100_00, "2030-03-01"), h.Booking(c, 100_00, "2030-03-01")
	in := apptest.Report(payment.Purchase, one, 150_00)
	in.Items = &[]payment.Item{{BookingID: one.ID, Currency: "EUR", Total: 100_00}, {BookingID: two.ID, Currency: "EUR", Total: 50_00}}
	paid := h.Must(in)
	b := h.As(access.Operator)
	at := h.At("/payments/" + idOf(paid.ID))
	b.Must(at+"/refund", "Of booking "+idOf(one.ID)+", in EUR")
	values := url.Values{"total": {"60"}, "split_" + idOf(one.ID): {"20"}, "split_" + idOf(two.ID): {"40"}}
	if a := b.Post(at+"/refund", values); a.Status != http.StatusSeeOther {
		t.Fatalf("%d\n%s", a.Status, a.Text())
	}
	if first, second := h.ReadBooking(one.ID).Sums.Net, h.ReadBooking(two.ID).Sums.Net; first != 80_00 || second != 10_00 {
		t.Errorf("left are %d and %d", first, second)
	}
	values = url.Values{"total": {"90"}, "split_" + idOf(one.ID): {"80"}, "split_" + idOf(two.ID): {"10"}, "reason_code": {"13.1"}, "challenge_date": {"2030-06-01"}}
	if a := b.Post(at+"/chargeback", values); a.Status != http.StatusSeeOther {
		t.Fatalf("%d\n%s", a.Status, a.Text())
	}
	b.Must(at, "Charged back", "13.1", "1 Jun 2030", "Record a reversal")
	values = url.Values{"total": {"90"}, "split_" + idOf(one.ID): {"80"}, "split_" + idOf(two.ID): {"10"}}
	if a := b.Post(at+"/chargeback-reversal", values); a.Status != http.StatusSeeOther {
		t.Fatalf("%d\n%s", a.Status, a.Text())
	}
	b.Must(at, "Won")
}

// TestTheOnlyHitOpens: the search leads straight to it, and lists several.
func TestTheOnlyHitOpens(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.ReadOnly)
	booking := h.Booking(h.Channel(merchant.ModeTest, "EUR"), 1000_00, "2030-03-01")
	b.Must(h.At("/search"), "Search")
	b.Must(h.At("/search?q=nobody"), "No results")
	if a := b.Get(h.At("/search?q=ada@")); a.To != h.At("/bookings/"+idOf(booking.ID)) {
		t.Errorf("the only booking: %d to %q", a.Status, a.To)
	}
	in := travelPayment(booking, 10_00)
	in.PayeeSurname, in.Reference = "Byron", "P-77"
	paid := h.Must(in)
	if a := b.Get(h.At("/search?q=p-77")); a.To != h.At("/payments/"+idOf(paid.ID)) {
		t.Errorf("the only payment: %d to %q", a.Status, a.To)
	}
	b.Must(h.At("/search?q=Byron"), "Bookings", "Payments", "10.00 EUR")
}

// TestTheSearchFindsMerchantsStatementsAndPages: only those that the user may open.
func TestTheSearchFindsMerchantsStatementsAndPages(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel(merchant.ModeProtectionOnly, "GBP")
	name, external := "Azure Coast", "AC-77"
	if _, err := h.App.Channels.Change(t.Context(), h.Actor, c.ID, merchant.ChannelFields{Name: &name, ExternalID: &external}); err != nil {
		t.Fatal(err)
	}
	h.Must(apptest.Report(payment.Purchase, h.Booking(c, 1000_00, "2030-03-01"), 1000_00))
	reader := h.As(access.ReadOnly)
	if a := reader.Get(h.At("/search?q=azure")); a.To != h.At("/channels/"+idOf(c.ID)) {
		t.Errorf("the only merchant: %d to %q", a.Status, a.To)
	}
	if a := reader.Get(h.At("/search?q=ac-77")); a.To != h.At("/channels/"+idOf(c.ID)) {
		t.Errorf("the only merchant, by its external id: %d to %q", a.Status, a.To)
	}
	h.World.At("2024-07-03")
	h.Issue(1)
	reader.SignIn("read_only", webtest.Password) // the earlier session has expired
	finance, operator := h.As(access.Finance), h.As(access.Operator)
	list := h.Statements(statements.StatementFilter{})
	if len(list) != 1 {
		t.Fatalf("%d statements", len(list))
	}
	finance.Must(h.At("/search?q=azure"), "Merchants", "Statements", "2024-06")
	finance.Must(h.At("/search?q="+idOf(list[0].Number)), "Statements", "Azure Coast")
	if a := finance.Get(h.At("/search?q=statement+" + idOf(list[0].Number))); a.To != h.At("/statements/"+idOf(list[0].ID)) {
		t.Errorf("the only statement: %d to %q", a.Status, a.To)
	}
	if text := reader.Must(h.At("/search?q=" + idOf(list[0].Number))).Text(); strings.Contains(text, "2024-06") {
		t.Errorf("a user without access to statements finds one: %s", text)
	}
	reader.Must(h.At("/search?q=exposure"), "Pages", "Exposure", "Exposure: Run-off")
	for query, want := range map[string]string{"run-off": "/exposure/run-off", "settings+rates": "/settings/rates", "Webhook": "/developers/webhooks"} {
		if a := reader.Get(h.At("/search?q=" + query)); a.To != h.At(want) {
			t.Errorf("%s: %d to %q", query, a.Status, a.To)
		}
	}
	reader.Must(h.At("/search?q=receivables"), "No results")
	reader.Must(h.At("/search?q=import"), "No results")
	if a := operator.Get(h.At("/search?q=receivables")); a.To != kit.Path+"/receivables" {
		t.Errorf("the receivables: %d to %q", a.Status, a.To)
	}
}
