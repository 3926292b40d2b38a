package apptest

import (
	"holdfast/internal/psp"
	"holdfast/internal/travel"
)

// ComesBack has the processor say that a refund, which it had accepted, did not reach the card.
func (p *Processing) ComesBack(charge, refund travel.Transaction) {
	p.Gateway.mu.Lock()
	c := p.Gateway.charges[charge.UUID]
	r := c.adjustments[refund.UUID]
	c.adjustments[refund.UUID] = psp.Result{
		Outcome: psp.Declined, ProcessorID: r.ProcessorID, Decline: psp.DeclineExpired, Message: "the refund did not reach the card",
	}
	c.taken += r.Amount
	p.Gateway.mu.Unlock()
	p.Events(refund)
}
