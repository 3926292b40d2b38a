package reports

import (
	"holdfast/internal/api/view"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
)

// detailsShape is one page of the items behind an exposure, on the wire.
type detailsShape struct {
	AsOf civil.Day `json:"as_of"`
	On   civil.Day `json:"on"`
	reportShape
	Rows []detailShape `json:"rows"`
}

// detailShape is an allocation, or the outstanding amount of a booking. Amounts are minor units: e1_report and e2_report
// in the currency of the report, the others in the base currency.
type detailShape struct {
	Booking     int64             `json:"booking"`
	Transaction *int64            `json:"transaction"` // null for outstanding amounts
	Payment     *int64            `json:"payment"`     // id of the allocation
	Channel     view.Named        `json:"channel"`
	Currencies  money.Currency    `json:"currencies"`
	Scheme      string            `json:"scheme"`
	Country     string            `json:"country"`
	Suppliers   []int64           `json:"suppliers"`
	End         civil.Day         `json:"date"`
	LastDay     *civil.Day        `json:"last_day_of_dispute"`
	Category    exposure.Category `json:"standing"`
	Band        *string           `json:"band"`
	Remaining   int64             `json:"remaining"`
	E1          int64             `json:"e1"`
	E2          int64             `json:"e2"`
	E4          int64             `json:"e4"`
	E5          int64             `json:"e5"`
	E1Report    *int64            `json:"e1_report"`
	E2Report    *int64            `json:"e2_report"`
}

// movementDetailsShape is one page of the items behind a movement.
type movementDetailsShape struct {
	From civil.Day `json:"from"`
	To   civil.Day `json:"to"`
	reportShape
	Rows []movementDetailShape `json:"rows"`
}

type movementDetailShape struct {
	Booking     int64      `json:"booking"`
	Transaction int64      `json:"transaction"`
	Payment     int64      `json:"payment"`
	Channel     view.Named `json:"channel"`
	movedShape
	E1Locked *flowShape `json:"e1_report"` // null in a spot valuation, which converts subtotals
	E2Locked *flowShape `json:"e2_report"`
}

// ShowDetails gives a page of details in the shape of the wire, to be encoded as JSON. The command line prints it too.
func ShowDetails(r report.DetailsReport) any {
	return detailsShape{
		AsOf: r.Query.AsOf, On: r.On, reportShape: showReport(r.Query, r.Final),
		Rows: view.Each(r.Items.Items, func(d exposure.Detail) detailShape { return showDetail(d, r.ChannelNames) }),
	}
}

func showDetail(d exposure.Detail, names map[int64]string) detailShape {
	shape := detailShape{
		Booking: d.BookingID, Transaction: view.OrNull(d.TransactionID), Payment: view.OrNull(d.AllocationID),
		Channel: view.Named{ID: d.ChannelID, Name: names[d.ChannelID]}, Currencies: d.Currency, Scheme: string(d.Scheme),
		Country: d.Terms.Country, Suppliers: append([]int64{}, protection.SupplierIDs(d.Terms.Suppliers)...),
		End: d.Terms.End, Category: d.Category, Remaining: d.Remaining, E1: d.E1, E2: d.E2, E4: d.E4, E5: d.E5,
	}
	if d.Category != exposure.Instalments {
		shape.LastDay = &d.Terms.LastDay
	}
	if d.Band != "" {
		shape.Band = &d.Band
	}
	if d.Category == exposure.Covered {
		shape.E1Report, shape.E2Report = known(d.E1Report, d.Pending), known(d.E2Report, d.Pending)
	}
	return shape
}

// ShowMovementDetails returns a page of the details of a movement as in the API, to be encoded as JSON. The command
// line also prints it.
func ShowMovementDetails(r report.MovementDetailsReport) any {
	locked := r.Query.Valuation == exposure.Locked
	return movementDetailsShape{
		From: r.Query.From, To: r.Query.AsOf, reportShape: showReport(r.Query.ReportQuery, r.Final),
		Rows: view.Each(r.Items.Items, func(d exposure.MovementDetail) movementDetailShape {
			shape := movementDetailShape{
				Booking: d.BookingID, Transaction: d.TransactionID, Payment: d.ID,
				Channel: view.Named{ID: d.ChannelID, Name: r.ChannelNames[d.ChannelID]}, movedShape: showMoved(d.Currency, d.Flows),
			}
			if locked && !d.Pending {
				value := showMoved(r.Query.Currency, d.Report)
				shape.E1Locked, shape.E2Locked = &value.E1, &value.E2
			}
			return shape
		}),
	}
}
