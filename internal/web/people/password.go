package people

import (
	"net/http"
	"net/url"

	"holdfast/internal/account/people"
	"holdfast/internal/errs"
	"holdfast/internal/notify/links"
	"holdfast/internal/web/kit"
)

// forgotten handles password reset requests. The response is the same for every name.
func (p *pages) forgotten(v *kit.Visit) error {
	type view struct {
		Form         *kit.Form
		Mails, Asked bool
	}
	data := view{Form: kit.Filled(), Mails: p.app.Mails.Sends()}
	page := kit.Page{Title: "Reset your password"}
	if v.R.Method == http.MethodPost && data.Mails {
		var err error
		if data.Form, err = v.Form(); err != nil {
			return err
		}
		if data.Asked, err = v.Took(data.Form, p.app.Links.Ask(v.R.Context(), data.Form.Get("name"), v.Address)); err != nil {
			return err
		}
	}
	page.Data = data
	return v.Show(p.Pages, "forgotten.html", page)
}

// openLink stores a one-time link's secret without checking it.
func (p *pages) openLink(v *kit.Visit) error { return v.KeepLink(v.R.PathValue("secret")) }

// link shows what a one-time link is for: choosing a password, or accepting access to another site.
func (p *pages) link(v *kit.Visit) error {
	secret := v.KeptLink()
	found, err := p.app.Links.Look(v.R.Context(), secret)
	if errs.Is(err, errs.SettingNotFound) {
		v.ForgetLink()
		v.Status(http.StatusNotFound)
		return v.Show(p.Pages, "link.html", kit.Page{Title: "This link has expired"})
	} else if err != nil {
		return err
	}
	form := kit.Filled("username", found.User.Username)
	if v.R.Method == http.MethodPost {
		if form, err = v.Form(); err != nil {
			return err
		}
		ok, err := v.Took(form, p.useLink(v, found, secret, form))
		if err != nil {
			return err
		} else if ok {
			v.ForgetLink()
			switch found.Kind {
			case people.Access:
				return v.Go(kit.Path + "/sites/" + found.Site.Path)
			case people.Address:
				return v.Done(accountPath, "Your e-mail address is now %s.", found.NewAddress)
			}
			name := found.Chosen(form.Get("username"))
			return v.Done(kit.Path+"/sign-in?username="+url.QueryEscape(name), "Password set for %s. Sign in with it.", name)
		}
	}
	return v.Show(p.Pages, "link.html", kit.Page{Title: linkTitles[found.Kind], Data: struct {
		links.OpenLink
		Form *kit.Form
	}{found, form}})
}

var linkTitles = map[people.LinkKind]string{
	people.Invitation: "Choose a user name and a password", people.Reset: "Choose a new password", people.Access: "You have access",
	people.Address: "Your new e-mail address",
}

func (p *pages) useLink(v *kit.Visit, found links.OpenLink, secret string, form *kit.Form) error {
	switch found.Kind {
	case people.Access:
		return p.app.Links.Accept(v.R.Context(), secret)
	case people.Address:
		return p.app.Links.Confirm(v.R.Context(), secret, v.Address)
	}
	if err := same(form); err != nil {
		return err
	}
	return p.app.Links.Choose(v.R.Context(), secret, form.Get("username"), form.Values.Get("password"), v.Address)
}

// same rejects a new password if the confirmation differs.
func same(form *kit.Form) error {
	if form.Values.Get("password") != form.Values.Get("again") {
		return errs.WrongField("again", "The passwords do not match.")
	}
	return nil
}
