package input

import (
	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
)

// DisputeReport reads what a person reports about a dispute.
func DisputeReport(in *Input) disputes.NewReport {
	r := disputes.NewReport{Report: dispute.Report{
		Source: in.TextOr("source"), CaseID: in.TextOr("case_id"), Stage: wordOr[dispute.Stage](in, "stage"),
		Status: wordOr[dispute.Status](in, "status"), Kind: wordOr[dispute.Kind](in, "kind"), Number: int(numberOr(in, "number", 99)),
		Day: dayOr(in, "day"), Amount: numberOr(in, "amount", 0), Currency: currencyOr(in, "currencies"), DueOn: dayOr(in, "due_at"),
		ReasonCode: in.TextOr("reason_code"), Reason: in.TextOr("reason"), Merchant: in.TextOr("merchant"), RefersTo: in.TextOr("refers_to"),
		Clues: dispute.Clues{
			TransactionID: numberOr(in, "transaction_id", 0), AcquirerReference: in.TextOr("acquirer_reference"),
			ProcessorReference: in.TextOr("processor_reference"), ProcessorAlias: in.TextOr("processor_alias"),
			PaymentReference: in.TextOr("reference"), AuthCode: in.TextOr("auth_code"), LastFour: in.TextOr("last_four_digits"),
			BIN: in.TextOr("bin_number"), Scheme: in.TextOr("schemes"), PaidOn: dayOr(in, "paid_on"), PaidAmount: numberOr(in, "paid_total", 0),
			PaidCurrency: currencyOr(in, "paid_currencies"),
		},
	}}
	if whole := in.Boolean("whole"); whole != nil {
		r.Whole = *whole
	}
	r.Problems = *in.Problems // now that all fields are read
	return r
}

func wordOr[T ~string](in *Input, name string) T {
	if w := Word[T](in, name); w != nil {
		return *w
	}
	return ""
}

// numberOr reads a number that is not negative. most is the largest one; 0: the rooms check it.
func numberOr(in *Input, name string, most int64) int64 {
	n := in.Integer(name)
	switch {
	case n == nil:
		return 0
	case most > 0 && (*n < 0 || *n > most):
		in.Wrong(name, "Must be between 0 and %d.", most)
		return 0
	}
	return *n
}

func dayOr(in *Input, name string) civil.Day {
	if d := in.Day(name); d != nil {
		return *d
	}
	return civil.NoDay
}

func currencyOr(in *Input, name string) money.Currency {
	if c := in.Currency(name); c != nil {
		return *c
	}
	return ""
}

// DisputeFilter reads which disputes a list has.
func DisputeFilter(q *Query) disputes.Filter {
	f := disputes.Filter{
		Channels: q.Ids("channels"), Transactions: q.Ids("transactions"), Stages: Words(q, "stage", dispute.Stages),
		Statuses: Words(q, "status", dispute.Statuses), Matchings: Words(q, "matched", dispute.Matchings), Sources: q.List("source"),
		CaseIDs: q.List("case_id"), Assigned: q.List("assigned"), Families: Words(q, "reason_family", dispute.Families),
		Schemes: q.List("schemes"), Insolvencies: q.Ids("insolvencies"),
	}
	if day := q.Day("due_before"); day != civil.NoDay {
		f.DueBefore = &day
	}
	return f
}
