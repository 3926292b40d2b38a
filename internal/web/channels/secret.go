package channels

import (
	"net/http"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/web/kit"
)

// secret shows a merchant's secret, after the password is entered again.
func (p *pages) secret(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	c, err := p.app.Channels.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	return p.showSecret(v, c)
}

func (p *pages) showSecret(v *kit.Visit, c merchant.Channel) error {
	secret, err := p.app.Channels.Secret(c)
	if err != nil {
		return err
	}
	var acts []kit.Link
	if v.Can(access.SetChannelTerms) {
		acts = append(acts, kit.Link{Text: "Rotate secret", Href: at(v, c.ID, "/secret/new"), Plain: true})
	}
	return v.Show(p.Pages, "secret.html", kit.Page{
		Title: "Secret of " + c.Name, Menu: menu, Path: above(v, c.ID, c.Name), Acts: acts,
		Data: struct{ Secret, Back string }{secret, at(v, c.ID, "/integration")},
	})
}

// rotateSecret rotates a merchant's secret, after a confirmation.
func (p *pages) rotateSecret(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	if v.R.Method == http.MethodPost {
		changed, err := p.app.Channels.RotateSecret(v.R.Context(), v.Actor, id, 0)
		if err != nil {
			return err
		}
		return p.showSecret(v, changed)
	}
	c, err := p.app.Channels.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	return v.Confirm(kit.Confirmation{
		Title: "Rotate the secret of " + c.Name + "?", Act: "Rotate secret", Harm: true, Back: at(v, id, "/secret"),
		Text: []string{
			"The current secret stops working immediately. The payment modal does not open until the merchant's server signs with the new secret.",
			"Transaction hashes change too.",
		},
	}, kit.Page{Menu: menu, Path: above(v, id, c.Name)})
}
