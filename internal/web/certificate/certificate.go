// Package certificate serves the page where travellers see whether their booking is protected. Anyone with its address
// can read it, so it shows nothing that the traveller does not know. It has no scripts, cookies or third-party content.
// Start reading at New.
package certificate

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // embeds the page and its style
	"encoding/base64"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"holdfast/internal/book/certificates"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/lib/i18n"
	"holdfast/internal/lib/qr"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// Robots is /robots.txt. Crawlers may read certificates, because otherwise they would not see that these must not be
// indexed.
const Robots = "User-agent: *\nAllow: /certificate/\nDisallow: /modal/\nDisallow: /checkout\nDisallow: /3ds/\n"

// Pages serves certificates.
type Pages struct {
	base   string // public URL of the service
	find   func(ctx context.Context, key string) (certificates.Certificate, error)
	note   func(ctx context.Context, key string, n certificates.Note) error
	policy string
	pages  map[string]*template.Template // by language
}

// New returns the pages of all certificates. base is the public URL of the service.
func New(base string, all *certificates.Certificates) (*Pages, error) {
	sum := sha256.Sum256([]byte(pageStyle))
	p := &Pages{base: base, find: all.Show, note: all.TakeNote, pages: map[string]*template.Template{}}
	p.policy = "default-src 'none'; img-src 'self'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	for _, code := range i18n.Codes() {
		page, err := template.New("certificate").Funcs(template.FuncMap{
			"say": i18n.Of(code).Say, "lines": func(text string) []string { return strings.Split(text, "\n") },
		}).Parse(pageText)
		if err != nil {
			return nil, err
		}
		p.pages[code] = page
	}
	return p, nil
}

// ServeHTTP serves the certificate whose key is in the URL.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", p.policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	posted := r.Method == http.MethodPost
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !posted {
		h.Set("Allow", "GET, HEAD, POST")
		http.Error(w, "Only GET and POST are allowed here.", http.StatusMethodNotAllowed)
		return
	}
	key := strings.TrimPrefix(r.URL.Path, certificates.Path)
	found, err := p.find(r.Context(), key)
	wanted := languageOf(r)
	if err == nil && posted && !found.Revoked {
		if wrong := p.take(w, r, key, found); wrong != nil {
			p.show(w, key, found, r.URL.Query().Get("lang"), *wrong)
		}
		return
	}
	switch {
	case errs.Is(err, errs.RecordNotFound):
		p.refuse(w, http.StatusNotFound, "unknown", wanted)
	case err != nil:
		h.Set("Retry-After", "5")
		p.refuse(w, http.StatusServiceUnavailable, "busy", wanted)
	case found.Revoked:
		p.refuse(w, http.StatusGone, "revoked", wanted)
	default:
		p.show(w, key, found, r.URL.Query().Get("lang"), answer{})
	}
}

// languageOf returns the language of a page without a booking: from the URL, or else the browser's.
func languageOf(r *http.Request) string {
	if code := r.URL.Query().Get("lang"); i18n.Known(code) {
		return code
	}
	for tag := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") {
		tag = strings.ToLower(strings.TrimSpace(tag))
		for _, code := range i18n.Codes() {
			if strings.HasPrefix(tag, strings.ToLower(i18n.Of(code).Tag()[:2])) {
				return code
			}
		}
	}
	return check.DefaultLanguage
}

// page is the data of the template.
type page struct {
	i18n.Language
	Style                                   template.CSS
	Title, Heading, Lead                    string
	Look, Mark                              string // CSS class of the state: its colour and icon
	Test                                    bool
	Unprotected                             string
	Facts                                   []fact
	Steps                                   []string
	Merchant, Site, Moment, Address, Action string
	Issuer                                  merchant.Party
	QR                                      qr.Code
	Languages                               []i18n.Language
	Now                                     bool // the merchant is insolvent: the steps are for today
	Note                                    *noteForm
}

// fact is a row of the table.
type fact struct {
	Name, Value string
	Large       bool
}

// The icons next to the headings, as SVG paths.
const (
	tick    = "M4 12.5l5 5L20 6.5"
	cross   = "M5 5l14 14M19 5L5 19"
	dash    = "M4 12h16"
	waiting = "M12 4v9M12 19v.5"
)

// looks are the text, colour and icon of each state.
var looks = map[protection.CertificateState][3]string{
	protection.CertifiedProtected:   {"protected", "good", tick},
	protection.CertifiedPartly:      {"partly", "good", tick},
	protection.CertifiedChargeback:  {"chargeback", "warn", waiting},
	protection.CertifiedEnded:       {"ended", "calm", dash},
	protection.CertifiedRefunded:    {"refunded", "calm", dash},
	protection.CertifiedUnprotected: {"unprotected", "bad", cross},
}

// sayer looks up texts of a language and keeps the first error.
type sayer struct {
	i18n.Language
	err error
}

func (s *sayer) say(key string, values ...any) string {
	said, err := s.Say(key, values...)
	if err != nil && s.err == nil {
		s.err = err
	}
	return said
}

// show serves a certificate, in the language of the URL, or else of the booking.
// given is the input of a form that was rejected.
func (p *Pages) show(w http.ResponseWriter, key string, c certificates.Certificate, wanted string, given answer) {
	if !i18n.Known(wanted) {
		wanted = c.Language
	}
	s := &sayer{Language: i18n.Of(wanted)}
	look := looks[c.State]
	address := certificates.Link(p.base, key)
	code, err := qr.Of(address)
	if err != nil {
		http.Error(w, "The page could not be loaded.", http.StatusInternalServerError)
		return
	}
	v := page{
		Title: s.say("certificate.booking", "reference", c.Reference), Heading: s.say("certificate." + look[0] + ".title"),
		Lead: s.lead(c, look[0]), Look: look[1], Mark: look[2], Test: c.Test, Facts: s.facts(c), Merchant: c.Merchant, Site: c.Site,
		Moment: s.Moment(c.At), Address: address, Action: certificates.Path + key, Issuer: c.Issuer, QR: code,
	}
	if c.Protected > 0 && c.Unprotected > 0 {
		v.Unprotected = s.say("certificate.some_unprotected", "amount", s.Money(c.Unprotected, c.Currency))
	}
	if c.Insolvency.InForce() {
		v.Now = true
		s.insolvent(&v, c)
	}
	if c.TakesNotes() {
		v.Note = s.form(c, given)
	}
	if c.Protected > 0 {
		v.Steps = []string{
			s.say("certificate.step_issuer", "date", s.Day(c.Until)), s.say("certificate.step_reason"), s.say("certificate.step_papers"),
		}
	}
	status := http.StatusOK
	if given.wrong() {
		status = http.StatusUnprocessableEntity
	}
	p.write(w, status, s, v)
}

// lead is the sentence under the heading. Some name the merchant.
func (s *sayer) lead(c certificates.Certificate, look string) string {
	if slices.Contains([]string{"protected", "partly", "unprotected"}, look) {
		return s.say("certificate."+look+".text", "merchant", c.Merchant)
	}
	return s.say("certificate." + look + ".text")
}

// facts are the rows of the table.
func (s *sayer) facts(c certificates.Certificate) []fact {
	var list []fact
	if c.Until != civil.NoDay {
		list = append(list, fact{s.say("label.protected"), s.Money(c.Protected, c.Currency), true},
			fact{s.say("label.until"), s.Day(c.Until), true})
	}
	list = append(list, fact{s.say("label.merchant"), c.Merchant, false}, fact{s.say("label.reference"), c.Reference, false},
		fact{s.say("label.travel"), s.Days(c.Start, c.End), false})
	if c.Country != "" {
		list = append(list, fact{s.say("label.country"), s.Country(c.Country), false})
	}
	return list
}

// refuse serves a page for a certificate that cannot be shown, in the same design. It does not repeat the URL.
func (p *Pages) refuse(w http.ResponseWriter, status int, look, language string) {
	s := &sayer{Language: i18n.Of(language)}
	v := page{Look: "calm", Mark: dash, Heading: s.say("certificate." + look + ".title"), Lead: s.say("certificate." + look + ".text")}
	v.Title = v.Heading
	p.write(w, status, s, v)
}

func (p *Pages) write(w http.ResponseWriter, status int, s *sayer, v page) {
	v.Language, v.Style = s.Language, template.CSS(pageStyle)
	for _, code := range i18n.Codes() {
		v.Languages = append(v.Languages, i18n.Of(code))
	}
	var text bytes.Buffer
	err := s.err
	if err == nil {
		err = p.pages[s.Code()].Execute(&text, v)
	}
	if err != nil {
		http.Error(w, "The page could not be loaded.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", s.Tag())
	w.WriteHeader(status)
	_, _ = text.WriteTo(w) // an error means that the client has disconnected
}
