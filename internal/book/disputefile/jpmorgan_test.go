package disputefile_test

import (
	"strings"
	"testing"

	"holdfast/internal/domain/dispute"
)

const jpmorganHeader = "Account Number,Acquirer Reference Number,Activity Date,Authorization Code,Company Name,Dispute Activity Date,Dispute Category Code,Dispute Category Code Text," +
	"Dispute Due Date,Dispute Initiate Date,Dispute Transaction Sequence Number,Financial Non-Financial Code,Issuer Dispute Presentment Currency Amount,Merchant Order Number," +
	"Payment Brand Dispute Reason Code,Payment Brand Dispute Reason Text,Payment Method Code,Payment Method Code Text,Post Deposit Event Action Presentment Currency Amount," +
	"Post Deposit Event Dispute Type Code,Post Deposit Event Dispute Type Code Text,Presentment Currency Code,Transaction Date,Transaction Reference Number\n"

func jpmorganRow(arn, on, auth, category, sequence, financial, amount, kind, kindText string) string {
	return strings.Join([]string{
		"402155XXXXXX0001", arn, on, auth, "Pacific", on, category, "", "5/26/2026", on, sequence, financial, amount, "T-012", "13.1", "SERVICES NOT PROVIDED", "VI", "VISA",
		amount, kind, kindText, "USD", "2/21/2026", "9.97E+11",
	}, ",") + "\n"
}

func TestJPMorganDisputeDetails(t *testing.T) {
	t.Parallel()
	parameters := "EntityIdentifier=100100,EntityName=Pacific,Frequency=adhoc\n"
	list := wantLines(t, parameters+"EntityIdentifier=100100,ReportTypeName=DisputeDetailsv2,FromDate=2026-05-01,ToDate=2026-05-31,GenerationTime=06:00:00\n"+jpmorganHeader+
		jpmorganRow("2.47E+22", "5/6/2026", "81273", "RECD", "77749", "FIN", "3300", "CB", "Chargeback")+
		jpmorganRow("24692166034100000000011", "5/6/2026", "L02442", "ENDINV", "77745", "NON", "475", "CB", "Chargeback")+
		jpmorganRow("765824430", "5/7/2026", "L1", "REP", "77749", "NON", "888.00", "CB", "Chargeback")+
		jpmorganRow("", "5/8/2026", "REFUND", "RTM", "77749", "FIN", "-888.5", "CB", "Chargeback")+
		jpmorganRow("", "2026-05-08", "", "RECD", "77750", "FIN", "1.50000000", "AJ", "Adjustments")+
		jpmorganRow("", "5/9/2026", "", "RECD", "77751", "NON", "5", "RR", "Retrieval Request")+
		jpmorganRow("", "5/9/2026", "", "NEWWORD", "77752", "FIN", "5", "PA", "Pre-Arbitration")+
		jpmorganRow("", "31/5/2026", "", "RECD", "77753", "FIN", "5", "CB", "Chargeback")+
		jpmorganRow("", "5/9/2026", "", "RECD", "77754", "MAYBE", "5", "CB", "Chargeback")+
		jpmorganRow("", "5/9/2026", "", "RECD", "77755", "FIN", "5", "ECP", "ECP Return")+parameters+"\n\n",
		"jpmorgan-disputes",
		"4 77749 chargeback/open debit 2026-05-06 3300.00 USD",
		"5 77745 chargeback/ none 2026-05-06 475.00 USD",
		"6 77749 chargeback/challenged none 2026-05-07 888.00 USD",
		"7 77749 chargeback/lost credit 2026-05-08 888.50 USD",
		"8 77750 chargeback/open debit 2026-05-08 1.50 USD",
		"9 77751 inquiry/open none 2026-05-09 5.00 USD",
		"10 77752 pre_arbitration/ debit 2026-05-09 5.00 USD",
		`11 ! Activity Date: "31/5/2026" is not a date such as 5/31/2026.`,
		`12 ! Financial Non-Financial Code: "MAYBE" is neither FIN nor NON.`,
		"13 - No card payment.",
	)
	want := dispute.Clues{PaymentReference: "T-012", AuthCode: "081273", LastFour: "0001", BIN: "402155", Scheme: "visa", PaidOn: on("2026-02-21")}
	clues(t, list[0].Reports[0], want, "Acquirer Reference Number", "Transaction Reference Number")
	want.AuthCode, want.AcquirerReference = "L02442", "24692166034100000000011"
	clues(t, list[1].Reports[0], want, "Transaction Reference Number")
	want.AuthCode, want.AcquirerReference = "", ""
	clues(t, list[3].Reports[0], want, "Transaction Reference Number", "Authorization Code")
	if r := list[0].Reports[0]; r.Merchant != "Pacific" || r.ReasonCode != "13.1" || r.DueOn != on("2026-05-26") {
		t.Errorf("%+v", r)
	}
	if n := list[6].Reports[0].Notes; len(n) != 2 || !strings.Contains(n[1].Text, "NEWWORD") {
		t.Errorf("%v", n)
	}
}
