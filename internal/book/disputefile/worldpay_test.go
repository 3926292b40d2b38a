package disputefile_test

import (
	"strings"
	"testing"

	"holdfast/internal/domain/dispute"
)

func worldpayCase(id, cycle, activities string) string {
	return `  <chargebackCase>
    <caseId>` + id + `</caseId>
    <merchantId>1288791</merchantId>
    <dayIssuedByBank>2026-05-04</dayIssuedByBank>
    <dateReceivedByVantivCnp>2026-05-06</dateReceivedByVantivCnp>
    <vantivCnpTxnId>21200000820903</vantivCnpTxnId>
    <cycle>` + cycle + `</cycle>
    <orderId>B-7-P1</orderId>
    <cardNumberLast4>0077</cardNumberLast4>
    <cardType>MC</cardType>
    <chargebackAmount>71000</chargebackAmount>
    <chargebackCurrencyType>USD</chargebackCurrencyType>
    <originalTxnDay>2026-02-01</originalTxnDay>
    <chargebackType>D</chargebackType>
    <reasonCode>4853</reasonCode>
    <reasonCodeDescription>T&amp;E - Services Not Provided</reasonCodeDescription>
    <acquirerReferenceNumber>55432866041200000000024</acquirerReferenceNumber>
    <bin>555555</bin>
    <paymentAmount>90000</paymentAmount>
    <replyByDay>2026-06-01</replyByDay>
` + activities + "  </chargebackCase>\n"
}

func activity(on, what, amount string) string {
	if amount != "" {
		amount = "<settlementAmount>" + amount + "</settlementAmount>"
	}
	return "    <activity><activityDate>" + on + "</activityDate><activityType>" + what + "</activityType>" + amount + "<notes>n</notes></activity>\n"
}

func TestWorldpayCases(t *testing.T) {
	t.Parallel()
	text := `<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>
<!DOCTYPE x [<!ENTITY a "aaaa">]>
<chargebackRetrievalResponse xmlns="http://www.vantivcnp.com/chargebacks">
  <transactionId>1234567890</transactionId>
` + worldpayCase("101", "First Chargeback", activity("2026-05-06", "Assign To Merchant", "")+activity("2026-05-12", "Merchant Represent", "71000")+activity("2026-05-13", "Add Note", "71000")) +
		worldpayCase("102", "Retrieval Request", "") + worldpayCase("103", "Pre-Arbitration", activity("2026-05-12", "Merchant Accepts Liability", "")) +
		worldpayCase("104", "Issuer Accepted Pre-Arbitration", "") + worldpayCase("105", "Rapid Dispute Resolution", "") + worldpayCase("", "Second Look", "") +
		"</chargebackRetrievalResponse>\n"
	list := wantLines(t, text, "worldpay-cases",
		"1 101 chargeback/open debit1 2026-05-06 710.00 USD",
		"1 101 /challenged credit 2026-05-12 710.00 USD",
		"2 102 inquiry/open none 2026-05-06 710.00 USD",
		"3 103 pre_arbitration/open debit1 2026-05-06 710.00 USD",
		"3 103 /accepted none 2026-05-12 710.00 USD",
		"4 104 pre_arbitration/won debit1 2026-05-06 710.00 USD",
		"5 105 pre_dispute/prevented prevented 2026-05-06 710.00 USD",
		`6 ! cycle: "Second Look" is not known.`)
	r := list[0].Reports[0]
	clues(t, r, dispute.Clues{
		AcquirerReference: "55432866041200000000024", ProcessorReference: "21200000820903", PaymentReference: "B-7-P1", LastFour: "0077", BIN: "555555", Scheme: "mastercard",
		PaidOn: on("2026-02-01"), PaidAmount: 90000, PaidCurrency: "USD",
	})
	if r.Merchant != "1288791" || r.DueOn != on("2026-06-01") || r.Reason != "T&E - Services Not Provided" || !strings.HasPrefix(list[1].Raw, "<chargebackCase>") ||
		!strings.HasSuffix(list[1].Raw, "</chargebackCase>") {
		t.Errorf("%+v, kept as %q", r, list[1].Raw)
	}
}

// TestXMLThatIsCutOffOrHostile: earlier cases are kept, entities are not expanded, and memory is bounded.
func TestXMLThatIsCutOffOrHostile(t *testing.T) {
	t.Parallel()
	one := worldpayCase("102", "Retrieval Request", "")
	opened := "1 102 inquiry/open none 2026-05-06 710.00 USD"
	for text, want := range map[string]string{
		one[:300]: "unexpected EOF",
		strings.Replace(one, "</caseId>", "</case>", 1):                           `element "caseId" is closed by "case"`,
		strings.Replace(one, "B-7-P1", "&lol;", 1):                                "invalid character entity &lol;",
		strings.Replace(one, "B-7-P1", strings.Repeat("x", 600_000), 1):           "a case is longer than 256 KiB",
		strings.Replace(one, "B-7-P1", strings.Repeat("<a>", 30), 1):              "nested more than 20 levels deep",
		strings.Replace(one, "B-7-P1", strings.Repeat("<a/>", 6000), 1):           "a case is longer than 256 KiB",
		strings.Replace(one, "<caseId>", "<!-- "+strings.Repeat("y", 600_000), 1): "a case is longer than 256 KiB",
	} {
		_, list := lines(t, "<r>"+one+text, disputeXML)
		if got := describe(list); len(got) != 2 || got[0] != opened || !strings.Contains(got[1], "2 ! The file cannot be read from case 2 on: ") || !strings.Contains(got[1], want) {
			t.Errorf("%.40q: %v, not %s", text, got, want)
		}
	}
}
