package people

import (
	"cmp"
	"net/http"

	"holdfast/internal/auth"
	"holdfast/internal/identity"
	"holdfast/internal/travel"
	"holdfast/internal/web/shell"
)

// addMembers adds the pages for the people of a site.
func (p *pages) addMembers(f *shell.Frame) {
	f.Site("GET /settings/people", auth.ManageMembers, p.members)
	f.Site("GET /settings/people/invite", auth.ManageMembers, p.inviteMember)
	f.Site("POST /settings/people/invite", auth.ManageMembers, p.inviteMember)
	f.Site("GET /settings/people/{id}", auth.ManageMembers, p.member)
	f.Site("POST /settings/people/{id}", auth.ManageMembers, p.member)
	f.Site("POST /settings/people/{id}/invite", auth.ManageMembers, p.inviteMemberAgain)
	f.Site("GET /settings/people/{id}/remove", auth.ManageMembers, p.removeMember)
	f.Site("POST /settings/people/{id}/remove", auth.ManageMembers, p.removeMember)
}

const membersBelow = "/settings/people"

// userOrders are what lists of people can be ordered by.
var userOrders = []string{"id"}

// userColumns are the columns of lists of people.
var userColumns = []shell.Column{
	{Name: "name", Title: "Name"}, {Name: "username", Title: "User name", Minor: true}, {Name: "email", Title: "E-mail"}, {Name: "role", Title: "Role"},
	{Name: "state", Title: "State"}, {Name: "two_factor", Title: "Second factor", Minor: true}, {Name: "can_sign_off_payout", Title: "Signs off payouts", Hidden: true},
	{Name: "created", Title: "Since", Hidden: true},
}

func userCells(u identity.UserRow) []shell.Cell {
	return []shell.Cell{
		shell.Words(u.DisplayName), shell.Words(u.Username), shell.Words(u.Email), {Text: shell.Say(u.Role()), Plain: string(u.Role())}, stateOf(u),
		shell.YesNo(!u.TwoFactorConfirmedAt.IsZero()), shell.YesNo(u.Membership.CanSignOffPayout), shell.AtInstant(u.CreatedAt),
	}
}

// stateOf says whether somebody has come already.
func stateOf(u identity.UserRow) shell.Cell {
	switch {
	case !u.InvitedUntil.IsZero():
		return shell.State("invited", "warn")
	case auth.NoPassword(u.PasswordHash):
		return shell.State("invitation has ended", "bad")
	}
	return shell.State("active", "good")
}

// listing is a list of people with a search.
type listing struct {
	Find string
	List *shell.Table
}

func (p *pages) members(v *shell.Visit) error {
	t := shell.Table{
		Name: "people", Caption: "People of this site", Columns: userColumns,
		Empty: shell.Empty{
			Title: "Nobody has access yet", Text: "Invite the first person who manages this site. They can invite all others.",
			Act: shell.Link{Text: "Invite somebody", Href: v.At(membersBelow + "/invite")},
		},
	}
	data, err := p.readUsers(v, identity.UserFilter{SiteID: v.Site.ID}, &t, func(u identity.UserRow) shell.Row {
		return shell.Row{Href: v.At(membersBelow+"/") + idText(u.ID), Cells: userCells(u)}
	})
	if err != nil || data == nil {
		return err
	}
	return v.Show(p.Pages, "members.html", shell.Page{
		Title: "People", Menu: "/settings", Parts: v.Parts("settings", membersBelow), Data: data,
		Acts: []shell.Link{{Text: "Invite somebody", Href: v.At(membersBelow + "/invite")}},
	})
}

// readUsers fills a table with people. It returns nil if it has answered with a file.
func (p *pages) readUsers(
	v *shell.Visit, filter identity.UserFilter, t *shell.Table, row func(identity.UserRow) shell.Row,
) (*listing, error) {
	page, err := v.PageOf(userOrders, false)
	if err != nil {
		return nil, err
	}
	filter.Find = v.Query("q")
	if filter.Find != "" {
		t.Empty = shell.Empty{Title: "Nobody is found", Text: "No name and no address has this in it."}
	}
	t.Number, t.Total = page.Number, -1
	err = v.Each(page, func(page travel.Page) (bool, error) {
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

// inviteMember gives somebody access to the site. It asks for the password first: who has access can give it to others.
func (p *pages) inviteMember(v *shell.Visit) error {
	if ok, err := v.NeedsProof(); !ok || err != nil {
		return err
	}
	form := shell.Filled("role", string(auth.ReadOnly))
	if v.R.Method == http.MethodPost {
		var err error
		if form, err = v.Form(); err != nil {
			return err
		}
		in := travel.UserFields{Username: form.Get("username"), Email: form.Get("email"), DisplayName: form.Get("display_name")}
		user, secret, err := p.app.Links.Invite(v.R.Context(), v.Actor, in, auth.Role(form.Get("role")), form.Get("can_sign_off_payout") != "")
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return p.invited(v, user, secret, v.At(membersBelow), "/settings")
		}
	}
	return v.Show(p.Pages, "invite.html", shell.Page{
		Title: "Invite somebody", Menu: "/settings", Path: []shell.Link{{Text: "People", Href: v.At(membersBelow)}}, Data: inviting{form, false, v.At(membersBelow), rolesExplained},
	})
}

// inviting is the form of an invitation.
type inviting struct {
	Form   *shell.Form
	Office bool // of an operator
	Back   string
	Roles  string
}

// rolesExplained says what the roles of a site may do.
const rolesExplained = "Read only sees bookings, payments and exposure, and no secrets. Finance also sees statements and takes files out. " +
	"Member admin does everything on this site, and gives others access."

// invited says that an invitation is on its way. Where no mail goes out, and to operators, it shows the link, which whoever
// invites then passes on.
func (p *pages) invited(v *shell.Visit, user auth.User, secret, back, menu string) error {
	mailed := p.app.Mails.Sends()
	if mailed && !v.Operator() {
		return v.Done(back, "An invitation is on its way to %s.", user.Email)
	}
	return v.Show(p.Pages, "invited.html", shell.Page{
		Title: "Invitation", Menu: menu, Path: []shell.Link{{Text: "People", Href: back}}, Data: struct {
			User   auth.User
			Link   string
			Mailed bool
			Back   string
		}{user, p.frame.LinkTo(secret), mailed, back},
	})
}

// readMember reads one of the people of the site. Who is none of them is no page.
func (p *pages) readMember(v *shell.Visit) (row identity.UserRow, err error) {
	id, err := v.ID("id")
	if err != nil {
		return row, err
	}
	list, err := p.app.Accounts.List(v.R.Context(), v.Actor, identity.UserFilter{SiteID: v.Site.ID, UserID: id}, travel.Page{Number: 1, Size: 1, Offset: -1})
	if err != nil {
		return row, err
	} else if len(list.Items) == 0 {
		return row, noPerson()
	}
	return list.Items[0], nil
}

func (p *pages) member(v *shell.Visit) error {
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	u, err := p.readMember(v)
	if err != nil {
		return err
	}
	form := shell.Filled("role", string(u.Membership.Role))
	if u.Membership.CanSignOffPayout {
		form.Values.Set("can_sign_off_payout", "1")
	}
	if v.R.Method == http.MethodPost {
		if form, err = v.Form(); err != nil {
			return err
		}
		err = p.app.Accounts.SetMembership(v.R.Context(), v.Actor, u.ID, auth.Role(form.Get("role")), form.Get("can_sign_off_payout") != "")
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return v.Done(v.At(membersBelow), "%s now has the role %s.", cmp.Or(u.DisplayName, u.Username), shell.Say(form.Get("role")))
		}
	}
	return v.Show(p.Pages, "member.html", shell.Page{
		Title: u.DisplayName, Menu: "/settings", Path: []shell.Link{{Text: "People", Href: v.At(membersBelow)}}, Data: struct {
			Facts        []shell.Fact
			Form         *shell.Form
			Below        string
			Roles        string
			Change, Wait bool
		}{
			userFacts(u), form, v.At(membersBelow + "/" + idText(u.ID)), rolesExplained, !u.Operator || v.Operator(), auth.NoPassword(u.PasswordHash),
		},
	})
}

func userFacts(u identity.UserRow) []shell.Fact {
	state := stateOf(u)
	second := "None"
	if !u.TwoFactorConfirmedAt.IsZero() {
		second = "Since " + shell.Instant(u.TwoFactorConfirmedAt)
	}
	facts := []shell.Fact{
		{Text: "User name", Value: u.Username}, {Text: "E-mail", Value: u.Email}, {Text: "State", Value: state.Text, Tone: state.Tone},
		{Text: "Second factor", Value: second}, {Text: "Since", Value: shell.Instant(u.CreatedAt)},
	}
	if u.Operator {
		facts = append(facts, shell.Fact{Text: "Role", Value: shell.Say(auth.Operator)})
	}
	if !u.InvitedUntil.IsZero() {
		facts = append(facts, shell.Fact{Text: "Invited until", Value: shell.Instant(u.InvitedUntil)})
	}
	return facts
}

func (p *pages) inviteMemberAgain(v *shell.Visit) error {
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

func (p *pages) removeMember(v *shell.Visit) error {
	u, err := p.readMember(v)
	if err != nil {
		return err
	}
	name, form := cmp.Or(u.DisplayName, u.Username), shell.Filled()
	if v.R.Method == http.MethodPost {
		ok, err := v.Took(form, p.app.Accounts.RemoveMembership(v.R.Context(), v.Actor, u.ID))
		if err != nil {
			return err
		} else if ok && u.ID == v.User.ID {
			return v.Done(shell.Path, "You have no access to %s any more.", v.Site.Name)
		} else if ok {
			return v.Done(v.At(membersBelow), "%s has no access any more.", name)
		}
	}
	text := []string{
		name + " can no longer see or do anything on this site. API tokens that act as " + u.Username + " on this site are deleted, and do not come back.",
		"What " + name + " has done stays in the audit.",
	}
	return v.Confirm(shell.Confirmation{
		Title: "Take the access of " + name + " away?", Text: text, Act: "Take the access away", Harm: true,
		Back: v.At(membersBelow + "/" + idText(u.ID)), Again: form,
	}, shell.Page{Menu: "/settings", Path: []shell.Link{{Text: "People", Href: v.At(membersBelow)}}})
}
