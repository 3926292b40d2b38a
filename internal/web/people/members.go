package people

import (
	"cmp"
	"net/http"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

// addMembers adds the pages for a site's people.
func (p *pages) addMembers(f *kit.Frame) {
	f.Site("GET /people", access.ManageMembers, p.members)
	f.Site("GET /people/invite", access.ManageMembers, p.inviteMember)
	f.Site("POST /people/invite", access.ManageMembers, p.inviteMember)
	f.Site("GET /people/{id}", access.ManageMembers, p.member)
	f.Site("POST /people/{id}", access.ManageMembers, p.member)
	f.Site("POST /people/{id}/invite", access.ManageMembers, p.inviteMemberAgain)
	f.Site("GET /people/{id}/remove", access.ManageMembers, p.removeMember)
	f.Site("POST /people/{id}/remove", access.ManageMembers, p.removeMember)
}

const membersBelow = "/people"

// userOrders are the sort orders of lists of people.
var userOrders = []string{"id"}

// userColumns are the columns of lists of people.
var userColumns = []kit.Column{
	{Name: "name", Title: "Name"}, {Name: "username", Title: "User name", Minor: true}, {Name: "email", Title: "E-mail"}, {Name: "role", Title: "Role"},
	{Name: "state", Title: "Status"}, {Name: "two_factor", Title: "Second factor", Minor: true}, {Name: "can_sign_off_payout", Title: "Signs off payouts", Hidden: true},
	{Name: "created", Title: "Since", Hidden: true},
}

func userCells(u people.UserRow) []kit.Cell {
	return []kit.Cell{
		kit.Words(u.DisplayName), kit.Words(u.Username), kit.Words(u.Email), {Text: kit.Say(u.Role()), Plain: string(u.Role())}, stateOf(u),
		kit.YesNo(!u.TwoFactorConfirmedAt.IsZero()), kit.YesNo(u.Membership.CanSignOffPayout), kit.AtInstant(u.CreatedAt),
	}
}

// stateOf is the status of a person's invitation.
func stateOf(u people.UserRow) kit.Cell {
	switch {
	case !u.InvitedUntil.IsZero():
		return kit.State("invited", "warn")
	case u.Invited():
		return kit.State("invitation expired", "bad")
	}
	return kit.State("active", "good")
}

// listing is a list of people with a search field.
type listing struct {
	Find string
	List *kit.Table
}

func (p *pages) members(v *kit.Visit) error {
	t := kit.Table{
		Name: "people", Caption: "People with access to this site", Columns: userColumns,
		Empty: kit.Empty{
			Title: "No people yet", Text: "Invite the site's first admin, who can then invite others.",
			Act: kit.Link{Text: "Invite a person", Href: v.At(membersBelow + "/invite")},
		},
	}
	data, err := p.readUsers(v, people.UserFilter{SiteID: v.Site.ID}, &t, func(u people.UserRow) kit.Row {
		return kit.Row{Href: v.At(membersBelow+"/") + idText(u.ID), Cells: userCells(u)}
	})
	if err != nil || data == nil {
		return err
	}
	return v.Show(p.Pages, "members.html", kit.Page{
		Title: "People", Menu: "/settings", Parts: v.Parts("settings", membersBelow), Data: data,
		Acts: []kit.Link{{Text: "Invite a person", Href: v.At(membersBelow + "/invite")}},
	})
}

// readUsers fills a table with people. It returns nil if it has sent a file.
func (p *pages) readUsers(
	v *kit.Visit, filter people.UserFilter, t *kit.Table, row func(people.UserRow) kit.Row,
) (*listing, error) {
	page, err := v.PageOf(userOrders, false)
	if err != nil {
		return nil, err
	}
	filter.Find = v.Query("q")
	if filter.Find != "" {
		t.Empty = kit.Empty{Title: "No matching people", Text: "No name or e-mail address matches your search."}
	}
	t.Number, t.Total = page.Number, -1
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.app.Accounts.List(v.R.Context(), v.Actor, filter, page)
		for _, u := range list.Items {
			t.Rows = append(t.Rows, row(u))
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return nil, err
	}
	made := v.Table(*t)
	if sent, err := v.File(made); sent || err != nil {
		return nil, err
	}
	return &listing{filter.Find, made}, nil
}

// inviteMember gives a person access to the site. It asks for the password first: access lets people invite others.
func (p *pages) inviteMember(v *kit.Visit) error {
	if ok, err := v.NeedsProof(); !ok || err != nil {
		return err
	}
	form := kit.Filled("role", string(access.ReadOnly))
	if v.R.Method == http.MethodPost {
		var err error
		if form, err = v.Form(); err != nil {
			return err
		}
		in := people.UserFields{Username: form.Get("username"), Email: form.Get("email"), DisplayName: form.Get("display_name")}
		user, secret, err := p.app.Links.Invite(v.R.Context(), v.Actor, in, access.Role(form.Get("role")), form.Get("can_sign_off_payout") != "")
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return p.invited(v, user, secret, v.At(membersBelow), "/settings")
		}
	}
	return v.Show(p.Pages, "invite.html", kit.Page{
		Title: "Invite a person", Menu: "/settings", Path: []kit.Link{{Text: "People", Href: v.At(membersBelow)}}, Data: inviting{form, false, v.At(membersBelow), rolesExplained},
	})
}

// inviting is the form of an invitation.
type inviting struct {
	Form   *kit.Form
	Office bool // an operator's invitation
	Back   string
	Roles  string
}

// rolesExplained describes the roles of a site.
const rolesExplained = "Read only sees bookings, payments and exposure, but no secrets. Finance also sees statements and can export files. " +
	"Member admin can do everything on this site, including giving others access."

// invited confirms an invitation. If no e-mail was sent, or the user is an operator, it shows the link to pass on.
func (p *pages) invited(v *kit.Visit, user people.User, secret, back, menu string) error {
	mailed := p.app.Mails.Sends()
	if mailed && !v.Operator() {
		return v.Done(back, "Invitation sent to %s.", user.Email)
	}
	return v.Show(p.Pages, "invited.html", kit.Page{
		Title: "Invitation", Menu: menu, Path: []kit.Link{{Text: "People", Href: back}}, Data: struct {
			User   people.User
			Link   string
			Mailed bool
			Back   string
		}{user, p.frame.LinkTo(secret), mailed, back},
	})
}

// readMember reads a person of the site. Anyone else is a 404.
func (p *pages) readMember(v *kit.Visit) (row people.UserRow, err error) {
	id, err := v.ID("id")
	if err != nil {
		return row, err
	}
	list, err := p.app.Accounts.List(v.R.Context(), v.Actor, people.UserFilter{SiteID: v.Site.ID, UserID: id}, store.Page{Number: 1, Size: 1, Offset: -1})
	if err != nil {
		return row, err
	} else if len(list.Items) == 0 {
		return row, noPerson()
	}
	return list.Items[0], nil
}

func (p *pages) member(v *kit.Visit) error {
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	u, err := p.readMember(v)
	if err != nil {
		return err
	}
	form := kit.Filled("role", string(u.Membership.Role))
	if u.Membership.CanSignOffPayout {
		form.Values.Set("can_sign_off_payout", "1")
	}
	if v.R.Method == http.MethodPost {
		if form, err = v.Form(); err != nil {
			return err
		}
		err = p.app.Accounts.SetMembership(v.R.Context(), v.Actor, u.ID, access.Role(form.Get("role")), form.Get("can_sign_off_payout") != "")
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return v.Done(v.At(membersBelow), "%s now has the role %s.", cmp.Or(u.DisplayName, u.Username), kit.Say(form.Get("role")))
		}
	}
	return v.Show(p.Pages, "member.html", kit.Page{
		Title: u.DisplayName, Menu: "/settings", Path: []kit.Link{{Text: "People", Href: v.At(membersBelow)}}, Data: struct {
			Facts        []kit.Fact
			Form         *kit.Form
			Below        string
			Roles        string
			Change, Wait bool
		}{
			userFacts(u), form, v.At(membersBelow + "/" + idText(u.ID)), rolesExplained, !u.Operator || v.Operator(), u.Invited(),
		},
	})
}

func userFacts(u people.UserRow) []kit.Fact {
	state := stateOf(u)
	second := "None"
	if !u.TwoFactorConfirmedAt.IsZero() {
		second = "Since " + kit.Instant(u.TwoFactorConfirmedAt)
	}
	facts := []kit.Fact{
		{Text: "User name", Value: u.Username}, {Text: "E-mail", Value: u.Email}, {Text: "Status", Value: state.Text, Tone: state.Tone},
		{Text: "Second factor", Value: second}, {Text: "Since", Value: kit.Instant(u.CreatedAt)},
	}
	if u.Operator {
		facts = append(facts, kit.Fact{Text: "Role", Value: kit.Say(access.Operator)})
	}
	if !u.InvitedUntil.IsZero() {
		facts = append(facts, kit.Fact{Text: "Invited until", Value: kit.Instant(u.InvitedUntil)})
	}
	return facts
}

func (p *pages) inviteMemberAgain(v *kit.Visit) error {
	u, err := p.readMember(v)
	if err != nil {
		return err
	}
	if ok, err := v.NeedsProof(); !ok || err != nil {
		return err
	}
	user, secret, err := p.app.Links.InviteAgain(v.R.Context(), v.Actor, u.ID)
	if err != nil {
		return err
	}
	return p.invited(v, user, secret, v.At(membersBelow), "/settings")
}

func (p *pages) removeMember(v *kit.Visit) error {
	u, err := p.readMember(v)
	if err != nil {
		return err
	}
	name, form := cmp.Or(u.DisplayName, u.Username), kit.Filled()
	if v.R.Method == http.MethodPost {
		ok, err := v.Took(form, p.app.Accounts.RemoveMembership(v.R.Context(), v.Actor, u.ID))
		if err != nil {
			return err
		} else if ok && u.ID == v.User.ID {
			return v.Done(kit.Path, "You no longer have access to %s.", v.Site.Name)
		} else if ok {
			return v.Done(v.At(membersBelow), "%s no longer has access.", name)
		}
	}
	text := []string{
		name + " loses all access to this site. API tokens that act as " + u.Username + " on this site are deleted permanently.",
		"Actions by " + name + " stay in the audit log.",
	}
	return v.Confirm(kit.Confirmation{
		Title: "Remove access for " + name + "?", Text: text, Act: "Remove access", Harm: true,
		Back: v.At(membersBelow + "/" + idText(u.ID)), Again: form,
	}, kit.Page{Menu: "/settings", Path: []kit.Link{{Text: "People", Href: v.At(membersBelow)}}})
}
