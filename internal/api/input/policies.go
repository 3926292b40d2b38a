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
		Cover:             coverFields(in),
	}
	f.Reason = in.Reason()
	f.Problems = *in.Problems // now that all fields are read
	return f
}

// coverFields reads the terms of cover of a new policy.
func coverFields(in *Input) terms.CoverFields {
	f := terms.CoverFields{
		Deductible:           in.Integer("deductible"),
		CoinsurancePPM:       in.Integer("coinsurance_ppm"),
		MerchantLimit:        in.Integer("merchant_limit"),
		AggregateLimit:       in.Integer("aggregate_limit"),
		NotifyWithin:         in.Integer("notify_within"),
		TwoSignatures:        in.Integer("two_signatures"),
		DevelopmentPPM:       in.Integer("development_ppm"),
		OtherProtectionFirst: in.Texts("other_protection_first"),
	}
	if order := in.Texts("recovery_order"); order != nil {
		f.RecoveryOrder = terms.BearersOf(*order)
	}
	return f
}
