package travel

import (
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/money"
)

// Recognition says how the risk of a booking fades while it is delivered (R4).
type Recognition string

// The three kinds of recognition.
const (
	RecognitionEndDate   Recognition = "end_date"
	RecognitionStartDate Recognition = "start_date"
	RecognitionLinear    Recognition = "linear"
)

// Policy is what a site has agreed with the protection provider, in force from a day on.
type Policy struct {
	ID               int64
	FromDay          civil.Day
	RecordedAt       time.Time
	Currency         money.Currency // Q of R9
	Recognition      Recognition
	LateLogDays      int64 // R2: a payment logged later than this is flagged
	MaxFixingAgeDays int64 // R9: an older fixing does not price
}

// DefaultPolicy is the policy of a new site: the defaults that the rules name.
func DefaultPolicy(currency money.Currency) Policy {
	return Policy{
		FromDay:          civil.FirstDay,
		Currency:         currency,
		Recognition:      RecognitionEndDate,
		LateLogDays:      3,
		MaxFixingAgeDays: 7,
	}
}
