package channels_test

import (
	"encoding/csv"
	"encoding/json"
	"go/parser"
	"go/token"
	"html"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
	"holdfast/internal/testkit/webtest"
	"holdfast/internal/web/kit"

	"github.com/xuri/excelize/v2"
)

// at is a URL below that of a channel.
func at(h *webtest.House, c merchant.Channel, below string) string {
	return h.At("/channels/" + kit.Ident(c.ID).Plain + below)
}

// TestTheListOfChannels: filters, order, columns, and exports of the visible content.
func TestTheListOfChannels(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.Finance)
	h.Channel("draft", "EUR")
	h.Channel("protection-only", "GBP")
	all := b.Must(h.At("/channels"), "draft EUR", "Protection only", "GBP")
	if strings.Contains(all.Text(), "New merchant") {
		t.Error("a reader is offered a new channel")
	}
	if a := b.Must(h.At("/channels?account_mode=draft&name=DRA"), "draft EUR"); strings.Contains(a.Text(), "protection-only GBP") {
		t.Error("a filter finds too much")
	}
	if a := b.Get(h.At("/channels?account_mode=nothing")); a.Status != http.StatusBadRequest {
		t.Errorf("a mode that is none: %d", a.Status)
	}
	path := h.At("/channels?currencies=GBP&col=name&col=account_mode&sort=name&format=")
	rows, err := csv.NewReader(strings.NewReader(b.Get(path + "csv").Body)).ReadAll()
	if err != nil || len(rows) < 2 || strings.Join(rows[0], ",") != "name,account_mode" {
		t.Fatalf("the file is %v: %v", rows, err)
	}
	book, err := excelize.OpenReader(strings.NewReader(b.Get(path + "xlsx").Body))
	if err != nil {
		t.Fatal(err)
	}
	if sheet, err := book.GetRows("Sheet1"); err != nil || len(sheet) != len(rows) || sheet[1][0] != rows[1][0] {
		t.Errorf("the sheet is %v, the file %v: %v", sheet, rows, err)
	}
}

// TestAChannelByItsPages: created, changed, and deleted by a manager of the site, who cannot set operator fields.
func TestAChannelByItsPages(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.MemberAdmin)
	form := b.Must(h.At("/channels/new"), "Mode")
	if strings.Contains(form.Text(), "Set by the operator") {
		t.Error("the form has the operator's fields")
	}
	if a := b.Post(h.At("/channels"), url.Values{"name": {" "}, "account_mode": {"protection-only"}, "language": {"xx"}, "currencies": {"XXQ"}}); a.Status != http.StatusBadRequest || strings.Count(a.Body, `class="problem"`) != 4 {
		t.Fatalf("a wrong form: %d\n%s", a.Status, a.Body)
	}
	a := b.Post(h.At("/channels"), url.Values{"name": {"Alpine"}, "currencies": {"chf"}, "account_mode": {"draft"}, "language": {"deDE"}, "locked": {"1"}})
	one := strings.TrimSuffix(a.To, "/protection")
	if a.Status != http.StatusSeeOther || one == a.To {
		t.Fatalf("it was not made: %d %s\n%s", a.Status, a.To, a.Text())
	}
	if a := b.Must(a.To, "Now request protection."); !strings.Contains(a.Body, `value="CHF"`) {
		t.Error("the request does not begin with the currency of the channel")
	}
	list, err := h.App.Channels.List(t.Context(), h.Actor, merchants.ChannelFilter{Name: "Alpine"}, store.Page{Number: 1, Size: 1, Offset: -1, OrderBy: "id"})
	if err != nil || len(list.Items) != 1 {
		t.Fatal(err)
	}
	c := list.Items[0]
	if c.Currency != "CHF" || c.Mode != merchant.ModeDraft || c.Locked || c.ReceiptLabel != h.Site.Name {
		t.Errorf("it is %+v", c)
	}
	version := regexp.MustCompile(`name="version" value="([0-9]+)"`).FindStringSubmatch(b.Must(one+"/settings", "Alpine").Body)
	change := url.Values{"version": {version[1]}, "name": {"Alpine Tours"}, "currencies": {"CHF"}, "language": {"deDE"}, "primary_mail": {"a@b.example"},
		"mail_bcc_transactional_mails": {"1"}, "receipt_label": {"Alpine"}, "account_mode": {"protection-only"}, "statement_period": {"week"}}
	if a := b.Post(one+"/settings", change); a.To != one+"/settings" {
		t.Fatalf("changing it: %d %s", a.Status, a.Text())
	}
	if c, _ = h.App.Channels.Get(t.Context(), h.Actor, c.ID); c.Name != "Alpine Tours" || !c.MailBCC || c.Mode != merchant.ModeDraft || c.StatementPeriod != "month" {
		t.Errorf("it has become %+v", c)
	}
	if a := b.Post(one+"/settings", change); a.Status != http.StatusPreconditionFailed && a.Status != http.StatusConflict {
		t.Errorf("saving over what somebody else has saved: %d", a.Status)
	}
	b.Must(one+"/delete", "Delete the merchant Alpine Tours?")
	b.Post(one+"/delete", nil)
	if a := b.Get(one + "/settings"); a.Status != http.StatusNotFound {
		t.Errorf("deleted, it answers %d", a.Status)
	}
	used := h.Channel("test", "EUR")
	h.Booking(used, 1000, "2024-09-14")
	if a := b.Post(at(h, used, "/delete"), nil); a.Status != http.StatusConflict || !strings.Contains(a.Text(), "has had bookings") {
		t.Errorf("deleting what has bookings: %d %s", a.Status, a.Text())
	}
}

// TestTheOperatorsFields: an operator sets them, and outside a sandbox changes that open cover wait for another
// operator.
func TestTheOperatorsFields(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel("draft", "EUR")
	b := h.As(access.Operator)
	b.Must(at(h, c, "/settings"), "Set by the operator", "second operator must approve")
	values := url.Values{"name": {c.Name}, "currencies": {"EUR"}, "language": {"enGB"}, "account_mode": {"draft"}, "account_type": {"trust"},
		"protection_type": {"trust-travel"}, "statement_period": {"week"}, "channel_status": {""}, "suppliers": {"1, x"}, "other_protection": {"bond"}}
	if a := b.Post(at(h, c, "/settings"), values); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "Enter supplier IDs") {
		t.Errorf("wrong suppliers: %d", a.Status)
	}
	values.Set("suppliers", "")
	values.Set("locked", "1")
	values.Set("lock_reason", "The licence was withdrawn.")
	if a := b.Post(at(h, c, "/settings"), values); a.To != at(h, c, "/settings") {
		t.Fatalf("changing it: %d %s", a.Status, a.Text())
	}
	if c, _ = h.App.Channels.Get(t.Context(), h.Actor, c.ID); c.AccountType != "trust" || c.StatementPeriod != "week" || !c.Locked || c.OtherProtection != "bond" {
		t.Errorf("it has become %+v", c)
	}
	if a := b.Get(at(h, c, "/settings")); !strings.Contains(a.Body, `value="The licence was withdrawn."`) {
		t.Errorf("the form does not have the reason: %s", a.Text())
	}
	h.As(access.ReadOnly).Must(at(h, c, "/settings"), "Locked The licence was withdrawn.")
	values.Del("locked")
	if a := b.Post(at(h, c, "/settings"), values); a.To != at(h, c, "/settings") {
		t.Fatalf("unlocking it: %d %s", a.Status, a.Text())
	}
	if text := b.Must(at(h, c, "/settings")).Body; strings.Contains(text, "withdrawn") {
		t.Error("the reason is still shown after unlocking")
	}
}

// TestCoverWaitsForASecondOperator outside a sandbox: the next page says so once, with a link to the proposal.
func TestCoverWaitsForASecondOperator(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	path, name, currency := "real", "Real Travel", money.Currency("GBP")
	if _, err := h.App.Sites.Create(t.Context(), access.System(0), merchant.SiteFields{Path: &path, Name: &name, Currency: &currency}); err != nil {
		t.Fatal(err)
	}
	b := h.As(access.Operator)
	a := b.Post("/sites/real/channels", url.Values{
		"name": {"Newcomer"}, "currencies": {"GBP"}, "language": {"enGB"}, "account_mode": {"protection-only"}, "account_type": {"protected-processing"},
		"protection_type": {"trust-travel"}, "statement_period": {"month"}, "channel_status": {""}, "suppliers": {""}, "other_protection": {"none"},
	})
	if a.To != "/dashboard/sites/real/channels" {
		t.Fatalf("%d to %q: %s", a.Status, a.To, a.Text())
	}
	said := b.Must(a.To, "Waiting for a second operator. The merchant is created once approved. View proposal")
	link := regexp.MustCompile(`href="(/dashboard/sites/real/approvals/[0-9]+)"`).FindStringSubmatch(said.Body)
	if link == nil {
		t.Fatalf("no link to the proposal:\n%s", said.Body)
	}
	b.Must(link[1], "Newcomer", "You requested this yourself")
}

// TestTheSecretOfAChannel is for those who may see it, after their password.
func TestTheSecretOfAChannel(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel("test", "EUR")
	full, _ := h.App.Channels.Get(t.Context(), h.Actor, c.ID)
	secret, err := h.App.Channels.Secret(full)
	if err != nil || secret == "" {
		t.Fatal(err)
	}
	b := h.As(access.MemberAdmin)
	if a := b.Must(at(h, c, "/secret"), secret); a.Header.Get("Cache-Control") != "no-store" {
		t.Error("a browser may keep the secret")
	}
	for _, path := range []string{"", "/settings", "/integration"} {
		if strings.Contains(b.Get(at(h, c, path)).Body, secret) {
			t.Errorf("%q shows the secret", path)
		}
	}
	if a := b.Post(at(h, c, "/secret/new"), nil); a.Status != http.StatusForbidden {
		t.Errorf("somebody who manages the site makes another: %d", a.Status)
	}
	if a := h.As(access.Finance).Get(at(h, c, "/secret")); a.Status != http.StatusForbidden || strings.Contains(a.Body, secret) {
		t.Errorf("finance gets %d", a.Status)
	}
	operator := h.As(access.Operator)
	operator.Must(at(h, c, "/secret/new"), "stops working immediately")
	if a := operator.Post(at(h, c, "/secret/new"), nil); a.Status != http.StatusOK || strings.Contains(a.Body, secret) || !strings.Contains(a.Body, `id="secret"`) {
		t.Errorf("another secret: %d %s", a.Status, a.Text())
	}
	h.Advance(time.Hour)
	if a := b.Get(at(h, c, "/secret")); !strings.HasPrefix(a.To, "/dashboard/prove") {
		t.Errorf("an hour later it leads to %q", a.To)
	}
}

// TestReadersChangeNoChannel: no forms are shown, and forged requests are rejected.
func TestReadersChangeNoChannel(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel("draft", "EUR")
	for _, role := range []access.Role{access.ReadOnly, access.Finance} {
		b := h.As(role)
		page := b.Must(at(h, c, "/settings"), c.Name)
		for _, offer := range []string{"Save", "Delete", "secret"} {
			if strings.Contains(page.Text(), offer) {
				t.Errorf("%s is offered %q", role, offer)
			}
		}
		for _, path := range []string{h.At("/channels"), at(h, c, "/settings"), at(h, c, "/delete"), at(h, c, "/secret/new")} {
			if a := b.Post(path, url.Values{"name": {"Mine"}, "currencies": {"EUR"}}); a.Status != http.StatusForbidden {
				t.Errorf("%s: %s answers %d", role, path, a.Status)
			}
		}
	}
	if after, err := h.App.Channels.Get(t.Context(), h.Actor, c.ID); err != nil || after.Version != c.Version {
		t.Errorf("the channel has changed: %+v %v", after, err)
	}
}

// TestTheSnippetsAreOfThisChannel: they name it, and compile.
func TestTheSnippetsAreOfThisChannel(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel("test", "CHF")
	body := h.As(access.MemberAdmin).Must(at(h, c, "/integration"), "curl", "Python", "Payment modal").Body
	texts := map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)<pre id="s-([a-z]+)">(.*?)</pre>`).FindAllStringSubmatch(body, -1) {
		texts[m[1]] = html.UnescapeString(m[2])
		if !strings.Contains(m[2], kit.Ident(c.ID).Plain) || !strings.Contains(m[2], "CHF") || strings.Contains(m[2], "{{") && m[1] != "go" {
			t.Errorf("%s is not of this channel:\n%s", m[1], texts[m[1]])
		}
	}
	if len(texts) != 6 {
		t.Fatalf("there are %d", len(texts))
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "main.go", texts["go"], parser.AllErrors); err != nil {
		t.Error(err)
	}
	script, err := os.ReadFile("../modal/assets/modal.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range regexp.MustCompile(`class="tmt_(\w+)"`).FindAllStringSubmatch(texts["modal"], -1) {
		if !strings.Contains(string(script), `"`+field[1]+`"`) {
			t.Errorf("the modal reads no field %s", field[1])
		}
	}
	for _, name := range []string{"PaymentModalSdk", "PaymentModalReady", "transaction_logged", "formId", "environment"} {
		if !strings.Contains(texts["modal"], name) || !strings.Contains(string(script), name) {
			t.Errorf("the piece of the modal and the modal do not both know %s", name)
		}
	}
	if !strings.Contains(texts["curl"], "API="+webtest.Base+"/"+h.Site.Path+"/rest/svc/v2\n") {
		t.Errorf("curl has another address:\n%s", texts["curl"])
	}
	for _, m := range regexp.MustCompile(`(?s)-d '(\{.*?\})'`).FindAllStringSubmatch(strings.ReplaceAll(texts["curl"], "'$BOOKING'", "1"), -1) {
		if !json.Valid([]byte(m[1])) {
			t.Errorf("this is no JSON: %s", m[1])
		}
	}
}

// TestAMerchantOpensAtItsRisk: the address without a tab leads to the first one.
func TestAMerchantOpensAtItsRisk(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel(merchant.ModeDraft, "EUR")
	b := h.As(access.ReadOnly)
	a := b.Get(h.At("/channels/" + kit.Ident(c.ID).Plain))
	if want := h.At("/exposure/merchants/" + kit.Ident(c.ID).Plain); a.Status != http.StatusSeeOther || a.To != want {
		t.Fatalf("%d to %q, want %q", a.Status, a.To, want)
	}
	b.Must(a.To, c.Name, "Not protected yet")
	if a := b.Get(h.At("/channels/x")); a.Status != http.StatusNotFound {
		t.Errorf("no id: %d", a.Status)
	}
}
