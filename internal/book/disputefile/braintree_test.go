package disputefile_test

import (
	"strings"
	"testing"

	"holdfast/internal/book/disputefile"
	"holdfast/internal/domain/dispute"
)

func braintreeCase(id, kind, won, history string) string {
	return `{"id": "` + id + `", "legacyId": "b1", "type": "` + kind + `", "receivedDate": "2026-05-11", "status": "OPEN", "replyByDate": "2026-05-25",
		"transaction": {"id": "dHJhbl8x", "legacyId": "bl8x", "orderId": "B-7-P1", "createdAt": "2026-04-07T23:30:00.000000Z", "amount": {"value": "640.00", "currencyCode": "USD"}},
		"amountDisputed": {"value": "600.00", "currencyCode": "USD"}, "amountWon": {"value": "` + won + `", "currencyCode": "USD"}, "statusHistory": [` + history + `]}`
}

func step(status, on, paid string) string {
	if paid = `"` + paid + `"`; paid == `""` {
		paid = "null"
	}
	return `{"timestamp": "` + on + `T02:01:46.000000Z", "disbursementDate": ` + paid + `, "status": "` + status + `", "effectiveDate": "` + on + `"}`
}

// TestBraintree: only a day of disbursement moves money, also when the case was won.
func TestBraintree(t *testing.T) {
	t.Parallel()
	cases := []string{
		braintreeCase("D1", "CHARGEBACK", "600.00", step("WON", "2026-06-02", "")+","+step("DISPUTED", "2026-05-20", "")+","+step("OPEN", "2026-05-11", "2026-05-13")),
		braintreeCase("D2", "CHARGEBACK", "550.00", step("WON", "2026-06-02", "2026-06-04")+","+step("OPEN", "2026-05-11", "2026-05-13")),
		braintreeCase("D3", "PRE_ARBITRATION", "0.00", step("LOST", "2026-06-02", "")+","+step("EXPIRED", "2026-05-26", "2026-05-29")+","+step("OPEN", "2026-05-11", "")),
		braintreeCase("D4", "RETRIEVAL", "0.00", step("ACCEPTED", "2026-05-12", "")),
		braintreeCase("D5", "CHARGEBACK", "0.00", ""),
		braintreeCase("D6", "INQUIRY", "0.00", step("OPEN", "2026-05-11", "")),
		braintreeCase("D7", "CHARGEBACK", "0.00", step("SHELVED", "2026-05-11", "")),
	}
	want := []string{
		"1 D1 chargeback/open none 2026-05-11 600.00 USD",
		"1 D1 / debit 2026-05-13 600.00 USD",
		"1 D1 chargeback/challenged none 2026-05-20 600.00 USD",
		"1 D1 chargeback/won none 2026-06-02 600.00 USD",
		"2 D2 chargeback/open none 2026-05-11 600.00 USD",
		"2 D2 / debit 2026-05-13 600.00 USD",
		"2 D2 chargeback/won none 2026-06-02 600.00 USD",
		"2 D2 / credit 2026-06-04 550.00 USD",
		"3 D3 pre_arbitration/open none 2026-05-11 600.00 USD",
		"3 D3 pre_arbitration/expired none 2026-05-26 600.00 USD",
		"3 D3 / debit 2026-05-29 600.00 USD",
		"3 D3 pre_arbitration/lost none 2026-06-02 600.00 USD",
		"4 D4 inquiry/accepted none 2026-05-12 600.00 USD",
		"5 D5 chargeback/open none 2026-05-11 600.00 USD",
		`6 ! type: "INQUIRY" is not known.`,
		`7 ! statusHistory.0.status: "SHELVED" is not known.`,
	}
	var nodes, oneALine []string
	for _, c := range cases {
		nodes = append(nodes, `{"node": `+c+`}`)
		oneALine = append(oneALine, strings.Join(strings.Fields(c), " "))
	}
	for name, text := range map[string]string{
		"a list":             "\ufeff[\n" + strings.Join(cases, ",\n") + "\n]\n",
		"a list in one line": "[" + strings.Join(oneALine, ",") + "]",
		"NDJSON":             strings.Join(oneALine, "\n") + "\n",
		"objects":            strings.Join(cases, "\n"),
		"GraphQL":            `{"data": {"search": {"disputes": {"pageInfo": {"hasNextPage": false}, "edges": [` + strings.Join(nodes, ",") + `]}}}, "extensions": {"requestId": "x"}}`,
		"REST": strings.NewReplacer(`"type"`, `"kind"`, "statusHistory", "status_history", "amountDisputed", "amount_disputed", "disbursementDate", "disbursement_date",
			"effectiveDate", "effective_date", "amountWon", "amount_won", `{"value": "600.00", "currencyCode": "USD"}`, `"600.00", "currency_iso_code": "USD"`,
			`{"value": "550.00", "currencyCode": "USD"}`, `"550.00"`, `{"value": "0.00", "currencyCode": "USD"}`, `"0.00"`, "receivedDate", "received_date").
			Replace("[" + strings.Join(cases, ",") + "]"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expected := want
			if name == "REST" {
				expected = strings.Split(strings.NewReplacer("! type", "! kind", "statusHistory", "status_history").Replace(strings.Join(want, "\n")), "\n")
			}
			list := wantLines(t, text, "braintree", expected...)
			if c := list[0].Reports[0].Clues; c.ProcessorReference != "dHJhbl8x" || c.PaymentReference != "B-7-P1" {
				t.Errorf("%+v", c)
			}
		})
	}
	_, list := lines(t, cases[0], disputeOptions)
	r := list[0].Reports[0]
	clues(t, r, dispute.Clues{
		ProcessorReference: "dHJhbl8x", ProcessorAlias: "bl8x", PaymentReference: "B-7-P1", PaidOn: on("2026-04-07"), PaidAmount: 64000, PaidCurrency: "USD",
	})
	if r.DueOn != on("2026-05-25") || list[0].Raw != cases[0] {
		t.Errorf("%+v, kept as %q", r, list[0].Raw)
	}
}

// TestABrokenLineOfNDJSONIsAloneWrong; in other files, the cases before a syntax error are kept.
func TestABrokenLineOfNDJSONIsAloneWrong(t *testing.T) {
	t.Parallel()
	one := strings.Join(strings.Fields(braintreeCase("D1", "CHARGEBACK", "0.00", step("OPEN", "2026-05-11", ""))), " ")
	opened := " D1 chargeback/open none 2026-05-11 600.00 USD"
	wantLines(t, one+"\n"+one[:40]+"\n\n"+one+"\n7\n", "braintree", "1"+opened, "2 ! This line cannot be read: it is no JSON object.", "4"+opened,
		"5 ! This is no object with fields.")
	wantLines(t, "["+one+", 7, "+one+", "+one[:40], "braintree", "1"+opened, "2 ! This is no object with fields.", "3"+opened,
		"4 ! The file cannot be read from case 4 on: unexpected EOF.")
	long := strings.Replace(one, "B-7-P1", strings.Repeat("x", 600_000), 1)
	wantLines(t, "["+one+","+long+"]", "braintree", "1"+opened, "2 ! The file cannot be read from case 2 on: a case is longer than 256 KiB, or has more than 5,000 fields.")
	wantLines(t, one+"\n"+long+"\n"+one+"\n", "braintree", "1"+opened, "2 ! This line cannot be read: it is longer than 256 KiB.", "3"+opened)
	for _, deep := range []string{strings.Repeat(`{"data": `, 100_000), `{"id": ` + strings.Repeat("[", 100_000), "[" + strings.Repeat(`{"a": `, 100_000)} {
		_, _, err := disputefile.Read(strings.NewReader(deep), disputefile.Options{})
		if text := params(err)["file"]; !strings.Contains(text, "nested more than 20 levels deep") {
			t.Errorf("%.20s…: %v %s", deep, err, text)
		}
	}
}
