package office

import (
	"fmt"

	"holdfast/internal/statements"
	"holdfast/internal/web/shell"
)

// mostInFile is how many statements a file has at most.
const mostInFile = 5000

// mostInMail is how many sites the text of a mail names.
const mostInMail = 20

// receivables shows what is still to be paid of statements, by age, over all sites or on one.
func (p *pages) receivables(v *shell.Visit) error {
	page, err := v.PageOf([]string{"due"}, false)
	if err != nil {
		return err
	}
	q := statements.ReceivablesQuery{Path: v.Query("site"), Sandbox: v.Query("sandboxes") == "1"}
	t := shell.Table{
		Name: "receivables", Caption: "Statements that are not paid", Number: page.Number, Total: -1,
		Columns: []shell.Column{
			{Name: "statement", Title: "Statement"}, {Name: "site", Title: "Site"}, {Name: "channel", Title: "Channel"},
			{Name: "due", Title: "Due"}, {Name: "overdue", Title: "Days overdue", Figure: true}, {Name: "open", Title: "Open", Figure: true},
			{Name: "closing", Title: "Balance of the statement", Figure: true, Hidden: true},
		},
		Empty: shell.Empty{Title: "Everything is paid", Text: "Statements that are not paid in full stand here, the oldest first."},
	}
	if !q.Sandbox {
		t.Empty.Act = shell.Link{Text: "Show sandboxes", Href: shell.Path + "/receivables?sandboxes=1"}
	}
	if v.Format() != "" { // each read goes through all statements: so a file is one read
		page.Size = mostInFile
	}
	r, err := p.app.Statements.Receivables(v.R.Context(), v.Actor, q, page)
	if err != nil {
		return err
	}
	t.More = r.Open.More
	for _, o := range r.Open.Items {
		overdue := shell.Cell{}
		if o.Overdue > 0 {
			overdue = shell.Number(o.Overdue)
		}
		t.Rows = append(t.Rows, shell.Row{Href: fmt.Sprintf("%s/sites/%s/statements/%d", shell.Path, o.Path, o.ID), Cells: []shell.Cell{
			shell.Words(fmt.Sprintf("No. %d", o.Number)), shell.Words(o.Name), shell.Words(o.Channel), shell.OnDay(o.Due), overdue,
			shell.Sum(o.Open, o.Currency), shell.Sum(o.Closing, o.Currency),
		}})
	}
	shell.Tell(v, "At "+shell.Instant(v.Now())+".", sumFacts(r.Sums))
	made := v.Table(t)
	if sent, err := v.File(made); sent || err != nil {
		return err
	}
	act := shell.Link{Text: "Sandboxes", Href: shell.Path + "/receivables?sandboxes=1", Plain: true}
	if q.Sandbox {
		act = shell.Link{Text: "Live sites", Href: shell.Path + "/receivables", Plain: true}
	}
	return v.Show(p.Pages, "receivables.html", shell.Page{Title: "Receivables", Menu: "/receivables", Acts: []shell.Link{act, {Text: "By mail", Href: shell.Path + "/reports", Plain: true}}, Data: struct {
		Sums, List *shell.Table
	}{sumsTable(v, r.Sums, q.Sandbox), made}})
}

// sumFacts are what is open of each site, for a mail.
func sumFacts(sums []statements.Receivable) (facts []shell.Fact) {
	for _, s := range sums[:min(len(sums), mostInMail)] {
		facts = append(facts, shell.Fact{Text: s.Name, Value: shell.Money(s.Open, s.Currency)})
	}
	return facts
}

// sumsTable has a row for each site and currency.
func sumsTable(v *shell.Visit, sums []statements.Receivable, sandbox bool) *shell.Table {
	t := shell.Table{
		Name: "sums", Bare: true, Caption: "Receivables by age",
		Columns: []shell.Column{{Name: "site", Title: "Site"}, {Name: "open", Title: "Open", Figure: true}},
	}
	for _, age := range statements.Ages {
		t.Columns = append(t.Columns, shell.Column{Name: age, Title: age, Figure: true})
	}
	for _, s := range sums {
		href := shell.Path + "/receivables?site=" + s.Path
		if sandbox {
			href += "&sandboxes=1"
		}
		row := shell.Row{Href: href, Cells: []shell.Cell{shell.Words(s.Name), shell.Sum(s.Open, s.Currency)}}
		for _, amount := range s.ByAge {
			cell := shell.Cell{}
			if amount != 0 {
				cell = shell.Sum(amount, s.Currency)
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return v.Table(t)
}
