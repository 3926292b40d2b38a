// Package terms serves the pages of the dashboard about the terms of a site: policies, rate cards, limits, collateral,
// exchange rates, mails and the audit. Begin reading at Add.
package terms

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
	f.Site("GET /settings", auth.Read, p.site)
	f.Site("GET /settings/parties", auth.ManageSites, p.parties)
	f.Site("POST /settings/parties", auth.ManageSites, p.setParties)
	f.Site("GET /settings/clock", auth.MoveClock, p.clock)
	f.Site("POST /settings/clock", auth.MoveClock, p.clock)
	f.Site("GET /settings/policies", auth.Read, p.policies)
	f.Site("GET /settings/policies/{id}", auth.Read, p.policy)
	f.Site("GET /settings/policy", auth.WritePolicies, p.newPolicy)
	f.Site("POST /settings/policy", auth.WritePolicies, p.setPolicy)
	f.Site("GET /settings/limits", auth.Read, p.limits)
	f.Site("GET /settings/limits/history", auth.Read, p.limitHistory)
	f.Site("GET /settings/limit", auth.WriteLimits, p.newLimit)
	f.Site("POST /settings/limit", auth.WriteLimits, p.setLimit)
	f.Site("GET /settings/collateral", auth.Read, p.collateral)
	f.Site("GET /settings/collateral/new", auth.WriteCollateral, p.newCollateral)
	f.Site("POST /settings/collateral/new", auth.WriteCollateral, p.addCollateral)
	f.Site("GET /settings/rates", auth.Read, p.rates)
	f.Site("GET /settings/rates/history", auth.Read, p.rateHistory)
	f.Site("GET /settings/rates/quote", auth.WriteRates, p.newQuote)
	f.Site("POST /settings/rates/quote", auth.WriteRates, p.quote)
	p.addMore(f)
	return nil
}

func (p *pages) addMore(f *shell.Frame) {
	f.Site("GET /settings/mails", auth.Read, p.mails)
	f.Site("GET /settings/mails/{id}", auth.Read, p.mail)
	f.Site("POST /settings/mails/{id}/resend", auth.SendMails, p.resendMail)
	f.Site("GET /settings/mails/resend", auth.SendMails, p.askResend)
	f.Site("POST /settings/mails/resend", auth.SendMails, p.resendDead)
	f.Site("GET /settings/mails/try", auth.ManageSites, p.tryMail)
	f.Site("POST /settings/mails/try", auth.ManageSites, p.tryMail)
	f.Site("GET /settings/audit", auth.ReadAudit, p.audit)
	f.Site("GET /settings/audit/heads", auth.ReadAudit, p.heads)
	f.Site("GET /settings/audit/{id}", auth.ReadAudit, p.auditRecord)
	f.Site("GET /channels/{id}/terms", auth.Read, p.channel)
	f.Site("GET /statements/bordereaux", auth.ReadStatements, p.bordereau)
	f.Site("GET "+contractsAt, auth.ReadStatements, p.contracts)
	f.Site("POST "+contractsAt, auth.WritePolicies, p.setContract)
}

// settings completes a page of the settings of a site; at is its address below the site.
func (p *pages) settings(v *shell.Visit, page shell.Page, at string) shell.Page {
	page.Menu, page.Parts = "/settings", v.Parts("settings", at)
	return page
}

// act is the main act of a page, for those who may do it.
func (p *pages) act(v *shell.Visit, may auth.Permission, text, below string) []shell.Link {
	if !v.Can(may) {
		return nil
	}
	return []shell.Link{{Text: text, Href: v.At(below)}}
}
