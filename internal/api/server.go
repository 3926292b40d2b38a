package api

import (
	"context"
	"errors"
	"maps"
	"math"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"holdfast/internal/api/input"
	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/card"
	"holdfast/internal/errs"
	"holdfast/internal/lib/limiter"
	"holdfast/internal/platform/health"
)

type server struct {
	app *app.App
	cfg Config
	mux *http.ServeMux
	// ownPages refuses requests that a page of another origin makes a browser send.
	ownPages *http.CrossOriginProtection
	// yaml and json are the description of the API, each created at the first request.
	yaml, json func() document
	door       *door
	failures   failureLog
	// stopping ends when the program stops.
	stopping context.Context
	stop     context.CancelFunc
	// proxyWarning is for the one warning of a proxy that the settings do not name.
	proxyWarning sync.Once
}

// resource has the operations of one address, by method.
type resource map[string]Route

// call is one request and its answer. It is also the http.ResponseWriter of the request, so that it sees everything
// that is written, for the log.
type call struct {
	http.ResponseWriter
	r         *http.Request
	ctx       context.Context
	actor     access.Actor // not for open routes
	id        int64        // in the path; 0 if the pattern has none
	longID    bool         // the number in the path is too long for an id: nothing has it
	requestID string
	address   string           // of the client
	site      string           // path of the site, after it was found
	route     string           // the pattern of the route
	operation string           // the name of the route; "" of an open one
	body      []byte           // as the client sent it
	bodyErr   error            // why it could not be read
	door      *door            // through which it came
	places    *limiter.Limiter // of its class
	caller    string           // whose places they are
	inside    bool             // it has a place
	stranger  bool             // its token is looked up: the caller is not known yet
	refused   bool             // at the door, because there was no place
	replayed  bool             // the answer is that of an earlier request with the same idempotency key
	lag       health.Lag       // of the copy from which a report was read
	status    int              // sent to the client; 0 before
	bytes     int              // of the body, sent so far
}

// WriteHeader implements http.ResponseWriter.
func (c *call) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
	if c.replayed {
		c.Header().Set("Idempotent-Replayed", "true")
	}
	if behind := c.lag.Seconds(); behind != "" {
		c.Header().Set("Holdfast-Replica-Lag", behind)
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (c *call) Write(p []byte) (int, error) {
	if c.status == 0 {
		c.WriteHeader(http.StatusOK)
	}
	n, err := c.ResponseWriter.Write(p)
	c.bytes += n
	return n, err
}

// Unwrap is for http.ResponseController, which sets connection deadlines.
func (c *call) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// ServeHTTP answers one request. It is the outermost layer of the API.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := s.app.DB.Clock()
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Timeout)
	defer cancel()
	c := &call{ResponseWriter: w, ctx: ctx, address: s.clientAddress(r), requestID: s.requestID(r)}
	c.ctx = s.app.Health.Noting(ctx, &c.lag)
	defer func() { s.log(c, r, s.app.DB.Clock().Sub(began)) }()
	defer s.recover(c)
	s.writeCommonHeaders(c)
	if tooLarge := checkSize(r); tooLarge != nil {
		s.fail(c, tooLarge)
		return
	}
	if r.Method == http.MethodOptions && r.RequestURI == "*" { // about the whole service
		c.options("DELETE, GET, HEAD, OPTIONS, POST, PUT")
		return
	}
	// The mux would redirect an address with empty or dotted segments. Here such an address does not exist.
	clean := withoutSlash(r.URL)
	if path.Clean(clean.Path) != clean.Path || !strings.HasPrefix(clean.Path, "/") || !input.Storable(clean.Path) {
		s.fail(c, errNoRoute())
		return
	}
	r = r.WithContext(ctx)
	r.URL = clean
	c.r = r
	s.mux.ServeHTTP(c, r)
}

// withoutSlash removes a slash at the end of an address: with and without it, the resource is the same.
func withoutSlash(u *url.URL) *url.URL {
	cut := *u
	if len(cut.Path) > 1 {
		cut.Path = strings.TrimSuffix(cut.Path, "/")
		cut.RawPath = strings.TrimSuffix(cut.RawPath, "/")
	}
	return &cut
}

// serve answers a request for an address that exists.
func (s *server) serve(c *call, r *http.Request, res resource) {
	c.r, c.route = r, r.Pattern
	if err := s.run(c, res); err != nil {
		s.fail(c, err)
	}
}

func (s *server) run(c *call, res resource) error {
	if text := c.r.PathValue("id"); text != "" {
		if !input.IsDigits(text) {
			return errNoRoute()
		}
		id, ok := input.ParseID(text)
		if !ok || card.HoldsCardNumber(text) { // which no answer may show
			id, c.longID = math.MaxInt64, true // an id that nothing has
		}
		c.id = id
	}
	method := c.r.Method
	if method == http.MethodHead { // net/http does not send the body of its answer
		method = http.MethodGet
	}
	route, ok := res[method]
	if method == http.MethodOptions {
		c.options(res.allow())
		return nil
	}
	if !ok {
		c.Header().Set("Allow", res.allow())
		return errNoMethod(method)
	}
	if route.access != open {
		c.operation = route.Name
	}
	if route.access != open && bearer(c.r) == "" { // there is nothing to look up
		return s.admit(c, route)
	}
	return s.door.pass(c, route, func() error { return s.answer(c, route) })
}

// answer answers an admitted request. The caller is authenticated before anything in the request is read.
func (s *server) answer(c *call, route Route) error {
	if route.access != open {
		if err := s.admit(c, route); err != nil {
			return err
		}
	}
	return s.handle(c, route)
}

// handle runs the handler of a request whose sender is known, with the idempotency key that the sender gave it. An open route
// authenticates the request itself, and reads the key itself.
func (s *server) handle(c *call, route Route) (err error) {
	if err := input.CheckQuery(c.r.URL); err != nil {
		return err
	}
	if route.access != open {
		if c.actor.Key, err = c.idempotencyKey(); err != nil {
			return err
		}
	}
	err = route.handle(s, c)
	if f, ok := errors.AsType[*errs.Error](err); ok && c.longID && notFound[f.Kind] {
		return errs.New(f.Kind, "Not found: the id is too long.") // the message names another number
	}
	return err
}

// notFound are the kinds of faults about an id that nothing has.
var notFound = map[errs.Kind]bool{errs.RecordNotFound: true, errs.SettingNotFound: true, errs.TokenNotFound: true}

// options answers which methods an address has.
func (c *call) options(allow string) {
	c.Header().Set("Allow", allow)
	c.WriteHeader(http.StatusNoContent)
}

// admit authenticates the caller, and rejects the request if they may not act on the site of the path,
// or if they lack the right for the route, or if the API token is not meant for such requests.
func (s *server) admit(c *call, route Route) error {
	site, token := c.r.PathValue("site"), bearer(c.r)
	actor, err := s.app.Sessions.Authenticate(c.ctx, site, token, c.address)
	if err == nil || errs.Is(err, errs.TokenInvalid) || errs.Is(err, errs.JWTInvalid) {
		s.door.known.learn(token, actor)
	}
	c.meet()
	if err != nil {
		return err
	}
	c.site = site
	actor.RequestID, actor.Address = c.requestID, c.address
	c.actor = actor
	if !route.access.allows(actor.Abilities) {
		return access.ErrAbilities(actor.Abilities)
	}
	if route.right != "" {
		return actor.Require(route.right)
	}
	return nil
}

// bearer returns the token in the Authorization header, or "" without one.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// allow lists the methods that an address has, for the header Allow.
func (res resource) allow() string {
	methods := append(slices.Collect(maps.Keys(res)), http.MethodOptions)
	if res[http.MethodGet].handle != nil {
		methods = append(methods, http.MethodHead)
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

// knownMethod returns the method, or "given" for an unknown one: clients may send any text as a method, and that must
// not get into answers and logs.
func knownMethod(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return method
	default:
		return "given"
	}
}

func errNoMethod(method string) error {
	return errs.New(errs.NoMethod, "The method %s is not allowed here.", knownMethod(method))
}

func errNoRoute() error {
	return errs.New(errs.NoRoute, "No route was found matching the URL and request method.")
}
