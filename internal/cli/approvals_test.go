package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

// as runs a command with a password on standard input.
func (s prompt) as(password string, args ...string) (said string, code int) {
	s.t.Helper()
	return s.from(s.file("stdin", password+"\n"), args...)
}

// from runs a command with a file as standard input.
func (s prompt) from(path string, args ...string) (said string, code int) {
	s.t.Helper()
	stdin, err := os.Open(path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer stdin.Close()
	var out bytes.Buffer
	code = run(s.t.Context(), append(args, "--database", "sqlite:"+filepath.Join(s.folder, "holdfast.db")), stdin, &out, &out)
	return out.String(), code
}

const somePassword = "correct horse battery"

// twoOperators is the site real, which is not a sandbox, with the operators ada and bob.
func twoOperators(t *testing.T) prompt {
	t.Helper()
	s := prompt{t, t.TempDir()}
	s.run("site", "create", "real", "--name", "Real", "--currency", "GBP")
	for _, name := range []string{"ada", "bob"} {
		if said, code := s.as(somePassword, "user", "create", name, "--email", name+"@example.com", "--role", "operator"); code != 0 {
			t.Fatal(said)
		}
	}
	return s
}

// TestTwoPeopleAtTheCommandLine: outside a sandbox one person proposes and another approves, and both authenticate.
func TestTwoPeopleAtTheCommandLine(t *testing.T) {
	t.Parallel()
	s := twoOperators(t)
	if said, code := s.as(somePassword, "user", "create", "eve", "--email", "eve@example.com", "--role", "member_admin", "--site", "real"); code != 0 {
		t.Fatal(said)
	}
	for _, step := range []struct {
		password string
		args     []string
		code     int
		says     string
	}{
		{somePassword, []string{"merchant", "create", "Shop", "--currency", "EUR", "--mode", "draft", "--as", "ada"}, 0, "merchant 2"},
		// The attack: someone proposed as the program, and approved it as a person.
		{"", []string{"merchant", "mode", "2", "protection-only", "--reason", "Signed."}, 1, "Use --as to give your user name"},
		{somePassword, []string{"merchant", "mode", "2", "protection-only", "--reason", "Signed.", "--as", "ada"}, 4, "holdfast approve 1 --site real --as USERNAME"},
		{"", []string{"proposal", "list"}, 0, "Signed."},
		{"", []string{"proposal", "list"}, 0, "account_mode: draft → protection-only"},
		{"", []string{"proposal", "show", "1"}, 0, "account_mode    draft   protection-only"},
		{"", []string{"proposal", "show", "1", "--json"}, 0, `"before": "draft"`},
		{"", []string{"proposal", "show", "1", "--csv"}, 0, ",1,open_cover,open,change,account_mode,,draft,protection-only,"},
		{"", []string{"proposal", "show", "99"}, 1, "Proposal 99 not found."},
		{"", []string{"approve", "1"}, 1, "Use --as to give your user name"},
		{"wrong password", []string{"approve", "1", "--as", "bob"}, 1, "Incorrect user name or password"},
		{somePassword, []string{"approve", "1", "--as", "eve"}, 2, "--as: eve is not an operator"},
		{somePassword, []string{"approve", "1", "--as", "ada"}, 1, "Another operator"},
		{somePassword, []string{"approve", "1", "--as", "bob"}, 0, ": approved"},
		{"", []string{"proposal", "show", "1"}, 0, "Changed:"},
		{"", []string{"merchant", "list"}, 0, "protection-only"},
		{somePassword, []string{"rates", "quote", "USD", "1.08", "--day", "2024-01-02", "--quote-id", "desk-1", "--as", "ada"}, 4, "approve 2"},
		{"", []string{"proposal", "show", "2"}, 0, "rate              1.08"},
		{"", []string{"proposal", "show", "2"}, 0, "allocations waiting"},
		{somePassword, []string{"reject", "2", "--as", "bob", "--reason", "Too old."}, 0, ": rejected"},
		{somePassword, []string{"merchant", "create", "Two", "--currency", "EUR", "--mode", "protection-only", "--as", "ada"}, 4, "approve 3"},
		{somePassword, []string{"withdraw", "3", "--as", "ada"}, 0, ": withdrawn"},
		{somePassword, []string{"policy", "set", s.file("policy.json", `{"from": "2199-01-01", "late_log_days": 9}`), "--as", "ada"}, 4, "approve 4"},
		{"", []string{"proposal", "show", "4"}, 0, "late_log_days  3           9"},
		{somePassword, []string{"limits", "set", "site", "50.00 GBP", "--as", "ada"}, 4, "approve 5"},
		{"", []string{"proposal", "show", "5"}, 0, "amount            GBP 50.00"},
		{somePassword, []string{"import", "payments", s.file("book.csv", aBook), "--cover-start", "effective", "--mode", "protection-only", "--as", "ada"}, 4, "approve 6"},
		{"", []string{"proposal", "show", "6"}, 0, "Dry run of the file: 3 rows, 0 rejected."},
		{"", []string{"proposal", "show", "6"}, 0, "Direct    yes     protection-only  EUR              2    600.00  100.00  2024-06-03  2024-07-01"},
		{"", []string{"proposal", "list"}, 0, "2 bookings and 3 payments, Direct EUR 500.00, Groups GBP 2,500.00"},
		{somePassword, []string{"approve", "6", "--as", "bob"}, 0, "takeover"},
		{"", []string{"import", "payments", s.file("book.csv", aBook), "--cover-start", "effective", "--mode", "protection-only"}, 0, "created"},
		{somePassword, []string{"import", "payments", s.file("more.csv", aBook+"\n"), "--cover-start", "effective", "--as", "ada"}, 4, "approve 7"},
		{"", []string{"proposal", "list", "--all", "--json"}, 0, `"decision_reason": "Too old."`},
		{"", []string{"clock", "set", "--to", "2199-01-01 00:00:00"}, 1, "not a sandbox"},
		{"", []string{"merchant", "set", "2", "--locked"}, 0, "Updated merchant"},
		{somePassword, []string{"merchant", "set", "2", "--no-locked", "--as", "ada"}, 4, "approve 8"},
		// The limit was proposed in pounds, and is still in pounds under a policy in euros.
		{somePassword, []string{"policy", "set", s.file("euros.json", `{"from": "1990-01-01", "currency": "EUR"}`), "--as", "ada"}, 4, "currency  GBP         EUR"},
		{somePassword, []string{"approve", "9", "--as", "bob"}, 0, ": approved"},
		{"", []string{"proposal", "show", "5"}, 0, "It can no longer be applied: "},
		{"", []string{"proposal", "list"}, 0, "can no longer be applied"},
		{somePassword, []string{"approve", "5", "--as", "bob"}, 1, "is in EUR, but this amount is in GBP"},
		{"", []string{"audit", "list"}, 0, "proposal.approve"},
		{"", []string{"verify"}, 0, "No errors found."},
	} {
		said, code := s.as(step.password, append(step.args, "--site", "real")...)
		if code != step.code || !strings.Contains(said, step.says) {
			t.Errorf("%v: exit code %d, %q is not in\n%s", step.args, code, step.says, said)
		}
	}
}

// secondFactor sets up a second factor, like a person with an authenticator app, and returns the recovery codes.
func (s prompt) secondFactor(name string) (recovery []string) {
	s.t.Helper()
	stdin, typed, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	defer stdin.Close()
	defer typed.Close()
	shown, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		args := []string{"user", "two-factor", name, "--database", "sqlite:" + filepath.Join(s.folder, "holdfast.db")}
		ended <- run(s.t.Context(), args, stdin, out, out)
		_ = out.Close()
	}()
	for lines := bufio.NewScanner(shown); lines.Scan(); {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 2 && words[0] == "secret":
			code, err := totp.GenerateCode(words[1], time.Now())
			if err != nil {
				s.t.Fatal(err)
			}
			fmt.Fprintln(typed, code)
		case len(words) == 1:
			recovery = append(recovery, words[0])
		}
	}
	if code := <-ended; code != 0 || len(recovery) == 0 {
		s.t.Fatalf("exit code %d, %d recovery codes", code, len(recovery))
	}
	return recovery
}

// TestASecondFactorOnStandardInput: password and code are the first two lines; the input of the command itself follows.
func TestASecondFactorOnStandardInput(t *testing.T) {
	t.Parallel()
	s := twoOperators(t)
	recovery := s.secondFactor("ada")
	const another = "another horse battery"
	asAda := func(more ...string) string {
		lines := append([]string{somePassword, recovery[0]}, more...)
		recovery = recovery[1:]
		return strings.Join(lines, "\n")
	}
	for _, step := range []struct {
		stdin string
		args  []string
		code  int
		says  string
	}{
		{asAda(), []string{"merchant", "create", "Shop", "--currency", "EUR", "--mode", "draft", "--as", "ada"}, 0, "merchant 2"},
		{asAda(), []string{"merchant", "mode", "2", "protection-only", "--reason", "Signed.", "--as", "ada"}, 4, "holdfast approve 1"},
		{somePassword, []string{"withdraw", "1", "--as", "ada"}, 1, "ada (--as) needs a two-factor code. Without a terminal, pass it as a line"},
		{somePassword + "\n", []string{"withdraw", "1", "--as", "ada"}, 1, "ada (--as) needs a two-factor code."},
		{somePassword + "\n000000", []string{"withdraw", "1", "--as", "ada"}, 1, "The two-factor code is wrong."},
		{asAda() + "\r", []string{"withdraw", "1", "--as", "ada"}, 0, ": withdrawn"},
		{asAda(`{"from": "2199-01-01", "late_log_days": 9}`), []string{"policy", "set", "-", "--as", "ada"}, 4, "approve 2"},
		{asAda(aBook), []string{"import", "payments", "-", "--cover-start", "effective", "--mode", "protection-only", "--as", "ada"}, 4, "approve 3"},
		{somePassword, []string{"approve", "3", "--as", "bob"}, 0, ": approved"},
		{"", []string{"import", "payments", s.file("book.csv", aBook), "--cover-start", "effective", "--mode", "protection-only"}, 0, "created"},
		{asAda(another), []string{"user", "create", "eve", "--email", "eve@example.com", "--role", "member_admin", "--as", "ada"}, 0, "Created user eve"},
		{another, []string{"proposal", "list", "--as", "eve"}, 2, "--as: eve is not an operator"},
		{asAda(), []string{"user", "create", "joe", "--email", "joe@example.com", "--role", "finance", "--as", "ada"}, 1, "standard input has no line for the password"},
	} {
		stdin := s.file("lines", step.stdin)
		if said, code := s.from(stdin, append(step.args, "--site", "real")...); code != step.code || !strings.Contains(said, step.says) {
			t.Errorf("%q, %v: exit code %d, %q is not in\n%s", step.stdin, step.args, code, step.says, said)
		}
	}
	said, code := s.from(s.file("lines", ""), "proposal", "list", "--site", "real", "--as", "ada")
	if code != 1 || !strings.Contains(said, "The first line must be the password of ada (--as)") {
		t.Errorf("without a password: exit code %d\n%s", code, said)
	}
}

func TestTheAuditAtTheCommandLine(t *testing.T) {
	t.Parallel()
	s := prompt{t, t.TempDir()}
	s.run("site", "create", "demo", "--name", "Demo", "--currency", "GBP", "--sandbox")
	s.run("keys", "rotate")
	s.run("clock", "set", "--site", "demo", "--to", "2199-01-01 00:00:00")
	for want, args := range map[string][]string{
		"2199-01-01 00:00":          {"clock", "show", "--site", "demo"},
		",demo,2199-01-01 00:00":    {"clock", "show", "--site", "demo", "--csv"},
		`"sandbox": true`:           {"clock", "show", "--site", "demo", "--json"},
		"clock.move":                {"audit", "list", "--site", "demo", "--action", "clock.move"},
		`"previous_hash": ""`:       {"audit", "list", "--site", "demo", "--json"},
		"keys.rotate":               {"audit", "list", "--deployment"},
		`"chain":"audit","count":3`: {"verify", "--site", "demo", "--head"},
		`"chain":"audit","count":2`: {"verify", "--head"}, // of both kinds of keys
		`"check": "audit"`:          {"verify", "--json"},
		"No errors found":           {"verify", "--site", "demo"},
	} {
		if out := s.run(args...); !strings.Contains(out, want) {
			t.Errorf("%v: %q is not in\n%s", args, want, out)
		}
	}
}
