package failures_test

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/webtest"
)

// failing is a house with a merchant that has two payments: of a trip under way, and of a later one.
type failing struct {
	*webtest.House
	t       *testing.T
	channel merchant.Channel
}

func begin(t *testing.T) *failing {
	t.Helper()
	h := webtest.New(t)
	h.World.At("2024-06-03")
	h.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
	f := &failing{h, t, h.Channel(merchant.ModeProtectionOnly, "EUR")}
	f.Must(apptest.Report(payment.Purchase, h.Booking(f.channel, 60_000, "2024-09-14"), 60_000))
	f.Must(apptest.Report(payment.Purchase, h.Booking(f.channel, 100_000, "2024-06-03"), 100_000))
	f.Advance(time.Hour)
	return f
}

// form is the form that reports the merchant.
func (f *failing) form() url.Values {
	return url.Values{
		"channels": {fmt.Sprint(f.channel.ID)}, "kind": {"liquidation"}, "trigger_at": {f.Now().Format("2006-01-02T15:04")},
		"evidence": {"Notice of the court\nof 2 June"}, "key": {"a"},
	}
}

// work runs the job until nothing is left to do.
func (f *failing) work() {
	f.t.Helper()
	for more := true; more; {
		var err error
		if more, err = f.App.Insolvencies.Work(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
	}
}

// sent posts a form that must be accepted, and returns the page it leads to.
func (f *failing) sent(b *webtest.Browser, path string, form url.Values) string {
	f.t.Helper()
	a := b.Post(path, form)
	if a.Status != http.StatusSeeOther {
		f.t.Fatalf("%s: %d %s", path, a.Status, a.Text())
	}
	return a.To
}

// TestAMerchantFailsInTheDashboard goes through an insolvency by its pages, in a sandbox.
func TestAMerchantFailsInTheDashboard(t *testing.T) {
	t.Parallel()
	f := begin(t)
	b := f.As(access.Operator)
	merchantPage := f.At(fmt.Sprintf("/exposure/merchants/%d", f.channel.ID))
	b.Must(f.At("/insolvencies"), "No insolvencies", "Report a failure")
	if a := b.Must(merchantPage, "Report a failure"); !strings.Contains(a.Body, f.At(fmt.Sprintf("/insolvencies/new?channels=%d", f.channel.ID))) {
		t.Error("the button does not name the merchant")
	}
	if a := b.Get(f.At("/search?q=report+fail")); a.To != f.At("/insolvencies/new") { // the only hit opens
		t.Errorf("the search leads to %q", a.To)
	}
	b.Must(f.At("/insolvencies/new"), "What happened", "Evidence")
	wrong := url.Values{"channels": {"99"}, "kind": {""}, "trigger_at": {"yesterday"}, "evidence": {" "}}
	if a := b.Post(f.At("/insolvencies"), wrong); a.Status != http.StatusBadRequest || strings.Count(a.Body, `class="problem"`) != 4 {
		t.Errorf("a wrong form: %d\n%s", a.Status, a.Text())
	}
	one := f.sent(b, f.At("/insolvencies"), f.form())
	if again := f.sent(b, f.At("/insolvencies"), f.form()); again != one {
		t.Errorf("sent twice: %s and %s", one, again)
	}
	b.Must(one, "Nothing has changed yet", "Liquidation", "Notice of the court", "Confirm failure", "Withdraw", "Not yet")
	b.Must(merchantPage, "View insolvency")
	b.Must(f.At(""), "1 report of a failure waits for confirmation")
	b.Must(one+"/confirm", "no payment of this merchant is protected", "Reason")
	f.sent(b, one+"/confirm", url.Values{"reason": {"Seen in the register"}})
	b.Must(one, "The snapshot of the affected payments is being made", "Seen in the register", "without a second operator")
	if a := b.Post(one+"/close", nil); a.Status != http.StatusConflict || !strings.Contains(a.Text(), "is confirmed") {
		t.Errorf("closed too early: %d %s", a.Status, a.Text())
	}
	if a := b.Get(one + "/affected.csv"); a.Status != http.StatusConflict {
		t.Errorf("affected payments before the snapshot: %d", a.Status)
	}
	f.Advance(11 * time.Second)
	f.work()
	f.files(b, one)
	text := b.Must(one, "Travelling now", "600.00 EUR", "1,000.00 EUR", "CSV", "XLSX", "Download snapshot", "Allow refunds").Text()
	if strings.Index(text, "1,000.00 EUR") > strings.Index(text, "600.00 EUR") {
		t.Error("who travels now does not come first")
	}
	f.sent(b, one+"/allow-processing", nil)
	b.Must(one, "Refunds by the processor")
	f.sent(b, one+"/close-claims", nil)
	f.sent(b, one+"/close", nil)
	b.Must(one, "until the merchant is reinstated")
	f.sent(b, one+"/reinstate", url.Values{"reason": {"New owners"}})
	b.Must(one, "The merchant is reinstated", "New owners")
	b.Must(f.At("/insolvencies"), f.channel.Name, "Closed, reinstated", "Liquidation")
	b.Must(f.At("/insolvencies?state=open"), "No insolvencies")
	if a := b.Get(f.At("/insolvencies?state=lost")); a.Status != http.StatusBadRequest {
		t.Errorf("an unknown status: %d", a.Status)
	}
	b.Must(merchantPage, "Report a failure")
}

// files compares the files of an insolvency with its page.
func (f *failing) files(b *webtest.Browser, one string) {
	f.t.Helper()
	rows, err := csv.NewReader(strings.NewReader(b.Get(one + "/affected.csv").Body)).ReadAll()
	if err != nil || len(rows) != 3 || rows[0][0] != "payment" {
		f.t.Errorf("affected: %v, %v", rows, err)
	}
	if a := b.Get(one + "/affected.xlsx"); !strings.HasPrefix(a.Body, "PK") || !strings.Contains(a.Header.Get("Content-Disposition"), "insolvency-1-affected.xlsx") {
		f.t.Errorf("the workbook is %d %v", a.Status, a.Header)
	}
	sum := sha256.Sum256([]byte(b.Get(one + "/snapshot.csv").Body))
	b.Must(one, hex.EncodeToString(sum[:]))
}

// TestEveryPageSaysThatAMerchantIsInsolvent, to every role, from the moment of the confirmation.
func TestEveryPageSaysThatAMerchantIsInsolvent(t *testing.T) {
	t.Parallel()
	f := begin(t)
	f.Limit(protection.LimitChannel, f.channel.ID, 500_000)
	f.World.At("2024-07-02")
	f.Advance(time.Minute)
	if _, err := f.App.Statements.IssueDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := f.As(access.Operator)
	f.sent(b, f.sent(b, f.At("/insolvencies"), f.form())+"/confirm", nil)
	reader, finance := f.As(access.ReadOnly), f.As(access.Finance)
	const since = "Insolvent since 2 July 2024: new payments are not protected."
	for path, want := range map[string]string{
		"":                       f.channel.Name + " is insolvent",
		"/channels":              "Protection only, insolvent",
		"/exposure/limits":       "The merchant has been insolvent since 2 July 2024.",
		"/settings/limits":       "No new payments counted",
		"/exposure/what-if":      f.channel.Name + " has already failed: insolvent since 2 July 2024.",
		"/exposure/merchants/1":  since,
		"/channels/1/protection": since,
	} {
		for _, who := range []*webtest.Browser{reader, finance, b} {
			who.Must(f.At(path), want)
		}
	}
	finance.Must(f.At("/statements"), f.channel.Name+" (insolvent)")
	finance.Must(f.At("/statements/1"), since)
}

// TestWhoMayHandleAFailure: readers see nothing of it but that the merchant is insolvent, members report and withdraw, and outside a
// sandbox another operator confirms.
func TestWhoMayHandleAFailure(t *testing.T) {
	t.Parallel()
	f := begin(t)
	page := f.At(fmt.Sprintf("/exposure/merchants/%d", f.channel.ID))
	reader, finance, member := f.As(access.ReadOnly), f.As(access.Finance), f.As(access.MemberAdmin)
	for who, b := range map[string]*webtest.Browser{"reader": reader, "finance": finance} {
		if a := b.Must(page); strings.Contains(a.Text(), "Report a failure") {
			t.Errorf("%s is offered to report a failure", who)
		}
		if a := b.Post(f.At("/insolvencies"), f.form()); a.Status != http.StatusForbidden {
			t.Errorf("%s reports a failure: %d", who, a.Status)
		}
	}
	one := f.sent(member, f.At("/insolvencies"), f.form())
	if a := reader.Get(one); a.Status != http.StatusForbidden {
		t.Errorf("a reader sees the insolvency: %d", a.Status)
	}
	finance.Must(one, "An operator must confirm it")
	if a := member.Must(one, "An operator must confirm it"); strings.Contains(a.Text(), "Confirm failure") {
		t.Error("a member is offered to confirm")
	}
	if a := member.Post(one+"/confirm", nil); a.Status != http.StatusForbidden {
		t.Errorf("a member confirms: %d", a.Status)
	}
	f.sent(member, one+"/withdraw", url.Values{"reason": {"Another company"}})
	finance.Must(one, "Withdrawn", "Another company")
}

// TestAnotherOperatorConfirms outside a sandbox.
func TestAnotherOperatorConfirms(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	path, name, currency := "real", "Real Travel", money.Currency("GBP")
	site, err := h.App.Sites.Create(t.Context(), access.System(0), merchant.SiteFields{Path: &path, Name: &name, Currency: &currency})
	if err != nil {
		t.Fatal(err)
	}
	var browsers []*webtest.Browser
	for _, user := range []string{"ada", "bob"} {
		if _, err := h.App.Accounts.CreateUser(t.Context(), access.System(0),
			people.UserFields{Username: user, Email: user + "@example.com", Password: webtest.Password}, access.Operator, false); err != nil {
			t.Fatal(err)
		}
		b := h.Browser()
		b.SignIn(user, webtest.Password)
		browsers = append(browsers, b)
	}
	ada, bob := browsers[0], browsers[1]
	channel, mode := "Azure Coast", merchant.ModeDraft
	made, err := h.App.Channels.Create(t.Context(), access.System(site.ID), merchant.ChannelFields{Name: &channel, Currency: &currency, Mode: &mode})
	if err != nil {
		t.Fatal(err)
	}
	f := &failing{h, t, made}
	form := f.form()
	form.Set("trigger_at", "2024-01-01T10:00")
	one := f.sent(ada, "/sites/real/insolvencies", form)
	if a := ada.Must(one, "You reported this yourself, so another operator must confirm it."); strings.Contains(a.Text(), "Confirm failure") {
		t.Error("who reported it is offered to confirm")
	}
	if a := ada.Post(one+"/confirm", nil); a.Status != http.StatusConflict || !strings.Contains(a.Text(), "Another operator must confirm it") {
		t.Errorf("who reported it confirms: %d %s", a.Status, a.Text())
	}
	f.sent(bob, one+"/confirm", nil)
	f.sent(ada, one+"/allow-processing", nil)
	if a := ada.Must(one, "Confirmed"); strings.Contains(a.Text(), "Refunds by the processor") {
		t.Error("one person allows refunds")
	}
	bob.Must("/approvals", "Refunds of an insolvent merchant")
}
