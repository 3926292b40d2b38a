package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
)

// aFailure is a confirmed failure of merchant 2 of aShop in 2024, with its snapshot. until is a later time on the site's clock.
func (s prompt) aFailure(until time.Time) {
	s.t.Helper()
	s.run("insolvency", "report", "2", "--kind", "liquidation", "--trigger", "2024-06-10 00:00:00", "--evidence", "Notice of the court", "--site", "demo")
	s.run("insolvency", "confirm", "1", "--site", "demo")
	s.run("clock", "set", "--site", "demo", "--to", until.Format(time.DateTime))
	s.jobs()
}

// TestAFailureAtTheCommandLine goes through an insolvency.
func TestAFailureAtTheCommandLine(t *testing.T) {
	t.Parallel()
	s := aShop(t)
	report := []string{"insolvency", "report", "2", "--kind", "liquidation", "--trigger", "2024-06-10 00:00:00", "--evidence", "Notice of the court"}
	book := filepath.Join(s.folder, "affected.xlsx")
	s.follow([]step{
		{[]string{"insolvency", "list"}, 0, "No insolvencies."},
		{[]string{"insolvency", "report", "99", "--kind", "bankruptcy", "--trigger", "2199-01-01 00:00:00", "--evidence", "Notice"}, 2, "<merchant>: Channel 99 not found."},
		{[]string{"insolvency", "report", "99", "--kind", "bankruptcy", "--trigger", "2199-01-01 00:00:00", "--evidence", "Notice"}, 2, "--kind: Must be one of: administration"},
		{[]string{"insolvency", "report", "99", "--kind", "bankruptcy", "--trigger", "2199-01-01 00:00:00", "--evidence", "Notice"}, 2, "--trigger: Must not be in the future."},
		{[]string{"insolvency", "report", "2", "--kind", "liquidation", "--trigger", "2024-06-10", "--evidence", "Notice"}, 2, `"2024-06-10" is not a valid date and time`},
		{report, 0, "Reported insolvency 1 of merchant 2. Nothing has changed yet.\nAn operator can confirm it with:\n\n  holdfast insolvency confirm 1 --site demo\n"},
		{report, 2, "Insolvency 1 of this channel is neither closed nor withdrawn."},
		{[]string{"insolvency", "withdraw", "1", "--reason", "Another company"}, 0, "Insolvency 1 of merchant 2: withdrawn."},
		{report, 0, "Reported insolvency 2"},
		{[]string{"insolvency", "affected", "2"}, 1, "Insolvency 2 has no snapshot yet."},
		{[]string{"insolvency", "affected", "2", "--xlsx", book}, 1, "Insolvency 2 has no snapshot yet."},
		{[]string{"insolvency", "confirm", "2", "--reason", "Seen in the register"}, 0, "Insolvency 2 of merchant 2: confirmed. New payments are no longer protected."},
		{[]string{"insolvency", "close", "2"}, 1, "Insolvency 2 is confirmed."},
		{[]string{"merchant", "show", "2"}, 0, "insolvent from      2024-06-10 00:00:00 GMT"},
		{[]string{"clock", "set", "--to", time.Now().UTC().Add(time.Hour).Format(time.DateTime)}, 0, ""},
	})
	if _, err := os.Stat(book); !os.IsNotExist(err) {
		t.Errorf("a workbook without a snapshot: %v", err)
	}
	s.jobs()
	s.follow([]step{
		{[]string{"insolvency", "list", "--state", "open", "--csv"}, 0, ",2,2,liquidation,open,2024-06-10 00:00:00,"},
		{[]string{"insolvency", "list", "--state", "closed,lost"}, 2, `--state: "lost" is not one of reported, confirmed`},
		{[]string{"insolvency", "list", "--merchants", "3"}, 0, "No insolvencies."},
		{[]string{"insolvency", "show", "2"}, 0, "insolvency          2, open\nmerchant            2, Direct\nkind                liquidation\n"},
		{[]string{"insolvency", "show", "2"}, 0, "Seen in the register"},
		{[]string{"insolvency", "show", "2", "--json"}, 0, `"state": "open"`},
		{[]string{"insolvency", "show", "99"}, 1, "Insolvency 99 not found."},
		{[]string{"insolvency", "affected", "2"}, 0, "DISPUTE BY"},
		{[]string{"insolvency", "affected", "2", "--json"}, 0, `"reason": "recorded_after_trigger"`},
		{[]string{"insolvency", "affected", "2", "--csv", "--sort", "-id", "--limit", "1"}, 0, ",600.00,"},
		{[]string{"insolvency", "affected", "2", "--xlsx", book, "--limit", "1"}, 2, "--xlsx: The workbook has all payments. Remove --sort and --limit."},
		{[]string{"insolvency", "affected", "2", "--xlsx", book}, 0, "Saved the affected payments of insolvency 2 to "},
		{[]string{"insolvency", "affected", "2", "--xlsx", filepath.Join(s.folder, "no", "where.xlsx")}, 1, "cannot write the workbook"},
		{[]string{"insolvency", "allow-processing", "2", "--reason", "The administrator pays"}, 0, "can carry out refunds and voids"},
		{[]string{"insolvency", "reinstate", "2"}, 1, "Insolvency 2 is open."},
	})
	s.sameAsWorkbook(book)
	sum := sha256.Sum256([]byte(s.run("insolvency", "snapshot", "2", "--site", "demo")))
	if shown := s.readsJSON("insolvency", "show", "2")["snapshot"].(map[string]any)["sha256"]; shown != hex.EncodeToString(sum[:]) {
		t.Errorf("the hash is %v, that of the text %x", shown, sum)
	}
	s.follow([]step{
		{[]string{"insolvency", "close-claims", "2"}, 0, "claims_closed. Later claims are not payable."},
		{[]string{"insolvency", "close", "2"}, 0, "closed. The merchant stays insolvent until it is reinstated."},
		{[]string{"insolvency", "reinstate", "2", "--reason", "New owners"}, 0, "The merchant is reinstated"},
		{[]string{"insolvency", "show", "2"}, 0, "New owners"},
		{[]string{"verify"}, 0, "No errors found."},
	})
}

// sameAsWorkbook compares the affected payments as CSV with a workbook.
func (s prompt) sameAsWorkbook(name string) {
	s.t.Helper()
	file, err := excelize.OpenFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	defer file.Close()
	rows, err := file.GetRows(file.GetSheetName(0))
	if err != nil {
		s.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(s.run("insolvency", "affected", "2", "--csv", "--site", "demo")), "\n")
	if len(rows) < 2 || len(rows) != len(lines) || lines[0] != "as_of,id,"+strings.Join(rows[0], ",") {
		s.t.Errorf("the workbook has %d rows, the CSV %d lines:\n%v\n%s", len(rows), len(lines), rows, lines[0])
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		s.t.Errorf("others can read the workbook: %v, %v", info.Mode(), err)
	}
}

// TestTwoPeopleConfirmAFailure: outside a sandbox, the operator who reported it cannot confirm it.
func TestTwoPeopleConfirmAFailure(t *testing.T) {
	t.Parallel()
	s := twoOperators(t)
	for _, step := range []struct {
		password string
		args     []string
		code     int
		says     string
	}{
		{"", []string{"merchant", "create", "Shop", "--currency", "EUR", "--mode", "draft"}, 0, "Created merchant"},
		{somePassword, []string{"insolvency", "report", "2", "--kind", "suspension", "--trigger", "2024-06-10 00:00:00", "--evidence", "Licence", "--as", "ada"}, 0,
			"Another operator can confirm it with:\n\n  holdfast insolvency confirm 1 --site real --as USERNAME\n"},
		{"", []string{"insolvency", "confirm", "1"}, 1, "Use --as to give your user name"},
		{somePassword, []string{"insolvency", "confirm", "1", "--as", "ada"}, 1, "Another operator must confirm it"},
		{somePassword, []string{"insolvency", "confirm", "1", "--as", "bob"}, 0, "confirmed. New payments are no longer protected."},
		{somePassword, []string{"insolvency", "allow-processing", "1", "--as", "ada"}, 4, "holdfast approve 1 --site real --as USERNAME"},
		{somePassword, []string{"approve", "1", "--as", "bob"}, 0, ": approved"},
		{"", []string{"insolvency", "show", "1"}, 0, "refunds             allowed"},
	} {
		said, code := s.as(step.password, append(step.args, "--site", "real")...)
		if code != step.code || !strings.Contains(said, step.says) {
			t.Errorf("%v: exit code %d, %q is not in\n%s", step.args, code, step.says, said)
		}
	}
}
