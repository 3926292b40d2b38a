package office

import (
	"fmt"

	"holdfast/internal/book/statements"
	"holdfast/internal/web/kit"
)

// mostInFile is the maximum number of statements in a file.
const mostInFile = 5000

// mostInMail is the maximum number of sites named in an e-mail.
const mostInMail = 20

// receivables shows open statements by age, on all sites or on one.
func (p *pages) receivables(v *kit.Visit) error {
	page, err := v.PageOf([]string{"due"}, false)
	if err != nil {
		return err
	}
	q := statements.ReceivablesQuery{Path: v.Query("site"), Sandbox: v.Query("sandboxes") == "1"}
	t := kit.Table{
		Name: "receivables", Caption: "Open statements", Number: page.Number, Total: -1,
		Columns: []kit.Column{
			{Name: "statement", Title: "Statement"}, {Name: "site", Title: "Site"}, {Name: "channel", Title: "Merchant"},
			{Name: "due", Title: "Due"}, {Name: "overdue", Title: "Days overdue", Figure: true}, {Name: "open", Title: "Open", Currency: "currency"},
			{Name: "closing", Title: "Statement balance", Currency: "currency", Hidden: true},
		},
		Empty: kit.Empty{Title: "No open statements", Text: "Statements that are not fully paid appear here, oldest first."},
	}
	if !q.Sandbox {
		t.Empty.Act = kit.Link{Text: "Show sandboxes", Href: kit.Path + "/receivables?sandboxes=1"}
	}
	if v.Format() != "" { // each read scans all statements, so a file is one read
		page.Size = mostInFile
	}
	r, err := p.app.Statements.Receivables(v.R.Context(), v.Actor, q, page)
	if err != nil {
		return err
	}
	t.More = r.Open.More
	for _, o := range r.Open.Items {
		overdue := kit.Cell{}
		if o.Overdue > 0 {
			overdue = kit.Number(o.Overdue)
		}
		t.Rows = append(t.Rows, kit.Row{Href: fmt.Sprintf("%s/sites/%s/statements/%d", kit.Path, o.Path, o.ID), Cells: []kit.Cell{
			kit.Idents(fmt.Sprintf("No. %d", o.Number), o.Number), kit.Words(o.Name), kit.Words(o.Channel), kit.OnDay(o.Due), overdue,
			kit.Sum(o.Open, o.Currency), kit.Sum(o.Closing, o.Currency),
		}})
	}
	kit.SetSummary(v, "At "+kit.Instant(v.Now())+".", sumFacts(r.Sums))
	made := v.Table(t)
	act := kit.Link{Text: "Sandboxes", Href: kit.Path + "/receivables?sandboxes=1", Plain: true}
	if q.Sandbox {
		act = kit.Link{Text: "Live sites", Href: kit.Path + "/receivables", Plain: true}
	}
	return v.ShowTable(p.Pages, "receivables.html", made, kit.Page{Title: "Receivables", Menu: "/receivables", Acts: []kit.Link{act, {Text: "Schedule", Href: kit.Path + "/reports", Plain: true}}, Data: struct {
		Sums, List *kit.Table
	}{sumsTable(v, r.Sums, q.Sandbox), made}})
}

// sumFacts are the open amounts per site, for an e-mail.
func sumFacts(sums []statements.Receivable) (facts []kit.Fact) {
	for _, s := range sums[:min(len(sums), mostInMail)] {
		facts = append(facts, kit.Fact{Text: s.Name, Value: kit.Money(s.Open, s.Currency)})
	}
	return facts
}

// sumsTable has a row per site and currency.
func sumsTable(v *kit.Visit, sums []statements.Receivable, sandbox bool) *kit.Table {
	t := kit.Table{
		Name: "sums", Bare: true, Caption: "Receivables by age",
		Columns: []kit.Column{{Name: "site", Title: "Site"}, {Name: "open", Title: "Open", Currency: "currency"}},
	}
	for _, age := range statements.Ages {
		t.Columns = append(t.Columns, kit.Column{Name: age, Title: age, Figure: true})
	}
	for _, s := range sums {
		href := kit.Path + "/receivables?site=" + s.Path
		if sandbox {
			href += "&sandboxes=1"
		}
		row := kit.Row{Href: href, Cells: []kit.Cell{kit.Words(s.Name), kit.Sum(s.Open, s.Currency)}}
		for _, amount := range s.ByAge {
			cell := kit.Cell{}
			if amount != 0 {
				cell = kit.Sum(amount, s.Currency)
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return v.Table(t)
}
