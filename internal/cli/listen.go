package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"holdfast/client"
	"holdfast/internal/domain/event"
	"holdfast/internal/errs"
	"holdfast/internal/notify/webhooks"
)

// Bounds of listening.
const (
	listenWait    = 20 // seconds that a request waits for the next event
	forwardTime   = 10 * time.Second
	forwardAnswer = 64 << 10
	firstPause    = time.Second // initial back-off after a failure; it doubles
	longestPause  = 30 * time.Second
)

// listenCmd forwards a sandbox's events to a program on the developer's machine.
type listenCmd struct {
	URL       string  `name:"url" default:"http://127.0.0.1:8080" placeholder:"URL" help:"URL of the service (default: http://127.0.0.1:8080)."`
	Site      string  `placeholder:"PATH" env:"HOLDFAST_SITE" required:"" help:"Site path (default: HOLDFAST_SITE)."`
	Token     string  `env:"HOLDFAST_TOKEN" placeholder:"TOKEN" help:"API token of the site (default: HOLDFAST_TOKEN)."`
	TokenFile string  `name:"token-file" field:"token_file" placeholder:"FILE" help:"File with the API token. Overrides --token."`
	ForwardTo string  `name:"forward-to" field:"forward_to" required:"" placeholder:"URL" help:"URL of your program, such as http://127.0.0.1:3000/webhooks."`
	Types     *string `placeholder:"TYPE,…" help:"Event types to send, such as booking.*,transaction.completed (default: all)."`
}

// listener is one run of the command.
type listener struct {
	*program
	read    func(ctx context.Context, q client.EventsQuery) (client.Feed, error)
	query   client.EventsQuery
	to      string
	sender  *http.Client
	secrets []string
	pause   func(ctx context.Context, d time.Duration)
}

// Run prints and forwards events until Ctrl-C.
func (c listenCmd) Run(ctx context.Context, p *program) error {
	token, types, err := c.check()
	if err != nil {
		return err
	}
	service, err := client.New(c.URL, c.Site, client.APIToken(token), client.WithSegments(p.RESTRoot, p.Namespace), client.WithAttempts(1))
	if err != nil {
		return errs.WrongField("site", "%s.", err)
	}
	clock, err := service.Clock.Get(ctx)
	if err != nil {
		return fmt.Errorf("the service at %s: %w", c.URL, err)
	}
	if !clock.Sandbox {
		return errs.WrongField("site", "The site %s is not a sandbox. Only events of sandboxes are forwarded.", c.Site)
	}
	l := &listener{program: p, pause: rest, read: service.Events.Read, to: c.ForwardTo, query: client.EventsQuery{After: "now", Types: types}, sender: &http.Client{
		Timeout: forwardTime, Transport: &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	end, err := service.Events.Read(ctx, l.query)
	if err != nil {
		return err
	}
	secret, err := webhooks.NewSecret(rand.Reader)
	if err != nil {
		return err
	}
	l.secrets, l.query.After, l.query.Wait = []string{secret}, end.Next, listenWait
	p.printf("Forwarding events of %s to %s. Press Ctrl-C to stop. Signing secret: %s\n", c.Site, c.ForwardTo, secret)
	return l.follow(ctx)
}

// check returns the token, from the flag or the file, and the types. The error lists all problems.
func (c listenCmd) check() (token string, types []string, err error) {
	var problems errs.Problems
	if !isWeb(c.URL) {
		problems.Wrong("url", "Enter a URL, such as https://holdfast.example.")
	}
	if !isWeb(c.ForwardTo) {
		problems.Wrong("forward_to", "Enter a URL, such as http://127.0.0.1:3000/webhooks.")
	}
	if given := typesOf(c.Types); given != nil {
		types = *given
	}
	if _, known := event.TypesOf(types); !known {
		problems.Wrong("types", "Enter event types, such as booking.created or booking.*.")
	}
	token = c.Token
	if c.TokenFile != "" {
		text, err := os.ReadFile(c.TokenFile)
		if err != nil {
			problems.Wrong("token_file", "Cannot read the file: %v.", err)
		}
		token = strings.TrimSpace(string(text))
	}
	if id, secret, _ := strings.Cut(token, "|"); c.TokenFile == "" && (id == "" || secret == "") {
		problems.Wrong("token", "Enter an API token, such as 7|secret. You can also use --token-file or HOLDFAST_TOKEN.")
	}
	return token, types, problems.Err()
}

func isWeb(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// follow reads the feed and forwards its events, until the context ends or the service rejects the request.
func (l *listener) follow(ctx context.Context) error {
	pause := time.Duration(0)
	for {
		began := l.clock.Now()
		page, err := l.read(ctx, l.query)
		var refused *client.Error
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			if pause > 0 {
				l.printf("Reconnected.\n")
			}
			pause = 0
			l.forward(ctx, page.Events)
			l.query.After = page.Next
			if len(page.Events) > 0 || page.HasMore || l.clock.Now().Sub(began) >= firstPause {
				continue
			}
			l.pause(ctx, firstPause) // the service is shutting down, or does not support long polling
		case errors.As(err, &refused) && refused.Oldest != "":
			l.printf("Events expired before they were read. Continuing with the oldest event.\n")
			l.query.After = refused.Oldest
		case refused != nil && refused.Status/100 == 4 && refused.Status != http.StatusTooManyRequests:
			return err
		default:
			if pause == 0 {
				l.printf("The service does not respond. Retrying: %v\n", err)
			}
			pause = min(max(2*pause, firstPause), longestPause)
			l.pause(ctx, pause)
		}
	}
}

func rest(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// forward prints and sends events sequentially.
func (l *listener) forward(ctx context.Context, list []client.Event) {
	for _, e := range list {
		outcome := l.post(ctx, e)
		if ctx.Err() != nil {
			return
		}
		l.printf("%s GMT  %s  %s:%d  %s\n", e.Created, e.Type, e.ObjectType, e.ObjectID, outcome)
	}
}

// post sends one event and returns the outcome.
func (l *listener) post(ctx context.Context, e client.Event) string {
	at, err := e.Created.Time()
	var body bytes.Buffer
	text := json.NewEncoder(&body)
	text.SetEscapeHTML(false) // as the service does
	err = cmp.Or(err, text.Encode(e))
	sent := bytes.TrimSpace(body.Bytes())
	headers, problem := webhooks.Sign(l.secrets, webhooks.MessageID(e.ID, at), l.clock.Now(), sent)
	if err = cmp.Or(err, problem); err != nil {
		return err.Error()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.to, bytes.NewReader(sent))
	if err != nil {
		return err.Error()
	}
	request.Header = headers
	answer, err := l.sender.Do(request)
	if err != nil {
		return "no response: " + err.Error()
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, forwardAnswer))
	return answer.Status
}
