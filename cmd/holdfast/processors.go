package main

import (
	"holdfast/internal/psp"
	"holdfast/internal/psp/sandbox"
	"holdfast/internal/store"
)

// processors makes the processors at which channels can take payments; base is where shoppers reach the service.
func (p *program) processors(db *store.DB, base string) map[string]psp.Gateway {
	ledger := sandbox.Ledger{Change: db.ChangeSandboxCharge, Due: db.SandboxDue}
	return map[string]psp.Gateway{sandbox.Name: sandbox.New(ledger, base)}
}
