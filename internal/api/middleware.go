package api

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/domain/card"
	"holdfast/internal/errs"
)

// saneID matches the request ids of clients that may appear in logs and answers.
var saneID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// requestID returns the client's id of the request, or a random one.
func (s *server) requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); saneID.MatchString(id) && !card.HoldsCardNumber(id) {
		return id
	}
	return randomID(s.app)
}

func randomID(a *app.App) string {
	raw := make([]byte, 12)
	if _, err := io.ReadFull(a.Config.Random, raw); err != nil {
		return "none" // an answer without an id is better than no answer
	}
	return hex.EncodeToString(raw)
}

// commonHeaders are the headers of every response. Responses contain data of travellers, so no cache may store them,
// and no page may show them in a frame.
func commonHeaders(requestID string) map[string]string {
	return map[string]string{
		"X-Request-Id": requestID, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
	}
}

func (s *server) writeCommonHeaders(c *call) {
	h := c.Header()
	for name, value := range commonHeaders(c.requestID) {
		h.Set(name, value)
	}
}

// StrictTransport tells browsers to use TLS only. It wraps everything that is served, including pages and errors. A
// request counts as TLS if the public URL says so, if it was TLS here, or if a trusted proxy says so.
func StrictTransport(cfg Config, next http.Handler) http.Handler {
	s := &server{cfg: cfg.withDefaults()}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(s.cfg.BaseURL, "https:") || r.TLS != nil || s.proxiedTLS(r) {
			w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

func (s *server) proxiedTLS(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && s.trusted(host) && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// recover turns a panic of a handler into an answer, so that a mistake does not end the connection or the program.
func (s *server) recover(c *call) {
	if p := recover(); p != nil {
		if p == any(http.ErrAbortHandler) { // part of the response is sent: the connection has to break instead of ending cleanly
			panic(p)
		}
		s.fail(c, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
	}
}

// log writes the one log line of a request. It has the pattern in place of the address, because the query of an address
// may name travellers. It names a site only after the site was found. Only a few of the requests that are rejected
// under load, or fail because of the database, get a line: an attack must not fill the log.
func (s *server) log(c *call, r *http.Request, took time.Duration) {
	s.tellLeftOut()
	if c.refused || c.status == http.StatusServiceUnavailable {
		if !s.failures.note("requests with status "+strconv.Itoa(c.status), s.app.DB.Clock()) {
			return
		}
	}
	if !s.app.Config.Log.Enabled(c.ctx, slog.LevelInfo) {
		return
	}
	s.app.Config.Log.Info("request", "site", c.site, "route", c.route, "method", knownMethod(r.Method), "status", c.status,
		"duration_ms", took.Milliseconds(), "bytes", c.bytes, "request_id", c.requestID, "address", c.address)
}

// tellLeftOut writes a line for each kind of failure that had no lines of its own for a while.
func (s *server) tellLeftOut() {
	for _, of := range s.failures.over(s.app.DB.Clock()) {
		s.app.Config.Log.Warn("similar requests not logged individually", "what", of.kind, "times", of.times, "within", failurePause)
	}
}

// clientAddress is the address from which the request comes: the peer, or the address that trusted proxies in front
// have noted. That is the rightmost one that is no trusted proxy. Anybody can have written those to the left of it.
func (s *server) clientAddress(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if !s.trusted(host) {
		s.warnOfProxy(r)
		return host
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		addr, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			return host
		}
		host = addr.Unmap().String()
		if !s.trusted(host) {
			return host
		}
	}
	return host
}

// forwarded are the headers in which a proxy names the client.
var forwarded = []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip"}

// warnOfProxy warns once that there seems to be a proxy in front that the settings do not name. All clients then have one
// address, and share its limits.
func (s *server) warnOfProxy(r *http.Request) {
	comes := func(name string) bool { return r.Header.Get(name) != "" }
	if len(s.cfg.TrustedProxies) > 0 || !slices.ContainsFunc(forwarded, comes) {
		return
	}
	s.proxyWarning.Do(func() {
		s.app.Config.Log.Warn("requests come through a proxy not listed in --trusted-proxies: all clients appear as one address",
			"proxy", r.RemoteAddr)
	})
}

func (s *server) trusted(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && slices.ContainsFunc(s.cfg.TrustedProxies, func(p netip.Prefix) bool {
		return p.Contains(addr.Unmap())
	})
}

// alive answers that the program runs.
func (s *server) alive(c *call) error {
	c.json(http.StatusOK, healthShape{Status: "ok"})
	return nil
}

// readyTime is how long the database may take before it counts as unavailable.
const readyTime = time.Second

// ready answers whether the program can work. Without its database it cannot.
func (s *server) ready(c *call) error {
	ctx, cancel := context.WithTimeout(c.ctx, readyTime)
	defer cancel()
	err := s.app.Health.Ready(ctx)
	if err != nil && errs.KindOf(err) != errs.Unavailable {
		err = &errs.Error{Kind: errs.Unavailable, Message: "The database cannot be reached.", RetryAfter: time.Second, Err: err}
	}
	if err != nil {
		return err
	}
	answer := healthShape{Status: "ready", Replica: s.app.Health.Replica()}
	if all, away := s.app.Health.Nodes(); all > 1 {
		answer.Nodes, answer.NodesAway = all, &away
		if away > 0 {
			answer.Status = "degraded"
		}
	}
	c.json(http.StatusOK, answer)
	return nil
}

type healthShape struct {
	Status    string `json:"status"`
	Replica   string `json:"replica,omitempty"`
	Nodes     int    `json:"nodes,omitempty"`
	NodesAway *int   `json:"nodes_away,omitempty"`
}
