package reports

import (
	"holdfast/internal/api/view"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/report"
)

// reportShape has the first fields of every report of R8.
type reportShape struct {
	KnownAt     string             `json:"known_at"`
	Final       bool               `json:"final"`
	Currency    money.Currency     `json:"currency"`
	Valuation   exposure.Valuation `json:"valuation"`
	Recognition terms.Recognition  `json:"recognition"`
}

func showReport(q exposure.ReportQuery, final bool) reportShape {
	return reportShape{
		KnownAt: q.KnownAt.UTC().Format(view.ISOMicros), Final: final, Currency: q.Currency, Valuation: q.Valuation,
		Recognition: q.Recognition,
	}
}

// runOffShape is a run-off on the wire. Amounts are minor units: e1 and e2 in their own currency, the others in the
// currency of the report.
type runOffShape struct {
	AsOf civil.Day `json:"as_of"`
	reportShape
	Allocations int64            `json:"allocations"`
	LastDay     civil.Day        `json:"last_day_of_dispute"`
	HalfLife    *halfLifeShape   `json:"half_life"`
	MeanLife    *string          `json:"mean_life_days"`
	Peak        peakShape        `json:"peak"`
	Points      []pointShape     `json:"points"`
	PendingRate []apartShape     `json:"pending_rate"`
	Converted   []convertedShape `json:"converted_at_spot"`
	Uncovered   []uncoveredShape `json:"uncovered"`
}

type halfLifeShape struct {
	Date civil.Day `json:"date"`
	Days int64     `json:"days"`
}

type peakShape struct {
	Date *civil.Day `json:"date"`
	E1   *int64     `json:"e1_report"`
}

type pointShape struct {
	Date       civil.Day            `json:"date"`
	Days       int64                `json:"days"`
	E1         *int64               `json:"e1_report"`
	E2         *int64               `json:"e2_report"`
	Currencies []pointCurrencyShape `json:"currencies"`
}

type pointCurrencyShape struct {
	Currencies money.Currency `json:"currencies"`
	E1         int64          `json:"e1"`
	E2         int64          `json:"e2"`
}

// ShowRunOff gives a run-off in the shape of the wire, to be encoded as JSON. The command line prints it too.
func ShowRunOff(r report.RunOffReport) any {
	shape := runOffShape{
		AsOf: r.Query.AsOf, reportShape: showReport(r.Query, r.Final), Allocations: r.Allocations, LastDay: r.LastDay,
		Points:      make([]pointShape, len(r.Points)),
		PendingRate: showApart(r.PendingRate), Converted: showConverted(r.Converted), Uncovered: showUncovered(r.Uncovered),
	}
	if !r.Peak.Gap {
		shape.Peak = peakShape{&r.Peak.Day, &r.Peak.E1}
	}
	if r.HalfLife != nil {
		mean := r.MeanLifeDays()
		shape.HalfLife, shape.MeanLife = &halfLifeShape{*r.HalfLife, int64(*r.HalfLife - r.Query.AsOf)}, &mean
	}
	for i, p := range r.Points {
		point := pointShape{
			Date: p.Day, Days: int64(p.Day - r.Query.AsOf),
			E1: known(p.Total.E1, p.Gaps.E1), E2: known(p.Total.E2, p.Gaps.E2),
			Currencies: make([]pointCurrencyShape, len(p.By)),
		}
		for k, c := range p.By {
			point.Currencies[k] = pointCurrencyShape{c.Currency, c.E1, c.E2}
		}
		shape.Points[i] = point
	}
	return shape
}

func showApart(list []exposure.Pending) []apartShape {
	shapes := make([]apartShape, len(list))
	for i, p := range list {
		shapes[i] = apartShape{Currencies: p.Currency, Allocations: p.Allocations, E1: p.E1, E2: p.E2}
	}
	return shapes
}

func showUncovered(list []exposure.Pending) []uncoveredShape {
	shapes := make([]uncoveredShape, len(list))
	for i, p := range list {
		shapes[i] = uncoveredShape{Currencies: p.Currency, Allocations: p.Allocations, E5: p.E1}
	}
	return shapes
}

// ageingShape is an ageing on the wire.
type ageingShape struct {
	AsOf civil.Day `json:"as_of"`
	reportShape
	Rows        []ageBandShape     `json:"rows"`
	Total       ageTotalShape      `json:"total"`
	Rounding    ageRoundingShape   `json:"rounding"`
	PendingRate []agePendingShape  `json:"pending_rate"`
	Converted   []ageCurrencyShape `json:"converted_at_spot"`
	Uncovered   []uncoveredShape   `json:"uncovered"`
}

type ageBandShape struct {
	Band        string             `json:"band"`
	From        *int64             `json:"from_days"` // null for trips that have begun
	To          *int64             `json:"to_days"`   // null for trips that have begun, and if the band has no end
	Allocations int64              `json:"allocations"`
	E1          *int64             `json:"e1_report"`
	Currencies  []ageCurrencyShape `json:"currencies"`
}

type ageCurrencyShape struct {
	Currencies  money.Currency `json:"currencies"`
	Allocations int64          `json:"allocations"`
	E1          int64          `json:"e1"`
	E1Report    *int64         `json:"e1_report"`
}

type ageTotalShape struct {
	Allocations int64  `json:"allocations"`
	E1          *int64 `json:"e1_report"`
}

type ageRoundingShape struct {
	E1 *int64 `json:"e1_report"`
}

type agePendingShape struct {
	Currencies  money.Currency `json:"currencies"`
	Allocations int64          `json:"allocations"`
	E1          int64          `json:"e1"`
}

// ShowAgeing gives an ageing in the shape of the wire, to be encoded as JSON. The command line prints it too.
func ShowAgeing(r report.AgeingReport) any {
	shape := ageingShape{
		AsOf: r.Query.AsOf, reportShape: showReport(r.Query, r.Final), Rows: make([]ageBandShape, len(r.Bands)),
		Total: ageTotalShape{r.Allocations, known(r.Total, r.Gap)}, Rounding: ageRoundingShape{known(r.Rounding, r.Gap)},
		PendingRate: make([]agePendingShape, len(r.PendingRate)), Converted: make([]ageCurrencyShape, len(r.Converted)),
		Uncovered: showUncovered(r.Uncovered),
	}
	for i, b := range r.Bands {
		row := ageBandShape{
			Band: b.Name, Allocations: b.Allocations, E1: known(b.E1, b.Gap), Currencies: make([]ageCurrencyShape, len(b.By)),
		}
		if b.From > 0 {
			row.From = &b.From
		}
		if b.To > 0 {
			row.To = &b.To
		}
		for k, c := range b.By {
			row.Currencies[k] = ageCurrencyShape{c.Currency, c.Allocations, c.E1, known(c.E1Report, c.Gap)}
		}
		shape.Rows[i] = row
	}
	for i, p := range r.PendingRate {
		shape.PendingRate[i] = agePendingShape{p.Currency, p.Allocations, p.E1}
	}
	for i, c := range r.Converted {
		shape.Converted[i] = ageCurrencyShape{c.Currency, c.Allocations, c.E1, known(c.Report.E1, c.Gaps.E1)}
	}
	return shape
}
