package settings_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/limits"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/webtest"
)

// others are the roles that set no terms.
var others = []access.Role{access.ReadOnly, access.Finance, access.MemberAdmin}

// seen reads a page as CSV.
func seen(t *testing.T, b *webtest.Browser, path string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(b.Must(path).Body)).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return rows
}

// real creates a site that is not a sandbox.
func realSite(t *testing.T, h *webtest.House) (at string) {
	t.Helper()
	path, name, currency := "real", "Real Travel", money.Currency("GBP")
	_, err := h.App.Sites.Create(t.Context(), access.System(0), merchant.SiteFields{Path: &path, Name: &name, Currency: &currency})
	if err != nil {
		t.Fatal(err)
	}
	return "/sites/real"
}

func whole() store.Page { return store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"} }

var card = "0-30: 0.25 %\r\n31-: 1.5%\r\nchannel 1: 0-: 2 %"

// TestAPolicyIsSet: the form can be submitted unchanged, and changes in it apply.
func TestAPolicyIsSet(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	h.Channel(merchant.ModeProtectionOnly, "GBP")
	b := h.As(access.Operator)
	form := b.Must(h.At("/settings/policy"), "366-: 1.6 %", "Premium")
	if strings.Contains(form.Text(), "two people") {
		t.Error("a sandbox needs one person")
	}
	in := url.Values{
		"from": {"2024-07-01"}, "currency": {"gbp"}, "recognition": {"linear"}, "late_log_days": {"5"}, "max_fixing_age_days": {"6"},
		"rate_card": {card}, "minimum_per_line": {"1.50"}, "minimum_per_month": {""}, "tax_codes": {"IPT 12.5 % Insurance premium tax"},
		"statement_period": {"biweek"}, "payment_terms_days": {"14"}, "reason": {"Renewal"},
		"deductible": {"10,000.00"}, "coinsurance_ppm": {"12.5 %"}, "merchant_limit": {""}, "notify_within": {"6"}, "development_ppm": {"80"},
		"other_protection_first": {"bond, scheme"}, "recovery_order": {"insurer, deductible, site"},
	}
	a := b.Post(h.At("/settings/policy"), in)
	if a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	day := civil.Date(2024, 7, 2)
	y, err := h.App.Policies.On(t.Context(), h.Actor, &day)
	if err != nil || len(y.RateCard) != 3 || y.RateCard[1].PPM != 15_000 || y.RateCard[1].To != terms.NoEnd || y.RateCard[2].ChannelID != 1 ||
		y.TaxCodes[0] != (terms.TaxCode{Code: "IPT", RatePPM: 125_000, Label: "Insurance premium tax"}) || y.MinimumPerLine != 150 ||
		y.PremiumRefundable || y.StatementPeriod != "biweek" || y.LateLogDays != 5 || y.PaymentTermsDays != 14 ||
		y.Cover.Deductible != 1_000_000 || y.Cover.CoinsurancePPM != 125_000 || y.Cover.MerchantLimit != 0 || y.Cover.NotifyWithin != 6 ||
		y.Cover.DevelopmentPPM != 800_000 || len(y.Cover.OtherProtectionFirst) != 2 || y.Cover.RecoveryOrder[0] != terms.BearerInsurer {
		t.Errorf("%+v, %v", y, err)
	}
	b.Must(a.To, "Policy from 1 Jul 2024", "31- 1.5 %", "Merchant 1", "IPT", "12.5 %", "1.50 GBP", "14 business days", "10,000.00 GBP", "12.5 %", "6 months",
		"Bond, Scheme", "Insurer, Deductible, Site", "No limit")
	b.Must(h.At("/settings/policies"), "1 Jul 2024", "Upcoming", "Start", "In force")
	rows := seen(t, b, h.At("/settings/policies?format=csv"))
	if len(rows) != 3 || rows[1][0] != "2024-07-01" || rows[1][1] != "upcoming" {
		t.Errorf("%v", rows)
	}
	again := b.Must(h.At("/settings/policy?like=2"), "channel 1: 0-: 2 %", "IPT 12.5 % Insurance premium tax")
	if !strings.Contains(again.Body, `value="1.50"`) {
		t.Error("the minimum is not in the form")
	}
}

// TestPolicyProblemsAreShownAtTheirFields, with the number of the line.
func TestPolicyProblemsAreShownAtTheirFields(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.Operator)
	for text, want := range map[string]string{
		"0-30 0.25": "Line 1: enter a band such as 31-90", "0-30: 1 %": "must be open-ended", "0-30: 1 %\n\n40-: 2 %": "Line 2: Bands must follow each other",
		"0-: 200 %": "Must be a whole number between 0 and 1000000", "channel 9: 0-: 1 %\n0-: 1 %": "Channel 9 not found", "0-: 0.00001 %": "Line 1",
	} {
		a := b.Post(h.At("/settings/policy"), url.Values{
			"from": {"2024-07-01"}, "currency": {"GBP"}, "recognition": {"end_date"}, "late_log_days": {"3"}, "max_fixing_age_days": {"7"},
			"rate_card": {text}, "payment_terms_days": {"10"}, "statement_period": {"month"},
		})
		if a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), want) {
			t.Errorf("%q: %d, %s", text, a.Status, a.Text())
		}
		if !strings.Contains(a.Text(), "0-") {
			t.Errorf("%q is not in the form again", text)
		}
	}
}

// TestTermsWaitForASecondOperator outside a sandbox, and change nothing until then.
func TestTermsWaitForASecondOperator(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	at := realSite(t, h)
	b := h.As(access.Operator)
	b.Must(at+"/settings/limit", "Limits need two people")
	for path, in := range map[string]url.Values{
		"/settings/limit": {"scope": {"site"}, "amount": {"1,000,000.00"}, "from": {"2024-06-03"}, "note": {"As agreed"}},
		"/settings/policy": {
			"from": {"2024-07-01"}, "currency": {"GBP"}, "recognition": {"linear"}, "late_log_days": {"5"}, "max_fixing_age_days": {"7"},
			"rate_card": {"0-: 1 %"}, "payment_terms_days": {"10"}, "statement_period": {"month"},
		},
	} {
		a := b.Post(at+path, in)
		if a.Status != http.StatusSeeOther || !strings.Contains(a.To, "/approvals/") {
			t.Fatalf("%s: %d to %q: %s", path, a.Status, a.To, a.Text())
		}
		b.Must(a.To, "Waiting for a second operator", "You requested this yourself")
	}
	b.Must(at+"/settings/limits", "No limits yet")
	if rows := seen(t, b, at+"/settings/policies?format=csv"); len(rows) != 2 {
		t.Errorf("%v", rows)
	}
}

// TestALimitIsSet, shown with its use, and lifted again.
func TestALimitIsSet(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel(merchant.ModeProtectionOnly, "GBP")
	b := h.As(access.Operator)
	for _, in := range []url.Values{
		{"scope": {"site"}, "amount": {"5,000.00"}, "from": {"2024-06-03"}},
		{"scope": {"channel"}, "channels": {"1"}, "amount": {"700"}, "from": {"2024-06-03"}, "note": {"Young company"}},
	} {
		if a := b.Post(h.At("/settings/limit"), in); a.Status != http.StatusSeeOther || a.To != h.At("/settings/limits") {
			t.Fatalf("%d %s", a.Status, a.Text())
		}
	}
	b.Must(h.At("/settings/limits"), "5,000.00 GBP", "700.00 GBP", c.Name, "0.0 %", "Within")
	rows := seen(t, b, h.At("/settings/limits?format=csv"))
	if len(rows) != 3 || rows[2][2] != "GBP" || rows[2][3] != "700.00" || rows[2][6] != "700.00" {
		t.Errorf("%v", rows)
	}
	wrong := b.Post(h.At("/settings/limit"), url.Values{"scope": {"site"}, "channels": {"1"}, "amount": {"1"}, "from": {"2024-06-02"}})
	for _, want := range []string{"Not allowed for a limit of the site", "Must be today or later"} {
		if wrong.Status != http.StatusBadRequest || !strings.Contains(wrong.Text(), want) {
			t.Errorf("%d, and it does not say %q", wrong.Status, want)
		}
	}
	lift := url.Values{"scope": {"channel"}, "channels": {"1"}, "lift": {"1"}, "from": {"2024-06-03"}}
	if a := b.Post(h.At("/settings/limit"), lift); a.Status != http.StatusSeeOther {
		t.Errorf("lifting: %d %s", a.Status, a.Text())
	}
	b.Must(h.At("/settings/limits/history"), "Lifted", "700.00 GBP", "Young company")
	list, err := h.App.Limits.List(t.Context(), h.Actor, limits.LimitFilter{}, whole())
	if err != nil || len(list.Items) != 1 || list.Items[0].Scope != protection.LimitSite || list.Items[0].Amount != 500_000 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestCollateralIsRecorded, and corrected.
func TestCollateralIsRecorded(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	h.Channel(merchant.ModeProtectionOnly, "GBP")
	b := h.As(access.Operator)
	b.Must(h.At("/settings/collateral"), "No collateral yet")
	in := url.Values{"kind": {"guarantee"}, "channels": {"1"}, "currency": {"EUR"}, "amount": {"250,000.00"}, "from": {"2024-06-01"}, "reference": {"LG-7"}}
	if a := b.Post(h.At("/settings/collateral/new"), in); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	b.Must(h.At("/settings/collateral"), "Guarantee", "250,000.00 EUR", "LG-7", "1 Jun 2024")
	if body := b.Must(h.At("/settings/collateral/new?corrects=1"), "Correct record 1").Body; !strings.Contains(body, `value="250000.00"`) {
		t.Error("the amount is not in the form")
	}
	in.Set("corrects", "1")
	in.Set("amount", "0")
	if a := b.Post(h.At("/settings/collateral/new"), in); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	b.Must(h.At("/settings/collateral"), "No collateral yet")
	b.Must(h.At("/settings/collateral?all=1"), "Voided", "250,000.00 EUR")
	if a := b.Post(h.At("/settings/collateral/new"), url.Values{"kind": {"cash"}, "currency": {"EUR"}, "amount": {"1.234"}}); a.Status != http.StatusBadRequest {
		t.Errorf("an amount that is none: %d", a.Status)
	}
	held, err := h.App.Collaterals.Held(t.Context(), h.Actor, ledger.Moment{}, errs.Problems{}, nil, whole())
	if err != nil || len(held.Items) != 0 {
		t.Errorf("%+v, %v", held, err)
	}
}

// TestOnlyOperatorsSetTerms: others only read them, and forged forms are rejected.
func TestOnlyOperatorsSetTerms(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	for _, role := range others {
		b := h.As(role)
		for path, act := range map[string]string{"/settings/policies": "New policy", "/settings/limits": "New limit", "/settings/collateral": "Add collateral"} {
			if text := b.Must(h.At(path)).Text(); strings.Contains(text, act) {
				t.Errorf("%s shows %s to %s", path, act, role)
			}
		}
		for _, path := range []string{"/settings/policy", "/settings/limit", "/settings/collateral/new"} {
			in := url.Values{
				"scope": {"site"}, "amount": {"1"}, "from": {"2024-07-01"}, "currency": {"GBP"}, "kind": {"cash"}, "recognition": {"linear"},
				"late_log_days": {"5"}, "max_fixing_age_days": {"7"}, "rate_card": {"0-: 1 %"}, "payment_terms_days": {"10"}, "statement_period": {"month"},
			}
			if a := b.Post(h.At(path), in); a.Status != http.StatusForbidden {
				t.Errorf("%s sends %s: %d", role, path, a.Status)
			}
			if a := b.Get(h.At(path)); a.Status != http.StatusForbidden {
				t.Errorf("%s opens %s: %d", role, path, a.Status)
			}
		}
	}
	list, err := h.App.Limits.History(t.Context(), h.Actor, 0, whole())
	if err != nil || len(list.Items) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}
