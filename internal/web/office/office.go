// Package office serves the pages of the dashboard for the operator's people that belong to no site: approvals, all sites,
// the queue of channels that ask for protection, receivables, jobs, the state of the system. Begin reading at Add.
package office

import (
	"embed"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/travel"
	"holdfast/internal/web/shell"
)

//go:embed pages
var files embed.FS

// pages are the handlers of this package.
type pages struct {
	app   *app.App
	frame *shell.Frame
	shell.Pages
}

// Add adds the pages to a frame.
func Add(f *shell.Frame, a *app.App) error {
	templates, err := f.Pages(files)
	if err != nil {
		return err
	}
	p := &pages{a, f, templates}
	f.Office("GET /approvals", auth.DecideProposals, p.inbox)
	f.Site("GET /approvals", auth.ReadAudit, p.proposals)
	f.Site("GET /approvals/{id}", auth.ReadAudit, p.proposal)
	for _, verb := range []string{"approve", "reject", "withdraw"} {
		f.Site("POST /approvals/{id}/"+verb, auth.DecideProposals, p.decide(verb))
	}
	f.Office("GET /sites", auth.ManageSites, p.sites)
	return nil
}

// siteOrders are what the list of sites can be ordered by.
var siteOrders = []string{"id", "path", "name"}

func (p *pages) sites(v *shell.Visit) error {
	page, err := v.PageOf(siteOrders, false)
	if err != nil {
		return err
	}
	t := shell.Table{
		Name: "sites", Caption: "All sites", Number: page.Number, Total: -1, Sorted: page.OrderBy, Descending: page.Descending,
		Columns: []shell.Column{
			{Name: "name", Title: "Name", Sorts: true}, {Name: "path", Title: "Path", Sorts: true}, {Name: "kind", Title: "Kind"},
			{Name: "currency", Title: "Currency"},
		},
		Empty: shell.Empty{Title: "There are no sites yet", Text: "A site is a platform or an acquirer, with its merchants as channels."},
	}
	err = v.Each(page, func(page travel.Page) (bool, error) {
		list, err := p.app.Sites.List(v.R.Context(), v.Actor, travel.SiteFilter{}, page)
		for _, s := range list.Items {
			kind := shell.State("live", "good")
			if s.Sandbox {
				kind = shell.State("sandbox", "warn")
			}
			t.Rows = append(t.Rows, shell.Row{Href: shell.Path + "/sites/" + s.Path, Cells: []shell.Cell{
				shell.Words(s.Name), shell.Words(s.Path), kind, shell.Words(string(s.Policy.Currency)),
			}})
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	if sent, err := v.File(made); sent || err != nil {
		return err
	}
	return v.Show(p.Pages, "sites.html", shell.Page{Title: "Sites", Menu: "/sites", Data: made})
}
