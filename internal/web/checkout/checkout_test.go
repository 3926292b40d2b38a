package checkout_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"holdfast/client"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/web/checkout"
)

const secret = "the secret of the shop's channel"

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// service is the part of the API that a shop needs.
type service struct{}

// RoundTrip implements http.RoundTripper.
func (service) RoundTrip(r *http.Request) (*http.Response, error) {
	body, found := map[string]string{
		"/clock":           `{"now": "2026-03-02 12:00:00"}`,
		"/bookings/12":     `{"id": 12, "transaction_ids": [29, 30]}`,
		"/transactions/30": `{"id": 30, "status": "complete", "content": "Approved."}`,
	}[strings.TrimPrefix(r.URL.Path, "/acme/rest/svc/v2")]
	w := httptest.NewRecorder()
	if !found {
		w.WriteHeader(http.StatusNotFound)
	}
	_, err := w.WriteString(body)
	return w.Result(), err
}

func newShop(t *testing.T) *checkout.Shop {
	t.Helper()
	api, err := client.New("https://pay.example", "acme", client.APIToken("1|token"),
		client.WithHTTPClient(&http.Client{Transport: service{}}), client.WithAttempts(1))
	if err != nil {
		t.Fatal(err)
	}
	shop, err := checkout.New(checkout.Config{
		Merchant: "Acme & Sons", Site: "acme", Channel: 7, Script: "https://pay.example/modal/v1/modal.js", Integrity: "sha384-abc",
		Cards: []checkout.Card{
			{Number: "4242424242424242", Scheme: "visa", What: "is approved", Group: "Approved"},
			{Number: "378282246310005", Scheme: "amex", What: "is approved", Group: "Approved"},
		},
		API: api,
	})
	if err != nil {
		t.Fatal(err)
	}
	return shop.WithSecret(secret)
}

func ask(t *testing.T, method, address, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	newShop(t).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body)))
	return w
}

func TestPage(t *testing.T) {
	w := ask(t, "GET", "/checkout?variant=data&sdk=holdfastPaymentModalSdk&type=authorize&language=kkKK&currency=EUR", "")
	page := w.Body.String()
	for _, want := range []string{
		`src="https://pay.example/modal/v1/modal.js" integrity="sha384-abc" crossorigin="anonymous"`,
		`data-variant="data"`, `data-sdk="holdfastPaymentModalSdk"`, `data-type="authorize"`, `data-path="acme"`,
		`class="tmt_language" name="language" value="kkKK"`, `class="tmt_total" name="total" value="289000"`, "€2,890.00",
		`<option value="kkKK" selected>Қазақша</option>`, "4242 4242 4242 4242", "3782 822463 10005",
		"<title>Checkout · Acme &amp; Sons</title>", "<span>Acme &amp; Sons</span>",
		"Saturday 2 May to Saturday 9 May 2026", `class="tmt_date" name="date" value="2026-05-09"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Index(page, `id="callbacks"`) > strings.Index(page, `class="cards"`) {
		t.Error("on a telephone the callbacks stand below the test cards")
	}
	if strings.Contains(page, secret) {
		t.Error("the secret is in the page")
	}
	policy := w.Header().Get("Content-Security-Policy")
	for _, want := range []string{"script-src 'self' https://pay.example;", "frame-src https://pay.example;", "default-src 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	if w := ask(t, "GET", "/checkout?variant=x&currency=KZT", ""); !strings.Contains(w.Body.String(), `data-variant="form"`) ||
		!strings.Contains(w.Body.String(), `name="total" value="248000"`) {
		t.Error("choices that there are not are no defaults")
	}
}

// TestQuote: the price and the signed fields are the shop's, whatever the browser sends.
func TestQuote(t *testing.T) {
	w := ask(t, "POST", "/checkout/quote", `{"travellers": 3, "currency": "EUR", "total": 1, "currencies": "JPY"}`)
	var got checkout.Quote
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{
		"channels": "7", "currencies": "EUR", "total": "433500", "country": "NO", "date": "2026-05-09",
	}
	if got.Total != 433_500 || got.Price != "€4,335.00" || got.Auth != secrets.ModalString(secret, values, noon) {
		t.Errorf("got %+v", got)
	}
	for _, body := range []string{
		"", "[]", `{"travellers": 0, "currency": "EUR"}`, `{"travellers": 7, "currency": "EUR"}`, `{"travellers": 1, "currency": "KZT"}`,
		`{"travellers": 1, "currency": "EUR", "x": "` + strings.Repeat("x", 5000) + `"}`,
	} {
		if w := ask(t, "POST", "/checkout/quote", body); w.Code != http.StatusBadRequest {
			t.Errorf("%.60s answers %d", body, w.Code)
		}
	}
}

func TestOutcome(t *testing.T) {
	w := ask(t, "GET", "/checkout/outcome?booking=12", "")
	if want := `{"booking":12,"transaction":30,"status":"complete","content":"Approved."}`; w.Body.String() != want {
		t.Errorf("got %s", w.Body)
	}
	for _, id := range []string{"", "0", "-1", "x", "13"} {
		if w := ask(t, "GET", "/checkout/outcome?booking="+id, ""); w.Code != http.StatusNotFound {
			t.Errorf("booking %q answers %d", id, w.Code)
		}
	}
}

func TestFiles(t *testing.T) {
	for name, kind := range map[string]string{"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8"} {
		if w := ask(t, "GET", "/checkout/"+name, ""); w.Code != http.StatusOK || w.Header().Get("Content-Type") != kind {
			t.Errorf("%s: %d, %s", name, w.Code, w.Header().Get("Content-Type"))
		}
	}
}
