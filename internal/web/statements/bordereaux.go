package statements

import (
	"cmp"
	"slices"

	"holdfast/internal/report"
	"holdfast/internal/web/kit"
)

// Row limits of a bordereau in the dashboard. The API and the command line return all rows; totals always cover all rows.
const (
	bordereauRows  = 10_000 // in a file
	bordereauShown = 50
	bordereauAhead = 1_000 // read per query
)

// bordereau shows or exports the premium bordereau of a month, with totals. The contract details are a site setting.
func (p *pages) bordereau(v *kit.Visit) error {
	form := kit.Filled("period", cmp.Or(v.Query("period"), v.Now().Format("2006-01")))
	most := bordereauShown
	if v.Format() != "" {
		most = bordereauRows
	}
	result, err := p.app.Bordereaux.Premium(v.R.Context(), v.Actor, report.BordereauQuery{
		Month: form.Get("period"), Ahead: min(most+1, bordereauAhead),
	})
	t := kit.Table{
		Name: "bordereau-" + form.Get("period"), Caption: "Bordereau rows", Columns: bordereauColumns,
		Empty: kit.Empty{Title: "No premium in this month", Text: "Premiums, returned premiums and minimums recorded in the month appear here."},
	}
	var sums []report.BordereauTotal
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if ok {
		if sums, err = p.app.Bordereaux.Totals(v.R.Context(), v.Actor, result); err != nil {
			return err
		}
		if err = readBordereau(result, &t, most); err != nil {
			return err
		}
	}
	t.Day = &result.AsOf
	kit.SetSummary(v, "Premium of "+form.Get("period")+", at the end of "+kit.Day(result.AsOf)+".", sumFacts(sums))
	made := v.Table(t)
	if len(form.Problems) == 0 { // a wrong form gets no file: an empty one would look like an answer
		if sent, err := v.File(made); sent || err != nil {
			return err
		}
	}
	more := t.More
	made.More = false // the list has only one page; a file has more rows
	totals, err := totalsTable(v, result, sums)
	if err != nil {
		return err
	}
	return v.Show(p.Pages, "bordereau.html", kit.Page{
		Title: "Premium bordereau", Menu: menu, Parts: v.Parts("statements", "/statements/bordereaux"), Wide: true,
		Acts: []kit.Link{{Text: "Contracts", Href: v.At(contractsAt), Plain: true}},
		Data: struct {
			Form          *kit.Form
			Totals, List  *kit.Table
			More, Cut, Ok bool
			Final         bool
			AsOf          string
			Contract      []kit.Fact
		}{form, totals, made, more, rowsOf(sums) > bordereauRows, len(form.Problems) == 0, result.Final, kit.Day(result.AsOf), contractFacts(result.Contract)},
	})
}

// bordereauColumns are the columns of the rows. Reference and year come from the contract.
var bordereauColumns = []kit.Column{
	{Name: "contract", Title: "Contract", Hidden: true}, {Name: "year", Title: "Year of account", Hidden: true},
	{Name: "recorded_at", Title: "Recorded"}, {Name: "merchant", Title: "Merchant"}, {Name: "type", Title: "Type"},
	{Name: "insured", Title: "Sum insured", Currency: "original_currency"}, {Name: "value", Title: "In policy currency", Currency: "currency", Minor: true},
	{Name: "expiry", Title: "Expiry"}, {Name: "country", Title: "Country", Hidden: true},
	{Name: "net", Title: "Net premium", Currency: "currency", Minor: true}, {Name: "tax", Title: "Tax", Currency: "currency", Minor: true}, {Name: "gross", Title: "Gross", Currency: "currency"},
	{Name: "line", Title: "Line", Figure: true, Hidden: true},
}

// readBordereau fills the table with the first rows.
func readBordereau(report report.Bordereau, t *kit.Table, most int) error {
	year := yearText(report.Contract)
	for row, err := range report.Rows {
		if err != nil {
			return err
		}
		if len(t.Rows) == most {
			t.More = true
			break
		}
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			kit.Words(report.Contract.Reference), kit.Words(year), kit.AtInstant(row.RecordedAt), kit.Words(row.Merchant),
			kit.Words(kit.Say(row.Kind)), kit.Sum(row.Insured, row.Original), kit.Sum(row.InsuredValue, row.Settlement),
			kit.OnDay(row.Expiry), kit.Words(row.Country), kit.Sum(row.Amount, row.Settlement), kit.Sum(row.Tax, row.Settlement),
			kit.Sum(row.Gross(), row.Settlement), kit.Ident(row.LineID),
		}})
	}
	return nil
}

// rowsOf is the number of rows in the totals.
func rowsOf(sums []report.BordereauTotal) (rows int64) {
	for _, s := range sums {
		rows += s.Rows
	}
	return rows
}

// sumFacts are the totals for an e-mail.
func sumFacts(sums []report.BordereauTotal) (facts []kit.Fact) {
	for _, s := range sums {
		facts = append(facts, kit.Fact{Text: kit.Say(s.Kind) + ", net premium", Value: kit.Money(s.Net, s.Currency)})
	}
	return facts
}

// totalsTable has a row per kind, and one per currency with the commission on its net premium, rounded once.
func totalsTable(v *kit.Visit, result report.Bordereau, sums []report.BordereauTotal) (*kit.Table, error) {
	t := kit.Table{
		Name: "totals", Bare: true, Caption: "Totals",
		Columns: []kit.Column{
			{Name: "type", Title: "Type"}, {Name: "rows", Title: "Rows", Figure: true}, {Name: "net", Title: "Net premium", Currency: "currency", Minor: true},
			{Name: "tax", Title: "Tax", Currency: "currency", Minor: true}, {Name: "gross", Title: "Gross", Currency: "currency"},
			{Name: "commission", Title: "Commission", Currency: "currency"}, {Name: "due", Title: "Gross less commission", Currency: "currency"},
		},
	}
	var all []report.BordereauTotal
	for _, s := range sums {
		t.Rows = append(t.Rows, kit.Row{Cells: append(totalCells(s, kit.Say(s.Kind)), kit.Cell{}, kit.Cell{})})
		i := slices.IndexFunc(all, func(a report.BordereauTotal) bool { return a.Currency == s.Currency })
		if i < 0 {
			all = append(all, report.BordereauTotal{Currency: s.Currency})
			i = len(all) - 1
		}
		all[i].Rows, all[i].Net, all[i].Tax = all[i].Rows+s.Rows, all[i].Net+s.Net, all[i].Tax+s.Tax
	}
	for _, s := range all {
		part, err := result.Commission(s.Net)
		if err != nil {
			return nil, err
		}
		cells := append(totalCells(s, "All in "+string(s.Currency)), kit.Sum(part, s.Currency), kit.Sum(s.Gross()-part, s.Currency))
		t.Foot = append(t.Foot, kit.Row{Cells: cells})
	}
	return v.Table(t), nil
}

func totalCells(s report.BordereauTotal, name string) []kit.Cell {
	return []kit.Cell{
		kit.Words(name), kit.Number(s.Rows), kit.Sum(s.Net, s.Currency), kit.Sum(s.Tax, s.Currency), kit.Sum(s.Gross(), s.Currency),
	}
}
