package disputefile_test

import (
	"testing"

	"holdfast/internal/domain/dispute"
)

const stripeHeader = "id,Description,Dispute Created (UTC),Charge Created (UTC),Dispute Amount,Dispute Currency,Charge Amount,Charge Currency,Charge ID,Card Fingerprint,Card Brand," +
	"Card Funding,Customer Email,Customer ID,Reason,Status,Due By (UTC),Past Due,Has Evidence,Submission Count,Is Charge Refundable,Amount Refunded,Win Likelihood," +
	"Is Visa Rapid Dispute Resolution,Payment Method Type,Payment Intent,Account ID\n"

func stripeRow(id, amount, currency, status, rapid string) string {
	return id + ",A tour,2026-05-11 10:20,2026-02-14 20:20," + amount + "," + currency + "," + amount + "," + currency + ",ch_1,,Visa,credit,,,product_not_received," + status +
		",2026-05-25 23:59,false,false,0,false,0.00,," + rapid + ",card,pi_1,acct_1\n"
}

func TestStripeDisputes(t *testing.T) {
	t.Parallel()
	list := wantLines(t, stripeHeader+
		stripeRow("du_1", "1500.00", "gbp", "warning_needs_response", "false")+
		stripeRow("du_2", "1500.00", "gbp", "warning_under_review", "")+
		stripeRow("du_3", "1500.00", "gbp", "warning_closed", "false")+
		stripeRow("du_4", "1500.00", "gbp", "needs_response", "false")+
		stripeRow("du_5", "1500.00", "gbp", "under_review", "false")+
		stripeRow("du_6", "35000", "jpy", "lost", "false")+
		stripeRow("du_7", "1500.00", "GBP", "won", "false")+
		stripeRow("du_8", "1500.00", "gbp", "lost", "true")+
		stripeRow("du_9", "1500.00", "gbp", "prevented", "false")+
		stripeRow("du_10", "1500.00", "gbp", "charge_refunded", "false")+
		stripeRow("du_11", "", "gbp", "lost", "false"),
		"stripe-disputes",
		"2 du_1 inquiry/open none 2026-05-11 1500.00 GBP",
		"3 du_2 inquiry/challenged none 2026-05-11 1500.00 GBP",
		"4 du_3 inquiry/cancelled none 2026-05-11 1500.00 GBP",
		"5 du_4 chargeback/open debit 2026-05-11 1500.00 GBP",
		"6 du_5 chargeback/challenged debit 2026-05-11 1500.00 GBP",
		"7 du_6 chargeback/lost debit 2026-05-11 35000 JPY",
		"8 du_7 chargeback/open debit 2026-05-11 1500.00 GBP",
		"8 du_7 chargeback/won credit undated 1500.00 GBP",
		"9 du_8 pre_dispute/prevented prevented 2026-05-11 1500.00 GBP",
		"10 du_9 pre_dispute/prevented prevented 2026-05-11 1500.00 GBP",
		`11 ! Status: "charge_refunded" is not known.`,
		"12 ! Dispute Amount: is empty.")
	r := list[3].Reports[0]
	clues(t, r, dispute.Clues{
		ProcessorReference: "ch_1", ProcessorAlias: "pi_1", Scheme: "visa", PaidOn: on("2026-02-14"), PaidAmount: 150000, PaidCurrency: "GBP",
	})
	if r.Merchant != "acct_1" || r.Reason != "product_not_received" || r.DueOn != on("2026-05-25") {
		t.Errorf("%+v", r)
	}
}

func TestStripeWithTheNamesOfItsAPI(t *testing.T) {
	t.Parallel()
	list := wantLines(t, "id,amount,charge_id,created,currency,payment_intent_id,reason,status,evidence_details_due_by,network_reason_code\n"+
		"du_1,150000,ch_1,2026-05-11 23:20:00.000,gbp,pi_1,general,won,2026-05-25 23:59:59.000,13.1\n"+
		"du_2,150000.5,ch_1,2026-05-11,gbp,pi_1,general,lost,,\n"+
		"du_3,100,,1778493600,usd,pi_3,general,lost,,\n",
		"stripe-objects",
		"2 du_1 chargeback/open debit 2026-05-11 1500.00 GBP",
		"2 du_1 chargeback/won credit undated 1500.00 GBP",
		`3 ! amount: "150000.5" has decimals. Its amounts are whole numbers of minor units.`,
		"4 du_3 chargeback/lost debit 2026-05-11 1.00 USD")
	if r := list[0].Reports[0]; r.ReasonCode != "13.1" || r.DueOn != on("2026-05-25") {
		t.Errorf("%+v", r)
	}
	if c := list[2].Reports[0].Clues; c.ProcessorReference != "pi_3" || c.ProcessorAlias != "" {
		t.Errorf("%+v", c)
	}
	object := func(id, status string) string {
		return `{"id": "` + id + `", "object": "dispute", "amount": 1000, "charge": "ch_1", "created": 1778493600, "currency": "usd",
			"evidence_details": {"due_by": 1779753599, "has_evidence": false}, "payment_intent": null, "reason": "general", "status": "` + status + `",
			"payment_method_details": {"card": {"brand": "visa", "network_reason_code": "10.4", "case_type": "chargeback"}}}`
	}
	list = wantLines(t, `{"object": "list", "data": [`+object("du_1", "needs_response")+`, `+object("du_2", "warning_closed")+`], "has_more": false}`, "stripe-json",
		"1 du_1 chargeback/open debit 2026-05-11 10.00 USD", "2 du_2 inquiry/cancelled none 2026-05-11 10.00 USD")
	if r := list[0].Reports[0]; r.ReasonCode != "10.4" || r.Clues.Scheme != "visa" || r.DueOn != on("2026-05-25") {
		t.Errorf("%+v", r)
	}
}

func TestStripeBalanceTransactions(t *testing.T) {
	t.Parallel()
	wantLines(t, "balance_transaction_id,created,available_on,currency,gross,fee,net,reporting_category,source_id,charge_id,payment_intent_id,card_brand\n"+
		"txn_1,2026-02-14 20:20:20,2026-02-14 00:00:00,gbp,1500,21.20,1478.80,charge,ch_1,ch_1,pi_1,visa\n"+
		"txn_2,2026-05-11 10:20:00,2026-05-11 00:00:00,gbp,-1500,15,-1515.00,dispute,du_1,ch_1,pi_1,visa\n"+
		"txn_3,2026-06-20 10:20:00,2026-06-20 00:00:00,gbp,1500,0,1500.00,dispute_reversal,du_1,ch_1,pi_1,visa\n"+
		"txn_4,2026-06-20 10:20:00,2026-06-20 00:00:00,gbp,0,0,0,dispute,du_2,ch_1,pi_1,visa\n",
		"stripe-balance",
		"2 - charge: no dispute.",
		"3 du_1 chargeback/ debit 2026-05-11 1500.00 GBP",
		"3 du_1 / fee 2026-05-11 15.00 GBP",
		"4 du_1 chargeback/ credit 2026-06-20 1500.00 GBP",
		"5 ! gross: is empty or zero.")
}
