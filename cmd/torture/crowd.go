package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Kinds of callers in a crowd.
const (
	oneToken      = "one token"
	manyAddresses = "as many addresses, tokens that nobody knows"
	noToken       = "one address, no token"
)

// longReports read every payment of the book.
var longReports = []string{
	"exposure/details?per_page=10", "exposure/what-if",
	"exposure/movement?from=2026-01-01", "exposure/movement/details?from=2026-01-01",
}

// sendCallers sends requests from a crowd for some seconds. About nine callers in ten respect Retry-After when they are
// rejected.
func (s *siege) sendCallers(who string) error {
	s.crowd.expected = []int{http.StatusUnauthorized}
	if who == oneToken {
		s.crowd.expected = []int{http.StatusOK}
	}
	return s.surround(s.book.server.base, who)
}

// member is the address and token of one caller in a crowd.
func (s *siege) member(who string, n int) (address, token string) {
	switch who {
	case oneToken:
		return attacker(0), s.book.token
	case manyAddresses:
		return attacker(n), fmt.Sprintf("%d|made-up-%d", 1000+n, s.random.Uint64())
	default:
		return attacker(0), ""
	}
}

// gather sends requests from a crowd to a server for some seconds.
func (s *siege) gather(base, who string) error {
	ctx, cancel := s.crowdTimer()
	defer cancel()
	var work sync.WaitGroup
	for n := range crowd {
		address, token := s.member(who, n)
		c := callerFrom(s.book.r.ctx, base, address, token)
		obeys, first := s.random.IntN(10) > 0, time.Duration(s.random.IntN(100))*time.Millisecond
		work.Go(func() {
			defer c.http.CloseIdleConnections()
			rest(ctx, first)
			for ctx.Err() == nil {
				a := s.crowd.ask(c, http.MethodGet, api+"bookings", nil)
				if refused(a.status) {
					rest(ctx, a.wait(obeys))
				}
			}
		})
	}
	work.Wait()
	return s.book.r.ctx.Err()
}

// sendLogins sends wrong logins, all at once, and a correct one from another address, which must succeed.
func (s *siege) sendLogins(sameAddress bool) error {
	s.crowd.expected = []int{http.StatusUnauthorized, http.StatusForbidden}
	right, err := s.book.password()
	if err != nil {
		return err
	}
	var work sync.WaitGroup
	for n := range crowd {
		address := attacker(0)
		if !sameAddress {
			address = attacker(n)
		}
		c := s.book.server.from(address, "")
		body := credentials(fmt.Sprintf("nobody-%d", s.random.IntN(crowd)), strconv.FormatUint(s.random.Uint64(), 36))
		work.Go(func() {
			defer c.http.CloseIdleConnections()
			s.crowd.ask(c, http.MethodPost, loginPath, body)
		})
	}
	began, tries := time.Now(), 0
	welcome := tally{expected: []int{http.StatusOK}}
	c := s.book.server.from("127.0.0.1", "")
	for welcome.answered == 0 && welcome.broken == 0 && time.Since(began) < patience && c.ctx.Err() == nil {
		tries++
		a := welcome.ask(c, http.MethodPost, loginPath, credentials("demo-admin", right))
		if refused(a.status) {
			rest(c.ctx, a.wait(true))
		}
	}
	took := time.Since(began)
	work.Wait()
	if welcome.answered == 0 {
		s.book.r.fail("%s: the legitimate login failed: %v", s.name, welcome.problems)
	}
	s.book.r.figure(s.name+", the legitimate login", "succeeded after %s, on attempt %d", took.Round(time.Millisecond), tries)
	return s.book.r.ctx.Err()
}

// askReports requests long reports concurrently, each repeatedly.
func (s *siege) askReports() error {
	ctx, cancel := s.crowdTimer()
	defer cancel()
	s.crowd.expected = []int{http.StatusOK}
	var work sync.WaitGroup
	for n, report := range longReports {
		c := s.book.server.from(attacker(n), s.book.token)
		work.Go(func() {
			defer c.http.CloseIdleConnections()
			for ctx.Err() == nil {
				if a := s.crowd.ask(c, http.MethodGet, api+report, nil); refused(a.status) {
					rest(ctx, a.wait(true))
				}
			}
		})
	}
	work.Wait()
	return s.book.r.ctx.Err()
}

func credentials(name, password string) []byte {
	return fmt.Appendf(nil, `{"username":%q,"password":%q}`, name, password) // both consist of plain letters and digits
}

// from is a caller with an address of this machine. It waits longer than any call may take: no response by then is a
// hang.
func (s *server) from(address, token string) *caller {
	return callerFrom(s.house.r.ctx, s.base, address, token)
}

// callerFrom is a caller with an address of this machine, for any server.
func callerFrom(ctx context.Context, base, address, token string) *caller {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &caller{ctx: ctx, base: base, token: token, http: &http.Client{
		Timeout: patience, Transport: &http.Transport{DialContext: dialer.DialContext},
	}}
}

func refused(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// wait is how long a rejected caller waits.
func (a reply) wait(obeys bool) time.Duration {
	seconds, _ := strconv.Atoi(a.header.Get("Retry-After")) // the tally has checked it
	if !obeys || seconds < 1 {
		return 10 * time.Millisecond
	}
	return time.Duration(seconds) * time.Second
}

// rest waits, or returns early when the context ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// tally counts the responses to one kind of caller.
type tally struct {
	expected []int // statuses that count as answered; 200 if empty
	mayBeCut bool  // the server may close the connection if the caller keeps sending after the response

	mu              sync.Mutex
	answered, cut   int
	slowest         time.Duration // of the expected responses
	refused         []time.Duration
	problems        []string // the first ones
	broken          int      // number of problems
	tooMany, noRoom int
}

// ask makes one request and records the result.
func (t *tally) ask(c *caller, method, path string, body []byte) reply {
	a, err := c.ask(method, path, nil, body)
	t.mu.Lock()
	defer t.mu.Unlock()
	expected := slices.Contains(t.expected, a.status) || len(t.expected) == 0 && a.status == http.StatusOK
	problem := ""
	switch wait, _ := strconv.Atoi(a.header.Get("Retry-After")); {
	case c.ctx.Err() != nil: // the scenario exceeded its time limit, and reports that
	case err != nil && t.mayBeCut && !late(err):
		t.cut++
	case err != nil:
		problem = err.Error()
	case refused(a.status):
		t.refused = append(t.refused, a.took)
		if a.status == http.StatusTooManyRequests {
			t.tooMany++
		} else {
			t.noRoom++
		}
		if wait < 1 {
			problem = fmt.Sprintf("%d without Retry-After: %s", a.status, lastOf(string(a.body)))
		}
	case expected:
		t.answered++
		t.slowest = max(t.slowest, a.took)
	default:
		problem = fmt.Sprintf("%s %s: %d %s", method, path, a.status, lastOf(string(a.body)))
	}
	if problem != "" {
		if t.broken++; t.broken <= 3 { // the others are most likely the same
			t.problems = append(t.problems, problem)
		}
	}
	return a
}

// late reports whether an error is a timeout.
func late(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// goOn keeps sending requests, like a client unrelated to the attack.
func (t *tally) goOn(stop <-chan struct{}, c *caller, path string) {
	defer c.http.CloseIdleConnections()
	for {
		t.ask(c, http.MethodGet, path, nil)
		select {
		case <-stop:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// String is the tally for the table. It is called after all callers have stopped.
func (t *tally) String() string {
	text := fmt.Sprintf("%d answered, slowest after %s", t.answered, t.slowest.Round(time.Millisecond))
	if t.answered == 0 {
		text = "none answered"
	}
	if len(t.refused) > 0 {
		text += fmt.Sprintf(", %d rejected with 429 and %d with 503, %s", t.tooMany, t.noRoom, times(t.refused))
	}
	if t.cut > 0 {
		text += fmt.Sprintf(", %d cut off while sending", t.cut)
	}
	return text
}

// times formats the median and the 99th percentile of at least one duration.
func times(took []time.Duration) string {
	slices.Sort(took)
	at := func(percent int) time.Duration { return took[len(took)*percent/100].Round(100 * time.Microsecond) }
	return fmt.Sprintf("median %s, p99 %s", at(50), at(99))
}
