package certificate_test

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/certificates"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/lib/i18n"
	"holdfast/internal/testkit/browsertest"
	"holdfast/internal/web/certificate"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.Stop()
	os.Exit(code)
}

// protected is a certificate with every field, and with hostile names.
func protected() certificates.Certificate {
	day := civil.Date(2026, time.September, 5)
	return certificates.Certificate{
		At: time.Date(2026, 7, 1, 9, 5, 0, 0, time.UTC), BookingID: 17, Reference: "AB-17", Start: day, End: day + 9, Country: "PT",
		Language: "deDE", Merchant: `Sun & <b>"Sea"</b> شركة السفر`, Site: "Harbour", Currency: "EUR", State: protection.CertifiedProtected,
		Protected: 123_450, Unprotected: 10_000, Until: day + 129, Test: true,
		Issuer: merchant.Party{Name: "Protection Ltd", Address: "1 Quay\nBristol", TaxNumber: "GB-TAX", BankDetails: "IBAN 1"},
	}
}

// pages serves some certificates, each under its name.
func pages(t *testing.T, known map[string]certificates.Certificate) *certificate.Pages {
	t.Helper()
	p, err := certificate.New("https://pay.example", nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Finding(func(_ context.Context, key string) (certificates.Certificate, error) {
		if key == "down" {
			return certificates.Certificate{}, errors.New("no database")
		}
		found, ok := known[key]
		if !ok {
			return found, errs.New(errs.RecordNotFound, "Certificate not found.")
		}
		return found, nil
	})
	return p
}

func get(p http.Handler, path, accepts string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, certificates.Path+path, nil)
	r.Header.Set("Accept-Language", accepts)
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}

// TestEachStateInEachLanguage: the page says its state, its amount, its days and its country as the language does.
func TestEachStateInEachLanguage(t *testing.T) {
	t.Parallel()
	keys := map[protection.CertificateState]string{
		protection.CertifiedProtected: "protected", protection.CertifiedPartly: "partly", protection.CertifiedChargeback: "chargeback",
		protection.CertifiedEnded: "ended", protection.CertifiedRefunded: "refunded", protection.CertifiedUnprotected: "unprotected",
	}
	for _, state := range protection.CertificateStates {
		c := protected()
		c.State = state
		p := pages(t, map[string]certificates.Certificate{"k": c})
		for _, code := range i18n.Codes() {
			l, w := i18n.Of(code), get(p, "k?lang="+code, "")
			title, err := l.Say("certificate." + keys[state] + ".title")
			if err != nil || w.Code != http.StatusOK {
				t.Fatalf("%s in %s: %d, %v", state, code, w.Code, err)
			}
			text := html.UnescapeString(w.Body.String())
			for _, want := range []string{
				"<span>" + title + "</span>", l.Money(123_450, "EUR"), l.Day(c.Until), l.Days(c.Start, c.End), l.Country("PT"), l.Moment(c.At),
				`<html lang="` + l.Tag() + `" dir="ltr">`, "https://pay.example/certificate/k",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("%s in %s does not say %q", state, code, want)
				}
			}
		}
	}
}

// TestThePageShowsNoMore: nothing about the issuer's account, no script, no cookie, no third-party requests, caching or
// indexing.
func TestThePageShowsNoMore(t *testing.T) {
	t.Parallel()
	w := get(pages(t, map[string]certificates.Certificate{"k": protected()}), "k", "fr")
	text := w.Body.String()
	for _, never := range []string{"GB-TAX", "IBAN", "<script", "<b>", " style=", "http://", `src=`} {
		if strings.Contains(text, never) {
			t.Errorf("it has %q", never)
		}
	}
	if !strings.Contains(text, `lang="de-DE"`) { // the booking's language, not the browser's
		t.Errorf("its language: %.60s", text)
	}
	for name, want := range map[string]string{
		"X-Robots-Tag": "noindex, nofollow", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Set-Cookie": "",
		"X-Content-Type-Options": "nosniff", "Content-Language": "de-DE",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestWhatIsNoCertificate: the same layout, with its own status, in the language of the browser. The URL is not
// repeated.
func TestWhatIsNoCertificate(t *testing.T) {
	t.Parallel()
	p := pages(t, map[string]certificates.Certificate{"gone": {Revoked: true}})
	for _, c := range []struct {
		path, accepts string
		status        int
		says          string
	}{
		{"nobody", "de-AT,en;q=0.5", http.StatusNotFound, "Diesen Nachweis gibt es nicht"},
		{"nobody?lang=jaJA", "de", http.StatusNotFound, "証明書が見つかりません"},
		{"nobody", "tlh", http.StatusNotFound, "Certificate not found"},
		{"gone", "", http.StatusGone, "This certificate is no longer valid"},
		{"down", "", http.StatusServiceUnavailable, "Please try again in a moment"},
		{"a/b<script>", "", http.StatusNotFound, "Certificate not found"},
	} {
		w := get(p, c.path, c.accepts)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) || strings.Contains(w.Body.String(), "pay.example") ||
			w.Header().Get("X-Robots-Tag") == "" || strings.Contains(w.Body.String(), "nobody") || strings.Contains(w.Body.String(), "<script") {
			t.Errorf("%s: %d %s", c.path, w.Code, w.Body)
		}
	}
	r := httptest.NewRecorder()
	p.ServeHTTP(r, httptest.NewRequest(http.MethodPut, certificates.Path+"gone", nil))
	if r.Code != http.StatusMethodNotAllowed || r.Header().Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("PUT: %d", r.Code)
	}
}

// TestThePageInABrowser: its style is allowed, nothing is wider than a small phone, and it prints on one page. It
// checks the longest certificate, and a short one.
func TestThePageInABrowser(t *testing.T) {
	long := protected()
	long.Merchant, long.Reference = strings.Repeat("Reisebüro", 8), strings.Repeat("X", 191)
	long.Issuer.Address = strings.Repeat("A quite long line of an address\n", 5) + "the last one"
	long.State = protection.CertifiedPartly
	failed := insolvent()
	server := httptest.NewServer(pages(t, map[string]certificates.Certificate{"long": long, "gone": {Revoked: true}, "failed": failed}))
	t.Cleanup(server.Close)
	ctx, cancel := chromedp.NewContext(browsertest.Context(t), chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	for _, path := range []string{"long?lang=ruRU", "long?lang=jaJA", "gone", "failed?lang=kkKK", "failed?lang=koKO"} {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(320, 568), chromedp.Navigate(server.URL+certificates.Path+path)); err != nil {
			t.Fatal(err)
		}
		looks, err := chromedp.Run(ctx, chromedp.Evaluate[string](
			`document.documentElement.scrollWidth + " " + getComputedStyle(document.querySelector("main")).paddingTop`))
		if err != nil {
			t.Fatal(err)
		}
		printed, err := chromedp.Call(ctx, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: new(true)})
		if err != nil {
			t.Fatal(err)
		}
		if sheets := regexp.MustCompile(`/Type\s*/Page\b`).FindAllIndex(printed.Data, -1); looks != "320 20px" || len(sheets) != 1 {
			t.Errorf("%s: width and padding %q, %d sheets", path, looks, len(sheets))
		}
	}
}

// insolvent is the certificate of a booking whose merchant has failed.
func insolvent() certificates.Certificate {
	c := protected()
	c.Insolvency = merchant.Insolvency{ID: 1, TriggerAt: time.Date(2026, 6, 30, 8, 0, 0, 0, time.UTC)}
	c.Note = certificates.Note{At: c.At, Asked: certificates.AskedInsurer, PaidBack: 5_000}
	return c
}

// TestAnInsolventMerchantInEachLanguage: the page says since when, what to do until when, and asks what the traveller has done.
func TestAnInsolventMerchantInEachLanguage(t *testing.T) {
	t.Parallel()
	c := insolvent()
	p := pages(t, map[string]certificates.Certificate{"k": c})
	for _, code := range i18n.Codes() {
		l, w := i18n.Of(code), get(p, "k?lang="+code, "")
		text := html.UnescapeString(w.Body.String())
		for key, values := range map[string][]any{
			"insolvent.title": nil, "insolvent.text": {"merchant", c.Merchant, "date", l.Day(civil.Date(2026, time.June, 30))}, "steps_now": nil,
			"step_issuer": {"date", l.Day(c.Until)}, "note": nil, "note_insurer": nil, "note_saved": {"moment", l.Moment(c.At)},
		} {
			want, err := l.Say("certificate."+key, values...)
			if err != nil || !strings.Contains(text, want) {
				t.Errorf("%s does not say %q, %v", code, want, err)
			}
		}
		contact, err := l.Say("certificate.contact_merchant", "merchant", c.Merchant)
		if err != nil || strings.Contains(text, contact) {
			t.Errorf("%s sends travellers to the merchant: %v", code, err)
		}
		if !strings.Contains(text, `value="insurer" required checked`) || !strings.Contains(text, `value="50.00"`) {
			t.Errorf("%s does not show the note", code)
		}
	}
	c.State, c.Protected, c.Until = protection.CertifiedUnprotected, 0, civil.NoDay
	text := get(pages(t, map[string]certificates.Certificate{"k": c}), "k?lang=enGB", "").Body.String()
	if !strings.Contains(text, "No payment for this booking is protected by this service. Ask the bank") || strings.Contains(text, `id="note"`) {
		t.Errorf("not protected: %s", text)
	}
}

// TestANoteIsSent: it is stored and the browser goes back to the page; a wrong one comes back with what was entered and what is wrong.
func TestANoteIsSent(t *testing.T) {
	t.Parallel()
	var stored []certificates.Note
	var fails error
	p := pages(t, map[string]certificates.Certificate{"k": insolvent()})
	p.Taking(func(_ context.Context, _ string, n certificates.Note) error {
		stored = append(stored, n)
		return fails
	})
	post := func(form string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, certificates.Path+"k?lang=enGB", strings.NewReader(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		return w
	}
	for form, want := range map[string]certificates.Note{
		"asked=bank":                          {Asked: certificates.AskedBank},
		"asked=insurer&paid_back=+120,50+":    {Asked: certificates.AskedInsurer, PaidBack: 12_050},
		"asked=nobody&paid_back=0.5":          {Asked: certificates.AskedNobody, PaidBack: 50},
		"asked=protection&paid_back=&more=no": {Asked: certificates.AskedProtection},
	} {
		stored = nil
		w := post(form)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/certificate/k?lang=enGB#note" || len(stored) != 1 || stored[0] != want {
			t.Errorf("%s: %d to %q, %+v", form, w.Code, w.Header().Get("Location"), stored)
		}
	}
	stored = nil
	for form, want := range map[string]string{
		"":                                 "Choose an answer.",
		"asked=friend&paid_back=7":         `value="7"`,
		"asked=bank&paid_back=-5":          "Enter an amount such as 1234.50",
		"asked=bank&paid_back=%3Cb%3E":     `value="&lt;b&gt;"`,
		"asked=insurer&paid_back=1.234,50": `value="insurer" required checked`,
	} {
		if w := post(form); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), want) || len(stored) > 0 {
			t.Errorf("%s: %d without %q", form, w.Code, want)
		}
	}
	if w := post("asked=bank&more=" + strings.Repeat("x", 5000)); w.Code != http.StatusBadRequest || len(stored) > 0 {
		t.Errorf("a large form: %d", w.Code)
	}
	fails = errors.New("no database")
	if w := post("asked=bank"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("without a database: %d", w.Code)
	}
}
