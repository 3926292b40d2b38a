// Package api serves the HTTP API: it has the route table and the shapes of the wire. A handler reads its input, calls
// one use case of a room, and writes the answer. It returns errors, and one place turns them into a status and a body
// (errors.go). Begin reading at table.
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
	"time"

	"holdfast/internal/app"
	"holdfast/internal/book/checkout"
	"holdfast/internal/domain/access"
	"holdfast/internal/platform/core"
)

// Config has the settings of the API. Clients have the segments of addresses hard-coded, so each segment can be set to
// what they expect. New fills in the defaults.
type Config struct {
	BaseURL        string         // public address of the service, without a slash at its end
	RESTRoot       string         // the segment after the site; "rest" by default
	Namespace      string         // the segment before v2; "svc" by default
	AuthSegment    string         // the first segment of a login without a site; "auth" by default
	TrustedProxies []netip.Prefix // proxies whose X-Forwarded-For is believed
	Timeout        time.Duration  // how long a request may take; 30 seconds by default
	// RequestsAtOnce is how many requests are worked on at the same time, RequestsWaiting how many wait for that, and
	// RequestsPerCaller how many of both one caller may have; 64, 128 and 48 by default.
	RequestsAtOnce, RequestsWaiting, RequestsPerCaller int

	// ImportBytes and ImportRows bound a file that is imported over HTTP; 32 MiB and 50,000 by default.
	ImportBytes, ImportRows int
	// UploadTime is how long such a file may take to come; five minutes by default. It is much longer than for other bodies,
	// so few files are received at once.
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
	Pattern string // as in net/http: {site} is the path of a site, {id} and {delivery} numbers, {line} a line of a statement
	Name    string // of the handler, and the id of the operation in the description of the API

	access permission
	handle handler
	// often: it is what programs send all the time, so its sender may be remembered. The handler reads or writes for its actor before it
	// answers.
	often bool
}

type handler func(s *server, c *call) error

// access says who may call a handler: everybody, or users and API tokens that may act on the site of the path. A token that
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
		at("GET", "/healthz", open, (*server).alive),
		at("GET", "/readyz", open, (*server).ready),
		at("GET", "/openapi.yaml", open, (*server).describe),
		at("GET", returnPattern, open, (*server).returnFromChallenge),
		at("POST", "/events/{processor}/{site_id}/{channel_id}", open, (*server).takeProcessorEvent),
		at("POST", login+"/token", open, (*server).login),
		at("POST", login+"/token/refresh", open, (*server).refreshLogin),
		at("DELETE", login+"/token/refresh", open, (*server).deleteRefresh),
		at("POST", siteLogin+"/token", open, (*server).login),
		at("POST", siteLogin+"/token/refresh", open, (*server).refreshLogin),
		at("DELETE", siteLogin+"/token/refresh", open, (*server).deleteRefresh),
		at("GET", tokens, mayDoAll, (*server).listTokens),
		at("POST", tokens, mayDoAll, (*server).createToken),
		at("DELETE", tokens, mayDoAll, (*server).deleteAllTokens),
		at("DELETE", tokens+"/{id}", mayDoAll, (*server).deleteToken),
		at("GET", v2+"/sites", mayRead, (*server).listSites),
		at("GET", v2+"/sites/{id}", mayRead, (*server).getSite),
		at("PUT", v2+"/sites/{id}", mayDoAll, (*server).updateSite),
		at("GET", v2+"/channels", mayRead, (*server).listChannels),
		at("POST", v2+"/channels", mayDoAll, (*server).createChannel),
		at("GET", v2+"/channels/{id}", mayRead, (*server).getChannel),
		at("PUT", v2+"/channels/{id}", mayDoAll, (*server).changeChannel),
		at("DELETE", v2+"/channels/{id}", mayDoAll, (*server).deleteChannel),
		at("POST", v2+"/channels/{id}/secret", mayDoAll, (*server).rotateChannelSecret),
		at("GET", v2+"/suppliers", mayRead, (*server).listSuppliers),
		at("POST", v2+"/suppliers", mayDoAll, (*server).createSupplier),
		at("GET", v2+"/suppliers/{id}", mayRead, (*server).getSupplier),
		at("PUT", v2+"/suppliers/{id}", mayDoAll, (*server).changeSupplier),
		at("DELETE", v2+"/suppliers/{id}", mayDoAll, (*server).deleteSupplier),
		often("GET", v2+"/bookings", mayRead, (*server).listBookings),
		often("POST", v2+"/bookings", mayLogBookings, (*server).createBooking),
		often("GET", v2+"/bookings/{id}", mayRead, (*server).getBooking),
		at("PUT", v2+"/bookings/{id}", mayLogBookings, (*server).changeBooking),
		at("DELETE", v2+"/bookings/{id}", mayLogBookings, (*server).deleteBooking),
		at("GET", v2+"/bookings/{id}/protection", mayReport, (*server).getBookingProtection),
		at("GET", v2+"/bookings/{id}/certificate", mayRead, (*server).getCertificate),
		at("POST", v2+"/bookings/{id}/certificate/revoke", mayLogBookings, (*server).revokeCertificate),
		often("GET", v2+"/transactions", mayRead, (*server).listTransactions),
		often("POST", v2+"/transactions", mayLogPayments, (*server).createTransaction),
		often("GET", v2+"/transactions/{id}", mayRead, (*server).getTransaction),
		at("GET", v2+"/transactions/{id}/protection", mayReport, (*server).getProtection),
		at("GET", v2+"/payments", mayRead, (*server).listPayments),
		at("GET", v2+"/payments/{id}", mayRead, (*server).getPayment),
		at("GET", v2+"/events", mayRead, (*server).listEvents),
		at("GET", v2+"/mails", mayRead, (*server).listMails),
		at("GET", v2+"/mails/{id}", mayRead, (*server).getMail),
		at("POST", v2+"/mails/{id}/resend", mayDoAll, (*server).resendMail),
		at("POST", v2+"/mails/test", mayDoAll, (*server).tryMail),
	}, slices.Concat(webhookRoutes(v2), modalRoutes(checkout.ModalPath), protectionRoutes(v2))...)
}

// webhookRoutes is the part of the table for webhooks.
func webhookRoutes(v2 string) []Route {
	return []Route{
		at("GET", v2+"/webhooks", mayRead, (*server).listWebhooks),
		at("POST", v2+"/webhooks", mayDoAll, (*server).createWebhook),
		at("GET", v2+"/webhooks/{id}", mayRead, (*server).getWebhook),
		at("PUT", v2+"/webhooks/{id}", mayDoAll, (*server).changeWebhook),
		at("DELETE", v2+"/webhooks/{id}", mayDoAll, (*server).deleteWebhook),
		at("POST", v2+"/webhooks/{id}/rotate", mayDoAll, (*server).rotateWebhookSecret),
		at("POST", v2+"/webhooks/{id}/test", mayDoAll, (*server).testWebhook),
		at("POST", v2+"/webhooks/{id}/replay", mayDoAll, (*server).replayWebhook),
		at("GET", v2+"/webhooks/{id}/deliveries", mayRead, (*server).listDeliveries),
		at("GET", v2+"/webhooks/{id}/deliveries/{delivery}", mayRead, (*server).getDelivery),
	}
}

// modal is the part of the table for the frame of the payment modal. The frame has credentials of its own.
func modalRoutes(base string) []Route {
	return []Route{
		at("POST", base+"sessions", open, (*server).openModalSession),
		at("POST", base+"bookings", open, (*server).createModalBooking),
		at("GET", base+"bookings/{id}", open, (*server).getModalBooking),
		at("POST", base+"transactions", open, (*server).createModalTransaction),
		at("GET", base+"transactions/{id}", open, (*server).getModalTransaction),
		at("GET", base+"sandbox/cards", open, (*server).listTestCards),
	}
}

// protectionRoutes is the part of the table for protection: its price, the exposure, and approvals.
func protectionRoutes(v2 string) []Route {
	return []Route{
		at("GET", v2+"/policies", mayReport, (*server).listPolicies),
		at("POST", v2+"/policies", mayDoAll, (*server).createPolicy),
		at("GET", v2+"/policies/{id}", mayReport, (*server).getPolicy),
		at("GET", v2+"/premiums", mayReport, (*server).listPremiums),
		at("GET", v2+"/exposure", mayReport, (*server).getExposure),
		at("GET", v2+"/exposure/run-off", mayReport, (*server).getRunOff),
		at("GET", v2+"/exposure/ageing", mayReport, (*server).getAgeing),
		at("GET", v2+"/exposure/movement", mayReport, (*server).getMovement),
		at("GET", v2+"/exposure/details", mayReport, (*server).getExposureDetails),
		at("GET", v2+"/exposure/movement/details", mayReport, (*server).getMovementDetails),
		at("GET", v2+"/statements", mayReport, (*server).listStatements),
		at("GET", v2+"/statements/{id}", mayReport, (*server).getStatement),
		at("GET", v2+"/statements/{id}/lines", mayReport, (*server).listStatementLines),
		at("GET", v2+"/statements/{id}/lines/{line}/protection", mayReport, (*server).getStatementLineProtection),
		at("GET", v2+"/statements/{id}/csv", mayReport, (*server).getStatementCSV),
		at("GET", v2+"/statements/{id}/pdf", mayReport, (*server).getStatementPDF),
		at("GET", v2+"/statements/{id}/payments", mayReport, (*server).listStatementPayments),
		at("POST", v2+"/statements/{id}/payments", mayDoAll, (*server).createStatementPayment),
		at("GET", v2+"/bordereaux/premium", mayReport, (*server).getPremiumBordereau),
		at("GET", v2+"/rates", mayReport, (*server).listRates),
		at("POST", v2+"/rates", mayDoAll, (*server).createRate),
		at("GET", v2+"/clock", mayRead, (*server).getClock),
		at("POST", v2+"/clock", mayDoAll, (*server).moveClock),
		at("GET", v2+"/audit", mayDoAll, (*server).listAudit),
		at("GET", v2+"/proposals", mayDoAll, (*server).listProposals),
		at("GET", v2+"/proposals/{id}", mayDoAll, (*server).getProposal),
		at("POST", v2+"/proposals/{id}/approve", mayDoAll, (*server).approveProposal),
		at("POST", v2+"/proposals/{id}/reject", mayDoAll, (*server).rejectProposal),
		at("POST", v2+"/proposals/{id}/withdraw", mayDoAll, (*server).withdrawProposal),
		at("GET", v2+"/imports", mayDoAll, (*server).listImports),
		at("POST", v2+"/imports", mayDoAll, (*server).createImport),
		at("GET", v2+"/imports/{id}", mayDoAll, (*server).getImport),
		at("DELETE", v2+"/imports/{id}", mayDoAll, (*server).discardImport),
		at("POST", v2+"/imports/{id}/confirm", mayDoAll, (*server).confirmImport),
		at("GET", v2+"/imports/{id}/rows", mayDoAll, (*server).listImportRows),
		at("GET", v2+"/imports/{id}/csv", mayDoAll, (*server).getImportCSV),
		at("GET", v2+"/bordereaux/contracts", mayReport, (*server).listContracts),
		at("POST", v2+"/bordereaux/contracts", mayDoAll, (*server).createContract),
		at("GET", v2+"/bordereaux/contracts/{id}", mayReport, (*server).getContract),
		at("GET", v2+"/report-mails", mayDoAll, (*server).listReportMails),
		at("POST", v2+"/report-mails", mayDoAll, (*server).createReportMail),
		at("GET", v2+"/report-mails/{id}", mayDoAll, (*server).getReportMail),
		at("PUT", v2+"/report-mails/{id}", mayDoAll, (*server).changeReportMail),
		at("DELETE", v2+"/report-mails/{id}", mayDoAll, (*server).deleteReportMail),
		at("POST", v2+"/report-mails/{id}/pause", mayDoAll, (*server).pauseReportMail),
		at("POST", v2+"/report-mails/{id}/resume", mayDoAll, (*server).resumeReportMail),
		at("POST", v2+"/report-mails/{id}/send", mayDoAll, (*server).sendReportMail),
		at("GET", v2+"/channels/{id}/record", mayReport, (*server).getTrackRecord),
		at("GET", v2+"/exposure/model", mayReport, (*server).getModel),
		at("GET", v2+"/exposure/model/details", mayReport, (*server).getModelDetails),
		at("GET", v2+"/exposure/what-if", mayReport, (*server).getWhatIf),
		at("GET", v2+"/limits", mayReport, (*server).listLimits),
		at("POST", v2+"/limits", mayDoAll, (*server).createLimit),
		at("GET", v2+"/limits/{id}", mayReport, (*server).getLimit),
		at("GET", v2+"/limits/events", mayReport, (*server).listLimitEvents),
		at("GET", v2+"/collateral", mayReport, (*server).listCollateral),
		at("GET", v2+"/collateral/{id}", mayReport, (*server).getCollateral),
		at("POST", v2+"/collateral", mayDoAll, (*server).createCollateral),
	}
}

func at(method, pattern string, who permission, h handler) Route {
	return Route{Method: method, Pattern: pattern, access: who, handle: h}
}

func often(method, pattern string, who permission, h handler) Route {
	return Route{Method: method, Pattern: pattern, access: who, handle: h, often: true}
}

// New makes the handler of the whole API.
func New(a *app.App, c *core.Core, cfg Config) Service {
	cfg = cfg.withDefaults()
	s := &server{
		app: a, core: c, cfg: cfg, mux: http.NewServeMux(), ownPages: ownPages(cfg),
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	computing := 0
	if c.Store != nil {
		computing = c.Store.Computing()
	}
	s.door = newDoor(cfg, core.GatewaySettingsOf(c).InFlight, computing)
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
