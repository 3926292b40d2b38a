package disputefile_test

import (
	"strings"
	"testing"

	"holdfast/internal/domain/dispute"
)

const adyenHeader = "Company Account,Merchant Account,Psp Reference,Merchant Reference,Payment Method,Record Date,Record Date TimeZone,Dispute Currency,Dispute Amount," +
	"Record Type,Dispute PSP Reference,Dispute Reason,RFI Scheme Code,RFI Reason Code,CB Scheme Code,CB Reason Code,NoF Scheme Code,NoF Reason Code,Payment Date," +
	"Payment Date TimeZone,Payment Currency,Payment Amount,Dispute Date,Dispute Date TimeZone,Dispute ARN,User Name,Risk Scoring,Shopper Interaction,Shopper Name," +
	"Shopper PAN,Iban,Dispute Auto Defended,Dispute End Date,Dispute End Date TimeZone\n"

func adyenRow(word, date, zone, currency, amount string) string {
	return "Co,Shop,8836000000000011,B-7-P1,visa," + date + "," + zone + "," + currency + "," + amount + "," + word + ",DSP1,Services Not Received,,37,visa,13.1,,83," +
		"2026-02-03 23:30:00,PST,EUR,1200.00," + date + "," + zone + ",24692166034100000000011,,,Ecommerce,A. Person,411111******1111,,false,2026-06-08 23:59:00,CEST\n"
}

func TestAdyenDisputes(t *testing.T) {
	t.Parallel()
	list := wantLines(t, adyenHeader+
		adyenRow("NotificationOfFraud", "2026-05-01 09:00:00", "UTC", "EUR", "1200.00")+
		adyenRow("RequestForInformation", "2026-05-02 09:00:00", "UTC", "EUR", "1200.00")+
		adyenRow("NotificationOfChargeback", "2026-05-03 09:00:00", "UTC", "EUR", "1200.00")+
		adyenRow("Chargeback", "2026-05-12 00:30:00", "CEST", "EUR", "1200.00")+
		adyenRow("InformationSupplied", "2026-05-13 10:00:00", "UTC", "EUR", "1200.00")+
		adyenRow("ChargebackReversed", "2026-06-15 18:00:00", "PDT", "EUR", "1200.00")+
		adyenRow("SecondChargeback", "2026-07-20 10:00:00", "Europe/Madrid", "JPY", "160875")+
		adyenRow("Chargebackish", "2026-07-20 10:00:00", "UTC", "EUR", "1")+
		adyenRow("Chargeback", "2026-07-20 10:00:00", "XYZ", "EUR", "1.005")+
		adyenRow("Chargeback", "", "UTC", "", "5")+
		adyenRow("Chargeback", "2026-07-20 10:00:00", "UTC", "EUR", "0.00"),
		"adyen-disputes",
		"2 DSP1 inquiry/open none 2026-05-01 1200.00 EUR",
		"3 DSP1 inquiry/open none 2026-05-02 1200.00 EUR",
		"4 DSP1 chargeback/open none 2026-05-03 1200.00 EUR",
		"5 DSP1 chargeback/open debit1 2026-05-11 1200.00 EUR",
		"6 DSP1 /challenged none 2026-05-13 1200.00 EUR",
		"7 DSP1 chargeback/won credit 2026-06-16 1200.00 EUR",
		"8 DSP1 pre_arbitration/lost debit2 2026-07-20 160875 JPY",
		`9 ! Record Type: "Chargebackish" is not known.`,
		`10 ! Record Date TimeZone: "XYZ" is not known as a time zone. Dispute Amount: it is not clear whether "1.005" has thousands or decimals.`,
		"11 ! Record Date: is empty. It is the date of the event. Dispute Amount: has no currency.",
		"12 ! Dispute Amount: is empty or zero.",
	)
	r := list[3].Reports[0]
	clues(t, r, dispute.Clues{
		AcquirerReference: "24692166034100000000011", ProcessorReference: "8836000000000011", PaymentReference: "B-7-P1", LastFour: "1111", BIN: "411111",
		Scheme: "visa", PaidOn: on("2026-02-04"), PaidAmount: 120000, PaidCurrency: "EUR",
	})
	if r.Source != "adyen" || r.Merchant != "Shop" || r.ReasonCode != "13.1" || r.DueOn != on("2026-06-08") || r.Reason != "Services Not Received" {
		t.Errorf("%+v", r)
	}
	if code := list[1].Reports[0].ReasonCode; code != "37" {
		t.Errorf("the code of a request is %s", code)
	}
	if raw := list[3].Raw; raw != strings.TrimSpace(adyenRow("Chargeback", "2026-05-12 00:30:00", "CEST", "EUR", "1200.00")) {
		t.Errorf("kept as %q", raw)
	}
}

// TestAdyensOtherReportsHaveTheSameMovements: under the same name of the case, so that each counts once.
func TestAdyensOtherReportsHaveTheSameMovements(t *testing.T) {
	t.Parallel()
	accounting := "Company Account,Merchant Account,Psp Reference,Merchant Reference,Payment Method,Booking Date,TimeZone,Main Currency,Main Amount,Record Type,Payment Currency," +
		"Received (PC),Authorised (PC),Captured (PC),Settlement Currency,Payable (SC),Modification Psp Reference\n" +
		"Co,Shop,8836000000000011,B-7-P1,visa,2026-02-03 10:00:00,CET,EUR,1200.00,SentForSettle,EUR,,-1200,1200,EUR,,8836000000000012\n" +
		"Co,Shop,8836000000000011,B-7-P1,visa,2026-05-12 00:30:00,CEST,EUR,1200.00,Chargeback,EUR,,,-1200,EUR,-1200,DSP1\n" +
		"Co,Shop,8836000000000011,B-7-P1,visa,2026-06-15 10:00:00,CEST,EUR,-1200.00,ChargebackReversed,EUR,,,1200,EUR,1200,DSP1\n"
	wantLines(t, accounting, "adyen-accounting",
		"2 - SentForSettle: no money of a dispute.",
		"3 DSP1 chargeback/open debit1 2026-05-11 1200.00 EUR",
		"4 DSP1 chargeback/won credit 2026-06-15 1200.00 EUR")
	settlement := "Company Account,Merchant Account,Psp Reference,Merchant Reference,Payment Method,Creation Date,TimeZone,Type,Modification Reference,Gross Currency," +
		"Gross Debit (GC),Gross Credit (GC),Exchange Rate,Net Currency,Net Debit (NC),Net Credit (NC)\n" +
		"Co,Shop,8836000000000011,B-7-P1,visa,2026-02-03 10:15:00,CET,Settled,,EUR,,1200.00,1,EUR,,1199.60\n" +
		"Co,Shop,8836000000000011,B-7-P1,visa,2026-05-12 00:30:00,CEST,Chargeback,DSP1,EUR,1200.00,,1,EUR,1200.00,\n" +
		"Co,Shop,8836000000000011,B-7-P1,visa,2026-06-15 10:00:00,CEST,ChargebackReversed,DSP1,EUR,,1200.00,1,EUR,,1200.00\n" +
		"Co,Shop,8836000000000011,B-7-P1,visa,2026-06-15 10:00:00,CEST,Chargeback,DSP2,EUR,,1200.00,1,EUR,,1200.00\n" +
		"Co,Shop,8836000000000011,B-7-P1,visa,2026-06-15 10:00:00,CEST,SecondChargeback,5.5E+15,EUR,,,1,EUR,,\n"
	list := wantLines(t, settlement, "adyen-settlement",
		"2 - Settled: no money of a dispute.",
		"3 DSP1 chargeback/open debit1 2026-05-11 1200.00 EUR",
		"4 DSP1 chargeback/won credit 2026-06-15 1200.00 EUR",
		"5 ! Type: contradicts the columns of debit and credit.",
		"6 ! Modification Reference: 5.5E+15 is what a spreadsheet has left of the name of the case. Export the file again without opening it in a spreadsheet. "+
			"Gross Debit (GC): and Gross Credit (GC) say no amount.")
	if r := list[1].Reports[0]; r.Clues.ProcessorReference != "8836000000000011" || r.Clues.PaymentReference != "B-7-P1" || r.Clues.Scheme != "visa" {
		t.Errorf("%+v", r.Clues)
	}
}
