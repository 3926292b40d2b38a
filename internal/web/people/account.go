package people

import (
	"net/http"
	"strings"

	"holdfast/internal/account/sessions"
	"holdfast/internal/errs"
	"holdfast/internal/lib/qr"
	"holdfast/internal/notify/links"
	"holdfast/internal/web/kit"
)

// addAccount adds the account pages.
func (p *pages) addAccount(f *kit.Frame) {
	f.Own("GET /account", p.account)
	f.Own("GET /account/profile", p.profile)
	f.Own("POST /account/profile", p.profile)
	f.Own("GET /account/password", p.password)
	f.Own("POST /account/password", p.password)
	f.Own("GET /account/second-factor", p.secondFactor)
	f.Own("POST /account/second-factor", p.secondFactor)
	f.Own("GET /account/second-factor/confirm", p.confirmSecondFactor)
	f.Own("POST /account/second-factor/confirm", p.confirmSecondFactor)
	f.Own("GET /account/second-factor/remove", p.removeSecondFactor)
	f.Own("POST /account/second-factor/remove", p.removeSecondFactor)
	f.Own("POST /account/browsers/end", p.endBrowser)
	f.Own("POST /account/sign-out", p.endSignIn)
}

const accountPath = kit.Path + "/account"

var aboveAccount = []kit.Link{{Text: "Your account", Href: accountPath}}

// browser is a signed-in browser, as shown on the page.
type browser struct {
	sessions.SignIn
	Name string
	This bool
}

func (p *pages) account(v *kit.Visit) error {
	list, err := p.app.SignIns.List(v.R.Context(), v.Visit)
	if err != nil {
		return err
	}
	second, acts := "None", []kit.Link{{Text: "Set up a second factor", Href: accountPath + "/second-factor"}}
	if !v.User.TwoFactorConfirmedAt.IsZero() {
		second = "Since " + kit.Instant(v.User.TwoFactorConfirmedAt)
		acts = []kit.Link{{Text: "Remove second factor", Href: accountPath + "/second-factor/remove", Plain: true}}
	}
	acts = append(acts, kit.Link{Text: "Edit name and e-mail", Href: accountPath + "/profile", Plain: true})
	acts = append(acts, kit.Link{Text: "Change password", Href: accountPath + "/password", Plain: true})
	data := struct {
		Facts    []kit.Fact
		Browsers []browser
	}{[]kit.Fact{
		{Text: "User name", Value: v.User.Username}, {Text: "Name", Value: v.User.DisplayName}, {Text: "E-mail", Value: v.User.Email},
		{Text: "Second factor", Value: second},
	}, nil}
	for _, s := range list {
		data.Browsers = append(data.Browsers, browser{s, browserName(s.Browser), s.ID == v.SignIn.ID})
	}
	return v.Show(p.Pages, "account.html", kit.Page{Title: "Your account", Acts: acts, Data: data})
}

// browserName returns a short name for a User-Agent. Browsers that also name others come first.
func browserName(agent string) string {
	first := func(pairs ...string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if strings.Contains(agent, pairs[i]) {
				return pairs[i+1]
			}
		}
		return ""
	}
	name := first("Edg", "Edge", "OPR/", "Opera", "SamsungBrowser", "Samsung Internet", "Firefox", "Firefox", "FxiOS", "Firefox",
		"Chrome", "Chrome", "CriOS", "Chrome", "Safari", "Safari")
	system := first("iPhone", "iPhone", "iPad", "iPad", "Android", "Android", "Windows", "Windows", "Mac OS", "Mac", "CrOS", "ChromeOS", "Linux", "Linux")
	switch {
	case name == "":
		return "Unknown browser"
	case system == "":
		return name
	}
	return name + " on " + system
}

// password changes the user's own password.
func (p *pages) password(v *kit.Visit) error {
	form := kit.Filled()
	if v.R.Method == http.MethodPost {
		var err error
		if form, err = v.Form(); err != nil {
			return err
		}
		if err = same(form); err == nil {
			err = oldIsWrong(p.frame.ChangePassword(v, form.Values.Get("old"), form.Get("code"), form.Values.Get("password"), form.Get("tokens") != ""))
		}
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return v.Done(accountPath, "Password changed. You are signed out everywhere else.")
		}
	}
	return v.Show(p.Pages, "password.html", kit.Page{Title: "Change password", Path: aboveAccount, Data: proving{form, !v.User.TwoFactorConfirmedAt.IsZero()}})
}

// profile changes the user's own name and e-mail address, after entering the password. A new address is confirmed by a link.
func (p *pages) profile(v *kit.Visit) error {
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	form := kit.Filled("display_name", v.User.DisplayName, "email", v.User.Email)
	if v.R.Method == http.MethodPost {
		var err error
		if form, err = v.Form(); err != nil {
			return err
		}
		mailed, err := p.app.Links.ChangeProfile(v.R.Context(), v.Visit, links.Profile{Name: form.Get("display_name"), Email: form.Get("email")})
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok && mailed {
			return v.Done(accountPath, "We sent a link to %s. Open it to confirm the new address.", form.Get("email"))
		} else if ok {
			return v.Done(accountPath, "Saved.")
		}
	}
	return v.Show(p.Pages, "profile.html", kit.Page{Title: "Name and e-mail", Path: aboveAccount, Data: form})
}

// proving is a form with the password and, with a second factor, a code.
type proving struct {
	Form   *kit.Form
	Second bool
}

// oldIsWrong shows errors about the current password or code at its field.
func oldIsWrong(err error) error {
	switch {
	case errs.Is(err, errs.LoginFailed):
		return errs.WrongField("old", "Wrong password.")
	case errs.Is(err, errs.TwoFactorRequired), errs.Is(err, errs.TwoFactorInvalid):
		return errs.WrongField("code", "This code is wrong or has already been used.")
	}
	return err
}

// secondFactor explains second factors, and starts setting one up.
func (p *pages) secondFactor(v *kit.Visit) error {
	if ok, err := v.NeedsProof(); !ok || err != nil {
		return err
	}
	if v.R.Method == http.MethodPost {
		if _, _, err := p.app.Accounts.BeginTwoFactor(v.R.Context(), v.Actor, v.User.ID); err != nil {
			return err
		}
		return v.Go(accountPath + "/second-factor/confirm")
	}
	return v.Show(p.Pages, "secondfactor.html", kit.Page{Title: "Second factor", Path: aboveAccount, Data: !v.User.TwoFactorConfirmedAt.IsZero()})
}

// confirmSecondFactor shows the second factor's key, checks the first code, then shows the recovery codes once.
func (p *pages) confirmSecondFactor(v *kit.Visit) error {
	if ok, err := v.NeedsProof(); !ok || err != nil {
		return err
	}
	secret, uri, err := p.app.Accounts.PendingTwoFactor(v.R.Context(), v.Actor, v.User.ID)
	if err != nil {
		return err
	} else if secret == "" {
		return v.Go(accountPath + "/second-factor")
	}
	form := kit.Filled()
	if v.R.Method == http.MethodPost {
		if form, err = v.Form(); err != nil {
			return err
		}
		codes, err := p.frame.ConfirmSecondFactor(v, form.Get("code"))
		if ok, err := v.Took(form, oldIsWrong(err)); err != nil {
			return err
		} else if ok {
			return v.Show(p.Pages, "recovery.html", kit.Page{Title: "Your recovery codes", Path: aboveAccount, Data: codes})
		}
	}
	code, err := qr.Of(uri)
	if err != nil {
		return err
	}
	return v.Show(p.Pages, "confirm.html", kit.Page{Title: "Set up a second factor", Path: aboveAccount, Data: struct {
		Form *kit.Form
		QR   qr.Code
		Key  string
	}{form, code, grouped(secret)}})
}

// grouped formats a key in groups of four, for typing.
func grouped(key string) string {
	var groups []string
	for ; len(key) > 4; key = key[4:] {
		groups = append(groups, key[:4])
	}
	return strings.Join(append(groups, key), " ")
}

// removeSecondFactor removes the user's own second factor, after checking the password and a code.
func (p *pages) removeSecondFactor(v *kit.Visit) error {
	if v.User.TwoFactorConfirmedAt.IsZero() {
		return v.Go(accountPath)
	}
	form := kit.Filled()
	if v.R.Method == http.MethodPost {
		var err error
		if form, err = v.Form(); err != nil {
			return err
		}
		err = oldIsWrong(p.frame.RemoveSecondFactor(v, form.Values.Get("old"), form.Get("code")))
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return v.Done(accountPath, "Second factor removed. You now sign in with your password alone.")
		}
	}
	return v.Show(p.Pages, "removefactor.html", kit.Page{Title: "Remove second factor", Path: aboveAccount, Data: proving{form, true}})
}

// endBrowser signs out one browser.
func (p *pages) endBrowser(v *kit.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	if err := p.app.SignIns.SignOut(v.R.Context(), v.Visit, form.Get("id")); err != nil {
		return err
	}
	return v.Done(accountPath, "Browser signed out.")
}

// endSignIn signs out all browsers.
func (p *pages) endSignIn(v *kit.Visit) error {
	if err := p.app.SignIns.SignOutEverywhere(v.R.Context(), v.Visit); err != nil {
		return err
	}
	return v.Done(kit.Path+"/sign-in", "You are signed out everywhere.")
}
