package protection

import (
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
)

// BordereauLine is one row of a bordereau: a premium line (R10), or the monthly minimum of a statement (R11), as it
// is reported to the underwriter.
type BordereauLine struct {
	SiteID        int64
	LineID        int64
	AllocationID  int64
	CauseID       int64 // the transaction that caused the line
	TransactionID int64 // the payment that is covered
	ChannelID     int64
	Kind          string
	RecordedAt    time.Time
	EffectiveAt   time.Time
	Inception     time.Time // cover start
	Expiry        civil.Day // last day of dispute, as it was when the line was recorded
	Country       string
	Original      money.Currency // of the payment
	Settlement    money.Currency // in which premium is paid: that of the policy
	Insured       int64          // minor units of Original: what remains of the payment after the line
	InsuredValue  int64          // minor units of Settlement, at the locked rate
	Exchange      Exchange       // from Original to Settlement
	Amount        int64          // premium in minor units of Settlement, without tax
	PolicyID      int64
	// StatementNumber is the number of the statement, for a monthly minimum; 0: this is a premium line.
	StatementNumber int64
}

// KindMinimum is the Kind of a row with a monthly minimum.
const KindMinimum = "minimum"

// BordereauMinimum is the monthly minimum of a statement (R11). It is premium that belongs to no payment.
type BordereauMinimum struct {
	Number    int64 // of the statement
	ChannelID int64
	IssuedAt  time.Time
	Through   civil.Day // last day of the statement's period: the policy of this day has the minimum and its taxes
	Currency  money.Currency
	Amount    int64 // minor units of Currency
}

// Line makes the row of the minimum, for a whole month. Nothing is insured by this row.
func (m BordereauMinimum) Line(siteID int64, month terms.Period) BordereauLine {
	return BordereauLine{
		SiteID: siteID, ChannelID: m.ChannelID, Kind: KindMinimum, StatementNumber: m.Number, RecordedAt: m.IssuedAt,
		EffectiveAt: month.Last.End(), Inception: month.First.Start(), Expiry: month.Last, Original: m.Currency,
		Settlement: m.Currency, Amount: m.Amount,
	}
}

// Exchange is a rate of exchange between two currencies, as its legs. Both are zero when the currencies are equal.
type Exchange struct {
	FromRate money.Rate // units of the first currency per euro
	ToRate   money.Rate // units of the second one per euro
}

// rateDecimals is the number of decimals of a rate of exchange.
const rateDecimals = 8

// String is how many units of the second currency one unit of the first one is worth, with eight decimals. It is for
// readers alone: amounts are computed from the legs.
func (e Exchange) String() string {
	if e.FromRate.IsZero() || e.ToRate.IsZero() {
		return "1.00000000"
	}
	rate := e.ToRate.Rat()
	return rate.Quo(rate, e.FromRate.Rat()).FloatString(rateDecimals)
}
