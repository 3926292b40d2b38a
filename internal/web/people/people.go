// Package people serves the dashboard pages where people sign in, manage their account and give others access. Start
// reading at Add.
package people

import (
	"embed"
	"net/http"

	"holdfast/internal/app"
	"holdfast/internal/errs"
	"holdfast/internal/web/kit"
)

//go:embed pages
var files embed.FS

// pages are the handlers of this package.
type pages struct {
	app   *app.App
	frame *kit.Frame
	kit.Pages
}

// Add adds the pages to a frame.
func Add(f *kit.Frame, a *app.App) error {
	templates, err := f.Pages(files)
	if err != nil {
		return err
	}
	p := &pages{a, f, templates}
	f.Open("GET /sign-in", p.signIn)
	f.Open("POST /sign-in", p.signIn)
	f.Open("GET /forgotten", p.forgotten)
	f.Open("POST /forgotten", p.forgotten)
	f.Open("GET /password/{secret}", p.openLink)
	f.Open("GET /password", p.link)
	f.Open("POST /password", p.link)
	f.Own("POST /sign-out", p.signOut)
	f.Own("GET /prove", p.prove)
	f.Own("POST /prove", p.prove)
	f.Own("GET /{$}", p.start)
	p.addAccount(f)
	p.addMembers(f)
	p.addOffice(f)
	return nil
}

// start redirects to the user's only site, or lists all of them.
func (p *pages) start(v *kit.Visit) error {
	sites, total, err := p.app.SignIns.Sites(v.R.Context(), v.Visit)
	switch {
	case err != nil:
		return err
	case total == 1 && !v.Operator():
		return v.Go(kit.Path + "/sites/" + sites[0].Path)
	case v.Operator():
		return v.Go(kit.Path + "/sites")
	}
	return v.Show(p.Pages, "start.html", kit.Page{Title: "Your sites", Data: sites})
}

func (p *pages) signIn(v *kit.Visit) error {
	form := kit.Filled("back", v.Query("back"), "username", v.Query("username"))
	if v.R.Method == http.MethodPost {
		var err error
		if form, err = v.Form(); err != nil {
			return err
		}
		err = p.frame.SignIn(v, form.Get("username"), form.Values.Get("password"), form.Get("code"))
		if errs.Is(err, errs.TwoFactorRequired) {
			form.Problems = map[string]string{}
			return v.Show(p.Pages, "signin.html", kit.Page{Title: "Sign in", Data: signingIn{form, true}})
		}
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return v.Go(p.frame.Local(form.Get("back")))
		}
		return v.Show(p.Pages, "signin.html", kit.Page{Title: "Sign in", Data: signingIn{form, form.Get("code") != ""}})
	}
	return v.Show(p.Pages, "signin.html", kit.Page{Title: "Sign in", Data: signingIn{form, false}})
}

// signingIn is the data of the sign-in page. With Second it asks for the second factor's code.
type signingIn struct {
	Form   *kit.Form
	Second bool
}

func (p *pages) signOut(v *kit.Visit) error {
	if err := p.frame.SignOut(v); err != nil {
		return err
	}
	return v.Done(kit.Path+"/sign-in", "You are signed out.")
}

// prove asks for the password again before actions that a stranger at an unlocked browser must not perform.
func (p *pages) prove(v *kit.Visit) error {
	form := kit.Filled("back", v.Query("back"))
	if v.R.Method == http.MethodPost {
		var err error
		if form, err = v.Form(); err != nil {
			return err
		}
		ok, err := v.Took(form, p.frame.Prove(v, form.Values.Get("password"), form.Get("code")))
		if err != nil {
			return err
		} else if ok {
			return v.Go(p.frame.Local(form.Get("back")))
		}
	}
	return v.Show(p.Pages, "prove.html", kit.Page{Title: "Confirm your password", Data: struct {
		Form   *kit.Form
		Second bool
	}{form, !v.User.TwoFactorConfirmedAt.IsZero()}})
}
