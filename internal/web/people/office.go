package people

import (
	"cmp"
	"net/http"
	"strconv"

	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/identity"
	"holdfast/internal/travel"
	"holdfast/internal/web/shell"
)

// addOffice adds the pages for all people of the deployment.
func (p *pages) addOffice(f *shell.Frame) {
	f.Office("GET /people", auth.ManageUsers, p.everybody)
	f.Office("GET /people/invite", auth.ManageUsers, p.inviteOperator)
	f.Office("POST /people/invite", auth.ManageUsers, p.inviteOperator)
	f.Office("GET /people/{id}", auth.ManageUsers, p.person)
	f.Office("POST /people/{id}/invite", auth.ManageUsers, p.inviteOperatorAgain)
	f.Office("GET /people/{id}/second-factor", auth.ManageUsers, p.liftSecondFactor)
	f.Office("POST /people/{id}/second-factor", auth.ManageUsers, p.liftSecondFactor)
}

const everybodyPath = shell.Path + "/people"

func idText(id int64) string { return strconv.FormatInt(id, 10) }

func noPerson() error { return fault.New(fault.NoRoute, "There is no such person.") }

func (p *pages) everybody(v *shell.Visit) error {
	t := shell.Table{
		Name: "people", Caption: "Everybody who can sign in, once for each site",
		Columns: append([]shell.Column{userColumns[0], {Name: "site", Title: "Site"}}, userColumns[1:]...),
		Empty:   shell.Empty{Title: "There is nobody", Text: "Invite an operator, or somebody who manages a site."},
	}
	data, err := p.readUsers(v, identity.UserFilter{}, &t, func(u identity.UserRow) shell.Row {
		site := shell.Words("")
		if u.SitePath != "" {
			site = shell.Linked(u.SitePath, shell.Path+"/sites/"+u.SitePath+membersBelow)
		}
		cells := userCells(u)
		return shell.Row{Href: everybodyPath + "/" + idText(u.ID), Cells: append([]shell.Cell{cells[0], site}, cells[1:]...)}
	})
	if err != nil || data == nil {
		return err
	}
	return v.Show(p.Pages, "members.html", shell.Page{
		Title: "People", Menu: "/people", Data: data, Acts: []shell.Link{{Text: "Invite an operator", Href: everybodyPath + "/invite"}},
	})
}

func (p *pages) inviteOperator(v *shell.Visit) error {
	if ok, err := v.NeedsProof(); !ok || err != nil {
		return err
	}
	form := shell.Filled()
	if v.R.Method == http.MethodPost {
		var err error
		if form, err = v.Form(); err != nil {
			return err
		}
		in := travel.UserFields{Username: form.Get("username"), Email: form.Get("email"), DisplayName: form.Get("display_name")}
		user, secret, err := p.app.Links.Invite(v.R.Context(), v.Actor, in, auth.Operator, false)
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return p.invited(v, user, secret, everybodyPath, "/people")
		}
	}
	return v.Show(p.Pages, "invite.html", shell.Page{
		Title: "Invite an operator", Menu: "/people", Path: []shell.Link{{Text: "People", Href: everybodyPath}}, Data: inviting{form, true, everybodyPath, ""},
	})
}

// maxSitesOfPerson is how many sites of a person are shown.
const maxSitesOfPerson = 100

// readPerson reads a user, with a row for each of their sites.
func (p *pages) readPerson(v *shell.Visit) ([]identity.UserRow, error) {
	id, err := v.ID("id")
	if err != nil {
		return nil, err
	}
	page := travel.Page{Number: 1, Size: maxSitesOfPerson, Offset: -1}
	list, err := p.app.Accounts.List(v.R.Context(), v.Actor, identity.UserFilter{UserID: id}, page)
	if err == nil && len(list.Items) == 0 {
		err = noPerson()
	}
	return list.Items, err
}

func (p *pages) person(v *shell.Visit) error {
	rows, err := p.readPerson(v)
	if err != nil {
		return err
	}
	u := rows[0]
	t := shell.Table{
		Name: "sites", Caption: "Sites on which they may act", Columns: []shell.Column{
			{Name: "site", Title: "Site"}, {Name: "role", Title: "Role"}, {Name: "can_sign_off_payout", Title: "Signs off payouts"},
		},
		Empty: shell.Empty{Title: "No site", Text: "A site's manager can invite this person to it, by user name and e-mail address."},
	}
	if u.Operator {
		t.Empty = shell.Empty{Title: "All sites", Text: "An operator may act on every site."}
	}
	for _, r := range rows {
		if r.SitePath != "" {
			t.Rows = append(t.Rows, shell.Row{Href: shell.Path + "/sites/" + r.SitePath + membersBelow + "/" + idText(u.ID), Cells: []shell.Cell{
				shell.Words(r.SitePath), {Text: shell.Say(r.Membership.Role), Plain: string(r.Membership.Role)}, shell.YesNo(r.Membership.CanSignOffPayout),
			}})
		}
	}
	made := v.Table(t)
	if sent, err := v.File(made); sent || err != nil {
		return err
	}
	return v.Show(p.Pages, "person.html", shell.Page{
		Title: cmp.Or(u.DisplayName, u.Username), Menu: "/people", Path: []shell.Link{{Text: "People", Href: everybodyPath}}, Data: struct {
			Facts        []shell.Fact
			Sites        *shell.Table
			Below        string
			Wait, Second bool
		}{userFacts(u), made, everybodyPath + "/" + idText(u.ID), u.Operator && auth.NoPassword(u.PasswordHash), !u.TwoFactorConfirmedAt.IsZero()},
	})
}

func (p *pages) inviteOperatorAgain(v *shell.Visit) error {
	rows, err := p.readPerson(v)
	if err != nil {
		return err
	}
	if ok, err := v.NeedsProof(); !ok || err != nil {
		return err
	}
	user, secret, err := p.app.Links.InviteAgain(v.R.Context(), v.Actor, rows[0].ID)
	if err != nil {
		return err
	}
	return p.invited(v, user, secret, everybodyPath, "/people")
}

// liftSecondFactor removes the second factor of somebody who has lost it together with the recovery codes.
func (p *pages) liftSecondFactor(v *shell.Visit) error {
	rows, err := p.readPerson(v)
	if err != nil {
		return err
	}
	if ok, err := v.NeedsProof(); !ok || err != nil {
		return err
	}
	u, name := rows[0], cmp.Or(rows[0].DisplayName, rows[0].Username)
	back := everybodyPath + "/" + idText(u.ID)
	if v.R.Method == http.MethodPost {
		if err := p.app.Accounts.RemoveTwoFactor(v.R.Context(), v.Actor, u.ID); err != nil {
			return err
		}
		return v.Done(back, "%s now signs in with the password alone.", name)
	}
	return v.Confirm(shell.Confirmation{
		Title: "Remove the second factor of " + name + "?", Act: "Remove it", Harm: true, Back: back, Text: []string{
			"Do this only if " + name + " has lost it together with the recovery codes, and you are certain who asks you.",
			"They then sign in with the password alone, and can set up another second factor.",
		},
	}, shell.Page{Menu: "/people", Path: []shell.Link{{Text: "People", Href: everybodyPath}}})
}
