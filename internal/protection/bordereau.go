package protection

import (
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/money"
)

// BordereauLine is one premium line as it is reported to the underwriter.
type BordereauLine struct {
	SiteID        int64
	LineID        int64
	AllocationID  int64
	CauseID       int64 // the transaction that brought the line
	TransactionID int64 // the payment that is covered
	ChannelID     int64
	Kind          string
	RecordedAt    time.Time
	EffectiveAt   time.Time
	Inception     time.Time // cover start
	Expiry        civil.Day // last day of dispute, as it was when the line was recorded
	Country       string
	Original      money.Currency
	Settlement    money.Currency
	Insured       int64      // in Original: what remains of the payment after the line
	InsuredValue  int64      // in Settlement, at the locked rate
	FromRate      money.Rate // of Original per euro; zero where both currencies are the same
	ToRate        money.Rate // of Settlement per euro
	Amount        int64      // premium in Settlement, without tax
	PolicyID      int64
}

// rateDecimals is how many decimals a rate of exchange is reported with. The two legs stand beside it exactly.
const rateDecimals = 8

// RateOfExchange is how many units of the settlement currency one unit of the original one is worth, rounded to eight
// decimals for the report; amounts are never computed from it.
func (l BordereauLine) RateOfExchange() string {
	if l.FromRate.IsZero() || l.ToRate.IsZero() {
		return "1.00000000"
	}
	rate := l.ToRate.Rat()
	return rate.Quo(rate, l.FromRate.Rat()).FloatString(rateDecimals)
}
