// Package client is for merchants' servers and for people who watch risk, in Go. It speaks the API of holdfast: typed, with
// retries that never make a thing twice, with lists as iterators. It needs the standard library only. Begin at New.
//
//	c, err := client.New("https://holdfast.example", "demo", client.APIToken("7|secret"))
//	booking, err := c.Bookings.Create(ctx, client.BookingCreate{…})
//	for booking, err := range c.Bookings.All(ctx, client.BookingsQuery{Status: …}) { … }
//
// A call that ends without a clear answer is sent again, with the same idempotency key. AuthString signs a payment for the
// payment modal, and VerifyWebhook checks who sent a webhook.
//
// Amounts are whole numbers of minor units (cents), in the currency that stands beside them. Fields and values that this
// version does not know are no error: fields are left out, values come as they are.
package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client speaks for one user, or one API token, of one site. Many goroutines may use it at once.
type Client struct {
	Bookings     *Bookings
	Transactions *Transactions
	Payments     *Payments
	Channels     *Channels
	Suppliers    *Suppliers
	Reports      *Reports
	Events       *Events
	Limits       *Limits
	Collateral   *CollateralRecords
	Insolvencies *Insolvencies
	Statements   *Statements
	Premiums     *Premiums
	Policies     *Policies
	Rates        *Rates
	Sites        *Sites
	Clock        *SandboxClock
	Proposals    *Proposals
	Mails        *Mails
	ReportMails  *ReportMails
	Audit        *AuditTrail
	Tokens       *Tokens
	Imports      *Imports
	Webhooks     *Webhooks

	connection *connection
}

// connection is what all parts of a client send with. It knows none of them: whoever keeps one part, or a function of it, keeps
// no other part in the program.
type connection struct {
	base        *url.URL
	site        string
	segments    segments
	credentials Credential
	http        *http.Client
	attempts    int
	timeout     time.Duration
	patience    time.Duration
	sleep       func(ctx context.Context, d time.Duration) error
}

// segments are the parts of an address that a deployment can choose.
type segments struct{ rest, service string }

// What a client does unless an option says something else.
const (
	defaultAttempts = 4
	defaultTimeout  = 60 * time.Second
	defaultPatience = 30 * time.Second
)

// New makes a client of the deployment at baseURL, such as https://holdfast.example, and of the site with this path. It
// sends nothing. Use https: outside of your own machine, because each request carries the credentials.
func New(baseURL, site string, credentials Credential, options ...Option) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(baseURL, "/"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the address of the service: %w", err)
	case base.Host == "" || base.Scheme != "https" && base.Scheme != "http":
		return nil, fmt.Errorf("the address of the service must begin with https:// and a host, and not be %q", baseURL)
	case site == "" || strings.Trim(site, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return nil, fmt.Errorf("a site's path has small letters, digits and hyphens, unlike %q", site)
	case credentials == nil:
		return nil, errors.New("a client needs credentials: an APIToken or a Login")
	}
	c := &connection{
		base: base, site: site, segments: segments{"rest", "svc"}, credentials: credentials, http: http.DefaultClient,
		attempts: defaultAttempts, timeout: defaultTimeout, patience: defaultPatience, sleep: sleep,
	}
	for _, option := range options {
		option(c)
	}
	// A copy: the API never sends anybody elsewhere, and a request with credentials must not follow whoever does.
	sender := *c.http
	sender.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &sender
	all := &Client{connection: c}
	all.Bookings, all.Transactions, all.Payments = &Bookings{c}, &Transactions{c}, &Payments{c}
	all.Channels, all.Suppliers, all.Reports = &Channels{c}, &Suppliers{c}, &Reports{c}
	all.Limits, all.Collateral, all.Statements = &Limits{c}, &CollateralRecords{c}, &Statements{c}
	all.Insolvencies = &Insolvencies{c}
	all.Premiums, all.Policies, all.Rates = &Premiums{c}, &Policies{c}, &Rates{c}
	all.Sites, all.Clock, all.Proposals = &Sites{c}, &SandboxClock{c}, &Proposals{c}
	all.Audit, all.Tokens, all.Events = &AuditTrail{c}, &Tokens{c}, &Events{c}
	all.Mails, all.Imports, all.Webhooks, all.ReportMails = &Mails{c}, &Imports{c}, &Webhooks{c}, &ReportMails{c}
	return all, nil
}

// Option changes how a client works.
type Option func(c *connection)

// WithHTTPClient sends with this client: its transport, its proxy, its certificates. Redirects are not followed.
func WithHTTPClient(sender *http.Client) Option { return func(c *connection) { c.http = sender } }

// WithSegments says how a deployment has named two segments of its addresses. The defaults are rest and svc.
func WithSegments(rest, service string) Option {
	return func(c *connection) { c.segments = segments{rest, service} }
}

// WithAttempts says how often a request is sent at most. The default is 4; with 1 nothing is repeated.
func WithAttempts(n int) Option { return func(c *connection) { c.attempts = max(1, n) } }

// WithTimeout says how long one attempt may take. The default is a minute.
func WithTimeout(d time.Duration) Option { return func(c *connection) { c.timeout = d } }

// WithPatience says how long the client waits before a repetition, at most. Who is told to wait for longer gets the error at
// once, with its RetryAfter. The default is 30 seconds.
func WithPatience(d time.Duration) Option { return func(c *connection) { c.patience = d } }

// WithSleep waits with this function instead of a timer. Tests need it. It returns an error when the context ends.
func WithSleep(wait func(ctx context.Context, d time.Duration) error) Option {
	return func(c *connection) { c.sleep = wait }
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// newKey makes an idempotency key that nobody else makes.
func newKey() string { return rand.Text() }

// jitter is a random part of a duration, so that clients that failed together do not come back together.
func jitter(d time.Duration) time.Duration {
	n, err := rand.Int(rand.Reader, big.NewInt(max(1, int64(d))))
	if err != nil {
		return 0
	}
	return time.Duration(n.Int64())
}
