package trade

import (
	"net/http"

	"holdfast/internal/book/certificates"
	"holdfast/internal/domain/access"
	"holdfast/internal/web/kit"
)

// certificatePage is the data of a certificate's page.
type certificatePage struct {
	Link   string
	Facts  []kit.Fact
	Revoke string // URL, if permitted
}

// certificate shows the link to a booking's certificate. The first visit to this page creates it.
func (p *pages) certificate(v *kit.Visit) error {
	b, err := p.bookingOf(v)
	if err != nil {
		return err
	}
	found, err := p.app.Certificates.Of(v.R.Context(), v.Actor, b.ID)
	if err != nil {
		return err
	}
	data := certificatePage{Link: certificates.Link(p.frame.Base, found.Key), Facts: []kit.Fact{
		{Text: "Status", Value: kit.Say(string(found.State))}, {Text: "Protected", Value: kit.Money(found.Protected, found.Currency)},
		{Text: "Not protected", Value: kit.Money(found.Unprotected, found.Currency)}, {Text: "Created", Value: kit.Instant(found.CreatedAt)},
	}}
	if until := kit.Day(found.Until); until != "" {
		data.Facts = append(data.Facts, kit.Fact{Text: "Protected until", Value: until})
	}
	if n := found.Note; !n.At.IsZero() {
		data.Facts = append(data.Facts, kit.Fact{Text: "The traveller has asked", Value: kit.Say(string(n.Asked))},
			kit.Fact{Text: "Already paid back, says the traveller", Value: kit.Money(n.PaidBack, found.Currency)},
			kit.Fact{Text: "Said on", Value: kit.Instant(n.At)})
	}
	if v.Can(access.WriteBookings) {
		data.Revoke = bookingAt(v, b.ID) + "/certificate/revoke"
	}
	page := p.inBooking(v, b)
	page.Title, page.Data = "Certificate", data
	return v.Show(p.Pages, "certificate.html", page)
}

// revokeCertificate revokes a certificate's link, after a confirmation.
func (p *pages) revokeCertificate(v *kit.Visit) error {
	b, err := p.bookingOf(v)
	if err != nil {
		return err
	}
	if v.R.Method == http.MethodPost {
		if err := p.app.Certificates.Revoke(v.R.Context(), v.Actor, b.ID); err != nil {
			return err
		}
		return v.Done(bookingAt(v, b.ID), "Certificate link revoked.")
	}
	page := p.inBooking(v, b)
	return v.Confirm(kit.Confirmation{
		Title: "Revoke the certificate link?", Act: "Revoke link", Harm: true, Back: bookingAt(v, b.ID) + "/certificate",
		Text: []string{"Anyone who opens the link will see that it is no longer valid. This includes links in e-mails already sent. You can create a new link afterwards."},
	}, page)
}
