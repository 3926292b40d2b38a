package disputefile

import (
	"strings"

	"holdfast/internal/domain/dispute"
)

// jpmorgan is J.P. Morgan's Dispute Details report, of both versions. Rows of parameters precede the header and follow
// the last line. Days are those of the United States, in US format. Financial Non-Financial Code and the sign of the
// amount determine whether money moved, and in which direction.
var jpmorgan = format{
	Format: Format{"jpmorgan-disputes", "J.P. Morgan Dispute Details"},
	needs: []string{
		"Dispute Transaction Sequence Number", "Dispute Category Code", "Financial Non-Financial Code", "Activity Date", "Presentment Currency Code",
		"Post Deposit Event Action Presentment Currency Amount",
	},
	open: stateless(readJPMorgan),
}

func readJPMorgan(r *record) []dispute.Report {
	us := calendar{us: true}
	kind := strings.ToLower(r.text("Post Deposit Event Dispute Type Code Text") + " " + r.text("Post Deposit Event Dispute Type Code"))
	if strings.Contains(kind, "ecp") || strings.Contains(kind, "electronic check") {
		return r.ignore("No card payment.")
	}
	report := dispute.Report{
		Source: dispute.JPMorgan, CaseID: r.caseID("Dispute Transaction Sequence Number"), Stage: jpmorganStage(kind),
		Day: r.mustDay(us, nil, "Activity Date", "Dispute Activity Date"), DueOn: r.day(us, nil, "Dispute Due Date"),
		ReasonCode: r.text("Payment Brand Dispute Reason Code"), Reason: r.text("Payment Brand Dispute Reason Text"),
		Merchant: r.text("Company Name", "Transaction Division Name", "Transaction Division External Identifier"),
		Currency: r.currency("Presentment Currency Code"),
		Clues: dispute.Clues{
			AcquirerReference: r.acquirerReference("Acquirer Reference Number"), PaymentReference: r.id("Merchant Order Number"),
			ProcessorReference: r.id("Transaction Reference Number"), AuthCode: r.auth("Authorization Code"),
			Scheme: r.scheme("Payment Method Code Text", "Payment Method Code"), PaidOn: r.day(us, nil, "Transaction Date"),
		},
	}
	r.card(&report.Clues, "Account Number")
	word, column, m, ok := r.word(dispute.JPMorgan, "Dispute Category Code")
	if report.Status = m.Status; !ok {
		r.note(column, "%s is not known. The status of the case was left as it is.", clip(word))
	}
	amount, present := r.major(report.Currency, "Post Deposit Event Action Presentment Currency Amount", "Issuer Dispute Presentment Currency Amount")
	report.Amount = abs(amount)
	switch code := strings.ToUpper(r.text("Financial Non-Financial Code")); {
	case code == "NON":
	case code != "FIN":
		r.wrong("Financial Non-Financial Code", "%q is neither FIN nor NON.", clip(code))
	case !present || amount == 0:
		r.wrong("Post Deposit Event Action Presentment Currency Amount", "is empty or zero.")
	case amount > 0:
		report.Kind = dispute.Debit
	default:
		report.Kind = dispute.Credit
	}
	return []dispute.Report{report}
}

// jpmorganStage is the stage that the type of a dispute says. Adjustments are the chargebacks of debit networks.
func jpmorganStage(kind string) dispute.Stage {
	switch {
	case strings.Contains(kind, "retrieval"), strings.HasSuffix(kind, " rr"):
		return dispute.Inquiry
	case strings.Contains(kind, "pre-arb"), strings.Contains(kind, "prearb"), strings.Contains(kind, "pre arb"):
		return dispute.PreArbitration
	case strings.Contains(kind, "arbitration"):
		return dispute.Arbitration
	}
	return dispute.Chargeback
}
