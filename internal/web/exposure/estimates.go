package exposure

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/app"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
	"holdfast/internal/web/chart"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// today is the current day by the site's clock.
func today(v *kit.Visit) civil.Day { return civil.DayOf(v.Now()) }

// estimate is the query of reports on whole merchants.
func (s *settings) estimate() report.EstimateQuery {
	for _, name := range []string{"suppliers", "schemes", "countries", "currencies", "months"} {
		if s.in.Get(name) != "" {
			s.in.Problems.Wrong(name, "This report covers whole merchants. Remove this filter and choose merchants instead.")
		}
	}
	return report.EstimateQuery{Problems: s.in.Problems, Moment: s.Moment, Currency: s.Currency, Channels: s.Channels}
}

// model compares an estimate from turnover with the actual exposure.
func (p *pages) model(v *kit.Visit) error {
	if went, err := tidy(v); went || err != nil {
		return err
	}
	s, err := p.read(v)
	if err != nil {
		return err
	}
	const which = withMoment | withBands
	page := kit.Page{Title: "Model against actual", Parts: v.Parts("exposure", "/exposure/model"), Wide: true}
	in := s.estimate()
	if text := s.in.Get("bands"); text != "" {
		if in.Bands, err = estimate.ParseBands(text); err != nil {
			in.Problems.Wrong("bands", "Invalid bands: %v.", err)
		}
	}
	found, err := p.app.Exposure.Model(v.R.Context(), v.Actor, in)
	if err != nil {
		return p.fail(s, which, err, page)
	}
	r := s.began(which)
	r.at(s, found.Query, found.Final)
	c := found.Query.Currency
	r.Figures = []figure{
		{Text: "Estimate from turnover", Value: said(found.Estimate, found.EstimateGap, c)},
		{Text: "Actual (E1)", Value: said(found.E1, found.E1Gap, c)},
		{Text: "Difference", Value: change(found.E1, found.Estimate, found.EstimateGap || found.E1Gap, c)},
	}
	r.Notes = []note{{Text: "The estimate takes " + bandsSaid(found.Bands) + ". It uses no other booking data."}}
	r.draw(modelChart(found))
	t, err := s.modelTable(found)
	if err != nil {
		return err
	}
	r.Parts = []part{{Table: t}}
	return p.show(v, r, page)
}

// bandsSaid describes the bands in words.
func bandsSaid(bands estimate.Bands) string {
	parts := each(bands, func(b estimate.Band) string {
		return protection.Percent(b.SharePPM, 1_000_000) + "\u00a0% of the turnover of the last " + kit.Plural(int64(b.Days), "day", "days")
	})
	return strings.Join(parts, ", ")
}

func modelChart(found report.ModelReport) chart.Chart {
	c := chart.Chart{
		ID: "model", Kind: chart.Ranked, Title: "Estimate and actual", Currency: found.Query.Currency, Names: "Figure",
		Series: []string{"Amount"}, Caption: "All merchants of the report, in " + string(found.Query.Currency),
	}
	if !found.EstimateGap && !found.E1Gap {
		c.Points = []chart.Point{{Label: "Estimate", Values: []int64{found.Estimate}}, {Label: "Actual", Values: []int64{found.E1}}}
	}
	return c
}

func (s *settings) modelTable(found report.ModelReport) (*kit.Table, error) {
	page, err := s.v.PageOf([]string{"e1_report", "merchant", "difference_report"}, true)
	if err != nil {
		return nil, err
	}
	rows := slices.Clone(found.Rows)
	slices.SortStableFunc(rows, func(a, b estimate.ModelRow) int {
		order := cmp.Compare(a.E1Report, b.E1Report)
		switch page.OrderBy {
		case "merchant":
			order = cmp.Compare(strings.ToLower(found.ChannelNames[a.ChannelID]), strings.ToLower(found.ChannelNames[b.ChannelID]))
		case "difference_report":
			order = cmp.Compare(a.EstimateReport-a.E1Report, b.EstimateReport-b.E1Report)
		}
		if page.Descending {
			return -order
		}
		return order
	})
	c := found.Query.Currency
	t := kit.Table{
		Name: "model", Caption: "Estimated and actual exposure by merchant", Sorted: page.OrderBy, Descending: page.Descending,
		Number: page.Number, Total: -1, Columns: []kit.Column{
			{Name: "merchant", Title: "Merchant", Sorts: true}, {Name: "currency", Title: "Currency"}, {Name: "estimate", Title: "Estimate", Currency: "currency"},
			{Name: "e1", Title: "Actual (E1)", Currency: "currency"}, {Name: "estimate_report", Title: "Estimate in " + string(c), Currency: "report_currency"},
			{Name: "e1_report", Title: "Actual in " + string(c), Currency: "report_currency", Sorts: true},
			{Name: "difference_report", Title: "Difference", Currency: "report_currency", Sorts: true},
		},
		Empty: kit.Empty{Title: "Nothing to compare", Text: "No merchant took card payments in this period, and nothing is at risk."},
	}
	rows, t.More = pick(s.v, rows, page.Number, page.Size)
	for _, row := range rows {
		t.Rows = append(t.Rows, kit.Row{Href: s.v.At("/exposure/merchants/" + strconv.FormatInt(row.ChannelID, 10)), Cells: []kit.Cell{
			kit.Words(found.ChannelNames[row.ChannelID]), kit.Words(string(row.Currency)), kit.Sum(row.Estimate, row.Currency),
			kit.Sum(row.E1, row.Currency), sum(row.EstimateReport, !row.Valued, c), sum(row.E1Report, !row.Valued, c),
			sum(row.EstimateReport-row.E1Report, !row.Valued, c),
		}})
	}
	t.Foot = []kit.Row{{Cells: []kit.Cell{
		kit.Words("Total"), {}, {}, {}, sum(found.Estimate, found.EstimateGap, c), sum(found.E1, found.E1Gap, c),
		sum(found.Estimate-found.E1, found.EstimateGap || found.E1Gap, c),
	}}}
	return s.v.Table(t), nil
}

// whatIf shows the loss if merchants fail, against their limits and collateral.
func (p *pages) whatIf(v *kit.Visit) error {
	if went, err := tidy(v); went || err != nil {
		return err
	}
	s, err := p.read(v)
	if err != nil {
		return err
	}
	const which = withMoment | withChoice
	page := kit.Page{Title: "What if", Parts: v.Parts("exposure", "/exposure/what-if"), Wide: true}
	found, err := p.app.Exposure.WhatIf(v.R.Context(), v.Actor, s.estimate())
	if err != nil {
		return p.fail(s, which, err, page)
	}
	r := s.began(which)
	r.at(s, found.Query, found.Final)
	failing := "If all merchants fail (none selected). "
	if n := int64(len(s.Channels)); n > 0 {
		failing = "If the " + kit.Plural(n, "chosen merchant fails. ", "chosen merchants fail. ")
		if n == 1 {
			failing = "If the chosen merchant fails. "
		}
	}
	r.About = failing + r.About
	r.lossFigures(found)
	r.apartNotes(found.Pending, nil)
	insolvent, err := insolventIn(v, p.app, found)
	if err != nil {
		return err
	}
	r.Warnings = append(r.Warnings, insolvent...)
	for _, x := range found.Unvalued {
		r.Warnings = append(r.Warnings, note{Text: "There is no exchange rate yet for collateral of " + kit.Money(x.Amount, x.Currency) + "."})
	}
	c := found.Query.Currency
	r.draw(lossChart("months", "By travel month", chart.Bars, found.Months, c, func(key string, first bool) (string, string) {
		return shortMonth(key, first), month(key)
	}))
	r.draw(lossChart("schemes", "By card scheme", chart.Ranked, found.Schemes, c, func(key string, _ bool) (string, string) {
		return scheme(card.Scheme(key)), ""
	}))
	t, err := s.lossTable(found)
	if err != nil {
		return err
	}
	r.Parts = []part{{Table: t}}
	return p.show(v, r, page)
}

// insolventIn says which merchants of a report have failed already, largest loss first.
func insolventIn(v *kit.Visit, a *app.App, found report.WhatIfReport) (notes []note, err error) {
	var ids []int64
	for _, row := range found.Channels {
		ids = append(ids, row.ChannelID)
	}
	insolvent, err := choices.Insolvent(v, a, ids)
	for _, id := range ids {
		if c, ok := insolvent[id]; ok && len(notes) < few {
			notes = append(notes, note{
				Text: c.Name + " has already failed: insolvent since " + c.Insolvency.Day().Long() + ".",
				Href: v.At("/exposure/merchants/" + strconv.FormatInt(id, 10)),
			})
		}
	}
	return notes, err
}

// lossFigures are the loss and what offsets it.
func (r *reportPage) lossFigures(found report.WhatIfReport) {
	c := found.Query.Currency
	r.Figures = []figure{
		{Text: "Loss (E1)", Value: said(found.Total.E1, found.Gaps.E1, c), Hint: kit.Plural(found.Total.Allocations, "allocation", "allocations")},
		{Text: "Collateral", Value: said(found.Net.Held, found.Net.HeldGap, c)},
		{Text: "Net loss", Value: said(found.Net.Net, found.Net.NetGap, c)},
		{Text: "Tail (E2)", Value: said(found.Total.E2, found.Gaps.E2, c), Hint: "delivered, but can still be charged back"},
	}
	if l := found.SiteLimit; l != nil {
		hint := "use " + said(found.Use, found.UseGap, found.Query.Policy)
		if over := found.Use - l.Amount; !found.UseGap && over > 0 {
			hint += ", " + kit.Money(over, l.Currency) + " over"
		}
		r.Figures = append(r.Figures, figure{Text: "Limit of the site", Value: kit.Money(l.Amount, l.Currency), Hint: hint})
	}
}

// lossChart draws the loss by month or by scheme.
func lossChart(
	id, title string, kind chart.Kind, rows exposure.WhatIfRows, c money.Currency, name func(key string, first bool) (label, long string),
) chart.Chart {
	out := chart.Chart{ID: id, Kind: kind, Title: title, Currency: c, Series: []string{"Loss (E1)", "Tail (E2)"}, Caption: "Loss and tail, in " + string(c)}
	for i, row := range rows.Rows {
		if row.Gaps.E1 || row.Gaps.E2 {
			return chart.Chart{}
		}
		label, long := name(row.Key, i == 0)
		out.Points = append(out.Points, chart.Point{Label: label, Long: long, Values: []int64{row.E1, row.E2}})
	}
	return out
}

func (s *settings) lossTable(found report.WhatIfReport) (*kit.Table, error) {
	page, err := s.v.PageOf([]string{"loss", "merchant", "net"}, true)
	if err != nil {
		return nil, err
	}
	rows := slices.Clone(found.Channels)
	slices.SortStableFunc(rows, func(a, b exposure.WhatIfChannel) int {
		order := cmp.Compare(a.E1, b.E1)
		switch page.OrderBy {
		case "merchant":
			order = cmp.Compare(strings.ToLower(found.ChannelNames[a.ChannelID]), strings.ToLower(found.ChannelNames[b.ChannelID]))
		case "net":
			order = cmp.Compare(a.Net.Net, b.Net.Net)
		}
		if page.Descending {
			return -order
		}
		return order
	})
	t := kit.Table{
		Name: "what-if", Caption: "Loss by merchant", Sorted: page.OrderBy, Descending: page.Descending, Number: page.Number, Total: -1,
		Columns: []kit.Column{
			{Name: "merchant", Title: "Merchant", Sorts: true}, {Name: "allocations", Title: "Allocations", Figure: true},
			{Name: "loss", Title: "Loss (E1)", Currency: "currency", Sorts: true}, {Name: "tail", Title: "Tail (E2)", Currency: "currency", Hidden: true},
			{Name: "collateral", Title: "Collateral", Currency: "currency"}, {Name: "net", Title: "Net loss", Currency: "currency", Sorts: true},
			{Name: "use", Title: "Limit used", Currency: "policy_currency", Hidden: true}, {Name: "limit", Title: "Limit", Currency: "policy_currency"}, {Name: "over", Title: "Over the limit", Currency: "policy_currency"},
		},
		Empty: kit.Empty{Title: "No loss", Text: "These merchants have nothing at risk right now."},
	}
	rows, t.More = pick(s.v, rows, page.Number, page.Size)
	for _, row := range rows {
		t.Rows = append(t.Rows, s.lossRow(row, found))
	}
	return s.v.Table(t), nil
}

func (s *settings) lossRow(row exposure.WhatIfChannel, found report.WhatIfReport) kit.Row {
	c, policy := found.Query.Currency, found.Query.Policy
	id := strconv.FormatInt(row.ChannelID, 10)
	limit, over := kit.NoSum("None", policy), kit.Cell{}
	if row.Limit != nil {
		limit, over = kit.Sum(row.Limit.Amount, row.Limit.Currency), dashed(sum(max(0, row.Use-row.Limit.Amount), row.UseGap, row.Limit.Currency))
	}
	return kit.Row{Href: s.v.At("/exposure/merchants/" + id), Cells: []kit.Cell{
		kit.Words(found.ChannelNames[row.ChannelID]), leading(kit.Number(row.Allocations), s.below("/exposure/details", "channels", id)),
		sum(row.E1, row.Gaps.E1, c), sum(row.E2, row.Gaps.E2, c), dashed(sum(row.Net.Held, row.Net.HeldGap, c)), sum(row.Net.Net, row.Net.NetGap, c),
		sum(row.Use, row.UseGap, policy), limit, over,
	}}
}
