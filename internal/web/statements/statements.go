// Package statements serves the dashboard pages about premium: statements and their payments, bordereaux, and the underwriting
// contracts that bordereaux name. Start reading at Add.
package statements

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

// menu is the sidebar entry of these pages.
const menu = "/statements"

// Add adds the pages to a frame.
func Add(f *kit.Frame, a *app.App) error {
	templates, err := f.Pages(files)
	if err != nil {
		return err
	}
	p := &pages{a, f, templates}
	f.Site("GET /statements", access.ReadStatements, p.statements)
	f.Site("GET /statements/{id}", access.ReadStatements, p.statement)
	f.Site("GET /statements/{id}/pdf", access.ReadStatements, p.statementPDF)
	f.Site("GET /statements/{id}/csv", access.ReadStatements, p.statementCSV)
	f.Site("GET /statements/{id}/pay", access.RecordStatementPayments, p.pay)
	f.Site("POST /statements/{id}/pay", access.RecordStatementPayments, p.pay)
	f.Site("GET /statements/bordereaux", access.ReadStatements, p.bordereau)
	f.Site("GET /statements/contracts", access.ReadStatements, p.contracts)
	f.Site("POST /statements/contracts", access.WritePolicies, p.setContract)
	return nil
}
