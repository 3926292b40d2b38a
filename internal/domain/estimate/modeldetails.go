package estimate

import (
	"math/big"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
)

// TurnoverPart is a payment by card or a refund behind a Turnover.
type TurnoverPart struct {
	Turnover
	Type                                payment.TransactionType
	TransactionID, PaymentID, BookingID int64
}

// The figures of a model that have details.
const (
	FigureEstimate = "estimate"
	FigureE1       = "e1"
)

// ModelDetail is one item behind a figure of a model: a payment or refund behind an estimate, or an allocation behind E1.
type ModelDetail struct {
	Figure    string
	ChannelID int64
	Currency  money.Currency
	BookingID int64
	// The payment and its transaction.
	TransactionID, PaymentID int64
	// Of an estimate: what the payment adds to the turnover of its day, and the share of it that counts.
	Type     payment.TransactionType
	Day      civil.Day
	Turnover int64
	Share    *big.Rat
	// Of E1: what is paid and not delivered.
	E1 int64
}

// ModelShares gives the shares of payments in the estimate of some bands at the end of a day.
type ModelShares struct {
	bands  Bands
	asOf   civil.Day
	months map[civil.Day]*big.Rat
}

// NewModelShares begins with no payments.
func NewModelShares(bands Bands, asOf civil.Day) *ModelShares {
	return &ModelShares{bands: bands, asOf: asOf, months: map[civil.Day]*big.Rat{}}
}

// Detail explains an estimate for a payment. All payments of a month have the same share, because an estimate goes
// by months.
func (s *ModelShares) Detail(p TurnoverPart) ModelDetail {
	month := firstOfMonth(p.Day)
	if s.months[month] == nil {
		s.months[month] = s.bands.Estimate(Months{month: 1}, s.asOf)
	}
	return ModelDetail{
		Figure: FigureEstimate, ChannelID: p.ChannelID, Currency: p.Currency, BookingID: p.BookingID, TransactionID: p.TransactionID,
		PaymentID: p.PaymentID, Type: p.Type, Day: p.Day, Turnover: p.Amount, Share: s.months[month],
	}
}
