package disputefile

import (
	"fmt"

	"holdfast/internal/domain/dispute"
)

// worldpay is the chargeback cases of Worldpay's eComm Chargeback API in XML. Amounts are in minor units. The chargeback was debited when it was
// received; an amount that was represented and settled has come back.
var worldpay = format{
	Format: Format{"worldpay-cases", "Worldpay chargeback cases (XML)"}, kind: xmlFile, element: "chargebackCase",
	needs: []string{"caseId", "cycle"},
	open:  stateless(readWorldpay),
}

func readWorldpay(r *record) []dispute.Report {
	word, column, m, ok := r.word(dispute.Worldpay, "cycle")
	if !ok {
		r.wrong(column, "%q is not known.", clip(word))
		return nil
	}
	base := dispute.Report{
		Source: dispute.Worldpay, CaseID: r.caseID("caseId"), Merchant: r.text("merchantId"), DueOn: noDay,
		Day:      r.mustDay(calendar{}, nil, "dateReceivedByVantivCnp", "dayReceivedByVantivCnp", "dayReceivedByLitle", "dayIssuedByBank"),
		Currency: r.currency("chargebackCurrencyType"),
		Clues: dispute.Clues{
			AcquirerReference: r.acquirerReference("acquirerReferenceNumber"), ProcessorReference: r.id("vantivCnpTxnId", "litleTxnId"),
			ProcessorAlias: r.id("merchantTxnId"), PaymentReference: r.id("orderId"), LastFour: r.lastFour("cardNumberLast4"), BIN: r.bin("bin"),
			Scheme: r.scheme("cardType"), PaidOn: r.day(calendar{}, nil, "originalTxnDay"), PaidCurrency: r.currency("chargebackCurrencyType"),
		},
	}
	base.Amount, _ = r.minor(base.Currency, "chargebackAmount")
	base.Clues.PaidAmount, _ = r.minor(base.Clues.PaidCurrency, "paymentAmount")
	base.Amount = abs(base.Amount)
	state := base
	state.Stage, state.Status = m.Stage, m.Status
	state.DueOn, state.ReasonCode, state.Reason = r.day(calendar{}, nil, "replyByDay"), r.text("reasonCode"), r.text("reasonCodeDescription")
	if len(m.Moves) > 0 {
		if base.Amount == 0 {
			r.wrong("chargebackAmount", "is empty or zero.")
		}
		if state.Kind = m.Moves[0].Kind; state.Kind == dispute.Debit {
			state.Number = 1
		}
	}
	return append([]dispute.Report{state}, r.worldpayActivities(base)...)
}

// worldpayActivities returns the activities of a case, in the order of the file. Most activities move a case from queue
// to queue.
func (r *record) worldpayActivities(base dispute.Report) (reports []dispute.Report) {
	for i := 0; ; i++ {
		at := func(name string) string { return fmt.Sprintf("activity.%d.%s", i, name) }
		if r.text(at("activityType"), at("activityDate")) == "" {
			return reports
		}
		_, _, m, ok := r.word(dispute.Worldpay, at("activityType"))
		if !ok || m.Status == "" {
			continue
		}
		next := base
		next.Stage, next.Status = m.Stage, m.Status
		next.Day = r.mustDay(calendar{}, nil, at("activityDate"))
		if len(m.Moves) > 0 && r.text(at("settlementAmount")) != "" {
			if c := r.currency(at("settlementCurrencyType")); c != "" {
				next.Currency = c
			}
			amount, _ := r.minor(next.Currency, at("settlementAmount"))
			if next.Amount = abs(amount); next.Amount > 0 {
				next.Kind = m.Moves[0].Kind
			}
		}
		reports = append(reports, next)
	}
}
