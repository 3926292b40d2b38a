package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// someDisputes imports a file with a dispute, and returns the arguments to import it again.
func (s prompt) someDisputes() string {
	s.t.Helper()
	file, mapping := filepath.Join(s.folder, "disputes.csv"), filepath.Join(s.folder, "map.yaml")
	for path, text := range map[string]string{
		file:    "case,amount,day\nC-1,300.00,2024-06-01\n",
		mapping: "source: acme\ncurrency: EUR\ncolumns: {case_id: case, amount: amount, day: day}\nalways: {stage: chargeback, status: open, money: debit}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	s.run("import", "disputes", file, "--map", mapping, "--site", "demo")
	return file + " --map " + mapping
}

// TestDisputesAtTheCommandLine imports a file, and works on a dispute.
func TestDisputesAtTheCommandLine(t *testing.T) {
	t.Parallel()
	s := aShop(t)
	write := func(name, text string) string {
		path := filepath.Join(s.folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("disputes.csv", "case,amount,currency,day,word\nC-1,100.00,EUR,2024-06-01,Chargeback\nC-2,many,EUR,2024-06-01,Chargeback\nC-3,1.00,EUR,2024-06-01,Fine\n")
	mapping := write("map.yaml", "source: acme\ncolumns: {case_id: case, amount: amount, currency: currency, day: day, word: word}\n"+
		"words:\n  Chargeback: {stage: chargeback, status: open, money: debit}\n  \"*\": {ignore: true}\n")
	paper := write("receipt.pdf", "%PDF-1.7 a receipt")
	s.follow([]step{
		{[]string{"dispute", "list"}, 0, "No disputes."},
		{[]string{"import", "disputes", file}, 2, "The format of the file is not known."},
		{[]string{"import", "disputes", file, "--map", mapping, "--dry-run"}, 3, "unmatched      1"},
		{[]string{"dispute", "list"}, 0, "No disputes."},
		{[]string{"import", "disputes", file, "--map", mapping}, 3, "refused        1"},
		{[]string{"import", "disputes", file, "--map", mapping}, 3, "repeated       1"},
		{[]string{"dispute", "list", "--matched", "unmatched"}, 0, "acme"},
		{[]string{"dispute", "list", "--stage", "late"}, 2, `--stage: "late" is not one of inquiry`},
		{[]string{"dispute", "candidates", "1"}, 0, "No candidates."},
		{[]string{"dispute", "match", "1", "99", "--reason", "Said so"}, 2, "<transaction>: Transaction 99 not found."},
		{[]string{"dispute", "match", "1", "1", "--reason", "Said so"}, 0, "Dispute 1: chargeback, open, matched with transaction 1"},
		{[]string{"dispute", "match", "1", "1", "--reason", "Again"}, 1, "Dispute 1 is matched with transaction 1. Undo that first."},
		{[]string{"dispute", "unmatch", "1", "--reason", "Another trip"}, 0, "Dispute 1: chargeback, open, in the queue"},
		{[]string{"dispute", "match", "1", "1", "--reason", "It was this one"}, 0, "matched with transaction 1"},
		{[]string{"dispute", "assign", "1", "ana"}, 0, "Dispute 1: chargeback, open"},
		{[]string{"dispute", "note", "1", "Called the hotel"}, 0, "Dispute 1: chargeback, open"},
		{[]string{"dispute", "represent", "1"}, 1, "Dispute 1 has no evidence. Attach a file first."},
		{[]string{"dispute", "attach", "1", paper}, 0, "Attached receipt.pdf to dispute 1 (file 1)"},
		{[]string{"dispute", "representment", "1"}, 0, "receipt.pdf"},
		{[]string{"dispute", "representment", "1", "--json"}, 0, `"other_disputes": []`},
		{[]string{"dispute", "representment", "1", "--json", "--output", paper}, 2, "can't be used together"},
		{[]string{"dispute", "representment", "1", "--output", filepath.Join(s.folder, "representment.pdf")}, 0, "Saved the representment of dispute 1"},
		{[]string{"dispute", "represent", "1"}, 0, "Dispute 1: chargeback, challenged"},
		{[]string{"dispute", "event", "1", "lost"}, 0, "Dispute 1: chargeback, lost"},
		{[]string{"dispute", "accept", "1"}, 1, "Dispute 1 is lost."},
		{[]string{"dispute", "challenge", "1"}, 1, "Dispute 1 is lost."},
		{[]string{"dispute", "show", "1"}, 0, "Called the hotel"},
		{[]string{"dispute", "show", "1", "--json"}, 0, `"case_id": "C-1"`},
	})
}
