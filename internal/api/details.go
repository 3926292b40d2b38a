package api

import (
	"net/http"

	"holdfast/internal/civil"
	"holdfast/internal/exposure"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/reports"
	"holdfast/internal/travel"
)

// detailsShape is one page of what stands behind an exposure, on the wire.
type detailsShape struct {
	AsOf civil.Day `json:"as_of"`
	On   civil.Day `json:"on"`
	reportShape
	Rows []detailShape `json:"rows"`
}

// detailShape is an allocation, or what is still to be paid for a booking. Amounts are minor units: e1_report and e2_report
// in the currency of the report, the others in the base currency.
type detailShape struct {
	Booking     int64             `json:"booking"`
	Transaction *int64            `json:"transaction"` // null for what is still to be paid
	Payment     *int64            `json:"payment"`     // id of the allocation
	Channel     namedShape        `json:"channel"`
	Currencies  money.Currency    `json:"currencies"`
	Scheme      string            `json:"scheme"`
	Country     string            `json:"country"`
	Suppliers   []int64           `json:"suppliers"`
	End         civil.Day         `json:"date"`
	LastDay     *civil.Day        `json:"last_day_of_dispute"`
	Standing    exposure.Standing `json:"standing"`
	Band        *string           `json:"band"`
	Remaining   int64             `json:"remaining"`
	E1          int64             `json:"e1"`
	E2          int64             `json:"e2"`
	E4          int64             `json:"e4"`
	E5          int64             `json:"e5"`
	E1Report    *int64            `json:"e1_report"`
	E2Report    *int64            `json:"e2_report"`
}

// movementDetailsShape is one page of what stands behind a movement.
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
	Channel     namedShape `json:"channel"`
	movedShape
	E1Locked *flowShape `json:"e1_report"` // null in a spot valuation, which converts subtotals
	E2Locked *flowShape `json:"e2_report"`
}

// ShowDetails gives a page of details in the shape of the wire, to be encoded as JSON. The command line prints it, too.
func ShowDetails(r reports.DetailsReport) any {
	return detailsShape{
		AsOf: r.Query.AsOf, On: r.On, reportShape: showReport(r.Query, r.Final),
		Rows: shapes(r.Items.Items, func(d exposure.Detail) detailShape { return showDetail(d, r.ChannelNames) }),
	}
}

func showDetail(d exposure.Detail, names map[int64]string) detailShape {
	shape := detailShape{
		Booking: d.BookingID, Transaction: orNull(d.TransactionID), Payment: orNull(d.AllocationID),
		Channel: namedShape{d.ChannelID, names[d.ChannelID]}, Currencies: d.Currency, Scheme: string(d.Scheme),
		Country: d.Terms.Country, Suppliers: append([]int64{}, protection.SupplierIDs(d.Terms.Suppliers)...),
		End: d.Terms.End, Standing: d.Standing, Remaining: d.Remaining, E1: d.E1, E2: d.E2, E4: d.E4, E5: d.E5,
	}
	if d.Standing != exposure.Instalments {
		shape.LastDay = &d.Terms.LastDay
	}
	if d.Band != "" {
		shape.Band = &d.Band
	}
	if d.Standing == exposure.Covered {
		shape.E1Report, shape.E2Report = known(d.E1Report, d.Pending), known(d.E2Report, d.Pending)
	}
	return shape
}

// ShowMovementDetails gives a page of the details of a movement in the shape of the wire, to be encoded as JSON. The command
// line prints it, too.
func ShowMovementDetails(r reports.MovementDetailsReport) any {
	locked := r.Query.Valuation == exposure.Locked
	return movementDetailsShape{
		From: r.Query.From, To: r.Query.AsOf, reportShape: showReport(r.Query.ReportQuery, r.Final),
		Rows: shapes(r.Items.Items, func(d exposure.MovementDetail) movementDetailShape {
			shape := movementDetailShape{
				Booking: d.BookingID, Transaction: d.TransactionID, Payment: d.ID,
				Channel: namedShape{d.ChannelID, r.ChannelNames[d.ChannelID]}, movedShape: showMoved(d.Currency, d.Flows),
			}
			if locked && !d.Pending {
				value := showMoved(r.Query.Currency, d.Report)
				shape.E1Locked, shape.E2Locked = &value.E1, &value.E2
			}
			return shape
		}),
	}
}

func (s *server) getExposureDetails(c *call) error {
	q := c.query()
	in := reports.DetailsQuery{ExposureQuery: q.exposure(), Bands: q.list("bands"), Page: q.part()}
	if on := q.day("on"); on != civil.NoDay {
		in.On = &on
	}
	in.Problems = q.problems
	report, err := s.app.Exposure.Details(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	return answerDetails(s, c, in.Page, report.Items, report.Query, ShowDetails(report))
}

func (s *server) getMovementDetails(c *call) error {
	q := c.query()
	in := q.movement()
	page := q.part()
	in.Problems = q.problems
	report, err := s.app.Exposure.MovementDetails(c.ctx, c.actor, in, page)
	if err != nil {
		return err
	}
	return answerDetails(s, c, page, report.Items, report.Query.ReportQuery, ShowMovementDetails(report))
}

// answerDetails answers a page. The links to other pages name the moment of this one, so that all pages fit together.
func answerDetails[T any](
	s *server, c *call, page travel.Page, items travel.List[T], q exposure.ReportQuery, shape any,
) error {
	at := c.r.URL.Query()
	if !at.Has("to") {
		at.Set("as_of", q.AsOf.String())
	}
	at.Set("known_at", q.KnownAt.UTC().Format(isoMicros))
	c.r.URL.RawQuery = at.Encode()
	if err := paging(s, c, page, items); err != nil {
		return err
	}
	c.json(http.StatusOK, shape)
	return nil
}
