package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/client"
)

// script is a service with scripted responses, which records the requests. A response is a status, an error code with
// its reason after a slash, and the seconds of Retry-After: "503 service_unavailable/outcome_unknown 2". "lost" is a
// response that never arrives.
type script struct {
	answers []string
	keys    []string // the idempotency keys of the requests
	bodies  []string
	bearers []string
	waits   []time.Duration
	kind    http.Header // of the answers
	text    string      // the body of a successful response
}

// RoundTrip implements http.RoundTripper.
func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
	s.bodies = append(s.bodies, string(body))
	s.bearers = append(s.bearers, r.Header.Get("Authorization"))
	if len(s.answers) == 0 {
		return nil, errors.New("the script has no more answers")
	}
	next := strings.Fields(s.answers[0])
	s.answers = s.answers[1:]
	if next[0] == "lost" {
		return nil, errors.New("connection reset")
	}
	made := &http.Response{Header: http.Header{}, Body: io.NopCloser(strings.NewReader(s.text)), Request: r}
	if s.kind != nil {
		made.Header = s.kind.Clone()
	}
	_, _ = fmt.Sscan(next[0], &made.StatusCode)
	if len(next) > 1 {
		code, reason, _ := strings.Cut(next[1], "/")
		text := fmt.Sprintf(`{"code": %q, "message": "No.", "data": {"status": %s, "reason": %q, "request_id": "r1"}}`, code, next[0], reason)
		made.Body = io.NopCloser(strings.NewReader(text))
	}
	if len(next) > 2 {
		made.Header.Set("Retry-After", next[2])
	}
	return made, nil
}

// client creates a client of the script that does not sleep.
func (s *script) client(t *testing.T, options ...client.Option) *client.Client {
	t.Helper()
	wait := func(ctx context.Context, d time.Duration) error {
		s.waits = append(s.waits, d)
		return ctx.Err()
	}
	options = append([]client.Option{client.WithHTTPClient(&http.Client{Transport: s}), client.WithSleep(wait)}, options...)
	c, err := client.New("https://service.example/under/a/path/", "demo", client.APIToken("1|secret"), options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestWhatIsSentAgain is the table of docs/reliability.md: what a client does after each response, with an idempotency
// key, without one, and for reads.
func TestWhatIsSentAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer             string
		read, keyed, plain bool // whether it is sent again
	}{
		{"200", false, false, false},
		{"400 rest_invalid_param", false, false, false},
		{"401 api_token_invalid", false, false, false},
		{"409 transaction_not_possible", false, false, false},
		{"409 idempotency_in_flight 1", true, true, false},
		{"412 rest_precondition_failed", false, false, false},
		{"422 idempotency_mismatch", false, false, false},
		{"429 rest_too_many_requests 3", true, true, true},
		{"429", true, true, false},
		{"500 internal_error", true, true, false},
		{"501", false, false, false},
		{"502", true, true, false},
		{"503 service_unavailable 2", true, true, true},
		{"503 service_unavailable/outcome_unknown 2", true, true, false},
		{"503", true, true, false},
		{"504", true, true, false},
		{"lost", true, true, false},
	} {
		for _, kind := range []struct {
			name  string
			again bool
			call  func(c *client.Client) error
		}{
			{"read", c.read, func(c *client.Client) error { _, err := c.Bookings.Get(t.Context(), 1); return err }},
			{"keyed", c.keyed, func(c *client.Client) error {
				_, err := c.Bookings.Create(t.Context(), client.BookingCreate{Surname: "Lovelace"})
				return err
			}},
			{"plain", c.plain, func(c *client.Client) error {
				_, err := c.Tokens.Create(t.Context(), client.TokenInput{Name: "x"})
				return err
			}},
		} {
			s := &script{answers: []string{c.answer, "200"}, text: "{}"}
			err := kind.call(s.client(t))
			if again := len(s.keys) == 2; again != kind.again || again != (err == nil && c.answer != "200") {
				t.Errorf("%s after %s: sent again %v, %v", kind.name, c.answer, again, err)
			}
			if len(s.keys) == 2 && (s.keys[0] != s.keys[1] || s.bodies[0] != s.bodies[1]) {
				t.Errorf("%s after %s: another key or body: %v %v", kind.name, c.answer, s.keys, s.bodies)
			}
			if (s.keys[0] != "") != (kind.name == "keyed") {
				t.Errorf("%s: the key is %q", kind.name, s.keys[0])
			}
		}
	}
}

func TestKeysDiffer(t *testing.T) {
	t.Parallel()
	s := &script{answers: []string{"200", "200", "200"}, text: "{}"}
	c := s.client(t)
	for _, options := range [][]client.CallOption{nil, nil, {client.WithIdempotencyKey("mine")}} {
		if _, err := c.Suppliers.Create(t.Context(), client.SupplierCreate{Name: "Air"}, options...); err != nil {
			t.Fatal(err)
		}
	}
	if s.keys[0] == s.keys[1] || len(s.keys[0]) < 20 || s.keys[2] != "mine" {
		t.Errorf("the keys are %q", s.keys)
	}
}

func TestWaiting(t *testing.T) {
	t.Parallel()
	s := &script{answers: []string{"503 service_unavailable 7", "lost", "lost", "lost", "200"}, text: "{}"}
	_, err := s.client(t).Bookings.Get(t.Context(), 1)
	if err == nil || !strings.Contains(err.Error(), "connection reset") {
		t.Errorf("after four attempts: %v", err)
	}
	if len(s.waits) != 3 || s.waits[0] < 7*time.Second || s.waits[0] > 8*time.Second {
		t.Fatalf("it waited %v", s.waits)
	}
	for i, most := range []time.Duration{time.Second, 2 * time.Second} {
		if w := s.waits[i+1]; w < most/2 || w > most {
			t.Errorf("wait %d was %v, and not between %v and %v", i+2, w, most/2, most)
		}
	}

	long := &script{answers: []string{"429 rest_too_many_requests 900", "200"}, text: "{}"}
	_, err = long.client(t).Bookings.Get(t.Context(), 1)
	no := (*client.Error)(nil)
	if !errors.As(err, &no) || no.RetryAfter != 15*time.Minute || len(long.waits) != 0 {
		t.Errorf("a wait of 15 minutes: %v, %v", err, long.waits)
	}

	once := &script{answers: []string{"lost", "200"}, text: "{}"}
	if _, err := once.client(t, client.WithAttempts(1)).Bookings.Get(t.Context(), 1); err == nil || len(once.keys) != 1 {
		t.Errorf("with one attempt: %v, %d requests", err, len(once.keys))
	}
}

func TestTheContextEndsIt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &script{answers: []string{"lost", "200"}, text: "{}"}
	c := s.client(t, client.WithSleep(func(ctx context.Context, _ time.Duration) error {
		cancel()
		return ctx.Err()
	}))
	if _, err := c.Bookings.Get(ctx, 1); !errors.Is(err, context.Canceled) || len(s.keys) != 1 {
		t.Errorf("%v after %d requests", err, len(s.keys))
	}
	// The client's own timer also ends with the context. It would last for twenty seconds.
	ctx, cancel = context.WithCancel(t.Context())
	s = &script{answers: []string{"503 service_unavailable 20", "200"}, text: "{}"}
	ending := transport(func(r *http.Request) (*http.Response, error) {
		go cancel()
		return s.RoundTrip(r)
	})
	c, err := client.New("https://service.example", "demo", client.APIToken("1|s"), client.WithHTTPClient(&http.Client{Transport: ending}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Bookings.Get(ctx, 1); !errors.Is(err, context.Canceled) || len(s.keys) != 1 {
		t.Error(err)
	}
}

// TestNobodySendsItElsewhere: a redirect would carry the token to another host.
func TestNobodySendsItElsewhere(t *testing.T) {
	t.Parallel()
	s := &script{answers: []string{"302", "200"}, kind: http.Header{"Location": {"https://elsewhere.example/"}}, text: "{}"}
	_, err := s.client(t).Bookings.Get(t.Context(), 1)
	no := (*client.Error)(nil)
	if !errors.As(err, &no) || no.Status != http.StatusFound || len(s.keys) != 1 {
		t.Errorf("%v, %d requests", err, len(s.keys))
	}
}

func TestWhatAnErrorReports(t *testing.T) {
	t.Parallel()
	s := &script{answers: []string{"404 rest_post_invalid_id"}}
	_, err := s.client(t).Bookings.Get(t.Context(), 5)
	no := (*client.Error)(nil)
	if !errors.As(err, &no) || no.Status != 404 || no.Code != "rest_post_invalid_id" || no.RequestID != "r1" {
		t.Errorf("%#v", err)
	}
	if want := "GET /demo/rest/svc/v2/bookings/5: 404 rest_post_invalid_id: No. (request r1)"; err.Error() != want {
		t.Errorf("it says %q", err)
	}
	if strings.Contains(fmt.Sprintf("%+v", err), "secret") {
		t.Error("the error has the token in it")
	}
	_, err = connect(t, client.APIToken(token)).Transactions.Create(t.Context(), client.TransactionCreate{
		Channels: 1, Currencies: "GBP", Total: 100, TransactionTypes: "purchase",
	})
	if !errors.As(err, &no) || !slices.Equal(no.Missing, []string{"bookings"}) && no.Params["bookings"] == "" {
		t.Errorf("without bookings: %+v", err)
	}
}

// TestCursors: an event is about one object, and the error for an expired cursor has the one to continue from.
func TestCursors(t *testing.T) {
	t.Parallel()
	event := client.Event{ID: 5, ObjectType: "transaction", Object: []byte(`{"id": 8, "status": "complete"}`)}
	if made, err := event.Transaction(); err != nil || made.ID != 8 || made.Status != client.TransactionStatusComplete {
		t.Errorf("%+v, %v", made, err)
	}
	if _, err := event.Booking(); err == nil {
		t.Error("a transaction is a booking")
	}
	event = client.Event{ID: 6, ObjectType: "booking", Object: []byte("null")}
	if made, err := event.Booking(); err != nil || made != nil {
		t.Errorf("a booking that is gone: %+v, %v", made, err)
	}
	s := &script{answers: []string{"410"}, text: `{"code": "rest_cursor_gone", "message": "Gone.", "data": {"oldest": "abc-1"}}`}
	no := (*client.Error)(nil)
	if _, err := s.client(t).Events.Read(t.Context(), client.EventsQuery{After: "x"}); !errors.As(err, &no) || no.Oldest != "abc-1" {
		t.Errorf("%+v", no)
	}
}

func TestAnswersHaveABound(t *testing.T) {
	t.Parallel()
	sender := transport(func(r *http.Request) (*http.Response, error) {
		body := io.MultiReader(strings.NewReader(`{"content": "`), endless{})
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body), Request: r}, nil
	})
	c, err := client.New("https://service.example", "demo", client.APIToken("1|s"),
		client.WithHTTPClient(&http.Client{Transport: sender}), client.WithAttempts(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Bookings.Get(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	return len(p), nil
}

// TestLaterVersions: fields and values that this version does not know.
func TestLaterVersions(t *testing.T) {
	t.Parallel()
	s := &script{answers: []string{"200"}, text: `{"id": 7, "status": "postponed", "novelty": {"a": [1]}, "pax": null}`}
	booking, err := s.client(t).Bookings.Get(t.Context(), 7)
	if err != nil || booking.ID != 7 || booking.Status != "postponed" || booking.Pax != nil {
		t.Errorf("%+v, %v", booking, err)
	}
}

// TestASecondPerson: a 202 has no object, so it must not look like one.
func TestASecondPerson(t *testing.T) {
	t.Parallel()
	s := &script{answers: []string{"202"}, text: `{"id": 12, "kind": "channel.change", "state": "open"}`}
	channel, err := s.client(t).Channels.Change(t.Context(), 3, client.ChannelChange{Locked: new(false)})
	waiting := (*client.WaitingError)(nil)
	if !errors.As(err, &waiting) || waiting.Proposal.ID != 12 || channel.ID != 0 {
		t.Errorf("%+v, %v", channel, err)
	}
	if s.bodies[0] != `{"locked":false}` {
		t.Errorf("it sent %s", s.bodies[0])
	}
}

func TestChangesNameWhatChanges(t *testing.T) {
	t.Parallel()
	s := &script{answers: []string{"200", "200", "200"}, text: "{}"}
	c := s.client(t)
	for _, change := range []client.BookingChange{
		{Pax: client.Null[int64](), DateStart: new(""), Suppliers: []int64{}},
		{Pax: client.Set[int64](2), Total: new(int64(0))},
		{},
	} {
		if _, err := c.Bookings.Change(t.Context(), 1, change); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`{"date_start":"","pax":null,"suppliers":[]}`, `{"pax":2,"total":0}`, `{}`}
	if !slices.Equal(s.bodies, want) {
		t.Errorf("it sent %q", s.bodies)
	}
}

func TestWhatNewRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, site, want string }{
		{"ftp://host", "demo", "https://"}, {"service.example", "demo", "https://"}, {"https://", "demo", "https://"},
		{"https://h", "De mo", "small letters"}, {"https://h", "", "small letters"}, {"https://h", "a/b", "small letters"},
	} {
		if _, err := client.New(c.base, c.site, client.APIToken("x")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.base, c.site, err)
		}
	}
	if _, err := client.New("https://h", "demo", nil); err == nil {
		t.Error("it takes no credentials")
	}
}
