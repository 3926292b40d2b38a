package reports

import (
	"holdfast/internal/api/view"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
)

// modelShape compares an estimate with the actual exposure, on the wire. Amounts are minor units: estimate and e1 in
// the currency of the row, the others in the currency of the report.
type modelShape struct {
	AsOf     civil.Day       `json:"as_of"`
	KnownAt  string          `json:"known_at"`
	Final    bool            `json:"final"`
	Currency money.Currency  `json:"currency"`
	Bands    estimate.Bands  `json:"bands"`
	Rows     []modelRowShape `json:"rows"`
	Total    modelTotalShape `json:"total"`
}

type modelRowShape struct {
	Channel    view.Named       `json:"channel"`
	Currencies money.Currency   `json:"currencies"`
	Estimate   int64            `json:"estimate"`
	E1         int64            `json:"e1"`
	Report     *modelTotalShape `json:"report"` // null if an exchange rate is missing; then the total is not known
}

// modelTotalShape has null for what is not known.
type modelTotalShape struct {
	Estimate   *int64 `json:"estimate_report"`
	E1         *int64 `json:"e1_report"`
	Difference *int64 `json:"difference_report"` // the estimate less E1
}

func showModelTotal(estimate, e1 int64, estimateGap, e1Gap bool) modelTotalShape {
	return modelTotalShape{known(estimate, estimateGap), known(e1, e1Gap), known(estimate-e1, estimateGap || e1Gap)}
}

// ShowModel gives the report in the shape of the wire, to be encoded as JSON. The command line prints it too.
func ShowModel(r report.ModelReport) any {
	shape := modelShape{
		AsOf: r.Query.AsOf, KnownAt: r.Query.KnownAt.UTC().Format(view.ISOMicros), Final: r.Final, Currency: r.Query.Currency,
		Bands: r.Bands, Rows: make([]modelRowShape, len(r.Rows)),
		Total: showModelTotal(r.Estimate, r.E1, r.EstimateGap, r.E1Gap),
	}
	for i, row := range r.Rows {
		shape.Rows[i] = modelRowShape{
			Channel: view.Named{ID: row.ChannelID, Name: r.ChannelNames[row.ChannelID]}, Currencies: row.Currency,
			Estimate: row.Estimate, E1: row.E1,
		}
		if row.Valued {
			report := showModelTotal(row.EstimateReport, row.E1Report, false, false)
			shape.Rows[i].Report = &report
		}
	}
	return shape
}

// whatIfShape says on the wire what the failure of channels would cost. Amounts are minor units: use and limit in the
// policy currency, the others in the currency of the report.
type whatIfShape struct {
	AsOf           civil.Day            `json:"as_of"`
	KnownAt        string               `json:"known_at"`
	Final          bool                 `json:"final"`
	Currency       money.Currency       `json:"currency"`
	PolicyCurrency money.Currency       `json:"policy_currency"`
	Channels       []whatIfChannelShape `json:"channels"`
	Schemes        whatIfRowsShape      `json:"schemes"`
	Months         whatIfRowsShape      `json:"months"`
	Total          whatIfTotalShape     `json:"total"`
	PendingRate    []apartShape         `json:"pending_rate"`
	Unvalued       []unvaluedShape      `json:"collateral_pending_rate"`
}

type whatIfTotalShape struct {
	Allocations int64  `json:"allocations"`
	Loss        *int64 `json:"loss"` // E1
	Tail        *int64 `json:"tail"` // E2
	Collateral  *int64 `json:"collateral"`
	Net         *int64 `json:"net"`
	Use         *int64 `json:"use"`   // E1 locked
	Limit       *int64 `json:"limit"` // null if there is none
	OverLimit   *int64 `json:"over_limit"`
}

type whatIfChannelShape struct {
	Channel view.Named `json:"channel"`
	whatIfTotalShape
}

type whatIfRowsShape struct {
	Rows     []whatIfRowShape `json:"rows"`
	Rounding struct {
		Loss *int64 `json:"loss"`
		Tail *int64 `json:"tail"`
	} `json:"rounding"`
}

type whatIfRowShape struct {
	Key         string `json:"key"`
	Allocations int64  `json:"allocations"`
	Loss        *int64 `json:"loss"`
	Tail        *int64 `json:"tail"`
}

type unvaluedShape struct {
	Channel    *int64         `json:"channels"`
	Currencies money.Currency `json:"currencies"`
	Amount     int64          `json:"amount"`
}

// against adds its limit to a line.
func (t whatIfTotalShape) against(limit *protection.Limit) whatIfTotalShape {
	if limit == nil {
		none := int64(0)
		t.OverLimit = &none
		return t
	}
	t.Limit = &limit.Amount
	if t.Use != nil {
		over := max(0, *t.Use-limit.Amount)
		t.OverLimit = &over
	}
	return t
}

// ShowWhatIf gives the report in the shape of the wire, to be encoded as JSON. The command line prints it too.
func ShowWhatIf(r report.WhatIfReport) any {
	shape := whatIfShape{
		AsOf: r.Query.AsOf, KnownAt: r.Query.KnownAt.UTC().Format(view.ISOMicros), Final: r.Final, Currency: r.Query.Currency,
		PolicyCurrency: r.Query.Policy, Channels: make([]whatIfChannelShape, len(r.Channels)),
		Schemes: whatIfRows(r.Schemes, r.Gaps), Months: whatIfRows(r.Months, r.Gaps),
		Total:       whatIfTotal(r.Total, r.Gaps, r.Net, known(r.Use, r.UseGap)).against(r.SiteLimit),
		PendingRate: make([]apartShape, len(r.Pending)), Unvalued: make([]unvaluedShape, len(r.Unvalued)),
	}
	for i, c := range r.Channels {
		shape.Channels[i] = whatIfChannelShape{
			view.Named{ID: c.ChannelID, Name: r.ChannelNames[c.ChannelID]}, whatIfTotal(c.Figures, c.Gaps, c.Net, known(c.Use, c.UseGap)).against(c.Limit),
		}
	}
	for i, p := range r.Pending {
		shape.PendingRate[i] = apartShape{Currencies: p.Currency, Allocations: p.Allocations, E1: p.E1, E2: p.E2}
	}
	for i, u := range r.Unvalued {
		shape.Unvalued[i] = unvaluedShape{view.OrNull(u.ChannelID), u.Currency, u.Amount}
	}
	return shape
}

func whatIfTotal(f exposure.Figures, gaps exposure.Gaps, net exposure.NetTotal, use *int64) whatIfTotalShape {
	return whatIfTotalShape{
		Allocations: f.Allocations, Loss: known(f.E1, gaps.E1), Tail: known(f.E2, gaps.E2),
		Collateral: known(net.Held, net.HeldGap), Net: known(net.Net, net.NetGap), Use: use,
	}
}

func whatIfRows(r exposure.WhatIfRows, total exposure.Gaps) whatIfRowsShape {
	shape := whatIfRowsShape{Rows: make([]whatIfRowShape, len(r.Rows))}
	for i, row := range r.Rows {
		shape.Rows[i] = whatIfRowShape{
			Key: row.Key, Allocations: row.Allocations, Loss: known(row.E1, row.Gaps.E1), Tail: known(row.E2, row.Gaps.E2),
		}
	}
	shape.Rounding.Loss, shape.Rounding.Tail = known(r.Rounding.E1, total.E1), known(r.Rounding.E2, total.E2)
	return shape
}
