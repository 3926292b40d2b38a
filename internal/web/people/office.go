package people

import (
	"cmp"
	"net/http"
	"strconv"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

// addOffice adds the pages for all people of the deployment.
func (p *pages) addOffice(f *kit.Frame) {
	f.Office("GET /people", access.ManageUsers, p.everybody)
	f.Office("GET /people/invite", access.ManageUsers, p.inviteOperator)
	f.Office("POST /people/invite", access.ManageUsers, p.inviteOperator)
	f.Office("GET /people/{id}", access.ManageUsers, p.person)
	f.Office("POST /people/{id}/invite", access.ManageUsers, p.inviteOperatorAgain)
	f.Office("GET /people/{id}/second-factor", access.ManageUsers, p.liftSecondFactor)
	f.Office("POST /people/{id}/second-factor", access.ManageUsers, p.liftSecondFactor)
}

const everybodyPath = kit.Path + "/people"

func idText(id int64) string { return strconv.FormatInt(id, 10) }

func noPerson() error { return errs.New(errs.NoRoute, "Person not found.") }

func (p *pages) everybody(v *kit.Visit) error {
	t := kit.Table{
		Name: "people", Caption: "People who can sign in, one row per site",
		Columns: append([]kit.Column{userColumns[0], {Name: "site", Title: "Site"}}, userColumns[1:]...),
		Empty:   kit.Empty{Title: "No people found", Text: "Invite an operator here, or a person on a site's People page."},
	}
	data, err := p.readUsers(v, people.UserFilter{}, &t, func(u people.UserRow) kit.Row {
		site := kit.Words("")
		if u.SitePath != "" {
			site = kit.Linked(u.SitePath, kit.Path+"/sites/"+u.SitePath+membersBelow)
		}
		cells := userCells(u)
		return kit.Row{Href: everybodyPath + "/" + idText(u.ID), Cells: append([]kit.Cell{cells[0], site}, cells[1:]...)}
	})
	if err != nil || data == nil {
		return err
	}
	return v.Show(p.Pages, "members.html", kit.Page{
		Title: "People", Menu: "/people", Data: data, Acts: []kit.Link{{Text: "Invite an operator", Href: everybodyPath + "/invite"}},
	})
}

func (p *pages) inviteOperator(v *kit.Visit) error {
	if ok, err := v.NeedsProof(); !ok || err != nil {
		return err
	}
	form := kit.Filled()
	if v.R.Method == http.MethodPost {
		var err error
		if form, err = v.Form(); err != nil {
			return err
		}
		in := people.UserFields{Username: form.Get("username"), Email: form.Get("email"), DisplayName: form.Get("display_name")}
		user, secret, err := p.app.Links.Invite(v.R.Context(), v.Actor, in, access.Operator, false)
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return p.invited(v, user, secret, everybodyPath, "/people")
		}
	}
	return v.Show(p.Pages, "invite.html", kit.Page{
		Title: "Invite an operator", Menu: "/people", Path: []kit.Link{{Text: "People", Href: everybodyPath}}, Data: inviting{form, true, everybodyPath, ""},
	})
}

// maxSitesOfPerson is the maximum number of sites shown per person.
const maxSitesOfPerson = 100

// readPerson reads a user, with a row per site.
func (p *pages) readPerson(v *kit.Visit) ([]people.UserRow, error) {
	id, err := v.ID("id")
	if err != nil {
		return nil, err
	}
	page := store.Page{Number: 1, Size: maxSitesOfPerson, Offset: -1}
	list, err := p.app.Accounts.List(v.R.Context(), v.Actor, people.UserFilter{UserID: id}, page)
	if err == nil && len(list.Items) == 0 {
		err = noPerson()
	}
	return list.Items, err
}

func (p *pages) person(v *kit.Visit) error {
	rows, err := p.readPerson(v)
	if err != nil {
		return err
	}
	u := rows[0]
	t := kit.Table{
		Name: "sites", Caption: "Sites", Columns: []kit.Column{
			{Name: "site", Title: "Site"}, {Name: "role", Title: "Role"}, {Name: "can_sign_off_payout", Title: "Signs off payouts"},
		},
		Empty: kit.Empty{Title: "No sites", Text: "A site admin can invite this person by user name and e-mail address."},
	}
	if u.Operator {
		t.Empty = kit.Empty{Title: "All sites", Text: "Operators have access to every site."}
	}
	for _, r := range rows {
		if r.SitePath != "" {
			t.Rows = append(t.Rows, kit.Row{Href: kit.Path + "/sites/" + r.SitePath + membersBelow + "/" + idText(u.ID), Cells: []kit.Cell{
				kit.Words(r.SitePath), {Text: kit.Say(r.Membership.Role), Plain: string(r.Membership.Role)}, kit.YesNo(r.Membership.CanSignOffPayout),
			}})
		}
	}
	made := v.Table(t)
	return v.ShowTable(p.Pages, "person.html", made, kit.Page{
		Title: cmp.Or(u.DisplayName, u.Username), Menu: "/people", Path: []kit.Link{{Text: "People", Href: everybodyPath}}, Data: struct {
			Facts        []kit.Fact
			Sites        *kit.Table
			Below        string
			Wait, Second bool
		}{userFacts(u), made, everybodyPath + "/" + idText(u.ID), u.Operator && secrets.NoPassword(u.PasswordHash), !u.TwoFactorConfirmedAt.IsZero()},
	})
}

func (p *pages) inviteOperatorAgain(v *kit.Visit) error {
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

// liftSecondFactor removes the second factor of a person who has lost both it and the recovery codes.
func (p *pages) liftSecondFactor(v *kit.Visit) error {
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
		return v.Done(back, "Second factor removed. %s now signs in with a password alone.", name)
	}
	return v.Confirm(kit.Confirmation{
		Title: "Remove the second factor of " + name + "?", Act: "Remove second factor", Harm: true, Back: back, Text: []string{
			"Only do this if " + name + " has lost both the second factor and the recovery codes, and you are certain who is asking.",
			"They can then sign in with a password alone and set up a new second factor.",
		},
	}, kit.Page{Menu: "/people", Path: []kit.Link{{Text: "People", Href: everybodyPath}}})
}
