package disputes_test

import (
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/book/disputefile"
	"holdfast/internal/book/disputes"
	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// samples is a folder next to the repository: see expected.csv there.
const samples = "../../../../shared/data/disputes"

// The files of five processors come to what expected.csv says, in any order, and twice is once.
func TestSamples(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(samples); err != nil {
		t.Skip("../shared/data/disputes is missing, so its files are not imported")
	}
	files := []string{"adyen-disputes.csv", "stripe-disputes.csv", "jpmorgan-dispute-details.csv", "paypal-settlement.csv", "braintree-disputes.json"}
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		withBook(t, w)
		done := map[string]disputes.File{}
		for _, name := range files {
			done[name] = importSample(t, w, name)
		}
		checkExpected(t, w, done)
		first, movements := stateOf(t, w), transactionsOf(t, w)
		for _, name := range files {
			for _, l := range importSample(t, w, name).Lines {
				if l.Outcome != disputes.LineRepeated && l.Outcome != disputes.LineIgnored {
					t.Errorf("%s line %d, the second time: %+v", name, l.Number, l)
				}
			}
		}
		if again := stateOf(t, w); again != first || transactionsOf(t, w) != movements {
			t.Errorf("after the second import:\n%s\nwas:\n%s", again, first)
		}
	})
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) { // the disputes first, in another order, and the book last
		w.At("2026-08-01")
		slices.Reverse(files)
		for _, name := range files {
			importSample(t, w, name)
		}
		slices.Reverse(files)
		withBook(t, w)
		w.Advance(60_000_000_000)
		for more := true; more; {
			var err error
			if more, err = w.App.Disputes.Retry(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		got := stateOf(t, w)
		if !strings.Contains(got, "adyen DP01 pre_arbitration lost matched T-001-P1 240000 120000") ||
			!strings.Contains(got, "jpmorgan 77749 chargeback open matched T-012-P1 330000 0") ||
			!strings.Contains(got, "adyen DP04 chargeback open queue  0 0") {
			t.Errorf("the book came last:\n%s", got)
		}
	})
}

func withBook(t *testing.T, w *apptest.World) {
	t.Helper()
	w.Fix("2026-03-19", map[money.Currency]string{"USD": "1.0827", "JPY": "162.50"})
	w.At("2026-08-01")
	book, err := os.Open(filepath.Join(samples, "book.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = book.Close() }()
	report, err := w.App.Imports.Payments(t.Context(), w.Actor, paymentfile.Read(book, nil), imports.ImportOptions{
		Mode: merchant.ModeProtectionOnly, Refused: func(r imports.Refusal) { t.Errorf("line %d of the book: %s", r.Line, r.Reason) },
	})
	if err != nil || report.Payments.Created == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
}

func importSample(t *testing.T, w *apptest.World, name string) disputes.File {
	t.Helper()
	in, err := os.Open(filepath.Join(samples, name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	file, err := w.App.Disputes.ImportFile(t.Context(), w.Actor, in, disputefile.Options{}, false)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return file
}

func casesOf(t *testing.T, w *apptest.World) map[string]disputes.Case {
	t.Helper()
	list, err := w.App.Disputes.List(t.Context(), w.Actor, disputes.Filter{}, store.Page{Number: 1, Size: 100, Offset: -1})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]disputes.Case{}
	for _, c := range list.Items {
		found[c.CaseID] = c
	}
	return found
}

func referenceOf(t *testing.T, w *apptest.World, c disputes.Case) string {
	if c.TransactionID == 0 {
		return ""
	}
	return w.ReadTransaction(c.TransactionID).ImportKey
}

// stateOf is what the files came to, in a text that does not depend on ids.
func stateOf(t *testing.T, w *apptest.World) string {
	var lines []string
	cases := casesOf(t, w)
	for _, id := range slices.Sorted(maps.Keys(cases)) {
		c := cases[id]
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s %s %d %d", c.Source, c.CaseID, c.Stage, c.Status, c.Matching, referenceOf(t, w, c), c.Debits, c.Credits))
	}
	return strings.Join(lines, "\n")
}

func transactionsOf(t *testing.T, w *apptest.World) int64 {
	t.Helper()
	list, err := w.App.Disputes.Transactions(t.Context(), w.Actor, noFilter, store.Page{Number: 1, Size: 1, Offset: -1, Count: true})
	if err != nil {
		t.Fatal(err)
	}
	return list.Total
}

func checkExpected(t *testing.T, w *apptest.World, done map[string]disputes.File) {
	t.Helper()
	in, err := os.Open(filepath.Join(samples, "expected.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	rows, err := csv.NewReader(in).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cases := casesOf(t, w)
	for _, row := range rows[1:] {
		file, caseID, line, kinds, reference, amount, day, outcome := row[0], row[1], row[2], row[3], row[4], row[5], row[7], row[8]
		number, _ := strconv.Atoi(line)
		seen := 0
		for _, l := range done[file].Lines {
			if l.Number == number && l.CaseID == caseID {
				seen++
				if string(l.Outcome) != outcome {
					t.Errorf("%s line %d: %s, want %s (%s)", file, number, l.Outcome, outcome, l.Message)
				}
			}
		}
		c, ok := cases[caseID]
		if seen == 0 || !ok {
			t.Errorf("%s line %d: no result for the case %s: %+v", file, number, caseID, done[file].Lines)
			continue
		}
		if got := referenceOf(t, w, c); got != reference {
			t.Errorf("%s line %d: the payment is %q, want %q", file, number, got, reference)
		}
		for kind := range strings.SplitSeq(kinds, ", ") {
			k := dispute.Kind(kind)
			if k.Moves() && !moved(c, k, amount, day) {
				t.Errorf("%s line %d: no %s of %s on %s: %+v %+v", file, number, kind, amount, day, c.Events, c.Postings)
			}
		}
	}
}

// moved reports whether a case has a movement: in the ledger if its payment is known. A credit without a day is of the day of the file.
func moved(c disputes.Case, k dispute.Kind, amount, day string) bool {
	return slices.ContainsFunc(c.Events, func(e disputes.Event) bool {
		if e.Kind != k || e.On().String() != day && !(k == dispute.Credit && e.On().String() == "2026-08-01") {
			return false
		}
		if c.TransactionID == 0 {
			return strconv.FormatInt(e.Amount, 10) == amount
		}
		return slices.ContainsFunc(c.InForce(), func(p disputes.Posting) bool {
			return p.EventID == e.ID && strconv.FormatInt(p.Base, 10) == amount
		})
	})
}

var noFilter = payments.TransactionFilter{}
