package apptest

import (
	"holdfast/internal/psp"
	"holdfast/internal/travel"
)

// Challenge begins a payment whose shopper is challenged.
func (p *Processing) Challenge(b travel.Booking, total int64) travel.Transaction {
	p.t.Helper()
	p.Gateway.Set(psp.Purchase, challenged)
	in := Pay(travel.Purchase, b, total)
	in.Attempt3DS, in.RedirectURL = true, "https://shop.example/done?order=7&b=a"
	made := p.Must(in)
	if made.Status != travel.StatusPending || made.GatewayCharge.Challenge.Value != "https://bank.example/challenge" {
		p.t.Fatalf("a challenged payment is %s, %+v", made.Status, made.GatewayCharge)
	}
	return made
}

// ComeBack is the shopper's return from the challenge.
func (p *Processing) ComeBack(made travel.Transaction) {
	p.t.Helper()
	for range 2 { // a shopper may reload
		address, err := p.App.GatewayPayments.Return(p.t.Context(), made.GatewayCharge.ReturnKey)
		if err != nil || address != "https://shop.example/done?order=7&b=a&transaction_id=1" {
			p.t.Fatalf("the shopper goes to %s, %v", address, err)
		}
	}
}
