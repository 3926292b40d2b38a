package api

import (
	"context"
	"holdfast/internal/core"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/fault"
)

type server struct {
	app  *app.App
	core *core.Core
	cfg  Config
	mux  *http.ServeMux
	// ownPages tells what other pages have a browser send from what our own do.
	ownPages *http.CrossOriginProtection
}

// resource is the operations at one address, by method.
type resource map[string]Route

// call is one request and its answer. It is the http.ResponseWriter that the mux hands on, so that whatever is
// written passes through it and the log can tell what was.
type call struct {
	http.ResponseWriter
	r         *http.Request
	ctx       context.Context
	actor     auth.Actor // of routes for members
	id        int64      // in the path; 0 where the pattern has none
	requestID string
	address   string // of the client
	site      string // path of the site, once it is known to be one
	route     string // the pattern that answers
	status    int
	bytes     int
}

// WriteHeader implements http.ResponseWriter.
func (c *call) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (c *call) Write(p []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	n, err := c.ResponseWriter.Write(p)
	c.bytes += n
	return n, err
}

// ServeHTTP answers one request, whatever happens: this is the outermost layer of the API.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := s.core.Clock()
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Timeout)
	defer cancel()
	c := &call{ResponseWriter: w, ctx: ctx, address: s.clientAddress(r), requestID: s.requestID(r)}
	defer func() { s.log(c, r, s.core.Clock().Sub(began)) }()
	defer s.recover(c)
	s.writeCommonHeaders(c)
	// The mux would redirect an address with empty or dotted segments; here it is one that does not exist.
	clean := withoutSlash(r.URL)
	if path.Clean(clean.Path) != clean.Path || !storable(clean.Path) {
		s.fail(c, errNoRoute())
		return
	}
	r = r.WithContext(ctx)
	r.URL = clean
	c.r = r
	s.mux.ServeHTTP(c, r)
}

// withoutSlash takes a slash at the end off: both addresses are the same resource.
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
		id, ok := parseID(text)
		if !ok {
			return errNoRoute()
		}
		c.id = id
	}
	method := c.r.Method
	if method == http.MethodHead { // net/http drops the body of the answer
		method = http.MethodGet
	}
	route, ok := res[method]
	if !ok {
		c.Header().Set("Allow", res.allow())
		return fault.New(fault.NoMethod, "The method %s is not possible here.", knownMethod(method))
	}
	if err := checkQuery(c.r.URL); err != nil {
		return err
	}
	if route.access == member {
		if err := s.admit(c); err != nil {
			return err
		}
	}
	return route.handle(s, c)
}

// admit finds out who calls and whether they may act on the site of the path.
func (s *server) admit(c *call) error {
	actor, err := s.app.Sessions.Authenticate(c.ctx, c.r.PathValue("site"), bearer(c.r))
	if err != nil {
		return err
	}
	c.site = c.r.PathValue("site")
	actor.RequestID, actor.Address = c.requestID, c.address
	c.actor = actor
	return nil
}

// bearer gives the credentials of a request, "" where it has none that this service knows.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// allow lists the methods that an address answers to.
func (res resource) allow() string {
	methods := slices.Collect(maps.Keys(res))
	if res[http.MethodGet].handle != nil {
		methods = append(methods, http.MethodHead)
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

// knownMethod keeps what a client may put in place of a method out of answers and logs.
func knownMethod(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return method
	default:
		return "given"
	}
}

// parseID reads an id as addresses have it: digits only.
func parseID(text string) (int64, bool) {
	for _, r := range text {
		if r < '0' || r > '9' {
			return 0, false
		}
	}
	id, err := strconv.ParseInt(text, 10, 64)
	// More digits than an id can have is a number all the same, of something that does not exist.
	return id, err == nil || len(text) > 18
}

func errNoRoute() error {
	return fault.New(fault.NoRoute, "No route was found matching the URL and request method.")
}
