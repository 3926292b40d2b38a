package disputefile

import (
	"cmp"
	"fmt"
	"slices"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
)

// braintree is Braintree's disputes in JSON, with the names of its GraphQL API or of its REST API and webhooks. Money has moved only where the
// history of a status has a day of disbursement (R14).
var braintree = format{
	Format: Format{"braintree", "Braintree disputes (JSON)"}, kind: jsonFile,
	needs: []string{"id", "status", "amountDisputed|amount_disputed", "type|kind"},
	open:  stateless(readBraintree),
}

// braintreeStep is one entry of the history of a case.
type braintreeStep struct {
	status   dispute.Status
	move     dispute.Kind
	on, paid civil.Day
}

func readBraintree(r *record) []dispute.Report {
	kind, column, m, ok := r.word(dispute.Braintree, "type", "kind")
	if !ok || m.Stage == "" {
		r.wrong(column, "%q is not known.", clip(kind))
		return nil
	}
	report := dispute.Report{
		Source: dispute.Braintree, CaseID: r.caseID("graphQLId", "graphql_id", "id"), Stage: m.Stage,
		Currency:   r.currency("amountDisputed.currencyCode", "amountDisputed.currencyIsoCode", "currencyIsoCode", "currency_iso_code"),
		DueOn:      r.day(calendar{}, nil, "replyByDate", "reply_by_date"),
		ReasonCode: r.text("reasonCode", "reason_code", "processorReasonCode"), Reason: r.text("reason", "reasonDescription", "reason_description"),
		Merchant: r.text("merchantAccountId", "merchant_account_id", "transaction.merchantAccountId"),
		Clues: dispute.Clues{
			ProcessorReference: r.id("transaction.graphQLId", "transaction.graphql_id", "transaction.id"),
			ProcessorAlias:     r.id("transaction.legacyId", "transaction.id"),
			PaymentReference:   r.id("transaction.orderId", "transaction.order_id", "transaction.purchaseOrderNumber"),
			PaidOn:             r.day(calendar{}, nil, "transaction.createdAt", "transaction.created_at"),
			PaidCurrency:       r.currency("transaction.amount.currencyCode", "transaction.currencyIsoCode", "transaction.currency_iso_code"),
			Scheme:             r.scheme("transaction.paymentMethodSnapshot.brandCode", "transaction.creditCard.cardType", "transaction.credit_card.card_type"),
			LastFour:           r.lastFour("transaction.paymentMethodSnapshot.last4", "transaction.creditCard.last4", "transaction.credit_card.last_4"),
			BIN:                r.bin("transaction.paymentMethodSnapshot.bin", "transaction.creditCard.bin", "transaction.credit_card.bin"),
		},
	}
	if c := &report.Clues; c.ProcessorAlias == c.ProcessorReference {
		c.ProcessorAlias = ""
	}
	c := &report.Clues
	c.PaidCurrency = cmp.Or(c.PaidCurrency, report.Currency)
	c.PaidAmount, _ = r.major(c.PaidCurrency, "transaction.amount.value", "transaction.amount")
	disputed, _ := r.major(report.Currency, "amountDisputed.value", "amountDisputed", "amount_disputed")
	won, _ := r.major(report.Currency, "amountWon.value", "amountWon", "amount_won")
	return braintreeReports(report, r.braintreeSteps(), disputed, won)
}

// braintreeReports returns the steps of a case in the order of their days. Each disbursement day is one movement.
func braintreeReports(base dispute.Report, steps []braintreeStep, disputed, won int64) []dispute.Report {
	base.Day, base.Amount = noDay, disputed
	var reports []dispute.Report
	moved := map[braintreeStep]bool{}
	for _, s := range steps {
		state := base
		state.Status, state.Day = s.status, s.on
		if s.paid != noDay && s.move != dispute.NoMoney {
			movement := base
			movement.Stage, movement.ReasonCode, movement.DueOn = "", "", noDay // its step says them
			if movement.Kind, movement.Day = s.move, s.paid; s.move == dispute.Credit {
				movement.Amount = cmp.Or(won, disputed)
			}
			once := braintreeStep{move: s.move, paid: s.paid}
			if !moved[once] && movement.Amount > 0 {
				moved[once] = true
				reports = append(reports, state, movement)
				continue
			}
		}
		reports = append(reports, state)
	}
	return reports
}

// braintreeSteps reads the history of a case, the first step first. A case without one has its present status.
func (r *record) braintreeSteps() []braintreeStep {
	var steps []braintreeStep
	for i := 0; ; i++ {
		at := func(name string) []string {
			return []string{fmt.Sprintf("statusHistory.%d.%s", i, name), fmt.Sprintf("status_history.%d.%s", i, snake(name))}
		}
		if r.text(at("status")...) == "" {
			break
		}
		word, column, m, ok := r.word(dispute.Braintree, at("status")...)
		if !ok || m.Status == "" {
			r.wrong(column, "%q is not known.", clip(word))
			return nil
		}
		s := braintreeStep{status: m.Status, paid: r.day(calendar{}, nil, at("disbursementDate")...)}
		s.on = r.day(calendar{}, nil, append(at("effectiveDate"), at("timestamp")...)...)
		if len(m.Moves) > 0 {
			s.move = m.Moves[0].Kind
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		word, column, m, ok := r.word(dispute.Braintree, "status")
		if !ok || m.Status == "" {
			r.wrong(column, "%q is not known.", clip(word))
			return nil
		}
		steps = append(steps, braintreeStep{status: m.Status, on: r.day(calendar{}, nil, "receivedDate", "received_date", "createdAt", "created_at"), paid: noDay})
	}
	slices.Reverse(steps) // the newest is first in the file; a stable order within one day
	slices.SortStableFunc(steps, func(a, b braintreeStep) int { return cmp.Compare(a.on, b.on) })
	return steps
}

// snake is a name of the REST API.
func snake(name string) string {
	var out []byte
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' {
			out = append(out, '_', c+'a'-'A')
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}
