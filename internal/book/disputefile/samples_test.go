package disputefile_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/book/disputefile"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
)

// samples is the folder with files of five processors and the expected result of each line, if it exists next to the
// project.
const samples = "../../../../shared/data/disputes"

// table reads a file of samples: its rows by the names of its columns.
func table(t *testing.T, name string) (rows []map[string]string) {
	t.Helper()
	in, err := os.Open(filepath.Join(samples, name))
	if err != nil {
		t.Skip("../shared/data/disputes is missing, so its files are not read")
	}
	defer in.Close()
	all, err := csv.NewReader(in).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, cell := range cells {
			row[all[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

// TestSamples compares the lines of the samples with the expected results, and matches each with the book by R14.
func TestSamples(t *testing.T) {
	t.Parallel()
	expected := table(t, "expected.csv")
	book := payments(t)
	files := map[string]map[string]disputefile.Line{}
	cases := map[string]*sampleCase{}
	for _, row := range expected {
		name := row["file"]
		if files[name] == nil {
			text, err := os.ReadFile(filepath.Join(samples, name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = map[string]disputefile.Line{}
			_, list := lines(t, string(text), disputefile.Options{})
			for _, l := range list {
				files[name][fmt.Sprint(l.Number)] = l
			}
		}
		l, ok := files[name][row["line"]]
		delete(files[name], row["line"])
		if !ok || l.Problem != "" || len(l.Reports) == 0 || l.Reports[0].CaseID != row["case"] {
			t.Errorf("%v: %+v", row, l)
			continue
		}
		says(t, row, l)
		of := cases[name+row["case"]]
		if of == nil {
			of = &sampleCase{first: l.Reports[0]}
			cases[name+row["case"]] = of
		}
		outcome, reference := of.take(l, book)
		if row["outcome"] == "repeated" {
			reference = row["payment_reference"]
		}
		if outcome != row["outcome"] || reference != row["payment_reference"] {
			t.Errorf("%v: %s, %s", row, outcome, reference)
		}
	}
	for file, left := range files {
		if len(left) > 0 {
			t.Errorf("%s has more lines: %+v", file, left)
		}
	}
}

// says compares a line with its row. Lines that move no money, or are repetitions, only have a day.
func says(t *testing.T, row map[string]string, l disputefile.Line) {
	t.Helper()
	var kinds []string
	first := l.Reports[0]
	for _, r := range l.Reports {
		if r.Kind != dispute.NoMoney {
			if kinds = append(kinds, string(r.Kind)); len(kinds) == 1 {
				first = r
			}
		}
	}
	moves := !slices.Contains([]string{"opened", "inquiry", "status", "repeated"}, row["kind"])
	if first.Day == civil.NoDay || first.Day.String() != row["day"] {
		t.Errorf("%v: the day is %s", row, day(first.Day))
	}
	switch {
	case moves && strings.Join(kinds, ", ") != row["kind"], !moves && row["kind"] != "repeated" && len(kinds) > 0:
		t.Errorf("%v: %v", row, kinds)
	case row["case"] == "DP05": // reported in a third currency: its amount is what the payment has left
	case moves && (fmt.Sprint(first.Amount) != row["amount"] || string(first.Currency) != row["currency"]):
		t.Errorf("%v: %d %s", row, first.Amount, first.Currency)
	}
}

// payment is a payment of the book, with its references.
type payment struct {
	dispute.Candidate
	channel, reference, acquirer, processor string
}

func payments(t *testing.T) (list []payment) {
	t.Helper()
	for i, row := range table(t, "book.csv") {
		if row["transaction_types"] != "purchase" {
			continue
		}
		total, err := strconv.ParseInt(row["payment_total"], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		base, err := strconv.ParseInt(row["booking_total"], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, payment{
			Candidate: dispute.Candidate{
				TransactionID: int64(i), Currency: money.Currency(row["payment_currencies"]), Total: total, BaseCurrency: money.Currency(row["currencies"]), BaseTotal: base,
				AuthCode: row["auth_code"], LastFour: row["last_four_digits"], BIN: row["bin_number"], PaidOn: on(row["paid_at"][:10]),
			},
			channel: row["channel"], reference: row["payment_reference"], acquirer: row["acquirer_reference"], processor: row["processor_reference"],
		})
	}
	return list
}

// sampleCase is the state of a case after the lines so far.
type sampleCase struct {
	first  dispute.Report
	events []dispute.Event
}

// take adds a line to its case, and returns the outcome and the matched payment.
func (c *sampleCase) take(l disputefile.Line, book []payment) (outcome, reference string) {
	repeated := true
	for _, r := range l.Reports {
		for _, part := range r.Parts() {
			if _, _, known := dispute.Known(c.events, part); !known {
				repeated = false
				c.events = append(c.events, dispute.Event{Report: part, ID: int64(len(c.events) + 1)})
			}
		}
	}
	if repeated {
		return "repeated", ""
	}
	clues := c.first.Clues
	for _, is := range []func(p payment) bool{
		func(p payment) bool { return clues.AcquirerReference != "" && p.acquirer == clues.AcquirerReference },
		func(p payment) bool {
			return p.processor != "" && (p.processor == clues.ProcessorReference || p.processor == clues.ProcessorAlias)
		},
		func(p payment) bool { return clues.PaymentReference != "" && p.reference == clues.PaymentReference },
	} {
		if at := slices.IndexFunc(book, is); at >= 0 {
			return "matched", book[at].reference
		}
	}
	names := map[int64]string{}
	var candidates []dispute.Candidate
	for _, p := range book {
		names[p.TransactionID] = p.reference
		candidates = append(candidates, p.Candidate)
	}
	ranked, accepted := dispute.Choose(c.first, candidates)
	switch {
	case accepted:
		return "matched", names[ranked[0].TransactionID]
	case len(ranked) > 0:
		return "queue", ""
	}
	return "unmatched", ""
}
