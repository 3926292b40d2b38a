package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

func TestUsage(t *testing.T) {
	s := onSQLite(t)
	for args, want := range map[string]string{
		"srve":                                    `did you mean one of "serve"`,
		"serve --databse x":                       `did you mean "--database"?`,
		"help srve":                               `did you mean one of "serve"`,
		"exposure --asof=2024-01-01":              `unknown flag --asof, did you mean "--as-of"?` + "\n",
		"exposure --AS_OF 2024-01-01":             `did you mean "--as-of"?`,
		"exposure -as-of 2024-01-01":              `unknown flag -as-of, did you mean "--as-of"?`,
		"exposure --of 2024-01-01":                `did you mean "--as-of"?`,
		"explain 3 --as-fo 2024-01-01":            `did you mean "--as-of"?`,
		"exposure --known 2024":                   `did you mean "--known-at"?`,
		"exposure --siet a":                       `did you mean "--site"?`,
		"merchant set 3 --no-lockd":               `did you mean "--no-locked"?`,
		"exposure --date 2024-01-01":              "unknown flag --date\n",
		"--as-of 2024-01-01 exposure":             `Flags of a command follow it, as in "holdfast exposure --as-of"`,
		"limits --over":                           `as in "holdfast limits list --over"`,
		"import payments x.csv --drrun":           `did you mean "--dry-run"?`,
		"completion csh":                          "must be one of",
		"serve extra":                             "unexpected argument",
		"import":                                  "expected",
		"rates quote USD 1.1":                     "missing flags: --day=YYYY-MM-DD",
		"import payments x.csv --site a --mode x": "--mode must be one of",
		"exposure --site a --as-of 2016-02-31":    "not a valid date",
		"exposure --site a --json --csv":          "can't be used together",
		"merchant mode x draft --site a":          "<id>",
		"config --log-level loud":                 "--log-level must be one of",
		"config --namespace a/b":                  "--namespace must be a single path segment",
		"config --base-url nowhere":               "--base-url must be an http or https URL",
		"config --trusted-proxies 10.0.0.0/99":    "--trusted-proxies",
		"config --shutdown-timeout=-1s":           "--shutdown-timeout",
		"config --shutdown-timeout 10":            "with a unit, such as 30s",
		"config --payments-at-once many":          "is not a whole number",
		"config --import-megabytes 0":             "between 1 and 128",
		"config --import-megabytes 129":           "between 1 and 128",
		"config --import-rows 0":                  "between 1 and 200000",
		"config --import-rows 200001":             "between 1 and 200000",
		"config --upload-timeout 0s":              "--upload-timeout must be greater than 0",
		"config --replica-max-lag 0s":             "--replica-max-lag must be greater than 0",
		"config --replica-max-lag 11m":            "at most 10m",
		"config --upload-timeout 31m":             "at most 30m",
		"exposure --site a --as-of yesterday":     `"yesterday" is not a valid date. Use the format 2024-06-30`,
		"exposure --site a --known-at 2024-06-30": `Use the format "2024-06-30 12:00:00", in quotes and in GMT`,
		"exposure --site a --merchants 1,b":       "several separated by commas, such as 3,17",
		"exposure --site":                         "--site: missing value",
		"limits set site 10.50 --site a":          `"10.50" has no currency. Add it after the amount, such as "1234.56 GBP"`,
		"limits set site 10.505 GBP":              `"10.505" has too many decimals: GBP has 2`,
		"limits set site 1050.5JPY":               "JPY has 0",
		"limits set site 1,05 GBP":                "is not a valid amount. Enter it with its currency",
		"limits set site 5 XXQ":                   `"XXQ" is not an ISO 4217 currency`,
		"limits set site ten":                     `"ten" is not a valid amount`,
		"limits set site 99999999999999 GBP":      "is too large",
		"limits set site 5 GBP EUR":               "unexpected argument EUR",
		"collateral add cash 5":                   "has no currency",
		"merchant set 1 --payout-minimum 1050":    "--payout-minimum: ",
		"statements pay 1 --amount 500000 --date 2024-01-01 --reference R": `--amount: "500000" has no currency`,
		"statements pay 1 --amount --date 2024-01-01 --reference R":        "--amount: missing value",
		"explain 99999999999999999999":                                     "99999999999999999999 is too large",
		"explain 0x10":                                                     `"0x10" is not a whole number`,
		"merchant list --limit many":                                       `"many" is not a whole number`,
		"merchant list --sort":                                             "--sort: missing value",
		"import payments x.csv --mode x":                                   `--mode must be one of "test","draft"`,
		"merchant set 1 --site a --locked=maybe":                           `"maybe" is not yes or no`,
		"rates import nowhere.csv":                                         "file not found: nowhere.csv",
	} {
		r := s.run("", strings.Fields(args)...)
		if r.code != 2 || !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, "Usage: holdfast") || !strings.Contains(r.stderr, "--help") {
			t.Errorf("holdfast %s: exit code %d, %s", args, r.code, r.stderr)
		}
		if strings.Count(r.stderr, "\n") > 3 || r.stdout != "" {
			t.Errorf("holdfast %s says too much: %s%s", args, r.stdout, r.stderr)
		}
	}
}

func TestHelp(t *testing.T) {
	s := onSQLite(t)
	for args, wants := range map[string][]string{
		"":                       {"Usage: holdfast <command>", "demo ", "Import bookings and payments", "import, fetch, quote", "exposure", "--database"},
		"--help":                 {"Usage: holdfast <command>"},
		"serve --help":           {"--listen", "HOLDFAST_LISTEN", "--shutdown-timeout"},
		"demo --help":            {"--empty", "--listen", "holdfast-data"},
		"import payments --help": {"--cover-start", "--dry-run", "--refused", "booking_reference", "linked_reference", "minor units", "HOLDFAST_DATABASE"},
		"user create --help":     {"member_admin", "standard input", "Example:\n  holdfast user create ada --email"},
		"help limits set":        {"Usage: holdfast limits set", "Example:\n  holdfast limits set merchant \"50000.00 GBP\""},
		"limits --help":          {"Examples:\n  holdfast limits list"},
		"--version":              {"holdfast ", "commit "},
		"completion zsh":         {"#compdef holdfast"},
		"merchant set --help":    {"--statement-period", "--[no-]locked"},
		"exposure --help":        {"--as-of", "--known-at", "--valuation", "--by", "--csv"},
	} {
		r := s.run("", strings.Fields(args)...)
		for _, want := range wants {
			if r.code != 0 || !strings.Contains(r.stdout, want) || r.stderr != "" {
				t.Errorf("holdfast %s: exit code %d, no %q in\n%s%s", args, r.code, want, r.stdout, r.stderr)
			}
		}
	}
	if out := s.must("version"); !strings.HasPrefix(out, "holdfast ") {
		t.Errorf("version says %q", out)
	}
}

func TestConfigSaysWhereItsValuesComeFrom(t *testing.T) {
	s := &system{t: t, dir: t.TempDir(), database: "postgres://ada:secret@db.example/holdfast?sslmode=disable&password=secret"}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := s.command(ctx, "config", "--trusted-proxies", "10.0.0.0/8,192.168.0.0/16")
	cmd.Env = append(cmd.Env, "HOLDFAST_LISTEN=0.0.0.0:9000", "HOLDFAST_DATABASE=sqlite:elsewhere.db",
		"HOLDFAST_REPLICA=postgres://ada:secret@standby.example/holdfast")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	settings := map[string]string{}
	for line := range strings.Lines(string(out)) {
		cells := strings.Fields(line)
		settings[cells[0]] = strings.Join(cells[1:], " ")
	}
	for name, want := range map[string]string{
		"database":        "postgres://ada:xxxxx@db.example/holdfast?password=xxxxx&sslmode=disable --database",
		"listen":          "0.0.0.0:9000 HOLDFAST_LISTEN",
		"replica":         "postgres://ada:xxxxx@standby.example/holdfast HOLDFAST_REPLICA",
		"rest-root":       "rest default",
		"trusted-proxies": "10.0.0.0/8 192.168.0.0/16 --trusted-proxies",
	} {
		if settings[name] != want {
			t.Errorf("%s: %q, want %q", name, settings[name], want)
		}
	}
	for form, want := range map[string]string{"--json": `"setting": "rest-root"`, "--csv": ",rest-root,rest,default"} {
		if out := onSQLite(t).must("config", form); !strings.Contains(out, want) {
			t.Errorf("config %s: %q is not in\n%s", form, want, out)
		}
	}
	if strings.Contains(string(out), "secret") {
		t.Errorf("a secret is shown:\n%s", out)
	}
}

func TestNoSecretOfAnAddressIsShown(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"sqlite:holdfast-data/holdfast.db":                               "sqlite:holdfast-data/holdfast.db",
		"postgres://ada:s3cret@db.example/holdfast?sslmode=disable":      "postgres://ada:xxxxx@db.example/holdfast?sslmode=disable",
		"postgres://db.example/holdfast?user=ada&password=s3cret":        "postgres://db.example/holdfast?password=xxxxx&user=xxxxx",
		"postgres://db.example/holdfast?PassWord=s3cret&passfile=s3cret": "postgres://db.example/holdfast?PassWord=xxxxx&passfile=xxxxx",
		"postgres://db.example/holdfast?p%61ssword=s3cret":               "postgres://db.example/holdfast?password=xxxxx",
		"postgres://a:s3cret@one:5432,two:5432/holdfast":                 "postgres://a:xxxxx@one:5432,two:5432/holdfast",
		"postgres://ada:s3cret%zz@db.example/holdfast":                   "(not a URL)",
		"host=db.example user=ada password=s3cret":                       "(not a URL)",
		"password=s3cret": "(not a URL)",
		"sqlite:holdfast.db?_pragma=key('s3cret')&mode=ro":                 "sqlite:holdfast.db?_pragma=xxxxx&mode=ro",
		"https://key:s3cret@gateway.example/v2?api_key=s3cret#tok=s3cret":  "https://key:xxxxx@gateway.example/v2?api_key=xxxxx#xxxxx",
		"https://gateway.example/v2?a=s3cret;b=s3cret":                     "https://gateway.example/v2?xxxxx",
		"postgres://db.example/holdfast?sslkey=s3cret&options=-c%20s3cret": "postgres://db.example/holdfast?options=xxxxx&sslkey=xxxxx",
	} {
		got := masked(address)
		if strings.Contains(got, "s3cret") {
			t.Errorf("%s shows %s", address, got)
		}
		if got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
}

func TestDatabaseThatCannotBeUsed(t *testing.T) {
	for database, want := range map[string]string{
		"mysql://x":             "neither sqlite:PATH nor postgres://",
		"sqlite:":               "write sqlite:PATH",
		"sqlite:/dev/null/x.db": "cannot be created",
		"postgres://nobody@127.0.0.1:1/nothing?sslmode=disable": "cannot be used",
	} {
		s := &system{t: t, dir: t.TempDir(), database: database}
		if r := s.run("", "site", "list"); r.code != 1 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit code %d, %s", database, r.code, r.stderr)
		}
	}
}

func TestOperatorsCommands(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *system) {
		refused := func(want string, args ...string) {
			t.Helper()
			if r := s.run("", args...); r.code != 1 || !strings.Contains(r.stderr, want) {
				t.Errorf("holdfast %s: exit code %d, no %q in %s", strings.Join(args, " "), r.code, want, r.stderr)
			}
		}
		wrong := func(want string, args ...string) {
			t.Helper()
			if r := s.run("", args...); r.code != 2 || !strings.Contains(r.stderr, "holdfast: "+want) {
				t.Errorf("holdfast %s: exit code %d, no %q in %s", strings.Join(args, " "), r.code, want, r.stderr)
			}
		}
		says := func(want string, args ...string) {
			t.Helper()
			if out := s.must(args...); !strings.Contains(out, want) {
				t.Errorf("holdfast %s: no %q in %s", strings.Join(args, " "), want, out)
			}
		}
		for _, args := range [][]string{{"site", "list"}, {"exposure"}, {"merchant", "create", "X", "--currency", "EUR"}, {"keys", "rotate"}} {
			refused("no holdfast database at", args...)
		}
		if files, err := filepath.Glob(filepath.Join(s.dir, "holdfast*")); len(files) > 0 || err != nil {
			t.Errorf("commands that only read have made %v, %v", files, err)
		}
		says("schema", "migrate")
		says("No sites.", "site", "list")
		refused("the database has no sites yet", "merchant", "list")
		says("/acme", "site", "create", "acme", "--name", "Acme", "--currency", "gbp", "--sandbox")
		wrong("<path>: This path is already taken.", "site", "create", "acme", "--name", "Acme", "--currency", "GBP")
		wrong("<path>: This path is reserved.", "site", "create", "wp", "--name", "Acme", "--currency", "GBP", "--auth-segment", "wp")
		wrong("--currency:", "site", "create", "other", "--name", "Other", "--currency", "XXX")
		says("acme", "site", "list")
		wrong(`--site: Site "nowhere" not found`, "merchant", "list", "--site", "nowhere")

		says("Created merchant 2, Shop", "merchant", "create", "Shop", "--currency", "eur", "--mode", "draft", "--site", "acme")
		says("Test channel", "merchant", "list")
		says("protection-only", "merchant", "mode", "2", "protection-only", "--site", "acme")
		wrong("<mode>: The mode cannot change", "merchant", "mode", "2", "draft", "--site", "acme")
		refused("Channel 9 not found", "merchant", "mode", "9", "closed", "--site", "acme")
		says("supplier 1, Hotel", "supplier", "create", "Hotel", "--country", "PT", "--category", "HOT", "--site", "acme")
		wrong("--country:", "supplier", "create", "Hotel", "--country", "XX", "--site", "acme")
		says("Updated", "supplier", "set", "1", "--name", "Hotel Mar", "--url", "https://mar.example", "--site", "acme")
		says("Updated", "merchant", "set", "2", "--suppliers", "1", "--statement-period", "week", "--locked", "--reason", "Licence withdrawn", "--site", "acme")
		says("Licence withdrawn", "merchant", "show", "2", "--site", "acme")
		says(`"lock_reason": "Licence withdrawn"`, "merchant", "show", "2", "--json", "--site", "acme")
		refused("Channel 9 not found", "merchant", "show", "9", "--site", "acme")
		wrong("--reason:", "merchant", "set", "2", "--locked", "--reason", strings.Repeat("a", 2000), "--site", "acme")
		says("locked", "merchant", "list", "--site", "acme")
		says("Updated", "merchant", "set", "2", "--no-locked", "--status", "agent", "--site", "acme")
		says("agent", "merchant", "list", "--site", "acme")
		refused("linked", "supplier", "delete", "1", "--site", "acme")
		says("Updated", "merchant", "set", "2", "--suppliers=", "--site", "acme")
		says("Updated", "merchant", "set", "2", "--beneficiary-id", "BEN-204", "--settlement-currency", "GBP", "--payout-minimum", "50.00 GBP", "--site", "acme")
		says("Deleted", "supplier", "delete", "1", "--site", "acme")
		says("signed with a new key", "keys", "rotate")

		says("/other", "site", "create", "other", "--name", "Other", "--currency", "GBP")
		if r := s.run("", "merchant", "list"); !strings.Contains(r.stderr, "Choose a site with --site or HOLDFAST_SITE: acme, other.") {
			t.Errorf("of two sites: exit code %d, %s", r.code, r.stderr)
		}
		s.site = "acme"
		says("agent", "merchant", "list")
		s.site = "nowhere"
		refused(`HOLDFAST_SITE: Site "nowhere" not found.`, "merchant", "list")
	})
}

func TestPeople(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *system) {
		s.must("site", "create", "acme", "--name", "Acme", "--currency", "GBP")
		s.must("site", "create", "other", "--name", "Other", "--currency", "GBP")
		const password, changed = "correct horse battery", "another horse battery"
		create := []string{"user", "create", "Ada", "--email", "ada@example.org", "--role", "finance", "--site", "acme"}
		if r := s.run("short\n", create...); r.code != 1 || !strings.Contains(r.stderr, "password:") {
			t.Errorf("a short password: exit code %d, %s", r.code, r.stderr)
		}
		s.mustWith(password+"\n", create...)
		if r := s.run(password, "user", "create", "eve", "--email", "e@example.org", "--role", "finance"); r.code != 2 || !strings.Contains(r.stderr, "--site: Choose a site") {
			t.Errorf("nobody's user: exit code %d, %s", r.code, r.stderr)
		}
		s.mustWith(password, "user", "create", "grace", "--email", "grace@example.org", "--role", "operator")

		for args, want := range map[string]string{
			"":                             "ada       ada@example.org",
			"--site acme":                  "finance  acme",
			"--site other":                 "No users.",
			"--csv --sort -id --limit 1":   ",2,grace,grace@example.org,grace,operator,,false,",
			"--json":                       `"role": "operator"`,
			"--json --site acme --limit=1": `"site": "acme"`,
		} {
			if out := s.must(append([]string{"user", "list"}, strings.Fields(args)...)...); !strings.Contains(out, want) {
				t.Errorf("user list %s: %q is not in\n%s", args, want, out)
			}
		}
		p := s.start("serve")
		logIn(t, p, "ada", password, "", 200)
		logIn(t, p, "grace", password, "", 200)
		s.mustWith(changed+"\r\n", "user", "password", "ada")
		logIn(t, p, "ada", password, "", 403)
		logIn(t, p, "ada", changed, "", 200)

		if r := s.run("", "token", "create", "shop", "--user", "ada", "--site", "other"); r.code != 2 || !strings.Contains(r.stderr, "--user: The user has no access") {
			t.Errorf("a token for a stranger: exit code %d, %s", r.code, r.stderr)
		}
		s.must("user", "access", "ada", "--role", "member_admin", "--site", "other")
		token := strings.TrimSpace(s.must("token", "create", "shop", "--user", "ada", "--site", "other", "--expires", "2099-12-31"))
		channels := p.base + "/other/rest/svc/v2/channels"
		if status, said := request(t, "GET", channels, token, nil); status != 200 {
			t.Errorf("the token is answered %d: %s", status, said)
		}
		if list := s.must("token", "list", "--site", "other"); !strings.Contains(list, "2099-12-31 23:59:59") || strings.Contains(list, token) {
			t.Errorf("the tokens are\n%s", list)
		}
		s.must("user", "access", "ada", "--remove", "--site", "other")
		if status, _ := request(t, "GET", channels, token, nil); status != 401 {
			t.Errorf("a token without access is answered %d", status)
		}
		p.stop()
	})
}

func TestSecondFactor(t *testing.T) {
	s := onSQLite(t)
	const password = "correct horse battery"
	s.must("site", "create", "acme", "--name", "Acme", "--currency", "GBP")
	s.mustWith(password, "user", "create", "ada", "--email", "ada@example.org", "--role", "finance", "--site", "acme")
	if r := s.run("000000\n", "user", "two-factor", "ada"); r.code != 1 || !strings.Contains(r.stderr, "two-factor code is wrong") {
		t.Errorf("a wrong code: exit code %d, %s", r.code, r.stderr)
	}
	p := s.start("serve")
	defer p.stop()
	logIn(t, p, "ada", password, "", 200) // without confirmation it does not count
	recovery := confirmSecondFactor(t, s)
	logIn(t, p, "ada", password, "", 403)
	logIn(t, p, "ada", password, recovery, 200)
	s.must("user", "two-factor", "ada", "--remove")
	logIn(t, p, "ada", password, "", 200)
}

// confirmSecondFactor sets up a second factor like a person with an authenticator app, and returns the first recovery
// code.
func confirmSecondFactor(t *testing.T, s *system) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := s.command(ctx, "user", "two-factor", "ada")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var words []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		words = append(words, strings.Fields(lines.Text())...)
		if strings.Contains(lines.Text(), "otpauth://") {
			code, err := totp.GenerateCode(words[len(words)-3], time.Now())
			if err != nil {
				t.Fatalf("%v: %v", words, err)
			}
			fmt.Fprintln(in, code)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %v", err, words)
	}
	return words[len(words)-1]
}

func TestRatesFetch(t *testing.T) {
	daily := `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
<Cube><Cube time='2026-02-27'><Cube currency='USD' rate='1.1805'/><Cube currency='GBP' rate='0.87563'/></Cube></Cube></gesmes:Envelope>`
	bank := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/closed" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprint(w, daily)
	}))
	defer bank.Close()
	onBoth(t, func(t *testing.T, s *system) {
		if out := s.must("rates", "fetch", "--ecb-url", bank.URL); !strings.Contains(out, "2 rates added, 0 already on file") {
			t.Errorf("the first time: %s", out)
		}
		if out := s.must("rates", "fetch", "--ecb-url", bank.URL); !strings.Contains(out, "0 rates added, 2 already on file") {
			t.Errorf("the second time: %s", out)
		}
		if r := s.run("", "rates", "fetch", "--ecb-url", bank.URL+"/closed"); r.code != 1 || !strings.Contains(r.stderr, "503") {
			t.Errorf("a bank in trouble: exit code %d, %s", r.code, r.stderr)
		}
	})
}

func TestExposureForMachines(t *testing.T) {
	s := onSQLite(t)
	s.must("site", "create", "acme", "--name", "Acme", "--currency", "GBP")
	args := []string{"exposure", "--site", "acme", "--as-of", "2016-06-30", "--currency", "eur"}
	var report struct {
		AsOf     string `json:"as_of"`
		Currency string
		Rows     []any
	}
	if err := json.Unmarshal([]byte(s.must(append(args, "--json")...)), &report); err != nil {
		t.Fatal(err)
	}
	if report.AsOf != "2016-06-30" || report.Currency != "EUR" || len(report.Rows) != 0 {
		t.Errorf("the JSON says %+v", report)
	}
	total := regexp.MustCompile(`^as_of,known_at,row,channel_id,.*\n2016-06-30,[0-9: -]+,total,,,0,.*,EUR,0\.00,0\.00,0\.00,0\.00\n$`)
	if out := s.must(append(args, "--csv")...); !total.MatchString(out) {
		t.Errorf("the CSV says\n%s", out)
	}
	if r := s.run("", "exposure", "--site", "acme", "--currency", "XXX", "--valuation", "locked"); r.code != exitUsage || !strings.Contains(r.stderr, "--currency:") {
		t.Errorf("no such currency: exit code %d, %s", r.code, r.stderr)
	}
}

// TestSpan: people read how far a clock is ahead.
func TestSpan(t *testing.T) {
	for length, want := range map[time.Duration]string{
		28014*time.Hour + 34*time.Minute + 6*time.Second: "1167 days and 7 hours",
		24 * time.Hour:             "1 day",
		time.Hour + time.Minute:    "1 hour and 1 minute",
		3599600 * time.Millisecond: "1 hour",
		90 * time.Second:           "1 minute and 30 seconds",
		time.Millisecond:           "less than a second",
	} {
		if got := span(length); got != want {
			t.Errorf("%s is %q, want %q", length, got, want)
		}
	}
}

// TestNoEmptyDatabaseInPlaceOfALostOne: a new database is only created on request.
func TestNoEmptyDatabaseInPlaceOfALostOne(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	s.must("migrate")
	if err := os.Remove(s.dir + "/holdfast-data/holdfast.db"); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"migrate"}, {"site", "list"}, {"serve", "--listen", "127.0.0.1:0"}} {
		if r := s.run("", args...); r.code != 1 || !strings.Contains(r.stderr, "No empty database is created in its place") {
			t.Errorf("holdfast %s: exit code %d, %s", strings.Join(args, " "), r.code, r.stderr)
		}
	}
	s.must("migrate", "--new-database")
	s.must("site", "list")
}
