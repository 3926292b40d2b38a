package tokenizer_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/psp"
	"holdfast/internal/psp/tokenizer"
)

var account = psp.Account{Tokenizer: psp.Tokenizer{ID: "4142434445", Key: "k-secret"}}

// got is a request as a server received it.
type got struct {
	path, body string
	header     http.Header
}

// listener records requests and returns a scripted response.
func listener(t *testing.T, answer http.HandlerFunc) (*httptest.Server, *[]got) {
	t.Helper()
	var requests []got
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		requests = append(requests, got{r.Method + " " + r.URL.Path, string(body), r.Header})
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s, &requests
}

func client(t *testing.T, test, live string, a psp.Account) *http.Client {
	t.Helper()
	g, err := tokenizer.New(test, live, http.DefaultTransport)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: g.Transport(a, "card[number]", "card[cvc]")}
}

func number(t *testing.T, token string) string {
	t.Helper()
	p, err := tokenizer.Number(token)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlaceholdersGoThroughTheGatewayInLiteralBraces(t *testing.T) {
	gate, requests := listener(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("tx-thirdpartystatuscode", "402")
		w.Header().Set("tx-tokenexstatuscode", "200")
		_, _ = io.WriteString(w, `{"error": {"type": "card_error"}}`)
	})
	code, err := tokenizer.SecurityCode("424242AbCd4242")
	if err != nil {
		t.Fatal(err)
	}
	form := "card[cvc]=" + url.QueryEscape(code) + "&card[number]=" + url.QueryEscape(number(t, "424242AbCd4242")) +
		"&name=O%27Hara+%26+%7B%7Bson%7D%7D&empty=&bare"
	r, err := http.NewRequest(http.MethodPost, "https://api.example.com/v1/cards", strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer sk_test_1")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := client(t, gate.URL, "", account).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	// The gateway may answer with any status of its own: the processor's counts.
	if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != 402 || string(body) != `{"error": {"type": "card_error"}}` {
		t.Errorf("%d %s %v", response.StatusCode, body, err)
	}
	if len(*requests) != 1 {
		t.Fatalf("%d requests", len(*requests))
	}
	it := (*requests)[0]
	want := "card[cvc]={{{{FUNCTION:CVV,TOKEN:424242AbCd4242}}}}&card[number]={{{424242AbCd4242}}}" +
		"&name=O%27Hara+%26+%7B%7Bson%7D%7D&empty=&bare"
	if it.path != "POST /Detokenize" || it.body != want {
		t.Errorf("%s\n%s, want\n%s", it.path, it.body, want)
	}
	for name, want := range map[string]string{
		"tx-url": "https://api.example.com/v1/cards", "tx-tokenex-id": "4142434445", "tx-apikey": "k-secret",
		"Authorization": "Bearer sk_test_1", "Content-Type": "application/x-www-form-urlencoded",
		"Content-Length": fmt.Sprint(len(want)),
	} {
		if it.header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, it.header.Get(name), want)
		}
	}
}

func TestOtherRequestsGoStraightToTheProcessor(t *testing.T) {
	gate, through := listener(t, func(http.ResponseWriter, *http.Request) {})
	processor, straight := listener(t, func(http.ResponseWriter, *http.Request) {})
	c := client(t, gate.URL, gate.URL, account)
	for _, body := range []string{"", "amount=100&metadata[a]=1", "name=%7B%7Bhalf%7D%7D"} {
		response, err := c.Post(processor.URL+"/v1/things", "application/x-www-form-urlencoded", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if last := (*straight)[len(*straight)-1]; last.body != body || last.header.Get("tx-apikey") != "" {
			t.Errorf("%q became %q with %v", body, last.body, last.header)
		}
	}
	response, err := c.Get(processor.URL + "/v1/things?q=%7B%7B%7Btoken%7D%7D%7D")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if len(*through) != 0 || len(*straight) != 4 {
		t.Errorf("%d through the gateway, %d straight", len(*through), len(*straight))
	}
}

func TestLiveCardsGoThroughTheLiveGateway(t *testing.T) {
	answer := func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("tx-thirdpartystatuscode", "200") }
	test, tests := listener(t, answer)
	live, lives := listener(t, answer)
	of := account
	of.Live = true
	for _, a := range []psp.Account{account, of, of} {
		form := url.Values{"card[number]": {number(t, "tok")}}
		response, err := client(t, test.URL, live.URL+"/eu", a).PostForm("https://api.example.com/", form)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	if len(*tests) != 1 || len(*lives) != 2 || (*lives)[0].path != "POST /eu/Detokenize" {
		t.Errorf("%v, %v", *tests, *lives)
	}
}

func TestPlaceholdersElsewhereAreRefused(t *testing.T) {
	gate, requests := listener(t, func(http.ResponseWriter, *http.Request) {})
	c := client(t, gate.URL, gate.URL, account)
	for _, form := range []string{
		"metadata[a]=%7B%7B%7Btoken%7D%7D%7D", "metadata[a]={{{token}}}&card[number]=%7B%7B%7Btoken%7D%7D%7D",
		"name=a+%7B%7B%7Btoken", "name=token%7D%7D%7D", "%7B%7B%7Btoken%7D%7D%7D=1",
		"card[number]=a%7B%7B%7Btoken%7D%7D%7D", "card[number]=%7B%7B%7Ba+b%7D%7D%7D", "card[number]=%7B%7B%7B%7D%7D%7D",
		"card[number]=%7B%7B%7Ba%7D%7D%7D%7B%7B%7Bb%7D%7D%7D", "a=%zz", "%zz=a",
	} {
		response, err := c.Post(gate.URL, "application/x-www-form-urlencoded", strings.NewReader(form))
		if err == nil {
			response.Body.Close()
		}
		if psp.KindOf(err) != psp.Invalid {
			t.Errorf("%s: %v", form, err)
		}
	}
	if len(*requests) != 0 {
		t.Errorf("sent: %v", *requests)
	}
}

func TestTokensThatCannotStandInAForm(t *testing.T) {
	for _, token := range []string{"", "a b", "a&b", "a=b", "a%20b", "a}b", "{{{a", "a,b", "ä", "a+b", "a\n", strings.Repeat("a", 513)} {
		_, err := tokenizer.Number(token)
		_, codeErr := tokenizer.SecurityCode(token)
		if psp.KindOf(err) != psp.Invalid || psp.KindOf(codeErr) != psp.Invalid {
			t.Errorf("%q: %v, %v", token, err, codeErr)
		}
	}
	for _, token := range []string{"545454tEc3Hk5454", "693008da-9a73-4918-a1f5-03b6fb867c1c", "4242*4242", "a_b~c.d"} {
		if p := number(t, token); p != "{{{"+token+"}}}" {
			t.Errorf("%s", p)
		}
	}
}

func TestErrorsOfTheGatewayDifferFromTheProcessors(t *testing.T) {
	for _, tt := range []struct {
		status int
		header map[string]string
		body   string
		kind   psp.ErrorKind
		code   string
	}{
		{400, nil, `{"success": false, "error": "3000:Token does not exist", "referenceNumber": "22030809420634873048"}`, psp.Invalid, "3000"},
		{400, nil, `{"success": false, "error": "3000 : Token does not exist", "referenceNumber": ""}`, psp.Invalid, "3000"},
		{400, nil, `{"success": false, "error": "2012:CVV Value not present for supplied token."}`, psp.Invalid, tokenizer.NoSecurityCode},
		{400, nil, `{"success": false, "error": "2423:Invalid Token"}`, psp.Invalid, "2423"},
		{400, nil, `{"success": false, "error": "5001:Unable to perform this operation on vaultless tokens"}`, psp.Invalid, "5001"},
		{400, nil, `{"success": false, "error": "4023:Duplicate Arguments are not supported"}`, psp.Invalid, "4023"},
		{400, nil, `{"success": false, "error": "2433:Host not allowed"}`, psp.Refused, "2433"},
		{400, nil, `{"success": false, "error": "2435:Missing Header: tx-apikey"}`, psp.Refused, "2435"},
		{401, nil, `{"success": false, "error": "1003:Authentication failed"}`, psp.Refused, "1003"},
		{401, nil, ``, psp.Refused, ""},
		{400, nil, `{"success": false, "error": "5002:Outbound request to https://api.example.com has timed out after 60 seconds"}`, psp.Unreachable, "5002"},
		{500, nil, `{"success": false, "error": "9999:Internal error"}`, psp.Unreachable, "9999"},
		{502, nil, `<html>bad gateway</html>`, psp.Unreachable, ""},
		{200, nil, `{"id": "pm_1"}`, psp.Unreachable, ""},
		{400, map[string]string{"tx-thirdpartystatuscode": "0"}, `{"error": "5004:refused"}`, psp.Unreachable, "5004"},
		{400, map[string]string{"tx-thirdpartystatuscode": ""}, `{"error": {"code": "expired_card"}}`, psp.Unreachable, ""},
	} {
		gate, _ := listener(t, func(w http.ResponseWriter, _ *http.Request) {
			for name, value := range maps.All(tt.header) {
				w.Header().Set(name, value)
			}
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		})
		form := url.Values{"card[number]": {number(t, "tok")}}
		response, err := client(t, gate.URL, "", account).PostForm("https://api.example.com/", form)
		if err == nil {
			response.Body.Close()
		}
		e, ok := errors.AsType[*psp.Error](err)
		if !ok || e.Source != psp.AtTokenizer || e.Kind != tt.kind || e.Code != tt.code {
			t.Errorf("%d %s: %v, %+v", tt.status, tt.body, err, e.Err)
			continue
		}
		if text := e.Error() + e.Err.Error(); strings.Contains(text, "api.example.com") || strings.Contains(text, "tok ") {
			t.Errorf("the error repeats what was sent: %s", text)
		}
	}
}

func TestAnUnreachableGatewayIsANetworkError(t *testing.T) {
	gate, _ := listener(t, func(http.ResponseWriter, *http.Request) {})
	gate.Close()
	form := url.Values{"card[number]": {number(t, "tok")}}
	response, err := client(t, gate.URL, "", account).PostForm("https://api.example.com/", form)
	if err == nil {
		response.Body.Close()
	}
	if _, ok := errors.AsType[*psp.Error](err); err == nil || ok {
		t.Errorf("%v", err)
	}
}

func TestNewRefusesBadAddresses(t *testing.T) {
	for _, bad := range [][2]string{{"http://tgapi.example.com", ""}, {"", "tgapi.example.com"}} {
		if _, err := tokenizer.New(bad[0], bad[1], http.DefaultTransport); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

// FuzzPlaceholders checks that, whatever the other fields of a form, the gateway receives the placeholder once, and the
// form is otherwise unchanged.
func FuzzPlaceholders(f *testing.F) {
	f.Add("545454tEc3Hk5454", "Anna O'Hara & {sons}", "a=b&c=d")
	f.Add("tok", "{{{tok}}}", "")
	f.Add("*._~-", "{{", "}}}")
	f.Add("a}b", "%7B%7B%7B", "+ %")
	f.Fuzz(func(t *testing.T, token, name, note string) {
		placeholder, err := tokenizer.Number(token)
		if err != nil {
			return
		}
		var sent *string
		next := carrier(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			text := string(body)
			sent = &text
			return &http.Response{
				Header: http.Header{"Tx-Thirdpartystatuscode": {"200"}}, Body: http.NoBody, Request: r,
			}, err
		})
		g, err := tokenizer.New("", "", next)
		if err != nil {
			t.Fatal(err)
		}
		form := url.Values{"card[number]": {placeholder}, "name": {name}, "note": {note}}
		c := http.Client{Transport: g.Transport(account, "card[number]")}
		response, err := c.PostForm("https://api.example.com/", form)
		if strings.Contains(name+"\x00"+note, "{{{") || strings.Contains(name+"\x00"+note, "}}}") {
			if psp.KindOf(err) != psp.Invalid || sent != nil {
				t.Fatalf("%q, %q went out: %v", name, note, err)
			}
			return
		}
		if err != nil || sent == nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if strings.Count(*sent, placeholder) != 1 || strings.Count(*sent, "{{{") != 1 {
			t.Fatalf("the placeholder is not there once: %s", *sent)
		}
		filled, err := url.ParseQuery(strings.Replace(*sent, placeholder, "4242424242424242", 1))
		if err != nil || len(filled) != 3 || filled.Get("card[number]") != "4242424242424242" ||
			filled.Get("name") != name || filled.Get("note") != note {
			t.Fatalf("%v, %v", filled, err)
		}
	})
}

// carrier is a function that carries requests.
type carrier func(*http.Request) (*http.Response, error)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }
