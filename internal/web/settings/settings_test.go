package settings_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/notify/mail"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/webtest"
)

// TestTheSettingsOfASite: everyone reads them; an operator changes the issuer of statements and moves a sandbox's
// clock.
func TestTheSettingsOfASite(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	in := url.Values{"issuer_name": {"Holdfast Ltd"}, "issuer_address": {"1 Road\r\nLondon"}, "policyholder_name": {"Demo AB"}}
	for _, role := range others {
		b := h.As(role)
		text := b.Must(h.At("/settings"), "Sandbox", "Only shown: no mail server is configured").Text()
		if strings.Contains(text, "Change issuer") || strings.Contains(text, "Move clock") {
			t.Errorf("%s is shown what an operator does", role)
		}
		for path, form := range map[string]url.Values{"/settings/parties": in, "/settings/clock": {"to": {"2024-07-01"}}} {
			if a := b.Post(h.At(path), form); a.Status != http.StatusForbidden {
				t.Errorf("%s sends %s: %d", role, path, a.Status)
			}
		}
	}
	b := h.As(access.Operator)
	if a := b.Post(h.At("/settings/parties"), in); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	b.Must(h.At("/settings"), "Holdfast Ltd", "1 Road, London", "Demo AB")
	if body := b.Must(h.At("/settings/parties")).Body; !strings.Contains(body, "1 Road\nLondon") || !strings.Contains(body, `value="Demo AB"`) {
		t.Error("the form does not show what is on record")
	}
	long := url.Values{"issuer_address": {strings.Repeat("x\n", 9)}}
	if a := b.Post(h.At("/settings/parties"), long); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "At most 6 lines") {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	for day, want := range map[string]int{"": 400, "2024-06-01": 409, "2024-07-01": 303} {
		if a := b.Post(h.At("/settings/clock"), url.Values{"to": {day}}); a.Status != want {
			t.Errorf("the clock to %q: %d, want %d: %s", day, a.Status, want, a.Text())
		}
	}
	b.Must(h.At("/settings"), "1 Jul 2024 00:00 GMT")
	real := realSite(t, h)
	if a := b.Post(real+"/settings/clock", url.Values{"to": {"2030-01-01"}}); a.Status != http.StatusConflict {
		t.Errorf("the clock of a site that is no sandbox: %d", a.Status)
	}
}

// fixings puts rates of the ECB on file.
func fixings(t *testing.T, h *webtest.House, list ...fx.Fixing) {
	t.Helper()
	for i := range list {
		var err error
		if list[i].Rate, err = money.ParseRate("1.25"); err != nil {
			t.Fatal(err)
		}
		list[i].Provider = fx.ECB
	}
	if _, err := h.App.Rates.Add(t.Context(), access.System(0), list); err != nil {
		t.Fatal(err)
	}
}

// TestRatesAreShownWithTheirGaps, with the waiting payments, which a quote prices.
func TestRatesAreShownWithTheirGaps(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.Operator)
	b.Must(h.At("/settings/rates"), "No rates in the last 60 days")
	today := civil.DayOf(h.Now())
	fixings(t, h, fx.Fixing{Currency: "GBP", Day: today - 1}, fx.Fixing{Currency: "GBP", Day: today - 2}, fx.Fixing{Currency: "SEK", Day: today - 20},
		fx.Fixing{Currency: "USD", Day: today - 90})
	c := h.Channel(merchant.ModeProtectionOnly, "PLN")
	h.Must(apptest.Report(payment.Purchase, h.Booking(c, 10000, "2024-09-14"), 10000))
	rows := seen(t, b, h.At("/settings/rates?format=csv"))
	if len(rows) != 3 || !slices.Equal(rows[1][:7], []string{"GBP", "1.25", (today - 1).String(), "1", "counts", "ECB", "1"}) ||
		!slices.Equal(rows[2][3:7], []string{"20", "too old", "ECB", "2"}) {
		t.Errorf("%v", rows)
	}
	b.Must(h.At("/settings/rates"), "Waiting for a rate", "100.00 PLN", "a fixing is valid for 7 days")
	b.Must(h.At("/settings/rates/history"), "USD")
	b.Must(h.At("/settings/rates/history?currency=usd"), "Fixings of USD", "1.25")
	if a := b.Get(h.At("/settings/rates/history?currency=XXQ")); a.Status != http.StatusBadRequest {
		t.Errorf("%d", a.Status)
	}
	wrong := b.Post(h.At("/settings/rates/quote"), url.Values{"currency": {"EUR"}, "rate": {"-1"}, "day": {"2030-01-01"}, "quote_id": {""}})
	for _, want := range []string{"the euro itself has none", "Must be a positive decimal number", "Must not be in the future", "cannot be empty"} {
		if wrong.Status != http.StatusBadRequest || !strings.Contains(wrong.Text(), want) {
			t.Errorf("%d, and it does not say %q", wrong.Status, want)
		}
	}
	quote := url.Values{"currency": {"pln"}, "rate": {"4.31"}, "day": {(today - 1).String()}, "quote_id": {"desk-7"}, "expires": {(today + 5).String()}}
	if a := b.Post(h.At("/settings/rates/quote"), quote); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	if text := b.Must(h.At("/settings/rates"), "4.31", "Quote").Text(); strings.Contains(text, "Waiting for a rate") {
		t.Error("the payment waits still")
	}
	at := realSite(t, h)
	if a := b.Post(at+"/settings/rates/quote", quote); a.Status != http.StatusSeeOther || !strings.Contains(a.To, "/approvals/") {
		t.Errorf("%d to %q", a.Status, a.To)
	}
	for _, role := range others {
		if a := h.As(role).Post(h.At("/settings/rates/quote"), quote); a.Status != http.StatusForbidden {
			t.Errorf("%s quotes: %d", role, a.Status)
		}
	}
}

// TestMailsAreShown with their text, and resent with permission.
func TestMailsAreShown(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel(merchant.ModeProtectionOnly, "GBP")
	h.Must(apptest.Report(payment.Purchase, h.Booking(c, 10000, "2024-09-14"), 10000))
	for more := true; more; {
		var err error
		if more, err = h.App.Mails.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b := h.As(access.MemberAdmin)
	rows := seen(t, b, h.At("/settings/mails?format=csv&kind=receipt"))
	if len(rows) != 2 || rows[1][1] != "ada@example.org" || rows[1][2] != string(mail.Outbox) {
		t.Fatalf("%v", rows)
	}
	b.Must(h.At("/settings/mails"), "No mail server is configured", "Receipt", "ada@example.org")
	b.Must(h.At("/settings/mails?state=dead"), "No e-mails found")
	page := b.Must(h.At("/settings/mails/1"), "Outbox", "100.00")
	if strings.Contains(page.Body, "/resend") {
		t.Error("there is a button to send it again, and no server")
	}
	if a := b.Post(h.At("/settings/mails/1/resend"), nil); a.Status != http.StatusConflict || !strings.Contains(a.Text(), "No mail server is configured") {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	b.Must(h.At("/settings/mails/resend"), "oldest dead e-mails")
	if a := b.Post(h.At("/settings/mails/resend"), nil); a.Status != http.StatusSeeOther {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	for _, role := range others[:2] {
		reader := h.As(role)
		reader.Must(h.At("/settings/mails/1"))
		for _, path := range []string{"/settings/mails/1/resend", "/settings/mails/resend", "/settings/mails/try"} {
			if a := reader.Post(h.At(path), nil); a.Status != http.StatusForbidden {
				t.Errorf("%s sends %s: %d", role, path, a.Status)
			}
		}
	}
	operator := h.As(access.Operator)
	if body := operator.Must(h.At("/settings/mails/try")).Body; !strings.Contains(body, "operator@example.com") {
		t.Error("the form does not have the user's own address")
	}
	if a := operator.Post(h.At("/settings/mails/try"), url.Values{"to": {"x"}}); a.Status != http.StatusConflict {
		t.Errorf("%d %s", a.Status, a.Text())
	}
}

// TestTheAuditIsSearched by user, action, object and time; only with permission.
func TestTheAuditIsSearched(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	h.Channel(merchant.ModeProtectionOnly, "GBP")
	b := h.As(access.Operator)
	if a := b.Post(h.At("/settings/limit"), url.Values{"scope": {"channel"}, "channels": {"1"}, "amount": {"700"}, "from": {"2024-06-03"}}); a.Status != 303 {
		t.Fatal(a.Text())
	}
	for query, want := range map[string]string{
		"actor=operator&action=limit.set": "limit.set", "object=channel+1": "channel.create", "action=limit.set&from=2024-06-03&to=2024-06-03": "limit.set",
		"to=2024-06-02": "", "from=2024-06-04": "", "actor=nobody": "",
	} {
		rows := seen(t, b, h.At("/settings/audit?format=csv&"+query))
		if want == "" && len(rows) != 1 || want != "" && (len(rows) < 2 || rows[1][3] != want) {
			t.Errorf("%s finds %v", query, rows)
		}
	}
	if a := b.Get(h.At("/settings/audit?from=soon")); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "Enter a date") {
		t.Errorf("%d", a.Status)
	}
	rows := seen(t, b, h.At("/settings/audit?format=csv&action=limit.set&col=id"))
	b.Must(h.At("/settings/audit/"+rows[1][0]), "limit.set", "operator", "Amount", "70000", "192.0.2.1")
	if a := b.Get(h.At("/settings/audit/999")); a.Status != http.StatusNotFound {
		t.Errorf("%d", a.Status)
	}
	b.Must(h.At("/settings/audit/heads"), "audit", "holdfast verify --site demo")
	for _, role := range []access.Role{access.ReadOnly, access.Finance, access.MemberAdmin} {
		h.As(role).Must(h.At("/settings/audit"), "limit.set")
	}
}

// TestTheTermsOfAChannel: its price, limits and collateral, and their history; the audit log only with permission.
func TestTheTermsOfAChannel(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	h.Channel(merchant.ModeProtectionOnly, "GBP")
	b := h.As(access.Operator)
	for path, in := range map[string]url.Values{
		"/settings/limit":          {"scope": {"channel"}, "channels": {"1"}, "amount": {"700"}, "from": {"2024-06-03"}},
		"/settings/collateral/new": {"kind": {"cash"}, "channels": {"1"}, "currency": {"EUR"}, "amount": {"55"}, "from": {"2024-06-01"}},
		"/settings/policy": {
			"from": {"2024-06-01"}, "currency": {"GBP"}, "recognition": {"linear"}, "late_log_days": {"5"}, "max_fixing_age_days": {"7"},
			"rate_card": {"0-: 1 %\nchannel 1: 0-: 2.75 %"}, "payment_terms_days": {"10"}, "statement_period": {"month"},
		},
	} {
		if a := b.Post(h.At(path), in); a.Status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", path, a.Status, a.Text())
		}
	}
	text := b.Must(h.At("/settings/merchants/1"), "2.75 %", "700.00 GBP", "55.00 EUR", "channel.create", "New limit").Text()
	if strings.Contains(text, "0- 1 %") {
		t.Error("the price of the others is shown, too")
	}
	if rows := seen(t, b, h.At("/settings/merchants/1?format=csv")); len(rows) != 2 || rows[1][4] != "700.00" {
		t.Errorf("%v", rows)
	}
	if text := h.As(access.ReadOnly).Must(h.At("/settings/merchants/1"), "2.75 %").Text(); !strings.Contains(text, "Latest changes") || strings.Contains(text, "New limit") {
		t.Error("read_only does not see the audit, or sees an act")
	}
	if a := b.Get(h.At("/settings/merchants/99")); a.Status != http.StatusNotFound {
		t.Errorf("%d", a.Status)
	}
}
