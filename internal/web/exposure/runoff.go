package exposure

import (
	"strings"
	"time"

	"holdfast/internal/report"
	"holdfast/internal/web/chart"
	"holdfast/internal/web/kit"
)

// runOff shows how much is still at risk on each future day, with no new bookings.
func (p *pages) runOff(v *kit.Visit) error {
	if went, err := tidy(v); went || err != nil {
		return err
	}
	s, err := p.read(v)
	if err != nil {
		return err
	}
	const which = withMoment | withValuation
	page := kit.Page{Title: "Run-off", Parts: v.Parts("exposure", "/exposure/run-off"), Wide: true}
	q := s.query()
	q.By, q.Across = "", ""
	found, err := p.app.Exposure.RunOff(v.R.Context(), v.Actor, q)
	if err != nil {
		return p.fail(s, which, err, page)
	}
	r := s.began(which)
	r.at(s, found.Query, found.Final)
	c := found.Query.Currency
	r.apartNotes(found.PendingRate, found.Uncovered)
	if len(found.Points) > 0 {
		now := found.Points[0]
		r.Figures = append(r.Figures, figure{Text: "Undelivered today (E1)", Value: said(now.Total.E1, now.Gaps.E1, c)},
			figure{Text: "Tail today (E2)", Value: said(now.Total.E2, now.Gaps.E2, c)})
	}
	if found.HalfLife != nil {
		r.Figures = append(r.Figures, figure{Text: "50% run off by", Value: kit.Day(*found.HalfLife),
			Hint: "mean life " + found.MeanLifeDays() + " days"})
	}
	r.Figures = append(r.Figures, figure{Text: "Dispute deadline", Value: kit.Day(found.LastDay)})
	if !found.Peak.Gap {
		r.Figures = append(r.Figures, figure{Text: "Peak E1", Value: kit.Money(found.Peak.E1, c), Hint: "on " + kit.Day(found.Peak.Day)})
	}
	r.draw(runOffChart(found, "Remaining by day"))
	t, err := s.runOffTable(found)
	if err != nil {
		return err
	}
	r.Parts = []part{{Table: t}}
	return p.show(v, r, page)
}

// runOffChart is the curve of a run-off, with days to scale.
func runOffChart(found report.RunOffReport, title string) chart.Chart {
	c := chart.Chart{
		ID: "run-off", Kind: chart.Area, Title: title, Currency: found.Query.Currency, Names: "At the end of",
		Series: []string{"Undelivered (E1)", "Tail (E2)"}, Caption: "Run-off with no new bookings, in " + string(found.Query.Currency),
	}
	if found.Allocations == 0 {
		return c
	}
	last := ""
	for _, x := range found.Points {
		if x.Gaps.E1 || x.Gaps.E2 { // a curve with a gap would be misleading
			return chart.Chart{}
		}
		point := chart.Point{Long: kit.Day(x.Day), Values: []int64{x.Total.E1, x.Total.E2}, At: int64(x.Day)}
		if m := x.Day.Month(); m != last { // the first point of a month
			point.Label, last = shortMonth(m, last == "" || x.Day.Start().Month() == time.January), m
		}
		c.Points = append(c.Points, point)
	}
	return c
}

func (s *settings) runOffTable(found report.RunOffReport) (*kit.Table, error) {
	page, err := s.v.PageOf([]string{"day"}, false)
	if err != nil {
		return nil, err
	}
	unit := " in " + string(found.Query.Currency)
	t := kit.Table{
		Name: "run-off", Caption: "Remaining by day", Number: page.Number, Total: -1,
		Columns: []kit.Column{
			{Name: "day", Title: "At the end of"}, {Name: "days", Title: "Days from now", Figure: true}, {Name: "e1", Title: "E1" + unit, Currency: "report_currency"},
			{Name: "e2", Title: "E2" + unit, Currency: "report_currency"}, {Name: "e3", Title: "E3" + unit, Currency: "report_currency"},
		},
		Empty: kit.Empty{Title: "Nothing at risk", Text: "There is nothing to run off. Remove a filter or choose another day."},
	}
	if found.Allocations > 0 {
		for _, c := range found.Points[0].By {
			name := "e1_" + strings.ToLower(string(c.Currency))
			t.Columns = append(t.Columns, kit.Column{Name: name, Title: "E1 of payments in " + string(c.Currency), Currency: name + "_currency", Hidden: true})
		}
	}
	points := found.Points
	if found.Allocations == 0 {
		points = nil
	}
	points, t.More = pick(s.v, points, page.Number, page.Size)
	c := found.Query.Currency
	for _, x := range points {
		cells := []kit.Cell{
			kit.OnDay(x.Day), kit.Number(int64(x.Day - found.Query.AsOf)), sum(x.Total.E1, x.Gaps.E1, c), sum(x.Total.E2, x.Gaps.E2, c),
			sum(x.Total.E1+x.Total.E2, x.Gaps.E1 || x.Gaps.E2, c),
		}
		for _, own := range x.By {
			cells = append(cells, kit.Sum(own.E1, own.Currency))
		}
		t.Rows = append(t.Rows, kit.Row{Href: s.below("/exposure/details", "on", x.Day.String()), Cells: cells})
	}
	return s.v.Table(t), nil
}
