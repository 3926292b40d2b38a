package report_test

import (
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/report"
)

// today is the day of the summaries.
var today = civil.Date(2026, time.November, 27)

// paid is an allocation of €1,066.80 at the end of today: protected, with a trip in 2027. change modifies it.
func paid(change ...func(*protection.Explained)) protection.Explained {
	x := protection.Explained{
		Allocation: protection.Allocation{
			Currency: "EUR", Amount: 106680, EffectiveAt: civil.Date(2026, time.May, 1).Start(), PolicyCurrency: "EUR", Value: 106680,
			Decision: protection.Decision{Protected: true, CoverFrom: civil.Date(2026, time.May, 1).Start()},
		},
		Terms:    protection.Terms{Start: civil.Date(2027, time.February, 20), End: civil.Date(2027, time.February, 28), LastDay: civil.Date(2027, time.June, 28)},
		Started:  true,
		HasValue: true,
	}
	for _, c := range change {
		c(&x)
	}
	x.Amounts.Allocated = x.Amount
	x.Remaining = x.Amounts.Remaining(x.Paid(), today)
	x.Undelivered = x.Terms.Undelivered(x.Remaining, today, terms.RecognitionEndDate)
	x.State = protection.StateOf(x.Remaining, x.Undelivered, today, x.Terms.LastDay)
	return x
}

func moved(refunded, chargedBack, reversed int64) func(*protection.Explained) {
	return func(x *protection.Explained) {
		x.Amounts = protection.Amounts{Refunded: refunded, ChargedBack: chargedBack, Reversed: reversed}
	}
}

func of(amount int64, c money.Currency) func(*protection.Explained) {
	return func(x *protection.Explained) { x.Amount, x.Currency, x.PolicyCurrency, x.Value = amount, c, c, amount }
}

func unprotected(reason string) func(*protection.Explained) {
	return func(x *protection.Explained) { x.Decision.Protected, x.Decision.Reason = false, reason }
}

func departed(end, last civil.Day) func(*protection.Explained) {
	return func(x *protection.Explained) { x.Terms = protection.Terms{Start: end, End: end, LastDay: last} }
}

func inPounds(x *protection.Explained) { x.PolicyCurrency, x.Value = "GBP", 91010 }

func unpriced(x *protection.Explained) { x.PolicyCurrency, x.Value, x.HasValue = "GBP", 0, false }

func premium(charged, retained int64) func(*protection.Explained) {
	return func(x *protection.Explained) {
		x.Premium = protection.ExplainedPremium{Priced: true, Booked: charged + retained, State: protection.PremiumState{Premium: charged}, Retained: retained}
	}
}

func takenLater(x *protection.Explained) { x.EffectiveAt = (today + 1).Start() }

func uncovered(x *protection.Explained) {
	x.Started, x.Decision.CoverFrom = false, (today + 2).Start()
}

func TestSummaries(t *testing.T) {
	t.Parallel()
	type list = []protection.Explained
	ended, closed := civil.Date(2026, time.August, 31), civil.Date(2026, time.November, 26)
	for name, tt := range map[string]struct {
		of   list
		want string
	}{
		"nothing refunded":   {list{paid()}, "Of €1,066.80 paid, nothing was refunded; all of it is at risk until 28 June 2027."},
		"partly refunded":    {list{paid(moved(20000, 0, 0))}, "Of €1,066.80 paid, €200.00 was refunded; €866.80 is at risk until 28 June 2027."},
		"all refunded":       {list{paid(moved(106680, 0, 0))}, "All of the €1,066.80 paid was refunded; nothing is at risk."},
		"charged back":       {list{paid(moved(0, 20000, 0))}, "Of €1,066.80 paid, €200.00 was charged back; €866.80 is at risk until 28 June 2027."},
		"all charged back":   {list{paid(moved(0, 106680, 0))}, "All of the €1,066.80 paid was charged back; nothing is at risk."},
		"refund, chargeback": {list{paid(moved(100, 200, 0))}, "Of €1,066.80 paid, €1.00 was refunded and €2.00 was charged back; €1,063.80 is at risk until 28 June 2027."},
		"all, in two ways":   {list{paid(moved(6680, 100000, 0))}, "Of €1,066.80 paid, €66.80 was refunded and €1,000.00 was charged back; nothing is at risk."},
		"returned twice": {list{paid(moved(106680, 106680, 0))},
			"Of €1,066.80 paid, €1,066.80 was refunded and €1,066.80 was charged back; nothing is at risk. €1,066.80 was returned twice."},
		"reversed": {list{paid(moved(0, 20000, 20000))},
			"Of €1,066.80 paid, €200.00 was charged back and later reversed; €1,066.80 is at risk until 28 June 2027."},
		"partly reversed": {list{paid(moved(100, 20000, 5000))},
			"Of €1,066.80 paid, €1.00 was refunded, €200.00 was charged back and €50.00 was reversed; €915.80 is at risk until 28 June 2027."},
		"reversed only": {list{paid(moved(20000, 0, 5000))},
			"Of €1,066.80 paid, €200.00 was refunded and a chargeback of €50.00 was reversed; €916.80 is at risk until 28 June 2027."},
		"departed": {list{paid(departed(ended, civil.Date(2026, time.December, 29)))},
			"Of €1,066.80 paid, nothing was refunded; the trip ended on 31 August 2026, but all of it is at risk until 29 December 2026."},
		"window closed": {list{paid(departed(ended, closed), moved(20000, 0, 0))},
			"Nothing is at risk any more: the dispute window closed on 26 November 2026. Of €1,066.80 paid, €200.00 was refunded."},
		"taken later": {list{paid(takenLater)}, "No payment was taken by 27 November 2026, so nothing is at risk."},
		"none":        {nil, "No payment was taken by 27 November 2026, so nothing is at risk."},
		"not covered yet": {list{paid(uncovered)},
			"Of €1,066.80 paid, nothing was refunded; cover for all of it starts on 29 November 2026."},
		"not a card": {list{paid(unprotected(protection.ReasonNotCardPayment))},
			"Of €1,066.80 paid, nothing was refunded; none of it is protected because it was not paid by card."},
		"mode without protection": {list{paid(unprotected(protection.ReasonMode), moved(20000, 0, 0))},
			"Of €1,066.80 paid, €200.00 was refunded; €866.80 is not protected because the merchant was in a mode without protection."},
		"account type": {list{paid(unprotected(protection.ReasonType))},
			"Of €1,066.80 paid, nothing was refunded; none of it is protected because the merchant's account type did not include protection."},
		"locked": {list{paid(unprotected(protection.ReasonLocked))},
			"Of €1,066.80 paid, nothing was refunded; none of it is protected because the merchant was locked."},
		"not protected, window closed": {list{paid(unprotected(protection.ReasonNotCardPayment), departed(ended, closed))},
			"Nothing is at risk any more: the dispute window closed on 26 November 2026. " +
				"Of €1,066.80 paid, nothing was refunded; none of it is protected because it was not paid by card."},
		"not protected, window closed, partly refunded": {list{paid(unprotected(protection.ReasonLocked), departed(ended, closed), moved(20000, 0, 0))},
			"Nothing is at risk any more: the dispute window closed on 26 November 2026. " +
				"Of €1,066.80 paid, €200.00 was refunded; €866.80 is not protected because the merchant was locked."},
		"not protected, last day of the window": {list{paid(unprotected(protection.ReasonLocked), departed(ended, today))},
			"Of €1,066.80 paid, nothing was refunded; none of it is protected because the merchant was locked."},
		"all closed, some not protected": {list{paid(departed(ended, closed)), paid(unprotected(protection.ReasonLocked), departed(ended, closed-1))},
			"Nothing is at risk any more: the last dispute window closed on 26 November 2026. " +
				"Of €2,133.60 paid, nothing was refunded; €1,066.80 is not protected because the merchant was locked."},
		"at risk, and not protected with a closed window": {list{paid(), paid(unprotected(protection.ReasonLocked), departed(ended, closed))},
			"Of €2,133.60 paid, nothing was refunded; €1,066.80 is at risk until 28 June 2027 and €1,066.80 is not protected because the merchant was locked. " +
				"The dispute window for the unprotected €1,066.80 closed on 26 November 2026."},
		"not protected, some windows closed": {list{
			paid(unprotected(protection.ReasonLocked)), paid(unprotected(protection.ReasonLocked), departed(ended, closed)),
			paid(unprotected(protection.ReasonLocked), departed(ended, closed-1)),
		}, "Of €3,200.40 paid, nothing was refunded; none of it is protected because the merchant was locked. " +
			"The dispute windows for the unprotected €2,133.60 closed by 26 November 2026."},
		"other currency than the policy's": {list{paid(inPounds, premium(736, 0))},
			"Of €1,066.80 paid, nothing was refunded; all of it is at risk until 28 June 2027. The payment is valued at £910.10; the premium is £7.36."},
		"premium retained": {list{paid(moved(20000, 0, 0), premium(736, 20))},
			"Of €1,066.80 paid, €200.00 was refunded; €866.80 is at risk until 28 June 2027. The premium is €7.56, of which €0.20 was retained."},
		"unpriced": {list{paid(unpriced)},
			"Of €1,066.80 paid, nothing was refunded; all of it is at risk until 28 June 2027. Its value in GBP is pending until an exchange rate is available."},
		"zero decimals":  {list{paid(of(1066800, "JPY"))}, "Of ¥1,066,800 paid, nothing was refunded; all of it is at risk until 28 June 2027."},
		"three decimals": {list{paid(of(1066805, "KWD"))}, "Of 1,066.805 KWD paid, nothing was refunded; all of it is at risk until 28 June 2027."},
		"a test": {list{paid(func(x *protection.Explained) { x.Decision.Simulated = true })},
			"Of €1,066.80 paid, nothing was refunded; all of it is at risk until 28 June 2027. This is a test payment, excluded from all totals."},
		"two payments": {list{paid(inPounds, premium(736, 0)), paid(of(3320, "EUR"), unpriced)},
			"Of €1,100.00 paid, nothing was refunded; all of it is at risk until 28 June 2027. One payment is valued at £910.10; the premium is £7.36. " +
				"The value of one payment in GBP is pending until an exchange rate is available."},
		"two without a rate, two days": {list{paid(inPounds), paid(inPounds, departed(ended, today)), paid(unpriced), paid(unpriced)},
			"Of €4,267.20 paid, nothing was refunded; all of it is at risk until 28 June 2027 at the latest. The payments are valued at £1,820.20. " +
				"The values of 2 payments in GBP are pending until exchange rates are available."},
		"all kinds": {list{
			paid(), paid(uncovered), paid(departed(ended, closed)), paid(unprotected(protection.ReasonMode)), paid(unprotected(protection.ReasonLocked)),
		}, "Of €5,334.00 paid, nothing was refunded; €1,066.80 is at risk until 28 June 2027, cover for €1,066.80 starts on 29 November 2026, " +
			"the dispute window for €1,066.80 closed on 26 November 2026 and €2,133.60 is not protected."},
		"all closed": {list{paid(departed(ended, closed)), paid(departed(ended, closed-1))},
			"Nothing is at risk any more: the last dispute window closed on 26 November 2026. Of €2,133.60 paid, nothing was refunded."},
		"two currencies": {list{paid(), paid(of(500, "USD"))},
			"Of €1,066.80 paid, nothing was refunded; all of it is at risk until 28 June 2027. " +
				"Of $5.00 paid, nothing was refunded; all of it is at risk until 28 June 2027."},
	} {
		if got := report.Summarize(tt.of, protection.Moment{AsOf: today}); got != tt.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, tt.want)
		}
	}
}

func TestSummariesOfStatementLines(t *testing.T) {
	t.Parallel()
	s := protection.Statement{
		Currency: "GBP", From: civil.Date(2026, time.October, 1).Start(), Until: civil.Date(2026, time.November, 1).Start(),
		Opening: -500, Closing: 12345, Payments: 300,
		Lines:   []protection.StatementSum{{Kind: "original", Lines: 412, Amount: 556871}, {Kind: "return", Lines: 1, Amount: -27, Retained: 3}},
		Minimum: &protection.MonthlyMinimum{Month: "2026-10", Minimum: 1000, Booked: 363, Amount: 637},
		Taxes: []protection.StatementTax{
			{Code: "IPT", Label: "Insurance premium tax", Amount: 120, Parts: []protection.TaxPart{{Base: 1000, RatePPM: 120_000}}},
			{Code: "X", Amount: -5, Parts: []protection.TaxPart{{Base: -27, RatePPM: 125_000}, {Base: -10, RatePPM: 200_000}}},
		},
	}
	part := func(p protection.StatementPart, ok bool) protection.StatementPart {
		if !ok {
			t.Error("the statement has no such line")
		}
		return p
	}
	for _, tt := range []struct {
		part protection.StatementPart
		want string
	}{
		{s.ExplainOpening(nil), "The opening balance is a credit of £5.00: the merchant has no earlier statement in GBP."},
		{s.ExplainOpening(&protection.Statement{}), "The opening balance is a credit of £5.00, the closing balance of the previous statement."},
		{part(s.ExplainKind("original")), "£5,568.71 of premium was charged for payments, in 412 premium lines recorded from 1 October 2026 to 31 October 2026."},
		{part(s.ExplainKind("return")),
			"£0.27 of premium was returned for refunds and changes to bookings, in 1 premium line recorded from 1 October 2026 to 31 October 2026. £0.03 was retained."},
		{protection.StatementPart{Name: "return", Lines: 2, Retained: 30},
			"No premium was returned for refunds and changes to bookings, in 2 premium lines recorded from 1 October 2026 to 31 October 2026. £0.30 was retained."},
		{s.ExplainMinimum(nil, terms.Policy{}), "£6.37 was charged to reach the monthly minimum of £10.00: the premium recorded in October 2026 is £3.63."},
		{part(s.ExplainTax("IPT", nil, terms.Policy{})), "Insurance premium tax (IPT): £1.20 was charged, 12% of £10.00."},
		{part(s.ExplainTax("X", nil, terms.Policy{})), "Tax (X): £0.05 was returned, 12.5% of -£0.27 and 20% of -£0.10."},
		{s.ExplainPayments(0), "No payment was recorded from 1 October 2026 to 31 October 2026."},
		{s.ExplainPayments(1), "1 payment recorded from 1 October 2026 to 31 October 2026 comes to £3.00."},
		{s.ExplainPayments(2), "2 payments recorded from 1 October 2026 to 31 October 2026 come to £3.00."},
		{s.ExplainClosing(), "The closing balance is £123.45: an opening balance of -£5.00, premium of £5,568.44, a minimum premium of £6.37 " +
			"and tax of £1.15, less payments of £3.00."},
	} {
		if got := report.SummarizeLine(s, tt.part); got != tt.want {
			t.Errorf("%s:\n%s\nwant:\n%s", tt.part.Name, got, tt.want)
		}
	}
}

func TestSummariesOfPremiumLines(t *testing.T) {
	t.Parallel()
	line := func(kind protection.PremiumKind, cause protection.PremiumCause, amount, retained, before int64, after protection.PremiumState) protection.ExplainedLine {
		l := protection.ExplainedLine{
			StatementLine: protection.StatementLine{Kind: string(kind), Cause: string(cause), TransactionID: 92, BookingID: 78, Amount: amount, Retained: retained},
			Line:          protection.PremiumLine{Currency: "GBP", State: after},
		}
		if before > 0 {
			l.Before = &protection.PremiumLine{State: protection.PremiumState{Premium: before}}
		}
		return l
	}
	// whileLocked is a line under a policy that returns premium; late is the same after the trip.
	whileLocked := func(l protection.ExplainedLine) protection.ExplainedLine {
		l.Of.Premium.Policy.PremiumRefundable = true
		return l
	}
	late := func(l protection.ExplainedLine) protection.ExplainedLine {
		l.Line.EffectiveAt = l.Line.EffectiveAt.AddDate(0, 0, 1)
		return whileLocked(l)
	}
	first := protection.PremiumState{Value: 51219, Lead: 103, Line: terms.RateLine{PPM: 8500}, Premium: 435}
	least := protection.PremiumState{Value: 100, Lead: 1, Line: terms.RateLine{PPM: 16000}, Premium: 50, Minimum: true}
	for _, tt := range []struct {
		line protection.ExplainedLine
		want string
	}{
		{line(protection.PremiumOriginal, protection.CausePurchase, 435, 0, 0, first),
			"£4.35 of premium was charged for booking 78, because payment 92 was logged. The rate is 0.85% of a value of £512.19, 103 days before the end of the trip."},
		{line(protection.PremiumOriginal, protection.CauseLateFixing, 50, 0, 0, least),
			"£0.50 of premium was charged for booking 78, because the exchange rate for payment 92 became available. " +
				"The rate is 1.6% of a value of £1.00, 1 day before the end of the trip; the minimum per line applies."},
		{line(protection.PremiumOriginal, protection.CausePurchase, 0, 0, 0, protection.PremiumState{Lead: -1}),
			"No premium was charged for booking 78, because payment 92 was taken after the trip ended."},
		{line(protection.PremiumReturn, protection.CauseRefund, -27, 0, 264, protection.PremiumState{Premium: 237}),
			"£0.27 of premium was returned for booking 78, because refund 92 lowered the amount of the payment. The premium of the state changed from £2.64 to £2.37."},
		{line(protection.PremiumReturn, protection.CauseRefund, 0, 27, 264, protection.PremiumState{Premium: 237}),
			"No premium was returned and £0.27 was retained for booking 78: refund 92 lowered the amount of the payment, " +
				"but the policy returns no premium. The premium of the state changed from £2.64 to £2.37."},
		{late(line(protection.PremiumReturn, protection.CauseRefund, 0, 27, 264, protection.PremiumState{Premium: 237})),
			"No premium was returned and £0.27 was retained for booking 78: refund 92 lowered the amount of the payment, " +
				"but only after the trip ended. The premium of the state changed from £2.64 to £2.37."},
		{whileLocked(line(protection.PremiumReturn, protection.CauseRefund, 0, 27, 264, protection.PremiumState{Premium: 237})),
			"No premium was returned and £0.27 was retained for booking 78: refund 92 lowered the amount of the payment, " +
				"but the merchant had failed. The premium of the state changed from £2.64 to £2.37."},
		{line(protection.PremiumAdditional, protection.CauseReDate, 36, 0, 264, protection.PremiumState{Premium: 300}),
			"£0.36 of additional premium was charged for booking 78, because the travel dates changed. The premium of the state changed from £2.64 to £3.00."},
		{line(protection.PremiumCorrection, protection.CauseCorrection, -64, 0, 264, protection.PremiumState{Premium: 200}),
			"£0.64 of premium was returned for booking 78, because the premium of payment 92 was corrected. The premium of the state changed from £2.64 to £2.00."},
	} {
		if got := report.SummarizePremium(tt.line); got != tt.want {
			t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
		}
	}
}
