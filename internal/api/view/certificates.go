package view

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
	Test        bool                        `json:"test"`
	Created     string                      `json:"created"`
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
	return shape
}

// Revoked is the answer to a revoked certificate.
type Revoked struct {
	Revoked bool  `json:"revoked"`
	Booking int64 `json:"booking"`
}
