// Package client is the Go client of the holdfast API, for merchants' servers and for risk teams. Requests and
// responses are typed, lists are iterators, and retries never create an object twice. It only needs the standard
// library. Start at New.
//
//	c, err := client.New("https://holdfast.example", "demo", client.APIToken("7|secret"))
//	booking, err := c.Bookings.Create(ctx, client.BookingCreate{…})
//	for booking, err := range c.Bookings.All(ctx, client.BookingsQuery{Status: …}) { … }
//
// A request whose outcome is unknown is retried with the same idempotency key. AuthString signs a payment for the
// payment modal, and VerifyWebhook verifies the signature of a webhook.
//
// Amounts are integers in minor units (cents), in the currency of the field next to them. Fields and values that this
// version does not know are not an error: unknown fields are ignored, unknown values are returned as they are.
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

// Client acts as one user, or with one API token, on one site. It is safe for concurrent use.
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
	Claims       *Claims
	Payouts      *Payouts
	Recoveries   *Recoveries
	Disputes     *Disputes
	DisputeFiles *DisputeFiles
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

// connection sends the requests of all parts of a client. It does not refer to the parts, so the linker can drop those
// that a program does not use.
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

// segments are the path segments that a deployment can configure.
type segments struct{ rest, service string }

// Defaults, unless an option sets something else.
const (
	defaultAttempts = 4
	defaultTimeout  = 60 * time.Second
	defaultPatience = 30 * time.Second
)

// New creates a client for the deployment at baseURL, such as https://holdfast.example, and the site with this path. It
// sends no request. Use https: except on your own machine, because each request carries the credentials.
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
	// A copy that follows no redirects: the API sends none, and a request with credentials must not follow one from
	// anywhere else.
	sender := *c.http
	sender.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &sender
	all := &Client{connection: c}
	all.Bookings, all.Transactions, all.Payments = &Bookings{c}, &Transactions{c}, &Payments{c}
	all.Channels, all.Suppliers, all.Reports = &Channels{c}, &Suppliers{c}, &Reports{c}
	all.Limits, all.Collateral, all.Statements = &Limits{c}, &CollateralRecords{c}, &Statements{c}
	all.Claims = &Claims{c}
	all.Payouts = &Payouts{c}
	all.Recoveries = &Recoveries{c}
	all.Insolvencies, all.Disputes, all.DisputeFiles = &Insolvencies{c}, &Disputes{c}, &DisputeFiles{c}
	all.Premiums, all.Policies, all.Rates = &Premiums{c}, &Policies{c}, &Rates{c}
	all.Sites, all.Clock, all.Proposals = &Sites{c}, &SandboxClock{c}, &Proposals{c}
	all.Audit, all.Tokens, all.Events = &AuditTrail{c}, &Tokens{c}, &Events{c}
	all.Mails, all.Imports, all.Webhooks, all.ReportMails = &Mails{c}, &Imports{c}, &Webhooks{c}, &ReportMails{c}
	return all, nil
}

// Option configures a client.
type Option func(c *connection)

// WithHTTPClient sends requests with this HTTP client, with its transport, proxy and certificates. Redirects are not
// followed.
func WithHTTPClient(sender *http.Client) Option { return func(c *connection) { c.http = sender } }

// WithSegments sets two path segments that a deployment can configure. The defaults are rest and svc.
func WithSegments(rest, service string) Option {
	return func(c *connection) { c.segments = segments{rest, service} }
}

// WithAttempts sets the maximum number of attempts per request. The default is 4; 1 disables retries.
func WithAttempts(n int) Option { return func(c *connection) { c.attempts = max(1, n) } }

// WithTimeout sets the timeout of one attempt. The default is one minute.
func WithTimeout(d time.Duration) Option { return func(c *connection) { c.timeout = d } }

// WithPatience sets the longest wait before a retry. If a response asks for a longer wait, the call returns its error
// immediately, with RetryAfter. The default is 30 seconds.
func WithPatience(d time.Duration) Option { return func(c *connection) { c.patience = d } }

// WithSleep replaces the timer that waits before a retry, for tests. The function returns an error when the context
// ends.
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

// newKey generates a unique idempotency key.
func newKey() string { return rand.Text() }

// jitter is a random part of a duration, so that clients that failed at the same time do not retry at the same time.
func jitter(d time.Duration) time.Duration {
	n, err := rand.Int(rand.Reader, big.NewInt(max(1, int64(d))))
	if err != nil {
		return 0
	}
	return time.Duration(n.Int64())
}
