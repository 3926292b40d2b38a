// Package settings serves the dashboard pages about a site's terms: policies, rate cards, limits, collateral,
// exchange rates, e-mails and the audit log. Start reading at Add.
package settings

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
	f.Site("GET /settings", access.Read, p.site)
	f.Site("GET /settings/parties", access.ManageSites, p.parties)
	f.Site("POST /settings/parties", access.ManageSites, p.setParties)
	f.Site("GET /settings/clock", access.MoveClock, p.clock)
	f.Site("POST /settings/clock", access.MoveClock, p.clock)
	f.Site("GET /settings/policies", access.Read, p.policies)
	f.Site("GET /settings/policies/{id}", access.Read, p.policy)
	f.Site("GET /settings/policy", access.WritePolicies, p.newPolicy)
	f.Site("POST /settings/policy", access.WritePolicies, p.setPolicy)
	f.Site("GET /settings/limits", access.Read, p.limits)
	f.Site("GET /settings/limits/history", access.Read, p.limitHistory)
	f.Site("GET /settings/limit", access.WriteLimits, p.newLimit)
	f.Site("POST /settings/limit", access.WriteLimits, p.setLimit)
	f.Site("GET /settings/collateral", access.Read, p.collateral)
	f.Site("GET /settings/collateral/new", access.WriteCollateral, p.newCollateral)
	f.Site("POST /settings/collateral/new", access.WriteCollateral, p.addCollateral)
	f.Site("GET /settings/rates", access.Read, p.rates)
	f.Site("GET /settings/rates/history", access.Read, p.rateHistory)
	f.Site("GET /settings/rates/quote", access.WriteRates, p.newQuote)
	f.Site("POST /settings/rates/quote", access.WriteRates, p.quote)
	p.addMore(f)
	return nil
}

func (p *pages) addMore(f *kit.Frame) {
	f.Site("GET /settings/mails", access.Read, p.mails)
	f.Site("GET /settings/mails/{id}", access.Read, p.mail)
	f.Site("POST /settings/mails/{id}/resend", access.SendMails, p.resendMail)
	f.Site("GET /settings/mails/resend", access.SendMails, p.askResend)
	f.Site("POST /settings/mails/resend", access.SendMails, p.resendDead)
	f.Site("GET /settings/mails/try", access.ManageSites, p.tryMail)
	f.Site("POST /settings/mails/try", access.ManageSites, p.tryMail)
	f.Site("GET /settings/audit", access.ReadAudit, p.audit)
	f.Site("GET /settings/audit/heads", access.ReadAudit, p.heads)
	f.Site("GET /settings/audit/{id}", access.ReadAudit, p.auditRecord)
	f.Site("GET /settings/merchants/{id}", access.Read, p.channel)
}

// settings completes a site settings page; at is its path below the site.
func (p *pages) settings(v *kit.Visit, page kit.Page, at string) kit.Page {
	page.Menu, page.Parts = "/settings", v.Parts("settings", at)
	return page
}

// showForm shows a form whose changes need a second operator outside a sandbox; above is the list that it adds to.
func (p *pages) showForm(v *kit.Visit, file, title string, above kit.Link, form *kit.Form) error {
	return v.Show(p.Pages, file, kit.Page{Title: title, Menu: "/settings", Path: []kit.Link{above}, Data: struct {
		Form    *kit.Form
		Sandbox bool
	}{form, v.Site.Sandbox}})
}

// act is a page's primary action, if the user has permission.
func (p *pages) act(v *kit.Visit, may access.Permission, text, below string) []kit.Link {
	if !v.Can(may) {
		return nil
	}
	return []kit.Link{{Text: text, Href: v.At(below)}}
}
