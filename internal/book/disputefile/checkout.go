package disputefile

import (
	"strings"

	"holdfast/internal/domain/dispute"
)

// checkout is Checkout.com's Disputes report, checkoutJSON what its API returns. The money is taken when a dispute is received; winning says
// nothing about when it comes back. The report has major units, the API minor ones.
var (
	checkout = format{
		Format: Format{"checkout-disputes", "Checkout.com Disputes report"},
		needs: []string{
			"Dispute ID", "Dispute Issue Date UTC|Dispute Received Date UTC|Dispute Created Date UTC", "Dispute Status|Status|Dispute Indicator",
			"Dispute Amount|Disputed Amount|Amount", "Dispute Currency|Disputed Currency|Currency|Currency Symbol",
		},
		open: stateless(func(r *record) []dispute.Report {
			report := dispute.Report{
				Source: dispute.CheckoutCom, CaseID: r.caseID("Dispute ID"),
				Day:        r.mustDay(calendar{}, nil, "Dispute Issue Date UTC", "Dispute Received Date UTC", "Dispute Created Date UTC"),
				DueOn:      r.day(calendar{}, nil, "Evidence Required By Date UTC", "Evidence Required By UTC", "Evidence Required By"),
				Currency:   r.currency("Dispute Currency", "Disputed Currency", "Currency", "Currency Symbol"),
				ReasonCode: r.text("Reason Code", "Dispute Reason Code"), Reason: r.text("Dispute Reason", "Reason", "Dispute Category", "Category"),
				Merchant: r.text("Processing Channel Name", "Sub Entity Name", "Client Entity Name", "Client Name"),
				Clues: dispute.Clues{
					AcquirerReference: r.acquirerReference("Acquirer Reference Number", "ARN"), ProcessorReference: r.id("Payment ID"),
					ProcessorAlias: r.id("Action ID"), PaymentReference: r.id("Payment Reference", "Reference"),
					AuthCode: r.auth("Auth Code", "Authorization Code"), LastFour: r.lastFour("Last 4 Digits", "Card Last 4 Digits", "CC Last 4", "Last 4"),
					BIN: r.bin("CC BIN", "Card BIN", "BIN"), Scheme: r.scheme("Payment Method", "Payment Method Name", "Card Scheme"),
					PaidOn: r.day(calendar{}, nil, "Payment Date UTC", "Payment Requested On UTC"),
				},
			}
			amount, _ := r.major(report.Currency, "Dispute Amount", "Disputed Amount", "Amount")
			return checkoutReports(r, report, amount, "Dispute Status", "Status", "Dispute Indicator")
		}),
	}
	checkoutJSON = format{
		Format: Format{"checkout-json", "Checkout.com disputes (API)"}, kind: jsonFile,
		needs: []string{"id", "category", "amount", "currency", "status", "payment_id|payment", "received_on|last_update"},
		open: stateless(func(r *record) []dispute.Report {
			report := dispute.Report{
				Source: dispute.CheckoutCom, CaseID: r.caseID("id"), Day: r.mustDay(calendar{}, nil, "received_on", "last_update"),
				DueOn: r.day(calendar{}, nil, "evidence_required_by"), Currency: r.currency("currency"),
				ReasonCode: r.text("reason_code"), Reason: r.text("category"), Merchant: r.text("processing_channel_id", "payment.processing_channel_id", "sub_entity_id", "entity_id"),
				Clues: dispute.Clues{
					AcquirerReference: r.acquirerReference("payment_arn", "payment.arn"), ProcessorReference: r.id("payment_id", "payment.id"),
					ProcessorAlias: r.id("payment_action_id", "payment.action_id"), PaymentReference: r.id("payment_reference", "payment.reference"),
					Scheme: r.scheme("payment_method", "payment.method"), PaidOn: r.day(calendar{}, nil, "payment.processed_on"), PaidCurrency: r.currency("payment.currency"),
				},
			}
			report.Clues.PaidAmount, _ = r.minor(report.Clues.PaidCurrency, "payment.amount")
			amount, _ := r.minor(report.Currency, "amount")
			return checkoutReports(r, report, amount, "status")
		}),
	}
)

// checkoutReports are those of a status. A category such as fraudulent does not matter to it.
func checkoutReports(r *record, report dispute.Report, amount int64, statusColumns ...string) []dispute.Report {
	word, column, m, ok := r.word(dispute.CheckoutCom, statusColumns...)
	if !ok {
		r.wrong(column, "%q is not known.", clip(word))
		return nil
	}
	report.Amount, report.Stage, report.Status = abs(amount), m.Stage, m.Status
	if strings.Contains(strings.ToLower(r.text("Dispute Type", "Dispute Indicator")), "retrieval") {
		report.Stage = dispute.Inquiry
		return []dispute.Report{report}
	}
	if len(m.Moves) > 0 {
		if report.Kind, report.Number = m.Moves[0].Kind, 1; amount == 0 {
			r.wrong("Dispute Amount", "is empty or zero.")
		}
	}
	return []dispute.Report{report}
}
