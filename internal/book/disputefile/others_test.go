package disputefile_test

import (
	"strings"
	"testing"

	"holdfast/internal/book/disputefile"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
)

const noDay = civil.NoDay

var disputeXML = disputefile.Options{Format: "worldpay-cases"}

func TestCyberSource(t *testing.T) {
	t.Parallel()
	columns := "RequestID,MerchantID,MerchantReferenceNumber,CaseNumber,CaseType,CaseTime,ChargebackAmount,ChargebackCurrency,ChargebackReasonCode,ChargebackReasonCodeDescription," +
		"ChargebackTime,FinancialImpact,FinancialImpactType,FeeAmount,FeeCurrency,RespondByDate,ARN,CardType,AccountSuffix,AuthorizationCode"
	row := func(number, kind, at, impact, side, fee string) string {
		return "6300000000001,shop,B-7-P1," + number + "," + kind + "," + at + ",71.50,USD,13.1,Services not provided," + at + "," + impact + "," + side + "," + fee +
			",USD,2026-06-01,24692166034100000000011,Visa,1111,081273\n"
	}
	rows := row("C1", "Chargeback", "2026-05-06T23:30:00-0800", "Y", "Debit", "") + row("C1", "Representment", "2026-05-20", "Y", "CR", "") +
		row("C2", "Retrieval", "2026-05-06", "N", "None", "") + row("C3", "Chargeback", "2026-05-06", "N", "", "15.00") + row("C4", "Guess", "2026-05-06", "Y", "DB", "") +
		row("C5", "Chargeback", "2026-05-06", "Y", "", "")
	want := func(first int) []string {
		list := []string{
			" C1 chargeback/open debit 2026-05-07 71.50 USD", " C1 chargeback/challenged credit 2026-05-20 71.50 USD", " C2 inquiry/open none 2026-05-06 71.50 USD",
			" C3 chargeback/open none 2026-05-06 71.50 USD", " C3 / fee 2026-05-06 15.00 USD", ` ! CaseType: "Guess" is not known.`,
			` ! FinancialImpactType: "" is neither debit nor credit nor none.`,
		}
		for i, n := range []int{0, 1, 2, 3, 3, 4, 5} {
			list[i] = string(rune('0'+first+n)) + list[i]
		}
		return list
	}
	list := wantLines(t, "Chargeback and Retrieval Report,1.0,2026-05-06 to 2026-05-20\n"+columns+"\n"+rows, "cybersource", want(3)...)
	r := list[0].Reports[0]
	clues(t, r, dispute.Clues{
		AcquirerReference: "24692166034100000000011", ProcessorReference: "6300000000001", PaymentReference: "B-7-P1", LastFour: "1111", AuthCode: "081273", Scheme: "visa", PaidOn: noDay,
	})
	if r.Merchant != "shop" || r.ReasonCode != "13.1" || r.DueOn != on("2026-06-01") {
		t.Errorf("%+v", r)
	}
	grouped := strings.NewReplacer("Case", "ChargebackAndRetrieval_Case", "RequestID", "Request_RequestID").Replace(columns)
	_, list = lines(t, grouped+"\n"+rows, disputefile.Options{})
	if got := describe(list); got[0] != want(2)[0] || !strings.HasSuffix(got[5], `_CaseType: "Guess" is not known.`) {
		t.Errorf("%q", got)
	}
	wantLines(t, "TrackingNumber,RequestId,MerchantName,MerchantReferenceNumber,NatureOfDispute,CBAmount,CurrencyCode,CBSign,CBDate,CBReasonCode,ResponseDueDate,CardType\n"+
		"X1,630,Shop,B-7,Chargeback - Fraud,10,EUR,D,5/31/2026,10.4,6/20/2026,Visa\nX1,630,Shop,B-7,Chargeback Reversal,10,EUR,+,6/1/2026,10.4,,Visa\n", "cybersource",
		"2 X1 chargeback/open debit 2026-05-31 10.00 EUR", "3 X1 chargeback/won credit 2026-06-01 10.00 EUR")
	wantLines(t, `{"organizationId": "x", "chargebackDetails": [{"trackingNumber": "X1", "natureOfDispute": "Chargeback", "amount": "10.00", "sign": "D", "currencyCode": "EUR",
		"time": "2026-05-31T00:00:00Z", "requestId": "630", "merchantReferenceNumber": "B-7"}]}`, "cybersource-json", "1 X1 chargeback/open debit 2026-05-31 10.00 EUR")
}

func TestCheckoutCom(t *testing.T) {
	t.Parallel()
	row := func(id, status, amount string) string {
		return id + ",2026-05-11 23:20:00,2026-05-12 01:00:00,Client,Entity,,Web,4722," + status + "," + amount + ",GBP,10.4,Fraud,2026-05-25 18:00:00,pay_1,B-7-P1,24692166034100000000011,VISA,1111\n"
	}
	list := wantLines(t, "Dispute ID,Dispute Issue Date UTC,Dispute Created Date UTC,Client Name,Client Entity Name,Sub Entity Name,Processing Channel Name,Merchant Category Code,Dispute Status,"+
		"Dispute Amount,Dispute Currency,Reason Code,Dispute Reason,Evidence Required By Date UTC,Payment ID,Payment Reference,ARN,Payment Method,Last 4\n"+
		row("dsp_1", "Evidence Required", "81.50")+row("dsp_2", "won", "81.50")+row("dsp_3", "Canceled", "81.50")+row("dsp_4", "lost", "")+row("dsp_5", "unknown", "1"),
		"checkout-disputes",
		"2 dsp_1 chargeback/open debit1 2026-05-11 81.50 GBP",
		"3 dsp_2 chargeback/won debit1 2026-05-11 81.50 GBP",
		"4 dsp_3 chargeback/cancelled none 2026-05-11 81.50 GBP",
		"5 ! Dispute Amount: is empty or zero.",
		`6 ! Dispute Status: "unknown" is not known.`)
	clues(t, list[0].Reports[0], dispute.Clues{
		AcquirerReference: "24692166034100000000011", ProcessorReference: "pay_1", PaymentReference: "B-7-P1", LastFour: "1111", Scheme: "visa", PaidOn: noDay,
	})
	list = wantLines(t, `{"limit": 50, "total_count": 1, "data": [{"id": "dsp_1", "category": "fraudulent", "amount": 8150, "currency": "GBP", "reason_code": "10.4", "status": "evidence_under_review",
		"evidence_required_by": "2026-05-25T18:00:00Z", "received_on": "2026-05-11T23:20:00Z", "payment_id": "pay_1", "payment_action_id": "act_1", "payment_reference": "B-7-P1",
		"payment_arn": "24692166034100000000011", "payment_method": "VISA"}]}`, "checkout-json", "1 dsp_1 chargeback/challenged debit1 2026-05-11 81.50 GBP")
	if r := list[0].Reports[0]; r.DueOn != on("2026-05-25") || r.Clues.ProcessorAlias != "act_1" || r.Reason != "fraudulent" {
		t.Errorf("%+v", r)
	}
}
