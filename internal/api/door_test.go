package api

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/docs"
	"holdfast/internal/api/input"
	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/lib/limiter"
	"holdfast/internal/platform/health"
	"holdfast/internal/platform/sites"

	"go.yaml.in/yaml/v3"
)

const (
	loginPath = "/auth/rest/jwt-auth/v1/token"
	stranger  = "address 192.0.2.1" // the client address of httptest
)

// service is a server of the API without a database, with a clock.
func service(t *testing.T, cfg Config) (Service, *bytes.Buffer, *time.Time) {
	t.Helper()
	var log bytes.Buffer
	now := time.Unix(0, 0)
	clock := func() time.Time { return now }
	a := &app.App{DB: sites.NewDB(nil, clock), Config: app.Config{
		Random: strings.NewReader(strings.Repeat("random bytes", 1000)),
		Log:    slog.New(slog.NewTextHandler(&log, nil)),
	}}
	a.Health = &health.Health{DB: a.DB}
	return New(a, cfg), &log, &now
}

// noPlace is a limiter that is always full.
func noPlace() *limiter.Limiter { return limiter.New(limiter.Bounds{}) }

// empty checks that all slots of a limiter were released.
func empty(t *testing.T, l *limiter.Limiter) {
	t.Helper()
	if n := l.Taken(); n != 0 {
		t.Errorf("%d places were not given back", n)
	}
}

func post(t *testing.T, h http.Handler, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestAFullHouseRefusesAndStaysAlive: when all slots are taken, the next request is rejected immediately. Logins and
// probes have separate slots.
func TestAFullHouseRefusesAndStaysAlive(t *testing.T) {
	t.Parallel()
	h, log, now := service(t, Config{})
	h.door.classes[ClassOrdinary] = noPlace()
	for i := range 50 { // they are released one after the other
		w, body := ask(t, h, "GET", "/demo/rest/svc/v2/sites", "Authorization", "Bearer x")
		if w.Code != 503 || body.Code != "service_unavailable" || w.Header().Get("Retry-After") != fmt.Sprint(1+i%comebacks) {
			t.Fatalf("answered %d %+v %v", w.Code, body, w.Header())
		}
	}
	if w, _ := ask(t, h, "GET", "/healthz"); w.Code != 200 {
		t.Errorf("/healthz answers %d", w.Code)
	}
	if w := post(t, h, loginPath, "{}"); w.Code != 400 || !strings.Contains(w.Body.String(), "username") {
		t.Errorf("a login answers %d %s", w.Code, w.Body)
	}
	if w, _ := ask(t, h, "GET", "/demo/rest/svc/v2/sites"); w.Code != 401 {
		t.Errorf("without a token: %d", w.Code)
	}
	// Transactions have separate slots, because some of them wait for processors.
	if w := post(t, h, "/modal/v1/transactions", "{}"); w.Code == 503 {
		t.Errorf("a payment answers %d", w.Code)
	}
	h.door.classes[ClassLogins] = noPlace()
	if w := post(t, h, loginPath, "{}"); w.Code != 503 {
		t.Errorf("a login too many answers %d", w.Code)
	}
	if n := strings.Count(log.String(), "status=503"); n != 1 {
		t.Errorf("%d lines about rejected requests:\n%s", n, log)
	}
	*now = now.Add(failurePause)
	ask(t, h, "GET", "/healthz")
	if !strings.Contains(log.String(), `what="requests with status 503" times=50`) {
		t.Errorf("the count is missing:\n%s", log)
	}
}

// A caller is an authenticated token, or an address. A made-up token is not a caller.
func TestOneCallerIsRefusedAndOthersAreNot(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{RequestsAtOnce: 100, RequestsPerCaller: 5})
	for range 5 {
		if err := h.door.classes[ClassOrdinary].Acquire(t.Context(), stranger, 1); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		w, body := ask(t, h, "GET", "/demo/rest/svc/v2/sites", "Authorization", fmt.Sprint("Bearer made up ", i))
		if w.Code != 429 || body.Code != "rest_too_many_requests" || w.Header().Get("Retry-After") != fmt.Sprint(1+i%comebacks) {
			t.Fatalf("answered %d %+v %v", w.Code, body, w.Header())
		}
	}
	for bearer, actor := range map[string]access.Actor{"1|secret": {UserID: 7, TokenID: 1}, "a.b.c": {UserID: 7}} {
		h.door.known.learn(bearer, actor)
		if w, _ := ask(t, h, "GET", "/demo/rest/svc/v2/sites", "Authorization", "Bearer "+bearer); w.Code == 429 {
			t.Errorf("the caller with the token %s is refused", bearer)
		}
		h.door.known.learn(bearer, access.Actor{})
		if w, _ := ask(t, h, "GET", "/demo/rest/svc/v2/sites", "Authorization", "Bearer "+bearer); w.Code != 429 {
			t.Errorf("the token %s has ended and is still known", bearer)
		}
	}
}

// Bodies are read exactly for the operations that are described with one.
func TestOnlyBodiesThatAreDescribedAreRead(t *testing.T) {
	var described struct {
		Paths map[string]map[string]yaml.Node
	}
	if err := yaml.Unmarshal(docs.OpenAPI, &described); err != nil {
		t.Fatal(err)
	}
	takes := map[string]bool{}
	for _, r := range Routes(Config{}) {
		takes[r.Name] = r.body > 0
	}
	seen := 0
	for path, methods := range described.Paths {
		for method, node := range methods {
			var op struct {
				ID   string    `yaml:"operationId"`
				Body yaml.Node `yaml:"requestBody"`
			}
			if method == "parameters" {
				continue
			}
			if err := node.Decode(&op); err != nil {
				t.Fatal(err)
			}
			name := strings.TrimSuffix(op.ID, "AtSite")
			// A file is streamed by its handler.
			streamed := slices.Contains([]string{"createImport", "createDisputeFile", "createEvidence"}, name)
			if reads := !op.Body.IsZero() && !streamed; reads != takes[name] {
				t.Errorf("%s %s: a body is described: %t, it is read: %t", method, path, reads, takes[name])
			}
			seen++
		}
	}
	if seen < 80 {
		t.Errorf("only %d operations were seen", seen)
	}
}

func TestCallersAreKnownByTheirTokens(t *testing.T) {
	var k knownCallers
	k.learn("a", access.Actor{UserID: 1})
	k.learn("b", access.Actor{UserID: 1, TokenID: 2})
	k.learn("gone", access.Actor{UserID: 3})
	k.learn("gone", access.Actor{})
	for token, want := range map[string]string{"a": "user 1", "b": "token 2", "gone": "", "": ""} {
		if got := k.find(token); got != want {
			t.Errorf("%q is sent by %q, want %q", token, got, want)
		}
	}
}

func TestAnAddressOfIPv6CountsAsItsNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3::4": "2001:db8:1:2::/64", "pipe": "pipe",
	} {
		if got := network(address); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}

// TestBodiesHaveABound repeats an attack: forty bodies of 1 MB at the same time. A few are held; the others are
// rejected, but small bodies are not.
func TestBodiesHaveABound(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{})
	large := `{"username":"` + strings.Repeat("a", 1_000_000) + `"}`
	if w := post(t, h, loginPath, large); w.Code != 400 {
		t.Fatalf("one body: %d %s", w.Code, w.Body)
	}
	hold := func(caller string) (held int) {
		for h.door.bodies.strangers.bytes.Acquire(t.Context(), caller, 1<<20) == nil {
			held++
		}
		return held
	}
	held := hold(stranger)
	if held < 2 || held > 8 {
		t.Errorf("%d bodies of one caller are held", held)
	}
	if w := post(t, h, loginPath, large); w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("one body more: %d %s", w.Code, w.Body)
	}
	if w := post(t, h, loginPath, `{}`+strings.Repeat(" ", smallBody-3)); w.Code != 400 {
		t.Errorf("a small body meanwhile: %d %s", w.Code, w.Body)
	}
	h.door.bodies.strangers.bytes.Release(stranger, int64(held)<<20)
	for i := range 100 {
		held += hold(fmt.Sprint("caller ", i))
	}
	if held > 40 {
		t.Errorf("%d bodies are held", held)
	}
	if w := post(t, h, loginPath, large); w.Code != 503 {
		t.Errorf("one body more than all may have: %d %s", w.Code, w.Body)
	}
	if n := h.door.bodies.strangers.bytes.Taken(); n != bodyBytes {
		t.Errorf("%d bytes are taken", n)
	}
	empty(t, h.door.classes[ClassLogins])
}

func TestSizesOfBodies(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{})
	address := serving(t, h)
	for _, n := range []int{0, 1, smallBody - 10, smallBody, 100_000, input.MaxBody} {
		for _, chunked := range []bool{false, true} {
			body := strings.Repeat(" ", max(0, n-2)) + "{}"
			head := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
			if chunked {
				head = fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
			}
			response, text := speak(t, address, "POST "+loginPath+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+head)
			if response.StatusCode != 400 || !strings.Contains(text, "username") {
				t.Errorf("%d bytes, chunked %t: %d %s", n, chunked, response.StatusCode, text)
			}
		}
	}
	for _, head := range []string{
		fmt.Sprintf("Content-Length: %d\r\n\r\n", input.MaxBody+1),
		fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", input.MaxBody+1, strings.Repeat(" ", input.MaxBody+1)),
	} {
		response, text := speak(t, address, "POST "+loginPath+" HTTP/1.1\r\nHost: x\r\n"+head)
		if response.StatusCode != 413 || !strings.Contains(text, "1048576") {
			t.Errorf("%.40q: %d %s", head, response.StatusCode, text)
		}
	}
	empty(t, h.door.bodies.strangers.bytes)
}

// A body that never arrives must not hold a slot until the client gives up.
func TestABodyHasToCome(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{})
	h.door.bodies.time = time.Nanosecond
	response, text := speak(t, serving(t, h), "POST "+loginPath+" HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
	if response.StatusCode != 400 || !strings.Contains(text, "rest_invalid_json") {
		t.Errorf("%d %s", response.StatusCode, text)
	}
}

func TestPagesComeInByTheSameDoor(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{})
	pages := h.Admit(ClassOrdinary, 1000, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }))
	if w, _ := ask(t, pages, "GET", "/healthz"); w.Code != http.StatusAccepted {
		t.Errorf("a page: %d", w.Code)
	}
	h.door.classes[ClassOrdinary] = noPlace()
	if w, body := ask(t, pages, "GET", "/page"); w.Code != 503 || body.Code != "service_unavailable" || w.Header().Get("Retry-After") == "" {
		t.Errorf("a page too many: %d %+v", w.Code, body)
	}
}

// One kind of failure gives one line and a count, however often it occurs.
func TestFailuresDoNotFillTheLog(t *testing.T) {
	var f failureLog
	at := time.Unix(0, 0)
	lines := 0
	for i := range 1000 {
		if f.note("a", at.Add(time.Duration(i)*time.Millisecond)) {
			lines++
		}
	}
	if !f.note("b", at) || lines != 1 {
		t.Errorf("%d lines", lines)
	}
	if left := f.over(at.Add(failurePause - 1)); left != nil {
		t.Errorf("too early: %v", left)
	}
	left := f.over(at.Add(failurePause))
	if len(left) != 1 || left[0] != (leftOut{"a", 999}) || len(f.kinds) != 0 {
		t.Errorf("%v, %v", left, f.kinds)
	}
	lines = 0
	for i := range 10 * failureKinds {
		if f.note(fmt.Sprint(i), at) {
			lines++
		}
	}
	if lines > failureKinds+1 || len(f.kinds) > failureKinds+1 {
		t.Errorf("%d lines for kinds without end", lines)
	}
	if a, b := kindOfError(fmt.Errorf("row 17: %s\nx", strings.Repeat("long", 100))), kindOfError(fmt.Errorf("row 3: %s", strings.Repeat("long", 100))); len(a) > failureText || a[:20] != b[:20] {
		t.Errorf("%q is not %q", a, b)
	}
}

func TestFailingRequestsGiveOneLine(t *testing.T) {
	h, log, now := service(t, Config{})
	for range 20 { // there is no database, so each panics
		ask(t, h, "GET", "/demo/rest/svc/v2/sites", "Authorization", "Bearer x")
	}
	if n := strings.Count(log.String(), `msg="request failed"`); n != 1 {
		t.Errorf("%d lines", n)
	}
	*now = now.Add(failurePause)
	ask(t, h, "GET", "/demo/rest/svc/v2/sites", "Authorization", "Bearer x")
	if !strings.Contains(log.String(), "times=19") || strings.Count(log.String(), `msg="request failed"`) != 2 {
		t.Errorf("no count, or no line after it:\n%s", log)
	}
}

// TestSlowStrangersTakeNoPlaceOfKnownCallers repeats an attack: bodies that never arrive, from many addresses.
func TestSlowStrangersTakeNoPlaceOfKnownCallers(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{})
	held, address := 0, 0
	for ; address < 200; address++ {
		for h.door.bodies.strangers.sending.Acquire(t.Context(), fmt.Sprint(byAddress, address), 1) == nil {
			held++
		}
	}
	if held != bodiesAtOnce {
		t.Errorf("%d bodies of strangers are being sent", held)
	}
	if w := post(t, h, loginPath, `{}`); w.Code != 503 {
		t.Errorf("one stranger more: %d %s", w.Code, w.Body)
	}
	if err := h.door.bodies.known.sending.Acquire(t.Context(), "a known caller", 1); err != nil {
		t.Errorf("a known caller: %v", err)
	}
}
