package stripe_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/psp"
	"holdfast/internal/psp/stripe"
)

func gatewayAt(t *testing.T, address string) *stripe.Gateway {
	t.Helper()
	// Separate connections, kept open between requests as in the program.
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	g, err := stripe.New(stripe.Config{Address: address, Next: transport, Clock: func() time.Time { return time.Time{} }})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Without a connection nothing was sent, and the payment can be retried immediately.
func TestNobodyAtTheProcessor(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	g := gatewayAt(t, closed.URL)
	a := psp.Adjustment{Account: psp.Account{Key: "sk_test_1"}, Reference: "ref-2", Original: "pi_1", Amount: 100, Currency: "EUR"}
	_, err := g.Refund(deadline(t), a)
	e, ok := errors.AsType[*psp.Error](err)
	if !ok || e.Kind != psp.Unreachable || e.Source != psp.Network || e.Message != "stripe cannot be reached" {
		t.Errorf("%#v", err)
	}
	q := psp.Query{Account: a.Account, Operation: psp.Refund, Reference: "ref-2", Original: "pi_1"}
	if r, err := g.Find(deadline(t), q); err != nil || r.Outcome != psp.Unknown || r.Message != e.Message {
		t.Errorf("%+v, %v", r, err)
	}
}

// If a connection breaks after the request was sent, the transport retries it. That the retry finds no server says
// nothing about the first attempt.
func TestABrokenConnectionAndThenNobody(t *testing.T) {
	var requests atomic.Int64
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			_, _ = w.Write([]byte(`{"object": "list", "has_more": false, "data": []}`))
			return
		}
		if err := s.Listener.Close(); err != nil {
			t.Error(err)
		}
		panic(http.ErrAbortHandler)
	}))
	defer s.Close()
	g := gatewayAt(t, s.URL)
	account := psp.Account{Key: "sk_test_1"}
	if _, err := g.Find(deadline(t), psp.Query{Account: account, Operation: psp.Purchase, Reference: "ref-1"}); err != nil {
		t.Fatal(err)
	}
	a := psp.Adjustment{Account: account, Reference: "ref-2", Original: "pi_1", Amount: 100, Currency: "EUR"}
	if r, err := g.Refund(deadline(t), a); err != nil || r.Outcome != psp.Unknown || requests.Load() != 2 {
		t.Errorf("%+v, %v after %d requests", r, err, requests.Load())
	}
}
