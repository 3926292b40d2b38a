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
	p.ServeHTTP(r, httptest.NewRequest(http.MethodPost, certificates.Path+"gone", nil))
	if r.Code != http.StatusMethodNotAllowed || r.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", r.Code)
	}
}

// TestThePageInABrowser: its style is allowed, nothing is wider than a small phone, and it prints on one page. It
// checks the longest certificate, and a short one.
func TestThePageInABrowser(t *testing.T) {
	long := protected()
	long.Merchant, long.Reference = strings.Repeat("Reisebüro", 8), strings.Repeat("X", 191)
	long.Issuer.Address = strings.Repeat("A quite long line of an address\n", 5) + "the last one"
	long.State = protection.CertifiedPartly
	server := httptest.NewServer(pages(t, map[string]certificates.Certificate{"long": long, "gone": {Revoked: true}}))
	t.Cleanup(server.Close)
	ctx, cancel := chromedp.NewContext(browsertest.Context(t), chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	for _, path := range []string{"long?lang=ruRU", "long?lang=jaJA", "gone"} {
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
