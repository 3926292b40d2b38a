// Package kit is the frame of the dashboard: sign-in state, page layout, forms, tables and file
// exports. It has no business logic. The pages are in the neighbouring packages, and package dashboard assembles them. Start reading
// at Frame.
package kit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"holdfast/internal/account/sessions"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/web/chart"
)

// Path is the address of the dashboard. The pages of a site are below Path + "/sites/{site}", those of the operator's people
// and of one's own account are directly below Path.
const Path = "/dashboard"

//go:embed parts
var partFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// MaxForm is how many bytes a form may have, without the file in it.
const MaxForm = 256 << 10

// Config is what the frame needs.
type Config struct {
	SignIns *sessions.SignIns
	Log     *slog.Logger
	Base    string // the address under which people reach the service, without a slash at its end
	Profile string // protection-only or server-to-server, as it is shown
	Version string // of the program
	API     string // what stands between a site and the resources of the API in addresses, such as /rest/svc/v2
	FontDir string // of the fonts of papers that are not part of the program
	// Clock is the real clock.
	Clock func() time.Time
	// ImportBytes and ImportRows bound a file that somebody imports; 32 MiB and 50,000 by default.
	ImportBytes, ImportRows int
	// AddressOf says where a request comes from, behind whatever proxies there are.
	AddressOf func(r *http.Request) string
	// Noting is a context for a page, and tells how many seconds behind the copy was from which its reports were read; "" for none.
	Noting func(ctx context.Context) (noting context.Context, seconds func() string)
}

// Frame serves pages to people who are signed in. Each handler gets a Visit.
type Frame struct {
	Config
	mux     *http.ServeMux
	parts   *template.Template // what all pages share: each page has a copy
	own     *template.Template // the copy for the frame's own pages, because what was shown once cannot be copied any more
	failed  *template.Template // the page of an error, for somebody who is signed in
	assets  map[string]asset
	at      string // the address of the assets; it changes with them
	menus   []Menu
	groups  []Part
	reports []Report
	cross   *http.CrossOriginProtection
}

type asset struct {
	content []byte
	kind    string
}

// New makes a frame without pages.
func New(cfg Config) (*Frame, error) {
	cfg.ImportBytes, cfg.ImportRows = cmp.Or(cfg.ImportBytes, 32<<20), cmp.Or(cfg.ImportRows, 50_000)
	f := &Frame{Config: cfg, mux: http.NewServeMux(), assets: map[string]asset{}, cross: http.NewCrossOriginProtection()}
	if err := f.readAssets(); err != nil {
		return nil, err
	}
	var err error
	f.parts, err = template.New("parts").Funcs(f.functions()).ParseFS(partFiles, "parts/*.html")
	if err != nil {
		return nil, err
	}
	if f.own, err = f.parts.Clone(); err != nil {
		return nil, err
	}
	if f.failed, err = f.parts.Clone(); err != nil {
		return nil, err
	}
	if _, err = f.failed.AddParseTree("main", f.parts.Lookup("failed-main").Tree); err != nil {
		return nil, err
	}
	f.mux.HandleFunc("GET "+f.at+"/{name}", f.serveAsset)
	for _, at := range []string{Path + "/", Path + "/sites/{site}/"} { // below a site, with the menu of the site
		f.mux.HandleFunc(at, func(w http.ResponseWriter, r *http.Request) {
			f.run(w, r, "", false, func(*Visit) error { return errNoPage() })
		})
	}
	return f, nil
}

// readAssets takes the files of the browser, with the style of the charts behind that of the pages.
func (f *Frame) readAssets() error {
	kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	digest := sha256.New()
	list, err := assetFiles.ReadDir("assets")
	if err != nil {
		return err
	}
	for _, file := range list {
		content, err := assetFiles.ReadFile("assets/" + file.Name())
		if err != nil {
			return err
		}
		if path.Ext(file.Name()) == ".css" {
			content = append(content, chart.Style()...)
		}
		digest.Write(content)
		f.assets[file.Name()] = asset{content, kinds[path.Ext(file.Name())]}
	}
	f.at = Path + "/assets/" + hex.EncodeToString(digest.Sum(nil)[:8])
	return nil
}

func (f *Frame) serveAsset(w http.ResponseWriter, r *http.Request) {
	found, ok := f.assets[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", found.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	writeSmall(w, r, http.StatusOK, found.content)
}

// Pages finds the templates of a package of pages. A template is a file of the folder pages; it defines "main", and may use
// whatever parts/*.html define. It is read when it is shown first: all of them together take more memory than the rest of a
// program that nobody uses.
func (f *Frame) Pages(files fs.FS) (Pages, error) {
	p := Pages{frame: f, read: map[string]func() (*template.Template, error){}}
	names, err := fs.Glob(files, "pages/*.html")
	for _, name := range names {
		p.read[path.Base(name)] = sync.OnceValues(func() (*template.Template, error) {
			made, err := f.parts.Clone()
			if err != nil {
				return nil, err
			}
			return made.ParseFS(files, name)
		})
	}
	return p, err
}

// Pages are the templates of one package.
type Pages struct {
	frame *Frame
	read  map[string]func() (*template.Template, error)
}

// Handler answers one request of somebody who is signed in. An error becomes a page that says it.
type Handler func(v *Visit) error

// Site adds a page of a site: pattern is a method and an address below the site, such as "GET /bookings/{id}". Who lacks the
// permission gets 403, and who has no access to the site the same answer as for a site that does not exist.
func (f *Frame) Site(pattern string, may access.Permission, h Handler) {
	method, below, _ := strings.Cut(pattern, " ")
	f.mux.HandleFunc(method+" "+Path+"/sites/{site}"+below, func(w http.ResponseWriter, r *http.Request) {
		f.run(w, r, may, false, h)
	})
}

// Office adds a page of the whole deployment, for the operator's people alone: "GET /sites" is /dashboard/sites.
func (f *Frame) Office(pattern string, may access.Permission, h Handler) {
	method, below, _ := strings.Cut(pattern, " ")
	f.mux.HandleFunc(method+" "+Path+below, func(w http.ResponseWriter, r *http.Request) { f.run(w, r, may, true, h) })
}

// Own adds a page that everybody who is signed in may see, such as "GET /account".
func (f *Frame) Own(pattern string, h Handler) {
	method, below, _ := strings.Cut(pattern, " ")
	f.mux.HandleFunc(method+" "+Path+below, func(w http.ResponseWriter, r *http.Request) { f.run(w, r, "", false, h) })
}

// Open adds a page for people who are not signed in, such as "GET /sign-in". Its visit has no user.
func (f *Frame) Open(pattern string, h Handler) {
	method, below, _ := strings.Cut(pattern, " ")
	f.mux.HandleFunc(method+" "+Path+below, func(w http.ResponseWriter, r *http.Request) {
		v := f.visit(w, r)
		if err := f.checkSender(r); err != nil {
			v.fail(err)
			return
		}
		if err := h(v); err != nil {
			v.fail(err)
		}
	})
}

// Serves says whether a request is for the dashboard.
func (f *Frame) Serves(r *http.Request) bool {
	return r.URL.Path == Path || strings.HasPrefix(r.URL.Path, Path+"/")
}

// Route is the pattern of the page that answers a request, such as "POST /dashboard/sign-in"; "" for none.
func (f *Frame) Route(r *http.Request) string {
	_, pattern := f.mux.Handler(r)
	return pattern
}

// IsAsset says whether a request is for a file that needs no database.
func (f *Frame) IsAsset(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, f.at+"/") }

// policy lets pages load their own style and script. No script and no style may stand in a page.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-src 'self'; frame-ancestors 'none'"

// ServeHTTP implements http.Handler.
func (f *Frame) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("Cache-Control", "no-store")
	if r.URL.RawQuery != "" && f.visit(w, r).withoutCards() {
		return
	}
	f.mux.ServeHTTP(w, r)
}

// checkSender refuses what another site's page sends. A browser says where a request comes from; a POST that does not say so
// comes from no browser, and has no business here: programs use the API.
func (f *Frame) checkSender(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" || f.cross.Check(r) != nil {
		return errs.New(errs.Forbidden, "This form was not sent from the dashboard. Open the page again and resubmit it from there.")
	}
	return nil
}

// run finds out who asks, and lets the handler answer if they may.
func (f *Frame) run(w http.ResponseWriter, r *http.Request, may access.Permission, office bool, h Handler) {
	v := f.visit(w, r)
	if err := f.enter(v, may, office); err != nil {
		v.fail(err)
		return
	}
	if err := h(v); err != nil {
		v.fail(err)
	}
}

func (f *Frame) enter(v *Visit, may access.Permission, office bool) error {
	if m, ok := v.W.(*maker); ok {
		return m.enterAs(v, may, office)
	}
	if err := f.checkSender(v.R); err != nil {
		return err
	}
	cookie, err := v.R.Cookie(f.cookieName())
	if err != nil {
		return errs.New(errs.NotLoggedIn, "You are not signed in.")
	}
	found, err := f.SignIns.Visit(v.R.Context(), v.R.PathValue("site"), cookie.Value, v.Address)
	if err != nil {
		return err
	}
	v.Visit = found
	v.Actor.RequestID = v.W.Header().Get("X-Request-Id")
	switch {
	case office && found.Actor.Role != access.Operator:
		return errNoPage()
	case may != "":
		return found.Actor.Require(may)
	}
	return nil
}

func errNoPage() error { return errs.New(errs.NoRoute, "Page not found.") }

// Cookies. The prefix __Host- binds a cookie to this host and to TLS; without TLS, on loopback, browsers refuse it.
func (f *Frame) cookieName() string { return f.named("holdfast_signed_in") }

func (f *Frame) deviceName() string { return f.named("holdfast_device") }

func (f *Frame) noteName() string { return f.named("holdfast_note") }

func (f *Frame) linkName() string { return f.named("holdfast_link") }

func (f *Frame) named(name string) string {
	if f.secure() {
		return "__Host-" + name
	}
	return name
}

// secure says whether cookies are for TLS alone: always, but where the service is on loopback and has no TLS.
func (f *Frame) secure() bool {
	base, err := url.Parse(f.Base)
	if err != nil || base.Scheme == "https" {
		return true
	}
	switch base.Hostname() {
	case "localhost", "127.0.0.1", "::1":
		return false
	}
	return true
}

func (f *Frame) setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	c := &http.Cookie{
		Name: name, Value: value, Path: "/", HttpOnly: true, Secure: f.secure(), SameSite: http.SameSiteLaxMode,
		MaxAge: int(life / time.Second),
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// deviceLife is how long a browser is known as one in which somebody has signed in before.
const deviceLife = 365 * 24 * time.Hour

// SignIn checks a login and remembers the browser. The errors are those of sessions.Sessions.Login.
func (f *Frame) SignIn(v *Visit, username, password, code string) error {
	in := f.login(v, username, password, code)
	cookie, device, err := f.SignIns.SignIn(v.R.Context(), in, v.R.UserAgent())
	if err != nil {
		return err
	}
	f.setCookie(v.W, f.cookieName(), cookie, sessions.SignInLife)
	f.setCookie(v.W, f.deviceName(), device, deviceLife)
	return nil
}

// Prove checks the password again, and the second factor where there is one.
func (f *Frame) Prove(v *Visit, password, code string) error {
	return f.SignIns.Prove(v.R.Context(), v.Visit, f.login(v, v.User.Username, password, code))
}

func (f *Frame) login(v *Visit, username, password, code string) sessions.Login {
	in := sessions.Login{Username: username, Password: password, Code: code, Address: v.Address}
	if device, err := v.R.Cookie(f.deviceName()); err == nil {
		in.Devices = []string{device.Value}
	}
	return in
}

// ChangePassword sets another password for the user of a visit, who gives the old one. This browser stays signed in.
func (f *Frame) ChangePassword(v *Visit, old, code, password string, endTokens bool) error {
	cookie, err := f.SignIns.ChangePassword(v.R.Context(), v.Visit, f.login(v, v.User.Username, old, code), password, endTokens, v.R.UserAgent())
	if err == nil {
		f.setCookie(v.W, f.cookieName(), cookie, sessions.SignInLife)
	}
	return err
}

// RemoveSecondFactor removes the second factor of the user of a visit, who gives the password and a code.
func (f *Frame) RemoveSecondFactor(v *Visit, password, code string) error {
	return f.SignIns.RemoveSecondFactor(v.R.Context(), v.Visit, f.login(v, v.User.Username, password, code))
}

// SignOut ends the sign-in of a visit.
func (f *Frame) SignOut(v *Visit) error {
	f.setCookie(v.W, f.cookieName(), "", 0)
	return f.SignIns.SignOut(v.R.Context(), v.Visit, v.SignIn.ID)
}
