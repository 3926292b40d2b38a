package terms

import (
	"cmp"
	"slices"

	"holdfast/internal/money"
	"holdfast/internal/reports"
	"holdfast/internal/web/shell"
)

// Bounds of a bordereau on a page. The API and the command line give all rows.
const (
	bordereauRows  = 10_000 // that are added up, and that a file has
	bordereauShown = 50
)

// bordereauSum adds up the rows of one kind in one currency, in minor units.
type bordereauSum struct {
	kind     string
	currency money.Currency
	rows     int64
	net, tax int64
}

// bordereau shows the premium bordereau of a month with its totals, and gives it as a file. What it says of the contract is a setting of
// the site.
func (p *pages) bordereau(v *shell.Visit) error {
	form := shell.Filled("period", cmp.Or(v.Query("period"), v.Now().Format("2006-01")))
	report, err := p.app.Bordereaux.Premium(v.R.Context(), v.Actor, reports.BordereauQuery{Month: form.Get("period")})
	t := shell.Table{
		Name: "bordereau-" + form.Get("period"), Caption: "Rows of the bordereau", Columns: bordereauColumns,
		Empty: shell.Empty{Title: "No premium was booked in this month", Text: "Each premium, return of premium and minimum that is recorded in the month is a row."},
	}
	var sums []bordereauSum
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if ok {
		if sums, err = readBordereau(report, &t); err != nil {
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
	more := len(made.Rows) > bordereauShown
	made.Rows = made.Rows[:min(len(made.Rows), bordereauShown)]
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
		}{form, totals, made, more, t.More, len(form.Problems) == 0, report.Final, shell.Day(report.AsOf), contractFacts(report.Contract)},
	})
}

// bordereauColumns are those of the rows. Reference and year are those of the contract.
var bordereauColumns = []shell.Column{
	{Name: "contract", Title: "Contract", Hidden: true}, {Name: "year", Title: "Year of account", Hidden: true},
	{Name: "recorded_at", Title: "Recorded"}, {Name: "merchant", Title: "Merchant"}, {Name: "type", Title: "Type"},
	{Name: "insured", Title: "Sum insured", Figure: true}, {Name: "value", Title: "In the policy's currency", Figure: true, Minor: true},
	{Name: "expiry", Title: "Expiry"}, {Name: "country", Title: "Country", Hidden: true},
	{Name: "net", Title: "Net premium", Figure: true, Minor: true}, {Name: "tax", Title: "Tax", Figure: true, Minor: true}, {Name: "gross", Title: "Gross", Figure: true},
	{Name: "line", Title: "Line", Figure: true, Hidden: true},
}

// readBordereau fills the table, and adds up the rows by kind and currency.
func readBordereau(report reports.Bordereau, t *shell.Table) (sums []bordereauSum, err error) {
	year := yearText(report.Contract)
	for row, err := range report.Rows {
		if err != nil {
			return nil, err
		}
		if len(t.Rows) == bordereauRows {
			t.More = true
			break
		}
		i := slices.IndexFunc(sums, func(s bordereauSum) bool { return s.kind == row.Kind && s.currency == row.Settlement })
		if i < 0 {
			sums = append(sums, bordereauSum{kind: row.Kind, currency: row.Settlement})
			i = len(sums) - 1
		}
		sums[i].rows, sums[i].net, sums[i].tax = sums[i].rows+1, sums[i].net+row.Amount, sums[i].tax+row.Tax
		t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{
			shell.Words(report.Contract.Reference), shell.Words(year), shell.AtInstant(row.RecordedAt), shell.Words(row.Merchant),
			shell.Words(shell.Say(row.Kind)), shell.Sum(row.Insured, row.Original), shell.Sum(row.InsuredValue, row.Settlement),
			shell.OnDay(row.Expiry), shell.Words(row.Country), shell.Sum(row.Amount, row.Settlement), shell.Sum(row.Tax, row.Settlement),
			shell.Sum(row.Gross(), row.Settlement), shell.Ident(row.LineID),
		}})
	}
	return sums, nil
}

// sumFacts are the totals as a mail says them.
func sumFacts(sums []bordereauSum) (facts []shell.Fact) {
	for _, s := range sums {
		facts = append(facts, shell.Fact{Text: shell.Say(s.kind) + ", net premium", Value: shell.Money(s.net, s.currency)})
	}
	return facts
}

// totalsTable has a row for each kind, and one for each currency with the commission on its net premium, rounded once.
func totalsTable(v *shell.Visit, report reports.Bordereau, sums []bordereauSum) (*shell.Table, error) {
	t := shell.Table{
		Name: "totals", Bare: true, Caption: "Totals",
		Columns: []shell.Column{
			{Name: "type", Title: "Type"}, {Name: "rows", Title: "Rows", Figure: true}, {Name: "net", Title: "Net premium", Figure: true, Minor: true},
			{Name: "tax", Title: "Tax", Figure: true, Minor: true}, {Name: "gross", Title: "Gross", Figure: true},
			{Name: "commission", Title: "Commission", Figure: true}, {Name: "due", Title: "Gross less commission", Figure: true},
		},
	}
	var all []bordereauSum
	for _, s := range sums {
		t.Rows = append(t.Rows, shell.Row{Cells: append(s.cells(shell.Say(s.kind)), shell.Cell{}, shell.Cell{})})
		i := slices.IndexFunc(all, func(a bordereauSum) bool { return a.currency == s.currency })
		if i < 0 {
			all = append(all, bordereauSum{currency: s.currency})
			i = len(all) - 1
		}
		all[i].rows, all[i].net, all[i].tax = all[i].rows+s.rows, all[i].net+s.net, all[i].tax+s.tax
	}
	for _, s := range all {
		part, err := report.Commission(s.net)
		if err != nil {
			return nil, err
		}
		cells := append(s.cells("All in "+string(s.currency)), shell.Sum(part, s.currency), shell.Sum(s.net+s.tax-part, s.currency))
		t.Foot = append(t.Foot, shell.Row{Cells: cells})
	}
	return v.Table(t), nil
}

func (s bordereauSum) cells(name string) []shell.Cell {
	return []shell.Cell{
		shell.Words(name), shell.Number(s.rows), shell.Sum(s.net, s.currency), shell.Sum(s.tax, s.currency), shell.Sum(s.net+s.tax, s.currency),
	}
}
