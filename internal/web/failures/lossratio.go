package failures

import (
	"cmp"
	"strconv"

	"holdfast/internal/book/claims"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/web/kit"
)

// lossRatio shows the loss ratio of a year of account by merchant, and how much of the aggregate limit is used.
func (p *pages) lossRatio(v *kit.Visit) error {
	form := kit.Filled("year", cmp.Or(v.Query("year"), strconv.Itoa(v.Now().Year())))
	r := form.Reading()
	var year int64
	if n := r.Number("year"); n != nil {
		year = *n
	}
	found, err := p.app.Claims.YearOfAccount(v.R.Context(), v.Actor, year, r.Problems)
	if _, err := v.Took(form, err); err != nil {
		return err
	}
	type account struct {
		Facts []kit.Fact
		Table *kit.Table
	}
	var accounts []account
	for _, a := range found.Accounts {
		facts := []kit.Fact{
			{Text: "Loss ratio", Value: cmp.Or(ratioOf(a.Account).Text, "None"), Figure: true}, {Text: "Incurred", Value: kit.Money(a.Incurred(), a.Currency), Figure: true},
			{Text: "Premium", Value: kit.Money(a.Premium, a.Currency), Figure: true},
			{Text: "Aggregate used", Value: kit.Money(a.Covered, a.Currency), Figure: true},
		}
		if a.Limit != 0 {
			facts = append(facts, kit.Fact{Text: "Aggregate limit", Value: kit.Money(a.Limit, a.Currency), Figure: true},
				kit.Fact{Text: "Remaining", Value: kit.Money(a.Remaining(), a.Currency), Figure: true})
		}
		accounts = append(accounts, account{facts, lossRatioTable(v, a, found.Year)})
	}
	return v.Show(p.Pages, "lossratio.html", kit.Page{
		Title: "Loss ratio", Menu: menu, Path: above(v)[:1], Parts: v.Parts("failures", "/insolvencies/loss-ratio"), Wide: true, Data: struct {
			Form     *kit.Form
			Accounts []account
			Ok       bool
		}{form, accounts, len(form.Problems) == 0},
	})
}

func lossRatioTable(v *kit.Visit, a claims.Account, year int) *kit.Table {
	t := kit.Table{
		Name: "loss-ratio-" + strconv.Itoa(year) + "-" + string(a.Currency), Caption: "Merchants in " + string(a.Currency), Total: -1,
		Columns: []kit.Column{{Name: "merchant", Title: "Merchant"}},
		Foot:    []kit.Row{{Cells: accountCells(kit.Words("All"), a.Account, a.Currency)}},
	}
	for _, column := range [][2]string{
		{"premium", "Premium"}, {"payable", "Payable"}, {"covered", "Covered"}, {"paid", "Paid or planned"}, {"reserve", "Reserve"}, {"incurred", "Incurred"},
	} {
		t.Columns = append(t.Columns, kit.Column{Name: column[0], Title: column[1], Currency: "policy_currency"})
	}
	t.Columns = append(t.Columns, kit.Column{Name: "loss_ratio", Title: "Loss ratio", Figure: true})
	for _, m := range a.Merchants {
		href := v.At("/exposure/merchants/" + kit.Ident(m.ChannelID).Plain)
		if len(m.Insolvencies) > 0 {
			href = at(v, m.Insolvencies[len(m.Insolvencies)-1], "")
		}
		t.Rows = append(t.Rows, kit.Row{Href: href, Cells: accountCells(kit.Linked(m.Merchant, href), m.Account, a.Currency)})
	}
	return v.Table(t)
}

func accountCells(name kit.Cell, a claim.Account, c money.Currency) []kit.Cell {
	return []kit.Cell{
		name, kit.Sum(a.Premium, c), kit.Sum(a.Payable, c), kit.Sum(a.Covered, c), kit.Sum(a.Paid, c), kit.Sum(a.Reserve, c),
		kit.Sum(a.Incurred(), c), ratioOf(a),
	}
}

// ratioOf is the loss ratio in percent, empty without premium.
func ratioOf(a claim.Account) kit.Cell {
	ppm, ok := a.LossRatio()
	if !ok {
		return kit.Cell{}
	}
	return kit.Percent(money.FormatPercent(ppm))
}
