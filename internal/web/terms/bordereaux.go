package terms

import (
	"cmp"
	"slices"

	"holdfast/internal/reports"
	"holdfast/internal/web/shell"
)

// Bounds of a bordereau on a page. The API and the command line give all rows; the totals are those of all rows everywhere.
const (
	bordereauRows  = 10_000 // that a file has
	bordereauShown = 50
	bordereauAhead = 1_000 // that are read at once
)

// bordereau shows the premium bordereau of a month with its totals, and gives it as a file. What it says of the contract is a setting of
// the site.
func (p *pages) bordereau(v *shell.Visit) error {
	form := shell.Filled("period", cmp.Or(v.Query("period"), v.Now().Format("2006-01")))
	most := bordereauShown
	if v.Format() != "" {
		most = bordereauRows
	}
	report, err := p.app.Bordereaux.Premium(v.R.Context(), v.Actor, reports.BordereauQuery{
		Month: form.Get("period"), Ahead: min(most+1, bordereauAhead),
	})
	t := shell.Table{
		Name: "bordereau-" + form.Get("period"), Caption: "Rows of the bordereau", Columns: bordereauColumns,
		Empty: shell.Empty{Title: "No premium was booked in this month", Text: "Each premium, return of premium and minimum that is recorded in the month is a row."},
	}
	var sums []reports.BordereauTotal
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if ok {
		if sums, err = p.app.Bordereaux.Totals(v.R.Context(), v.Actor, report); err != nil {
			return err
		}
		if err = readBordereau(report, &t, most); err != nil {
			return err
		}
	}
	shell.Tell(v, "Premium of "+form.Get("period")+", at the end of "+shell.Day(report.AsOf)+".", sumFacts(sums))
	made := v.Table(t)
	if len(form.Problems) == 0 { // a wrong form gets no file: an empty one would look like an answer
		if sent, err := v.File(made); sent || err != nil {
			return err
		}
	}
	more := t.More
	made.More = false // the list has no second page: a file has more
	totals, err := totalsTable(v, report, sums)
	if err != nil {
		return err
	}
	return v.Show(p.Pages, "bordereau.html", shell.Page{
		Title: "Premium bordereau", Menu: "/statements", Parts: v.Parts("statements", "/statements/bordereaux"), Wide: true,
		Acts: []shell.Link{{Text: "Contracts", Href: v.At(contractsAt), Plain: true}},
		Data: struct {
			Form          *shell.Form
			Totals, List  *shell.Table
			More, Cut, Ok bool
			Final         bool
			AsOf          string
			Contract      []shell.Fact
		}{form, totals, made, more, rowsOf(sums) > bordereauRows, len(form.Problems) == 0, report.Final, shell.Day(report.AsOf), contractFacts(report.Contract)},
	})
}

// bordereauColumns are those of the rows. Reference and year are those of the contract.
var bordereauColumns = []shell.Column{
	{Name: "contract", Title: "Contract", Hidden: true}, {Name: "year", Title: "Year of account", Hidden: true},
	{Name: "recorded_at", Title: "Recorded"}, {Name: "merchant", Title: "Merchant"}, {Name: "type", Title: "Type"},
	{Name: "insured", Title: "Sum insured", Figure: true}, {Name: "value", Title: "In policy currency", Figure: true, Minor: true},
	{Name: "expiry", Title: "Expiry"}, {Name: "country", Title: "Country", Hidden: true},
	{Name: "net", Title: "Net premium", Figure: true, Minor: true}, {Name: "tax", Title: "Tax", Figure: true, Minor: true}, {Name: "gross", Title: "Gross", Figure: true},
	{Name: "line", Title: "Line", Figure: true, Hidden: true},
}

// readBordereau fills the table with the first rows.
func readBordereau(report reports.Bordereau, t *shell.Table, most int) error {
	year := yearText(report.Contract)
	for row, err := range report.Rows {
		if err != nil {
			return err
		}
		if len(t.Rows) == most {
			t.More = true
			break
		}
		t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{
			shell.Words(report.Contract.Reference), shell.Words(year), shell.AtInstant(row.RecordedAt), shell.Words(row.Merchant),
			shell.Words(shell.Say(row.Kind)), shell.Sum(row.Insured, row.Original), shell.Sum(row.InsuredValue, row.Settlement),
			shell.OnDay(row.Expiry), shell.Words(row.Country), shell.Sum(row.Amount, row.Settlement), shell.Sum(row.Tax, row.Settlement),
			shell.Sum(row.Gross(), row.Settlement), shell.Ident(row.LineID),
		}})
	}
	return nil
}

// rowsOf is how many rows the totals stand for.
func rowsOf(sums []reports.BordereauTotal) (rows int64) {
	for _, s := range sums {
		rows += s.Rows
	}
	return rows
}

// sumFacts are the totals as a mail says them.
func sumFacts(sums []reports.BordereauTotal) (facts []shell.Fact) {
	for _, s := range sums {
		facts = append(facts, shell.Fact{Text: shell.Say(s.Kind) + ", net premium", Value: shell.Money(s.Net, s.Currency)})
	}
	return facts
}

// totalsTable has a row for each kind, and one for each currency with the commission on its net premium, rounded once.
func totalsTable(v *shell.Visit, report reports.Bordereau, sums []reports.BordereauTotal) (*shell.Table, error) {
	t := shell.Table{
		Name: "totals", Bare: true, Caption: "Totals",
		Columns: []shell.Column{
			{Name: "type", Title: "Type"}, {Name: "rows", Title: "Rows", Figure: true}, {Name: "net", Title: "Net premium", Figure: true, Minor: true},
			{Name: "tax", Title: "Tax", Figure: true, Minor: true}, {Name: "gross", Title: "Gross", Figure: true},
			{Name: "commission", Title: "Commission", Figure: true}, {Name: "due", Title: "Gross less commission", Figure: true},
		},
	}
	var all []reports.BordereauTotal
	for _, s := range sums {
		t.Rows = append(t.Rows, shell.Row{Cells: append(totalCells(s, shell.Say(s.Kind)), shell.Cell{}, shell.Cell{})})
		i := slices.IndexFunc(all, func(a reports.BordereauTotal) bool { return a.Currency == s.Currency })
		if i < 0 {
			all = append(all, reports.BordereauTotal{Currency: s.Currency})
			i = len(all) - 1
		}
		all[i].Rows, all[i].Net, all[i].Tax = all[i].Rows+s.Rows, all[i].Net+s.Net, all[i].Tax+s.Tax
	}
	for _, s := range all {
		part, err := report.Commission(s.Net)
		if err != nil {
			return nil, err
		}
		cells := append(totalCells(s, "All in "+string(s.Currency)), shell.Sum(part, s.Currency), shell.Sum(s.Gross()-part, s.Currency))
		t.Foot = append(t.Foot, shell.Row{Cells: cells})
	}
	return v.Table(t), nil
}

func totalCells(s reports.BordereauTotal, name string) []shell.Cell {
	return []shell.Cell{
		shell.Words(name), shell.Number(s.Rows), shell.Sum(s.Net, s.Currency), shell.Sum(s.Tax, s.Currency), shell.Sum(s.Gross(), s.Currency),
	}
}
