package cli

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// noCSV are the commands that print JSON of one thing: their result, an e-mail with its text, or a paper. They neither list nor
// report.
var noCSV = []string{"backup", "restore", "clock set", "dispute representment", "mail show"}

// csvArgs are the arguments of commands whose examples print no CSV in aShop.
var csvArgs = map[string]string{
	"keys list": "keys list", "proposal show": "proposal show 1", "clock show": "clock show", "verify": "verify", "config": "config",
	"transaction show": "transaction show 1", "booking show": "booking show 1", "certificate": "certificate 1", "explain transaction": "explain 1",
	"explain booking": "explain booking 1", "explain statement": "explain statement 1 closing", "run-off": "run-off --as-of 2024-06-10",
	"collateral list": "collateral list", "booking list": "booking list", "premium list": "premium list",
	"statements list": "statements list", "limits list": "limits list", "what-if": "what-if --as-of 2024-06-10",
	"merchant list": "merchant list", "merchant show": "merchant show 1", "transaction list": "transaction list", "movement": "movement --from 2024-05-31 --to 2024-06-10",
	"claim list": "claim list", "payout list": "payout list", "recovery list": "recovery list",
	"dispute show": "dispute show 1", "dispute candidates": "dispute candidates 1", "insolvency list": "insolvency list", "insolvency affected": "insolvency affected 1",
	"exposure": "exposure --as-of 2024-06-10", "ageing": "ageing --as-of 2024-06-10",
	"exposure-model": "exposure-model --as-of 2024-06-10", "track-record": "track-record 1 --as-of 2024-06-10",
}

// inMajorUnits are amounts of the book that must be in the CSV of a command.
var inMajorUnits = map[string]string{
	"booking list": "1200.00", "booking show": "600.00", "certificate": "0.00", "transaction list": "600.00", "transaction show": "600.00",
	"statements list": "3.63", "statements show": "4.35", "bordereau premium": "4.35", "premium list": "4.35", "exposure": "600.00",
	"run-off": "600.00", "ageing": "2500.00", "movement": "600.00", "what-if": "2500.00", "exposure-model": "600.00",
	"collateral list": "5000.00", "limits list": "50000.00", "insolvency affected": "600.00", "claim list": "400.00", "claim show": "400.00", "payout list": "400.00",
	"payout show": "400.00", "recovery list": "50.00", "insolvency figures": "0.00",
}

// TestEveryCSVHasItsMoment: the first column of each CSV is as_of, with a day or an instant in every row, and amounts are in
// major units.
func TestEveryCSVHasItsMoment(t *testing.T) {
	t.Parallel()
	s := aShop(t)
	s.run("limits", "set", "site", "50000 GBP", "--site", "demo")
	s.run("collateral", "add", "guarantee", "5000 EUR", "--merchant", "1", "--reference", "G-1", "--site", "demo")
	s.run("webhook", "create", "https://shop.example/webhooks", "--types", "booking.*", "--site", "demo")
	csvArgs := maps.Clone(csvArgs)
	csvArgs["import disputes"] = "import disputes " + s.someDisputes()
	now := time.Now().UTC()
	s.run("clock", "set", "--site", "demo", "--to", time.Date(now.Year(), now.Month()+1, 2, 0, 0, 0, 0, time.UTC).Format(time.DateTime))
	s.change(`UPDATE clock_moves SET moved_at = moved_at - 20000000`) // so that no statement is due. It is a finding of verify.
	s.run("statements", "issue", "--site", "demo")
	s.aFailure(time.Date(now.Year(), now.Month()+1, 3, 0, 0, 0, 0, time.UTC)) // when the statement has its premium
	s.aClaim(time.Date(now.Year(), now.Month()+1, 4, 0, 0, 0, 0, time.UTC), "2")
	s.run("claim", "assess", "1", "--site", "demo")
	s.run("claim", "approve", "1", "--site", "demo")
	s.run("recovery", "add", "2", "bond", "50.00 GBP", "--site", "demo")
	s.jobs()
	issued, err := csv.NewReader(strings.NewReader(s.run("statements", "list", "--csv", "--site", "demo"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	month := issued[1][slices.Index(issued[0], "period")]
	var line commandLine
	parser, err := newParser(&line, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	moment := regexp.MustCompile(`^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?$`)
	for _, leaf := range parser.Model.Leaves(true) {
		name := leaf.Path()
		if hasFlag(leaf.Flags, "json") != hasFlag(leaf.Flags, "csv") && !slices.Contains(noCSV, name) {
			t.Errorf("%s prints JSON, and not CSV", name)
		}
		if !hasFlag(leaf.Flags, "csv") {
			continue
		}
		args := cmp.Or(csvArgs[name], examples[name])
		if name == "bordereau premium" {
			args = name + " --period " + month
		}
		words := append(without(wordsOf(args), "--site", "--csv", "--sort"), "--csv")
		forms := [][]string{words}
		if hasFlag(leaf.Flags, "details") {
			forms = append(forms, append(slices.Clone(words), "--details"))
		}
		for _, words := range forms {
			if hasFlag(leaf.Flags, "site") {
				words = append(words, "--site", "demo")
			}
			out, said, code := s.try(words...)
			records, err := csv.NewReader(strings.NewReader(out)).ReadAll()
			if code != 0 && name != "verify" || err != nil || len(records) < 1 || records[0][0] != "as_of" {
				t.Errorf("%v: exit code %d, %v, %s%s", words, code, err, out, said)
				continue
			}
			for _, record := range records[1:] {
				if !moment.MatchString(record[0]) {
					t.Errorf("%v: a row is as of %q", words, record[0])
				}
			}
			if want := inMajorUnits[name]; want != "" && (len(records) < 2 || !hasCell(records, want) || hasCell(records, strings.Replace(want, ".", "", 1))) {
				t.Errorf("%v: %s does not stand in\n%s", words, want, out)
			}
		}
	}
}

func hasCell(records [][]string, text string) bool {
	return slices.ContainsFunc(records, func(record []string) bool { return slices.Contains(record, text) })
}
