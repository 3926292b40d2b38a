package disputes

import (
	"cmp"
	"slices"

	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/report"
	"holdfast/internal/web/kit"
)

// ratios shows the dispute ratios of a month: of the site with and without insolvent merchants, and by merchant.
func (p *pages) ratios(v *kit.Visit) error {
	form := kit.Filled("period", cmp.Or(v.Query("period"), v.Now().Format("2006-01")))
	month := form.Get("period")
	found, err := p.app.Exposure.Ratios(v.R.Context(), v.Actor, report.RatioQuery{Month: month})
	ok, err := v.Took(form, err)
	if err != nil {
		return err
	}
	var limits dispute.Thresholds
	if found.Thresholds != nil {
		limits = *found.Thresholds
	}
	t := kit.Table{
		Name: "dispute-ratios-" + month, Caption: "Dispute ratios", Total: -1,
		Columns: []kit.Column{
			{Name: "merchant", Title: "Merchant"}, {Name: "insolvent", Title: "Insolvent"}, {Name: "payments", Title: "Payments", Figure: true},
			{Name: "disputes", Title: "Disputes", Figure: true}, {Name: "ratio", Title: "Ratio", Figure: true}, {Name: "threshold", Title: "Threshold reached", Figure: true},
			{Name: "total", Title: "Paid", Currency: "currencies"}, {Name: "disputed", Title: "Disputed", Currency: "currencies"},
			{Name: "amount_ratio", Title: "Ratio by amount", Figure: true},
		},
		Empty: kit.Empty{Title: "No payments and no disputes", Text: "Payments and chargebacks of this month appear here."},
	}
	for _, m := range found.Merchants {
		href := v.At("/exposure/merchants/" + kit.Ident(m.ChannelID).Plain)
		state := kit.Words("")
		if m.Insolvent {
			state = kit.State("insolvent", "bad")
		}
		t.Rows = append(t.Rows, ratioRows(kit.Linked(m.Merchant, href), state, m.Volume, limits.OfMerchant(m.Volume))...)
	}
	if len(found.Merchants) > 0 {
		t.Foot = append(ratioRows(kit.Words("Without insolvent merchants"), kit.Cell{}, found.Sound, limits.OfSite(found.Sound)),
			ratioRows(kit.Words("All"), kit.Cell{}, found.All, limits.OfSite(found.All))...)
	}
	t.Day = &found.AsOf
	made := v.Table(t)
	if ok {
		if sent, err := v.File(made); sent || err != nil {
			return err
		}
	}
	return v.Show(p.Pages, "ratios.html", kit.Page{
		Title: "Dispute ratios", Menu: menu, Parts: v.Parts(group, "/disputes/ratios"), Wide: true, Data: struct {
			Form *kit.Form
			List *kit.Table
		}{form, made},
	})
}

// ratioRows are the rows of a volume: one per base currency, the first with its numbers.
func ratioRows(name, state kit.Cell, v dispute.Volume, reached int64) (rows []kit.Row) {
	threshold := kit.Cell{}
	if reached != 0 {
		threshold = kit.Percent(money.FormatPercent(reached))
		threshold.Tone = "bad"
	}
	cells := []kit.Cell{name, state, kit.Number(v.Payments), kit.Number(v.Disputes), percentOf(v.Ratio()), threshold}
	for _, a := range v.Amounts {
		rows = append(rows, kit.Row{Cells: append(slices.Clone(cells), kit.Sum(a.Paid, a.Currency), kit.Sum(a.Disputed, a.Currency), percentOf(a.Ratio()))})
		cells = []kit.Cell{name, state, {}, {}, {}, {}}
	}
	if rows == nil {
		rows = []kit.Row{{Cells: append(cells, kit.Cell{}, kit.Cell{}, kit.Cell{})}}
	}
	return rows
}

// percentOf is a ratio in percent, empty if there is none.
func percentOf(ppm int64, ok bool) kit.Cell {
	if !ok {
		return kit.Cell{}
	}
	return kit.Percent(money.FormatPercent(ppm))
}
