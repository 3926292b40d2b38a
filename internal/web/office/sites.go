package office

import (
	"holdfast/internal/account/people"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

// siteOrders are the sort orders of the list.
var siteOrders = []string{"name", "path", "id"}

// sites lists all sites, or those matching a search by part of their name or path.
func (p *pages) sites(v *kit.Visit) error {
	page, err := v.PageOf(siteOrders, false)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "sites", Caption: "All sites", Number: page.Number, Total: -1, Sorted: page.OrderBy, Descending: page.Descending,
		Columns: []kit.Column{
			{Name: "name", Title: "Name", Sorts: true}, {Name: "path", Title: "Path", Sorts: true}, {Name: "kind", Title: "Type"},
			{Name: "currency", Title: "Currency", Minor: true}, {Name: "channels", Title: "Merchants", Figure: true},
			{Name: "issuer", Title: "Issuer", Hidden: true}, {Name: "policyholder", Title: "Policyholder", Hidden: true},
			{Name: "since", Title: "Since", Minor: true},
		},
		Empty: kit.Empty{
			Title: "No sites yet", Text: "A site is a platform or an acquirer, with its merchants. Create one to start.",
			Act: kit.Link{Text: "New site", Href: kit.Path + "/new-site"},
		},
	}
	if v.Query("q") != "" {
		t.Empty = kit.Empty{Title: "No matching sites", Text: "Try a shorter search."}
	}
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.app.Sites.List(v.R.Context(), v.Actor, merchants.SiteFilter{Text: v.Query("q")}, page)
		for _, s := range list.Items {
			kind := kit.State("live", "good")
			if s.Sandbox {
				kind = kit.State("sandbox", "warn")
			}
			t.Rows = append(t.Rows, kit.Row{Href: kit.Path + "/sites/" + s.Path, Cells: []kit.Cell{
				kit.Words(s.Name), kit.Words(s.Path), kind, kit.Words(string(s.Policy.Currency)), kit.Number(s.ChannelCount),
				kit.Words(s.Issuer.Name), kit.Words(s.Policyholder.Name), kit.AtInstant(s.CreatedAt),
			}})
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	return v.ShowTable(p.Pages, "sites.html", made, kit.Page{
		Title: "Sites", Menu: "/sites", Acts: []kit.Link{{Text: "New site", Href: kit.Path + "/new-site"}},
		Data: struct {
			Find string
			List *kit.Table
		}{v.Query("q"), made},
	})
}

// newSite shows the form for a new site.
func (p *pages) newSite(v *kit.Visit) error {
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	return p.siteForm(v, kit.Filled("sandbox", "1"))
}

func (p *pages) siteForm(v *kit.Visit, form *kit.Form) error {
	return v.Show(p.Pages, "new-site.html", kit.Page{
		Title: "New site", Menu: "/sites", Path: []kit.Link{{Text: "Sites", Href: kit.Path + "/sites"}}, Data: form,
	})
}

// makeSite creates a site from the form.
func (p *pages) makeSite(v *kit.Visit) error {
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	in := merchant.SiteFields{
		Path: r.Text("path"), Name: r.Text("name"), Sandbox: *r.Yes("sandbox"), Currency: r.Currency("currency"),
		Issuer: party(r, "issuer_"), Policyholder: party(r, "policyholder_"),
	}
	admin := firstAdmin(r)
	in.Problems = r.Problems
	site, err := p.app.Sites.Create(v.R.Context(), v.Actor, in)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.siteForm(v, form)
	}
	if admin == nil {
		return v.Done(kit.Path+"/sites/"+site.Path, "Site %s created, with a test merchant.", site.Name)
	}
	return p.inviteAdmin(v, site, form, *admin)
}

// firstAdmin reads the first admin of a new site; nil if the form has none. Errors are reported together with those of the
// site, before anything is created.
func firstAdmin(r *kit.Reading) *people.UserFields {
	if r.Get("username") == "" && r.Get("email") == "" {
		return nil
	}
	in := people.UserFields{Username: r.Get("username"), Email: r.Get("email"), DisplayName: r.Get("display_name")}
	if in.Email == "" {
		r.Problems.Missing("email")
		return &in
	}
	in = in.Check(&r.Problems)
	return &in
}

// inviteAdmin invites the first member_admin of a new site and shows the one-time link.
func (p *pages) inviteAdmin(v *kit.Visit, site merchant.Site, form *kit.Form, in people.UserFields) error {
	actor := v.Actor
	actor.SiteID, actor.Ahead = site.ID, site.ClockAhead
	data := madeSite{Site: site, Home: kit.Path + "/sites/" + site.Path, Email: in.Email, Sends: p.app.Mails.Transport != nil, Form: form}
	_, secret, err := p.app.Links.Invite(v.R.Context(), actor, in, access.MemberAdmin, false)
	ok, err := v.Took(form, err)
	if err != nil {
		return err
	}
	if ok {
		data.Link = p.frame.Base + kit.Path + "/password/" + secret
	}
	return v.Show(p.Pages, "made-site.html", kit.Page{
		Title: site.Name, Menu: "/sites", Path: []kit.Link{{Text: "Sites", Href: kit.Path + "/sites"}},
		Acts: []kit.Link{{Text: "Open site", Href: data.Home}}, Data: data,
	})
}

// madeSite is the data of the page after creating a site with its first admin.
type madeSite struct {
	Site        merchant.Site
	Home, Email string
	Link        string // "" if the invitation failed
	Sends       bool   // a mail server is configured
	Form        *kit.Form
}

// party reads a company from fields with a prefix.
func party(r *kit.Reading, prefix string) merchant.PartyFields {
	return merchant.PartyFields{
		Name: r.Text(prefix + "name"), Address: r.Text(prefix + "address"), TaxNumber: r.Text(prefix + "tax_number"),
		BankDetails: r.Text(prefix + "bank_details"),
	}
}
