package cli

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// freeText are the flags that accept any text, or a name that is looked up.
var freeText = []string{
	"name", "email", "display-name", "reason", "note", "reference", "url", "category", "external-id", "receipt-label",
	"primary-mail", "descriptor", "beneficiary-id", "chargeback-mail", "quote-id", "surname", "action", "output", "refused",
	"acquirer-reference", "processor-reference", "corrects", "merchants", "bookings", "transactions", "suppliers", "processor", "evidence", "xlsx", "insolvencies", "assigned",
}

// TestAWrongValueOfAnyFlagEndsWith2: every flag of every command gets an invalid value.
func TestAWrongValueOfAnyFlagEndsWith2(t *testing.T) {
	s := aShop(t)
	t.Chdir(s.folder) // the examples name files
	s.file("eurofxref-hist.csv", someRates)
	s.file("adyen-disputes.csv", "x")
	s.file("policy.json", `{"from": "2099-01-01"}`)
	s.run("clock", "set", "--site", "demo", "--to", "2027-07-01 00:00:00")
	s.run("supplier", "create", "Hotel", "--site", "demo")
	s.run("keys", "make", "--keys-file", "keys")
	s.run("merchant", "create", "Third", "--currency", "EUR", "--mode", "draft", "--site", "demo")
	if said, code := s.as(somePassword, "user", "create", "ada", "--email", "ada@acme.example", "--role", "member_admin", "--site", "demo"); code != 0 {
		t.Fatal(said)
	}
	s.run("report-mail", "order", "/exposure?by=channel", "--owner", "ada", "--weekly", "monday", "--site", "demo")
	if said := s.run("report-mail", "change", "1", "--monthly", "31", "--site", "demo"); !strings.Contains(said, "Updated report 1: every month on day 31 or the last day, next on 2027-07-31") {
		t.Error(said)
	}
	stdin, err := os.Open(s.file("stdin", somePassword+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var line commandLine
	parser, err := newParser(&line, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	tried, sites := 0, 0
	for _, leaf := range parser.Model.Leaves(true) {
		if settingsOf[leaf.Path()] { // they would serve, and TestUsage has their flags
			continue
		}
		for _, flag := range leaf.Flags {
			if flag.IsBool() || slices.Contains(freeText, flag.Name) || leaf.Path() == "site set" && flag.Name != "site" {
				continue
			}
			if flag.Name == "site" { // the same code in all commands
				if sites++; sites > 2 {
					continue
				}
			}
			tried++
			args := without(wordsOf(examples[leaf.Path()]), "--site", "--as", "--"+flag.Name)
			args = append(args, "--"+flag.Name+"=§5", "--database", "sqlite:holdfast.db")
			if flag.Name != "site" && hasFlag(leaf.Flags, "site") && leaf.Path() != "user create" {
				args = append(args, "--site", "demo")
			}
			var out, said bytes.Buffer
			if code := run(t.Context(), args, stdin, &out, &said); code != exitUsage || !strings.Contains(said.String(), "--"+flag.Name) {
				t.Errorf("holdfast %s: exit code %d, %s%s", strings.Join(args, " "), code, out.String(), said.String())
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d flags were tried", tried)
	}
}

// without drops some flags and their values.
func without(args []string, flags ...string) (list []string) {
	for i := 0; i < len(args); i++ {
		if slices.Contains(flags, args[i]) {
			i++
			continue
		}
		list = append(list, args[i])
	}
	return list
}

func hasFlag(flags []*kong.Flag, name string) bool {
	return slices.ContainsFunc(flags, func(f *kong.Flag) bool { return f.Name == name })
}
