package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	demoToken    = regexp.MustCompile(`API token +(\S+)`)
	demoAdmin    = regexp.MustCompile(`Admin +(\S+) +password (\S+)`)
	demoOperator = regexp.MustCompile(`Operator +(\S+) +password (\S+)`)
	demoApprover = regexp.MustCompile(`Operator 2 +(\S+) +password (\S+)`)
)

// paste runs the four lines that the demo prints as a newcomer would: in a shell, one after the other.
func paste(t *testing.T, p *process) (stdout, stderr string) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("curl is not installed; with CI=true, the commands that the demo prints must be tested")
		}
		t.Skip("curl is not installed, so the commands that the demo prints are not tested")
	}
	_, lines, found := strings.Cut(p.said, "Try these in another terminal:\n\n")
	if !found {
		t.Fatalf("the demo prints no lines to try:\n%s", p.said)
	}
	lines, _, _ = strings.Cut(lines, "\n\n")
	if n := strings.Count(lines, "curl"); n != 4 {
		t.Errorf("%d lines with curl:\n%s", n, lines)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", lines)
	var out, log strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), log.String())
	}
	return out.String(), log.String()
}

func TestDemo(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *system) {
		first := s.start("demo")
		for _, want := range []string{
			"2000 bookings", "Fellside Journeys, GBP, test", "Newcomer Tours, EUR, draft", "Azure Coast Holidays, EUR, protection-only",
			"Northern Trails, GBP, protection-only", `sample data (provider "demo")`, "demo-credentials.json",
		} {
			if !strings.Contains(first.said, want) {
				t.Errorf("the demo does not say %q:\n%s", want, first.said)
			}
		}
		if s.database == "" { // the conversations verify that both engines give the same responses
			tryDocumentedLines(t, first)
			tryTypeScript(t, first)
		}
		if status, page := request(t, "GET", first.base+"/checkout", "", nil); status != 200 || !strings.Contains(page, `class="tmt_booking_auth"`) {
			t.Errorf("the shop answers %d: %s", status, page)
		}
		made, stderr := paste(t, first)
		if !strings.Contains(stderr, `"status":"unpaid"`) {
			t.Errorf("the new booking is not unpaid: %s", stderr)
		}
		for _, want := range []string{
			`"status":"complete"`, `"status":"paid"`, `"total_unpaid":0`, `"name":"Northern Trails"`, `"currency":"GBP"`, `"pending_rate":[]`,
		} {
			if !strings.Contains(made, want) {
				t.Errorf("the lines do not answer %s:\n%s", want, made)
			}
		}
		awaitLimits(t, s)
		first.stop()
		checkWhatTheDemoShows(t, s, first.said)

		second := s.start("demo")
		for _, what := range []*regexp.Regexp{demoToken, demoAdmin, demoOperator} {
			was, is := what.FindString(first.said), what.FindString(second.said)
			if was == "" || was != is {
				t.Errorf("the first start said %q, the second %q", was, is)
			}
		}
		if !strings.Contains(second.said, "loaded earlier") {
			t.Errorf("the second start says\n%s", second.said)
		}
		if again, _ := paste(t, second); !strings.Contains(again, `"total_unpaid":0`) {
			t.Errorf("on the second start the lines answer\n%s", again)
		}
		for _, who := range []*regexp.Regexp{demoAdmin, demoOperator} {
			m := who.FindStringSubmatch(second.said)
			logIn(t, second, m[1], m[2], "", 200)
		}
		second.stop()
		if strings.Contains(first.log.String()+second.log.String(), "Byron") {
			t.Error("a traveller's name is in the log")
		}
	})
}

// demoShows maps the commands that the demo prints to what they show.
var demoShows = map[string]string{
	"exposure": `E1 net of collateral`, "run-off": "", "limits list": `\b92\.\d %[^\n]*\n[^\n]*107\.\d %`,
	"limits events": `channel +\d* *100 %|100 %`, "collateral list": "guarantee", "statements list": `2\d\d\d-\d\d +\S+ +yes `,
	"dispute list": `(?s)braintree.*queue|(?s)adyen.*unmatched`, "claim list": `(?s)paid.*refunded|(?s)refunded.*paid`,
}

// awaitLimits waits until the demo's job has computed the use of the limits.
func awaitLimits(t *testing.T, s *system) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, command := range []string{"limits list", "limits events"} {
		shown := regexp.MustCompile(demoShows[command])
		for found := ""; !shown.MatchString(found); {
			if ctx.Err() != nil {
				t.Fatalf("holdfast %s still shows\n%s", command, found)
			}
			found = s.must(append(strings.Fields(command), "--site", "demo")...)
		}
	}
}

// checkWhatTheDemoShows runs the commands that the demo prints.
func checkWhatTheDemoShows(t *testing.T, s *system, said string) {
	t.Helper()
	for command, shows := range demoShows {
		if !strings.Contains(said, "holdfast "+command+" --site demo") {
			t.Errorf("the demo does not print the command %q", command)
		}
		if found := s.must(append(strings.Fields(command), "--site", "demo")...); !regexp.MustCompile(shows).MatchString(found) {
			t.Errorf("holdfast %s does not show %s:\n%s", command, shows, found)
		}
	}
	if tail := s.must("exposure", "--site", "demo", "--json"); strings.Contains(tail, `"e2": 0,`) {
		t.Errorf("no trip is over:\n%s", tail)
	}
	if list := s.must("exposure", "--site", "demo", "--by", "supplier"); strings.Count(list, "\n") < 12 {
		t.Errorf("few suppliers:\n%s", list)
	}
	// On the live site, opening cover takes both operators.
	approve := regexp.MustCompile(`holdfast (approve \d+ --site demo-live) --as demo-approver`).FindStringSubmatch(said)
	if approve == nil {
		t.Fatalf("the demo has nothing to approve:\n%s", said)
	}
	args := strings.Fields(approve[1])
	first, second := demoOperator.FindStringSubmatch(said), demoApprover.FindStringSubmatch(said)
	if r := s.run(first[2]+"\n", append(args, "--as", first[1])...); r.code == 0 {
		t.Error("the operator who proposed has approved, too")
	}
	if r := s.run(second[2]+"\n", append(args, "--as", second[1])...); r.code != 0 || !strings.Contains(r.stdout, "approved") {
		t.Errorf("the second operator may not approve: %d, %s%s", r.code, r.stdout, r.stderr)
	}
}

func TestDemoKeepsItsSecretsToItself(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	s.start("demo", "--empty").stop()
	for name, mode := range map[string]os.FileMode{
		"": 0o700, "demo-credentials.json": 0o600, "holdfast.db": 0o600,
	} {
		info, err := os.Stat(filepath.Join(s.dir, "holdfast-data", name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != mode {
			t.Errorf("holdfast-data/%s has the mode %o", name, info.Mode().Perm())
		}
	}
}

// TestDemoRepairsItself deletes what can get lost between two starts.
func TestDemoRepairsItself(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	s.start("demo", "--empty").stop()
	credentials := filepath.Join(s.dir, "holdfast-data", "demo-credentials.json")
	if err := os.Remove(credentials); err != nil {
		t.Fatal(err)
	}
	p := s.start("demo", "--empty")
	m := demoAdmin.FindStringSubmatch(p.said)
	logIn(t, p, m[1], m[2], "", 200)
	p.stop()
	if list := s.must("token", "list", "--site", "demo"); strings.Count(list, "demo") != 1 {
		t.Errorf("the tokens are\n%s", list)
	}

	// The other way round: credentials of a deleted database.
	files, err := filepath.Glob(filepath.Join(s.dir, "holdfast-data", "holdfast.db*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	p = s.start("demo", "--empty")
	m = demoAdmin.FindStringSubmatch(p.said)
	logIn(t, p, m[1], m[2], "", 200)
	p.stop()
	if err := os.WriteFile(credentials, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := s.run("", "demo", "--listen", "127.0.0.1:0"); r.code != 1 || !strings.Contains(r.stderr, "demo-credentials.json. Delete the file") {
		t.Errorf("broken credentials: exit code %d, %s", r.code, r.stderr)
	}
}

func TestDemoStaysOffRealSites(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *system) {
		s.must("site", "create", "acme", "--name", "Acme", "--currency", "GBP")
		r := s.run("", "demo", "--listen", "127.0.0.1:0")
		if r.code != 1 || !strings.Contains(r.stderr, "not a sandbox") || !strings.Contains(r.stderr, "--database") {
			t.Errorf("exit code %d: %s", r.code, r.stderr)
		}
		if users := s.run("", "user", "password", "demo-operator"); users.code != 1 {
			t.Error("the demo made its operator all the same")
		}
	})
}

// TestDemoTakesPayments: in the server-to-server profile the demo's channels take a test card, and the payment is
// protected.
func TestDemoTakesPayments(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	demo := s.start("demo", "--empty", "--profile", "server-to-server")
	for _, want := range []string{"Azure Coast Holidays, EUR, live", "holdfast-data/holdfast.keys"} {
		if !strings.Contains(demo.said, want) {
			t.Errorf("the demo does not say %q:\n%s", want, demo.said)
		}
	}
	made, _ := paste(t, demo)
	for _, want := range []string{`"psp":"sandbox"`, `"status":"complete"`, `"last_four_digits":"4242"`, `"status":"paid"`, `"e1":90000`} {
		if !strings.Contains(made, want) {
			t.Errorf("the lines do not answer %s:\n%s", want, made)
		}
	}
	// docs/payments.md ends with a command, and docs/processors.md connects a channel to the sandbox processor.
	blocks := strings.Split(docsPage(t, "payments.md"), "```")
	last := strings.TrimPrefix(strings.TrimSpace(blocks[len(blocks)-2]), "holdfast ")
	if said := s.must(wordsOf(last)...); !strings.Contains(said, "4 days ahead") {
		t.Errorf("holdfast %s says %s", last, said)
	}
	if r := s.run("", "clock", "set", "--profile", "server-to-server", "--site", "demo", "--days", "0"); r.code == 0 || !strings.Contains(r.stderr, "days") {
		t.Errorf("a clock that does not move: exit code %d, %s", r.code, r.stderr)
	}
	if text := docsPage(t, "processors.md"); !strings.Contains(text, `echo '{"key": "test"}' | holdfast merchant gateway`) {
		t.Error("docs/processors.md does not connect a channel to the sandbox processor")
	}
	if r := s.run(`{"key": "test"}`, "merchant", "gateway", "1", "--site", "demo", "--processor", "sandbox",
		"--profile", "server-to-server"); r.code != 0 {
		t.Errorf("the sandbox processor takes no key: %s", r.stderr)
	}
	demo.stop()
	again := s.start("demo", "--empty", "--profile", "server-to-server") // finds its keys
	again.stop()
	if info, err := os.Stat(filepath.Join(s.dir, "holdfast-data", "holdfast.keys")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the keys: %v, %v", info, err)
	}
}
