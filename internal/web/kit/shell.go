// Package kit is the frame of the dashboard: sign-in state, page layout, forms, tables and file exports. It has no business
// logic. The pages are in the neighbouring packages; package dashboard assembles them. Start reading at Frame.
package kit

import (
	"cmp"
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
	"holdfast/internal/platform/health"
	"holdfast/internal/web/chart"
)

// Path is the address of the dashboard. Site pages are below Path + "/sites/{site}"; operator and account pages are directly
// below Path.
const Path = "/dashboard"

//go:embed parts
var partFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// MaxForm is the maximum size of a form in bytes, without its file.
const MaxForm = 256 << 10

// Config configures the frame.
type Config struct {
	SignIns *sessions.SignIns
	Log     *slog.Logger
	Base    string // public URL of the service, without a trailing slash
	Profile string // display name: protection-only or server-to-server
	Version string // of the program
	API     string // path between a site and the API's resources, such as /rest/svc/v2
	FontDir string // directory of PDF fonts that are not embedded
	// Clock is the real clock.
	Clock func() time.Time
	// ImportBytes and ImportRows limit imported files; 32 MiB and 50,000 rows by default.
	ImportBytes, ImportRows int
	// Health knows the lag of a standby that reports are read from; nil: pages do not show it.
	Health *health.Health
}

// Frame serves pages to signed-in users. Each handler gets a Visit.
type Frame struct {
	Config
	mux     *http.ServeMux
	parts   *template.Template // shared by all pages; each page has a clone
	own     *template.Template // the clone for the frame's own pages, because an executed template cannot be cloned
	failed  *template.Template // error page for signed-in users
	assets  map[string]asset
	at      string // path of the assets, with their digest
	menus   []Menu
	groups  []Part
	reports []Report
	cross   *http.CrossOriginProtection
}

type asset struct {
	content []byte
	kind    string
}

// New returns a frame without pages.
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
	for _, at := range []string{Path + "/", Path + "/sites/{site}/"} { // below a site, with its sidebar
		f.mux.HandleFunc(at, func(w http.ResponseWriter, r *http.Request) {
			f.run(w, r, "", false, func(*Visit) error { return errNoPage() })
		})
	}
	return f, nil
}

// readAssets reads the browser's files and appends the chart styles to the page styles.
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

// Pages finds a package's templates. Each is a file in the folder pages, defines "main" and may use the templates in
// parts/*.html. Templates are parsed on first use: all of them together take more memory than the rest of an idle program.
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

// Handler handles a request of a signed-in user. Errors are shown as a page.
type Handler func(v *Visit) error

// Site adds a page of a site: pattern is a method and a path below the site, such as "GET /bookings/{id}". Without the
// permission, users get 403; without access to the site, the same response as for a site that does not exist.
func (f *Frame) Site(pattern string, may access.Permission, h Handler) {
	method, below, _ := strings.Cut(pattern, " ")
	f.mux.HandleFunc(method+" "+Path+"/sites/{site}"+below, func(w http.ResponseWriter, r *http.Request) {
		f.run(w, r, may, false, h)
	})
}

// Office adds a page about the whole deployment, for operators only: "GET /sites" is /dashboard/sites.
func (f *Frame) Office(pattern string, may access.Permission, h Handler) {
	method, below, _ := strings.Cut(pattern, " ")
	f.mux.HandleFunc(method+" "+Path+below, func(w http.ResponseWriter, r *http.Request) { f.run(w, r, may, true, h) })
}

// Own adds a page for every signed-in user, such as "GET /account".
func (f *Frame) Own(pattern string, h Handler) {
	method, below, _ := strings.Cut(pattern, " ")
	f.mux.HandleFunc(method+" "+Path+below, func(w http.ResponseWriter, r *http.Request) { f.run(w, r, "", false, h) })
}

// Open adds a page that needs no sign-in, such as "GET /sign-in". Its visit has no user.
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

// Serves reports whether a request is for the dashboard.
func (f *Frame) Serves(r *http.Request) bool {
	return r.URL.Path == Path || strings.HasPrefix(r.URL.Path, Path+"/")
}

// Route returns the pattern that matches a request, such as "POST /dashboard/sign-in", or "".
func (f *Frame) Route(r *http.Request) string {
	_, pattern := f.mux.Handler(r)
	return pattern
}

// IsAsset reports whether a request is for a file that needs no database.
func (f *Frame) IsAsset(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, f.at+"/") }

// policy lets pages load their own styles and scripts. Inline styles and scripts are blocked.
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

// checkSender rejects cross-origin requests. Browsers send the origin; a POST without one does not come from a browser and
// is rejected too: programs use the API.
func (f *Frame) checkSender(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" || f.cross.Check(r) != nil {
		return errs.New(errs.Forbidden, "This form was not sent from the dashboard. Open the page again and resubmit it from there.")
	}
	return nil
}

// run authenticates the user and calls the handler if they have permission.
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

// secure reports whether cookies require TLS: always, except on loopback without TLS.
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

// deviceLife is how long a browser is remembered as a known device.
const deviceLife = 365 * 24 * time.Hour

// SignIn checks the credentials and remembers the browser. The errors are those of sessions.Sessions.Login.
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

// Prove checks the password again, and the second factor if the user has one.
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

// ChangePassword changes the user's password after checking the current one. This browser stays signed in.
func (f *Frame) ChangePassword(v *Visit, old, code, password string, endTokens bool) error {
	cookie, err := f.SignIns.ChangePassword(v.R.Context(), v.Visit, f.login(v, v.User.Username, old, code), password, endTokens, v.R.UserAgent())
	if err == nil {
		f.setCookie(v.W, f.cookieName(), cookie, sessions.SignInLife)
	}
	return err
}

// ConfirmSecondFactor turns the user's second factor on after checking a code of it. This browser stays signed in.
func (f *Frame) ConfirmSecondFactor(v *Visit, code string) (codes []string, err error) {
	address := f.login(v, v.User.Username, "", "").Address
	cookie, codes, err := f.SignIns.ConfirmSecondFactor(v.R.Context(), v.Visit, code, address, v.R.UserAgent())
	if err == nil {
		f.setCookie(v.W, f.cookieName(), cookie, sessions.SignInLife)
	}
	return codes, err
}

// RemoveSecondFactor removes the user's second factor after checking the password and a code.
func (f *Frame) RemoveSecondFactor(v *Visit, password, code string) error {
	return f.SignIns.RemoveSecondFactor(v.R.Context(), v.Visit, f.login(v, v.User.Username, password, code))
}

// SignOut signs the user out of this browser.
func (f *Frame) SignOut(v *Visit) error {
	f.setCookie(v.W, f.cookieName(), "", 0)
	return f.SignIns.SignOut(v.R.Context(), v.Visit, v.SignIn.ID)
}
