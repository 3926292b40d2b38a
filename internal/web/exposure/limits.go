package exposure

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/book/limits"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
	"holdfast/internal/web/chart"
	"holdfast/internal/web/kit"
)

// limits shows the usage of limits in force.
func (p *pages) limits(v *kit.Visit) error {
	list, err := v.PageOf([]string{"used", "limit_of"}, true)
	if err != nil {
		return err
	}
	filter := limits.LimitFilter{Over: v.Query("over") != ""}
	found, err := p.app.Limits.List(v.R.Context(), v.Actor, filter, store.Page{Number: 1, Size: mostRows, Offset: -1, OrderBy: "id"})
	if err != nil {
		return err
	}
	page := kit.Page{Title: "Limits", Parts: v.Parts("exposure", "/exposure/limits"), Wide: true, Acts: []kit.Link{
		{Text: "Manage limits", Href: v.At("/settings/limits"), Plain: true},
	}}
	r := &reportPage{About: "Live usage. Payments count against limits when they are logged."}
	near, over := 0, 0
	for _, row := range found.Items {
		if row.Over > 0 {
			over++
		} else if row.Level >= 80 {
			near++
		}
	}
	r.Figures = []figure{
		{Text: "Limits in force", Value: kit.Count(int64(len(found.Items)))},
		{Text: "80% used or more", Value: kit.Count(int64(near))},
		{Text: "Over the limit", Value: kit.Count(int64(over)), Href: v.With("over", "1", "page", "")},
	}
	if filter.Over {
		r.Figures = nil
		r.Notes = []note{{Text: "Showing exceeded limits only. Show all.", Href: v.With("over", "", "page", "")}}
	}
	for _, row := range found.Items {
		if why := cmp.Or(row.NotInForce, row.Unknown); why != "" {
			r.Warnings = append(r.Warnings, note{Text: limitOf(row) + ": " + why})
		}
		if len(row.Pending) > 0 {
			r.Warnings = append(r.Warnings, note{Text: limitOf(row) + ": " + waitingFor(row.Pending) + " of the use is waiting for a rate. The actual use is higher than shown."})
		}
	}
	drawLimits(v, r, found.Items)
	r.Parts = []part{{Table: limitTable(v, found.Items, list)}}
	return p.show(v, r, page)
}

// limitOf names what a limit is for.
func limitOf(row limits.LimitRow) string {
	name := row.ChannelName
	switch row.Scope {
	case protection.LimitSite:
		return "Whole site"
	case protection.LimitBooking, protection.LimitTransaction:
		if name == "" {
			name = "all merchants"
		}
		return "Each " + string(row.Scope) + " of " + name
	}
	return name
}

// waitingFor lists the amounts waiting for a rate, such as "120.00 EUR and 5.00 USD".
func waitingFor(list []limits.PendingUse) string {
	parts := make([]string, len(list))
	for i, p := range list {
		parts[i] = kit.Money(p.Amount, p.Currency)
	}
	return strings.Join(parts, " and ")
}

// drawLimits adds a chart per limit currency: usage in different currencies is not comparable.
func drawLimits(v *kit.Visit, r *reportPage, rows []limits.LimitRow) {
	var currencies []money.Currency
	by := map[money.Currency][]chart.Point{}
	for _, row := range mostUsed(rows) {
		if !row.HasUse {
			continue
		}
		if by[row.Currency] == nil {
			currencies = append(currencies, row.Currency)
		}
		point := chart.Point{Label: limitOf(row), Values: []int64{row.Use}, Mark: row.Amount, HasMark: true}
		if row.ChannelID != 0 {
			point.Href = v.At("/exposure/merchants/" + strconv.FormatInt(row.ChannelID, 10))
		}
		by[row.Currency] = append(by[row.Currency], point)
	}
	for _, c := range currencies {
		r.draw(chart.Chart{
			ID: "limits-" + string(c), Kind: chart.Limits, Title: "Limit usage", Currency: c, Names: "Limit of", Series: []string{"Used"},
			Points: by[c], Caption: "Usage is E1 at locked rates, in " + string(c),
		})
	}
}

// mostUsed sorts by usage, highest first. Limits without usage come last.
func mostUsed(rows []limits.LimitRow) []limits.LimitRow {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b limits.LimitRow) int {
		if a.HasUse != b.HasUse {
			if a.HasUse {
				return -1
			}
			return 1
		}
		return -cmp.Compare(tenths(a), tenths(b))
	})
	return rows
}

// tenths is the usage of a limit in tenths of a percent; 0 without usage.
func tenths(row limits.LimitRow) int64 {
	n, err := money.ParsePlain(row.Percent+"0", "EUR") // a percentage has one decimal
	if err != nil {
		return 0
	}
	return n
}

func limitTable(v *kit.Visit, rows []limits.LimitRow, page store.Page) *kit.Table {
	rows = mostUsed(rows)
	if page.OrderBy == "limit_of" {
		slices.SortStableFunc(rows, func(a, b limits.LimitRow) int { return cmp.Compare(limitOf(a), limitOf(b)) })
	}
	if page.Descending == (page.OrderBy == "limit_of") {
		slices.Reverse(rows)
	}
	t := kit.Table{
		Name: "limits", Caption: "Limit usage", Sorted: page.OrderBy, Descending: page.Descending, Number: page.Number, Total: -1,
		Columns: []kit.Column{
			{Name: "limit_of", Title: "Limit of", Sorts: true}, {Name: "scope", Title: "Scope", Hidden: true}, {Name: "limit", Title: "Limit", Currency: "currency"},
			{Name: "use", Title: "Used", Currency: "currency"}, {Name: "used", Title: "Used (%)", Figure: true, Sorts: true},
			{Name: "headroom", Title: "Headroom", Currency: "currency"}, {Name: "over", Title: "Over limit", Currency: "currency"}, {Name: "state", Title: "Status"},
			{Name: "from", Title: "In force since", Hidden: true},
		},
		Empty: kit.Empty{Title: "No limits yet", Text: "A limit caps how much a merchant or the whole site may have at risk. " +
			"Operators set limits in the site's settings.", Act: kit.Link{Text: "View site limits", Href: v.At("/settings/limits")}},
	}
	rows, t.More = pick(v, rows, page.Number, page.Size)
	for _, row := range rows {
		t.Rows = append(t.Rows, limitRow(v, row))
	}
	return v.Table(t)
}

func limitRow(v *kit.Visit, row limits.LimitRow) kit.Row {
	c, href := row.Currency, ""
	if row.ChannelID != 0 {
		href = v.At(fmt.Sprintf("/exposure/merchants/%d", row.ChannelID))
	}
	cells := []kit.Cell{kit.Words(limitOf(row)), kit.Words(string(row.Scope)), kit.Sum(row.Amount, c)}
	state := kit.Words("Individual")
	if row.HasUse {
		percent := kit.Percent(row.Percent)
		state = kit.State("within the limit", "good")
		headroom := kit.Sum(row.Headroom, c)
		if len(row.Pending) > 0 {
			state, headroom = kit.State("waiting for rates", "warn"), kit.Cell{}
		}
		switch {
		case row.Over > 0:
			state = kit.State("over", "bad")
		case row.Level >= 80:
			state = kit.State(fmt.Sprintf("%d%% reached", row.Level), "warn")
		}
		cells = append(cells, kit.Sum(row.Use, c), percent, headroom, dashed(kit.Sum(row.Over, c)))
	} else {
		cells = append(cells, kit.Cell{}, kit.Cell{}, kit.Cell{}, kit.Cell{})
	}
	if row.Unknown != "" || row.NotInForce != "" {
		state = kit.State("see above", "warn")
	}
	return kit.Row{Href: href, Cells: append(cells, state, kit.OnDay(row.FromDay))}
}
