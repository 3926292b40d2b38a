package trade_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/testkit/webtest"
)

// filled are the values of a new booking.
func filled(channel int64, more ...string) url.Values {
	values := url.Values{
		"channels": {idOf(channel)}, "content": {"A week"}, "firstname": {"Grace"}, "surname": {"Hopper"}, "email": {"grace@example.org"},
		"date": {"2030-05-31"}, "total": {"1,234.50"}, "countries": {"pt"}, "language": {"deDE"}, "key": {"one"}, "suppliers": {""},
	}
	for i := 0; i+1 < len(more); i += 2 {
		values.Set(more[i], more[i+1])
	}
	return values
}

// TestABookingIsLoggedAndChanged with permission, and problems are shown next to their fields.
func TestABookingIsLoggedAndChanged(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.MemberAdmin)
	c := h.Channel(merchant.ModeTest, "EUR")
	b.Must(h.At("/bookings/new"), "Choose a merchant", "Latvian")
	for _, wrong := range []struct{ field, value, says string }{
		{"total", "12,50", "Enter an amount"}, {"total", "12.505", "Enter an amount"},
		{"countries", "Portugal", "two capital letters"}, {"date", "", "This field is required"}, {"date_start", "2030-06-01", "must not be after the end date"},
		{"channels", "", "Choose a merchant."}, {"channels", "", "it sets the currency"}, {"suppliers", "x", "Enter supplier IDs"}, {"pax", "many", "Enter a whole number"},
		{"surname", "", "cannot be empty"},
	} {
		a := b.Post(h.At("/bookings/new"), filled(c.ID, wrong.field, wrong.value))
		if a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), wrong.says) || !strings.Contains(a.Body, "grace@example.org") {
			t.Errorf("%s %q: %d, and it does not say %q:\n%s", wrong.field, wrong.value, a.Status, wrong.says, a.Text())
		}
		if strings.Contains(a.Text(), "Currencies:") {
			t.Errorf("%s %q: it speaks of a field that is not there", wrong.field, wrong.value)
		}
	}
	made := b.Post(h.At("/bookings/new"), filled(c.ID))
	if again := b.Post(h.At("/bookings/new"), filled(c.ID)); made.Status != http.StatusSeeOther || again.To != made.To {
		t.Fatalf("%d to %q, and sent twice to %q\n%s", made.Status, made.To, again.To, made.Text())
	}
	b.Must(made.To, "Grace Hopper", "1,234.50 EUR", "German", "No payments yet", "Booking logged")
	edit := b.Must(made.To + "/edit")
	for _, value := range []string{`value="1234.50"`, `value="grace@example.org"`, `value="2030-05-31"`} {
		if !strings.Contains(edit.Body, value) {
			t.Errorf("the form has no %s", value)
		}
	}
	changed := filled(c.ID, "surname", "Murray", "total", "2000", "pax", "3", "other_protection", "bond")
	if a := b.Post(made.To+"/edit", changed); a.Status != http.StatusSeeOther {
		t.Fatalf("%d\n%s", a.Status, a.Text())
	}
	b.Must(made.To, "Grace Murray", "2,000.00 EUR", "Bond")
	if a := b.Post(made.To+"/edit", filled(c.ID, "version", "1")); a.Status != http.StatusConflict {
		t.Errorf("an old form: %d", a.Status)
	}
	b.Must(made.To+"/delete", "Delete the booking?")
	if a := b.Post(made.To+"/delete", nil); a.To != h.At("/bookings") || b.Get(made.To).Status != http.StatusNotFound {
		t.Errorf("deleted: %d to %q", a.Status, a.To)
	}
}

// TestWhoMayOnlyReadChangesNothing: neither on pages nor with forged forms.
func TestWhoMayOnlyReadChangesNothing(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel(merchant.ModeTest, "EUR")
	booking := h.Booking(c, 100_00, "2030-03-01")
	paid := h.Must(travelPayment(booking, 60_00))
	at, of := h.At("/bookings/"+idOf(booking.ID)), h.At("/payments/"+idOf(paid.ID))
	for _, role := range []access.Role{access.ReadOnly, access.Finance} {
		b := h.As(role)
		for _, page := range []string{h.At("/bookings"), at, of} {
			text := b.Must(page).Text()
			for _, act := range []string{"New booking", "Log a", "Change ", "Delete", "Record a"} {
				if strings.Contains(text, act) {
					t.Errorf("%s: %s shows %q", role, page, act)
				}
			}
		}
		for path, values := range map[string]url.Values{
			h.At("/bookings/new"): filled(c.ID), at + "/edit": filled(c.ID), at + "/delete": nil, at + "/certificate/revoke": nil,
			at + "/pay": {"total": {"1"}, "currencies": {"EUR"}, "transaction_types": {"purchase"}}, of + "/refund": {"total": {"1"}},
			of + "/chargeback": {"total": {"1"}}, of + "/chargeback-reversal": {"total": {"1"}},
		} {
			if a := b.Post(path, values); a.Status != http.StatusForbidden {
				t.Errorf("%s: %s: %d", role, path, a.Status)
			}
		}
	}
	admin := h.As(access.MemberAdmin)
	if a := admin.Post(of+"/chargeback", url.Values{"total": {"1"}}); a.Status != http.StatusForbidden {
		t.Errorf("a chargeback by a customer: %d", a.Status)
	}
	if got := h.ReadBooking(booking.ID); got.Surname != "Byron" || got.Sums.Net != 60_00 {
		t.Errorf("it has changed: %+v", got)
	}
	other := webtest.New(t).As(access.MemberAdmin)
	if a := other.Get(h.At("/bookings/999")); a.Status != http.StatusNotFound {
		t.Errorf("no such booking: %d", a.Status)
	}
}

// TestACertificateHasALinkThatEnds.
func TestACertificateHasALinkThatEnds(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.MemberAdmin)
	booking := h.Booking(h.Channel(merchant.ModeTest, "EUR"), 100_00, "2030-03-01")
	at := h.At("/bookings/" + idOf(booking.ID) + "/certificate")
	link := func() string {
		text := b.Must(at, "Not protected").Text()
		_, rest, ok := strings.Cut(text, webtest.Base+"/certificate/")
		if !ok {
			t.Fatal(text)
		}
		return strings.Fields(rest)[0]
	}
	first := link()
	if again := link(); again != first {
		t.Errorf("%s, and then %s", first, again)
	}
	b.Must(at+"/revoke", "Revoke link")
	if a := b.Post(at+"/revoke", nil); a.Status != http.StatusSeeOther {
		t.Errorf("%d", a.Status)
	}
	if again := link(); again == first {
		t.Error("the link is still the same")
	}
}
