package office

import (
	"holdfast/internal/auth"
	"holdfast/internal/travel"
	"holdfast/internal/web/shell"
)

// siteOrders are what the list of sites can be ordered by.
var siteOrders = []string{"name", "path", "id"}

// sites shows all sites, or those that a search finds by a part of their name or path.
func (p *pages) sites(v *shell.Visit) error {
	page, err := v.PageOf(siteOrders, false)
	if err != nil {
		return err
	}
	t := shell.Table{
		Name: "sites", Caption: "All sites", Number: page.Number, Total: -1, Sorted: page.OrderBy, Descending: page.Descending,
		Columns: []shell.Column{
			{Name: "name", Title: "Name", Sorts: true}, {Name: "path", Title: "Path", Sorts: true}, {Name: "kind", Title: "Kind"},
			{Name: "currency", Title: "Currency", Minor: true}, {Name: "channels", Title: "Channels", Figure: true},
			{Name: "issuer", Title: "Issuer", Hidden: true}, {Name: "policyholder", Title: "Policyholder", Hidden: true},
			{Name: "since", Title: "Since", Minor: true},
		},
		Empty: shell.Empty{
			Title: "There are no sites yet", Text: "A site is a platform or an acquirer, with its merchants as channels.",
			Act: shell.Link{Text: "New site", Href: shell.Path + "/new-site"},
		},
	}
	if v.Query("q") != "" {
		t.Empty = shell.Empty{Title: "No site has this in its name or path", Text: "Try a shorter part of the name."}
	}
	err = v.Each(page, func(page travel.Page) (bool, error) {
		list, err := p.app.Sites.List(v.R.Context(), v.Actor, travel.SiteFilter{Text: v.Query("q")}, page)
		for _, s := range list.Items {
			kind := shell.State("live", "good")
			if s.Sandbox {
				kind = shell.State("sandbox", "warn")
			}
			t.Rows = append(t.Rows, shell.Row{Href: shell.Path + "/sites/" + s.Path, Cells: []shell.Cell{
				shell.Words(s.Name), shell.Words(s.Path), kind, shell.Words(string(s.Policy.Currency)), shell.Number(s.ChannelCount),
				shell.Words(s.Issuer.Name), shell.Words(s.Policyholder.Name), shell.AtInstant(s.CreatedAt),
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
	return v.Show(p.Pages, "sites.html", shell.Page{
		Title: "Sites", Menu: "/sites", Acts: []shell.Link{{Text: "New site", Href: shell.Path + "/new-site"}},
		Data: struct {
			Find string
			List *shell.Table
		}{v.Query("q"), made},
	})
}

// newSite shows the form for a new site.
func (p *pages) newSite(v *shell.Visit) error {
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	return p.siteForm(v, shell.Filled("sandbox", "1"))
}

func (p *pages) siteForm(v *shell.Visit, form *shell.Form) error {
	return v.Show(p.Pages, "new-site.html", shell.Page{
		Title: "New site", Menu: "/sites", Path: []shell.Link{{Text: "Sites", Href: shell.Path + "/sites"}}, Data: form,
	})
}

// makeSite makes a site of what the form says.
func (p *pages) makeSite(v *shell.Visit) error {
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	in := travel.SiteFields{
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
		return v.Done(shell.Path+"/sites/"+site.Path, "The site %s is there. It has a test channel.", site.Name)
	}
	return p.inviteAdmin(v, site, form, *admin)
}

// firstAdmin reads who shall manage a new site; nil where the form names nobody. What is wrong with them is told together with
// what is wrong with the site, before anything is made.
func firstAdmin(r *shell.Reading) *travel.UserFields {
	if r.Get("username") == "" && r.Get("email") == "" {
		return nil
	}
	in := travel.UserFields{Username: r.Get("username"), Email: r.Get("email"), DisplayName: r.Get("display_name")}
	if in.Email == "" {
		r.Problems.Missing("email")
		return &in
	}
	in = in.Check(&r.Problems)
	return &in
}

// inviteAdmin invites the first member_admin of a site that was just made, and shows the one-time link.
func (p *pages) inviteAdmin(v *shell.Visit, site travel.Site, form *shell.Form, in travel.UserFields) error {
	actor := v.Actor
	actor.SiteID, actor.Ahead = site.ID, site.ClockAhead
	data := madeSite{Site: site, Home: shell.Path + "/sites/" + site.Path, Email: in.Email, Sends: p.app.Mails.Transport != nil, Form: form}
	_, secret, err := p.app.Links.Invite(v.R.Context(), actor, in, auth.MemberAdmin, false)
	ok, err := v.Took(form, err)
	if err != nil {
		return err
	}
	if ok {
		data.Link = p.frame.Base + shell.Path + "/password/" + secret
	}
	return v.Show(p.Pages, "made-site.html", shell.Page{
		Title: site.Name, Menu: "/sites", Path: []shell.Link{{Text: "Sites", Href: shell.Path + "/sites"}},
		Acts: []shell.Link{{Text: "Open the site", Href: data.Home}}, Data: data,
	})
}

// madeSite is what stands after a site was made with its first admin.
type madeSite struct {
	Site        travel.Site
	Home, Email string
	Link        string // "" when nobody could be invited
	Sends       bool   // there is a mail server
	Form        *shell.Form
}

// party reads a company whose fields begin with a prefix.
func party(r *shell.Reading, prefix string) travel.PartyFields {
	return travel.PartyFields{
		Name: r.Text(prefix + "name"), Address: r.Text(prefix + "address"), TaxNumber: r.Text(prefix + "tax_number"),
		BankDetails: r.Text(prefix + "bank_details"),
	}
}
