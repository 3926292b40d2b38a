package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"holdfast/bench/book"
	"holdfast/internal/account/people"
	"holdfast/internal/account/tokens"
	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/platform/secrets"
)

// house is the product: its program, a folder, and a database with a book.
type house struct {
	program, dir string
	database     string // its URL
	Book         book.Book
	Token        string // of a member of the site
	Password     string // of the operator, for the System page
	postmasters  []int  // process ids of PostgreSQL's servers, the coordinator of a cluster first; none for SQLite
	server       *process
	system       *http.Client
}

const operator = "bench-operator"

// buildProduct builds the program with make, as users do, and copies it to a path that later builds do not overwrite.
func buildProduct(ctx context.Context, to string) error {
	for _, command := range [][]string{{"make", "-s", "build"}, {"cp", "bin/holdfast", to}} {
		if said, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, said)
		}
	}
	return nil
}

// build builds the program in a folder.
func build(ctx context.Context, folder, to, what string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", to, what)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", what, err, said)
	}
	return nil
}

// kept is the file next to a book that lets a later run reuse it.
func (h *house) kept() string { return filepath.Join(h.dir, "book.json") }

// furnish makes the book, unless an earlier run left it in the folder. A PostgreSQL server is new for each run, so what
// the folder records about an earlier one no longer applies.
func (h *house) furnish(ctx context.Context, size book.Size, say func(format string, args ...any)) error {
	if text, err := os.ReadFile(h.kept()); err == nil && strings.HasPrefix(h.database, "sqlite:") {
		postmasters, database := h.postmasters, h.database
		if err := json.Unmarshal(text, h); err != nil {
			return err
		}
		h.postmasters, h.database = postmasters, database
		if h.Book.Size == size {
			return nil
		}
		return fmt.Errorf("%s contains a book of %d bookings. Choose another -dir", h.dir, h.Book.Bookings)
	}
	began := time.Now()
	line, err := h.makeKeys()
	if err != nil {
		return err
	}
	if err := h.fill(ctx, size, line, func(done int64) {
		say("  %d of %d bookings, after %s", done, size.Bookings, time.Since(began).Round(time.Second))
	}); err != nil {
		return err
	}
	say("  a book of %d bookings and %d payments in %s", size.Bookings, size.Bookings*size.Payments, time.Since(began).Round(time.Second))
	if err := h.settle(ctx, say); err != nil {
		return err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return os.WriteFile(h.kept(), text, 0o600)
}

// makeKeys creates the program's key file, and returns its line.
func (h *house) makeKeys() (line string, err error) {
	line, err = secrets.NewSealKey(rand.Reader)
	if err == nil {
		err = os.WriteFile(h.keys(), []byte(line+"\n"), 0o600)
	}
	return line, err
}

// fill makes the book and its users, and reports the number of bookings every ten seconds.
func (h *house) fill(ctx context.Context, size book.Size, sealKey string, say func(done int64)) (err error) {
	store, service, err := open(ctx, h.database, sealKey, time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	defer service.Close()
	printed := time.Now()
	h.Book, err = book.Make(ctx, store, service, civil.DayOf(time.Now()), size, func(done int64) {
		if time.Since(printed) > 10*time.Second {
			printed = time.Now()
			say(done)
		}
	})
	if err == nil {
		err = book.Fold(ctx, service, h.Book.SiteID)
	}
	if err == nil {
		err = h.people(ctx, service)
	}
	return err
}

// The program's jobs are idle once they use less than a tenth of a processor for restFor.
const (
	restFor  = 5 // consecutive seconds
	restTime = 30 * time.Minute
)

// settle starts the program and waits until its jobs have caught up with a book that appeared all at once: statements for
// many months, completed trips, the chain of facts.
func (h *house) settle(ctx context.Context, say func(format string, args ...any)) error {
	if err := h.begin(ctx); err != nil {
		return err
	}
	defer h.server.end()
	began := time.Now()
	err := h.rest(ctx)
	if err == nil {
		say("  background jobs idle after %s", time.Since(began).Round(time.Second))
	}
	return err
}

// rest waits until the jobs of the running program are idle.
func (h *house) rest(ctx context.Context) error {
	began := time.Now()
	server, data := h.processorTimes()
	for quiet := 0; quiet < restFor; {
		if time.Since(began) > restTime {
			return fmt.Errorf("the background jobs are still busy after %s", restTime)
		}
		if !until(ctx, time.Now().Add(time.Second)) {
			return ctx.Err()
		}
		server2, data2 := h.processorTimes()
		if quiet++; server2-server+data2-data > 100*time.Millisecond {
			quiet = 0
		}
		server, data = server2, data2
	}
	return nil
}

func (h *house) keys() string { return filepath.Join(h.dir, "holdfast.keys") }

// people creates a member of the site with a token, and an operator.
func (h *house) people(ctx context.Context, service *app.App) error {
	actor := access.System(h.Book.SiteID)
	h.Password = rand.Text()
	fields := people.UserFields{Username: operator, Email: operator + "@example.org", Password: h.Password}
	if _, err := service.Accounts.CreateUser(ctx, actor, fields, access.Operator, false); err != nil {
		return err
	}
	fields = people.UserFields{Username: "bench-member", Email: "bench-member@example.org", Password: rand.Text()}
	member, err := service.Accounts.CreateUser(ctx, actor, fields, access.MemberAdmin, false)
	if err != nil {
		return err
	}
	actor.UserID = member.ID
	name := "bench"
	_, h.Token, err = service.Tokens.Create(ctx, actor, tokens.TokenFields{Name: &name})
	return err
}

// settings are the settings of the measured program that differ from its defaults: to the program, all callers are one.
var settings = []string{"--requests-per-caller", "1024", "--requests-waiting", "1024"}

// begin starts the program on the book.
func (h *house) begin(ctx context.Context, more ...string) (err error) {
	args := append([]string{"serve", "--database", h.database, "--listen", "127.0.0.1:0", "--log-level", "warn"}, more...)
	env := []string{"HOLDFAST_KEYS_FILE=" + h.keys(), "HOLDFAST_ECB_URL=http://127.0.0.1:1/"}
	h.server, err = begin(ctx, filepath.Join(h.dir, "log"), env, h.program, args...)
	return err
}

// start calls begin and signs in.
func (h *house) start(ctx context.Context, more ...string) error {
	if err := h.begin(ctx, more...); err != nil {
		return err
	}
	if err := h.signIn(ctx); err != nil {
		h.server.end()
		return err
	}
	return nil
}

// signIn signs the operator in to the dashboard, for the System page.
func (h *house) signIn(ctx context.Context) error {
	h.system = &http.Client{Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	form := url.Values{"username": {operator}, "password": {h.Password}}.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+h.server.address+"/dashboard/sign-in", strings.NewReader(form))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://"+h.server.address)
	answer, err := h.system.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther {
		return fmt.Errorf("signing in to the dashboard failed with status %d", answer.StatusCode)
	}
	cookies := answer.Cookies()
	h.system.Transport = withCookies(cookies)
	return nil
}

// withCookies sends the cookies of a sign-in with each request. The dashboard marks them Secure, so a cookie jar would
// not send them.
type withCookies []*http.Cookie

// RoundTrip implements http.RoundTripper.
func (w withCookies) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for _, c := range w {
		r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	}
	return http.DefaultTransport.RoundTrip(r)
}

// counters are the figures of the process on the System page.
type counters struct{ statements, commits, again, goroutines int64 }

var fact = regexp.MustCompile(`<dt>([^<]+)</dt><dd[^>]*>([0-9,]+)</dd>`)

func (h *house) counters(ctx context.Context) (c counters, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.server.address+"/dashboard/system", nil)
	if err != nil {
		return c, err
	}
	answer, err := h.system.Do(r)
	if err != nil {
		return c, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return c, err
	}
	found := map[string]int64{}
	for _, m := range fact.FindAllStringSubmatch(string(text), -1) {
		n, _ := strconv.ParseInt(strings.ReplaceAll(m[2], ",", ""), 10, 64) // it matched
		found[m[1]] = n
	}
	c = counters{found["SQL statements"], found["Commits"], found["Writes run again"], found["Goroutines"]}
	if c.statements == 0 {
		return c, fmt.Errorf("the System page (status %d) does not show the number of statements", answer.StatusCode)
	}
	return c, nil
}

// processorTimes are the processor times of the program and, with PostgreSQL, of the database.
func (h *house) processorTimes() (server, database time.Duration) {
	return processorTime(h.server.cmd.Process.Pid, false), h.databaseTime()
}

// databaseTime is the processor time of PostgreSQL, of all its servers, or 0 if the database runs inside the program.
func (h *house) databaseTime() (sum time.Duration) {
	for _, id := range h.postmasters {
		sum += family(id)
	}
	return sum
}

// coordinatorTime is the part of databaseTime that the coordinator of several servers has used.
func (h *house) coordinatorTime() time.Duration {
	if len(h.postmasters) < 2 {
		return 0
	}
	return family(h.postmasters[0])
}
