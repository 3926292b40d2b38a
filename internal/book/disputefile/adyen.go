package disputefile

import (
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
)

// adyenDisputes is Adyen's Dispute transaction details report.
var adyenDisputes = format{
	Format: Format{"adyen-disputes", "Adyen Dispute report"},
	needs:  []string{"Record Type", "Dispute PSP Reference", "Record Date", "Dispute Amount", "Dispute Currency"},
	open:   stateless(readAdyenDispute),
}

func readAdyenDispute(r *record) []dispute.Report {
	word, column, m, ok := r.word(dispute.Adyen, "Record Type")
	if !ok {
		r.wrong(column, "%q is not known.", clip(word))
		return nil
	}
	report := adyenReport(r, m, "Dispute PSP Reference")
	report.Day = r.mustDay(calendar{}, []string{"Record Date TimeZone"}, "Record Date", "Dispute Date")
	report.DueOn = r.day(calendar{}, []string{"Dispute End Date TimeZone"}, "Dispute End Date")
	report.Reason = r.text("Dispute Reason")
	switch m.Stage {
	case dispute.Inquiry:
		report.ReasonCode = r.text("RFI Reason Code", "NoF Reason Code", "CB Reason Code")
	default:
		report.ReasonCode = r.text("CB Reason Code", "RFI Reason Code", "NoF Reason Code")
	}
	report.Currency = r.currency("Dispute Currency")
	amount, _ := r.major(report.Currency, "Dispute Amount")
	if report.Amount = abs(amount); amount == 0 && report.Kind != dispute.NoMoney {
		r.wrong("Dispute Amount", "is empty or zero.")
	}
	c := &report.Clues
	c.AcquirerReference = r.acquirerReference("Dispute ARN", "ARN")
	r.card(c, "Shopper PAN")
	c.AuthCode = r.auth("Auth Code", "Authorisation Code")
	c.PaidOn = r.day(calendar{}, []string{"Payment Date TimeZone"}, "Payment Date")
	c.PaidCurrency = r.currency("Payment Currency")
	c.PaidAmount, _ = r.major(c.PaidCurrency, "Payment Amount")
	return []dispute.Report{report}
}

// adyenReport has what Adyen's reports share.
func adyenReport(r *record, m dispute.Meaning, caseColumn string) dispute.Report {
	report := dispute.Report{
		Source: dispute.Adyen, CaseID: r.caseID(caseColumn), Stage: m.Stage, Status: m.Status, Merchant: r.text("Merchant Account"),
		DueOn: noDay,
		Clues: dispute.Clues{
			ProcessorReference: r.id("Psp Reference"), PaymentReference: r.id("Merchant Reference"), Scheme: r.scheme("Payment Method"), PaidOn: noDay,
		},
	}
	if len(m.Moves) > 0 {
		report.Kind, report.Number = m.Moves[0].Kind, m.Moves[0].Number
	}
	return report
}

// adyenAccounting is Adyen's Payment accounting report. Most of its lines are payments.
var adyenAccounting = format{
	Format: Format{"adyen-accounting", "Adyen Payment accounting report"},
	needs:  []string{"Record Type", "Modification Psp Reference", "Booking Date", "Main Currency", "Main Amount"},
	open: stateless(func(r *record) []dispute.Report {
		return readAdyenMoney(r, "Record Type", "Modification Psp Reference", "Booking Date", func(report *dispute.Report) {
			report.Currency = r.currency("Main Currency")
			amount, _ := r.major(report.Currency, "Main Amount")
			if report.Amount = abs(amount); amount == 0 {
				r.wrong("Main Amount", "is empty or zero.")
			}
		})
	}),
}

// adyenSettlement is Adyen's Settlement details report. Most of its lines are payments.
var adyenSettlement = format{
	Format: Format{"adyen-settlement", "Adyen Settlement details report"},
	needs:  []string{"Type", "Modification Reference", "Creation Date", "Gross Currency", "Gross Debit (GC)", "Gross Credit (GC)"},
	open: stateless(func(r *record) []dispute.Report {
		return readAdyenMoney(r, "Type", "Modification Reference", "Creation Date", func(report *dispute.Report) {
			report.Currency = r.currency("Gross Currency")
			taken, _ := r.major(report.Currency, "Gross Debit (GC)")
			given, _ := r.major(report.Currency, "Gross Credit (GC)")
			switch net, err := money.Add(given, -taken); {
			case err != nil, net == 0:
				r.wrong("Gross Debit (GC)", "and Gross Credit (GC) say no amount.")
			case net > 0 && report.Kind == dispute.Debit, net < 0 && report.Kind == dispute.Credit:
				r.wrong("Type", "contradicts the columns of debit and credit.")
			default:
				report.Amount = abs(net)
			}
		})
	}),
}

// readAdyenMoney reads a line of a report about money. Only what moved money in a dispute is one.
func readAdyenMoney(r *record, typeColumn, caseColumn, dateColumn string, amount func(*dispute.Report)) []dispute.Report {
	word, _, m, ok := r.word(dispute.Adyen, typeColumn)
	if !ok || len(m.Moves) == 0 {
		return r.ignore("%s: no money of a dispute.", clip(word))
	}
	report := adyenReport(r, m, caseColumn)
	report.Day = r.mustDay(calendar{}, []string{"TimeZone"}, dateColumn)
	amount(&report)
	return []dispute.Report{report}
}
