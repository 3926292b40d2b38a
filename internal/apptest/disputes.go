package apptest

import (
	"holdfast/internal/psp"
	"holdfast/internal/travel"
)

// Dispute has the processor tell of disputes of a charge, and of nothing else.
func (p *Processing) Dispute(charge travel.Transaction, list ...psp.Dispute) {
	p.Gateway.mu.Lock()
	defer p.Gateway.mu.Unlock()
	p.Gateway.charges[charge.UUID].disputes = list
	p.Gateway.News = []psp.Hint{{EventID: "news-" + p.Now().String(), Reference: charge.UUID}}
}

// Events sends the event of a charge, several times over.
func (p *Processing) Events(charge travel.Transaction) {
	p.t.Helper()
	for range 3 {
		err := p.App.GatewayPayments.TakeEvent(p.t.Context(), p.Event("signed", charge.UUID, p.Channel.ID))
		if err != nil {
			p.t.Fatal(err)
		}
	}
	p.Jobs()
}
