package disputefile

import (
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
)

const noDay = civil.NoDay

// stripeDisputes is what Stripe's dashboard exports.
var stripeDisputes = format{
	Format: Format{"stripe-disputes", "Stripe disputes export"},
	needs:  []string{"id", "Dispute Created (UTC)", "Dispute Amount", "Dispute Currency", "Status"},
	open: stateless(func(r *record) []dispute.Report {
		base := dispute.Report{
			Source: dispute.Stripe, CaseID: r.caseID("id"), Merchant: r.text("Account ID"), Reason: r.text("Reason"),
			Day: r.mustDay(calendar{}, nil, "Dispute Created (UTC)"), DueOn: r.day(calendar{}, nil, "Due By (UTC)"),
			Currency: r.currency("Dispute Currency"),
			Clues:    dispute.Clues{Scheme: r.scheme("Card Brand"), PaidOn: r.day(calendar{}, nil, "Charge Created (UTC)"), PaidCurrency: r.currency("Charge Currency")},
		}
		base.Amount, _ = r.major(base.Currency, "Dispute Amount")
		base.Clues.PaidAmount, _ = r.major(base.Clues.PaidCurrency, "Charge Amount")
		r.stripePayment(&base.Clues, r.id("Charge ID"), r.id("Payment Intent", "Payment Intent ID"))
		return stripeReports(r, base, "Status", strings.EqualFold(r.text("Is Visa Rapid Dispute Resolution"), "true"))
	}),
}

// stripePayment keeps both names of a payment: merchants keep one or the other.
func (r *record) stripePayment(c *dispute.Clues, charge, intent string) {
	if c.ProcessorReference, c.ProcessorAlias = charge, intent; charge == "" {
		c.ProcessorReference, c.ProcessorAlias = intent, ""
	}
}

// stripeReports are those of a status: money moves with it (R14).
func stripeReports(r *record, base dispute.Report, statusColumn string, rapid bool) []dispute.Report {
	word, column, m, ok := r.word(dispute.Stripe, statusColumn)
	if !ok {
		r.wrong(column, "%q is not known.", clip(word))
		return nil
	}
	if rapid {
		m, _ = dispute.Means(dispute.Stripe, "prevented")
	}
	base.Amount, base.Stage, base.Status = abs(base.Amount), m.Stage, m.Status
	if len(m.Moves) == 0 {
		return []dispute.Report{base}
	}
	if base.Amount == 0 && len(r.problems) == 0 {
		r.wrong("Dispute Amount", "is empty.")
	}
	var reports []dispute.Report
	for i, move := range m.Moves {
		next := base
		if next.Kind, next.Number = move.Kind, move.Number; move.Undated {
			next.Day = noDay
		}
		if i < len(m.Moves)-1 { // the status came with the last movement
			next.Status = dispute.Open
		}
		reports = append(reports, next)
	}
	return reports
}

// stripeObjects is the table of disputes of Stripe Sigma and of exports with the names of the API; stripeJSON is what the API and the command line
// return. Amounts are in minor units.
var (
	stripeObjects = format{
		Format: Format{"stripe-objects", "Stripe disputes (API and Sigma)"},
		needs:  []string{"id", "amount", "currency", "charge_id|charge", "status", "created", "reason"},
		open:   stateless(readStripeObject),
	}
	stripeJSON = format{
		Format: Format{"stripe-json", "Stripe disputes (API and Sigma)"}, kind: jsonFile,
		needs: []string{"id", "amount", "currency", "charge", "status", "created", "evidence_details"},
		open:  stateless(readStripeObject),
	}
)

func readStripeObject(r *record) []dispute.Report {
	base := dispute.Report{
		Source: dispute.Stripe, CaseID: r.caseID("id"), Reason: r.text("reason"),
		ReasonCode: r.text("network_reason_code", "payment_method_details.card.network_reason_code", "payment_method_details_card_network_reason_code"),
		Day:        r.stripeTime("created"), DueOn: r.stripeTime("evidence_details_due_by", "evidence_details.due_by"),
		Currency: r.currency("currency"),
		Clues: dispute.Clues{
			Scheme: r.scheme("payment_method_details.card.brand", "payment_method_details_card_brand", "card_brand"), PaidOn: noDay,
		},
	}
	if base.Day == noDay && len(r.problems) == 0 {
		r.wrong("created", "is empty. It is the date of the event.")
	}
	base.Amount, _ = r.minor(base.Currency, "amount")
	r.stripePayment(&base.Clues, r.id("charge_id", "charge", "charge.id"), r.id("payment_intent_id", "payment_intent", "payment_intent.id"))
	rapid := r.text("payment_method_details.card.case_type") == "block" && r.text("status") == "lost"
	return stripeReports(r, base, "status", rapid)
}

// stripeTime reads a time as the API has it, in seconds, or as tables write it.
func (r *record) stripeTime(names ...string) civil.Day {
	text, column := r.cell(names...)
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil && len(text) >= 9 {
		day := civil.DayOf(time.Unix(seconds, 0))
		if day < civil.FirstDay || day > civil.LastDay {
			r.wrong(column, "%q is not between %s and %s.", clip(text), civil.FirstDay, civil.LastDay)
			return noDay
		}
		return day
	}
	return r.day(calendar{}, nil, names...)
}

// stripeBalance is Stripe's balance transactions, itemised. Most of its lines are payments. Amounts are in major units,
// negative if they leave the account.
var stripeBalance = format{
	Format: Format{"stripe-balance", "Stripe balance transactions"},
	needs:  []string{"balance_transaction_id", "reporting_category", "source_id|dispute_id", "created|created_utc", "currency", "gross"},
	open:   stateless(readStripeBalance),
}

func readStripeBalance(r *record) []dispute.Report {
	word, _, m, ok := r.word(dispute.Stripe, "reporting_category")
	if !ok || !strings.HasPrefix(word, "dispute") {
		return r.ignore("%s: no dispute.", clip(word))
	}
	report := dispute.Report{
		Source: dispute.Stripe, CaseID: r.caseID("dispute_id", "source_id"), Stage: m.Stage, Kind: m.Moves[0].Kind, DueOn: noDay,
		Day: r.mustDay(calendar{}, nil, "created_utc", "created"), Currency: r.currency("currency"), Reason: r.text("dispute_reason"),
		Clues: dispute.Clues{
			Scheme: r.scheme("card_brand"), PaymentReference: r.id("payment_metadata[reference]", "payment_metadata[order_id]"),
			PaidOn: r.day(calendar{}, nil, "charge_created_utc", "charge_created"),
		},
	}
	r.stripePayment(&report.Clues, r.id("charge_id"), r.id("payment_intent_id"))
	gross, present := r.major(report.Currency, "gross")
	switch report.Amount = abs(gross); {
	case !present || gross == 0:
		r.wrong("gross", "is empty or zero.")
	case gross < 0:
		report.Kind = dispute.Debit
	default:
		report.Kind = dispute.Credit
	}
	reports := []dispute.Report{report}
	if fee, _ := r.major(report.Currency, "fee"); fee > 0 {
		of := report
		of.Stage, of.Kind, of.Amount = "", dispute.Fee, fee
		reports = append(reports, of)
	}
	return reports
}
