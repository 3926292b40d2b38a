// Package api serves the HTTP API. It contains the route table and the handlers. A handler reads its input, calls one
// use case of a room, and writes the response. Handlers return errors, and one place turns them into a status and a
// body (errors.go). Start at table.
package api

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"holdfast/internal/api/input"
	"holdfast/internal/app"
	"holdfast/internal/book/checkout"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
)

// Config has the settings of the API. Clients have the segments of addresses hard-coded, so each segment can be set to
// what they expect. New fills in the defaults.
type Config struct {
	BaseURL        string           // public URL of the service, without a trailing slash
	RESTRoot       string           // the segment after the site; "rest" by default
	Namespace      string           // the segment before v2; "svc" by default
	AuthSegment    string           // the first segment of a login without a site; "auth" by default
	Profile        merchant.Profile // of the deployment; it decides which fields the description requires for new bookings
	TrustedProxies []netip.Prefix   // proxies whose X-Forwarded-For is trusted
	Timeout        time.Duration    // how long a request may take; 30 seconds by default
	// RequestsAtOnce is how many requests are worked on at the same time, RequestsWaiting how many wait for that, and
	// RequestsPerCaller how many of both one caller may have; 64, 128 and 48 by default.
	RequestsAtOnce, RequestsWaiting, RequestsPerCaller int

	// ImportBytes and ImportRows bound a file that is imported over HTTP; 32 MiB and 50,000 by default.
	ImportBytes, ImportRows int
	// UploadTime is how long such a file may take to come; five minutes by default. It is much longer than for other bodies,
	// so few files are received concurrently.
	UploadTime time.Duration

	FontDir   string     // the folder with the fonts of documents that the program does not contain
	TestCards []TestCard // of the sandbox processor, for the payment modal
	// The addresses of the scripts for the tokenizer's hosted fields, for test and for live cards; "" for none.
	FieldsTestScript, FieldsLiveScript string
}

func (cfg Config) withDefaults() Config {
	set := func(target *string, value string) {
		if *target == "" {
			*target = value
		}
	}
	cfg.BaseURL = strings.TrimSuffix(cfg.BaseURL, "/")
	set(&cfg.RESTRoot, "rest")
	set(&cfg.Namespace, "svc")
	set(&cfg.AuthSegment, "auth")
	cfg.Timeout = cmp.Or(cfg.Timeout, 30*time.Second)
	cfg.RequestsAtOnce = cmp.Or(cfg.RequestsAtOnce, 64)
	cfg.RequestsWaiting = cmp.Or(cfg.RequestsWaiting, 128)
	cfg.RequestsPerCaller = cmp.Or(cfg.RequestsPerCaller, 48)
	cfg.ImportBytes = cmp.Or(cfg.ImportBytes, 32<<20)
	cfg.ImportRows = cmp.Or(cfg.ImportRows, 50_000)
	cfg.UploadTime = cmp.Or(cfg.UploadTime, 5*time.Minute)
	return cfg
}

// Route is one operation of the API.
type Route struct {
	Method  string
	Pattern string // as in net/http: {site} is the path of a site, {id}, {delivery} and {evidence} numbers, {line} a line of a statement
	Name    string // of the handler, and the id of the operation in the description of the API

	access permission
	right  access.Permission // that the caller needs; "" for none beyond that of the access
	class  Class
	body   int // bytes that the body may have; 0: it is not read, or by the handler, as a file is
	handle handler
}

type handler func(s *server, c *call) error

// access says who may call a handler: everybody, or users and API tokens with access to the site of the path. A token that
// is limited needs the ability that the route names.
type permission string

const (
	open           permission = "open" // everybody; the handler may check credentials itself
	mayRead                   = permission(access.AbilityRead)
	mayLogBookings            = permission(access.AbilityLogBookings)
	mayLogPayments            = permission(access.AbilityLogPayments)
	mayReport                 = permission(access.AbilityReports)
	mayDoAll       permission = "all" // no ability is enough: only a token without a limit
)

func (a permission) allows(s access.Abilities) bool {
	return s == 0 || a != mayDoAll && s.Has(access.Ability(a))
}

// Routes lists all operations of the API.
func Routes(cfg Config) []Route {
	cfg = cfg.withDefaults()
	routes := table("/{site}/"+cfg.RESTRoot+"/"+cfg.Namespace+"/v2", "/{site}/api-tokens",
		"/"+cfg.AuthSegment+"/"+cfg.RESTRoot+"/jwt-auth/v1", "/{site}/"+cfg.RESTRoot+"/jwt-auth/v1")
	for i, r := range routes {
		name := runtime.FuncForPC(reflect.ValueOf(r.handle).Pointer()).Name()
		routes[i].Name = name[strings.LastIndexByte(name, '.')+1:]
	}
	return routes
}

// table is the one list of all operations. The arguments are the beginnings of their addresses. The login has two: one
// without a site, and one with a site.
func table(v2, tokens, login, siteLogin string) []Route {
	return append([]Route{
		at("GET", "/healthz", open, (*server).alive).in(ClassAlive),
		at("GET", "/readyz", open, (*server).ready).in(ClassProbes),
		at("GET", "/openapi.yaml", open, (*server).describe).in(ClassDocuments),
		at("GET", "/openapi.json", open, (*server).describeJSON).in(ClassDocuments),
		at("GET", returnPattern, open, (*server).returnFromChallenge).in(ClassPayments),
		at("POST", "/events/{processor}/{site_id}/{channel_id}", open, (*server).takeProcessorEvent).takes(maxEvent),
		at("POST", login+"/token", open, (*server).login).takes(input.MaxBody).in(ClassLogins),
		at("POST", login+"/token/refresh", open, (*server).refreshLogin),
		at("DELETE", login+"/token/refresh", open, (*server).deleteRefresh),
		at("POST", siteLogin+"/token", open, (*server).login).takes(input.MaxBody).in(ClassLogins),
		at("POST", siteLogin+"/token/refresh", open, (*server).refreshLogin),
		at("DELETE", siteLogin+"/token/refresh", open, (*server).deleteRefresh),
		at("GET", tokens, mayDoAll, (*server).listTokens),
		at("POST", tokens, mayDoAll, (*server).createToken).needs(access.ManageTokens).takes(input.MaxBody),
		at("DELETE", tokens, mayDoAll, (*server).deleteAllTokens).needs(access.ManageTokens),
		at("DELETE", tokens+"/{id}", mayDoAll, (*server).deleteToken).needs(access.ManageTokens),
		at("GET", v2+"/sites", mayRead, (*server).listSites),
		at("GET", v2+"/sites/{id}", mayRead, (*server).getSite),
		at("PUT", v2+"/sites/{id}", mayDoAll, (*server).updateSite).needs(access.WriteSite).takes(input.MaxBody),
		at("GET", v2+"/channels", mayRead, (*server).listChannels),
		at("POST", v2+"/channels", mayDoAll, (*server).createChannel).needs(access.WriteChannels).takes(input.MaxBody),
		at("GET", v2+"/channels/{id}", mayRead, (*server).getChannel),
		at("PUT", v2+"/channels/{id}", mayDoAll, (*server).changeChannel).needs(access.WriteChannels).takes(input.MaxBody),
		at("DELETE", v2+"/channels/{id}", mayDoAll, (*server).deleteChannel).needs(access.WriteChannels),
		at("POST", v2+"/channels/{id}/secret", mayDoAll, (*server).rotateChannelSecret).needs(access.SetChannelTerms),
		at("GET", v2+"/suppliers", mayRead, (*server).listSuppliers),
		at("POST", v2+"/suppliers", mayDoAll, (*server).createSupplier).needs(access.WriteSuppliers).takes(input.MaxBody),
		at("GET", v2+"/suppliers/{id}", mayRead, (*server).getSupplier),
		at("PUT", v2+"/suppliers/{id}", mayDoAll, (*server).changeSupplier).needs(access.WriteSuppliers).takes(input.MaxBody),
		at("DELETE", v2+"/suppliers/{id}", mayDoAll, (*server).deleteSupplier).needs(access.WriteSuppliers),
		at("GET", v2+"/bookings", mayRead, (*server).listBookings),
		at("POST", v2+"/bookings", mayLogBookings, (*server).createBooking).needs(access.WriteBookings).takes(input.MaxBody),
		at("GET", v2+"/bookings/{id}", mayRead, (*server).getBooking),
		at("PUT", v2+"/bookings/{id}", mayLogBookings, (*server).changeBooking).needs(access.WriteBookings).takes(input.MaxBody),
		at("DELETE", v2+"/bookings/{id}", mayLogBookings, (*server).deleteBooking).needs(access.WriteBookings),
		at("GET", v2+"/bookings/{id}/protection", mayReport, (*server).getBookingProtection),
		at("GET", v2+"/bookings/{id}/certificate", mayRead, (*server).getCertificate),
		at("POST", v2+"/bookings/{id}/certificate/revoke", mayLogBookings, (*server).revokeCertificate).needs(access.WriteBookings),
		at("GET", v2+"/transactions", mayRead, (*server).listTransactions),
		at("POST", v2+"/transactions", mayLogPayments, (*server).createTransaction).needs(access.WriteTransactions).takes(input.MaxBody).in(ClassPayments),
		at("GET", v2+"/transactions/{id}", mayRead, (*server).getTransaction),
		at("GET", v2+"/transactions/{id}/protection", mayReport, (*server).getProtection),
		at("GET", v2+"/payments", mayRead, (*server).listPayments),
		at("GET", v2+"/payments/{id}", mayRead, (*server).getPayment),
		at("GET", v2+"/events", mayRead, (*server).listEvents),
		at("GET", v2+"/mails", mayRead, (*server).listMails),
		at("GET", v2+"/mails/{id}", mayRead, (*server).getMail),
		at("POST", v2+"/mails/{id}/resend", mayDoAll, (*server).resendMail).needs(access.SendMails),
		at("POST", v2+"/mails/test", mayDoAll, (*server).tryMail).needs(access.ManageSites).takes(input.MaxBody),
	}, slices.Concat(webhookRoutes(v2), modalRoutes(checkout.ModalPath), protectionRoutes(v2), insolvencyRoutes(v2), claimRoutes(v2), disputeRoutes(v2))...)
}

// webhookRoutes is the part of the table for webhooks.
func webhookRoutes(v2 string) []Route {
	return []Route{
		at("GET", v2+"/webhooks", mayRead, (*server).listWebhooks),
		at("POST", v2+"/webhooks", mayDoAll, (*server).createWebhook).needs(access.WriteSite).takes(input.MaxBody),
		at("GET", v2+"/webhooks/{id}", mayRead, (*server).getWebhook),
		at("PUT", v2+"/webhooks/{id}", mayDoAll, (*server).changeWebhook).needs(access.WriteSite).takes(input.MaxBody),
		at("DELETE", v2+"/webhooks/{id}", mayDoAll, (*server).deleteWebhook).needs(access.WriteSite),
		at("POST", v2+"/webhooks/{id}/rotate", mayDoAll, (*server).rotateWebhookSecret).needs(access.WriteSite).takes(input.MaxBody),
		at("POST", v2+"/webhooks/{id}/test", mayDoAll, (*server).testWebhook).needs(access.WriteSite),
		at("POST", v2+"/webhooks/{id}/replay", mayDoAll, (*server).replayWebhook).needs(access.WriteSite).takes(input.MaxBody),
		at("GET", v2+"/webhooks/{id}/deliveries", mayRead, (*server).listDeliveries),
		at("GET", v2+"/webhooks/{id}/deliveries/{delivery}", mayRead, (*server).getDelivery),
	}
}

// insolvencyRoutes is the part of the table for merchants that fail.
func insolvencyRoutes(v2 string) []Route {
	return []Route{
		at("GET", v2+"/insolvencies", mayReport, (*server).listInsolvencies).needs(access.ReadFailures),
		at("POST", v2+"/insolvencies", mayDoAll, (*server).reportInsolvency).needs(access.ReportFailures).takes(input.MaxBody),
		at("GET", v2+"/insolvencies/{id}", mayReport, (*server).getInsolvency).needs(access.ReadFailures),
		at("GET", v2+"/insolvencies/{id}/events", mayReport, (*server).listInsolvencyEvents).needs(access.ReadFailures),
		at("GET", v2+"/insolvencies/{id}/affected", mayReport, (*server).listAffected).needs(access.ReadFailures),
		at("GET", v2+"/insolvencies/{id}/affected/csv", mayReport, (*server).getAffectedCSV).needs(access.Export),
		at("GET", v2+"/insolvencies/{id}/affected/xlsx", mayReport, (*server).getAffectedXLSX).needs(access.Export),
		at("GET", v2+"/insolvencies/{id}/snapshot", mayReport, (*server).getSnapshot).needs(access.Export),
		at("POST", v2+"/insolvencies/{id}/confirm", mayDoAll, (*server).confirmInsolvency).needs(access.DecideFailures).takes(input.MaxBody),
		at("POST", v2+"/insolvencies/{id}/withdraw", mayDoAll, (*server).withdrawInsolvency).needs(access.ReportFailures).takes(input.MaxBody),
		at("POST", v2+"/insolvencies/{id}/close-claims", mayDoAll, (*server).closeInsolvencyClaims).needs(access.DecideFailures).takes(input.MaxBody),
		at("POST", v2+"/insolvencies/{id}/close", mayDoAll, (*server).closeInsolvency).needs(access.DecideFailures).takes(input.MaxBody),
		at("POST", v2+"/insolvencies/{id}/reinstate", mayDoAll, (*server).reinstateInsolvency).needs(access.DecideFailures).takes(input.MaxBody),
		at("POST", v2+"/insolvencies/{id}/allow-processing", mayDoAll, (*server).allowInsolvencyProcessing).needs(access.DecideFailures).takes(input.MaxBody),
	}
}

// disputeRoutes is the part of the table for disputes and the files that bring them.
func disputeRoutes(v2 string) []Route {
	return []Route{
		at("GET", v2+"/disputes", mayReport, (*server).listDisputes).needs(access.ReadDisputes),
		at("POST", v2+"/disputes", mayDoAll, (*server).createDispute).needs(access.WorkDisputes).takes(input.MaxBody),
		at("GET", v2+"/disputes/ratios", mayReport, (*server).getDisputeRatios).needs(access.ReadDisputes),
		at("GET", v2+"/disputes/counts", mayReport, (*server).countDisputes).needs(access.ReadDisputes),
		at("GET", v2+"/disputes/{id}", mayReport, (*server).getDispute).needs(access.ReadDisputes),
		at("GET", v2+"/disputes/{id}/events", mayReport, (*server).listDisputeEvents).needs(access.ReadDisputes),
		at("POST", v2+"/disputes/{id}/events", mayDoAll, (*server).createDisputeEvent).needs(access.WorkDisputes).takes(input.MaxBody),
		at("GET", v2+"/disputes/{id}/candidates", mayReport, (*server).listDisputeCandidates).needs(access.ReadDisputes),
		at("POST", v2+"/disputes/{id}/match", mayDoAll, (*server).matchDispute).needs(access.WorkDisputes).takes(input.MaxBody),
		at("POST", v2+"/disputes/{id}/unmatch", mayDoAll, (*server).unmatchDispute).needs(access.WorkDisputes).takes(input.MaxBody),
		at("POST", v2+"/disputes/{id}/assign", mayDoAll, (*server).assignDispute).needs(access.WorkDisputes).takes(input.MaxBody),
		at("POST", v2+"/disputes/{id}/accept", mayDoAll, (*server).acceptDispute).needs(access.WorkDisputes).takes(input.MaxBody),
		at("POST", v2+"/disputes/{id}/challenge", mayDoAll, (*server).challengeDispute).needs(access.WorkDisputes).takes(input.MaxBody),
		at("POST", v2+"/disputes/{id}/represent", mayDoAll, (*server).representDispute).needs(access.WorkDisputes).takes(input.MaxBody),
		at("POST", v2+"/disputes/{id}/note", mayDoAll, (*server).noteDispute).needs(access.WorkDisputes).takes(input.MaxBody),
		at("GET", v2+"/disputes/{id}/evidence", mayReport, (*server).listEvidence).needs(access.ReadDisputes),
		at("POST", v2+"/disputes/{id}/evidence", mayDoAll, (*server).createEvidence).needs(access.WorkDisputes).in(ClassUploads),
		at("GET", v2+"/disputes/{id}/evidence/{evidence}", mayReport, (*server).getEvidence).needs(access.ReadDisputes),
		at("GET", v2+"/dispute-files", mayReport, (*server).listDisputeFiles).needs(access.ReadDisputes),
		at("POST", v2+"/dispute-files", mayDoAll, (*server).createDisputeFile).needs(access.WorkDisputes).in(ClassUploads),
		at("GET", v2+"/dispute-files/{id}", mayReport, (*server).getDisputeFile).needs(access.ReadDisputes),
		at("GET", v2+"/dispute-files/{id}/lines", mayReport, (*server).listDisputeFileLines).needs(access.ReadDisputes),
	}
}

// modal is the part of the table for the frame of the payment modal. The frame has credentials of its own.
func modalRoutes(base string) []Route {
	return []Route{
		at("POST", base+"sessions", open, (*server).openModalSession).takes(input.MaxBody),
		at("POST", base+"bookings", open, (*server).createModalBooking).takes(input.MaxBody),
		at("GET", base+"bookings/{id}", open, (*server).getModalBooking),
		at("POST", base+"transactions", open, (*server).createModalTransaction).takes(input.MaxBody).in(ClassPayments),
		at("GET", base+"transactions/{id}", open, (*server).getModalTransaction),
		at("GET", base+"sandbox/cards", open, (*server).listTestCards),
	}
}

// protectionRoutes is the part of the table for protection: its price, the exposure, and approvals.
func protectionRoutes(v2 string) []Route {
	return []Route{
		at("GET", v2+"/policies", mayReport, (*server).listPolicies),
		at("POST", v2+"/policies", mayDoAll, (*server).createPolicy).needs(access.WritePolicies).takes(input.MaxBody),
		at("GET", v2+"/policies/{id}", mayReport, (*server).getPolicy),
		at("GET", v2+"/premiums", mayReport, (*server).listPremiums),
		at("GET", v2+"/exposure", mayReport, (*server).getExposure),
		at("GET", v2+"/exposure/run-off", mayReport, (*server).getRunOff),
		at("GET", v2+"/exposure/ageing", mayReport, (*server).getAgeing),
		at("GET", v2+"/exposure/movement", mayReport, (*server).getMovement),
		at("GET", v2+"/exposure/details", mayReport, (*server).getExposureDetails),
		at("GET", v2+"/exposure/movement/details", mayReport, (*server).getMovementDetails),
		at("GET", v2+"/statements", mayReport, (*server).listStatements).needs(access.ReadStatements),
		at("GET", v2+"/statements/{id}", mayReport, (*server).getStatement).needs(access.ReadStatements),
		at("GET", v2+"/statements/{id}/lines", mayReport, (*server).listStatementLines).needs(access.ReadStatements),
		at("GET", v2+"/statements/{id}/lines/{line}/protection", mayReport, (*server).getStatementLineProtection).needs(access.ReadStatements),
		at("GET", v2+"/statements/{id}/csv", mayReport, (*server).getStatementCSV).needs(access.ReadStatements),
		at("GET", v2+"/statements/{id}/pdf", mayReport, (*server).getStatementPDF).needs(access.ReadStatements),
		at("GET", v2+"/statements/{id}/payments", mayReport, (*server).listStatementPayments).needs(access.ReadStatements),
		at("POST", v2+"/statements/{id}/payments", mayDoAll, (*server).createStatementPayment).needs(access.RecordStatementPayments).takes(input.MaxBody),
		at("GET", v2+"/bordereaux/premium", mayReport, (*server).getPremiumBordereau).needs(access.ReadStatements),
		at("GET", v2+"/rates", mayReport, (*server).listRates),
		at("POST", v2+"/rates", mayDoAll, (*server).createRate).needs(access.WriteRates).takes(input.MaxBody),
		at("GET", v2+"/clock", mayRead, (*server).getClock),
		at("POST", v2+"/clock", mayDoAll, (*server).moveClock).needs(access.MoveClock).takes(input.MaxBody),
		at("GET", v2+"/audit", mayDoAll, (*server).listAudit).needs(access.ReadAudit),
		at("GET", v2+"/proposals", mayDoAll, (*server).listProposals).needs(access.ReadAudit),
		at("GET", v2+"/proposals/{id}", mayDoAll, (*server).getProposal).needs(access.ReadAudit),
		at("POST", v2+"/proposals/{id}/approve", mayDoAll, (*server).approveProposal).needs(access.DecideProposals).takes(input.MaxBody),
		at("POST", v2+"/proposals/{id}/reject", mayDoAll, (*server).rejectProposal).needs(access.DecideProposals).takes(input.MaxBody),
		at("POST", v2+"/proposals/{id}/withdraw", mayDoAll, (*server).withdrawProposal).needs(access.DecideProposals).takes(input.MaxBody),
		at("GET", v2+"/imports", mayDoAll, (*server).listImports),
		at("POST", v2+"/imports", mayDoAll, (*server).createImport).needs(access.ImportBooks).in(ClassUploads),
		at("GET", v2+"/imports/{id}", mayDoAll, (*server).getImport),
		at("DELETE", v2+"/imports/{id}", mayDoAll, (*server).discardImport).needs(access.ImportBooks),
		at("POST", v2+"/imports/{id}/confirm", mayDoAll, (*server).confirmImport).needs(access.ImportBooks),
		at("GET", v2+"/imports/{id}/rows", mayDoAll, (*server).listImportRows),
		at("GET", v2+"/imports/{id}/csv", mayDoAll, (*server).getImportCSV).needs(access.Export).in(ClassRefusedRows),
		at("GET", v2+"/bordereaux/contracts", mayReport, (*server).listContracts).needs(access.ReadStatements),
		at("POST", v2+"/bordereaux/contracts", mayDoAll, (*server).createContract).needs(access.WritePolicies).takes(input.MaxBody),
		at("GET", v2+"/bordereaux/contracts/{id}", mayReport, (*server).getContract).needs(access.ReadStatements),
		at("GET", v2+"/report-mails", mayDoAll, (*server).listReportMails).needs(access.Export),
		at("POST", v2+"/report-mails", mayDoAll, (*server).createReportMail).needs(access.Export).takes(input.MaxBody),
		at("GET", v2+"/report-mails/{id}", mayDoAll, (*server).getReportMail).needs(access.Export),
		at("PUT", v2+"/report-mails/{id}", mayDoAll, (*server).changeReportMail).needs(access.Export).takes(input.MaxBody),
		at("DELETE", v2+"/report-mails/{id}", mayDoAll, (*server).deleteReportMail).needs(access.Export),
		at("POST", v2+"/report-mails/{id}/pause", mayDoAll, (*server).pauseReportMail).needs(access.Export),
		at("POST", v2+"/report-mails/{id}/resume", mayDoAll, (*server).resumeReportMail).needs(access.Export),
		at("POST", v2+"/report-mails/{id}/send", mayDoAll, (*server).sendReportMail).needs(access.Export),
		at("GET", v2+"/channels/{id}/record", mayReport, (*server).getTrackRecord),
		at("GET", v2+"/exposure/model", mayReport, (*server).getModel),
		at("GET", v2+"/exposure/model/details", mayReport, (*server).getModelDetails),
		at("GET", v2+"/exposure/what-if", mayReport, (*server).getWhatIf),
		at("GET", v2+"/limits", mayReport, (*server).listLimits),
		at("POST", v2+"/limits", mayDoAll, (*server).createLimit).needs(access.WriteLimits).takes(input.MaxBody),
		at("GET", v2+"/limits/{id}", mayReport, (*server).getLimit),
		at("GET", v2+"/limits/events", mayReport, (*server).listLimitEvents),
		at("GET", v2+"/collateral", mayReport, (*server).listCollateral),
		at("GET", v2+"/collateral/{id}", mayReport, (*server).getCollateral),
		at("POST", v2+"/collateral", mayDoAll, (*server).createCollateral).needs(access.WriteCollateral).takes(input.MaxBody),
	}
}

func at(method, pattern string, who permission, h handler) Route {
	return Route{Method: method, Pattern: pattern, access: who, handle: h}
}

// needs checks the permission before anything else in the request, so callers without it learn nothing more. The rooms judge
// again, based on the requested data.
func (r Route) needs(right access.Permission) Route {
	r.right = right
	return r
}

func (r Route) takes(bytes int) Route {
	r.body = bytes
	return r
}

func (r Route) in(class Class) Route {
	r.class = class
	return r
}

// New makes the handler of the whole API.
func New(a *app.App, cfg Config) Service {
	cfg = cfg.withDefaults()
	cfg.Profile = a.Config.Profile
	s := &server{
		app: a, cfg: cfg, mux: http.NewServeMux(), ownPages: ownPages(cfg),
	}
	s.yaml = sync.OnceValue(func() document { return newDocument("application/yaml", Description(cfg)) })
	s.json = sync.OnceValue(func() document { return newDocument("application/json", inJSON(Description(cfg))) })
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.door = newDoor(cfg, a.Config.Processing.InFlight)
	resources := map[string]resource{}
	for _, r := range Routes(cfg) {
		if resources[r.Pattern] == nil {
			resources[r.Pattern] = resource{}
		}
		resources[r.Pattern][r.Method] = r
	}
	for pattern, res := range resources {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w.(*call), r, res) })
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { s.fail(w.(*call), errNoRoute()) })
	return Service{s}
}
