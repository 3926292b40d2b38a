package kit

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/account/sessions"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/card"
	"holdfast/internal/errs"
	"holdfast/internal/platform/health"
)

// Visit is one request and its user.
type Visit struct {
	sessions.Visit
	W       http.ResponseWriter
	R       *http.Request
	Address string // the client's IP address
	frame   *Frame
	lag     health.Lag
	status  int // HTTP status; 0 means 200
}

func (f *Frame) visit(w http.ResponseWriter, r *http.Request) *Visit {
	v := &Visit{W: w, R: r, Address: r.RemoteAddr, frame: f}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		v.Address = host
	}
	if f.Health != nil {
		v.R = r.WithContext(f.Health.Noting(r.Context(), &v.lag))
	}
	return v
}

// Lag returns the lag in seconds of the standby that a report of the page was read from, such as 0.250; "" if none was.
func (v *Visit) Lag() string { return v.lag.Seconds() }

// Can reports whether the user has a permission on the site.
func (v *Visit) Can(p access.Permission) bool { return v.User.ID != 0 && v.Actor.Can(p) }

// Operator reports whether the user is an operator.
func (v *Visit) Operator() bool { return v.User.Operator }

// Now is the site's time, or the real time outside a site.
func (v *Visit) Now() time.Time { return v.frame.Clock().Add(v.Actor.Ahead).UTC() }

// At returns a URL below the site, such as v.At("/bookings/7").
func (v *Visit) At(below string) string { return Path + "/sites/" + v.Site.Path + below }

// LinkPath is the path of one-time links, followed by their secret.
const LinkPath = Path + "/password/"

// LinkTo returns the full URL of a one-time link (see links.Links), to show to its creator.
func (f *Frame) LinkTo(secret string) string { return f.Base + LinkPath + secret }

// linkLife is how long a browser keeps the secret of an opened one-time link.
const linkLife = 30 * time.Minute

// KeepLink stores a one-time link's secret in a cookie and redirects to the link's page. So the secret does not stay in the
// URL, where it would end up in the browser history or could be read over a shoulder.
func (v *Visit) KeepLink(secret string) error {
	v.frame.setCookie(v.W, v.frame.linkName(), secret, linkLife)
	return v.Go(strings.TrimSuffix(LinkPath, "/"))
}

// KeptLink returns the secret of the one-time link opened last, or "".
func (v *Visit) KeptLink() string {
	c, err := v.R.Cookie(v.frame.linkName())
	if err != nil {
		return ""
	}
	return c.Value
}

// ForgetLink deletes the cookie of a used one-time link.
func (v *Visit) ForgetLink() { v.frame.setCookie(v.W, v.frame.linkName(), "", 0) }

// ID reads an ID from the URL. An invalid one is a 404.
func (v *Visit) ID(name string) (int64, error) {
	id, err := strconv.ParseInt(v.R.PathValue(name), 10, 64)
	if err != nil || id <= 0 {
		return 0, errNoPage()
	}
	return id, nil
}

// Query returns a query value, or "".
func (v *Visit) Query(name string) string { return strings.TrimSpace(v.R.URL.Query().Get(name)) }

// With returns this page's URL with other query values, given as pairs of name and value; "" removes one.
func (v *Visit) With(pairs ...string) string {
	q := v.R.URL.Query()
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			q.Del(pairs[i])
			continue
		}
		q.Set(pairs[i], pairs[i+1])
	}
	if len(q) == 0 {
		return v.R.URL.Path
	}
	return v.R.URL.Path + "?" + q.Encode()
}

// Go redirects to another page after a successful POST.
func (v *Visit) Go(address string) error {
	if m, ok := v.W.(*maker); ok {
		m.err = errNoFile()
		return nil
	}
	http.Redirect(v.W, v.R, address, http.StatusSeeOther)
	return nil
}

// Done redirects to another page, which shows a flash message once.
func (v *Visit) Done(address, format string, args ...any) error {
	v.leaveNote(noted{Text: fmt.Sprintf(format, args...), Tone: "done"})
	return v.Go(address)
}

// Waits is Done for changes pending a second operator's approval: the message links to the proposal.
func (v *Visit) Waits(address string, proposal int64, said string) error {
	v.leaveNote(noted{said, Link{Text: "View proposal", Href: v.At("/approvals/" + strconv.FormatInt(proposal, 10))}, "done"})
	return v.Go(address)
}

// noted is a flash message.
type noted struct {
	Text string
	See  Link   // link after the text; without text if there is none
	Tone string // done or warned
}

// noteParts separates the parts of a flash message in its cookie.
const noteParts = "\x00"

func (v *Visit) leaveNote(n noted) {
	text := strings.Join([]string{n.Text, n.See.Text, n.See.Href, n.Tone}, noteParts)
	v.frame.setCookie(v.W, v.frame.noteName(), base64.RawURLEncoding.EncodeToString([]byte(text)), time.Minute)
}

// note takes the previous page's flash message. Its link is forced to stay in the dashboard, because cookies can be forged.
func (v *Visit) note() (n noted) {
	c, err := v.R.Cookie(v.frame.noteName())
	if err != nil {
		return n
	}
	v.frame.setCookie(v.W, v.frame.noteName(), "", 0)
	text, _ := base64.RawURLEncoding.DecodeString(c.Value) // invalid cookies are ignored
	if parts := strings.Split(string(text), noteParts); len(parts) == 4 {
		n = noted{parts[0], Link{Text: parts[1], Href: v.frame.Local(parts[2])}, parts[3]}
	}
	return n
}

// withoutCards redirects if the query contains a card number, for example typed into a search. So the number appears in no
// page and not in the browser history.
func (v *Visit) withoutCards() (went bool) {
	clean := v.R.URL.Query()
	var cards []string
	for name, list := range clean {
		if card.HoldsCardNumber(name) || slices.ContainsFunc(list, card.HoldsCardNumber) {
			cards = append(cards, name)
		}
	}
	if len(cards) == 0 {
		return false
	}
	for _, name := range cards {
		clean.Del(name)
	}
	address := v.R.URL.EscapedPath()
	if len(clean) > 0 {
		address += "?" + clean.Encode()
	}
	v.leaveNote(noted{Text: "This contains a card number. Nothing was searched or stored. Never enter card numbers here.", Tone: "warned"})
	_ = v.Go(address)
	return true
}

// Status sets the HTTP status of the page.
func (v *Visit) Status(status int) { v.status = status }

// NeedsProof asks for the password again unless it was entered recently. If it returns false it has responded, and the
// browser returns to this page afterwards.
func (v *Visit) NeedsProof() (proven bool, err error) {
	if v.SignIn.Proven(v.frame.Clock()) {
		return true, nil
	}
	back := v.R.URL.RequestURI()
	if v.R.Method != http.MethodGet {
		back = v.R.Referer()
	}
	return false, v.Go(Path + "/prove?back=" + template.URLQueryEscaper(v.frame.Local(back)))
}

// Local returns a dashboard URL that is safe to redirect to; any other URL becomes the start page.
func (f *Frame) Local(address string) string {
	address = strings.TrimPrefix(address, f.Base)
	if (address == Path || strings.HasPrefix(address, Path+"/") || strings.HasPrefix(address, Path+"?")) && !strings.ContainsAny(address, "\\\r\n") {
		return address
	}
	return Path
}

// statusOf is the HTTP status of each kind of error.
func statusOf(err error) int {
	switch errs.KindOf(err) {
	case errs.Invalid, errs.Missing, errs.CardNumber, errs.PageNumber, errs.BadRequest, errs.BadJSON:
		return http.StatusBadRequest
	case errs.BodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case errs.Forbidden, errs.LoginFailed, errs.TwoFactorRequired, errs.TwoFactorInvalid:
		return http.StatusForbidden
	case errs.NoRoute, errs.RecordNotFound, errs.SettingNotFound, errs.TokenNotFound:
		return http.StatusNotFound
	case errs.InUse, errs.NotPossible, errs.ActionNotPossible, errs.SamePerson, errs.TokenLimit, errs.ReferenceExists, errs.Precondition, errs.IdempotencyInFlight,
		errs.IdempotencyMismatch:
		return http.StatusConflict
	case errs.TooMany:
		return http.StatusTooManyRequests
	case errs.Unavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// fail shows an error page, or redirects to the sign-in page.
func (v *Visit) fail(err error) {
	if m, ok := v.W.(*maker); ok {
		m.err = err
		return
	}
	if errs.Is(err, errs.NotLoggedIn) {
		v.frame.setCookie(v.W, v.frame.cookieName(), "", 0)
		back := ""
		if v.R.Method == http.MethodGet && v.R.URL.Path != Path {
			back = "?back=" + template.URLQueryEscaper(v.R.URL.RequestURI())
		}
		_ = v.Go(Path + "/sign-in" + back)
		return
	}
	over := v.R.Context().Err()
	if errors.Is(err, context.Canceled) && errors.Is(over, context.Canceled) {
		return // the browser has disconnected, so no one would read the page
	}
	if errors.Is(err, context.DeadlineExceeded) && errors.Is(over, context.DeadlineExceeded) {
		err = &errs.Error{Kind: errs.Unavailable, Message: "The request took too long.", RetryAfter: time.Second, Err: err}
	}
	v.status = statusOf(err)
	text := "Something went wrong. The error is in the log, under this request ID."
	f, known := errors.AsType[*errs.Error](err)
	if known && v.status != http.StatusInternalServerError {
		text = f.Message
		if f.RetryAfter > 0 {
			v.W.Header().Set("Retry-After", strconv.Itoa(max(1, int(f.RetryAfter/time.Second))))
		}
	} else if v.R.Context().Err() == nil {
		v.frame.Log.Error("dashboard page failed", "route", v.frame.Route(v.R), "request", v.W.Header().Get("X-Request-Id"), "error", err)
	}
	title := map[int]string{
		http.StatusNotFound: "Not found", http.StatusForbidden: "Permission denied",
		http.StatusServiceUnavailable: "Try again shortly", http.StatusTooManyRequests: "Try again shortly",
	}[v.status]
	data := struct{ Text, RequestID string }{text, v.W.Header().Get("X-Request-Id")}
	if err := v.render(v.frame.failed, Page{Title: cmp.Or(title, "Something went wrong"), Menu: "none", Data: data}, "failed"); err != nil {
		http.Error(v.W, text, v.status)
	}
}

// send writes a page, compressed if it is large.
func (v *Visit) send(content []byte) {
	if m, ok := v.W.(*maker); ok {
		m.err = errNoFile()
		return
	}
	v.W.Header().Set("Content-Type", "text/html; charset=utf-8")
	writeSmall(v.W, v.R, cmp.Or(v.status, http.StatusOK), content)
}

// writeSmall writes content, compressed if the browser accepts it.
func writeSmall(w http.ResponseWriter, r *http.Request, status int, content []byte) {
	w.Header().Add("Vary", "Accept-Encoding")
	if len(content) > 1400 && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var zipped bytes.Buffer
		z, _ := gzip.NewWriterLevel(&zipped, gzip.BestSpeed) // the level is valid
		_, _ = z.Write(content)                              // writing to a buffer never fails
		_ = z.Close()
		w.Header().Set("Content-Encoding", "gzip")
		content = zipped.Bytes()
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(content) // an error means that the client has disconnected
	}
}
