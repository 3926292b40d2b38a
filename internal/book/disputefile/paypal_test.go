package disputefile_test

import (
	"strings"
	"testing"

	"holdfast/internal/domain/dispute"
)

const paypalSection = `"CH","Transaction ID","Invoice ID","PayPal Reference ID","PayPal Reference ID Type","Transaction Event Code","Transaction Initiation Date","Transaction Completion Date","Transaction  Debit or Credit","Gross Transaction Amount","Gross Transaction Currency","Fee Debit or Credit","Fee Amount","Fee Currency","Custom Field","Consumer ID","Transactional Status"
`

func paypalRow(id, invoice, reference, code, at, side, amount, currency, fee, status string) string {
	feeSide, feeCurrency := "", ""
	if fee != "" {
		feeSide, feeCurrency = "DR", currency
	}
	return `"SB","` + strings.Join([]string{id, invoice, reference, "TXN", code, at, at, side, amount, currency, feeSide, fee, feeCurrency, "", "", status}, `","`) + "\"\n"
}

const evening = "2026/05/20 18:38:07 -0700"

func TestPayPalSettlement(t *testing.T) {
	t.Parallel()
	text := "\"RH\",\"2026/05/21 02:00:00 -0700\",\"A\",\"ACCT\",\"009\"\n\"FH\",\"01\"\n\"SH\",\"2026/05/20 00:00:00 -0700\",\"2026/05/20 23:59:59 -0700\",\"SHOP1\",\"\"\n" + paypalSection +
		paypalRow("5D1", "B-7-P1", "5K1", "T1201", evening, "DR", "52500", "USD", "", "S") +
		paypalRow("5D2", "", "5D1", "T0106", evening, "DR", "2000", "USD", "", "S") +
		paypalRow("5D3", "", "5K2", "T0006", evening, "CR", "30000", "USD", "900", "S") +
		paypalRow("5D4", "", "5D1", "T1202", "2026/05/20 12:00:00 -0700", "CR", "52500", "USD", "", "S") +
		paypalRow("5D5", "", "5K3", "T1201", evening, "DR", "100", "USD", "", "P") +
		paypalRow("5D6", "", "5K4", "T1201", evening, "DR", "35000", "JPY", "1500", "S") +
		`"SF","USD","82500","54600","0","900","0","27000"` + "\n" + `"SF","JPY","0","CR","35000","DR"` + "\n" + `"SC","6"` + "\n" +
		"\"SH\",\"2026/05/20 00:00:00 -0700\",\"2026/05/20 23:59:59 -0700\",\"SHOP2\",\"\"\n" + paypalSection +
		paypalRow("5D7", "", "5K5", "T1201", evening, "XX", "1", "EUR", "", "S") +
		paypalRow("5D8", "", "5K5", "T1201", evening, "DR", "1.00", "EUR", "", "S") +
		`"SF","EUR","0","7","0","0"` + "\n" + `"SC","3"` + "\n" + `"RF","USD","82500","54500","0","900"` + "\n" + `"RC","8"` + "\n" + `"FF","9"` + "\n"
	list := wantLines(t, text, "paypal-settlement",
		"5 5D1 chargeback/open debit 2026-05-21 525.00 USD",
		"6 5D1 / fee 2026-05-21 20.00 USD",
		"7 - T0006: no dispute.",
		"8 5D1 chargeback/won credit 2026-05-20 525.00 USD",
		"9 - Status P: no money has moved.",
		"10 5D6 chargeback/open debit 2026-05-21 35000 JPY",
		"10 5D6 / fee 2026-05-21 1500 JPY",
		`16 ! Transaction Debit or Credit: "XX" is neither DR nor CR.`,
		`17 ! Gross Transaction Amount: "1.00" has decimals. Its amounts are whole numbers of minor units.`,
		"18 ! The section says that its credits in EUR are 0 and its debits 7, but its rows add up to 1 and 0. Rows may be missing or changed.",
		"19 ! The section says that it has 3 rows, but it has 2. Rows may be missing.",
		"22 ! The report says that it has 9 rows, but it has 8. Rows may be missing.",
	)
	clues(t, list[0].Reports[0], dispute.Clues{ProcessorReference: "5K1", PaymentReference: "B-7-P1", PaidOn: noDay})
	if r := list[0].Reports[0]; r.Merchant != "SHOP1" || r.RefersTo != "" {
		t.Errorf("%+v", r)
	}
	if r := list[3].Reports[0]; r.RefersTo != "5D1" || r.Clues.ProcessorReference != "" {
		t.Errorf("the credit refers to %q, %+v", r.RefersTo, r.Clues)
	}
}
