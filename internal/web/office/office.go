// Package office serves the dashboard pages for operators that belong to no single site: approvals, all sites,
// protection requests, receivables, jobs and system status. Start reading at Add.
package office

import (
	"embed"

	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/web/kit"
)

//go:embed pages
var files embed.FS

// pages are the handlers of this package.
type pages struct {
	app   *app.App
	frame *kit.Frame
	kit.Pages
}

// Add adds the pages to a frame.
func Add(f *kit.Frame, a *app.App) error {
	templates, err := f.Pages(files)
	if err != nil {
		return err
	}
	p := &pages{a, f, templates}
	f.Office("GET /approvals", access.DecideProposals, p.inbox)
	f.Site("GET /approvals", access.ReadAudit, p.proposals)
	f.Site("GET /approvals/{id}", access.ReadAudit, p.proposal)
	for _, verb := range []string{"approve", "reject", "withdraw"} {
		f.Site("POST /approvals/{id}/"+verb, access.DecideProposals, p.decide(verb))
	}
	f.Office("GET /sites", access.ManageSites, p.sites)
	f.Office("GET /receivables", access.ManageSites, p.receivables)
	f.Office("GET /jobs", access.ManageSites, p.jobs)
	f.Office("POST /jobs/{name}/run", access.ManageSites, p.runJob)
	f.Office("GET /system", access.ManageSites, p.system)
	p.addReports(f)
	p.addVerify(f)
	f.Office("GET /asked", access.SetChannelTerms, p.asked)
	f.Office("GET /new-site", access.ManageSites, p.newSite)
	f.Office("POST /new-site", access.ManageSites, p.makeSite)
	return nil
}
