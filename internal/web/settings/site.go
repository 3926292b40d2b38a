package settings

import (
	"strings"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/web/kit"
)

const siteAt = "/settings"

// site shows a site's settings, statement issuer and policyholder.
func (p *pages) site(v *kit.Visit) error {
	s, err := p.app.Sites.Get(v.R.Context(), v.Actor, v.Site.ID)
	if err != nil {
		return err
	}
	kind := kit.Fact{Text: "Type", Value: "Live", Tone: "good"}
	if s.Sandbox {
		kind = kit.Fact{Text: "Type", Value: "Sandbox: nothing is real", Tone: "warn"}
	}
	mails := "Sent through the mail server"
	if p.app.Mails.Transport == nil {
		mails = "Only shown: no mail server is configured"
	} else if s.Sandbox && !p.app.Mails.Sandboxes {
		mails = "Only shown: this is a sandbox"
	}
	facts := []kit.Fact{
		{Text: "Name", Value: s.Name}, {Text: "Path", Value: s.Path}, kind, {Text: "Policy currency", Value: string(s.Policy.Currency)},
		{Text: "Profile", Value: kit.Say(p.frame.Profile)}, {Text: "E-mails", Value: mails, Href: v.At(mailsAt)},
		{Text: "Merchants", Value: kit.Count(s.ChannelCount), Figure: true}, {Text: "Since", Value: kit.Instant(s.CreatedAt)},
	}
	acts := p.act(v, access.ManageSites, "Edit name, issuer and policyholder", "/settings/parties")
	if v.Can(access.ReadAudit) {
		acts = append(acts, kit.Link{Text: "Proposals", Href: v.At("/approvals"), Plain: true})
	}
	if s.Sandbox && v.Can(access.MoveClock) {
		acts = append(acts, kit.Link{Text: "Move clock", Href: v.At("/settings/clock"), Plain: true})
	}
	return v.Show(p.Pages, "site.html", p.settings(v, kit.Page{Title: "Settings", Acts: acts, Data: struct {
		Facts                []kit.Fact
		Issuer, Policyholder []kit.Fact
	}{facts, partyFacts(s.Issuer), partyFacts(s.Policyholder)}}, siteAt))
}

func partyFacts(party merchant.Party) []kit.Fact {
	inLine := func(text string) string { return strings.ReplaceAll(text, "\n", ", ") }
	return present([]kit.Fact{
		{Text: "Company", Value: party.Name}, {Text: "Address", Value: inLine(party.Address)}, {Text: "Tax number", Value: party.TaxNumber},
		{Text: "Bank details", Value: inLine(party.BankDetails)},
	})
}

// parties shows the form for name, issuer and policyholder.
func (p *pages) parties(v *kit.Visit) error {
	form, err := p.filledParties(v)
	if err != nil {
		return err
	}
	return p.partiesForm(v, form)
}

// filledParties returns the form with the stored values.
func (p *pages) filledParties(v *kit.Visit) (*kit.Form, error) {
	s, err := p.app.Sites.Get(v.R.Context(), v.Actor, v.Site.ID)
	if err != nil {
		return nil, err
	}
	form := kit.Filled("version", kit.Ident(s.Version).Plain, "name", s.Name)
	for prefix, party := range map[string]merchant.Party{"issuer_": s.Issuer, "policyholder_": s.Policyholder} {
		form.Values.Set(prefix+"name", party.Name)
		form.Values.Set(prefix+"address", party.Address)
		form.Values.Set(prefix+"tax_number", party.TaxNumber)
		form.Values.Set(prefix+"bank_details", party.BankDetails)
	}
	return form, nil
}

func (p *pages) partiesForm(v *kit.Visit, form *kit.Form) error {
	return v.Show(p.Pages, "parties.html", kit.Page{
		Title: "Name, issuer and policyholder", Menu: "/settings", Path: []kit.Link{{Text: "Settings", Href: v.At(siteAt)}}, Data: form,
	})
}

// setParties changes issuer and policyholder. Issued statements keep theirs.
func (p *pages) setParties(v *kit.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	in := merchant.SiteFields{Name: r.Text("name"), Issuer: party(r, "issuer_"), Policyholder: party(r, "policyholder_"), IfVersion: r.Version(), Problems: r.Problems}
	_, err = p.app.Sites.Change(v.R.Context(), v.Actor, v.Site.ID, in)
	if ok, err := v.TookOver(form, err, func() (*kit.Form, error) { return p.filledParties(v) }); err != nil {
		return err
	} else if !ok {
		return p.partiesForm(v, form)
	}
	return v.Done(v.At(siteAt), "Saved. Applies from the next statements.")
}

// party reads a company from fields with a prefix.
func party(r *kit.Reading, prefix string) merchant.PartyFields {
	return merchant.PartyFields{
		Name: r.Text(prefix + "name"), Address: r.Text(prefix + "address"), TaxNumber: r.Text(prefix + "tax_number"),
		BankDetails: r.Text(prefix + "bank_details"),
	}
}

// clock moves a sandbox's clock forward to a later day.
func (p *pages) clock(v *kit.Visit) error {
	form := kit.Filled("to", (civil.DayOf(v.Now()) + 1).String())
	if v.R.Method == "POST" {
		var err error
		if form, err = v.Form(); err != nil {
			return err
		}
		r := form.Reading()
		to := r.Day("to")
		needed(r, "to")
		if err = r.Problems.Err(); err == nil {
			_, err = p.app.Rates.MoveClock(v.R.Context(), v.Actor, to.Start())
		}
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return v.Done(v.At(siteAt), "The site's clock now shows %s.", kit.Day(*to))
		}
	}
	return v.Show(p.Pages, "clock.html", kit.Page{
		Title: "Move clock", Menu: "/settings", Path: []kit.Link{{Text: "Settings", Href: v.At(siteAt)}}, Data: form,
	})
}
