// Package channels serves the pages of the dashboard about channels and what belongs to one: asking for protection, its secret,
// its integration and its settings; suppliers; and statements. Begin reading at Add.
package channels

import (
	"embed"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/web/shell"
)

//go:embed pages
var files embed.FS

// pages are the handlers of this package.
type pages struct {
	app   *app.App
	frame *shell.Frame
	shell.Pages
}

// The entries of the side bar to which the pages belong.
const (
	menu           = "/channels"
	statementsMenu = "/statements"
	settingsMenu   = "/settings"
)

// Add adds the pages to a frame.
func Add(f *shell.Frame, a *app.App) error {
	templates, err := f.Pages(files)
	if err != nil {
		return err
	}
	p := &pages{a, f, templates}
	f.Site("GET /channels", auth.Read, p.channels)
	f.Site("GET /channels/new", auth.WriteChannels, p.newChannel)
	f.Site("POST /channels", auth.WriteChannels, p.makeChannel)
	f.Site("GET /channels/{id}/settings", auth.Read, p.settings)
	f.Site("POST /channels/{id}/settings", auth.WriteChannels, p.changeChannel)
	f.Site("GET /channels/{id}/gateway", auth.SetChannelTerms, p.gateway)
	f.Site("POST /channels/{id}/gateway", auth.SetChannelTerms, p.gateway)
	f.Site("GET /channels/{id}/delete", auth.WriteChannels, p.deleteChannel)
	f.Site("POST /channels/{id}/delete", auth.WriteChannels, p.deleteChannel)
	f.Site("GET /channels/{id}/secret", auth.SeeChannelSecret, p.secret)
	f.Site("GET /channels/{id}/secret/new", auth.SetChannelTerms, p.rotateSecret)
	f.Site("POST /channels/{id}/secret/new", auth.SetChannelTerms, p.rotateSecret)
	f.Site("GET /channels/{id}/integration", auth.Read, p.integration)

	f.Site("GET /channels/{id}/protection", auth.Read, p.protection)
	f.Site("POST /channels/{id}/protection", auth.WriteChannels, p.ask)
	f.Site("POST /channels/{id}/protection/take-back", auth.WriteChannels, p.takeBack)
	f.Site("GET /channels/{id}/protection/discard", auth.WriteChannels, p.discard)
	f.Site("POST /channels/{id}/protection/discard", auth.WriteChannels, p.discard)
	f.Site("POST /channels/{id}/protection/documents", auth.WriteChannels, p.attach)
	f.Site("GET /channels/{id}/protection/documents/{document}", auth.Read, p.document)
	f.Site("POST /channels/{id}/protection/documents/{document}/delete", auth.WriteChannels, p.detach)
	f.Site("POST /channels/{id}/protection/answer", auth.SetChannelMode, p.answer)

	f.Site("GET /statements", auth.ReadStatements, p.statements)
	f.Site("GET /statements/{id}", auth.ReadStatements, p.statement)
	f.Site("GET /statements/{id}/pdf", auth.ReadStatements, p.statementPDF)
	f.Site("GET /statements/{id}/csv", auth.ReadStatements, p.statementCSV)
	f.Site("GET /statements/{id}/pay", auth.RecordStatementPayments, p.pay)
	f.Site("POST /statements/{id}/pay", auth.RecordStatementPayments, p.pay)

	f.Site("GET /settings/suppliers", auth.Read, p.suppliers)
	f.Site("GET /settings/suppliers/new", auth.WriteSuppliers, p.newSupplier)
	f.Site("POST /settings/suppliers", auth.WriteSuppliers, p.makeSupplier)
	f.Site("GET /settings/suppliers/{id}", auth.Read, p.supplier)
	f.Site("POST /settings/suppliers/{id}", auth.WriteSuppliers, p.changeSupplier)
	f.Site("GET /settings/suppliers/{id}/delete", auth.WriteSuppliers, p.deleteSupplier)
	f.Site("POST /settings/suppliers/{id}/delete", auth.WriteSuppliers, p.deleteSupplier)
	return nil
}

// above leads from a page of a channel to the list and, with a name, to the channel.
func above(v *shell.Visit, id int64, name string) []shell.Link {
	path := []shell.Link{{Text: "Channels", Href: v.At("/channels")}}
	if name != "" {
		path = append(path, shell.Link{Text: name, Href: at(v, id, "/settings")})
	}
	return path
}

// at is an address below that of a channel.
func at(v *shell.Visit, id int64, below string) string {
	return v.At("/channels/" + shell.Ident(id).Plain + below)
}
