package stripe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/psp"
	"holdfast/internal/psp/stripe"
	"holdfast/internal/psp/tokenizer"
)

// Public test numbers of the processor, and tokens for them as a tokenizer makes them.
const (
	cardNumber   = "4242424242424242"
	cardToken    = "424242mkXq4242"
	securityCode = "737"
)

// asked is a request as the processor received it.
type asked struct {
	call   string
	form   url.Values
	header http.Header
}

// world is the adapter's environment: a tokenizer's gateway, and a processor with scripted responses. Each request is
// first sent to the processor's mock server, and each scripted response is compared with its description.
type world struct {
	t       *testing.T
	spec    *processorSpec
	mock    http.HandlerFunc
	gateway *stripe.Gateway
	account psp.Account
	now     time.Time

	mu       sync.Mutex
	asked    []asked
	gated    []string // bodies at the tokenizer's gateway
	wire     bytes.Buffer
	answers  map[string][]answer
	vault    map[string]string
	codes    map[string]string
	gateDown http.HandlerFunc // instead of the tokenizer's gateway
}

// answer is a response of the processor: a status and a body, or none.
type answer struct {
	status int
	body   any
	header map[string]string
	hangUp bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, spec: processor(t), now: time.Date(2026, 3, 2, 10, 21, 30, 0, time.UTC), answers: map[string][]answer{},
		vault: map[string]string{cardToken: cardNumber}, codes: map[string]string{cardToken: securityCode},
	}
	w.mock = w.spec.server(t, w.spec.fixtures)
	processor := httptest.NewServer(http.HandlerFunc(w.process))
	t.Cleanup(processor.Close)
	gate := httptest.NewServer(http.HandlerFunc(w.detokenize))
	t.Cleanup(gate.Close)
	// An address without a server: a live card sent to the wrong gateway would be noticed.
	tokens, err := tokenizer.New(gate.URL, "https://127.0.0.1:1", w)
	if err != nil {
		t.Fatal(err)
	}
	w.gateway, err = stripe.New(stripe.Config{
		Address: processor.URL, Tokens: tokens, Next: w, Clock: func() time.Time { return w.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.account = psp.Account{
		Key: "sk_test_1234", WebhookSecret: "whsec_test", Tokenizer: psp.Tokenizer{ID: "4142434445", Key: "tokenizer-key"},
	}
	return w
}

// RoundTrip forwards and records what holdfast sends and receives.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := httputil.DumpRequestOut(r, true)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	var received []byte
	if err == nil {
		received, err = httputil.DumpResponse(response, true)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wire.Write(sent)
	w.wire.Write(received)
	return response, err
}

// on scripts the responses to a call, in order; the last one is repeated.
func (w *world) on(call string, answers ...answer) { w.answers[call] = answers }

// process is the processor.
func (w *world) process(out http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.t.Error(err)
	}
	form, err := url.ParseQuery(string(body))
	if r.Method == http.MethodGet {
		form, err = r.URL.Query(), nil
	}
	if err != nil {
		w.t.Error(err)
	}
	call := r.Method + " " + r.URL.Path
	w.mu.Lock()
	w.asked = append(w.asked, asked{call, form, r.Header.Clone()})
	said, scripted := w.answers[call]
	if len(said) > 1 {
		w.answers[call] = said[1:]
	}
	w.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	mocked := httptest.NewRecorder()
	w.mock(mocked, r)
	if mocked.Code >= 400 {
		w.t.Errorf("the processor's mock server refuses %s %v: %s", call, form, mocked.Body)
	}
	if !scripted {
		maps.Copy(out.Header(), mocked.Header())
		out.WriteHeader(mocked.Code)
		_, _ = out.Write(mocked.Body.Bytes())
		return
	}
	if said[0].hangUp {
		panic(http.ErrAbortHandler)
	}
	w.say(out, said[0])
}

func (w *world) say(out http.ResponseWriter, a answer) {
	text, plain := a.body.(string)
	if !plain {
		encoded, err := json.Marshal(a.body)
		if err != nil {
			w.t.Error(err)
		}
		w.spec.validate(w.t, encoded)
		text = string(encoded)
	}
	for name, value := range a.header {
		out.Header().Set(name, value)
	}
	out.WriteHeader(a.status)
	_, _ = io.WriteString(out, text)
}

// detokenize is the tokenizer's gateway, by its documentation: it replaces placeholders in literal braces, and forwards
// the request without its own headers.
func (w *world) detokenize(out http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.t.Error(err)
	}
	w.mu.Lock()
	w.gated = append(w.gated, string(body))
	down := w.gateDown
	w.mu.Unlock()
	if down != nil {
		down(out, r)
		return
	}
	fail := func(status int, message string) {
		w.sayPlain(out, status, `{"success": false, "error": "`+message+`", "referenceNumber": "22030809420634873048"}`)
	}
	if r.URL.Path != "/Detokenize" || r.Header.Get("tx-tokenex-id") != "4142434445" || r.Header.Get("tx-apikey") != "tokenizer-key" {
		fail(http.StatusUnauthorized, "1003:Authentication failed")
		return
	}
	filled, problem := w.fill(string(body))
	if problem != "" {
		fail(http.StatusBadRequest, problem)
		return
	}
	onward, err := http.NewRequestWithContext(r.Context(), r.Method, r.Header.Get("tx-url"), strings.NewReader(filled))
	if err != nil {
		fail(http.StatusBadRequest, "2999:Request is malformed")
		return
	}
	for name, values := range r.Header {
		if !strings.HasPrefix(name, "Tx-") && name != "Content-Length" && name != "Accept-Encoding" {
			onward.Header[name] = values
		}
	}
	answered, err := http.DefaultTransport.RoundTrip(onward)
	if err != nil {
		fail(http.StatusBadRequest, "5003:The underlying connection was closed")
		return
	}
	defer answered.Body.Close()
	out.Header().Set("tx-thirdpartystatuscode", strconv.Itoa(answered.StatusCode))
	out.Header().Set("tx-tokenexstatuscode", "200")
	out.Header().Set("tx-reference-number", "22030809420634873048")
	out.WriteHeader(answered.StatusCode)
	_, _ = io.Copy(out, answered.Body)
}

func (w *world) sayPlain(out http.ResponseWriter, status int, body string) {
	out.WriteHeader(status)
	_, _ = io.WriteString(out, body)
}

// fill replaces the placeholders. A security code can be used once.
func (w *world) fill(body string) (filled, problem string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := false
	for token, number := range w.vault {
		code := "{{{{FUNCTION:CVV,TOKEN:" + token + "}}}}"
		if strings.Contains(body, code) {
			if w.codes[token] == "" {
				return "", "2012:CVV Value not present for supplied token."
			}
			body = strings.ReplaceAll(body, code, w.codes[token])
			delete(w.codes, token)
		}
		if strings.Contains(body, "{{{"+token+"}}}") {
			body, found = strings.ReplaceAll(body, "{{{"+token+"}}}", number), true
		}
	}
	if !found {
		return "", "3000:Token does not exist"
	}
	return body, ""
}

// sequence is the calls that the processor has seen.
func (w *world) sequence() string {
	var list []string
	for _, a := range w.asked {
		list = append(list, a.call)
	}
	return strings.Join(list, ", ")
}

// last is the last request of a call.
func (w *world) last(call string) asked {
	w.t.Helper()
	for i := len(w.asked) - 1; i >= 0; i-- {
		if w.asked[i].call == call {
			return w.asked[i]
		}
	}
	w.t.Fatalf("the processor was not asked %s, but %s", call, w.sequence())
	return asked{}
}

// charge is a purchase of EUR 123.45 by the card.
func (w *world) charge() psp.Charge {
	return psp.Charge{
		Account: w.account, Reference: "ref-1", Amount: 12345, Currency: "EUR",
		Card: psp.Card{Token: cardToken, Month: 12, Year: 2030},
	}
}

// query asks about a charge requested a minute ago.
func (w *world) query(o psp.Operation) psp.Query {
	return psp.Query{Account: w.account, Operation: o, Reference: "ref-1", Since: w.now.Add(-time.Minute)}
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	return t.Context()
}

// change sets fields by path.
type change map[string]any

// recorded reads a recorded shape, with changes.
func recorded(t *testing.T, name string, changes change) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var shape map[string]any
	if err := json.Unmarshal(text, &shape); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for path, value := range changes {
		at := shape
		steps := strings.Split(path, ".")
		for _, step := range steps[:len(steps)-1] {
			at = at[step].(map[string]any)
		}
		at[steps[len(steps)-1]] = value
	}
	return shape
}

// The processor's answers.

func ok(body any) answer { return answer{status: http.StatusOK, body: body} }

func fails(status int, e map[string]any) answer {
	return answer{status: status, body: map[string]any{"error": e}}
}

func list(items ...map[string]any) answer {
	if items == nil {
		items = []map[string]any{}
	}
	return ok(map[string]any{"object": "list", "url": "/", "has_more": false, "data": items})
}
