package settings_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/testkit/webtest"
)

// keyField finds the key of a form.
var keyField = regexp.MustCompile(`name="key" value="([^"]+)"`)

// TestAFormSentTwiceRecordsOnce: collateral counted twice would lower the net exposure too much.
func TestAFormSentTwiceRecordsOnce(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	h.Channel(merchant.ModeProtectionOnly, "GBP")
	b := h.As(access.Operator)
	today := civil.DayOf(h.Now())
	for _, c := range []struct {
		form, list string
		in         url.Values
	}{
		{"/settings/collateral/new", "/settings/collateral?all=1&", url.Values{
			"kind": {"guarantee"}, "channels": {"1"}, "currency": {"EUR"}, "amount": {"250,000.00"}, "from": {"2024-06-01"}}},
		{"/settings/limit", "/settings/limits/history?", url.Values{"scope": {"site"}, "amount": {"700"}, "from": {today.String()}}},
		{"/settings/policy", "/settings/policies?", url.Values{
			"from": {(today + 1).String()}, "currency": {"EUR"}, "recognition": {"linear"}, "late_log_days": {"5"}, "max_fixing_age_days": {"7"},
			"rate_card": {"0-: 1 %"}, "payment_terms_days": {"10"}, "statement_period": {"month"}}},
		{"/settings/rates/quote", "/settings/rates/history?", url.Values{
			"currency": {"PLN"}, "rate": {"4.31"}, "day": {(today - 1).String()}, "quote_id": {"desk-7"}}},
	} {
		key := keyField.FindStringSubmatch(b.Must(h.At(c.form)).Body)
		if key == nil {
			t.Errorf("%s has no key", c.form)
			continue
		}
		c.in.Set("key", key[1])
		before := len(seen(t, b, h.At(c.list+"format=csv")))
		for range 2 {
			if a := b.Post(h.At(c.form), c.in); a.Status != http.StatusSeeOther {
				t.Errorf("%s: %d %s", c.form, a.Status, a.Text())
			}
		}
		if n := len(seen(t, b, h.At(c.list+"format=csv"))) - before; n != 1 {
			t.Errorf("%s sent twice made %d records", c.form, n)
		}
	}
}
