package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the reports in testdata anew")

// aBook is three payments of 2024 and their adjustments. The columns are those of `holdfast import payments --help`.
const aBook = `booking_reference,channel,countries,currencies,date_start,date,total,firstname,surname,email,content,payment_reference,linked_reference,transaction_types,paid_at,payment_currencies,payment_total,booking_total,card_types,acquirer_reference,other_protection
B-1,Direct,PT,EUR,2024-09-07,2024-09-14,120000,Ana,Sousa,ana@example.org,A week,P-1,,purchase,2024-06-03 09:00:00,EUR,60000,60000,visa,74537604155000000012345,insurance
B-1,Direct,PT,EUR,2024-09-07,2024-09-14,120000,Ana,Sousa,ana@example.org,A week,R-1,P-1,refund,2024-07-01 09:00:00,EUR,10000,10000,visa,74537604183000000012346,insurance
B-2,Groups,PT,GBP,2024-06-20,2024-06-27,250000,Max,Weber,max@example.org,A week,P-2,,purchase,2024-05-01 09:00:00,GBP,250000,250000,visa,,
`

// someRates have the format of the ECB history.
const someRates = "Date,GBP,\n2024-06-28,0.84638,\n2024-05-31,0.85365,\n2024-04-30,0.85595,\n"

// prompt runs commands on a separate database, like a shell.
type prompt struct {
	t      *testing.T
	folder string
}

// run returns the output of a command that must succeed.
func (s prompt) run(args ...string) string {
	s.t.Helper()
	out, errors, code := s.try(args...)
	if code != 0 {
		s.t.Fatalf("%s: exit code %d, %s", args[0], code, errors)
	}
	return out
}

func (s prompt) try(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		s.t.Fatal(err)
	}
	defer stdin.Close()
	var out, errors bytes.Buffer
	args = append(args, "--database", "sqlite:"+filepath.Join(s.folder, "holdfast.db"))
	code = run(s.t.Context(), args, stdin, &out, &errors)
	return out.String(), errors.String(), code
}

func (s prompt) file(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

var (
	knownAt     = regexp.MustCompile(`known at [0-9: -]+ GMT`)
	knownColumn = regexp.MustCompile(`(?m)^([0-9-]+),[0-9: -]+,`)
)

// TestReportsOfExposure: each report as a table, as CSV, and as the JSON of the API.
func TestReportsOfExposure(t *testing.T) {
	t.Parallel()
	s := prompt{t, t.TempDir()}
	s.run("site", "create", "demo", "--name", "Demo", "--currency", "GBP", "--sandbox")
	if out := s.run("run-off", "--site", "demo"); !strings.Contains(out, "No exposure.") {
		t.Errorf("of an empty book: %s", out)
	}
	s.run("rates", "import", s.file("rates.csv", someRates))
	s.run("import", "payments", s.file("book.csv", aBook), "--site", "demo", "--mode", "protection-only", "--cover-start", "effective")
	for name, args := range map[string][]string{
		"run-off":  {"run-off", "--as-of", "2024-06-26"},
		"ageing":   {"ageing", "--as-of", "2024-06-26"},
		"movement": {"movement", "--from", "2024-06-01", "--to", "2024-07-01"},
		"moved":    {"movement", "--from", "2024-06-01", "--to", "2024-07-01", "--by", "merchant", "--sort", "-e1_new_report"},
		"exposure": {"exposure", "--as-of", "2024-06-26", "--by", "month"},
		"unvalued": {"exposure", "--as-of", "2024-06-26", "--currency", "CHF", "--by", "merchant,month"},
		"unknown":  {"run-off", "--as-of", "2024-06-26", "--currency", "CHF", "--sort", "-days", "--limit", "3"},
		"model":    {"exposure-model", "--as-of", "2024-06-26", "--currency", "CHF"},
		"details":  {"exposure", "--as-of", "2024-06-26", "--details", "--valuation", "locked"},
		"turnover": {"exposure-model", "--as-of", "2024-06-26", "--details", "--bands", "30:400000,90:600000"},
		"behind":   {"movement", "--from", "2024-06-01", "--to", "2024-07-01", "--details"},
		"what-if":  {"what-if", "--as-of", "2024-06-26", "--sort", "-loss"},
		"tail":     {"run-off", "--as-of", "2024-10-01", "--valuation", "locked", "--merchants", "2"},
		"unpriced": {"ageing", "--as-of", "2024-06-26", "--currency", "CHF"},
	} {
		args = append([]string{args[0], "--site", "demo"}, args[1:]...)
		checkGolden(t, name+".txt", knownAt.ReplaceAllString(s.run(args...), "known at TIME GMT"))
		checkGolden(t, name+".csv", knownColumn.ReplaceAllString(s.run(append(args, "--csv")...), "$1,TIME,"))
		var shape map[string]any
		if at := slices.Index(args, "--sort"); at >= 0 { // JSON has all rows, in their order
			args = args[:at]
		}
		if err := json.Unmarshal([]byte(s.run(append(args, "--json")...)), &shape); err != nil || shape["final"] != false {
			t.Errorf("%s: final %v, %v", name, shape["final"], err)
		}
	}
	for want, args := range map[string][]string{
		"The movement must not start after its end":      {"movement", "--site", "demo", "--from", "2024-06-02", "--to", "2024-06-01"},
		"is not an ISO 4217 currency":                    {"ageing", "--site", "demo", "--currency", "XXX"},
		"--on: This requires --details":                  {"run-off", "--site", "demo", "--on", "2030-01-01"},
		"--bands: This requires --details":               {"ageing", "--site", "demo", "--bands", "1-7"},
		"Unknown band":                                   {"ageing", "--site", "demo", "--bands", "soon", "--details"},
		"Details are sorted by booking":                  {"exposure", "--site", "demo", "--details", "--limit", "3"},
		"JSON always has all rows":                       {"run-off", "--site", "demo", "--json", "--limit", "3"},
		"Channel 99 not found":                           {"movement", "--site", "demo", "--from", "2024-06-02", "--merchants", "99"},
		"Unknown card scheme":                            {"exposure", "--site", "demo", "--schemes", "viza"},
		"Supplier 9 not found":                           {"ageing", "--site", "demo", "--suppliers", "9"},
		"Must be a country code":                         {"run-off", "--site", "demo", "--countries", "xx"},
		"Locked values are only available in the policy": {"run-off", "--site", "demo", "--currency", "EUR", "--valuation", "locked"},
	} {
		if _, said, code := s.try(args...); code != exitUsage || !strings.Contains(said, want) {
			t.Errorf("%v: exit code %d, %s", args, code, said)
		}
	}
}

// checkGolden compares with a file of testdata.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "reports", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%s\ninstead of\n%s", name, got, want)
	}
}
