package reports

import (
	"holdfast/internal/api/view"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
)

// movementShape is a movement on the wire. Amounts are minor units: e1 and e2 of rows in their own currencies, the
// others in the currency of the report. All lines have a sign, and their sum is the closing. A line in the currency of
// the report is null if a rate is missing for a part of it.
type movementShape struct {
	From civil.Day `json:"from"`
	To   civil.Day `json:"to"`
	reportShape
	By          exposure.Dimension `json:"by"`
	Rows        []movementRowShape `json:"rows"`
	Total       movementTotalShape `json:"total"`
	PendingRate []movedShape       `json:"pending_rate"`
	Converted   []movedShape       `json:"converted_at_spot"`
}

// movedShape is a movement in one base currency.
type movedShape struct {
	Currencies money.Currency `json:"currencies"`
	E1         flowShape      `json:"e1"`
	E2         flowShape      `json:"e2"`
}

type movementRowShape struct {
	Channel *view.Named `json:"channel,omitempty"`
	movedShape
	E1Report any `json:"e1_report"`
	E2Report any `json:"e2_report"`
}

// movementTotalShape is a movement in the currency of the report.
type movementTotalShape struct {
	Currencies money.Currency `json:"currencies"`
	E1         any            `json:"e1"`
	E2         any            `json:"e2"`
}

type flowShape struct {
	flowLines
	Closing *int64 `json:"closing"`
}

// revaluedFlowShape is a flow in the currency of the report, where something is converted at spot.
type revaluedFlowShape struct {
	flowLines
	Revaluation *int64 `json:"revaluation"`
	Closing     *int64 `json:"closing"`
}

type flowLines struct {
	Opening     *int64 `json:"opening"`
	New         *int64 `json:"new"`
	Reversed    *int64 `json:"reversed"`
	ReDated     *int64 `json:"re_dated"`
	Refunded    *int64 `json:"refunded"`
	ChargedBack *int64 `json:"charged_back"`
	Delivered   *int64 `json:"delivered"`
	Expired     *int64 `json:"expired"`
}

// ShowMovement gives a movement in the shape of the wire, to be encoded as JSON. The command line prints it too.
func ShowMovement(r report.MovementReport) any {
	revalued := r.Revalued()
	shape := movementShape{
		From: r.Query.From, To: r.Query.AsOf, reportShape: showReport(r.Query.ReportQuery, r.Final), By: r.Query.By,
		Rows: make([]movementRowShape, len(r.Rows)), PendingRate: make([]movedShape, len(r.PendingRate)),
		Converted: make([]movedShape, len(r.Converted)),
		Total: movementTotalShape{
			r.Query.Currency, reportFlow(r.Total, r.Gaps, revalued, ofE1), reportFlow(r.Total, r.Gaps, revalued, ofE2),
		},
	}
	for i, row := range r.Rows {
		shape.Rows[i] = movementRowShape{
			movedShape: showMoved(row.Currency, row.Flows),
			E1Report:   reportFlow(row.Report, row.Gaps, revalued, ofE1), E2Report: reportFlow(row.Report, row.Gaps, revalued, ofE2),
		}
		if row.ChannelID != 0 {
			shape.Rows[i].Channel = &view.Named{ID: row.ChannelID, Name: r.ChannelNames[row.ChannelID]}
		}
	}
	for i, p := range r.PendingRate {
		shape.PendingRate[i] = showMoved(p.Currency, p.Flows)
	}
	for i, c := range r.Converted {
		shape.Converted[i] = showMoved(c.Currency, c.Flows)
	}
	return shape
}

func showMoved(c money.Currency, f exposure.Flows) movedShape {
	flow := func(of figure) flowShape {
		return flowShape{showFlow(f, exposure.FlowGaps{}, of), of(f.Closing, exposure.Gaps{})}
	}
	return movedShape{c, flow(ofE1), flow(ofE2)}
}

// figure picks E1 or E2 of a line.
type figure func(protection.Level, exposure.Gaps) *int64

func ofE1(l protection.Level, gaps exposure.Gaps) *int64 { return known(l.E1, gaps.E1) }

func ofE2(l protection.Level, gaps exposure.Gaps) *int64 { return known(l.E2, gaps.E2) }

// reportFlow shows a flow in the currency of the report. Only a spot valuation has a revaluation.
func reportFlow(f exposure.Flows, gaps exposure.FlowGaps, revalued bool, of figure) any {
	lines, closing := showFlow(f, gaps, of), of(f.Closing, gaps.Closing)
	if !revalued {
		return flowShape{lines, closing}
	}
	return revaluedFlowShape{lines, of(f.Revaluation, gaps.Revaluation), closing}
}

func showFlow(f exposure.Flows, gaps exposure.FlowGaps, of figure) flowLines {
	cause := func(c protection.Cause) *int64 { return of(f.Of(c), gaps.Of(c)) }
	return flowLines{
		Opening: of(f.Opening, gaps.Opening), New: cause(protection.CauseNew), Reversed: cause(protection.CauseReversed),
		ReDated: cause(protection.CauseReDated), Refunded: cause(protection.CauseRefunded),
		ChargedBack: cause(protection.CauseChargedBack), Delivered: cause(protection.CauseDelivered),
		Expired: cause(protection.CauseExpired),
	}
}
