package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/account/sessions"
	"holdfast/internal/api"
	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/testkit/dbtest"
)

// A conversation is a file of exchanges: a request, a line of dashes, the response; exchanges are separated by a line
// of equals signs. It runs on a fresh fixture (fixture_test.go), with the server-to-server profile for the files in
// testdata/server-to-server. Before the request there may be comments (#) and directives:
//
//	@as NAME      from here on the requests are those of this user of the fixture; "token" is its API token, "nobody" none
//	@clock TIME   the clock stands at this time from here on
//	@keep NAME F  after the response, {NAME} is what its field F holds
//	@tag NAME     after the response, {NAME} is its ETag
//	@repeat N     the request is made N times; the last response is shown
//	@issue        the statements that are due are issued
//	@insolvent    the job works on insolvencies
//	@claims       the jobs make claims, and plan payouts
//	@import       the jobs import the files that wait
//	@private W    webhooks may go to private addresses from here on: on or off
//	@send         the job sends webhooks, by the dialler of the program: a private address is refused
//	@unanswered   the same request came a moment earlier, and is still being answered
//	@gateway ID   the channel takes payments at the sandbox processor from here on
//	@patience D   so long is waited for the processor
//	@bank ANSWER  the shopper answers the challenge of the last response: approve or refuse; {back} is where the bank sends
//	              the shopper
//	@ask          the jobs run that ask the processor
//	@auth NAME C CUR TOTAL F=V…  {NAME} is the auth string of the payment modal for a payment in channel C that was made
//	              this very moment, with further verified fields; a value has + for a space
//
// In requests {totp} is the code of the user careful, and {megabyte} a text of that length.
const (
	exchangeLine = "===="
	responseLine = "----"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the responses of the conversations")

// turn is one exchange of a conversation.
type turn struct {
	request  string // as in the file, with its comments and directives
	response string
}

// talk is a running conversation.
type talk struct {
	world *world
	as    string
	kept  map[string]string
	// challenge is the URL of the last challenge in a response.
	challenge string
}

func TestConversations(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	must(t, err)
	processing, err := filepath.Glob("testdata/server-to-server/*.txt")
	must(t, err)
	for _, engine := range dbtest.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			for _, file := range slices.Concat(files, processing) {
				profile := merchant.ProtectionOnlyProfile
				if slices.Contains(processing, file) {
					profile = merchant.ServerToServerProfile
				}
				name := strings.TrimPrefix(filepath.ToSlash(file), "testdata/")
				t.Run(strings.TrimSuffix(name, ".txt"), func(t *testing.T) {
					t.Parallel()
					w := newWorldOf(t, profile, engine.Database(t), io.Discard)
					converse(t, w, file, *rewrite && engine.Name == "sqlite")
				})
			}
		})
	}
}

// converse runs one file, and rewrites or compares it.
func converse(t *testing.T, w *world, file string, rewriting bool) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	k := &talk{world: w, as: "nobody", kept: map[string]string{}}
	var written []string
	for i, old := range turns(string(text)) {
		response := k.run(t, old.request)
		if !rewriting && response != old.response {
			t.Errorf("%s, exchange %d:\n%s\nanswered\n\n%s\n\ninstead of\n\n%s", file, i+1, old.request, response, old.response)
		}
		written = append(written, old.request+"\n\n"+responseLine+"\n"+response+"\n")
	}
	if rewriting {
		must(t, os.WriteFile(file, []byte(strings.Join(written, "\n"+exchangeLine+"\n\n")), 0o644))
	}
}

func turns(text string) []turn {
	var list []turn
	for block := range strings.SplitSeq("\n"+text, "\n"+exchangeLine+"\n") {
		request, response, _ := strings.Cut(block, "\n"+responseLine+"\n")
		list = append(list, turn{strings.TrimSpace(request), strings.TrimSpace(response)})
	}
	return list
}

// run makes the request of a turn and returns the response in the format of the file.
func (k *talk) run(t *testing.T, text string) string {
	t.Helper()
	keep, field, tag, times, unanswered := "", "", "", 1, false
	lines := strings.Split(text, "\n")
	for len(lines) > 0 && (lines[0] == "" || strings.HasPrefix(lines[0], "#") || strings.HasPrefix(lines[0], "@")) {
		words := strings.Fields(lines[0])
		lines = lines[1:]
		switch {
		case len(words) == 2 && words[0] == "@as":
			k.as = words[1]
		case len(words) == 3 && words[0] == "@clock":
			now, err := civil.ParseInstant(words[1] + " " + words[2])
			must(t, err)
			k.world.clock.set(now)
		case len(words) == 3 && words[0] == "@keep":
			keep, field = words[1], words[2]
		case len(words) == 2 && words[0] == "@tag":
			tag = words[1]
		case len(words) == 2 && words[0] == "@repeat":
			var err error
			times, err = strconv.Atoi(words[1])
			must(t, err)
		case len(words) == 1 && words[0] == "@issue":
			_, err := k.world.app.Statements.IssueDue(t.Context())
			must(t, err)
		case len(words) == 1 && words[0] == "@insolvent":
			k.world.workOnInsolvencies(t)
		case len(words) == 1 && words[0] == "@claims":
			k.world.workOnClaims(t)
		case len(words) == 1 && words[0] == "@import":
			k.world.importNext(t)
		case len(words) == 1 && words[0] == "@settle": // the job of the limits runs
			for more := true; more; {
				var err error
				more, err = k.world.app.Limits.Recompute(t.Context())
				must(t, err)
			}
		case len(words) == 2 && words[0] == "@private":
			k.world.app.Webhooks.Private = words[1] == "on"
		case len(words) == 1 && words[0] == "@send":
			k.world.app.Webhooks.Show = k.world.handler.(api.Service).ShowEvents
			_, err := k.world.app.Webhooks.Send(t.Context())
			must(t, err)
		case len(words) == 1 && words[0] == "@unanswered":
			unanswered = true
		case k.atTheProcessor(t, words), k.vouches(t, words):
		case len(words) > 0 && words[0][0] == '@':
			t.Fatalf("%q is no directive", strings.Join(words, " "))
		}
	}
	var response *http.Response
	var body []byte
	for range times {
		r := k.request(t, lines)
		if unanswered {
			k.claim(t, r)
		}
		response, body = k.exchange(t, r)
	}
	if keep != "" {
		var fields map[string]any
		must(t, json.Unmarshal(body, &fields))
		k.kept[keep] = fmt.Sprint(fields[field])
	}
	if tag != "" {
		k.kept[tag] = response.Header.Get("ETag")
	}
	return shown(t, response, body)
}

// request reads a request: the line with method and address, headers, and after an empty line the body.
func (k *talk) request(t *testing.T, lines []string) *http.Request {
	t.Helper()
	text := strings.Join(lines, "\n")
	for name, value := range k.kept {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	if strings.Contains(text, "{megabyte}") {
		text = strings.ReplaceAll(text, "{megabyte}", strings.Repeat("x", 1<<20))
	}
	if strings.Contains(text, "{totp}") {
		text = strings.ReplaceAll(text, "{totp}", k.world.totp(t))
	}
	head, body, _ := strings.Cut(text, "\n\n")
	first, headers, _ := strings.Cut(head, "\n")
	method, address, ok := strings.Cut(first, " ")
	if !ok {
		t.Fatalf("%q is no request line", first)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	r.Header.Set("X-Request-Id", "conversation")
	if credentials := k.credentials(t); credentials != "" {
		r.Header.Set("Authorization", "Bearer "+credentials)
	}
	for line := range strings.SplitSeq(headers, "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			r.Header.Set(name, strings.TrimSpace(value))
		}
	}
	return r
}

// credentials returns the credentials for the requests: a newly issued access token.
func (k *talk) credentials(t *testing.T) string {
	t.Helper()
	switch k.as {
	case "nobody":
		return ""
	case "token":
		return "1|" + tokenSecret
	}
	session, err := k.world.app.Sessions.Login(t.Context(), sessions.Login{Username: k.as, Password: password})
	must(t, err)
	return session.Token
}

// exchange makes one request. Every request and response passes through here, so that common rules are checked in one
// place.
func (k *talk) exchange(t *testing.T, r *http.Request) (*http.Response, []byte) {
	t.Helper()
	asked, err := io.ReadAll(r.Body)
	must(t, err)
	r.Body = io.NopCloser(bytes.NewReader(asked))
	recorder := httptest.NewRecorder()
	serve := func() { k.world.handler.ServeHTTP(recorder, r) }
	if k.world.watch != nil {
		k.world.watch(serve)
	} else {
		serve()
	}
	// The last use of a token is stored after the request; the next one should see it.
	k.world.app.Tokens.Flush()
	response := recorder.Result()
	answered, err := io.ReadAll(response.Body)
	must(t, err)
	checkEveryAnswer(t, r, response, answered)
	checkAgainstDescription(t, descriptionOf(t, k.world.app.Config.Profile), r, asked, response, answered)
	k.noteChallenge(answered)
	return response, answered
}

// checkEveryAnswer checks the common rules for responses of the API.
func checkEveryAnswer(t *testing.T, r *http.Request, response *http.Response, answered []byte) {
	t.Helper()
	id := response.Header.Get("X-Request-Id")
	if id == "" {
		t.Errorf("%s %s: the answer has no request id", r.Method, r.URL.Path)
	}
	if response.StatusCode < 400 || r.Method == http.MethodHead {
		return
	}
	var e struct {
		Code, Message string
		Data          struct {
			Status    int
			RequestID string `json:"request_id"`
		}
	}
	must(t, json.Unmarshal(answered, &e))
	if e.Code == "" || e.Message == "" || e.Data.Status != response.StatusCode || e.Data.RequestID != id {
		t.Errorf("%s %s: this is not the shape of an error: %s", r.Method, r.URL.Path, answered)
	}
}

// everywhere are the headers that every response has, which are not shown.
var everywhere = []string{
	"Cache-Control", "Content-Security-Policy", "Referrer-Policy", "X-Content-Type-Options",
	"X-Request-Id",
}

var jwtText = regexp.MustCompile(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`)

// shown formats a response for the file: status, specific headers, indented body.
func shown(t *testing.T, response *http.Response, body []byte) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, response.StatusCode, http.StatusText(response.StatusCode))
	var names []string
	for name := range response.Header {
		if !slices.Contains(everywhere, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	isJSON := response.Header.Get("Content-Type") == "application/json; charset=utf-8"
	for _, name := range names {
		if name == "Content-Type" && isJSON {
			continue
		}
		for _, value := range response.Header[name] {
			fmt.Fprintf(&b, "%s: %s\n", name, jwtText.ReplaceAllString(value, "<jwt>"))
		}
	}
	b.WriteString("\n")
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/csv") {
		b.Write(body)
		return strings.TrimSpace(b.String())
	}
	if !isJSON {
		fmt.Fprintf(&b, "(%d bytes)", len(body))
		return b.String()
	}
	var laidOut bytes.Buffer
	must(t, json.Indent(&laidOut, body, "", "  "))
	b.WriteString(jwtText.ReplaceAllString(laidOut.String(), "<jwt>"))
	return strings.TrimSpace(b.String())
}

// importNext runs the jobs that import the next file.
func (w *world) importNext(t *testing.T) {
	t.Helper()
	_, err := w.app.ImportFiles.Next(t.Context(), func(file io.Reader) iter.Seq2[imports.ImportedPayment, error] {
		return paymentfile.Read(file, nil)
	}, sessions.AccessNow)
	must(t, err)
	_, err = w.app.Disputes.NextUpload(t.Context(), sessions.AccessNow)
	must(t, err)
}
