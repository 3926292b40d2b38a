package exposure

import (
	"fmt"
	"strings"

	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/web/chart"
	"holdfast/internal/web/kit"
)

// causeTexts are the lines of a movement in words.
var causeTexts = map[protection.Cause]string{
	protection.CauseNew: "New payments", protection.CauseReversed: "Chargebacks reversed", protection.CauseReDated: "Trips moved",
	protection.CauseRefunded: "Refunds", protection.CauseChargedBack: "Chargebacks", protection.CauseDelivered: "Delivered",
	protection.CauseExpired: "Dispute window closed",
}

// week is the default period of a movement.
const week = 7

// moved picks E1 or E2 of a line.
type moved struct {
	tail bool
}

func (m moved) of(l protection.Level, gaps exposure.Gaps) (amount int64, gap bool) {
	if m.tail {
		return l.E2, gaps.E2
	}
	return l.E1, gaps.E1
}

func (m moved) name() string {
	if m.tail {
		return "Tail (E2)"
	}
	return "Undelivered (E1)"
}

// movement shows why the exposure on two days differs.
func (p *pages) movement(v *kit.Visit) error {
	if went, err := tidy(v); went || err != nil {
		return err
	}
	s, err := p.read(v)
	if err != nil {
		return err
	}
	const which = withMoment | withValuation | withFrom | withFigure
	page := kit.Page{Title: "Movement", Parts: v.Parts("exposure", "/exposure/movement"), Wide: true, Acts: []kit.Link{
		{Text: "Allocations that moved", Href: s.v.With("page", "", "format", "", "col", "", "by", "", "figure", "", "list", "1"), Plain: true},
	}}
	in := s.moving()
	if s.in.Get("list") != "" {
		return p.movedList(v, s, in, which, page)
	}
	found, err := p.app.Exposure.Movement(v.R.Context(), v.Actor, in)
	if err != nil {
		return p.fail(s, which, err, page)
	}
	m := moved{s.in.Get("figure") == "e2"}
	r := s.began(which)
	r.at(s, found.Query.ReportQuery, found.Final)
	r.since(found.Query.From)
	c := found.Query.Currency
	opening, opens := m.of(found.Total.Opening, found.Gaps.Opening)
	closing, closes := m.of(found.Total.Closing, found.Gaps.Closing)
	r.Figures = []figure{
		{Text: m.name() + " on " + kit.Day(found.Query.From), Value: said(opening, opens, c)},
		{Text: m.name() + " on " + kit.Day(found.Query.AsOf), Value: said(closing, closes, c)},
		{Text: "Change", Value: change(opening, closing, opens || closes, c)},
	}
	for _, x := range found.PendingRate {
		r.Warnings = append(r.Warnings, note{Text: fmt.Sprintf("Some payments in %s have no exchange rate yet, so their movement is not valued in %s.", x.Currency, c)})
	}
	r.draw(movementChart(found, m))
	t, err := s.movementTable(found, m)
	if err != nil {
		return err
	}
	r.Parts = []part{{Table: t}}
	return p.show(v, r, page)
}

// moving is the query of a movement, of the last week by default.
func (s *settings) moving() report.MovementQuery {
	in := report.MovementQuery{From: s.in.Day("from")}
	if in.From == nil {
		in.From = new(s.lastDay() - week)
	}
	in.ExposureQuery = s.query()
	return in
}

// change is the difference of two amounts, with its sign.
func change(before, after int64, gap bool, c money.Currency) string {
	if gap {
		return "Unknown"
	}
	if after > before {
		return "+" + kit.Money(after-before, c)
	}
	return kit.Money(after-before, c)
}

// lines are the names and amounts of a movement, from opening to closing.
func lines(f exposure.Flows, gaps exposure.FlowGaps, revalued bool, m moved, each func(name string, amount int64, gap bool)) {
	add := func(name string, l protection.Level, g exposure.Gaps) {
		amount, gap := m.of(l, g)
		each(name, amount, gap)
	}
	add("Opening", f.Opening, gaps.Opening)
	for _, cause := range protection.Causes {
		add(causeTexts[cause], f.Of(cause), gaps.Of(cause))
	}
	if revalued {
		add("Exchange rates", f.Revaluation, gaps.Revaluation)
	}
	add("Closing", f.Closing, gaps.Closing)
}

func movementChart(found report.MovementReport, m moved) chart.Chart {
	q := found.Query
	c := chart.Chart{
		ID: "movement", Kind: chart.Waterfall, Title: "Changes: " + strings.ToLower(m.name()[:1]) + m.name()[1:], Currency: q.Currency, Names: "Line",
		Series: []string{m.name()}, LessIsBetter: true,
		Caption: "From " + kit.Day(q.From) + " to " + kit.Day(q.AsOf) + ", in " + string(q.Currency),
	}
	unknown := false
	lines(found.Total, found.Gaps, found.Revalued(), m, func(name string, amount int64, gap bool) {
		unknown = unknown || gap
		c.Points = append(c.Points, chart.Point{Label: name, Values: []int64{amount}})
	})
	if unknown {
		c.Points = nil
	}
	return c
}

// still marks the lines without movement, which are hidden to keep the table readable.
func still(found report.MovementReport, m moved) map[string]bool {
	quiet := map[string]bool{}
	lines(found.Total, found.Gaps, found.Revalued(), m, func(name string, amount int64, gap bool) {
		quiet[name] = amount == 0 && !gap && name != "Opening" && name != "Closing"
	})
	for _, row := range found.Rows {
		lines(row.Flows, exposure.FlowGaps{}, found.Revalued(), m, func(name string, amount int64, _ bool) {
			quiet[name] = quiet[name] && amount == 0
		})
	}
	return quiet
}

func (s *settings) movementTable(found report.MovementReport, m moved) (*kit.Table, error) {
	page, err := s.v.PageOf([]string{"key"}, false)
	if err != nil {
		return nil, err
	}
	q := found.Query
	byChannel := q.By == exposure.ByChannel
	t := kit.Table{
		Name: "movement", Caption: "Movement by payment currency, and in total", Number: page.Number, Total: -1,
		Empty: kit.Empty{Title: "No movements", Text: "Nothing was at risk on either day. Choose other days or remove a filter."},
	}
	if byChannel {
		t.Columns = append(t.Columns, kit.Column{Name: "merchant", Title: "Merchant"})
	}
	t.Columns = append(t.Columns, kit.Column{Name: "currency", Title: "Currency"})
	names := []string{"opening"}
	for _, cause := range protection.Causes {
		names = append(names, cause.String())
	}
	if found.Revalued() {
		names = append(names, "revaluation")
	}
	names = append(names, "closing")
	quiet := still(found, m)
	lines(found.Total, found.Gaps, found.Revalued(), m, func(name string, _ int64, _ bool) {
		t.Columns = append(t.Columns, kit.Column{Name: names[0], Title: name, Currency: "currency", Hidden: quiet[name]})
		names = names[1:]
	})
	rows, more := pick(s.v, found.Rows, page.Number, page.Size)
	t.More = more
	for _, row := range rows {
		var cells []kit.Cell
		href := ""
		if byChannel {
			cells = append(cells, kit.Words(found.ChannelNames[row.ChannelID]))
			href = s.v.With("channels", fmt.Sprint(row.ChannelID), "by", "", "page", "")
		}
		cells = append(cells, kit.Words(string(row.Currency)))
		lines(row.Flows, exposure.FlowGaps{}, found.Revalued(), m, func(_ string, amount int64, gap bool) {
			cells = append(cells, dashed(sum(amount, gap, row.Currency)))
		})
		t.Rows = append(t.Rows, kit.Row{Href: href, Cells: cells})
	}
	total := []kit.Cell{kit.Words("Total in " + string(q.Currency))}
	if byChannel {
		total = []kit.Cell{kit.Words("Total"), kit.Words(string(q.Currency))}
	}
	lines(found.Total, found.Gaps, found.Revalued(), m, func(_ string, amount int64, gap bool) {
		total = append(total, dashed(sum(amount, gap, q.Currency)))
	})
	t.Foot = []kit.Row{{Cells: total}}
	return s.v.Table(t), nil
}

// movedList lists the allocations of a movement.
func (p *pages) movedList(v *kit.Visit, s *settings, in report.MovementQuery, which int, page kit.Page) error {
	list, err := v.PageOf([]string{"id"}, false)
	if err != nil {
		return err
	}
	page.Title, page.Acts, page.Parts = "Allocations that moved", nil, nil
	page.Path = []kit.Link{{Text: "Movement", Href: v.With("list", "", "page", "", "format", "", "col", "")}}
	in.By, in.Across = "", ""
	found, items, more, err := p.behindMovement(v, in, list)
	if err != nil {
		return p.fail(s, which, err, page)
	}
	r := s.began(which)
	r.at(s, found.Query.ReportQuery, found.Final)
	r.since(found.Query.From)
	m := moved{s.in.Get("figure") == "e2"}
	t := kit.Table{
		Name: "moved", Caption: "Allocations that moved", Number: list.Number, More: more, Total: -1,
		Columns: []kit.Column{{Name: "payment", Title: "Allocation"}, {Name: "booking", Title: "Booking"}, {Name: "merchant", Title: "Merchant"}},
		Empty:   kit.Empty{Title: "No movements", Text: "Nothing was at risk on either day. Choose other days or remove a filter."},
	}
	names := append([]string{"opening"}, each(protection.Causes, protection.Cause.String)...)
	names = append(names, "closing")
	lines(exposure.Flows{}, exposure.FlowGaps{}, false, m, func(name string, _ int64, _ bool) {
		t.Columns = append(t.Columns, kit.Column{Name: names[0], Title: name, Currency: "currency"})
		names = names[1:]
	})
	for _, d := range items {
		cells := []kit.Cell{
			kit.Ident(d.ID), leading(kit.Ident(d.BookingID), v.At(fmt.Sprintf("/bookings/%d", d.BookingID))),
			kit.Words(found.ChannelNames[d.ChannelID]),
		}
		lines(d.Flows, exposure.FlowGaps{}, false, m, func(_ string, amount int64, _ bool) { cells = append(cells, dashed(kit.Sum(amount, d.Currency))) })
		href := s.below(fmt.Sprintf("/exposure/payments/%d", d.TransactionID), append(momentOnly, "list", "")...) + fmt.Sprintf("#a%d", d.ID)
		t.Rows = append(t.Rows, kit.Row{Href: href, Cells: cells})
	}
	r.Parts = []part{{Table: v.Table(t)}}
	return p.show(v, r, page)
}

// behindMovement reads a page of items, or for a file all items in one pass.
func (p *pages) behindMovement(
	v *kit.Visit, in report.MovementQuery, list store.Page,
) (found report.MovementDetailsReport, items []exposure.MovementDetail, more bool, err error) {
	if v.Format() == "" {
		found, err = p.app.Exposure.MovementDetails(v.R.Context(), v.Actor, in, list)
		return found, found.Items.Items, found.Items.More, err
	}
	found, err = p.app.Exposure.EachMovementDetail(v.R.Context(), v.Actor, in,
		func(_ report.MovementDetailsReport, d exposure.MovementDetail) error {
			if len(items) == mostRows {
				return errEnough
			}
			items = append(items, d)
			return nil
		})
	return found, items, false, enough(err)
}
