// Package office serves the pages of the dashboard for the operator's people that belong to no site: approvals, all sites,
// the queue of channels that ask for protection, receivables, jobs, the state of the system. Begin reading at Add.
package office

import (
	"embed"

	"holdfast/internal/app"
	"holdfast/internal/auth"
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
	f.Office("GET /receivables", auth.ManageSites, p.receivables)
	f.Office("GET /jobs", auth.ManageSites, p.jobs)
	f.Office("POST /jobs/{name}/run", auth.ManageSites, p.runJob)
	f.Office("GET /system", auth.ManageSites, p.system)
	p.addReports(f)
	p.addVerify(f)
	f.Office("GET /asked", auth.SetChannelTerms, p.asked)
	f.Office("GET /new-site", auth.ManageSites, p.newSite)
	f.Office("POST /new-site", auth.ManageSites, p.makeSite)
	return nil
}
