// Package terms defines what a site and its merchants have agreed on: policies, rate cards, underwriting contracts
// and statement periods. Start at Policy.
package terms

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
)

// Recognition is the way in which delivery is counted (R4).
type Recognition string

// The three kinds of recognition.
const (
	RecognitionEndDate   Recognition = "end_date"
	RecognitionStartDate Recognition = "start_date"
	RecognitionLinear    Recognition = "linear"
)

// Recognitions lists them, the default first.
var Recognitions = []Recognition{RecognitionEndDate, RecognitionStartDate, RecognitionLinear}

// Policy is the agreement between a site and the operator, in force from a given day. Policies are added and never changed,
// so that results computed with an older policy stay the same.
type Policy struct {
	ID                int64
	FromDay           civil.Day
	RecordedAt        time.Time
	Currency          money.Currency // Q of R9
	Recognition       Recognition
	LateLogDays       int64 // R2: a payment that is logged later is flagged
	MaxFixingAgeDays  int64 // R9: an older fixing does not count
	RateCard          RateCard
	PremiumRefundable bool      // whether it returns premium (R10)
	MinimumPerLine    int64     // minor units of Currency, for each line with premium (R10)
	MinimumPerMonth   int64     // minor units of Currency, a line of the statement (R10)
	TaxCodes          []TaxCode // in the order of the statement (R11)
	StatementPeriod   string    // of new channels, until one of their own is set
	PaymentTermsDays  int64     // business days until a statement is due (R11)
	Cover             Cover     // its terms of cover (R13)
	// LimitsNotCounting are the ids of limits in another currency: payments under this policy do not count against
	// them. It is computed when the policy is read, because limits are set later, too.
	LimitsNotCounting []int64
	// Proposal is set when the change waits for another operator (R0). Then nothing has changed yet.
	Proposal *proposal.Proposal
}

// NamesOfLimits writes LimitsNotCounting for people: the first ten ids, and the number of the others.
func (y Policy) NamesOfLimits() string {
	const most = 10
	var names []string
	for i, id := range y.LimitsNotCounting {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(y.LimitsNotCounting)-most))
			break
		}
		names = append(names, strconv.FormatInt(id, 10))
	}
	return strings.Join(names, ", ")
}

// TaxCode is one tax on premium, such as an insurance premium tax (R11). RatePPM is in parts per million.
type TaxCode struct {
	Code    string `json:"code"`
	RatePPM int64  `json:"rate_ppm"`
	Label   string `json:"label"`
}

// DefaultPolicy is the policy of a new site, with the defaults of R2, R4, R9, R10 and R11.
func DefaultPolicy(currency money.Currency) Policy {
	return Policy{
		FromDay:           civil.FirstDay,
		Currency:          currency,
		Recognition:       RecognitionEndDate,
		LateLogDays:       3,
		MaxFixingAgeDays:  7,
		RateCard:          DefaultRateCard(),
		PremiumRefundable: true,
		StatementPeriod:   StatementPeriods[0],
		PaymentTermsDays:  10,
		Cover:             DefaultCover(),
	}
}

// PolicyFields are the fields of a request that adds a policy. Absent fields are nil: they stay as in the policy
// before.
type PolicyFields struct {
	Problems          errs.Problems
	From              *civil.Day
	Currency          *money.Currency
	Recognition       *Recognition
	LateLogDays       *int64
	MaxFixingAgeDays  *int64
	RateCard          *RateCard
	PremiumRefundable *bool
	MinimumPerLine    *int64
	MinimumPerMonth   *int64
	TaxCodes          *[]TaxCode
	StatementPeriod   *string
	PaymentTermsDays  *int64
	Cover             CoverFields
	Reason            string // for the operator who approves it
}

// Limits of a policy.
const (
	maxPPM      = 1_000_000 // 100 %
	maxDays     = 3650
	maxTaxCodes = 20
)

// After makes the policy that follows the policy before. It adds problems to p.
func (f PolicyFields) After(before Policy, p *errs.Problems) Policy {
	if f.From == nil && !p.Has("from") {
		p.Missing("from")
	}
	next := before
	next.ID, next.RecordedAt = 0, time.Time{}
	check.Set(&next.FromDay, f.From)
	check.Set(&next.Currency, f.Currency)
	check.Set(&next.Recognition, f.Recognition)
	check.Set(&next.LateLogDays, f.LateLogDays)
	check.Set(&next.MaxFixingAgeDays, f.MaxFixingAgeDays)
	check.Set(&next.RateCard, f.RateCard)
	check.Set(&next.PremiumRefundable, f.PremiumRefundable)
	check.Set(&next.MinimumPerLine, f.MinimumPerLine)
	check.Set(&next.MinimumPerMonth, f.MinimumPerMonth)
	check.Set(&next.TaxCodes, f.TaxCodes)
	check.Set(&next.StatementPeriod, f.StatementPeriod)
	check.Set(&next.PaymentTermsDays, f.PaymentTermsDays)
	f.Cover.apply(&next.Cover)
	if next.Currency != before.Currency { // the old amounts are in another currency
		f.needAmounts(before, p)
		CheckInUse(p, "currency", next.Currency, next.FromDay)
	}
	next.check(p)
	return next
}

// CheckInUse refuses a currency that was withdrawn before a day: nothing can be priced in it from then on.
func CheckInUse(p *errs.Problems, field string, c money.Currency, day civil.Day) {
	if last, yes := c.Withdrawn(day); yes {
		p.Wrong(field, "%s has been withdrawn. It was in use until %s.", c, last)
	}
}

func (f PolicyFields) needAmounts(before Policy, p *errs.Problems) {
	if f.MinimumPerLine == nil && before.MinimumPerLine != 0 {
		p.Missing("minimum_per_line")
	}
	if f.MinimumPerMonth == nil && before.MinimumPerMonth != 0 {
		p.Missing("minimum_per_month")
	}
	f.Cover.needAmounts(before.Cover, p)
}

// check adds the problems of the policy to p.
func (y Policy) check(p *errs.Problems) {
	check.OneOf(p, "recognition", y.Recognition, Recognitions)
	check.OneOf(p, "statement_period", y.StatementPeriod, StatementPeriods)
	checkBetween(p, "late_log_days", y.LateLogDays, 0, maxDays)
	checkBetween(p, "max_fixing_age_days", y.MaxFixingAgeDays, 1, maxDays)
	checkBetween(p, "minimum_per_line", y.MinimumPerLine, 0, check.MaxAmount)
	checkBetween(p, "minimum_per_month", y.MinimumPerMonth, 0, check.MaxAmount)
	checkBetween(p, "payment_terms_days", y.PaymentTermsDays, 0, maxDays)
	y.RateCard.check(p)
	y.Cover.check(p)
	if len(y.TaxCodes) > maxTaxCodes {
		p.Wrong("tax_codes", "At most %d tax codes are allowed.", maxTaxCodes)
	}
	for i, tax := range y.TaxCodes {
		again := slices.ContainsFunc(y.TaxCodes[:i], func(t TaxCode) bool { return t.Code == tax.Code })
		code := errs.Item("tax_codes", i, "code")
		switch {
		case tax.Code == "" && !p.Has(code):
			p.Missing(code)
		case again:
			p.Wrong(code, "The code appears twice.")
		}
		checkBetween(p, errs.Item("tax_codes", i, "rate_ppm"), tax.RatePPM, 0, maxPPM)
		check.Line(p, code, tax.Code)
		check.Line(p, errs.Item("tax_codes", i, "label"), tax.Label)
	}
}

// checkBetween adds a problem when a number is out of bounds.
func checkBetween(p *errs.Problems, field string, value, low, high int64) {
	if value < low || value > high {
		p.Wrong(field, "Must be a whole number between %d and %d.", low, high)
	}
}
