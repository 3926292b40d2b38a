package stripe_test

import (
	"net/http"
	"testing"
	"time"

	"holdfast/internal/psp"
	"holdfast/internal/psp/stripe"
)

func TestCheck(t *testing.T) {
	w := newWorld(t)
	for _, key := range []string{"sk_test_1", "rk_test_1"} {
		a := psp.Account{Key: key}
		if err := w.gateway.Check(a); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		a.Live = true
		if err := w.gateway.Check(a); psp.KindOf(err) != psp.Refused {
			t.Errorf("a live channel takes %s: %v", key, err)
		}
	}
	for _, key := range []string{"sk_live_1", "rk_live_1"} {
		a := psp.Account{Key: key, Live: true, Tokenizer: psp.Tokenizer{ID: "1", Key: "2"}}
		if err := w.gateway.Check(a); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		a.Live = false
		if err := w.gateway.Check(a); psp.KindOf(err) != psp.Refused {
			t.Errorf("a test channel takes %s: %v", key, err)
		}
	}
	for _, a := range []psp.Account{
		{}, {Key: "sk_test_"}, {Key: "pk_test_1"}, {Key: "whsec_1"}, {Key: "sk_prod_1"}, {Key: "SK_TEST_1"}, {Key: "sk_test_1\n"},
		{Key: " sk_test_1"}, {Key: "sk_test_a b"}, {Key: "sk_test_ä"},
		{Key: "sk_test_1", Tokenizer: psp.Tokenizer{ID: "1"}}, {Key: "sk_test_1", Tokenizer: psp.Tokenizer{Key: "1"}},
		{Key: "sk_test_1", Tokenizer: psp.Tokenizer{ID: "1", Key: "a\r\nTx-Url: b"}},
	} {
		if err := w.gateway.Check(a); psp.KindOf(err) != psp.Refused {
			t.Errorf("%+v: %v", a, err)
		}
	}
}

// Every call refuses an account of the other environment, before anything is sent.
func TestEveryCallChecksTheAccount(t *testing.T) {
	w := newWorld(t)
	w.account.Key = "sk_live_1234"
	a := psp.Adjustment{Account: w.account, Reference: "ref-2", Original: "pi_1", Amount: 1, Currency: "EUR"}
	for name, call := range map[string]func() error{
		"authorize": func() error { _, err := w.gateway.Authorize(deadline(t), w.charge()); return err },
		"purchase":  func() error { _, err := w.gateway.Purchase(deadline(t), w.charge()); return err },
		"capture":   func() error { _, err := w.gateway.Capture(deadline(t), a); return err },
		"refund":    func() error { _, err := w.gateway.Refund(deadline(t), a); return err },
		"void":      func() error { _, err := w.gateway.Void(deadline(t), a); return err },
		"find":      func() error { _, err := w.gateway.Find(deadline(t), w.query(psp.Purchase)); return err },
		"events":    func() error { _, _, err := w.gateway.Events(deadline(t), w.account, ""); return err },
	} {
		if err := call(); psp.KindOf(err) != psp.Refused {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(w.asked) != 0 || len(w.gated) != 0 {
		t.Errorf("sent: %s", w.sequence())
	}
}

func TestADeploymentWithoutATokenizer(t *testing.T) {
	g, err := stripe.New(stripe.Config{Next: http.DefaultTransport, Clock: func() time.Time { return time.Time{} }})
	if err != nil {
		t.Fatal(err)
	}
	a := psp.Account{Key: "sk_test_1", Tokenizer: psp.Tokenizer{ID: "1", Key: "2"}}
	if err := g.Check(a); psp.KindOf(err) != psp.Refused {
		t.Errorf("%v", err)
	}
	for _, c := range []stripe.Config{
		{}, {Next: http.DefaultTransport}, {Clock: func() time.Time { return time.Time{} }},
		{Next: http.DefaultTransport, Clock: func() time.Time { return time.Time{} }, Address: "http://api.example.com"},
	} {
		if _, err := stripe.New(c); err == nil {
			t.Errorf("%+v makes a gateway", c)
		}
	}
}

// A live account's card goes to the live gateway, which does not exist here.
func TestLiveCardsDoNotGoToTheTestGateway(t *testing.T) {
	w := newWorld(t)
	w.account.Live, w.account.Key = true, "sk_live_1234"
	// The mock server only accepts test keys.
	w.mock = func(http.ResponseWriter, *http.Request) {}
	w.on(openCall, ok(recorded(t, "payment_intent", change{"livemode": true})))
	_, err := w.gateway.Purchase(deadline(t), w.charge())
	if psp.KindOf(err) != psp.Unreachable || len(w.gated) != 0 {
		t.Errorf("%v, %v", err, w.gated)
	}
	if got := w.last(openCall).header.Get("Authorization"); got != "Bearer sk_live_1234" {
		t.Errorf("the key is %s", got)
	}
}
