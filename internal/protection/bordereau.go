package protection

import (
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// BordereauLine is one premium line, or the monthly minimum of a statement, as it is reported to the underwriter.
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
	// StatementNumber is that of the statement whose monthly minimum this is; 0: it is a premium line.
	StatementNumber int64
}

// KindMinimum is the kind of row of a bordereau that reports a monthly minimum.
const KindMinimum = "minimum"

// BordereauMinimum is the monthly minimum of a statement as it is reported to the underwriter: premium that belongs to no
// certificate.
type BordereauMinimum struct {
	Number    int64 // of the statement
	ChannelID int64
	IssuedAt  time.Time
	Through   civil.Day // last day of the statement's period, whose policy sets the minimum and its taxes
	Currency  money.Currency
	Amount    int64
}

// Line is the row of the minimum, for the whole of a month; nothing is insured by it that no other row has.
func (m BordereauMinimum) Line(siteID int64, month travel.Period) BordereauLine {
	return BordereauLine{
		SiteID: siteID, ChannelID: m.ChannelID, Kind: KindMinimum, StatementNumber: m.Number, RecordedAt: m.IssuedAt,
		EffectiveAt: month.Last.End(), Inception: month.First.Start(), Expiry: month.Last, Original: m.Currency,
		Settlement: m.Currency, Amount: m.Amount,
	}
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
