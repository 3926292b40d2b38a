package channels_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/store"
	"holdfast/internal/testkit/webtest"
)

// TestTheLeastPayoutIsInTheCurrencyOfPayouts: if the form changes that currency, the amount has to be entered again.
func TestTheLeastPayoutIsInTheCurrencyOfPayouts(t *testing.T) {
	t.Parallel()
	for _, profile := range []merchant.Profile{merchant.ServerToServerProfile, merchant.ProtectionOnlyProfile} {
		t.Run(string(profile), func(t *testing.T) { setPayouts(t, profile) })
	}
}

// setPayouts sets the payouts of a merchant with the form of its settings.
func setPayouts(t *testing.T, profile merchant.Profile) {
	h := webtest.New(t)
	h.App.Channels.Profile = profile
	c := h.Channel(merchant.ModeDraft, "EUR")
	b := h.As(access.Operator)
	in := url.Values{"name": {c.Name}, "currencies": {"EUR"}, "language": {"enGB"}, "account_mode": {"draft"}, "account_type": {c.AccountType},
		"protection_type": {c.ProtectionType}, "statement_period": {"month"}, "other_protection": {"none"}, "beneficiary_id": {"BEN-204"}}
	for _, step := range []struct {
		minimum, shown, settle string
		status                 int
		says                   string
		want                   int64 // in the channel after that
	}{
		{"100.00", "EUR", "", http.StatusSeeOther, "", 10000},
		{"100.00", "EUR", "GBP", http.StatusBadRequest, "Enter this amount in GBP", 10000},
		{"", "EUR", "GBP", http.StatusBadRequest, "", 10000},
		{"", "GBP", "GBP", http.StatusBadRequest, "", 10000},
		{"85.00", "XXQ", "GBP", http.StatusBadRequest, "", 10000},
		{"85.00", "GBP", "XXQ", http.StatusBadRequest, "", 10000},
		{"85.00", "GBP", "GBP", http.StatusSeeOther, "", 8500},
		{"0.00", "GBP", "", http.StatusSeeOther, "", 0},
	} {
		in.Set("payout_minimum", step.minimum)
		in.Set("payout_currency", step.shown)
		in.Set("settlement_currency", step.settle)
		a := b.Post(at(h, c, "/settings"), in)
		if a.Status != step.status || !strings.Contains(a.Text(), step.says) {
			t.Fatalf("%+v: %d %s", step, a.Status, a.Text())
		}
		if step.says != "" && !strings.Contains(a.Body, `name="payout_currency" value="GBP"`) {
			t.Error("the form that is shown again is in the old currency still")
		}
		if now, err := h.App.Channels.Get(t.Context(), h.Actor, c.ID); err != nil || now.PayoutMinimum != step.want || now.BeneficiaryID != "BEN-204" {
			t.Errorf("%+v: the least payout is %d, %v", step, now.PayoutMinimum, err)
		}
	}
	in.Set("name", "Another")
	in.Set("payout_minimum", "85.00")
	in.Del("payout_currency")
	made := b.Post(h.At("/channels"), in)
	list, err := h.App.Channels.List(t.Context(), h.Actor, merchants.ChannelFilter{Name: "Another"}, store.Page{Number: 1, Size: 1, Offset: -1, OrderBy: "id"})
	if err != nil || len(list.Items) != 1 || list.Items[0].PayoutMinimum != 8500 {
		t.Errorf("a new channel: %d %s %+v %v", made.Status, made.Text(), list.Items, err)
	}
}
