package trade_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/internal/account/tokens"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/webtest"
)

// TestANewSiteShowsTheFirstSteps, each only to users who can take it.
func TestANewSiteShowsTheFirstSteps(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	admin, reader := h.As(access.MemberAdmin), h.As(access.ReadOnly)
	a := admin.Must(h.At(""), "Create a merchant", "Create an API token", "Log a booking")
	if !strings.Contains(a.Body, h.At("/channels/new")) || strings.Contains(a.Body, h.At("/bookings/new")) {
		t.Error("a channel comes before a booking")
	}
	if a := reader.Must(h.At("")); strings.Contains(a.Body, "/new\"") {
		t.Error("a reader is led to what they may not do")
	}
	h.Channel(merchant.ModeTest, "EUR")
	if a := admin.Must(h.At(""), "Create a merchant: done"); !strings.Contains(a.Body, h.At("/bookings/new")) {
		t.Error("now a booking can be logged")
	}
}

// TestTheOverviewSaysWhatIsProtectedAndWhatNeedsAttention.
func TestTheOverviewSaysWhatIsProtectedAndWhatNeedsAttention(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.MemberAdmin)
	today := civil.DayOf(h.Now())
	c := h.Channel(merchant.ModeProtectionOnly, "GBP")
	h.Limit(protection.LimitChannel, c.ID, 750_00)
	booking := h.Booking(c, 1000_00, (today + 90).String())
	h.Must(apptest.Report(payment.Purchase, booking, 600_00))
	h.Advance(8 * 24 * time.Hour)
	b.SignIn("member_admin", webtest.Password)
	quiet := b.Must(h.At(""), "Protected now 600.00 GBP", "Undelivered (E1) 600.00 GBP", "0.00 GBP", "Ada Byron", "Purchase", "Run-off")
	if strings.Contains(quiet.Text(), "Needs attention") {
		t.Errorf("nothing needs attention:\n%s", quiet.Text())
	}
	h.Must(apptest.Report(payment.Purchase, booking, 100_00))
	other := h.Channel(merchant.ModeProtectionOnly, "EUR") // there is no rate
	h.Must(apptest.Report(payment.Purchase, h.Booking(other, 50_00, (today+90).String()), 50_00))
	name, expires := "till", today+12
	admin, err := h.App.Accounts.UserNamed(t.Context(), access.System(h.Site.ID), "member_admin")
	if err != nil {
		t.Fatal(err)
	}
	actor := access.Actor{SiteID: h.Site.ID, UserID: admin.ID, Username: admin.Username, Role: access.MemberAdmin, Ahead: h.Actor.Ahead}
	if _, _, err := h.App.Tokens.Create(t.Context(), actor, tokens.TokenFields{Name: &name, Expires: &expires}); err != nil {
		t.Fatal(err)
	}
	address := "https://receiver.example/hook"
	if _, err := h.App.Webhooks.Create(t.Context(), h.Actor, webhooks.EndpointFields{URL: &address}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a change counts some seconds after it was written
		for more := true; more; {
			if more, err = h.App.Limits.Recompute(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		h.Advance(6 * time.Second)
	}
	a := b.Must(h.At(""), "+100.00 GBP", "Needs attention", "1 payment is waiting for a rate of EUR", "The limit of", "is near", "The API token till expires soon")
	for _, link := range []string{"/settings/rates", "/exposure/limits", "/developers"} {
		if !strings.Contains(a.Body, `"`+h.At(link)+`"`) {
			t.Errorf("nothing leads to %s", link)
		}
	}
}
