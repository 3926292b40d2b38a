// Package reports shows reports: exposure, run-off, ageing, movement, what-ifs and models, and the rows behind them. Start
// reading at ShowExposure.
package reports

import (
	"maps"
	"slices"
	"strings"

	"holdfast/internal/api/view"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
)

// exposureShape is an exposure report on the wire. Amounts are minor units: e1 to e5 in the currency of the row, the
// others in the currency of the report. Those are null if a rate is missing for a part of them.
type exposureShape struct {
	AsOf        civil.Day          `json:"as_of"`
	KnownAt     string             `json:"known_at"`
	Final       bool               `json:"final"`
	Currency    money.Currency     `json:"currency"`
	Valuation   exposure.Valuation `json:"valuation"`
	By          string             `json:"by"`
	Rows        []exposureRowShape `json:"rows"`
	Subtotals   []subtotalShape    `json:"subtotals"`
	Total       exposureTotalShape `json:"total"`
	Rounding    roundingShape      `json:"rounding"`
	Net         netShape           `json:"net"`
	PendingRate []apartShape       `json:"pending_rate"`
	Converted   []convertedShape   `json:"converted_at_spot"`
	Uncovered   []uncoveredShape   `json:"uncovered"`
	Instalments []instalmentsShape `json:"instalments"`
}

type exposureRowShape struct {
	Key         exposureKeyShape `json:"key"`
	Currencies  money.Currency   `json:"currencies"`
	Allocations int64            `json:"allocations"`
	E1          int64            `json:"e1"`
	E2          int64            `json:"e2"`
	E3          int64            `json:"e3"`
	E4          *int64           `json:"e4"`
	E5          int64            `json:"e5"`
	reportFiguresShape
	memoShape
}

// reportFiguresShape is E1 to E3 in the currency of the report.
type reportFiguresShape struct {
	E1Report *int64 `json:"e1_report"`
	E2Report *int64 `json:"e2_report"`
	E3Report *int64 `json:"e3_report"`
}

func showFigures(e1, e2 int64, gaps exposure.Gaps) reportFiguresShape {
	return reportFiguresShape{known(e1, gaps.E1), known(e2, gaps.E2), known(e1+e2, gaps.E1 || gaps.E2)}
}

// known is null for a figure that is not known.
func known(n int64, gap bool) *int64 {
	if gap {
		return nil
	}
	return &n
}

// subtotalShape adds up the rows that agree in the first dimension.
type subtotalShape struct {
	Key         exposureKeyShape `json:"key"`
	Rows        int              `json:"rows"`
	Allocations int64            `json:"allocations"`
	reportFiguresShape
	memoShape
}

// memoShape has null without a value: in a locked valuation, and without a fixing.
type memoShape struct {
	E4Report *int64 `json:"e4_report"`
	E5Report *int64 `json:"e5_report"`
}

// exposureKeyShape has the fields of the report's dimensions.
type exposureKeyShape struct {
	Channel   *view.Named `json:"channel,omitempty"`
	Month     *string     `json:"month,omitempty"`
	Currency  *string     `json:"currency,omitempty"`
	Scheme    *string     `json:"scheme,omitempty"`
	Country   *string     `json:"country,omitempty"` // "" if the bookings name none
	Suppliers *[]int64    `json:"suppliers,omitempty"`
}

type exposureTotalShape struct {
	Currencies  money.Currency `json:"currencies"`
	Allocations int64          `json:"allocations"`
	E1          *int64         `json:"e1"`
	E2          *int64         `json:"e2"`
	E3          *int64         `json:"e3"`
	reportFiguresShape
	memoShape
}

type roundingShape struct {
	E1 *int64 `json:"e1_report"`
	E2 *int64 `json:"e2_report"`
	memoShape
}

// netShape is e1 less the collateral, in the currency of the report.
type netShape struct {
	E1          *int64            `json:"e1_report"`
	Held        *int64            `json:"held"`
	Net         *int64            `json:"net"`
	Channels    []channelNetShape `json:"channels"`
	PendingRate []heldShape       `json:"pending_rate"`
}

type channelNetShape struct {
	Channel view.Named `json:"channel"`
	E1      *int64     `json:"e1_report"`
	Held    *int64     `json:"held"`
	Net     *int64     `json:"net"`
}

type heldShape struct {
	ChannelID  *int64         `json:"channel_id"`
	Currencies money.Currency `json:"currencies"`
	Amount     int64          `json:"amount"`
}

type apartShape struct {
	Currencies  money.Currency `json:"currencies"`
	Allocations int64          `json:"allocations"`
	E1          int64          `json:"e1"`
	E2          int64          `json:"e2"`
}

// convertedShape is the amounts that a locked valuation converts at spot: E1 and E2 in the currency in which they were priced.
type convertedShape struct {
	apartShape
	E1Report *int64 `json:"e1_report"`
	E2Report *int64 `json:"e2_report"`
}

func showConverted(list []exposure.Converted) []convertedShape {
	shapes := make([]convertedShape, len(list))
	for i, c := range list {
		shapes[i] = convertedShape{
			apartShape{Currencies: c.Currency, Allocations: c.Allocations, E1: c.E1, E2: c.E2},
			known(c.Report.E1, c.Gaps.E1), known(c.Report.E2, c.Gaps.E2),
		}
	}
	return shapes
}

type uncoveredShape struct {
	Currencies  money.Currency `json:"currencies"`
	Allocations int64          `json:"allocations"`
	E5          int64          `json:"e5"`
}

type instalmentsShape struct {
	Currencies money.Currency `json:"currencies"`
	Bookings   int64          `json:"bookings"`
	E4         int64          `json:"e4"`
}

// ShowExposure returns an exposure report as in the API, to be encoded as JSON. The command line also prints it.
func ShowExposure(r report.ExposureReport) any {
	by := string(r.Query.By)
	if r.Query.Across != "" {
		by += "," + string(r.Query.Across)
	}
	total := showFigures(r.Total.E1, r.Total.E2, r.Gaps)
	shape := exposureShape{
		AsOf: r.Query.AsOf, KnownAt: r.Query.KnownAt.UTC().Format(view.ISOMicros), Final: r.Final,
		Currency: r.Query.Currency, Valuation: r.Query.Valuation, By: by,
		Rows: make([]exposureRowShape, len(r.Rows)),
		Total: exposureTotalShape{
			Currencies: r.Query.Currency, Allocations: r.Total.Allocations, reportFiguresShape: total,
			E1: total.E1Report, E2: total.E2Report, E3: total.E3Report, memoShape: showMemo(r.Memo, r.MemoGaps),
		},
		Subtotals: make([]subtotalShape, len(r.Subtotals)),
		Rounding: roundingShape{
			E1: known(r.Rounding.E1, r.Gaps.E1), E2: known(r.Rounding.E2, r.Gaps.E2), memoShape: showMemo(r.RoundingMemo(), r.MemoGaps),
		},
		Net:         showNet(r),
		PendingRate: showApart(r.PendingRate),
		Converted:   showConverted(r.Converted),
		Uncovered:   make([]uncoveredShape, len(r.Uncovered)),
		Instalments: make([]instalmentsShape, len(r.Instalments)),
	}
	for i, row := range r.Rows {
		shape.Rows[i] = exposureRowShape{
			Key: showExposureKey(r, row.Key, r.Query.By, r.Query.Across), Currencies: row.Currency, Allocations: row.Allocations,
			E1: row.E1, E2: row.E2, E3: row.E1 + row.E2, E4: known(row.E4, !r.Query.AttributesE4()), E5: row.E5,
			reportFiguresShape: showFigures(row.E1Report, row.E2Report, row.Gaps), memoShape: showMemo(row.Report, row.ReportGaps),
		}
	}
	for i, s := range r.Subtotals {
		shape.Subtotals[i] = subtotalShape{
			Key: showExposureKey(r, s.Key, r.Query.By), Rows: s.Rows, Allocations: s.Allocations,
			reportFiguresShape: showFigures(s.E1, s.E2, s.Gaps), memoShape: showMemo(s.Memo, s.MemoGaps),
		}
	}
	for i, p := range r.Uncovered {
		shape.Uncovered[i] = uncoveredShape{Currencies: p.Currency, Allocations: p.Allocations, E5: p.E1}
	}
	for i, p := range r.Instalments {
		shape.Instalments[i] = instalmentsShape{Currencies: p.Currency, Bookings: p.Allocations, E4: p.E1}
	}
	return shape
}

func showMemo(b *exposure.Memo, gaps exposure.MemoGaps) memoShape {
	if b == nil {
		return memoShape{}
	}
	return memoShape{E4Report: known(b.E4, gaps.E4), E5Report: known(b.E5, gaps.E5)}
}

func showNet(r report.ExposureReport) netShape {
	net := netShape{
		E1: known(r.Total.E1, r.Gaps.E1), Held: known(r.Net.Held, r.Net.HeldGap), Net: known(r.Net.Net, r.Net.NetGap),
		Channels: []channelNetShape{}, PendingRate: make([]heldShape, len(r.Net.Pending)),
	}
	for _, id := range slices.Sorted(maps.Keys(r.Net.Channels)) {
		c := r.Net.Channels[id]
		net.Channels = append(net.Channels, channelNetShape{
			Channel: view.Named{ID: id, Name: r.ChannelNames[id]}, E1: known(c.E1, c.Gap), Held: known(c.Held, c.HeldGap),
			Net: known(c.Net, c.NetGap),
		})
	}
	for i, h := range r.Net.Pending {
		net.PendingRate[i] = heldShape{Currencies: h.Currency, Amount: h.Amount}
		if h.ChannelID != 0 {
			net.PendingRate[i].ChannelID = &h.ChannelID
		}
	}
	return net
}

// showExposureKey shows the fields of a key for some dimensions.
func showExposureKey(r report.ExposureReport, k exposure.Key, by ...exposure.Dimension) (shape exposureKeyShape) {
	for _, d := range by {
		switch d {
		case exposure.ByMonth:
			shape.Month = &k.Month
		case exposure.ByCurrency:
			code := string(k.Currency)
			shape.Currency = &code
		case exposure.ByScheme:
			shape.Scheme = new(k.SchemeLabel())
		case exposure.ByCountry:
			shape.Country = &k.Country
		case exposure.BySupplier:
			ids := append([]int64{}, protection.SupplierIDs(k.Suppliers)...)
			shape.Suppliers = &ids
		case exposure.ByChannel:
			shape.Channel = &view.Named{ID: k.ChannelID, Name: r.ChannelNames[k.ChannelID]}
		}
	}
	return shape
}

// Dimensions reads how the rows of a report are grouped: by one dimension, or by two with a comma. The report itself
// checks them.
func Dimensions(text string) (by, across exposure.Dimension) {
	first, second, _ := strings.Cut(text, ",")
	return exposure.Dimension(strings.TrimSpace(first)), exposure.Dimension(strings.TrimSpace(second))
}
