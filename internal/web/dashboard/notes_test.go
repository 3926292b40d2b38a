package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/testkit/webtest"
)

// TestASearchHoldsNoCardNumber: a card number pasted into a search is removed by a redirect, with one notice. The rest
// of the URL stays.
func TestASearchHoldsNoCardNumber(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.ReadOnly)
	for address, want := range map[string]string{
		"/search?q=4111+1111+1111+1111":                                   h.At("/search"),
		"/bookings?q=4111%201111%201111%201111&sort=total&status=paid":    h.At("/bookings?sort=total&status=paid"),
		"/payments?last_four_digits=5555555555554444&col=id&col=currency": h.At("/payments?col=id&col=currency"),
	} {
		a := b.Get(h.At(address))
		if a.Status != http.StatusSeeOther || a.To != want {
			t.Errorf("%s: %d to %q, want %q", address, a.Status, a.To, want)
		}
		if !strings.Contains(b.Must(a.To, "This contains a card number. Nothing was searched").Body, `class="note warned"`) {
			t.Errorf("%s: the note is no warning", address)
		}
		if again := b.Must(a.To); strings.Contains(again.Text(), "card number.") {
			t.Errorf("%s: it is said twice", address)
		}
	}
	if a := h.Browser().Get("/sign-in?back=" + h.At("/search%3Fq=4111111111111111")); a.To != "/dashboard/sign-in" {
		t.Errorf("signing in keeps it: %d to %q", a.Status, a.To)
	}
	b.Must(h.At("/search?q=4111+1111+1111+1112"), "No results") // no card number
}
