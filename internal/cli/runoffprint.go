package cli

import (
	"slices"
	"strings"

	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
)

// indent sets the tables of these reports off from the text.
const indent = "  "

// inCurrency is a column with amounts in one base currency.
func inCurrency(name string, c money.Currency) column {
	return column{name: name + "_" + strings.ToLower(string(c)), title: "in " + string(c)}
}

// runOffSheet has a row per day, in the report currency and in each base currency.
func runOffSheet(r report.RunOffReport) sheet {
	q := r.Query
	s := sheet{columns: columnsOf("row date days report_currency e1_report e2_report left_percent")}
	for _, c := range r.Points[0].By {
		s.columns = append(s.columns, inCurrency("e1", c.Currency), inCurrency("e2", c.Currency))
	}
	first := r.Points[0]
	for _, point := range r.Points {
		row := []cell{
			words("day"), dayCell(point.Day), count(int64(point.Day - q.AsOf)), words(string(q.Currency)),
			value(point.Total.E1, point.Gaps.E1, q.Currency), value(point.Total.E2, point.Gaps.E2, q.Currency),
			share(point.Total.E1, first.Total.E1, first.Gaps.E1 || point.Gaps.E1),
		}
		for _, c := range point.By {
			row = append(row, amount(c.E1, c.Currency), amount(c.E2, c.Currency))
		}
		s.rows = append(s.rows, row)
	}
	return s
}

// runOffTable prints the run-off as a table, up to the first day on which nothing is left.
func (p *program) runOffTable(r report.RunOffReport, s sheet) {
	q := r.Query
	p.printf("Run-off from the end of %s,\n%s\n\n", q.AsOf, known(q))
	if r.Allocations == 0 {
		p.tellNothing(q, r.PendingRate, r.Uncovered)
		return
	}
	code := string(q.Currency)
	columns := []column{
		{"date", "END OF"}, {"days", ""}, {"e1_report", "E1 " + code}, {"e2_report", "E2 " + code}, {"left_percent", "OF E1"},
	}
	unvalued := slices.ContainsFunc(r.Points, func(p exposure.RunOffPoint) bool { return p.Gaps != exposure.Gaps{} })
	for _, c := range r.Points[0].By {
		if unvalued { // only the base currencies are known
			columns = append(columns, inCurrency("e1", c.Currency))
		}
	}
	last := slices.IndexFunc(r.Points, func(p exposure.RunOffPoint) bool {
		return p.Total == protection.Level{} && p.Gaps == exposure.Gaps{}
	})
	if last >= 0 {
		s.rows = slices.DeleteFunc(s.rows, func(row []cell) bool { return row[1].plain > r.Points[last].Day.String() })
	}
	p.printTable(s.only(columns...), indent)
	amount := func(n int64) string { return money.Format(n, q.Currency) }
	switch {
	case r.HalfLife != nil:
		p.printf("\n50%% of E1 has run off by %s, after %d days. Mean life: %s days.\n", *r.HalfLife, *r.HalfLife-q.AsOf, r.MeanLifeDays())
	case r.Points[0].Gaps.E1:
		p.printf("\nThe half-life and mean life are not known.\n")
	default:
		p.printf("\nE1 is zero.\n")
	}
	if r.Peak.Gap {
		p.printf("The peak of E1 so far is not known.")
	} else {
		p.printf("Peak of E1 so far, at the rates of the first day: %s %s on %s.", q.Currency, amount(r.Peak.E1), r.Peak.Day)
	}
	p.printf(" The last dispute window closes on %s.\n", r.LastDay)
	p.printf("%s", legend)
	p.tellConverted(q, r.Converted)
	p.tellApart(q, r.PendingRate, r.Uncovered)
}

// tellNothing prints a message instead of an empty table.
func (p *program) tellNothing(q exposure.ReportQuery, pending, uncovered []exposure.Pending) {
	if len(pending) > 0 {
		p.printf("No exposure in currencies with an exchange rate.\n")
	} else {
		p.printf("No exposure.\n")
	}
	p.tellApart(q, pending, uncovered)
}

// ageingSheet has a row per band, in the report currency and in each base currency.
func ageingSheet(r report.AgeingReport) sheet {
	q := r.Query
	s := sheet{columns: columnsOf("row band allocations report_currency e1_report share_percent")}
	var currencies []money.Currency
	for _, band := range r.Bands {
		for _, c := range band.By {
			if !slices.Contains(currencies, c.Currency) {
				currencies = append(currencies, c.Currency)
			}
		}
	}
	slices.Sort(currencies)
	for _, c := range currencies {
		s.columns = append(s.columns, inCurrency("e1", c))
	}
	shares := r.Shares()
	for i, band := range r.Bands {
		part := share(0, 0, true)
		if shares != nil {
			part = share(shares[i], 1000, false)
		}
		row := []cell{
			words("band"), {text: bandName(band.Name), plain: band.Name}, count(band.Allocations), words(string(q.Currency)),
			value(band.E1, band.Gap, q.Currency), part,
		}
		for _, c := range currencies {
			own := cell{text: "-", plain: money.FormatPlain(0, c), figure: true}
			if i := slices.IndexFunc(band.By, func(b exposure.AgeingCurrency) bool { return b.Currency == c }); i >= 0 {
				own = amount(band.By[i].E1, c)
			}
			row = append(row, own)
		}
		s.rows = append(s.rows, row)
	}
	foot := func(kind string, allocations cell, n int64, part cell) {
		s.foot = append(s.foot, []cell{words(kind), {text: kind}, allocations, words(string(q.Currency)), value(n, r.Gap, q.Currency), part})
	}
	if r.Rounding != 0 && !r.Gap {
		foot("rounding", cell{}, r.Rounding, cell{})
	}
	foot("total", count(r.Allocations), r.Total, share(r.Total, r.Total, r.Gap))
	return s
}

// ageingTable prints the ageing as a table, with a column per base currency.
func (p *program) ageingTable(r report.AgeingReport, s sheet) {
	q := r.Query
	p.printf("Ageing of E1 at the end of %s,\n%s\n\n", q.AsOf, known(q))
	if r.Allocations == 0 {
		p.tellNothing(q, r.PendingRate, r.Uncovered)
		return
	}
	columns := []column{{"band", "TRIP ENDS IN"}, {"allocations", ""}, {"e1_report", "E1 " + string(q.Currency)}, {"share_percent", "SHARE"}}
	p.printTable(s.only(append(columns, s.columns[6:]...)...), indent)
	p.printf("\nE1: the loss if the merchants fail now. In travel: the trip has started and not ended.\n")
	p.tellConverted(q, r.Converted)
	p.tellApart(q, r.PendingRate, r.Uncovered)
}

func bandName(name string) string {
	switch name {
	case "in_travel":
		return "in travel"
	case "over_365":
		return "over 365 days"
	default:
		return strings.Replace(name, "-", "–", 1) + " days"
	}
}
