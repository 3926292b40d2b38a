// Package app wires the use cases of all packages to one database. It owns no tables and has no rules of its own: the API, the
// dashboard, background jobs and the command line take the use cases they need from it. Start reading at New.
package app

import (
	"holdfast/internal/account/people"
	"holdfast/internal/account/sessions"
	"holdfast/internal/account/tokens"
	"holdfast/internal/book/certificates"
	"holdfast/internal/book/checkout"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/disputes"
	"holdfast/internal/book/imports"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/intake"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/limits"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/onboarding"
	"holdfast/internal/book/payments"
	"holdfast/internal/book/pspevents"
	"holdfast/internal/book/rates"
	"holdfast/internal/book/statements"
	"holdfast/internal/book/underwriting"
	"holdfast/internal/notify/links"
	"holdfast/internal/notify/mail"
	"holdfast/internal/notify/schedules"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/ops/factchain"
	"holdfast/internal/ops/rehearsal"
	"holdfast/internal/ops/verify"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/clock"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/health"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/leases"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/report"
)

// App holds the use cases of all packages.
type App struct {
	Config Config // with defaults filled in
	DB     *sites.DB
	Vault  *secrets.Vault

	Channels        *onboarding.Channels
	Suppliers       *merchants.Suppliers
	Bookings        *intake.Bookings
	Imports         *imports.Imports
	ImportFiles     *imports.Files
	Sites           *merchants.Sites
	Accounts        *sessions.Accounts
	Sessions        *sessions.Sessions
	SignIns         *sessions.SignIns
	Links           *links.Links
	Tokens          *tokens.Tokens
	Idempotency     *idempotency.Keys
	Payments        *payments.Payments
	GatewayPayments *payments.GatewayPayments
	Disputes        *disputes.Disputes
	Notices         *pspevents.Notices
	Modals          *checkout.Modals
	Certificates    *certificates.Certificates
	Underwriting    *underwriting.Requests
	Rates           *rates.Rates
	Exposure        *report.Exposure
	Buckets         *ledger.Buckets
	Secrets         *secrets.Rotation
	Protection      *report.Protection
	Limits          *limits.Limits
	Collaterals     *ledger.Collaterals
	Insolvencies    *insolvencies.Insolvencies
	Claims          *claims.Claims
	Policies        *onboarding.Policies
	Contracts       *merchants.Contracts
	Premiums        *ledger.Premiums
	Statements      *statements.Statements
	Bordereaux      *report.Bordereaux
	System          *report.System
	Clocks          *clock.Clocks
	Audit           *audit.Trail
	Approvals       *approvals.Approvals
	Ends            *ledger.Ends
	Events          *events.Events
	Work            *leases.Work
	Health          *health.Health
	Seals           *factchain.Seals
	Verify          *verify.Verify
	Rehearsals      *rehearsal.Rehearsals
	Webhooks        *webhooks.Webhooks
	Mails           *mail.Mails
	Schedules       *schedules.Schedules
}

// New builds the service.
func New(cfg Config) *App {
	cfg = cfg.complete()
	db := sites.NewDB(cfg.Store, cfg.Clock)
	vault := &secrets.Vault{Keys: cfg.Keys, Random: cfg.Random}
	proposals := &approvals.Approvals{DB: db}
	feed := &events.Events{DB: db, Batch: cfg.Batches.Events}
	processors := &merchants.Processors{Profile: cfg.Profile, Gateways: cfg.Gateways, Vault: vault}

	room := &payments.Room{
		DB: db, Processors: processors, Settings: cfg.Processing, Rulepacks: cfg.Rulepacks, Random: cfg.Random, NewUUID: cfg.NewUUID,
		Log: cfg.Log,
	}
	gateway := payments.NewGatewayPayments(room)
	taken := payments.NewPayments(room, gateway)
	cases := &disputes.Disputes{DB: db, Payments: taken, Gateway: gateway, Log: cfg.Log}
	logged := intake.NewBookings(room, taken)
	in := (&imports.Imports{Room: room, Approvals: proposals}).Register()

	a := &App{
		Config: cfg,
		DB:     db,
		Vault:  vault,

		Channels: (&onboarding.Channels{
			DB: db, Processors: processors, Approvals: proposals, Random: cfg.Random, NewUUID: cfg.NewUUID,
		}).Register(),
		Suppliers:   &merchants.Suppliers{DB: db},
		Bookings:    logged,
		Imports:     in,
		ImportFiles: imports.NewFiles(in),
		Sites: &merchants.Sites{
			DB: db, Processors: processors, Random: cfg.Random, NewUUID: cfg.NewUUID, ReservedPaths: cfg.ReservedPaths,
		},
		Idempotency:     &idempotency.Keys{DB: db},
		Payments:        taken,
		GatewayPayments: gateway,
		Disputes:        cases,
		Notices:         &pspevents.Notices{Room: room, Payments: gateway, Disputes: cases},
		Modals:          checkout.NewModals(room, logged, taken),
		Certificates: (&certificates.Certificates{
			DB: db, Vault: vault, Random: cfg.Random, Allocations: cfg.Batches.Allocations,
		}).Register(),
		Underwriting: &underwriting.Requests{DB: db},
		Rates:        (&rates.Rates{DB: db, Approvals: proposals, ForexMargin: cfg.ForexMargin}).Register(),
		Exposure:     report.NewExposure(db),
		Buckets:      &ledger.Buckets{DB: db},
		Secrets:      &secrets.Rotation{DB: db, Vault: vault},
		Protection:   &report.Protection{DB: db, Rulepacks: cfg.Rulepacks, Allocations: cfg.Batches.Allocations},
		Limits:       (&limits.Limits{DB: db, Approvals: proposals, Reviewed: cfg.Batches.Reviewed}).Register(),
		Collaterals:  &ledger.Collaterals{DB: db},
		Insolvencies: (&insolvencies.Insolvencies{DB: db, Approvals: proposals, Batch: cfg.Batches.Snapshots}).Register(),
		Policies:     (&onboarding.Policies{DB: db, Approvals: proposals}).Register(),
		Contracts:    &merchants.Contracts{DB: db},
		Premiums:     &ledger.Premiums{DB: db},
		Statements:   &statements.Statements{DB: db, LinesAtOnce: cfg.Batches.Lines},
		Bordereaux:   &report.Bordereaux{DB: db, LinesAtOnce: cfg.Batches.Lines},
		System:       &report.System{DB: db},
		Clocks:       &clock.Clocks{DB: db},
		Audit:        &audit.Trail{DB: db},
		Approvals:    proposals,
		Ends:         &ledger.Ends{DB: db},
		Events:       feed,
		Work:         &leases.Work{DB: db},
		Health:       &health.Health{DB: db},
		Seals:        &factchain.Seals{DB: db},
		Verify:       &verify.Verify{DB: db, Rulepacks: cfg.Rulepacks, Log: cfg.Log},
	}
	a.addPeople()
	return a
}

// addPeople builds the use cases for people, notifications and claims.
func (a *App) addPeople() {
	cfg, db := a.Config, a.DB
	a.Claims = &claims.Claims{DB: db, Insolvencies: a.Insolvencies, MostLines: cfg.Batches.Payout}
	a.Rehearsals = &rehearsal.Rehearsals{
		DB: db, Insolvencies: a.Insolvencies, Claims: a.Claims, Disputes: a.Disputes, Certificates: a.Certificates, Rates: a.Rates,
	}
	room := &people.Room{DB: db, Vault: a.Vault, Random: cfg.Random, Cost: cfg.Cost, Log: cfg.Log}
	a.Tokens = tokens.NewTokens(room)
	a.Sessions = sessions.NewSessions(room, a.Tokens)
	a.Accounts = &sessions.Accounts{Room: room}
	a.SignIns = &sessions.SignIns{Sessions: a.Sessions}
	a.Mails = &mail.Mails{
		DB: db, Events: a.Events, Certificates: a.Certificates, Vault: a.Vault, Log: cfg.Log, Batch: cfg.Batches.Mails,
	}
	a.Links = links.NewLinks(a.Sessions, a.Mails)
	a.Schedules = &schedules.Schedules{DB: db, Mails: a.Mails, Log: cfg.Log}
	a.Webhooks = (&webhooks.Webhooks{
		DB: db, Vault: a.Vault, Events: a.Events, Random: cfg.Random, Log: cfg.Log, Followed: cfg.Batches.Followed,
		Followers: cfg.Batches.Followers,
	}).Register()
}

// Close ends background work and waits for it. The caller closes the database afterwards.
func (a *App) Close() { a.Tokens.Close() }
