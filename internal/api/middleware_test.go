package api

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/lib/tabular"
	"holdfast/internal/platform/health"
	"holdfast/internal/platform/sites"
)

// bare is a server without a database, and its log.
func bare(t *testing.T, cfg Config) (http.Handler, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	clock := func() time.Time { return time.Unix(0, 0) }
	a := &app.App{DB: sites.NewDB(nil, clock), Config: app.Config{
		Random: strings.NewReader(strings.Repeat("random bytes", 10)),
		Log:    slog.New(slog.NewTextHandler(&log, nil)),
	}}
	a.Health = &health.Health{DB: a.DB}
	return New(a, cfg), &log
}

func ask(t *testing.T, h http.Handler, method, target string, headers ...string) (*httptest.ResponseRecorder, errorBody) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var body errorBody
	if w.Code >= 400 {
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
			t.Fatalf("%s %s answers %q: %v", method, target, w.Body, err)
		}
	}
	return w, body
}

func TestAPanicIsAnAnswerAndALogEntry(t *testing.T) {
	h, log := bare(t, Config{})
	w, body := ask(t, h, "GET", "/demo/rest/svc/v2/sites", "X-Request-Id", "mine", "Authorization", "Bearer x")
	if w.Code != 500 || body.Code != "internal_error" || body.Data.RequestID != "mine" {
		t.Errorf("answered %d %+v", w.Code, body)
	}
	if strings.Contains(w.Body.String(), "nil pointer") || !strings.Contains(log.String(), "nil pointer") {
		t.Errorf("the cause belongs into the log alone; the answer was %s, the log %s", w.Body, log)
	}
}

func TestRequestIDs(t *testing.T) {
	h, _ := bare(t, Config{})
	for given, echoed := range map[string]bool{
		"abc-1.2_3": true, "": false, "a b": false, "x\"y": false, strings.Repeat("a", 65): false, "4111-1111-1111-1111": false,
	} {
		w, body := ask(t, h, "GET", "/nothing", "X-Request-Id", given)
		id := w.Header().Get("X-Request-Id")
		if id == "" || body.Data.RequestID != id || (id == given) != echoed {
			t.Errorf("%q: the header says %q, the body %q", given, id, body.Data.RequestID)
		}
	}
}

func TestTheLogHoldsNoSecretsAndNoAddresses(t *testing.T) {
	h, log := bare(t, Config{})
	ask(t, h, "GET", "/healthz/?surname=Traveller", "Authorization", "Bearer 1|secret")
	ask(t, h, "GET", "/Traveller/4111111111111111?x=Traveller", "X-Forwarded-For", "Traveller")
	ask(t, h, "TRAVELLER", "/healthz")
	text := log.String()
	for _, leaked := range []string{"Traveller", "TRAVELLER", "secret", "4111"} {
		if strings.Contains(text, leaked) {
			t.Errorf("%q is in the log:\n%s", leaked, text)
		}
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 4 { // one is the warning of a proxy
		t.Fatalf("three requests, logged as\n%s", text)
	}
	for _, part := range []string{"route=/healthz", "method=GET", "status=200", "duration_ms=", "bytes=16", "request_id=", "address=192.0.2.1"} {
		if !strings.Contains(lines[0], part) {
			t.Errorf("%q is missing in %s", part, lines[0])
		}
	}
}

func TestClientAddresses(t *testing.T) {
	s := &server{cfg: Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}}}
	for _, c := range []struct{ peer, forwarded, want string }{
		{"203.0.113.9:1234", "", "203.0.113.9"},
		{"203.0.113.9:1234", "198.51.100.7", "203.0.113.9"}, // not a trusted proxy: anyone can send this
		{"10.0.0.1:1234", "198.51.100.7", "198.51.100.7"},
		{"10.0.0.1:1234", "1.2.3.4, 198.51.100.7, 10.9.9.9", "198.51.100.7"},
		{"10.0.0.1:1234", "10.9.9.9", "10.9.9.9"},
		{"10.0.0.1:1234", "", "10.0.0.1"},
		{"10.0.0.1:1234", "nonsense", "10.0.0.1"},
		{"10.0.0.1:1234", "198.51.100.7, nonsense, 10.9.9.9", "10.9.9.9"},
		{"[fd00::1]:1234", "2001:db8::7", "2001:db8::7"},
		{"[::ffff:10.0.0.1]:1234", "::ffff:198.51.100.7", "198.51.100.7"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.RemoteAddr = c.peer
		r.Header.Set("X-Forwarded-For", c.forwarded)
		if got := s.clientAddress(r); got != c.want {
			t.Errorf("%s, forwarded for %q: %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
}

func TestAnUntrustedProxyIsLoggedOnce(t *testing.T) {
	for _, c := range []struct {
		header string
		cfg    Config
		want   int
	}{
		{"X-Forwarded-For", Config{}, 1},
		{"Forwarded", Config{}, 1},
		{"X-Real-IP", Config{}, 1},
		{"X-Other", Config{}, 0},
		{"X-Forwarded-For", Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, 0},
	} {
		h, log := bare(t, c.cfg)
		for range 3 {
			ask(t, h, "GET", "/healthz", c.header, "198.51.100.7")
		}
		if n := strings.Count(log.String(), "--trusted-proxies"); n != c.want {
			t.Errorf("%s: the log has %d lines about a proxy, want %d:\n%s", c.header, n, c.want, log)
		}
	}
}

// StrictTransport wraps pages and API (see serve in internal/cli).
func TestWhatIsServedOverTLSSaysSo(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, c := range []struct {
		why, base, peer, proto string
		tls, want              bool
	}{
		{"the public address", "https://holdfast.example", "203.0.113.9:1", "", false, true},
		{"TLS here", "", "203.0.113.9:1", "", true, true},
		{"TLS at a proxy", "", "10.0.0.1:1", "https", false, true},
		{"TLS at a proxy", "", "10.0.0.1:1", "HTTPS", false, true},
		{"plain at a proxy", "", "10.0.0.1:1", "http", false, false},
		{"whoever says so", "", "203.0.113.9:1", "https", false, false},
		{"plain", "http://localhost:8080", "127.0.0.1:1", "", false, false},
	} {
		page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/docs", nil)
		r.RemoteAddr = c.peer
		r.Header.Set("X-Forwarded-Proto", c.proto)
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		w := httptest.NewRecorder()
		StrictTransport(Config{BaseURL: c.base, TrustedProxies: proxies}, page).ServeHTTP(w, r)
		if got := w.Header().Get("Strict-Transport-Security") != ""; got != c.want {
			t.Errorf("%s: the header is there: %v, want %v", c.why, got, c.want)
		}
	}
}

func TestNoCellIsAFormula(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "Shop": "Shop", "1-2": "1-2", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(1)": "'@SUM(1)", "\t=1": "'\t=1",
		"\n=1": "'\n=1", " =1": "' =1", "\u00a0=1": "'\u00a0=1", "\ufeff=1": "'\ufeff=1", "＝1": "'＝1", "＋1": "'＋1", "－1": "'－1", "＠A1": "'＠A1",
		"|calc": "'|calc", "%0A": "'%0A", " ": " ", "'=1": "'=1",
	} {
		if got := tabular.PlainCell(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestEveryKindOfFaultIsInTheCatalogue(t *testing.T) {
	for kind := errs.Internal; kind <= errs.Unavailable; kind++ {
		if row := catalogue[kind]; row.code == "" || row.status < 400 {
			t.Errorf("kind %d is answered with %+v", kind, row)
		}
	}
}

func TestEveryPermissionHasAName(t *testing.T) {
	for _, p := range access.System(1).Permissions() {
		if permissionNames[p] == "" {
			t.Errorf("%q has no name on the wire", p)
		}
	}
}

func TestTheSegmentsOfAddressesAreSettings(t *testing.T) {
	cfg := Config{RESTRoot: "wp-json", Namespace: "acme", AuthSegment: "wp"}
	found := map[string]bool{}
	for _, r := range Routes(cfg) {
		if r.Name == "" || strings.Contains(r.Name, ".") {
			t.Errorf("%s %s is named %q", r.Method, r.Pattern, r.Name)
		}
		if found[r.Method+" "+r.Pattern] {
			t.Errorf("%s %s appears twice", r.Method, r.Pattern)
		}
		found[r.Method+" "+r.Pattern] = true
	}
	for _, want := range []string{
		"POST /wp/wp-json/jwt-auth/v1/token", "POST /{site}/wp-json/jwt-auth/v1/token",
		"GET /{site}/wp-json/acme/v2/sites", "GET /{site}/api-tokens",
	} {
		if !found[want] {
			t.Errorf("%s is missing", want)
		}
	}
	h, _ := bare(t, cfg)
	if w, _ := ask(t, h, "POST", "/wp/wp-json/jwt-auth/v1/token"); w.Code != 400 { // username and password are missing
		t.Errorf("the login answers %d", w.Code)
	}
	if w, _ := ask(t, h, "POST", "/auth/rest/jwt-auth/v1/token"); w.Code != 404 {
		t.Errorf("the login at its default address answers %d", w.Code)
	}
}
