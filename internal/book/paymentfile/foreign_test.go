package paymentfile_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
	"holdfast/internal/errs"
)

// TestFilesOfOtherPrograms: byte order marks, quoted headers, carriage returns alone, and spaces before quotation marks.
func TestFilesOfOtherPrograms(t *testing.T) {
	t.Parallel()
	second := strings.Replace(good, "B-1-P1", "B-1-P2", 1)
	header := strings.TrimSpace(short)
	quoted := `"` + strings.ReplaceAll(header, ",", `","`) + "\"\n"
	plain := short + good + second
	for name, text := range map[string]string{
		"CRLF":                       strings.ReplaceAll(plain, "\n", "\r\n"),
		"CR":                         strings.ReplaceAll(plain, "\n", "\r"),
		"CR, no end":                 strings.TrimSpace(strings.ReplaceAll(plain, "\n", "\r")),
		"a mark":                     "\ufeff" + plain,
		"a mark and a quoted header": "\ufeff" + quoted + good + second,
		"a mark and CR":              "\ufeff" + strings.ReplaceAll(plain, "\n", "\r"),
		"spaces before quoted cells": strings.ReplaceAll(quoted, ",", ", ") + good + second,
		"an empty line at the end":   plain + "\n\n",
		"a stray CR at a line's end": short + strings.TrimSpace(good) + "\r\r\n" + second,
	} {
		rows := readAll(t, text)
		if len(rows) != 2 || rows[0].Refused != nil || rows[1].Refused != nil || rows[1].Payment.ImportKey != "B-1-P2" || rows[1].Line != 3 {
			t.Errorf("%s: %d rows, %+v", name, len(rows), rows)
		}
		if scan, err := paymentfile.Check(strings.NewReader(text), 100, 10, func([]byte) error { return nil }); err != nil || scan.Rows != 2 {
			t.Errorf("%s: checked as %d rows, %v", name, scan.Rows, err)
		}
	}
}

// TestAFileWithoutRowsIsRefused: otherwise it would look as if it had been imported.
func TestAFileWithoutRowsIsRefused(t *testing.T) {
	t.Parallel()
	header := strings.TrimSpace(short)
	for text, want := range map[string]string{
		short:           "no rows",
		header:          "no rows",
		short + "\n \n": "no rows",
		header + ",x\u2028" + strings.TrimSpace(good) + "\u2028": "not line breaks",
	} {
		_, err := paymentfile.Check(strings.NewReader(text), 100, 10, func([]byte) error { return nil })
		for _, err := range []error{err, fileError(t, strings.NewReader(text))} {
			if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), want) {
				t.Errorf("%.20q…: %v, want %q", text, err, want)
			}
		}
	}
}

// TestTheUnitOfAnAmountIsThatOfItsColumn: if one cell has decimals, the others are not read as minor units.
func TestTheUnitOfAnAmountIsThatOfItsColumn(t *testing.T) {
	t.Parallel()
	for decimals, want := range map[string]string{"3.35": "has decimals", "3,35": "has 17 cells", `"3,35"`: "has decimals"} {
		other := strings.Replace(strings.Replace(good, "B-1-P1", "B-1-P2", 1), "EUR,36000,36000", "EUR,"+decimals+",36000", 1)
		rows := readAll(t, short+good+other)
		if err := rows[1].Payment.Problems.Err(); rows[1].Refused == nil && (err == nil || !strings.Contains(problems(t, &rows[1].Payment.Problems)["total"], want)) ||
			rows[1].Refused != nil && !strings.Contains(rows[1].Refused.Error(), want) {
			t.Errorf("%s: %v, %v", decimals, rows[1].Refused, err)
		}
		if want != "has decimals" {
			continue
		}
		if got := problems(t, &rows[0].Payment.Problems); len(got) != 1 || !strings.Contains(got["total"], "Line 3 has decimals") {
			t.Errorf("%s: the whole number beside it: %v", decimals, got)
		}
	}
}

func TestARepeatedPaymentIsNamedByItsLine(t *testing.T) {
	t.Parallel()
	rows := readAll(t, short+good+strings.Replace(good, "B-1,", "B-2,", 1)+good)
	reasons := map[int]string{}
	for _, row := range rows {
		if f, ok := errors.AsType[*errs.Error](row.Refused); ok {
			reasons[row.Line] = f.Params["payment_reference"]
		}
	}
	// That of another booking is compared with what is stored.
	if len(rows) != 3 || len(reasons) != 1 || reasons[4] != "Line 2 has the same payment_reference." {
		t.Errorf("%v", reasons)
	}
}

func TestIdsThatASpreadsheetHasShortened(t *testing.T) {
	t.Parallel()
	for id, refused := range map[string]bool{"9.97E+11": true, "5,54e+22": true, "1E12": true, "E12": false, "9.97": false, "B1E+11": false} {
		row := readAll(t, short+strings.Replace(good, "B-1-P1", `"`+id+`"`, 1))[0]
		if got := row.Payment.Problems.Has("reference"); got != refused {
			t.Errorf("%s: refused %v", id, got)
		}
	}
}

// TestMissingDates: an optional date can be marked as missing, but not by a placeholder date.
func TestMissingDates(t *testing.T) {
	t.Parallel()
	header := strings.TrimSpace(short) + ",date_start\n"
	for cell, refused := range map[string]bool{
		"": false, "NULL": false, `\N`: false, "0000-00-00": false, "N/A": false, "-": false,
		"1970-01-01": true, "9999-12-31": true, "1899-12-30": true, "soon": true,
	} {
		row := readAll(t, header+strings.TrimSpace(good)+","+cell+"\n")[0]
		if got := row.Booking.Problems.Has("date_start"); got != refused || row.Booking.Start != nil {
			t.Errorf("%q: refused %v, %v", cell, got, row.Booking.Start)
		}
	}
	for cell, want := range map[string]string{"NULL": "cannot be empty", "1970-01-01 00:00:00": "is a placeholder for a missing date"} {
		row := readAll(t, short+strings.Replace(good, "2026-01-10 09:30:00", cell, 1))[0]
		if got := problems(t, &row.Payment.Problems)["effective_at"]; !strings.Contains(got, want) {
			t.Errorf("paid_at %q: %q", cell, got)
		}
	}
}

// TestWhatAFileHasBesides: unused columns, with the ones that were probably meant, and unknown scheme words.
func TestWhatAFileHasBesides(t *testing.T) {
	t.Parallel()
	header := strings.TrimSpace(short) + ",card_type,start_date,4111111111111111,card_types\n"
	text := header
	for i, word := range []string{"VI", "Visa Debit", "Dankort", "Dankort", "4111 1111 1111 1111"} {
		text += strings.Replace(strings.TrimSpace(good), "B-1-P1", "P-"+string(rune('a'+i)), 1) + ",x,4111111111111111,," + word + "\n"
	}
	text += strings.TrimSpace(good) + ",x,4111111111111111,,not a scheme,VI\n" // one cell too many
	var got imports.Scan
	refused := 0
	for row, err := range paymentfile.Read(strings.NewReader(text), func(s imports.Scan) { got = s }) {
		if err != nil {
			t.Fatal(err)
		}
		if row.Refused != nil {
			refused++
		}
	}
	want := []imports.UnusedColumn{{Name: "card_type"}, {Name: "start_date", Nearest: "date_start"}, {Name: "…"}}
	if got.Rows != 6 || !slices.Equal(got.Unused, want) || !slices.Equal(got.Schemes, []string{"Dankort", "…"}) {
		t.Errorf("%+v", got)
	}
	if refused != 2 { // an unused column is not checked
		t.Errorf("%d rows are refused", refused)
	}
}

// TestEveryLineWithACardNumberIsNamed, and nothing of the file is stored from the first one on.
func TestEveryLineWithACardNumberIsNamed(t *testing.T) {
	t.Parallel()
	bad := strings.Replace(good, "Seven nights", "4111 1111 1111 1111", 1)
	text := short + good + bad + good + bad + strings.Repeat(bad, 120)
	_, err := paymentfile.Check(strings.NewReader(text), 10, 1000, func(piece []byte) error {
		if strings.Contains(string(piece), "4111") {
			t.Errorf("kept: %q", piece)
		}
		return nil
	})
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Kind != errs.CardNumber || !strings.HasPrefix(f.Params["file"], "Lines 3, 5, 6, 7, ") ||
		!strings.HasSuffix(f.Params["file"], ", 103 and 22 more contain card numbers.") {
		t.Errorf("%v: %v", err, f.Params)
	}
	_, err = paymentfile.Check(strings.NewReader(short+good+bad+bad), 10, 1000, func([]byte) error { return nil })
	if f, _ := errors.AsType[*errs.Error](err); f == nil || f.Params["file"] != "Lines 3 and 4 contain card numbers." {
		t.Errorf("%v", err)
	}
}
