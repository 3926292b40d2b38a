package reports

import (
	"holdfast/internal/book/certificates"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// certificateShape is the certificate of a booking on the wire. Amounts are minor units of the booking's currency.
type certificateShape struct {
	Booking     int64                       `json:"booking"`
	Link        string                      `json:"link"`
	State       protection.CertificateState `json:"state"`
	Currencies  money.Currency              `json:"currencies"`
	Protected   int64                       `json:"protected"`
	Unprotected int64                       `json:"not_protected"`
	Until       *civil.Day                  `json:"until"`
	Insolvent   *string                     `json:"insolvent_from"` // null unless the merchant is insolvent
	Note        *noteShape                  `json:"note"`           // null without one
	Test        bool                        `json:"test"`
	Created     string                      `json:"created"`
}

// noteShape is the last note of a traveller on the wire.
type noteShape struct {
	Asked    certificates.Asked `json:"asked"`
	PaidBack int64              `json:"paid_back"`
	Created  string             `json:"created"`
}

// ShowCertificate returns the certificate of a booking as in the API, to be encoded as JSON. base is the service's
// public URL. The command line also prints it.
func ShowCertificate(found certificates.Certificate, base string) any {
	shape := certificateShape{
		Booking: found.BookingID, Link: certificates.Link(base, found.Key), State: found.State, Currencies: found.Currency,
		Protected: found.Protected, Unprotected: found.Unprotected, Test: found.Test, Created: civil.FormatInstant(found.CreatedAt),
	}
	if found.Until != civil.NoDay {
		shape.Until = &found.Until
	}
	if found.Insolvency.InForce() {
		from := civil.FormatInstant(found.Insolvency.TriggerAt)
		shape.Insolvent = &from
	}
	if n := found.Note; !n.At.IsZero() {
		shape.Note = showNote(n)
	}
	return shape
}

// showNote gives the shape of a note.
func showNote(n certificates.Note) *noteShape {
	return &noteShape{n.Asked, n.PaidBack, civil.FormatInstant(n.At)}
}

// Revoked is the answer to a revoked certificate.
type Revoked struct {
	Revoked bool  `json:"revoked"`
	Booking int64 `json:"booking"`
}
