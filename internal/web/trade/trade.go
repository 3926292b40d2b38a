// Package trade serves the dashboard pages about a site's sales: overview, bookings, payments, search and
// imports. Start reading at Add.
package trade

import (
	"embed"

	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/lib/limiter"
	"holdfast/internal/web/kit"
)

//go:embed pages
var files embed.FS

// pages are the handlers of this package.
type pages struct {
	app   *app.App
	frame *kit.Frame
	kit.Pages
	readings *limiter.Limiter // see cellsOf
}

// Add adds the pages to a frame.
func Add(f *kit.Frame, a *app.App) error {
	templates, err := f.Pages(files)
	if err != nil {
		return err
	}
	p := &pages{a, f, templates, limiter.New(limiter.Bounds{Places: readings, Queue: readingsWaiting})}
	f.Site("GET /{$}", access.Read, p.overview)
	f.Site("GET ", access.Read, p.overview)
	f.Site("GET /bookings", access.Read, p.bookings)
	f.Site("GET /bookings/new", access.WriteBookings, p.newBooking)
	f.Site("POST /bookings/new", access.WriteBookings, p.newBooking)
	f.Site("GET /bookings/{id}", access.Read, p.booking)
	f.Site("GET /bookings/{id}/edit", access.WriteBookings, p.editBooking)
	f.Site("POST /bookings/{id}/edit", access.WriteBookings, p.editBooking)
	f.Site("GET /bookings/{id}/delete", access.WriteBookings, p.deleteBooking)
	f.Site("POST /bookings/{id}/delete", access.WriteBookings, p.deleteBooking)
	f.Site("GET /bookings/{id}/certificate", access.Read, p.certificate)
	f.Site("GET /bookings/{id}/certificate/revoke", access.WriteBookings, p.revokeCertificate)
	f.Site("POST /bookings/{id}/certificate/revoke", access.WriteBookings, p.revokeCertificate)
	f.Site("GET /bookings/import", access.ImportBooks, p.imports)
	f.Site("POST /bookings/import", access.ImportBooks, p.imports)
	f.Site("GET /imports/{id}", access.ImportBooks, p.importFile)
	f.Site("GET /imports/{id}/refused", access.ImportBooks, p.refusedRows)
	f.Site("POST /imports/{id}/confirm", access.ImportBooks, p.confirmImport)
	f.Site("GET /imports/{id}/discard", access.ImportBooks, p.discardImport)
	f.Site("POST /imports/{id}/discard", access.ImportBooks, p.discardImport)
	f.Site("GET /payments", access.Read, p.payments)
	f.Site("GET /payments/{id}", access.Read, p.payment)
	f.Site("GET /search", access.Read, p.search)
	for _, pattern := range []string{"GET /bookings/{id}/pay", "POST /bookings/{id}/pay"} {
		f.Site(pattern, access.WriteTransactions, p.logged(p.pay))
	}
	for _, kind := range []payment.TransactionType{payment.Refund, payment.Capture, payment.Void} {
		f.Site("GET /payments/{id}/"+string(kind), access.WriteTransactions, p.logged(p.adjusting(kind)))
		f.Site("POST /payments/{id}/"+string(kind), access.WriteTransactions, p.logged(p.adjusting(kind)))
	}
	for _, kind := range []payment.TransactionType{payment.Chargeback, payment.ChargebackReversal, payment.Prevented} {
		f.Site("GET /payments/{id}/"+string(kind), access.RecordChargebacks, p.adjusting(kind))
		f.Site("POST /payments/{id}/"+string(kind), access.RecordChargebacks, p.adjusting(kind))
	}
	return nil
}

// logged guards pages that log payments taken elsewhere. Where this service takes payments itself, it needs the card, which
// no dashboard page asks for.
func (p *pages) logged(h kit.Handler) kit.Handler {
	return func(v *kit.Visit) error {
		if p.app.Payments.Profile.Processes() {
			return errs.New(errs.NoRoute, "Payments are taken through the API here and cannot be logged in the dashboard.")
		}
		return h(v)
	}
}
