package disputefile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/book/disputefile"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

// lines reads a whole file.
func lines(t *testing.T, text string, o disputefile.Options) (disputefile.Format, []disputefile.Line) {
	t.Helper()
	format, all, err := disputefile.Read(strings.NewReader(text), o)
	if err != nil {
		t.Fatalf("%v %v", err, params(err))
	}
	var list []disputefile.Line
	for line, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, line)
	}
	return format, list
}

func params(err error) map[string]string {
	if e, ok := errors.AsType[*errs.Error](err); ok {
		return e.Params
	}
	return nil
}

// describe formats each line, one text per report: 2 DP01 chargeback/won credit1 2026-06-15 1200.00 EUR; or 3 !
// problem; or 4 - ignored.
func describe(list []disputefile.Line) (texts []string) {
	for _, l := range list {
		switch {
		case l.Problem != "":
			texts = append(texts, fmt.Sprintf("%d ! %s", l.Number, l.Problem))
		case len(l.Reports) == 0:
			texts = append(texts, fmt.Sprintf("%d - %s", l.Number, l.Ignored))
		}
		for _, r := range l.Reports {
			texts = append(texts, fmt.Sprintf("%d %s", l.Number, report(r)))
		}
	}
	return texts
}

func report(r dispute.Report) string {
	kind := string(r.Kind)
	if r.Kind == dispute.NoMoney {
		kind = "none"
	} else if r.Number > 0 {
		kind += fmt.Sprint(r.Number)
	}
	amount := "0"
	if r.Currency != "" {
		amount = money.FormatPlain(r.Amount, r.Currency)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s/%s %s %s %s %s", r.CaseID, r.Stage, r.Status, kind, day(r.Day), amount, r.Currency))
}

func day(d civil.Day) string {
	if d == civil.NoDay {
		return "undated"
	}
	return d.String()
}

// wantLines compares a file, line by line.
func wantLines(t *testing.T, text, format string, want ...string) []disputefile.Line {
	t.Helper()
	found, list := lines(t, text, disputefile.Options{})
	if found.Name != format {
		t.Errorf("read as %s, not %s", found.Name, format)
	}
	compare(t, describe(list), want)
	return list
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("says\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// clues compares a report's references to the payment, and its notes.
func clues(t *testing.T, r dispute.Report, want dispute.Clues, notes ...string) {
	t.Helper()
	if r.Clues != want {
		t.Errorf("%s: clues %+v\nnot %+v", r.CaseID, r.Clues, want)
	}
	var got []string
	for _, n := range r.Notes {
		got = append(got, n.Field)
	}
	if !slices.Equal(got, notes) {
		t.Errorf("%s: notes about %v, not %v", r.CaseID, got, notes)
	}
}

var disputeOptions = disputefile.Options{Format: "braintree"}

func on(text string) civil.Day {
	d, err := civil.ParseDay(text)
	if err != nil {
		panic(err)
	}
	return d
}
