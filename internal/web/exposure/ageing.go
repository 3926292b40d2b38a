package exposure

import (
	"strings"

	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
	"holdfast/internal/web/chart"
	"holdfast/internal/web/kit"
)

// ageing shows undelivered amounts by days to the end of the trip.
func (p *pages) ageing(v *kit.Visit) error {
	if went, err := tidy(v); went || err != nil {
		return err
	}
	s, err := p.read(v)
	if err != nil {
		return err
	}
	const which = withMoment | withValuation
	page := kit.Page{Title: "Ageing", Parts: v.Parts("exposure", "/exposure/ageing"), Wide: true}
	q := s.query()
	q.By, q.Across = "", ""
	found, err := p.app.Exposure.Ageing(v.R.Context(), v.Actor, q)
	if err != nil {
		return p.fail(s, which, err, page)
	}
	r := s.began(which)
	r.at(s, found.Query, found.Final)
	r.Figures = []figure{{Text: "Undelivered (E1)", Value: said(found.Total, found.Gap, found.Query.Currency),
		Hint: kit.Plural(found.Allocations, "allocation", "allocations")}}
	r.apartNotes(found.PendingRate, found.Uncovered)
	r.draw(ageingChart(s, found))
	r.Parts = []part{{Table: s.ageingTable(found)}}
	return p.show(v, r, page)
}

// bandTitle is a band's name, capitalized.
func bandTitle(band string) string {
	text := bandName(band)
	return strings.ToUpper(text[:1]) + text[1:]
}

func ageingChart(s *settings, found report.AgeingReport) chart.Chart {
	c := chart.Chart{
		ID: "ageing", Kind: chart.Bars, Title: "Undelivered by trip end", Currency: found.Query.Currency, Names: "Trip ends",
		Series: []string{"Undelivered (E1)"}, Caption: "Undelivered by days to trip end, in " + string(found.Query.Currency),
	}
	if found.Allocations == 0 {
		return c
	}
	for _, band := range found.Bands {
		if band.Gap {
			return chart.Chart{}
		}
		label := strings.NewReplacer("in_travel", "in travel", "over_", "over ", "-", "\u2013").Replace(band.Name)
		c.Points = append(c.Points, chart.Point{Label: label, Long: bandTitle(band.Name), Values: []int64{band.E1}, Href: s.band(band.AgeBand)})
	}
	return c
}

// band returns the URL of a band's allocations.
func (s *settings) band(b exposure.AgeBand) string {
	return s.below("/exposure/details", "bands", b.Name)
}

func (s *settings) ageingTable(found report.AgeingReport) *kit.Table {
	c := found.Query.Currency
	t := kit.Table{
		Name: "ageing", Caption: "Undelivered by days to trip end",
		Columns: []kit.Column{
			{Name: "band", Title: "Trip ends"}, {Name: "allocations", Title: "Allocations", Figure: true},
			{Name: "e1_report", Title: "E1 in " + string(c), Currency: "report_currency"}, {Name: "share", Title: "Share (%)", Figure: true},
		},
		Empty: kit.Empty{Title: "Nothing undelivered", Text: "No upcoming trips match these filters. Remove a filter or choose another day."},
	}
	if found.Allocations == 0 {
		return s.v.Table(t)
	}
	shares := found.Shares()
	for i, band := range found.Bands {
		share := kit.Cell{}
		if shares != nil {
			share = kit.Percent(protection.Percent(shares[i], 1000))
		}
		t.Rows = append(t.Rows, kit.Row{Href: s.band(band.AgeBand), Cells: []kit.Cell{
			kit.Words(bandTitle(band.Name)), kit.Number(band.Allocations), dashed(sum(band.E1, band.Gap, c)), share,
		}})
	}
	if found.Rounding != 0 && !found.Gap {
		t.Foot = append(t.Foot, kit.Row{Cells: []kit.Cell{kit.Words("Rounding of the rows"), {}, kit.Sum(found.Rounding, c), {}}})
	}
	t.Foot = append(t.Foot, kit.Row{Cells: []kit.Cell{kit.Words("Total"), kit.Number(found.Allocations), sum(found.Total, found.Gap, c), {}}})
	return s.v.Table(t)
}
