package exposure

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
	"holdfast/internal/web/kit"
)

// merchantRow is a merchant's exposure on a day and one week earlier.
type merchantRow struct {
	id           int64
	name         string
	now, before  exposure.Figures // in the report currency
	gap, oldGap  exposure.Gaps
	held, net    int64
	hGap, netGap bool
}

// change is the growth of E1.
func (r merchantRow) change() int64 { return r.now.E1 - r.before.E1 }

// merchants lists the merchants by size, with the change since last week.
func (p *pages) merchants(v *kit.Visit) error {
	if went, err := tidy(v); went || err != nil {
		return err
	}
	s, err := p.read(v)
	if err != nil {
		return err
	}
	const which = withMoment | withValuation
	page := kit.Page{Title: "Top merchants", Parts: v.Parts("exposure", "/exposure/merchants"), Wide: true}
	q := s.query()
	q.By, q.Across = exposure.ByChannel, ""
	found, err := p.app.Exposure.Report(v.R.Context(), v.Actor, q)
	if err != nil {
		return p.fail(s, which, err, page)
	}
	q.AsOf, q.KnownAt = new(found.Query.AsOf-week), found.Query.KnownAt
	before, err := p.app.Exposure.Report(v.R.Context(), v.Actor, q)
	if err != nil {
		return p.fail(s, which, err, page)
	}
	r := s.began(which)
	r.at(s, found.Query, found.Final)
	r.About += " Changes are since the end of " + kit.Day(before.Query.AsOf) + "."
	r.keyFigures(found)
	r.Figures[0].Hint = change(before.Total.E1, found.Total.E1, before.Gaps.E1 || found.Gaps.E1, found.Query.Currency) + " since last week"
	r.apartNotes(found.PendingRate, found.Uncovered)
	biggest := s.chartOf(found, "merchants")
	biggest.Title = "Top merchants by exposure"
	for i := range biggest.Points {
		biggest.Points[i].Href = "" // names in the table link to the merchants
	}
	r.draw(biggest)
	t, err := s.merchantTable(merchantRows(found, before), found.Query.Currency)
	if err != nil {
		return err
	}
	r.Parts = []part{{Table: t}}
	return p.show(v, r, page)
}

// merchantRows joins the reports of two days. Merchants with no exposure left are still included for a week.
func merchantRows(found, before report.ExposureReport) []merchantRow {
	rows := map[int64]*merchantRow{}
	at := func(id int64, name string) *merchantRow {
		if rows[id] == nil {
			rows[id] = &merchantRow{id: id, name: name}
		}
		return rows[id]
	}
	for _, sub := range found.Subtotals {
		id := sub.Key.ChannelID
		row := at(id, found.ChannelNames[id])
		row.now, row.gap = sub.Figures, sub.Gaps
		net := found.Net.Channels[id]
		row.held, row.net, row.hGap, row.netGap = net.Held, net.Net, net.HeldGap, net.NetGap
	}
	for _, sub := range before.Subtotals {
		row := at(sub.Key.ChannelID, before.ChannelNames[sub.Key.ChannelID])
		row.before, row.oldGap = sub.Figures, sub.Gaps
	}
	list := make([]merchantRow, 0, len(rows))
	for _, row := range rows {
		list = append(list, *row)
	}
	slices.SortFunc(list, func(a, b merchantRow) int { return cmp.Compare(a.id, b.id) })
	return list
}

func (s *settings) merchantTable(rows []merchantRow, c money.Currency) (*kit.Table, error) {
	page, err := s.v.PageOf([]string{"e1", "merchant", "change", "e2", "net"}, true)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(rows, func(a, b merchantRow) int {
		var order int
		switch page.OrderBy {
		case "merchant":
			order = cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name))
		case "change":
			order = cmp.Compare(a.change(), b.change())
		case "e2":
			order = cmp.Compare(a.now.E2, b.now.E2)
		case "net":
			order = cmp.Compare(a.net, b.net)
		default:
			order = cmp.Compare(a.now.E1, b.now.E1)
		}
		if page.Descending {
			return -order
		}
		return order
	})
	t := kit.Table{
		Name: "merchants", Caption: "Exposure by merchant", Sorted: page.OrderBy, Descending: page.Descending, Number: page.Number, Total: -1,
		Columns: []kit.Column{
			{Name: "merchant", Title: "Merchant", Sorts: true}, {Name: "allocations", Title: "Allocations", Figure: true},
			{Name: "e1", Title: "E1 in " + string(c), Currency: "report_currency", Sorts: true}, {Name: "change", Title: "Since last week", Currency: "report_currency", Sorts: true},
			{Name: "change_percent", Title: "Change (%)", Figure: true}, {Name: "e2", Title: "E2 in " + string(c), Currency: "report_currency", Sorts: true},
			{Name: "collateral", Title: "Collateral", Currency: "report_currency"}, {Name: "net", Title: "E1 net of collateral", Currency: "report_currency", Sorts: true},
		},
		Empty: kit.Empty{Title: "Nothing at risk", Text: "Merchants appear here once they have payments at risk."},
	}
	rows, t.More = pick(s.v, rows, page.Number, page.Size)
	for _, row := range rows {
		t.Rows = append(t.Rows, s.merchantCells(row, c))
	}
	return s.v.Table(t), nil
}

func (s *settings) merchantCells(row merchantRow, c money.Currency) kit.Row {
	unknown := row.gap.E1 || row.oldGap.E1
	delta := sum(row.change(), unknown, c)
	delta.Text = change(row.before.E1, row.now.E1, unknown, c)
	percent := kit.Cell{}
	if !unknown && row.before.E1 > 0 {
		percent = kit.Percent(protection.Percent(row.change(), row.before.E1))
		if row.change() > 0 {
			percent.Text = "+" + percent.Text
		}
	}
	count := leading(kit.Number(row.now.Allocations), s.below("/exposure/details", "channels", strconv.FormatInt(row.id, 10)))
	return kit.Row{Href: s.v.At(fmt.Sprintf("/exposure/merchants/%d", row.id)), Cells: []kit.Cell{
		kit.Words(row.name), count, sum(row.now.E1, row.gap.E1, c), delta, percent, sum(row.now.E2, row.gap.E2, c),
		dashed(sum(row.held, row.hGap, c)), sum(row.net, row.netGap, c),
	}}
}
