package reports

import (
	"holdfast/internal/api/view"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/report"
)

// modelDetailsShape is one page of the items behind a model, on the wire.
type modelDetailsShape struct {
	AsOf    civil.Day          `json:"as_of"`
	KnownAt string             `json:"known_at"`
	Final   bool               `json:"final"`
	Bands   estimate.Bands     `json:"bands"`
	Rows    []modelDetailShape `json:"rows"`
}

// modelDetailShape is a payment or refund behind an estimate, or an allocation behind E1. Amounts are minor units of
// the base currency. Fields of the other figure are null.
type modelDetailShape struct {
	Figure      string                   `json:"figure"`
	Channel     view.Named               `json:"channel"`
	Currencies  money.Currency           `json:"currencies"`
	Booking     int64                    `json:"booking"`
	Transaction int64                    `json:"transaction"`
	Payment     int64                    `json:"payment"`
	Type        *payment.TransactionType `json:"transaction_type"`
	Date        *civil.Day               `json:"date"`
	Turnover    *int64                   `json:"turnover"`
	Share       *string                  `json:"share"`
	E1          *int64                   `json:"e1"`
}

// ShareDecimals is how many decimals the share of a payment in an estimate is shown with.
const ShareDecimals = 8

// ShowModelDetails returns a page of the details of a model as in the API, to be encoded as JSON. The command line also
// prints it.
func ShowModelDetails(r report.ModelDetailsReport) any {
	return modelDetailsShape{
		AsOf: r.Query.AsOf, KnownAt: r.Query.KnownAt.UTC().Format(view.ISOMicros), Final: r.Final, Bands: r.Bands,
		Rows: view.Each(r.Items.Items, func(d estimate.ModelDetail) modelDetailShape {
			shape := modelDetailShape{
				Figure: d.Figure, Channel: view.Named{ID: d.ChannelID, Name: r.ChannelNames[d.ChannelID]}, Currencies: d.Currency,
				Booking: d.BookingID, Transaction: d.TransactionID, Payment: d.PaymentID,
			}
			if d.Figure == estimate.FigureE1 {
				shape.E1 = &d.E1
				return shape
			}
			share := d.Share.FloatString(ShareDecimals)
			shape.Type, shape.Date, shape.Turnover, shape.Share = &d.Type, &d.Day, &d.Turnover, &share
			return shape
		}),
	}
}
