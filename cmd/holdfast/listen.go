package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/auth"
	"holdfast/internal/civil"
	feed "holdfast/internal/events"
	"holdfast/internal/fault"
	"holdfast/internal/webhooks"
)

// Bounds of listening.
const (
	listenEvery   = time.Second
	forwardTime   = 10 * time.Second
	forwardAnswer = 64 << 10
)

// listenCmd forwards the events of a sandbox to a program on the developer's machine.
type listenCmd struct {
	siteFlag
	ForwardTo string  `name:"forward-to" field:"forward_to" required:"" placeholder:"URL" help:"Address of your program, such as http://127.0.0.1:3000/webhooks."`
	Types     *string `placeholder:"TYPE,…" help:"Only events of these types, such as booking.*,transaction.completed (default: all)."`
}

// listener is one run of the command.
type listener struct {
	*program
	to      string
	client  *http.Client
	secrets []string
	show    func(ctx context.Context, siteID int64, list []feed.Event) ([]json.RawMessage, error)
}

// Run prints and forwards events until Ctrl-C.
func (c listenCmd) Run(ctx context.Context, p *program) error {
	if u, err := url.Parse(c.ForwardTo); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fault.WrongField("forward_to", "An address such as http://127.0.0.1:3000/webhooks is expected.")
	}
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	if !p.site.Sandbox {
		return fault.WrongField("site", "The site %s is no sandbox, and only the events of sandboxes are forwarded.", p.site.Path)
	}
	f := feed.Filter{After: "now", Size: feed.MaxPage}
	if types := typesOf(c.Types); types != nil {
		f.Types = *types
	}
	page, err := p.app.Events.List(ctx, actor, f)
	if err != nil {
		return err
	}
	secret, err := webhooks.NewSecret(p.core.Random)
	if err != nil {
		return err
	}
	l := &listener{program: p, to: c.ForwardTo, secrets: []string{secret}, client: &http.Client{
		Timeout: forwardTime, Transport: &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	l.show = api.New(p.app, p.core, p.api(cmp.Or(p.BaseURL, "http://"+p.Listen))).ShowEvents
	p.printf("The events of %s go to %s until Ctrl-C. They are signed with the secret %s\n", p.site.Path, c.ForwardTo, secret)
	return l.follow(ctx, actor, f, page)
}

// follow goes on from a page until the context ends.
func (l *listener) follow(ctx context.Context, actor auth.Actor, f feed.Filter, page feed.Page) error {
	tick := time.NewTicker(listenEvery)
	defer tick.Stop()
	for {
		if !page.More {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
		}
		var err error
		f.After = page.Next
		page, err = l.app.Events.List(ctx, actor, f)
		if err == nil {
			err = l.forward(ctx, page.Items)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
	}
}

// forward prints and sends events, one after the other.
func (l *listener) forward(ctx context.Context, list []feed.Event) error {
	if len(list) == 0 {
		return nil
	}
	bodies, err := l.show(ctx, l.site.ID, list)
	if err != nil {
		return err
	}
	for i, e := range list {
		l.printf("%s GMT  %s  %s:%d  %s\n", civil.FormatInstant(e.At), e.Type, e.Type.Kind(), e.ObjectID, l.post(ctx, e, bodies[i]))
	}
	return nil
}

// post sends one event and says what came of it.
func (l *listener) post(ctx context.Context, e feed.Event, body []byte) string {
	headers, err := webhooks.Sign(l.secrets, webhooks.MessageID(e.ID, e.At), l.clock.Now(), body)
	if err != nil {
		return err.Error()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.to, bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	request.Header = headers
	answer, err := l.client.Do(request)
	if err != nil {
		return "no answer: " + err.Error()
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, forwardAnswer))
	return answer.Status
}
