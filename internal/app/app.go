// Package app builds all rooms over one core. It owns no tables and has no rules of its own: HTTP, pages, jobs and the
// command line take the use cases that they need from it. Begin reading at New.
package app

import (
	"holdfast/internal/account/identity"
	"holdfast/internal/book/bookings"
	"holdfast/internal/book/certificates"
	"holdfast/internal/book/checkout"
	"holdfast/internal/book/imports"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/limits"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/book/pspevents"
	"holdfast/internal/book/rates"
	"holdfast/internal/book/statements"
	"holdfast/internal/book/underwriting"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/protection"
	"holdfast/internal/notify/mail"
	"holdfast/internal/notify/schedules"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/ops/factchain"
	"holdfast/internal/ops/verify"
	"holdfast/internal/platform/core"
	"holdfast/internal/platform/events"
	"holdfast/internal/report"
)

// App holds the use cases of all rooms.
type App struct {
	Channels        *merchants.Channels
	Suppliers       *merchants.Suppliers
	Bookings        *bookings.Bookings
	Imports         *imports.Imports
	ImportFiles     *imports.Files
	Sites           *merchants.Sites
	Accounts        *identity.Accounts
	Sessions        *identity.Sessions
	SignIns         *identity.SignIns
	Links           *identity.Links
	Tokens          *identity.Tokens
	Idempotency     *core.Idempotency
	Payments        *payments.Payments
	GatewayPayments *payments.GatewayPayments
	Notices         *pspevents.Notices
	Modals          *checkout.Modals
	Certificates    *certificates.Certificates
	Underwriting    *underwriting.Requests
	Rates           *rates.Rates
	Exposure        *report.Exposure
	Buckets         *ledger.Buckets
	Secrets         *core.Secrets
	Protection      *report.Protection
	Limits          *limits.Limits
	Collaterals     *ledger.Collaterals
	Policies        *merchants.Policies
	Contracts       *merchants.Contracts
	Premiums        *ledger.Premiums
	Statements      *statements.Statements
	Bordereaux      *report.Bordereaux
	System          *report.System
	Clocks          *core.Clocks
	Audit           *core.Audit
	Approvals       *core.Approvals
	Ends            *ledger.Ends
	Events          *events.Events
	Work            *core.Work
	Seals           *factchain.Seals
	Verify          *verify.Verify
	Webhooks        *webhooks.Webhooks
	Mails           *mail.Mails
	Orders          *schedules.Orders
}

// New makes the use cases over one core. It fills in what the core leaves empty: the shipped rulepacks, the
// protection-only profile, and the sizes of Pieces.
func New(c *core.Core) *App {
	if c.Rulepacks == nil {
		c.Rulepacks = protection.ShippedRulepacks()
	}
	if c.Profile == "" {
		c.Profile = merchant.ProtectionOnlyProfile
	}
	c.Pieces.Complete()
	c.ProposalTold = events.RecordProposal
	tokens := identity.NewTokens(c)
	sessions := identity.NewSessions(c, tokens)
	gateway := payments.NewGatewayPayments(c, pspevents.BeginPolling)
	taken := payments.NewPayments(c, gateway)
	logged := bookings.NewBookings(c, limits.Redate(c), payments.TransactionsOfBookings, taken.Due())
	allRates := rates.NewRates(c)
	in := imports.NewImports(c)
	mails := &mail.Mails{Core: c, Events: &events.Events{Core: c}}
	return &App{
		Channels:        merchants.NewChannels(c, bookings.ChannelHasAny, payments.ChannelHasOpen),
		Suppliers:       &merchants.Suppliers{Core: c},
		Bookings:        logged,
		Imports:         in,
		ImportFiles:     imports.NewFiles(in, identity.Standing),
		Sites:           &merchants.Sites{Core: c},
		Accounts:        &identity.Accounts{Core: c},
		Sessions:        sessions,
		SignIns:         &identity.SignIns{Sessions: sessions},
		Links:           identity.NewLinks(sessions, mails.WriteTo, mails.Sends),
		Tokens:          tokens,
		Idempotency:     &core.Idempotency{Core: c},
		Payments:        taken,
		GatewayPayments: gateway,
		Notices:         &pspevents.Notices{Core: c, Payments: gateway},
		Modals:          checkout.NewModals(c, logged, taken),
		Certificates:    certificates.New(c),
		Underwriting:    &underwriting.Requests{Core: c},
		Rates:           allRates,
		Exposure:        &report.Exposure{Core: c},
		Buckets:         &ledger.Buckets{Core: c},
		Secrets:         &core.Secrets{Core: c},
		Protection:      &report.Protection{Core: c},
		Limits:          limits.NewLimits(c, rates.SpotQuote),
		Collaterals:     &ledger.Collaterals{Core: c},
		Policies:        merchants.NewPolicies(c, limits.NotCounting, limits.PolicyChanged),
		Contracts:       &merchants.Contracts{Core: c},
		Premiums:        &ledger.Premiums{Core: c},
		Statements:      &statements.Statements{Core: c},
		Bordereaux:      &report.Bordereaux{Core: c},
		System:          &report.System{Core: c},
		Clocks:          &core.Clocks{Core: c, Moved: allRates.GoOnIn},
		Audit:           &core.Audit{Core: c},
		Approvals:       &core.Approvals{Core: c},
		Ends:            &ledger.Ends{Core: c},
		Events:          &events.Events{Core: c},
		Work:            &core.Work{Core: c},
		Seals:           &factchain.Seals{Core: c},
		Verify:          &verify.Verify{Core: c},
		Webhooks:        webhooks.New(c),
		Mails:           mails,
		Orders:          schedules.New(c, mails),
	}
}

// Close waits for work that runs beside the requests, and ends it. The caller closes the database afterwards.
func (a *App) Close() { a.Tokens.Close() }
