package disputefile_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"holdfast/internal/book/disputefile"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/errs"
)

// TestFilesThatWentThroughOtherPrograms: spreadsheets write semicolons, tabs, UTF-16, Latin-1, quotation marks and byte
// order marks, and add rows around the data.
func TestFilesThatWentThroughOtherPrograms(t *testing.T) {
	t.Parallel()
	plain := adyenHeader + adyenRow("Chargeback", "2026-05-12 00:30:00", "CEST", "EUR", "1200.00")
	semicolons := strings.ReplaceAll(strings.ReplaceAll(plain, ",", ";"), "1200.00", "1.200,00")
	var sixteen strings.Builder
	sixteen.WriteString("\xff\xfe")
	for _, u := range utf16.Encode([]rune(strings.ReplaceAll(plain, ",", "\t"))) {
		sixteen.Write([]byte{byte(u), byte(u >> 8)})
	}
	first, rest, _ := strings.Cut(plain, "\n")
	for name, text := range map[string]string{
		"as it is":                  plain,
		"a mark, CRLF":              "\ufeff" + strings.ReplaceAll(plain, "\n", "\r\n"),
		"CR":                        strings.ReplaceAll(plain, "\n", "\r"),
		"semicolons":                semicolons,
		"sep=; and a mark":          "\ufeffsep=;\r\n" + strings.ReplaceAll(semicolons, "\n", "\r\n"),
		"tabs in UTF-16":            sixteen.String(),
		"Latin-1":                   strings.Replace(plain, "A. Person", "J\xf6rg", 1),
		"quoted":                    `"` + strings.ReplaceAll(first, ",", `","`) + "\"\n" + rest,
		"capitals, spaces":          strings.ToUpper(strings.ReplaceAll(first, " ", "  ")) + "\n" + rest,
		"a title and empty rows":    "Dispute report,,\n\n,,,\nFrom,2026-05-01\n" + plain,
		"the header again":          plain + first + "\n",
		"an end":                    plain + ",,,,\nEOF,,\n",
		"texts of a spreadsheet":    strings.Replace(strings.Replace(plain, ",24692166034100000000011,", `,"=""24692166034100000000011""",`, 1), ",DSP1,", ",'DSP1,", 1),
		"no empty cells at the end": first + "\n" + strings.Replace(rest, ",2026-06-08 23:59:00,CEST", "", 1),
		"empty cells beyond":        strings.Replace(plain, "CEST\n", "CEST,,,\n", 1),
	} {
		format, list := lines(t, text, disputefile.Options{})
		if format.Name != "adyen-disputes" || len(list) != 1 || len(list[0].Reports) != 1 {
			t.Errorf("%s: %s, %v", name, format.Name, describe(list))
			continue
		}
		r := list[0].Reports[0]
		if got := report(r); got != "DSP1 chargeback/open debit1 2026-05-11 1200.00 EUR" || r.Clues.AcquirerReference != "24692166034100000000011" {
			t.Errorf("%s: %s, %+v", name, got, r.Clues)
		}
	}
}

func TestLinesThatAreBroken(t *testing.T) {
	t.Parallel()
	good := adyenRow("Chargeback", "2026-05-12 00:30:00", "CEST", "EUR", "1200.00")
	says := " DSP1 chargeback/open debit1 2026-05-11 1200.00 EUR"
	wantLines(t, adyenHeader+strings.Replace(good, "Services", `"Services`, 1)+good+strings.Replace(good, "Services", strings.Repeat("x", 70_000), 1)+good+
		strings.Replace(good, "CEST\n", "CEST,x\n", 1)+good[:70]+"\n"+good,
		"adyen-disputes", "2 ! This line cannot be read: the quotation marks do not match: one is missing or extra.", "3"+says,
		"4 ! This line cannot be read: the row is longer than 64 KiB.", "5"+says, "6 ! The line has 35 cells, but the header names 34 columns.",
		"7 ! Record Type: is missing or cut off: the line ends after 9 of 34 columns.", "8"+says)
}

// TestACardNumberIsNeitherKeptNorRepeated: in any column, of any kind of file. Masked ones are not card numbers.
func TestACardNumberIsNeitherKeptNorRepeated(t *testing.T) {
	t.Parallel()
	good := adyenRow("Chargeback", "2026-05-12 00:30:00", "CEST", "EUR", "1200.00")
	for name, text := range map[string]string{
		"a column that is read":     adyenHeader + strings.Replace(good, "411111******1111", "4111111111111111", 1),
		"another column":            adyenHeader + strings.Replace(good, "A. Person", "4111 1111 1111 1111", 1),
		"a broken line":             adyenHeader + strings.Replace(good, "A. Person", `"4111-1111-1111-1111`, 1),
		"a line with too few cells": adyenHeader + "x,4111111111111111\n",
		"tabs":                      strings.ReplaceAll(adyenHeader+strings.Replace(good, "A. Person", "4111111111111111", 1), ",", "\t"),
		"JSON":                      "[" + strings.Replace(braintreeCase("D1", "CHARGEBACK", "0.00", ""), "B-7-P1", "4111111111111111", 1) + "]",
		"a number in JSON":          "[" + strings.Replace(braintreeCase("D1", "CHARGEBACK", "0.00", ""), `"B-7-P1"`, "4111111111111111", 1) + "]",
		"XML":                       "<r>" + strings.Replace(worldpayCase("101", "First Chargeback", ""), "B-7-P1", "4111111111111111", 1) + "</r>",
		"a note in XML":             "<r>" + worldpayCase("101", "First Chargeback", strings.Replace(activity("2026-05-06", "Add Note", ""), "<notes>n", "<notes>card 4111-1111-1111-1111", 1)) + "</r>",
		"a comment in XML":          "<r>" + worldpayCase("101", "First Chargeback", "<!-- 4111111111111111 -->") + "</r>",
		"an attribute in XML":       "<r>" + worldpayCase("101", "First Chargeback", `<activity pan="4111111111111111"/>`) + "</r>",
		"a name in JSON":            "[" + strings.Replace(braintreeCase("D1", "CHARGEBACK", "0.00", ""), `"legacyId": "b1"`, `"4111111111111111": 1`, 1) + "]",
	} {
		_, list := lines(t, text, disputefile.Options{})
		if len(list) != 1 || !strings.Contains(list[0].Problem, "contains a card number") || list[0].Raw != "" || strings.Contains(fmt.Sprint(list), "4111") {
			t.Errorf("%s: %+v", name, list)
		}
	}
	for _, broken := range []string{"&4111111111111111;", "<a></4111111111111111>"} {
		one := worldpayCase("101", "First Chargeback", "")
		_, list := lines(t, "<r>"+one+strings.Replace(one, "B-7-P1", broken, 1), disputefile.Options{})
		if len(list) != 2 || list[1].Problem == "" || strings.Contains(fmt.Sprint(list), "4111") {
			t.Errorf("%s: %+v", broken, list)
		}
		_, _, err := disputefile.Read(strings.NewReader("<r>"+strings.Replace(one, "B-7-P1", broken, 1)), disputefile.Options{})
		if err == nil || strings.Contains(fmt.Sprint(err, params(err)), "4111") {
			t.Errorf("%s: %v %v", broken, err, params(err))
		}
	}
	if _, list := lines(t, adyenHeader+good, disputefile.Options{}); len(list[0].Reports) != 1 || list[0].Raw == "" {
		t.Errorf("a masked number: %+v", list)
	}
	_, _, err := disputefile.Read(strings.NewReader("4111111111111111,a\n1,2\n"), disputefile.Options{})
	if err == nil || strings.Contains(fmt.Sprint(err, params(err)), "4111") {
		t.Errorf("%v %v", err, params(err))
	}
}

// TestWhatADatabaseCannotKeep: zero bytes, invalid UTF-8, and case names that are too long for an index.
func TestWhatADatabaseCannotKeep(t *testing.T) {
	t.Parallel()
	good := adyenRow("Chargeback", "2026-05-12 00:30:00", "CEST", "EUR", "1200.00")
	long := strings.Repeat("x", 300)
	_, list := lines(t, adyenHeader+strings.Replace(good, "A. Person", "A\x00\xff", 1)+strings.Replace(good, "DSP1", "D\x00SP1", 1)+strings.Replace(good, "DSP1", long, 1)+
		strings.Replace(strings.Replace(good, "B-7-P1", long, 1), "Services Not Received", long, 1), disputefile.Options{})
	if len(list) != 4 || strings.Contains(fmt.Sprint(list), "\x00") || !utf8.ValidString(fmt.Sprint(list)) || list[1].Reports[0].CaseID != "DSP1" {
		t.Fatalf("%+v", list)
	}
	if got := list[2].Problem; got != "Dispute PSP Reference: is longer than 200 characters." {
		t.Errorf("%s", got)
	}
	r := list[3].Reports[0]
	if r.Clues.PaymentReference != "" || len(r.Notes) != 1 || r.Reason != long[:200]+"…" {
		t.Errorf("%+v", r)
	}
	_, list = lines(t, strings.Replace(braintreeCase("D1", "CHARGEBACK", "0.00", ""), "B-7-P1", "a\\u0000\xff", 1), disputefile.Options{})
	if got := list[0].Reports[0].Clues.PaymentReference; got != "a\ufffd" || !utf8.ValidString(list[0].Raw) {
		t.Errorf("%q, kept as %q", got, list[0].Raw)
	}
}

func TestAnUnknownFormatSaysWhatDiffers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":             {"The file is empty."},
		"a,b\n1,2\n":   {"The format of the file is not known: it has no column of any.", "Adyen Dispute report", "Worldpay"},
		"[]":           {"The file has no cases."},
		"<a><b/></a>":  {"The file has no cases."},
		"[{\"a\": 1}]": {"it has no column of any"},
		"{\"id\": \"1\", \"amount\": 5, \"currency\": \"usd\", \"charge\": \"c\", \"created\": 1, \"status\": \"won\"}": {
			"The nearest is Stripe disputes (API and Sigma), but the file lacks the column \"evidence_details\".",
		},
		"title\nRecord Type,Dispute PSP Reference,Record Date,Dispute Currency\nChargeback,1,2,3\n": {
			"The nearest is Adyen Dispute report, but the file lacks the column \"Dispute Amount\".", "Looked for: ", "J.P. Morgan", "PayPal",
		},
		"Record Type,Booking Date,Main Currency,Main Amount\n": {`The nearest is Adyen Payment accounting report, but the file lacks the column "Modification Psp Reference".`},
		"CaseNumber,CaseType,ChargebackAmount\n": {
			`lacks the columns "ChargebackCurrency" or "CurrencyCode", "ChargebackTime" or "CaseTime" or "CBDate" and "FinancialImpactType" or "FinancialImpact" or "CBSign".`,
		},
	} {
		_, _, err := disputefile.Read(strings.NewReader(text), disputefile.Options{})
		if !errs.Is(err, errs.Invalid) {
			t.Errorf("%q: %v", text, err)
		}
		for _, part := range want {
			if !strings.Contains(params(err)["file"], part) {
				t.Errorf("%q: %q lacks %q", text, params(err)["file"], part)
			}
		}
	}
	_, _, err := disputefile.Read(strings.NewReader(adyenHeader), disputefile.Options{Format: "paypal-settlement"})
	if text := params(err)["file"]; !strings.Contains(text, "Looked for: PayPal Settlement report.") {
		t.Errorf("%v %q", err, text)
	}
	_, _, err = disputefile.Read(strings.NewReader(adyenHeader), disputefile.Options{Format: "fax"})
	if text := params(err)["format"]; !strings.Contains(text, `"fax" is not one of adyen-disputes, `) {
		t.Errorf("%v %q", err, text)
	}
}

func TestATruncatedFileIsReported(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	for _, text := range []string{adyenHeader + "a,b\n", "[" + braintreeCase("D1", "CHARGEBACK", "0.00", "") + ",", "<r>" + worldpayCase("101", "First Chargeback", "")} {
		_, all, err := disputefile.Read(io.MultiReader(strings.NewReader(text), failing{broken}), disputefile.Options{})
		if err != nil {
			if !errors.Is(err, broken) {
				t.Errorf("%v", err)
			}
			continue
		}
		var last error
		for _, err := range all {
			last = err
		}
		if !errors.Is(last, broken) {
			t.Errorf("%.10q: %v", text, last)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// FuzzRead: whatever a file holds, reading ends, and a line has either reports or a reason for none. No card number is kept.
func FuzzRead(f *testing.F) {
	f.Add(adyenHeader + adyenRow("Chargeback", "2026-05-12 00:30:00", "CEST", "EUR", "1200.00"))
	f.Add(stripeHeader + stripeRow("du_7", "1500.00", "GBP", "won", "false"))
	f.Add(jpmorganHeader + jpmorganRow("2.47E+22", "5/6/2026", "81273", "RECD", "77749", "FIN", "3300", "CB", "Chargeback"))
	f.Add("SH,a,b,c\n" + paypalSection + paypalRow("5D1", "", "5K1", "T1201", evening, "DR", "52500", "USD", "1", "S") + "SF,USD,1,2\nSC,1\n")
	f.Add("[" + braintreeCase("D1", "CHARGEBACK", "600.00", step("OPEN", "2026-05-11", "2026-05-13")) + "]")
	f.Add(`{"data": {"search": {"disputes": {"edges": [{"node": {"id": 1}}]}}}}`)
	f.Add("<r>" + worldpayCase("101", "First Chargeback", activity("2026-05-12", "Merchant Represent", "71000")) + "</r>")
	f.Add("\xff\xfe<\x00a\x00")
	f.Add(adyenHeader + strings.Replace(adyenRow("Chargeback", "2026-05-12", "", "EUR", "(1,200)"), "A. Person", "4111 1111 1111 1111", 1))
	f.Fuzz(func(t *testing.T, text string) {
		_, all, err := disputefile.Read(strings.NewReader(text), disputefile.Options{})
		if err != nil {
			return
		}
		last := 0
		for l, err := range all {
			switch {
			case err != nil:
				return
			case l.Number <= last:
				t.Fatalf("line %d after %d", l.Number, last)
			case (l.Problem != "" || l.Ignored != "") == (len(l.Reports) > 0), len(l.Raw) > 1<<20, !utf8.ValidString(l.Raw + l.Problem), strings.Contains(l.Raw, "\x00"):
				t.Fatalf("%+v", l)
			}
			for _, r := range l.Reports {
				if r.CaseID == "" || r.Source == "" || r.Amount < 0 || r.Kind != dispute.NoMoney && (r.Amount == 0 || r.Currency == "") {
					t.Fatalf("%+v", r)
				}
			}
			last = l.Number
		}
	})
}
