package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/api"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// hostileRounds is how many hostile requests `make test` makes on each engine. `make torture` makes all of them.
const hostileRounds = 200

// pan is a test number that no other test uses; it must not be found anywhere afterwards.
const pan = "4929420573595709"

// hostileValues are values for a field, as JSON.
var hostileValues = slices.Concat([]string{
	`null`, `true`, `0`, `-1`, `1.5`, `-0`, `1e400`, `-1e-400`, `1e3`, `9223372036854775807`, `9223372036854775808`,
	`-9223372036854775809`, `1000000000000001`, strings.Repeat("9", 5000), `[]`, `{}`, `[[]]`, `[null]`, `[{}]`, `[1, "x", null]`,
	`{"a": 1}`, `{"": ""}`, strings.Repeat("[", 15) + strings.Repeat("]", 15), strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
	`"\ud800"`, `"\udc00\ud800"`, "\"\xc0\xaf\"", "\"\xff\xfe\"", "\"\xed\xa0\x80\"", "\"a\x00b\"", `"\u0000"`, `"` + strings.Repeat(`\u0000`, 300) + `"`,
	"[" + strings.Repeat("1,", 5000) + "1]", "[" + strings.Repeat(`"1",`, 5000) + `"1"]`, "[" + strings.Repeat("{},", 500) + "{}]",
	`NaN`, `Infinity`, `'x'`, `undefined`, ``, `01`, `+1`, `.5`, `0x10`, `"unclosed`, "\"line\nbreak\"",
}, quoted(hostileTexts))

// hostileTexts are for fields, queries and headers alike.
var hostileTexts = []string{
	"", " ", "0", "-1", "1.0", "1e3", "NaN", "Infinity", "-0", "007", "9223372036854775808", "-9223372036854775809", "null", "true", "1,2,x",
	",", "1,,2", "１２３", "١٢٣", strings.Repeat("x", 192), strings.Repeat("é", 191), strings.Repeat("x", 1024), strings.Repeat("9", 400),
	"\x01\x02\x1b[31m", "tab\there", "two\r\nlines", "\u202eback", "\u200b", "\ufeff", "\uffff", "👩‍👩‍👧", "e\u0301", strings.Repeat("\u0301", 150),
	"=cmd|' /C calc'!A0", "+1-1", "@SUM(1)", "-2+3", "'; DROP TABLE bookings; --", "1 OR 1=1", "\" OR \"\"=\"", "%' AND 1=(", "%", "_", "\\", "$1", "?",
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "{{7*7}}", "${7*7}", "../../etc/passwd", "/etc/passwd", "file:///etc/passwd",
	"http://127.0.0.1:1/", "javascript:alert(1)", "https://", "https://a b", "https://user:pw@shop.example/x?y#z", "http://[::1", "ada@", "@", "a@b@c",
	"2026-02-30", "0000-00-00", "0001-01-01", "9999-12-31", "10000-01-01", "-0001-01-01", "2026-13-01", "2026-03-02T10:20:30Z", "9999-12-31 23:59:59",
	"0001-01-01 00:00:00", "1900-01-01", "2262-04-12", "292277026596-12-04", "EUR", "eur", "XXX", "ZZ", "USD EUR", "purchase", "void", "chargeback",
	pan, "4929 4205 7359 5709", "4929-4205-7359-5709 12/30", "card 4929.4205.7359.5709", "1|2", "00000000-0000-4000-8000-000000000001",
}

func quoted(texts []string) (list []string) {
	for _, text := range texts {
		raw, _ := json.Marshal(text) // a text can always be written
		list = append(list, string(raw))
	}
	return list
}

// attack is one hostile request: a valid one with one change.
type attack struct {
	route api.Route
	where string // body, query, path, header, raw
	name  string
	value string
}

// attacks are all of them, in the order of the table of routes.
func attacks(t *testing.T) (list []attack) {
	t.Helper()
	for _, r := range matrixRoutes() {
		for _, p := range parametersOf(t, r.Method, r.Pattern) {
			for _, value := range hostileTexts {
				if p.In != "header" { // those are below
					list = append(list, attack{r, p.In, p.Name, value})
				}
			}
		}
		for _, name := range []string{"Authorization", "Idempotency-Key", "If-Match", "X-Request-Id", "X-Forwarded-For", "Content-Type", "Origin", "If-None-Match", "Range"} {
			for _, value := range hostileTexts {
				list = append(list, attack{r, "header", name, value})
			}
		}
		fields := append(fieldsOf(t, r.Method, r.Pattern), "unknown")
		for _, name := range fields {
			for _, value := range hostileValues {
				if r.Method != http.MethodGet {
					list = append(list, attack{r, "body", name, value})
				}
			}
		}
		for _, value := range hostileValues {
			if r.Method != http.MethodGet {
				list = append(list, attack{r, "raw", "", value}, attack{r, "raw", "twice", value})
			}
		}
	}
	return list
}

// request makes the request of an attack.
func (a attack) request(t *testing.T, h *house, who string) *http.Request {
	t.Helper()
	key := a.route.Method + " " + strings.ReplaceAll(a.route.Pattern, "{site}", "demo")
	path, body := h.address(t, key, a.route.Pattern, h.own)
	path, query, _ := strings.Cut(path, "?")
	headers := map[string]string{}
	switch a.where {
	case "query":
		query += "&" + url.QueryEscape(a.name) + "=" + url.QueryEscape(a.value)
	case "path":
		path = strings.Replace(a.route.Pattern, "{"+strings.Replace(a.name, "site_path", "site", 1)+"}", url.PathEscape(a.value), 1)
		path = strings.NewReplacer("{site}", "demo", "{id}", "1", "{line}", "1", "{delivery}", "1", "{key}", "k", "{processor}", "sandbox",
			"{site_id}", "1", "{channel_id}", "4").Replace(path)
	case "header":
		headers[a.name] = a.value
	case "body":
		body = changed(body, a.name, a.value)
	case "raw":
		if body = a.value; a.name == "twice" {
			body = `{"total": 1, "total": ` + a.value + `}`
		}
	}
	r := h.request(t, h.credential(t, who), a.route.Method, path+"?"+query, body)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return r
}

// changed is a body with one invalid field. A name with a dot is a field of the first object in a list.
func changed(body, name, value string) string {
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal([]byte(body), &fields) // a route without a body has no fields
	outer, inner, nested := strings.Cut(name, ".")
	if nested {
		value = "[" + changed(strings.Trim(string(fields[outer]), "[] \n\t"), inner, value) + "]"
	}
	var b strings.Builder
	b.WriteString("{")
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if field != outer {
			fmt.Fprintf(&b, "%q: %s, ", field, fields[field])
		}
	}
	fmt.Fprintf(&b, "%q: %s}", outer, value)
	return b.String()
}

// TestHostileInputs sends invalid values in every field, parameter and header of every operation.
func TestHostileInputs(t *testing.T) {
	t.Parallel()
	seed, _ := strconv.ParseUint(os.Getenv("HOLDFAST_TEST_SEED"), 10, 64)
	rounds, _ := strconv.Atoi(os.Getenv("HOLDFAST_TEST_ROUNDS"))
	all := attacks(t)
	if rounds == 0 {
		rounds = hostileRounds
	}
	dbtest.OnBoth(t, func(t *testing.T, address string) {
		t.Parallel()
		random := rand.New(rand.NewPCG(seed, 1))
		chosen := slices.Clone(all)
		random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
		chosen = chosen[:min(rounds, len(chosen))]
		var log bytes.Buffer
		h := furnish(t, newWorld(t, address, &log))
		answers := map[int]int{}
		for _, a := range chosen {
			answers[h.attacked(t, a, []string{"operator", "admin"}[random.IntN(2)])]++
		}
		h.leavesNoCard(t, address, log.String())
		t.Logf("figure: %s, hostile requests: %d of %d kinds", h.app.DB.Store.Engine(), len(chosen), len(all))
		t.Logf("figure: %s, answers by status: %v", h.app.DB.Store.Engine(), answers)
	})
}

// attacked makes one hostile request and checks the response and its traces. It returns the status.
func (h *house) attacked(t *testing.T, a attack, who string) int {
	t.Helper()
	made := h.made
	r := a.request(t, h, who)
	if h.made > made+1 { // in addition to the request's own texts: the object to delete
		h.counted = ""
	}
	if h.counted == "" { // otherwise the last response was an error without effects
		h.counted = h.rows(t)
	}
	before := h.counted
	response, said := h.send(t, r)
	what := fmt.Sprintf("%s %s, %s %s = %.80q", a.route.Method, a.route.Pattern, a.where, a.name, a.value)
	status := response.StatusCode
	if status >= 500 && !(status == http.StatusServiceUnavailable && strings.HasSuffix(a.route.Pattern, "/pdf")) { // a font is missing
		t.Errorf("%s is answered %d %s", what, status, said)
	}
	if bytes.Contains(said, []byte(pan)) {
		t.Errorf("%s: the answer shows the card number: %s", what, said)
	}
	h.counted = ""
	if a.route.Name == "createWebhook" && status == http.StatusCreated { // a site has at most 16
		h.ask(t, h.credential(t, who), "DELETE", fmt.Sprintf("%s/%d", strings.TrimSuffix(r.URL.Path, "/"), h.idIn(t, said)), "")
	}
	if status >= 400 && !json.Valid(said) {
		t.Errorf("%s is answered %d, which is no JSON: %q", what, status, said)
	} else if status >= 400 {
		checkEveryAnswer(t, r, response, said)
		key := a.route.Method + " " + strings.ReplaceAll(a.route.Pattern, "{site}", "{site_path}")
		d := theDescription(t)
		if a.where != "path" { // it may then match another route, or none
			checkCode(t, d, key, d.operations[key], status, said)
		}
		if h.counted = h.rows(t); h.counted != before {
			t.Errorf("%s is answered %d, and rows were left behind:\n%s\nbefore\n%s", what, status, h.counted, before)
		}
	}
	if status == http.StatusUnauthorized || status == http.StatusForbidden || endsSessions(a.route) {
		delete(h.credentials, who) // the clock of the site may have moved on
	}
	if t.Failed() && os.Getenv("HOLDFAST_TEST_ROUNDS") == "" {
		t.FailNow()
	}
	return status
}

// rows counts the rows of all tables except those of failed logins.
func (h *house) rows(t *testing.T) string {
	t.Helper()
	names := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`
	if h.app.DB.Store.Engine() == "postgres" {
		names = `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`
	}
	var b strings.Builder
	must(t, h.app.DB.Store.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
		if h.counting == "" {
			var counts []string
			err := tx.Query(names, nil, func(scan func(dest ...any) error) error {
				var name string
				err := scan(&name)
				if name != "login_attempts" {
					counts = append(counts, fmt.Sprintf("SELECT '%s', count(*) FROM %s", name, name))
				}
				return err
			})
			if err != nil {
				return err
			}
			h.counting = strings.Join(counts, " UNION ALL ") + " ORDER BY 1" // PostgreSQL may count in parallel
		}
		return tx.Query(h.counting, nil, func(scan func(dest ...any) error) error {
			var name string
			var n int64
			err := scan(&name, &n)
			fmt.Fprintf(&b, "%s %d, ", name, n)
			return err
		})
	}))
	return b.String()
}

// leavesNoCard looks for the card number in the log and in the files of the database.
func (h *house) leavesNoCard(t *testing.T, address, log string) {
	t.Helper()
	left := map[string]string{"the log": log}
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		for _, file := range []string{path, path + "-wal"} {
			if text, err := os.ReadFile(file); err == nil {
				left[file] = string(text)
			}
		}
	}
	for where, text := range left {
		for _, form := range []string{pan, "4929 4205 7359 5709", "4929-4205-7359-5709", "4929.4205.7359.5709"} {
			if at := strings.Index(text, form); at >= 0 {
				t.Errorf("a card number is in %s: …%q…", where, text[max(0, at-100):min(len(text), at+100)])
			}
		}
	}
}

// endless is a body that never ends.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += len(p)
	return len(p), nil
}

// TestBodiesThatNeverEnd are cut off.
func TestBodiesThatNeverEnd(t *testing.T) {
	t.Parallel()
	h := furnish(t, newWorld(t, dbtest.SQLite(t), io.Discard))
	for _, r := range matrixRoutes() {
		if r.Method == http.MethodGet {
			continue
		}
		path, _ := h.address(t, r.Method+" "+strings.ReplaceAll(r.Pattern, "{site}", "demo"), r.Pattern, h.own)
		request := h.request(t, h.credential(t, "operator"), r.Method, path, "")
		body := &endless{}
		request.Body, request.ContentLength = io.NopCloser(body), -1
		response, said := h.send(t, request)
		if body.read > 4<<20 || body.read > 0 && response.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s %s read %d bytes, and answered %d %s", r.Method, r.Pattern, body.read, response.StatusCode, said)
		}
		if endsSessions(r) {
			h.renew(t, "operator")
		}
	}
}

// TestHostileIdsAreNotShown: a bug that the long run of TestHostileInputs found.
func TestHostileIdsAreNotShown(t *testing.T) {
	t.Parallel()
	h := furnish(t, newWorld(t, dbtest.SQLite(t), io.Discard))
	for _, a := range []attack{
		{route: api.Route{Method: "GET", Pattern: "/{site}/rest/svc/v2/policies/{id}"}, where: "path", name: "id", value: pan},
		{route: api.Route{Method: "GET", Pattern: "/openapi.yaml"}, where: "header", name: "If-Match", value: `"x"`},
		{route: api.Route{Method: "GET", Pattern: "/openapi.yaml"}, where: "header", name: "Range", value: "bytes=9999999-"},
	} {
		h.attacked(t, a, "operator")
	}
}
