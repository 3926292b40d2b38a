package developers

import (
	"strings"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/web/kit"
)

// origins shows the origins that may open the payment modal.
func (p *pages) origins(v *kit.Visit) error {
	form, err := p.filledOrigins(v)
	if err != nil {
		return err
	}
	return p.originsForm(v, form)
}

// filledOrigins returns the form with the stored values.
func (p *pages) filledOrigins(v *kit.Visit) (*kit.Form, error) {
	site, err := p.app.Sites.Get(v.R.Context(), v.Actor, v.Site.ID)
	return kit.Filled("permitted_urls", strings.Join(site.PermittedURLs, "\n"), "version", kit.Ident(site.Version).Plain), err
}

func (p *pages) originsForm(v *kit.Visit, form *kit.Form) error {
	return v.Show(p.Pages, "origins.html", page(v, "Permitted origins", "/developers/origins", struct {
		Form *kit.Form
		May  bool
		Send string
		List []string
	}{form, v.Can(access.WriteSite), v.At("/developers/origins"), strings.Fields(form.Get("permitted_urls"))}))
}

func (p *pages) changeOrigins(v *kit.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	list := r.Items("permitted_urls")
	if list == nil {
		list = &[]string{}
	}
	_, err = p.app.Sites.Change(v.R.Context(), v.Actor, v.Site.ID, merchant.SiteFields{PermittedURLs: list, IfVersion: r.Version()})
	if ok, err := v.TookOver(form, err, func() (*kit.Form, error) { return p.filledOrigins(v) }); err != nil {
		return err
	} else if !ok {
		return p.originsForm(v, form)
	}
	return v.Done(v.At("/developers/origins"), "Permitted origins saved.")
}
