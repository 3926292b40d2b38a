package paymentfile_test

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/iotest"

	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
)

// refusals yields rows with their lines as reasons, and ends with err if there is one.
func refusals(err error, lines ...int) iter.Seq2[paymentfile.Refused, error] {
	return func(yield func(paymentfile.Refused, error) bool) {
		for _, line := range lines {
			if !yield(paymentfile.Refused{Line: line, Reason: "because"}, nil) {
				return
			}
		}
		if err != nil {
			yield(paymentfile.Refused{}, err)
		}
	}
}

func written(t *testing.T, file string, lines ...int) string {
	t.Helper()
	var to strings.Builder
	if err := paymentfile.WriteRefused(&to, strings.NewReader(file), refusals(nil, lines...)); err != nil {
		t.Fatal(err)
	}
	return to.String()
}

// TestRefusedRowsComeBackAsTheyWere: the output of WriteRefused has the same cells when it is read, including formulas,
// line breaks, a byte order mark, and rows of a file that was corrected before.
func TestRefusedRowsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	nasty := []string{"=1+1", "'=1+1", "''=1+1", "- seven nights", "'s", "+", "two\nlines, \"quoted\""}
	file := "\ufeff" + short
	for i, text := range nasty {
		file += strings.Replace(strings.Replace(good, "B-1-P1", fmt.Sprintf("B-1-P%d", i), 1), "Seven nights", `"`+strings.ReplaceAll(text, `"`, `""`)+`"`, 1)
	}
	before := readAll(t, file)
	all := make([]int, len(before))
	for i, row := range before {
		all[i] = row.Line
	}
	once := written(t, file, all...)
	if !strings.HasPrefix(once, "refused_line,refused_reason,booking_reference,channel,") {
		t.Errorf("it begins with %.80q", once)
	}
	if strings.Contains(once, ",=1+1") || !strings.Contains(once, ",'=1+1,") {
		t.Errorf("a formula stands in\n%s", once)
	}
	twice := written(t, once, lines(readAll(t, once))...)
	if strings.Count(twice, "refused_line") != 1 {
		t.Errorf("the columns are there twice: %.120q", twice)
	}
	for _, text := range []string{once, twice} {
		for i, row := range readAll(t, text) {
			if row.Refused != nil || *row.Booking.Content != nasty[i] || row.Payment.ImportKey != fmt.Sprintf("B-1-P%d", i) {
				t.Errorf("%q became %+v", nasty[i], row)
			}
		}
	}
	// The merchant's own texts stay unchanged.
	own := readAll(t, short+strings.Replace(good, "Seven nights", "'=1+1", 1))
	if *own[0].Booking.Content != "'=1+1" {
		t.Errorf("it was read as %q", *own[0].Booking.Content)
	}
}

func lines(rows []imports.ImportedPayment) (list []int) {
	for _, row := range rows {
		list = append(list, row.Line)
	}
	return list
}

// TestRefusedRowsWithoutCells: broken rows have their first line; if the file was deleted, lines and reasons remain.
func TestRefusedRowsWithoutCells(t *testing.T) {
	t.Parallel()
	file := short + good + `B-2,"open` + "\n" + good + "B-3,short\n"
	names := strings.TrimSpace(short)
	for _, c := range []struct {
		what, file, want string
		lines            []int
	}{
		{"some", file, "refused_line,refused_reason," + names + "\n3,because,\"B-2,\"\"open\"\n5,because,B-3,short\n", []int{3, 5}},
		{"none", file, "refused_line,refused_reason," + names + "\n", nil},
		{"gone", "", "refused_line,refused_reason\n3,because\n", []int{3}},
		{"cut", short + good, "refused_line,refused_reason," + names + "\n9,because\n", []int{9}},
	} {
		if got := written(t, c.file, c.lines...); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got, c.want)
		}
	}
}

// TestRefusedRowsThatBreakOff: an error is returned, and not mistaken for the end.
func TestRefusedRowsThatBreakOff(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	for what, err := range map[string]error{
		"the rows": paymentfile.WriteRefused(io.Discard, strings.NewReader(short), refusals(gone, 2)),
		"the file": paymentfile.WriteRefused(io.Discard,
			io.MultiReader(strings.NewReader(short), iotest.ErrReader(gone)), refusals(nil, 2)),
		"the columns": paymentfile.WriteRefused(io.Discard, iotest.ErrReader(gone), refusals(nil, 2)),
	} {
		if !errors.Is(err, gone) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
