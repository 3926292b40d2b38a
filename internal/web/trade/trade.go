// Package trade serves the pages of the dashboard about what a site sells: the overview, bookings, payments, the search and
// imports. Begin reading at Add.
package trade

import (
	"embed"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
	"holdfast/internal/web/shell"
)

//go:embed pages
var files embed.FS

// pages are the handlers of this package.
type pages struct {
	app   *app.App
	frame *shell.Frame
	shell.Pages
	readings chan struct{} // see cellsOf
}

// Add adds the pages to a frame.
func Add(f *shell.Frame, a *app.App) error {
	templates, err := f.Pages(files)
	if err != nil {
		return err
	}
	p := &pages{a, f, templates, make(chan struct{}, readings)}
	f.Site("GET /{$}", auth.Read, p.overview)
	f.Site("GET ", auth.Read, p.overview)
	f.Site("GET /bookings", auth.Read, p.bookings)
	f.Site("GET /bookings/new", auth.WriteBookings, p.newBooking)
	f.Site("POST /bookings/new", auth.WriteBookings, p.newBooking)
	f.Site("GET /bookings/{id}", auth.Read, p.booking)
	f.Site("GET /bookings/{id}/edit", auth.WriteBookings, p.editBooking)
	f.Site("POST /bookings/{id}/edit", auth.WriteBookings, p.editBooking)
	f.Site("GET /bookings/{id}/delete", auth.WriteBookings, p.deleteBooking)
	f.Site("POST /bookings/{id}/delete", auth.WriteBookings, p.deleteBooking)
	f.Site("GET /bookings/{id}/certificate", auth.Read, p.certificate)
	f.Site("GET /bookings/{id}/certificate/revoke", auth.WriteBookings, p.revokeCertificate)
	f.Site("POST /bookings/{id}/certificate/revoke", auth.WriteBookings, p.revokeCertificate)
	f.Site("GET /bookings/import", auth.ImportBooks, p.imports)
	f.Site("POST /bookings/import", auth.ImportBooks, p.imports)
	f.Site("GET /imports/{id}", auth.ImportBooks, p.importFile)
	f.Site("GET /imports/{id}/refused", auth.ImportBooks, p.refusedRows)
	f.Site("POST /imports/{id}/confirm", auth.ImportBooks, p.confirmImport)
	f.Site("GET /imports/{id}/discard", auth.ImportBooks, p.discardImport)
	f.Site("POST /imports/{id}/discard", auth.ImportBooks, p.discardImport)
	f.Site("GET /payments", auth.Read, p.payments)
	f.Site("GET /payments/{id}", auth.Read, p.payment)
	f.Site("GET /search", auth.Read, p.search)
	for _, pattern := range []string{"GET /bookings/{id}/pay", "POST /bookings/{id}/pay"} {
		f.Site(pattern, auth.WriteTransactions, p.logged(p.pay))
	}
	for _, kind := range []travel.TransactionType{travel.Refund, travel.Capture, travel.Void} {
		f.Site("GET /payments/{id}/"+string(kind), auth.WriteTransactions, p.logged(p.adjusting(kind)))
		f.Site("POST /payments/{id}/"+string(kind), auth.WriteTransactions, p.logged(p.adjusting(kind)))
	}
	for _, kind := range []travel.TransactionType{travel.Chargeback, travel.ChargebackReversal} {
		f.Site("GET /payments/{id}/"+string(kind), auth.RecordChargebacks, p.adjusting(kind))
		f.Site("POST /payments/{id}/"+string(kind), auth.RecordChargebacks, p.adjusting(kind))
	}
	return nil
}

// logged is a page on which payments are logged that were taken elsewhere. Where this service takes payments itself, it needs the
// card, which no page of the dashboard asks for.
func (p *pages) logged(h shell.Handler) shell.Handler {
	return func(v *shell.Visit) error {
		if p.app.Payments.Profile.Processes() {
			return fault.New(fault.NoRoute, "Payments are taken over the API here, and not logged on this page.")
		}
		return h(v)
	}
}
