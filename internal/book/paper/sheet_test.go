package paper_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/paper"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/lib/pdf"
)

// sample is a statement with everything that a statement can have.
func sample(language string) paper.Printed {
	issued := time.Date(2024, 7, 1, 0, 0, 12, 0, time.UTC)
	s := paper.Printed{
		Statement: protection.Statement{
			SiteID: 1, ID: 7, Number: 12, ChannelID: 3, Period: terms.PeriodOf(terms.PeriodMonth, civil.Date(2024, 6, 5)),
			IssuedAt: issued, Due: terms.AfterBusinessDays(civil.DayOf(issued), 10), Currency: "GBP",
			Issuer: merchant.Party{
				Name: "Harbour Protection Ltd", Address: "14 Quay Street\nBristol BS1 4DJ\nUnited Kingdom", TaxNumber: "GB 999 9999 73",
				BankDetails: "Harbour Protection Ltd, Example Bank\nIBAN GB33 BUKB 2020 1555 5555 55\nBIC BUKBGB22",
			},
			Policyholder: merchant.Party{Name: "Northern Acquiring plc", Address: "1 Market Square\nLeeds LS1 1AA"}, ChannelName: "Château Reisen & Söhne GmbH", Opening: 123456,
			Lines: []protection.StatementSum{
				{Kind: "original", Lines: 41, Amount: 45135}, {Kind: "additional", Lines: 1, Amount: 271},
				{Kind: "return", Lines: 2, Amount: -219, Retained: 103},
			},
			Minimum: &protection.MonthlyMinimum{Month: "2024-06", Minimum: 50000, Booked: 45187, Amount: 4813},
			Taxes: []protection.StatementTax{{
				Code: "IPT", Label: "Insurance premium tax", Amount: 6000, Parts: []protection.TaxPart{{Base: 50000, RatePPM: 120000}},
			}},
			Payments: 123456, Closing: 56000,
		},
		Label: paper.Policyholder, Language: language,
	}
	for i := range int64(44) {
		line := protection.StatementLine{
			ID: i + 1, RecordedAt: time.Date(2024, 6, 3, 9, 0, 0, 0, time.UTC).AddDate(0, 0, int(i/2)), Kind: "original",
			TransactionID: 1000 + i, BookingID: 500 + i, Currency: "EUR", StateAmount: 60000 + 1234*i, StateValue: 51219,
			Exchange: exchange("1", "0.85365"), LeadDays: 103, PPM: 8500, Premium: 435, Amount: 435, BookingReference: "BK-2024-" + string(rune('A'+i%26)),
		}
		switch i {
		case 5:
			line.Kind, line.Amount, line.RefersTo = "return", -219, 11
		case 6:
			line.Kind, line.Amount, line.Retained, line.RefersTo = "return", 0, 103, 9
		case 7:
			line.Kind, line.Amount, line.Currency, line.StateAmount = "additional", 271, "JPY", 350000
			line.Exchange = exchange("171.94", "0.84638")
		case 8:
			line.Currency, line.StateAmount, line.Exchange = "GBP", 51219, protection.Exchange{}
		}
		s.Lines = append(s.Lines, line)
	}
	return s
}

// exchange is a rate of exchange by its two legs, in units per euro.
func exchange(from, to string) protection.Exchange {
	one, err := money.ParseRate(from)
	other, err2 := money.ParseRate(to)
	if err := errors.Join(err, err2); err != nil {
		panic(err)
	}
	return protection.Exchange{FromRate: one, ToRate: other}
}

func print(t *testing.T, fonts pdf.Fonts, s paper.Printed) []byte {
	t.Helper()
	var out bytes.Buffer
	err := paper.WritePDF(&out, fonts, s)
	if err != nil {
		t.Fatalf("%s: %v", s.Language, err)
	}
	return out.Bytes()
}

// needsCJK skips where the fonts of ideographs are not installed.
func needsCJK(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(pdf.DefaultFontDir, "NotoSansCJK-Regular.ttc")); err != nil {
		t.Skip("fonts-noto-cjk is not installed, so documents in Chinese, Japanese and Korean are not tested")
	}
}

var ideographic = []string{"jaJA", "koKO", "zhZH"}

func TestEveryLanguagePrintsWithItsOwnFonts(t *testing.T) {
	nowhere := pdf.Fonts{Dir: t.TempDir()}
	for _, language := range check.Languages {
		if slices.Contains(ideographic, language) {
			continue
		}
		for _, label := range paper.Labels {
			s := sample(language)
			s.Label = label
			first := print(t, nowhere, s)
			if again := print(t, nowhere, s); !bytes.Equal(first, again) {
				t.Errorf("%s: printed twice, the bytes differ", language)
			}
			if !bytes.HasPrefix(first, []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimSpace(first), []byte("%%EOF")) {
				t.Errorf("%s: this is no whole PDF", language)
			}
			keep(t, string(label)+language, first)
		}
	}
}

func TestIdeographsPrint(t *testing.T) {
	needsCJK(t)
	for _, language := range ideographic {
		s := sample(language)
		s.ChannelName = "東京旅行株式会社 한국여행 北京旅行社"
		first := print(t, pdf.Fonts{}, s)
		if again := print(t, pdf.Fonts{}, s); !bytes.Equal(first, again) {
			t.Errorf("%s: printed twice, the bytes differ", language)
		}
		keep(t, language, first)
	}
	s := sample("enGB") // a merchant's name may be in any script
	s.ChannelName = "東京旅行株式会社"
	print(t, pdf.Fonts{}, s)
}

// keep writes a document to a folder for inspection.
func keep(t *testing.T, name string, content []byte) {
	t.Helper()
	if dir := os.Getenv("HOLDFAST_KEEP_DOCUMENTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".pdf"), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoBoxes: characters without a glyph are spelled out, not drawn as boxes.
func TestNoBoxes(t *testing.T) {
	nowhere := pdf.Fonts{Dir: t.TempDir()}
	err := paper.WritePDF(&bytes.Buffer{}, nowhere, sample("jaJA"))
	if !errs.Is(err, errs.Unavailable) || !strings.Contains(err.Error(), "no font") {
		t.Errorf("without the fonts: %v", err)
	}
	if said := err.Error(); !strings.Contains(said, "fonts-noto-cjk") {
		t.Errorf("it does not say what is missing: %s", said)
	}
}

// TestNoNameKeepsAStatementFromPrinting: a merchant's name may be in any script, on a server with any fonts. Characters
// without a font are visible.
func TestNoNameKeepsAStatementFromPrinting(t *testing.T) {
	nowhere := pdf.Fonts{Dir: t.TempDir()}
	for name, c := range map[string]struct{ name, printed string }{
		"wide":       {"A＝B ＨＯＴＥＬ", "A=B HOTEL"},
		"syriac":     {"ܫܠܡ", "[U+072B][U+0720][U+0721]"},
		"no forms":   {"\u08a0 Travel", "[U+08A0] Travel"},
		"directions": {"a\u202egnp\u2066.\u2069b\u202c", "agnp.b"},
		"ideographs": {"太陽 Travel", "[U+592A][U+967D] Travel"},
		"emoji":      {"Sun \U0001F31E", "Sun [U+1F31E]"},
		"broken":     {"a\xffb", "a\ufffdb"},
	} {
		s, want := sample("enGB"), sample("enGB")
		s.ChannelName, want.ChannelName = c.name, c.printed
		got := print(t, nowhere, s)
		if !bytes.Equal(got, print(t, nowhere, want)) {
			t.Errorf("%s: %q is not printed as %q", name, c.name, c.printed)
		}
		keep(t, "name-"+name, got)
	}
}

// TestNamesPrintInTheirLetters: with the embedded fonts only.
func TestNamesPrintInTheirLetters(t *testing.T) {
	nowhere := pdf.Fonts{Dir: t.TempDir()}
	s := sample("enGB")
	s.ChannelName = "شركة السلام للسفر"
	s.Policyholder = merchant.Party{
		Name: "הוֹטֶל שָׁלוֹם בע״מ", Address: "רחוב הירקון 12\nHotel שלום (תל אביב) 34\nשלום (ABC) 56", TaxNumber: "دبي 123",
	}
	s.Issuer = merchant.Party{
		Name: "น้ำที่ป่าปี่ เที่ยวญี่ปุ่น", Address: "ถนนสุขุมวิท 21 กรุงเทพฯ\nفندق مُحَمَّد الأوّل\nپارس گردش\u200cگری\n" + strings.Repeat("فندق السلام ", 9),
		BankDetails: "Bank הבנק 123 of דרום",
	}
	first := print(t, nowhere, s)
	if again := print(t, nowhere, s); !bytes.Equal(first, again) {
		t.Error("printed twice, the bytes differ")
	}
	keep(t, "name-letters", first)
	for name, spelt := range map[string]string{
		"سفر": "[U+0633][U+0641][U+0631]", "טיול": "[U+05D8][U+05D9][U+05D5][U+05DC]", "ไทย": "[U+0E44][U+0E17][U+0E22]",
	} {
		with, without := sample("enGB"), sample("enGB")
		with.ChannelName, without.ChannelName = name, spelt
		if bytes.Equal(print(t, nowhere, with), print(t, nowhere, without)) {
			t.Errorf("%q is spelled out", name)
		}
	}
}

// TestTextFromOutsideIsSpelledOut: a name or reference is frozen in its statement, so a character without a font must
// not prevent printing. Its code point is printed instead.
func TestTextFromOutsideIsSpelledOut(t *testing.T) {
	written := func(sun, noncharacter string) paper.Printed {
		s := sample("enGB")
		s.Policyholder.Name, s.ChannelName, s.Taxes[0].Label = sun+" Acquiring", "Sun "+sun+" Travel", "Tax "+sun
		s.Lines[3].BookingReference = "BK" + sun + noncharacter
		return s
	}
	for name, c := range map[string]struct {
		fonts            pdf.Fonts
		character, spelt string
		installed        bool
	}{
		"beyond what a font can hold": {pdf.Fonts{Dir: t.TempDir()}, "", "", false},
		"in no installed font":        {pdf.Fonts{}, "\u1c50", "[U+1C50]", true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.installed {
				needsCJK(t)
			}
			s := written("\U0001F31E", c.character)
			got := print(t, c.fonts, s)
			if want := print(t, c.fonts, written("[U+1F31E]", c.spelt)); !bytes.Equal(got, want) {
				t.Error("what is printed is not what its code point prints")
			}
			if s.Lines[3].BookingReference != "BK\U0001F31E"+c.character {
				t.Errorf("the statement itself has changed: %q", s.Lines[3].BookingReference)
			}
		})
	}
}

func TestLongStatementSaysSo(t *testing.T) {
	s := sample("enGB")
	s.Statement.Lines[0].Lines = 5000
	long := print(t, pdf.Fonts{}, s)
	if len(long) == 0 {
		t.Error("nothing was printed")
	}
}
