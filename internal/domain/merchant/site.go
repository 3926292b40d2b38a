package merchant

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
)

// ReservedPaths are paths that no site can have, because addresses of the service begin with them. A deployment may
// reserve more (see SiteFields.NewSite).
var ReservedPaths = []string{
	"3ds", "api", "assets", "auth", "certificate", "certificates", "checkout", "dashboard", "docs", "events", "healthz",
	"metrics", "modal", "openapi", "outbox", "readyz", "sandbox", "static",
}

var sitePath = regexp.MustCompile(`^[a-z0-9-]{2,40}$`)

// SiteFields are the fields of a request that makes or changes a site. Absent fields are nil.
type SiteFields struct {
	IfVersion     int64
	Problems      errs.Problems
	Path          *string
	Name          *string
	Sandbox       bool
	Currency      *money.Currency // of its policy
	PermittedURLs *[]string
	// Fields that only the operator can set. Customers can read them; what they send is ignored.
	Issuer       PartyFields
	Policyholder PartyFields
}

// Party is a company as shown on a statement. Address and BankDetails may have several lines.
type Party struct {
	Name        string `json:"name"`
	Address     string `json:"address"`
	TaxNumber   string `json:"tax_number"`
	BankDetails string `json:"bank_details"` // where it is paid
}

// PartyFields are the fields of a Party in a request. Absent fields are nil.
type PartyFields struct {
	Name        *string
	Address     *string
	TaxNumber   *string
	BankDetails *string
}

// MaxParty is how many characters an address or bank details have at most, and MaxPartyLines how many lines.
const (
	MaxParty      = 500
	MaxPartyLines = 6
)

// change returns the party with the fields set. Problems are noted under the names of the fields after a prefix.
func (f PartyFields) change(party Party, prefix string, p *errs.Problems) Party {
	for _, of := range []struct {
		name  string
		given *string
		field *string
		lines int
	}{
		{"name", f.Name, &party.Name, 1}, {"address", f.Address, &party.Address, MaxPartyLines},
		{"tax_number", f.TaxNumber, &party.TaxNumber, 1}, {"bank_details", f.BankDetails, &party.BankDetails, MaxPartyLines},
	} {
		if of.given == nil {
			continue
		}
		*of.field = strings.TrimSpace(strings.ReplaceAll(*of.given, "\r\n", "\n"))
		limit := check.MaxText
		if of.lines > 1 {
			limit = MaxParty
		}
		check.Text(p, prefix+of.name, *of.field, limit)
		if n := strings.Count(*of.field, "\n") + 1; n > of.lines && of.lines == 1 {
			p.Wrong(prefix+of.name, "Line breaks are not allowed.")
		} else if n > of.lines {
			p.Wrong(prefix+of.name, "At most %d lines are allowed.", of.lines)
		}
	}
	return party
}

// NewSite makes a site with the default policy. It adds problems to p. reserved are paths that this deployment keeps
// for itself.
func (f SiteFields) NewSite(reserved []string, p *errs.Problems) Site {
	check.Required(p, "path", f.Path)
	check.Required(p, "name", f.Name)
	if f.Currency == nil && !p.Has("currency") {
		p.Missing("currency")
	}
	s := Site{Sandbox: f.Sandbox}
	check.Set(&s.Path, f.Path)
	switch {
	case !sitePath.MatchString(s.Path):
		p.Wrong("path", "Must be 2 to 40 lowercase letters, digits and hyphens.")
	case slices.Contains(ReservedPaths, s.Path) || slices.Contains(reserved, s.Path):
		p.Wrong("path", "This path is reserved.")
	}
	if f.Currency != nil {
		s.Policy = terms.DefaultPolicy(*f.Currency)
	}
	return f.Change(s, true, p)
}

// Change returns the site with the fields set. It adds problems to p. byOperator allows the fields that only the operator
// sets.
func (f SiteFields) Change(s Site, byOperator bool, p *errs.Problems) Site {
	if byOperator {
		if f.Name != nil {
			s.Name = *f.Name
			check.Line(p, "name", s.Name)
			if s.Name == "" && !p.Has("name") {
				p.Missing("name")
			}
		}
		s.Issuer = f.Issuer.change(s.Issuer, "issuer_", p)
		s.Policyholder = f.Policyholder.change(s.Policyholder, "policyholder_", p)
	}
	if f.PermittedURLs == nil {
		return s
	}
	s.PermittedURLs = []string{}
	if len(*f.PermittedURLs) > check.MaxList {
		p.Wrong("permitted_urls", "At most %d origins are allowed.", check.MaxList)
		return s
	}
	for i, text := range *f.PermittedURLs {
		origin, ok := originOf(text)
		if !ok {
			p.Wrong(errs.Item("permitted_urls", i, ""), "Must be an origin such as https://shop.example or http://localhost:3000.")
		}
		if !slices.Contains(s.PermittedURLs, origin) {
			s.PermittedURLs = append(s.PermittedURLs, origin)
		}
	}
	return s
}

var (
	hostName    = regexp.MustCompile(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*$`) // others are written in punycode
	defaultPort = map[string]string{"https": "443", "http": "80"}
)

// originOf reads an origin and returns it as browsers send it: scheme, host, and the port unless it is the default
// one. Plain http is only for the integrator's own machine.
func originOf(text string) (string, bool) {
	u, err := url.Parse(strings.TrimSuffix(strings.ToLower(text), "/"))
	if err != nil || len(text) > check.MaxText || u.Scheme+"://"+u.Host != u.String() || strings.HasSuffix(u.Host, ":") {
		return "", false
	}
	local := isLocal(u.Hostname())
	if u.Scheme != "https" && (u.Scheme != "http" || !local) || !hostName.MatchString(u.Hostname()) && net.ParseIP(u.Hostname()) == nil {
		return "", false
	}
	host := strings.TrimSuffix(u.Host, ":"+u.Port())
	if u.Port() == "" || u.Port() == defaultPort[u.Scheme] {
		return u.Scheme + "://" + host, true
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return u.Scheme + "://" + host + ":" + strconv.FormatUint(port, 10), err == nil && port > 0
}

// MayReturnTo reports whether a shopper may be sent to an address after a challenge: it lies on a permitted origin. Otherwise
// whoever has a token could send shoppers of the merchant to a page of their own. What moves no real money may also return
// to the integrator's own machine.
func (s Site) MayReturnTo(address string, test bool) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return false
	}
	origin, ok := originOf(u.Scheme + "://" + u.Host)
	return ok && (slices.Contains(s.PermittedURLs, origin) || test && isLocal(u.Hostname()))
}

func isLocal(host string) bool {
	return slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, strings.ToLower(host))
}

// Site is an acquirer or a platform: it holds a policy, and its merchants are its channels.
type Site struct {
	ID            int64
	Path          string // first segment of its addresses
	Name          string
	Sandbox       bool          // decided when it is made, and never changed (R0)
	ClockAhead    time.Duration // how far its clock is ahead of the real one; only a sandbox's can be moved
	PermittedURLs []string      // origins of pages that may open the payment modal
	Issuer        Party         // who issues the statements of the site and is paid
	Policyholder  Party         // whose policy it is; the name is that of the site unless another one is set
	Policy        terms.Policy  // in force today, without its terms of premium
	ChannelCount  int64
	Version       int64
	CreatedAt     time.Time
	ModifiedAt    time.Time
}
