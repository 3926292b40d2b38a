package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/lib/pdf"
	"holdfast/internal/psp/tokenizer"

	"github.com/alecthomas/kong"
)

// Config holds the settings: what differs from one deployment to another. Each flag has an environment variable of the
// same name.
type Config struct {
	Database string `default:"sqlite:holdfast-data/holdfast.db" env:"HOLDFAST_DATABASE" placeholder:"URL" help:"Database: sqlite:PATH or postgres://… (default: sqlite:holdfast-data/holdfast.db)."`

	Replica       string        `env:"HOLDFAST_REPLICA" placeholder:"URL" help:"PostgreSQL standby for long reports: postgres://… (default: none)."`
	ReplicaMaxLag time.Duration `name:"replica-max-lag" default:"10s" env:"HOLDFAST_REPLICA_MAX_LAG" placeholder:"DURATION" help:"Maximum lag of the standby, at most 10m (default: 10s). Beyond it, reports read the primary."`

	Listen  string `default:"127.0.0.1:8080" env:"HOLDFAST_LISTEN" placeholder:"ADDRESS" help:"Address and port to listen on (default: 127.0.0.1:8080). Port 0 means any free port."`
	BaseURL string `name:"base-url" env:"HOLDFAST_BASE_URL" placeholder:"URL" help:"Public URL of the service (default: derived from --listen)."`

	Profile     string `default:"protection-only" enum:"protection-only,server-to-server" env:"HOLDFAST_PROFILE" placeholder:"PROFILE" help:"protection-only (default): merchants log payments taken elsewhere. server-to-server: they can also take card payments."`
	KeysFile    string `name:"keys-file" env:"HOLDFAST_KEYS_FILE" placeholder:"FILE" help:"File of the keys that encrypt secrets in the database (default for SQLite: next to the database). Create it with \"holdfast keys make\"."`
	ForexMargin string `name:"forex-margin" default:"0" env:"HOLDFAST_FOREX_MARGIN" placeholder:"PERCENT" help:"Percentage that merchants' forex feeds add to the fixings, such as 2.5 (default: 0)."`

	PaymentTimeout   time.Duration `name:"payment-timeout" default:"20s" env:"HOLDFAST_PAYMENT_TIMEOUT" placeholder:"DURATION" help:"Time to wait for a processor's response, at most 30s (default: 20s). After a timeout, a background job checks the outcome."`
	ChallengeLife    time.Duration `name:"challenge-life" default:"30m" env:"HOLDFAST_CHALLENGE_LIFE" placeholder:"DURATION" help:"Time a shopper has to complete a 3DS challenge (default: 30m)."`
	PaymentsAtOnce   int           `name:"payments-at-once" default:"64" env:"HOLDFAST_PAYMENTS_AT_ONCE" placeholder:"N" help:"Maximum number of payments waiting for processors at a time (default: 64). Others get status 503."`
	TokenizerTestURL string        `name:"tokenizer-test-url" default:"${tokenizer_test_url}" env:"HOLDFAST_TOKENIZER_TEST_URL" placeholder:"URL" help:"URL of the tokenizer's gateway for test cards."`
	TokenizerLiveURL string        `name:"tokenizer-live-url" default:"${tokenizer_live_url}" env:"HOLDFAST_TOKENIZER_LIVE_URL" placeholder:"URL" help:"URL of the tokenizer's gateway for live cards."`
	FieldsTestScript string        `name:"tokenizer-test-script" default:"${tokenizer_test_script}" env:"HOLDFAST_TOKENIZER_TEST_SCRIPT" placeholder:"URL" help:"URL of the script of the tokenizer's hosted fields for test cards, used in the payment modal."`
	FieldsLiveScript string        `name:"tokenizer-live-script" default:"${tokenizer_live_script}" env:"HOLDFAST_TOKENIZER_LIVE_SCRIPT" placeholder:"URL" help:"URL of the script of the tokenizer's hosted fields for live cards, used in the payment modal."`
	StripeURL        string        `name:"stripe-url" env:"HOLDFAST_STRIPE_URL" placeholder:"URL" help:"URL of Stripe's API (default: Stripe's own)."`

	WebhookPrivate bool `name:"webhook-private" env:"HOLDFAST_WEBHOOK_PRIVATE" help:"Allow webhooks of sandboxes to private addresses, such as 127.0.0.1 (default: public addresses only)."`

	RESTRoot    string `name:"rest-root" default:"rest" env:"HOLDFAST_REST_ROOT" placeholder:"SEGMENT" help:"Path segment after the site in API URLs (default: rest)."`
	Namespace   string `default:"svc" env:"HOLDFAST_NAMESPACE" placeholder:"SEGMENT" help:"Path segment before v2 in API URLs (default: svc)."`
	AuthSegment string `name:"auth-segment" default:"auth" env:"HOLDFAST_AUTH_SEGMENT" placeholder:"SEGMENT" help:"First path segment of login URLs without a site (default: auth)."`

	ECBURL         string         `name:"ecb-url" default:"${ecb_url}" env:"HOLDFAST_ECB_URL" placeholder:"URL" help:"URL of the ECB's daily exchange rates."`
	Rulepacks      string         `env:"HOLDFAST_RULEPACKS" placeholder:"FILE" help:"JSON file with the card schemes' dispute windows (default: built in)."`
	TrustedProxies []netip.Prefix `env:"HOLDFAST_TRUSTED_PROXIES" placeholder:"NETWORK" help:"Networks of proxies whose X-Forwarded-For header is trusted, such as 10.0.0.0/8,192.168.0.0/16 (default: none)."`

	FontDir string `name:"font-dir" default:"${font_dir}" env:"HOLDFAST_FONT_DIR" placeholder:"DIRECTORY" help:"Folder with fonts for PDFs in Chinese, Japanese and Korean (default: where the Debian package fonts-noto-cjk installs them)."`

	RequestsAtOnce    int `name:"requests-at-once" default:"64" env:"HOLDFAST_REQUESTS_AT_ONCE" placeholder:"N" help:"Maximum number of requests processed at a time (default: 64)."`
	RequestsWaiting   int `name:"requests-waiting" default:"128" env:"HOLDFAST_REQUESTS_WAITING" placeholder:"N" help:"Maximum number of requests waiting to be processed (default: 128). Others get status 503."`
	RequestsPerCaller int `name:"requests-per-caller" default:"48" env:"HOLDFAST_REQUESTS_PER_CALLER" placeholder:"N" help:"Maximum number of open requests per caller (default: 48). Others get status 429."`

	ImportMegabytes int           `name:"import-megabytes" default:"32" env:"HOLDFAST_IMPORT_MEGABYTES" placeholder:"N" help:"Maximum size in MiB of a file imported over HTTP, at most 128 (default: 32)."`
	ImportRows      int           `name:"import-rows" default:"50000" env:"HOLDFAST_IMPORT_ROWS" placeholder:"N" help:"Maximum number of rows in such a file, at most 200,000 (default: 50000)."`
	UploadTimeout   time.Duration `name:"upload-timeout" default:"5m" env:"HOLDFAST_UPLOAD_TIMEOUT" placeholder:"DURATION" help:"Maximum time to upload such a file, at most 30m (default: 5m)."`

	SMTPURL          string        `name:"smtp-url" env:"HOLDFAST_SMTP_URL" placeholder:"URL" help:"Mail server, such as smtp://user@mail.example:587 or smtps://mail.example (default: none; mail stays in the outbox)."`
	SMTPPasswordFile string        `name:"smtp-password-file" env:"HOLDFAST_SMTP_PASSWORD_FILE" placeholder:"FILE" help:"File with the mail server's password. Overrides a password in --smtp-url."`
	SMTPTLS          string        `name:"smtp-tls" default:"auto" enum:"auto,starttls,implicit,none" env:"HOLDFAST_SMTP_TLS" placeholder:"WAY" help:"Encryption to the mail server: starttls, implicit, none (same machine only) or auto (default)."`
	SMTPTimeout      time.Duration `name:"smtp-timeout" default:"10s" env:"HOLDFAST_SMTP_TIMEOUT" placeholder:"DURATION" help:"Time to wait for a response from the mail server, at most 20s (default: 10s)."`
	MailFrom         string        `name:"mail-from" env:"HOLDFAST_MAIL_FROM" placeholder:"ADDRESS" help:"Sender's e-mail address. Required with --smtp-url."`
	MailSandbox      bool          `name:"mail-sandbox" env:"HOLDFAST_MAIL_SANDBOX" help:"Also send mail from sandboxes and test merchants. By default it stays in the outbox."`
	MailsAtOnce      int           `name:"mails-at-once" default:"4" env:"HOLDFAST_MAILS_AT_ONCE" placeholder:"N" help:"Maximum number of mails sent at a time (default: 4)."`
	MailsPerMinute   int           `name:"mails-per-minute" default:"120" env:"HOLDFAST_MAILS_PER_MINUTE" placeholder:"N" help:"Maximum number of mails sent per minute (default: 120). Others wait."`

	LogLevel    string        `default:"info" enum:"debug,info,warn,error" env:"HOLDFAST_LOG_LEVEL" placeholder:"LEVEL" help:"Minimum log level: debug, info, warn or error (default: info)."`
	LogFormat   string        `default:"text" enum:"text,json" env:"HOLDFAST_LOG_FORMAT" placeholder:"FORMAT" help:"Format of the log on standard error: text or json (default: text)."`
	AnchorFile  string        `name:"anchor-file" env:"HOLDFAST_ANCHOR_FILE" placeholder:"FILE" help:"File to append audit chain heads to, for \"holdfast verify --against\" (default: none). Keep it on another disk."`
	AnchorEvery time.Duration `name:"anchor-every" default:"1h" env:"HOLDFAST_ANCHOR_EVERY" placeholder:"DURATION" help:"How often chain heads are appended to --anchor-file (default: 1h)."`

	ShutdownTimeout time.Duration `default:"10s" env:"HOLDFAST_SHUTDOWN_TIMEOUT" placeholder:"DURATION" help:"Time to wait for open requests at shutdown (default: 10s)."`
}

// segment matches one segment of a URL path.
var segment = regexp.MustCompile(`^[A-Za-z0-9._~-]+$`)

// Validate rejects settings at startup that would otherwise fail later. The command-line parser calls it.
func (c Config) Validate() error {
	for flag, text := range map[string]string{
		"rest-root": c.RESTRoot, "namespace": c.Namespace, "auth-segment": c.AuthSegment,
	} {
		if !segment.MatchString(text) {
			return fmt.Errorf("--%s must be a single path segment, such as wp-json", flag)
		}
	}
	if u, err := url.Parse(c.BaseURL); c.BaseURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return errors.New("--base-url must be an http or https URL, such as https://protection.example")
	}
	if _, err := fx.ParseMargin(c.ForexMargin); err != nil {
		return fmt.Errorf("--forex-margin: %w", err)
	}
	if c.PaymentTimeout <= 0 || c.ChallengeLife <= 0 || c.PaymentsAtOnce <= 0 {
		return errors.New("--payment-timeout, --challenge-life and --payments-at-once must be greater than 0")
	}
	if c.PaymentTimeout > 30*time.Second {
		return errors.New("--payment-timeout must be at most 30s: clients do not wait longer for a response")
	}
	if c.AnchorEvery <= 0 {
		return errors.New("--anchor-every must be greater than 0")
	}
	if c.RequestsAtOnce <= 0 || c.RequestsWaiting <= 0 || c.RequestsPerCaller <= 0 {
		return errors.New("--requests-at-once, --requests-waiting and --requests-per-caller must be greater than 0")
	}
	if c.ImportMegabytes < 1 || c.ImportMegabytes > 128 {
		return errors.New("--import-megabytes must be between 1 and 128. Import larger files on the command line")
	}
	if c.ImportRows < 1 || c.ImportRows > 200_000 {
		return errors.New("--import-rows must be between 1 and 200000. Import larger files on the command line")
	}
	if c.UploadTimeout <= 0 || c.UploadTimeout > 30*time.Minute {
		return errors.New("--upload-timeout must be greater than 0 and at most 30m")
	}
	if c.ReplicaMaxLag <= 0 || c.ReplicaMaxLag > 10*time.Minute {
		return errors.New("--replica-max-lag must be greater than 0 and at most 10m")
	}
	if _, err := c.transport(); err != nil {
		return err
	}
	if c.ShutdownTimeout < 0 {
		return errors.New("--shutdown-timeout cannot be negative")
	}
	return nil
}

// logger builds the configured logger.
func (c Config) logger(to io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		level = slog.LevelInfo // cannot happen: the flag accepts only the names of levels
	}
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(to, options))
	}
	return slog.New(slog.NewTextHandler(to, options))
}

// api returns the API's part of the configuration. base is the public URL of the service.
func (c Config) api(base string) api.Config {
	return api.Config{
		BaseURL: base, Profile: merchant.Profile(c.Profile), FontDir: c.FontDir, RESTRoot: c.RESTRoot, Namespace: c.Namespace, AuthSegment: c.AuthSegment, TrustedProxies: c.TrustedProxies,
		RequestsAtOnce: c.RequestsAtOnce, RequestsWaiting: c.RequestsWaiting, RequestsPerCaller: c.RequestsPerCaller,
		ImportBytes: c.ImportMegabytes << 20, ImportRows: c.ImportRows, UploadTime: c.UploadTimeout,
		FieldsTestScript: c.FieldsTestScript, FieldsLiveScript: c.FieldsLiveScript,
	}
}

// baseURL is the public URL when the service listens on addr.
func (c Config) baseURL(addr net.Addr) string {
	if c.BaseURL != "" {
		return strings.TrimSuffix(c.BaseURL, "/")
	}
	host, port, err := net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); err != nil || ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// shownParameters are the URL parameters that never hold a secret. The values of all others are hidden, because there is no
// complete list of the parameters in which drivers and services accept secrets.
var shownParameters = []string{
	"sslmode", "application_name", "connect_timeout", "target_session_attrs", "search_path", "timezone", "client_encoding",
	"dbname", "host", "port", "sslnegotiation", "sslrootcert", "channel_binding", "mode", "cache", "default_query_exec_mode",
}

// masked hides the secrets in a URL: the password, the fragment, and every parameter that is not known to be harmless.
func masked(address string) string {
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok && !strings.ContainsAny(path, "?#") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" || u.Opaque != "" && u.Scheme != "sqlite" || u.Opaque == "" && u.Host == "" && u.Scheme != "sqlite" {
		// A password could be anywhere in such a text, so none of it is shown.
		return "(not a URL)"
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		u.RawQuery = hidden
	} else if len(query) > 0 {
		for name, values := range query {
			for i := range values {
				if !slices.Contains(shownParameters, strings.ToLower(name)) {
					values[i] = hidden
				}
			}
		}
		u.RawQuery = query.Encode()
	}
	if u.Fragment != "" {
		u.Fragment, u.RawFragment = hidden, ""
	}
	return u.Redacted()
}

// hidden replaces a secret.
const hidden = "xxxxx"

// configCmd shows all settings.
type configCmd struct{ formFlags }

// shownSetting is a setting as JSON.
type shownSetting struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
	From    string `json:"from"`
}

// Run prints each setting with its value and source.
func (c configCmd) Run(p *program, parsed *kong.Context) error {
	given := map[string]bool{}
	for _, step := range parsed.Path {
		if step.Flag != nil && !step.Resolved {
			given[step.Flag.Name] = true
		}
	}
	var list []shownSetting
	for _, flag := range parsed.Model.Flags {
		if len(flag.Envs) == 0 {
			continue
		}
		from := "default"
		if _, ok := os.LookupEnv(flag.Envs[0]); ok {
			from = flag.Envs[0]
		}
		if given[flag.Name] {
			from = "--" + flag.Name
		}
		list = append(list, shownSetting{flag.Name, p.show(flag), from})
	}
	return listing[shownSetting]{
		shape:   func(s shownSetting) any { return s },
		columns: columnsOf("setting value from"),
		row:     func(s shownSetting) []cell { return []cell{words(s.Setting), words(s.Value), words(s.From)} },
	}.printer(p, c.formFlags, time.Now())(list, true)
}

// show formats the value of a setting without its secrets.
func (p *program) show(flag *kong.Flag) string {
	switch flag.Name {
	case "database":
		return masked(p.Database)
	case "replica":
		if p.Replica == "" {
			return "(none)"
		}
		return masked(p.Replica)
	case "ecb-url":
		return masked(p.ECBURL)
	case "tokenizer-test-url":
		return masked(p.TokenizerTestURL)
	case "tokenizer-live-url":
		return masked(p.TokenizerLiveURL)
	case "tokenizer-test-script":
		return masked(p.FieldsTestScript)
	case "tokenizer-live-script":
		return masked(p.FieldsLiveScript)
	case "stripe-url":
		if p.StripeURL == "" {
			return "(Stripe's own)"
		}
		return masked(p.StripeURL)
	case "base-url":
		if p.BaseURL == "" {
			return "(derived from listen)"
		}
		return masked(p.BaseURL)
	case "smtp-url":
		if p.SMTPURL == "" {
			return "(none)"
		}
		return masked(p.SMTPURL)
	case "smtp-password-file":
		if p.SMTPPasswordFile == "" {
			return "(none)"
		}
	case "mail-from":
		if p.MailFrom == "" {
			return "(none)"
		}
	case "anchor-file":
		if p.AnchorFile == "" {
			return "(none)"
		}
	case "keys-file":
		if p.KeysFile == "" {
			return cmp.Or(p.keysBeside(), "(none)")
		}
	case "rulepacks":
		if p.Rulepacks == "" {
			return "(built in)"
		}
	case "trusted-proxies":
		if len(p.TrustedProxies) == 0 {
			return "(none)"
		}
	}
	text := fmt.Sprint(flag.Target.Interface())
	return strings.Trim(text, "[]")
}

// vars are the values of ${…} in flag defaults.
var vars = kong.Vars{
	"ecb_url": fx.DailyURL, "font_dir": pdf.DefaultFontDir,
	"tokenizer_test_url": tokenizer.TestAddress, "tokenizer_live_url": tokenizer.LiveAddress,
	"tokenizer_test_script": tokenizer.TestScript, "tokenizer_live_script": tokenizer.LiveScript,
}
