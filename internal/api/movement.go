package api

import (
	"net/http"

	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/reports"
)

// movementShape is a movement on the wire. Amounts are minor units: the rows in their own currencies, the total in the
// currency of the report. All lines have a sign, and their sum is the closing.
type movementShape struct {
	From civil.Day `json:"from"`
	To   civil.Day `json:"to"`
	reportShape
	Rows        []movementRowShape `json:"rows"`
	Total       movementRowShape   `json:"total"`
	PendingRate []movementRowShape `json:"pending_rate"`
}

type movementRowShape struct {
	Currencies money.Currency `json:"currencies"`
	E1         flowShape      `json:"e1"`
	E2         flowShape      `json:"e2"`
}

type flowShape struct {
	Opening     int64  `json:"opening"`
	New         int64  `json:"new"`
	Reversed    int64  `json:"reversed"`
	ReDated     int64  `json:"re_dated"`
	Refunded    int64  `json:"refunded"`
	ChargedBack int64  `json:"charged_back"`
	Delivered   int64  `json:"delivered"`
	Expired     int64  `json:"expired"`
	Revaluation *int64 `json:"revaluation,omitempty"` // of the total in a spot valuation
	Closing     int64  `json:"closing"`
}

// ShowMovement gives a movement in the shape of the wire, to be encoded as JSON. The command line prints it, too.
func ShowMovement(r reports.MovementReport) any {
	shape := movementShape{
		From: r.Query.From, To: r.Query.AsOf, reportShape: showReport(r.Query.ReportQuery, r.Final),
		Rows: showFlows(r.Rows), PendingRate: showFlows(r.PendingRate),
		Total: movementRowShape{r.Query.Currency, showFlow(r.Total, ofE1), showFlow(r.Total, ofE2)},
	}
	if r.Query.Valuation == protection.Spot {
		shape.Total.E1.Revaluation, shape.Total.E2.Revaluation = &r.Total.Revaluation.E1, &r.Total.Revaluation.E2
	}
	return shape
}

func showFlows(rows []protection.MovementRow) []movementRowShape {
	shapes := make([]movementRowShape, len(rows))
	for i, row := range rows {
		shapes[i] = movementRowShape{row.Currency, showFlow(row.Flows, ofE1), showFlow(row.Flows, ofE2)}
	}
	return shapes
}

func ofE1(l protection.Level) int64 { return l.E1 }
func ofE2(l protection.Level) int64 { return l.E2 }

func showFlow(f protection.Flows, of func(protection.Level) int64) flowShape {
	return flowShape{
		Opening: of(f.Opening), New: of(f.Of(protection.CauseNew)), Reversed: of(f.Of(protection.CauseReversed)),
		ReDated: of(f.Of(protection.CauseReDated)), Refunded: of(f.Of(protection.CauseRefunded)),
		ChargedBack: of(f.Of(protection.CauseChargedBack)), Delivered: of(f.Of(protection.CauseDelivered)),
		Expired: of(f.Of(protection.CauseExpired)), Closing: of(f.Closing),
	}
}

func (s *server) getMovement(c *call) error {
	q := c.query()
	in := reports.MovementQuery{}
	if day := q.day("from"); day != civil.NoDay {
		in.From = &day
	}
	to := q.day("to")
	in.ExposureQuery = q.exposure()
	if to != civil.NoDay { // else as_of is the last day, as in other reports
		in.AsOf = &to
	}
	report, err := s.app.Exposure.Movement(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, ShowMovement(report))
	return nil
}
