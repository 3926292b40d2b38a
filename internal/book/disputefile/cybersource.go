package disputefile

import (
	"strings"

	"holdfast/internal/domain/dispute"
)

// cyberSource is CyberSource's Chargeback and Retrieval report, and its older Chargeback report. Whether money moved, and which way, say
// FinancialImpact with FinancialImpactType, or CBSign. cyberSourceJSON is the same of the REST API. Columns may carry the name of their group
// before them, as in ChargebackAndRetrieval_CaseNumber.
var (
	cyberSource = format{
		Format: Format{"cybersource", "CyberSource Chargeback and Retrieval report"},
		needs: []string{
			"CaseNumber|CaseIdentifier|TrackingNumber", "CaseType|NatureOfDispute", "ChargebackAmount|CBAmount",
			"ChargebackCurrency|CurrencyCode", "ChargebackTime|CaseTime|CBDate", "FinancialImpactType|FinancialImpact|CBSign",
		},
		open: stateless(readCyberSource),
	}
	cyberSourceJSON = format{
		Format: Format{"cybersource-json", "CyberSource Chargeback and Retrieval report"}, kind: jsonFile,
		needs: []string{"trackingNumber", "natureOfDispute", "amount", "currencyCode", "time", "sign"},
		open:  stateless(readCyberSource),
	}
)

func readCyberSource(r *record) []dispute.Report {
	word, column, m, ok := r.word(dispute.CyberSource, "CaseType", "NatureOfDispute")
	if !ok {
		if m, ok = cyberSourceNature(word); !ok {
			r.wrong(column, "%q is not known.", clip(word))
			return nil
		}
	}
	report := dispute.Report{
		Source: dispute.CyberSource, CaseID: r.caseID("CaseNumber", "CaseIdentifier", "TrackingNumber"), Stage: m.Stage, Status: m.Status,
		Day:      r.mustDay(calendar{us: true}, nil, "ChargebackTime", "CaseTime", "CBDate", "time"),
		DueOn:    r.day(calendar{us: true}, nil, "RespondByDate", "ResponseDueDate", "responseDueTime"),
		Currency: r.currency("ChargebackCurrency", "CurrencyCode"), ReasonCode: r.text("ChargebackReasonCode", "CBReasonCode", "reasonCode"),
		Reason:   r.text("ChargebackReasonCodeDescription", "ChargebackReasonCode Description", "ChargebackMessage", "CBActionDescription", "actionDescription"),
		Merchant: r.text("MerchantName", "MerchantID", "CyberSourceId", "ProcessorMerchantId"),
		Clues: dispute.Clues{
			AcquirerReference: r.acquirerReference("ARN", "AdjustmentARN"), ProcessorReference: r.id("RequestID"),
			ProcessorAlias: r.id("TransactionReferenceNumber"), PaymentReference: r.id("MerchantReferenceNumber"),
			AuthCode: r.auth("AuthorizationCode"), Scheme: r.scheme("CardType"), PaidOn: r.day(calendar{us: true}, nil, "TransactionDate", "OriginalSettlementDate", "originalSettlementTime"),
			PaidCurrency: r.currency("ChargebackOriginalCurrency"),
		},
	}
	r.card(&report.Clues, "AccountSuffix", "CardNumber")
	report.Clues.PaidAmount, _ = r.major(report.Clues.PaidCurrency, "ChargebackOriginalAmount")
	amount, present := r.major(report.Currency, "ChargebackAmount", "CBAmount", "amount")
	report.Amount = abs(amount)
	if report.Kind = r.cyberSourceMoney(report.Stage); report.Kind != dispute.NoMoney && (!present || amount == 0) {
		r.wrong("ChargebackAmount", "is empty or zero.")
	}
	if report.Kind == dispute.Credit && report.Status == dispute.Open {
		report.Status = dispute.Won
	}
	reports := []dispute.Report{report}
	fees := r.currency("FeeCurrency")
	if fee, _ := r.major(fees, "FeeAmount"); fee != 0 {
		of := report
		of.Stage, of.Status, of.Kind, of.Amount, of.Currency, of.DueOn, of.ReasonCode = "", "", dispute.Fee, abs(fee), fees, noDay, ""
		reports = append(reports, of)
	}
	return reports
}

// cyberSourceNature reads the nature of a dispute, which begins with its word: Chargeback - Fraud.
func cyberSourceNature(word string) (dispute.Meaning, bool) {
	lower := strings.ToLower(word)
	for _, w := range []string{"Pre-Arbitration", "Second Chargeback", "Chargeback Reversal", "Arbitration", "Representment", "Retrieval", "Chargeback"} {
		if strings.Contains(lower, strings.ToLower(w)) {
			return dispute.Means(dispute.CyberSource, w)
		}
	}
	return dispute.Meaning{}, false
}

// cyberSourceMoney is what moved. A retrieval moves nothing.
func (r *record) cyberSourceMoney(stage dispute.Stage) dispute.Kind {
	impact := strings.ToUpper(r.text("FinancialImpact"))
	word, column := r.cell("FinancialImpactType", "CBSign", "sign")
	switch word = strings.ToLower(word); {
	case stage == dispute.Inquiry, strings.HasPrefix(impact, "N"):
		return dispute.NoMoney
	case strings.HasPrefix(word, "d"), word == "-":
		return dispute.Debit
	case strings.HasPrefix(word, "c"), word == "+":
		return dispute.Credit
	case strings.HasPrefix(word, "n"), word == "" && impact == "":
		return dispute.NoMoney
	}
	r.wrong(column, "%q is neither debit nor credit nor none.", clip(word))
	return dispute.NoMoney
}
