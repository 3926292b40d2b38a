package protection

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
)

// CertificateState is the state of a booking on a traveller's certificate.
type CertificateState string

// The states of a certificate. Where several fit, the first one counts.
const (
	CertifiedChargeback  CertificateState = "chargeback"      // a chargeback of a payment stands
	CertifiedPartly      CertificateState = "partly_refunded" // some money is protected, and some was refunded
	CertifiedProtected   CertificateState = "protected"       // some money is protected
	CertifiedUnprotected CertificateState = "not_protected"   // the remaining payments are not protected, or nothing was paid
	CertifiedEnded       CertificateState = "ended"           // the last day of dispute of the protected payments has passed (R5)
	CertifiedRefunded    CertificateState = "refunded"        // there were payments, and nothing of them is left
)

// CertificateStates lists them.
var CertificateStates = []CertificateState{
	CertifiedChargeback, CertifiedPartly, CertifiedProtected, CertifiedUnprotected, CertifiedEnded, CertifiedRefunded,
}

// Certified is the protected part of a booking at the end of a day, as shown to the traveller. Amounts are minor units
// of the booking's currency. Payments of test channels count like others: Simulated says that there is one.
type Certified struct {
	Protected   int64     // N of protected payments whose cover has started and whose last day of dispute has not passed (R3, R5)
	Unprotected int64     // N of unprotected payments that could still be disputed
	Until       civil.Day // the earliest last day of dispute of the protected payments; civil.NoDay if none is protected
	Simulated   bool

	day                             civil.Day
	paid, refunded, standing, ended int64
}

// NewCertified begins to add allocations up, at the end of a day.
func NewCertified(day civil.Day) *Certified { return &Certified{Until: civil.NoDay, day: day} }

// Add adds an allocation of the booking.
func (c *Certified) Add(h History) {
	events := h.until(c.day)
	sum, n, last := h.Sum(h.Events[:events]), h.remaining(events, c.day), h.termsOn(c.day).LastDay
	c.Simulated = c.Simulated || h.Decision.Simulated
	if c.day < h.Paid() {
		return
	}
	c.paid = money.Sum(c.paid, h.Amount)
	c.refunded = money.Sum(c.refunded, sum.Refunded)
	c.standing = money.Sum(c.standing, max(0, sum.ChargedBack-sum.Reversed))
	switch {
	case n == 0 || c.day > last:
		if h.Decision.Protected {
			c.ended = money.Sum(c.ended, n)
		}
	case h.Decision.Protected && c.day >= h.Begins():
		c.Protected = money.Sum(c.Protected, n)
		if c.Until == civil.NoDay || last < c.Until {
			c.Until = last
		}
	default:
		c.Unprotected = money.Sum(c.Unprotected, n)
	}
}

// State is the state of the certificate after all allocations have been added.
func (c *Certified) State() CertificateState {
	switch {
	case c.standing > 0:
		return CertifiedChargeback
	case c.Protected > 0 && c.refunded > 0:
		return CertifiedPartly
	case c.Protected > 0:
		return CertifiedProtected
	case c.Unprotected > 0:
		return CertifiedUnprotected
	case c.ended > 0:
		return CertifiedEnded
	case c.paid > 0 && c.refunded >= c.paid:
		return CertifiedRefunded
	default:
		return CertifiedUnprotected
	}
}
