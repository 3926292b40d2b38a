package input

import "holdfast/internal/domain/terms"

// PolicyFields reads the fields of a new policy.
func PolicyFields(in *Input) terms.PolicyFields {
	f := terms.PolicyFields{
		From:              in.Day("from"),
		Currency:          in.Currency("currency"),
		Recognition:       Word[terms.Recognition](in, "recognition"),
		LateLogDays:       in.Integer("late_log_days"),
		MaxFixingAgeDays:  in.Integer("max_fixing_age_days"),
		RateCard:          in.RateCard("rate_card"),
		PremiumRefundable: in.Boolean("premium_refundable"),
		MinimumPerLine:    in.Integer("minimum_per_line"),
		MinimumPerMonth:   in.Integer("minimum_per_month"),
		TaxCodes:          in.TaxCodes("tax_codes"),
		StatementPeriod:   in.Text("statement_period"),
		PaymentTermsDays:  in.Integer("payment_terms_days"),
	}
	f.Reason = in.Reason()
	f.Problems = *in.Problems // now that all fields are read
	return f
}
