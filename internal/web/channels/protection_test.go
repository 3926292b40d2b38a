package channels_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"holdfast/internal/book/underwriting"
	"holdfast/internal/domain/access"
	"holdfast/internal/testkit/webtest"
)

// asking is a complete form.
func asking() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{
		"company": "Alpine Escapes Ltd", "registration_number": "HRB 123456", "website": "https://alpine.example", "sells": "Walking holidays",
		"contact_name": "Ada Byron", "contact_mail": "ada@alpine.example", "licence": "bond", "licence_number": "B-1", "licence_body": "ABTA",
		"licence_amount": "50,000", "supplier_cover": "Insurance", "currencies": "GBP", "turnover": "2,500,000.50", "bookings": "1,400",
		"average_booking": "1200", "lead_0": "10", "lead_1": "90", "chargeback_rate": "0.45", "act": "ask",
	} {
		values.Set(name, value)
	}
	return values
}

// upload is a form with one file.
func upload(t *testing.T, name, content string) (kind, body string) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	part, err := w.CreateFormFile("file", name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), out.String()
}

// TestAskingForProtection: saved as a draft, sent with a document, returned with a question, sent again, and accepted.
func TestAskingForProtection(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel("draft", "EUR")
	merchant, operator := h.As(access.MemberAdmin), h.As(access.Operator)
	page := at(h, c, "/protection")
	send := func(b *webtest.Browser, path string, values url.Values) {
		t.Helper()
		if a := b.Post(path, values); a.Status != http.StatusSeeOther {
			t.Fatalf("%s: %d\n%s", path, a.Status, a.Text())
		}
	}
	versionField := regexp.MustCompile(`name="version" value="([0-9]*)"`)
	ask := func() { // with the form as it is now
		t.Helper()
		full := asking()
		full.Set("version", versionField.FindStringSubmatch(merchant.Must(page).Body)[1])
		send(merchant, page, full)
	}
	merchant.Must(page, "Request protection", "not protected yet")
	wrong := asking()
	wrong.Set("turnover", "much")
	wrong.Set("chargeback_rate", "0.123456")
	if a := merchant.Post(page, wrong); a.Status != http.StatusBadRequest || strings.Count(a.Body, `class="problem"`) != 2 || !strings.Contains(a.Body, "HRB 123456") {
		t.Errorf("what cannot be read: %d\n%s", a.Status, a.Text())
	}
	wrong = asking()
	wrong.Del("company")
	wrong.Set("lead_0", "20")
	if a := merchant.Post(page, wrong); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "add up to 110 percent") || strings.Count(a.Body, `class="problem"`) != 2 {
		t.Errorf("what is missing: %d\n%s", a.Status, a.Text())
	}
	send(merchant, page, url.Values{"act": {"keep"}, "company": {"Alpine"}})
	version := versionField.FindStringSubmatch(merchant.Must(page, "Draft saved.").Body)
	kind, body := upload(t, "accounts.pdf", "%PDF-1.7 accounts")
	if a := merchant.Send(page+"/documents", kind, body); a.To != page {
		t.Fatalf("attaching: %d %s", a.Status, a.Text())
	}
	if kind, body = upload(t, "accounts.pdf", "<script>"); !strings.Contains(merchant.Send(page+"/documents", kind, body).Text(), "A document must be a PDF") {
		t.Error("a page is taken for a document")
	}
	full := asking()
	full.Set("version", version[1])
	if a := merchant.Post(page, full); a.Status == http.StatusSeeOther {
		t.Error("it saves over what was attached since")
	}
	full.Del("version")
	if a := merchant.Post(page, full); a.Status == http.StatusSeeOther {
		t.Error("a form from before there was a request saves over it")
	}
	ask()
	sent := merchant.Must(page, "waiting for the operator", "2,500,000.50 GBP", "1,400", "0.45 %", "Withdraw to edit", "accounts.pdf")
	if strings.Contains(sent.Text(), "Send request") {
		t.Error("it can be sent twice")
	}
	file := regexp.MustCompile(`href="([^"]+/documents/[0-9]+)"`).FindStringSubmatch(operator.Must(page, "Your answer", "Alpine Escapes Ltd").Body)
	if strings.Contains(operator.Must(page).Text(), "Withdraw to edit") {
		t.Error("who answers is led to take the merchant's request back")
	}
	if a := operator.Get(file[1]); a.Body != "%PDF-1.7 accounts" || a.Header.Get("Content-Disposition") != `attachment; filename="accounts.pdf"` || a.Header.Get("Content-Type") != "application/pdf" {
		t.Errorf("the document is %q %v", a.Body, a.Header)
	}
	if a := operator.Post(page+"/answer", url.Values{"state": {"questions"}}); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "This field is required.") {
		t.Errorf("a question without words: %d", a.Status)
	}
	answer := func(state, note string) {
		t.Helper()
		_, version, _ := strings.Cut(operator.Must(page, "Your answer").Body, `name="version" value="`)
		version, _, _ = strings.Cut(version, `"`)
		send(operator, page+"/answer", url.Values{"state": {state}, "note": {note}, "version": {version}})
	}
	answer("questions", "Which bank?")
	merchant.Must(page, "has a question", "Which bank?", "Send request")
	ask()
	send(merchant, page+"/take-back", nil)
	ask()
	answer("taken", "")
	operator.Must(page, "accepted the request", "Set mode")
	r, err := h.App.Underwriting.Get(t.Context(), h.Actor, h.Site.ID, c.ID)
	if err != nil || r.State != underwriting.Taken || r.Facts.Turnover != 250_000_050 || r.Facts.ChargebackRate != 4500 || r.Facts.Lead != [5]int64{10, 90} || len(r.Documents) != 1 {
		t.Errorf("it is %+v %v", r, err)
	}
}

// TestWhoMayNotAsk: readers see the state but cannot change it; no one can decide their own request.
func TestWhoMayNotAsk(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c, test := h.Channel("draft", "EUR"), h.Channel("test", "EUR")
	page := at(h, c, "/protection")
	merchant := h.As(access.MemberAdmin)
	merchant.Must(at(h, test, "/protection"), "Test merchants are not protected")
	merchant.Must(at(h, h.Channel("protection-only", "EUR"), "/protection"), "This merchant is protected.")
	kind, body := upload(t, "a.png", "\x89PNG\r\n\x1a\n")
	merchant.Send(page+"/documents", kind, body)
	for _, role := range []access.Role{access.ReadOnly, access.Finance} {
		b := h.As(role)
		a := b.Must(page, "not protected yet", "a.png")
		for _, offer := range []string{"Upload", "Save draft", "Send request", "Delete"} {
			if strings.Contains(a.Text(), offer) {
				t.Errorf("%s is offered %q", role, offer)
			}
		}
		for _, path := range []string{"", "/take-back", "/discard", "/answer", "/documents", "/documents/1/delete"} {
			if a := b.Post(page+path, asking()); a.Status != http.StatusForbidden {
				t.Errorf("%s: %q answers %d", role, path, a.Status)
			}
		}
	}
	if a := merchant.Post(page+"/answer", url.Values{"state": {"taken"}}); a.Status != http.StatusForbidden {
		t.Errorf("a merchant answers: %d", a.Status)
	}
	r, err := h.App.Underwriting.Get(t.Context(), h.Actor, h.Site.ID, c.ID)
	if err != nil || r.State != underwriting.Writing || len(r.Documents) != 1 {
		t.Fatalf("it is %+v %v", r, err)
	}
	merchant.Post(fmt.Sprintf("%s/documents/%d/delete", page, r.Documents[0].ID), nil)
	merchant.Must(page+"/discard", "all its documents")
	merchant.Post(page+"/discard", nil)
	if r, _ := h.App.Underwriting.Get(t.Context(), h.Actor, h.Site.ID, c.ID); r.State != "" {
		t.Errorf("it is still there: %+v", r)
	}
}
