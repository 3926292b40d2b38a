// Package channels serves the dashboard pages about merchants: protection requests, secrets,
// integration and settings; also suppliers. Start reading at Add.
package channels

import (
	"embed"

	"holdfast/internal/app"
	"holdfast/internal/domain/access"
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

// The sidebar entries of the pages.
const (
	menu         = "/channels"
	settingsMenu = "/settings"
)

// Add adds the pages to a frame.
func Add(f *kit.Frame, a *app.App) error {
	templates, err := f.Pages(files)
	if err != nil {
		return err
	}
	p := &pages{a, f, templates}
	f.Site("GET /channels", access.Read, p.channels)
	f.Site("GET /channels/new", access.WriteChannels, p.newChannel)
	f.Site("POST /channels", access.WriteChannels, p.makeChannel)
	f.Site("GET /channels/{id}", access.Read, p.channel)
	f.Site("GET /channels/{id}/settings", access.Read, p.settings)
	f.Site("POST /channels/{id}/settings", access.WriteChannels, p.changeChannel)
	f.Site("GET /channels/{id}/gateway", access.SetChannelTerms, p.gateway)
	f.Site("POST /channels/{id}/gateway", access.SetChannelTerms, p.gateway)
	f.Site("GET /channels/{id}/delete", access.WriteChannels, p.deleteChannel)
	f.Site("POST /channels/{id}/delete", access.WriteChannels, p.deleteChannel)
	f.Site("GET /channels/{id}/secret", access.SeeChannelSecret, p.secret)
	f.Site("GET /channels/{id}/secret/new", access.SetChannelTerms, p.rotateSecret)
	f.Site("POST /channels/{id}/secret/new", access.SetChannelTerms, p.rotateSecret)
	f.Site("GET /channels/{id}/integration", access.Read, p.integration)

	f.Site("GET /channels/{id}/protection", access.Read, p.protection)
	f.Site("POST /channels/{id}/protection", access.WriteChannels, p.ask)
	f.Site("POST /channels/{id}/protection/take-back", access.WriteChannels, p.takeBack)
	f.Site("GET /channels/{id}/protection/discard", access.WriteChannels, p.discard)
	f.Site("POST /channels/{id}/protection/discard", access.WriteChannels, p.discard)
	f.Site("POST /channels/{id}/protection/documents", access.WriteChannels, p.attach)
	f.Site("GET /channels/{id}/protection/documents/{document}", access.Read, p.document)
	f.Site("POST /channels/{id}/protection/documents/{document}/delete", access.WriteChannels, p.detach)
	f.Site("POST /channels/{id}/protection/answer", access.SetChannelMode, p.answer)

	f.Site("GET /suppliers", access.Read, p.suppliers)
	f.Site("GET /suppliers/new", access.WriteSuppliers, p.newSupplier)
	f.Site("POST /suppliers", access.WriteSuppliers, p.makeSupplier)
	f.Site("GET /suppliers/{id}", access.Read, p.supplier)
	f.Site("POST /suppliers/{id}", access.WriteSuppliers, p.changeSupplier)
	f.Site("GET /suppliers/{id}/delete", access.WriteSuppliers, p.deleteSupplier)
	f.Site("POST /suppliers/{id}/delete", access.WriteSuppliers, p.deleteSupplier)
	return nil
}

// channel opens a merchant at the first of its tabs.
func (p *pages) channel(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	first := v.At("/exposure/merchants/" + kit.Ident(id).Plain)
	if q := v.R.URL.RawQuery; q != "" {
		first += "?" + q
	}
	return v.Go(first)
}

// above is the breadcrumb trail of a merchant's page: the list and, with a name, the merchant.
func above(v *kit.Visit, id int64, name string) []kit.Link {
	path := []kit.Link{{Text: "Merchants", Href: v.At("/channels")}}
	if name != "" {
		path = append(path, kit.Link{Text: name, Href: at(v, id, "/settings")})
	}
	return path
}

// at returns a URL below the merchant's.
func at(v *kit.Visit, id int64, below string) string {
	return v.At("/channels/" + kit.Ident(id).Plain + below)
}
