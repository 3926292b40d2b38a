package disputefile_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"holdfast/internal/book/disputefile"
	"holdfast/internal/domain/dispute"
)

const mapped = `
source: examplepay
columns:
  case_id: Fall
  word: Vorgang
  day: Datum
  zone: Zone
  due_on: Frist
  amount: Betrag
  currency: Währung
  payment_reference: Bestellung
  acquirer_reference: ARN
  card_number: Karte
  card_types: Marke
  paid_on: Zahltag
  paid_amount: Zahlung
decimal: ","
date: DD.MM.YYYY HH:mm
words:
  Rückbelastung: {stage: chargeback, status: open, money: debit}
  Gutschrift: {stage: chargeback, status: won, money: credit}
  Anfrage: {stage: inquiry, status: open}
  Buchung: {money: sign}
  Zahlung: {ignore: true}
`

func mapping(t *testing.T, text string) disputefile.Options {
	t.Helper()
	m, err := disputefile.ParseMapping([]byte(text))
	if err != nil {
		t.Fatal(params(err))
	}
	return disputefile.Options{Mapping: m}
}

func TestAMappedFile(t *testing.T) {
	t.Parallel()
	text := "Bericht vom 31.05.2026\nFall;Vorgang;Datum;Zone;Frist;Betrag;Währung;Bestellung;ARN;Karte;Marke;Zahltag;Zahlung;Filiale\n" +
		"F1;Rückbelastung;12.05.2026 00:30;CEST;01.06.2026 12:00;1.200,00;EUR;B-7-P1;24692166034100000000011;411111******1111;Visa;03.02.2026 10:00;1.200;Madrid\n" +
		"F1;gutschrift;12.06.2026 10:30;Europe/Madrid;;1200;eur;B-7-P1;;411111******1111;Visa;;;\n" +
		"F2;Anfrage;12.06.2026 10:30;;;;;;;;;;;\n" +
		"F3;Buchung;12.06.2026 10:30;;;-7,5;EUR;;;;;;;\n" +
		"F3;Zahlung;12.06.2026 10:30;;;7,5;EUR;;;;;;;\n" +
		"F4;Storno;12.06.2026 10:30;;;7,5;EUR;;;;;;;\n" +
		"F5;Rückbelastung;2026-06-12;;;0;EUR;;;;;;;\n"
	latin := strings.NewReplacer("ü", "\xfc", "ä", "\xe4")
	for name, file := range map[string]string{"UTF-8": text, "Latin-1": latin.Replace(text)} {
		format, list := lines(t, file, mapping(t, mapped))
		if format.Name != "mapped" {
			t.Errorf("%s: read as %s", name, format.Name)
		}
		compare(t, describe(list), []string{
			"3 F1 chargeback/open debit 2026-05-11 1200.00 EUR",
			"4 F1 chargeback/won credit 2026-06-12 1200.00 EUR",
			"5 F2 inquiry/open none 2026-06-12 0",
			"6 F3 / credit 2026-06-12 7.50 EUR",
			"7 - Zahlung: ignored by the mapping.",
			`8 ! Vorgang: "Storno" is not among the words of the mapping.`,
			`9 ! Datum: "2026-06-12" is not a date such as 31.05.2026 18:30. The amount is empty or zero.`,
		})
		r := list[0].Reports[0]
		clues(t, r, dispute.Clues{
			AcquirerReference: "24692166034100000000011", PaymentReference: "B-7-P1", LastFour: "1111", BIN: "411111", Scheme: "visa", PaidOn: on("2026-02-03"),
			PaidAmount: 120000, PaidCurrency: "EUR",
		})
		if r.Source != "examplepay" || r.DueOn != on("2026-06-01") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestAMappingInJSONWithColumnsOfDebitAndCredit(t *testing.T) {
	t.Parallel()
	o := mapping(t, `{"source": "bank", "units": "minor", "currency": "JPY", "zone": "-0800", "date": "M/D/YYYY HH:mm", "always": {"stage": "chargeback", "money": "columns"},
		"columns": {"case_id": "Case", "day": "On", "debit": "Dr", "credit": "Cr", "number": "No", "refers_to": "Ref", "merchant": "Shop", "processor_reference": "Id"}}`)
	_, list := lines(t, "Case,On,Dr,Cr,No,Ref,Shop,Id\n1,5/6/2026 18:00,100,,2,R1,S,P1\n1,5/7/2026 10:00,,40,,,S,1.2E+20\n1,5/7/2026 10:00,,,,,S,\n1,5/7/2026 10:00,1.5,,,,S,\n", o)
	compare(t, describe(list), []string{
		"2 1 chargeback/ debit2 2026-05-07 100 JPY", "3 1 chargeback/ credit 2026-05-07 40 JPY", "4 ! The amount is empty or zero.",
		`5 ! Dr: "1.5" has decimals. Its amounts are whole numbers of minor units. The amount is empty or zero.`,
	})
	if r := list[0].Reports[0]; r.RefersTo != "R1" || r.Merchant != "S" || r.Clues.ProcessorReference != "P1" || len(list[1].Reports[0].Notes) != 1 {
		t.Errorf("%+v", r)
	}
	_, _, err := disputefile.Read(strings.NewReader("Case,On,Dr\n1,2,3\n"), o)
	if text := params(err)["file"]; !strings.Contains(text, `lacks the columns "Cr", "No", "Shop", "Ref" and "Id"`) && !strings.Contains(text, `lacks the columns "Cr", "No"`) {
		t.Errorf("%v: %s", err, text)
	}
}

func TestMappingsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "is empty",
		"source: [":                          "cannot be read",
		"source: A b":                        "source must name",
		"source: a\nfoo: 1":                  "field foo not found",
		"source: a\ncolumns: {}":             "columns.case_id is required",
		"source: a\ncolumns: {case: X}":      `columns has "case"`,
		"source: a\ncolumns: {case_id: ' '}": "columns.case_id names no column",
		"source: a\ncolumns: {case_id: X}":   "either columns.word",
		"source: a\ncolumns: {case_id: X, word: W}\nalways: {}":                              "either columns.word",
		"source: a\ncolumns: {case_id: X, word: W}":                                          "words is required",
		"source: a\ncolumns: {case_id: X}\nalways: {stage: odd}":                             `always.stage: "odd"`,
		"source: a\ncolumns: {case_id: X}\nalways: {status: odd}":                            `always.status: "odd"`,
		"source: a\ncolumns: {case_id: X}\nalways: {money: odd}":                             `always.money: "odd"`,
		"source: a\ncolumns: {case_id: X}\nalways: {money: debit}":                           "needs columns.amount",
		"source: a\ncolumns: {case_id: X, amount: A}\nalways: {money: debit}":                "needs columns.currency",
		"source: a\ncolumns: {case_id: X, amount: A}\nalways: {money: columns}":              "needs columns.debit",
		"source: a\ncolumns: {case_id: X, amount: A}\ncurrency: XXX\nalways: {money: debit}": "currency:",
		"source: a\ncolumns: {case_id: X}\nalways: {}\nunits: cents":                         "units must be",
		"source: a\ncolumns: {case_id: X}\nalways: {}\ndecimal: ;":                           "decimal must be",
		"source: a\ncolumns: {case_id: X}\nalways: {}\ndate: DD/MM":                          "date must have",
		"source: a\ncolumns: {case_id: X}\nalways: {}\nzone: Mars/Base":                      "zone:",
		"source: a\ncolumns: {case_id: X}\nalways: {}\n#" + strings.Repeat("x", 70_000):      "longer than 64 KiB",
		"source: a\ncolumns: &c {case_id: *c}\nalways: {}":                                   "cannot be read",
	} {
		if _, err := disputefile.ParseMapping([]byte(text)); !strings.Contains(params(err)["map"], want) {
			t.Errorf("%.80q: %v %v, not %s", text, err, params(err), want)
		}
	}
}

// TestTheMappingOfTheDocumentationReadsItsFile, and the documentation names every format.
func TestTheMappingOfTheDocumentationReadsItsFile(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "disputes.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```(yaml|csv)\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 2 || blocks[0][1] != "yaml" || blocks[1][1] != "csv" {
		t.Fatalf("%d examples", len(blocks))
	}
	_, list := lines(t, blocks[1][2], mapping(t, blocks[0][2]))
	compare(t, describe(list), []string{
		"2 X-81 chargeback/open debit 2026-05-11 1200.00 EUR", "3 X-81 chargeback/won credit 2026-06-15 1200.00 EUR", "4 X-90 inquiry/open none 2026-06-16 80.00 EUR",
	})
	for _, f := range disputefile.Formats() {
		if !strings.Contains(string(page), "`"+f.Name+"`") {
			t.Errorf("docs/disputes.md lacks %s", f.Name)
		}
	}
	for _, field := range disputefile.MappedFields() {
		if !strings.Contains(string(page), "`"+field+"`") {
			t.Errorf("docs/disputes.md lacks the field %s", field)
		}
	}
}
