package stripe_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"testing"

	"holdfast/internal/domain/payment"
	"holdfast/internal/psp"

	library "github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-mock/spec"
)

const (
	openCall    = "POST /v1/payment_intents"
	attachCall  = "POST /v1/payment_methods"
	confirmCall = "POST /v1/payment_intents/pi_1/confirm"
	lookCall    = "GET /v1/payment_intents/pi_1"
	cancelCall  = "POST /v1/payment_intents/pi_1/cancel"
	captureCall = "POST /v1/payment_intents/pi_1/capture"
	refundCall  = "POST /v1/refunds"
)

// opened scripts an intent that waits for its confirmation, and the result.
func (w *world) opened(confirmation answer) {
	w.on(openCall, ok(recorded(w.t, "payment_intent", nil)))
	w.on(confirmCall, confirmation)
}

// succeeded is an intent whose money was taken.
func succeeded(t *testing.T, onCharge change) map[string]any {
	t.Helper()
	return recorded(t, "payment_intent", change{
		"status": "succeeded", "amount_received": 12345, "payment_method": "pm_1", "latest_charge": recorded(t, "charge", onCharge),
	})
}

func TestPurchaseGoesThroughTheWholeChain(t *testing.T) {
	w := newWorld(t)
	w.opened(ok(succeeded(t, nil)))
	c := w.charge()
	c.Card.Holder, c.Shopper.Email, c.Descriptor = "Ann O'Hara", "ann@example.com", "Sea & Sun <Travel> *Lisbon*"
	r, err := w.gateway.Purchase(deadline(t), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != psp.Approved || r.Amount != 12345 || r.ProcessorID != "pi_1" || r.AuthCode != "A1B2C3" ||
		r.Scheme != "visa" || r.LastFour != "4242" || r.ThreeDS != (payment.ThreeDS{}) {
		t.Errorf("%+v", r)
	}
	if got, want := w.sequence(), openCall+", "+attachCall+", "+confirmCall; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// The gateway looks for braces as they are, and for the token's own characters.
	want := "billing_details[email]=ann%40example.com&billing_details[name]=Ann+O%27Hara" +
		"&card[cvc]={{{{FUNCTION:CVV,TOKEN:424242mkXq4242}}}}&card[exp_month]=12&card[exp_year]=2030" +
		"&card[number]={{{424242mkXq4242}}}&type=card"
	if len(w.gated) != 1 || w.gated[0] != want {
		t.Errorf("the tokenizer's gateway received\n%s, want\n%s", strings.Join(w.gated, "\n"), want)
	}
	card := w.last(attachCall)
	if card.form.Get("card[number]") != cardNumber || card.form.Get("card[cvc]") != securityCode {
		t.Errorf("the processor got %v", card.form)
	}
	open, confirmed := w.last(openCall), w.last(confirmCall)
	if f := open.form; f.Get("amount") != "12345" || f.Get("currency") != "eur" || f.Get("capture_method") != "automatic" ||
		f.Get("metadata[holdfast_reference]") != "ref-1" || f.Get("statement_descriptor_suffix") != "Sea & Sun Travel Lisbo" ||
		open.header.Get("Idempotency-Key") != "ref-1" || open.header.Get("Authorization") != "Bearer sk_test_1234" {
		t.Errorf("%v %v", f, open.header)
	}
	if f := confirmed.form; !strings.HasPrefix(f.Get("payment_method"), "pm_") || f.Get("off_session") != "false" ||
		f.Get("error_on_requires_action") != "true" || f.Has("return_url") ||
		confirmed.header.Get("Idempotency-Key") != "ref-1-confirm" {
		t.Errorf("%v", f)
	}
	for _, secret := range []string{cardNumber, "cvc]=737"} {
		if strings.Contains(w.wire.String(), secret) {
			t.Errorf("%s reached us", secret)
		}
	}
}

func TestAuthorizeHolds(t *testing.T) {
	w := newWorld(t)
	w.opened(ok(recorded(t, "payment_intent", change{
		"status": "requires_capture", "amount_capturable": 12345,
		"latest_charge": recorded(t, "charge", change{"captured": false, "amount_captured": 0}),
	})))
	r, err := w.gateway.Authorize(deadline(t), w.charge())
	if err != nil || r.Outcome != psp.Approved || r.Amount != 12345 || r.LastFour != "4242" {
		t.Errorf("%+v, %v", r, err)
	}
	if method := w.last(openCall).form.Get("capture_method"); method != "manual" {
		t.Errorf("capture_method is %s", method)
	}
}

// Only the mock server responds, with its own fixtures of a successful payment.
func TestTheProcessorsMockServerTakesEveryRequest(t *testing.T) {
	w := newWorld(t)
	fixtures := &spec.Fixtures{Resources: map[spec.ResourceID]any{}}
	for name, fixture := range w.spec.fixtures.Resources {
		fixtures.Resources[name] = fixture
	}
	text, err := json.Marshal(fixtures.Resources["payment_intent"])
	if err != nil {
		t.Fatal(err)
	}
	var intent map[string]any
	if err := json.Unmarshal(text, &intent); err != nil {
		t.Fatal(err)
	}
	intent["status"], intent["last_payment_error"], intent["amount_received"] = "succeeded", nil, 1099
	fixtures.Resources["payment_intent"] = intent
	w.mock = w.spec.server(t, fixtures)

	c := w.charge()
	c.ReturnURL = "https://shop.example.com/back"
	for name, call := range map[string]func(context.Context, psp.Charge) (psp.Result, error){
		"authorize": w.gateway.Authorize, "purchase": w.gateway.Purchase,
	} {
		w.codes[cardToken] = securityCode
		if r, err := call(deadline(t), c); err != nil || r.Outcome != psp.Approved || !strings.HasPrefix(r.ProcessorID, "pi_") {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	a := psp.Adjustment{Account: w.account, Reference: "ref-2", Original: "pi_1", Amount: 1000, Currency: "EUR"}
	for name, call := range map[string]func(context.Context, psp.Adjustment) (psp.Result, error){
		"capture": w.gateway.Capture, "refund": w.gateway.Refund, "void": w.gateway.Void,
	} {
		if _, err := call(deadline(t), a); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, o := range []psp.Operation{psp.Authorize, psp.Purchase, psp.Capture, psp.Refund, psp.Void} {
		q := w.query(o)
		q.Original = "pi_1"
		if _, err := w.gateway.Find(deadline(t), q); err != nil {
			t.Errorf("find %s: %v", o, err)
		}
		q.ProcessorID = "pi_1"
		if r, err := w.gateway.Find(deadline(t), q); err != nil || (o == psp.Purchase && r.Outcome != psp.Approved) {
			t.Errorf("find %s: %+v, %v", o, r, err)
		}
	}
	for _, cursor := range []string{"@1772446830", "evt_1"} {
		if _, next, err := w.gateway.Events(deadline(t), w.account, cursor); err != nil || next == "" {
			t.Errorf("events: %s, %v", next, err)
		}
	}
}

func TestEveryDeclineCodeBecomesADecline(t *testing.T) {
	w := newWorld(t)
	for code, want := range documentedDeclines {
		w.codes[cardToken] = securityCode
		refused := recorded(t, "card_error", change{"decline_code": string(code)})
		refused["payment_intent"] = recorded(t, "payment_intent", change{"latest_charge": "ch_1"})
		w.opened(fails(http.StatusPaymentRequired, refused))
		r, err := w.gateway.Purchase(deadline(t), w.charge())
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome != psp.Declined || r.Decline != want || r.Code != string(code) || r.Amount != 0 ||
			r.ProcessorID != "pi_1" || r.Scheme != "mastercard" || r.LastFour != "4444" || r.Message != "Your card was declined." {
			t.Errorf("%s: %+v, want %s", code, r, want)
		}
		// Asked later, the answer is the same.
		w.on(lookCall, ok(recorded(t, "payment_intent", change{"last_payment_error": recorded(t, "card_error", change{"decline_code": string(code)})})))
		q := w.query(psp.Purchase)
		q.ProcessorID = "pi_1"
		if r, err := w.gateway.Find(deadline(t), q); err != nil || r.Outcome != psp.Declined || r.Decline != want || r.Code != string(code) {
			t.Errorf("found later: %s: %+v, %v", code, r, err)
		}
	}
}

// documentedDeclines are the codes of the processor's documentation and of its library.
var documentedDeclines = map[library.DeclineCode]psp.Decline{
	library.DeclineCodeAuthenticationRequired: psp.DeclineAuthenticate, "authentication_not_handled": psp.DeclineAuthenticate,
	"mobile_device_authentication_required":       psp.DeclineAuthenticate,
	library.DeclineCodeOfflinePINRequired:         psp.DeclineAuthenticate,
	library.DeclineCodeOnlineOrOfflinePINRequired: psp.DeclineAuthenticate,
	library.DeclineCodeIncorrectPIN:               psp.DeclineNotAuthenticated, library.DeclineCodeInvalidPIN: psp.DeclineNotAuthenticated,
	library.DeclineCodeApproveWithID: psp.DeclineGeneric, library.DeclineCodeCallIssuer: psp.DeclineGeneric,
	library.DeclineCodeDoNotHonor: psp.DeclineGeneric, library.DeclineCodeDoNotTryAgain: psp.DeclineGeneric,
	library.DeclineCodeGenericDecline: psp.DeclineGeneric, library.DeclineCodeNewAccountInformationAvailable: psp.DeclineGeneric,
	library.DeclineCodeNoActionTaken: psp.DeclineGeneric, library.DeclineCodeRestrictedCard: psp.DeclineGeneric,
	library.DeclineCodeRevocationOfAllAuthorizations: psp.DeclineGeneric,
	library.DeclineCodeRevocationOfAuthorization:     psp.DeclineGeneric,
	library.DeclineCodeStopPaymentOrder:              psp.DeclineGeneric, library.DeclineCodeTryAgainLater: psp.DeclineGeneric,
	library.DeclineCodeInsufficientFunds:    psp.DeclineFunds,
	library.DeclineCodeCardVelocityExceeded: psp.DeclineLimit, library.DeclineCodeInvalidAmount: psp.DeclineLimit,
	library.DeclineCodePINTryExceeded: psp.DeclineLimit, library.DeclineCodeWithdrawalCountLimitExceeded: psp.DeclineLimit,
	library.DeclineCodeExpiredCard: psp.DeclineExpired, library.DeclineCodeInvalidExpiryMonth: psp.DeclineExpired,
	library.DeclineCodeInvalidExpiryYear: psp.DeclineExpired,
	library.DeclineCodeIncorrectCVC:      psp.DeclineCode, library.DeclineCodeInvalidCVC: psp.DeclineCode,
	library.DeclineCodeIncorrectNumber: psp.DeclineNumber, library.DeclineCodeInvalidNumber: psp.DeclineNumber,
	library.DeclineCodeInvalidAccount: psp.DeclineNumber,
	library.DeclineCodeLostCard:       psp.DeclineLost, library.DeclineCodePickupCard: psp.DeclineLost,
	library.DeclineCodeStolenCard: psp.DeclineStolen,
	library.DeclineCodeFraudulent: psp.DeclineFraud, library.DeclineCodeMerchantBlacklist: psp.DeclineFraud,
	library.DeclineCodeSecurityViolation: psp.DeclineFraud, "highest_risk_level": psp.DeclineFraud,
	library.DeclineCodeCardNotSupported: psp.DeclineNotSupported, library.DeclineCodeCurrencyNotSupported: psp.DeclineNotSupported,
	library.DeclineCodeNotPermitted: psp.DeclineNotSupported, library.DeclineCodeServiceNotAllowed: psp.DeclineNotSupported,
	library.DeclineCodeTestModeDecline: psp.DeclineNotSupported, library.DeclineCodeTransactionNotAllowed: psp.DeclineNotSupported,
	library.DeclineCodeIssuerNotAvailable: psp.DeclineProcessor, library.DeclineCodeProcessingError: psp.DeclineProcessor,
	library.DeclineCodeReenterTransaction:   psp.DeclineProcessor,
	library.DeclineCodeDuplicateTransaction: psp.DeclineOther, library.DeclineCodeIncorrectZip: psp.DeclineOther,
	"incorrect_address": psp.DeclineOther, "a_code_of_next_year": psp.DeclineOther,
}

func TestDeclinesThatGoByTheirErrorCode(t *testing.T) {
	w := newWorld(t)
	for code, want := range map[string]psp.Decline{
		"expired_card": psp.DeclineExpired, "incorrect_cvc": psp.DeclineCode, "card_decline_rate_limit_exceeded": psp.DeclineLimit,
		"payment_intent_authentication_failure": psp.DeclineNotAuthenticated, "processing_error": psp.DeclineProcessor,
		"payment_intent_payment_attempt_expired": psp.DeclineAbandoned,
	} {
		w.codes[cardToken] = securityCode
		e := recorded(t, "card_error", change{"code": code})
		delete(e, "decline_code")
		w.opened(fails(http.StatusPaymentRequired, e))
		r, err := w.gateway.Purchase(deadline(t), w.charge())
		if err != nil || r.Outcome != psp.Declined || r.Decline != want || r.Code != code {
			t.Errorf("%s: %+v, %v", code, r, err)
		}
		if failed := r.ThreeDS.Status == "failed"; failed != (want == psp.DeclineNotAuthenticated) {
			t.Errorf("%s: %+v", code, r.ThreeDS)
		}
	}
	// A card that the processor does not take at all was never charged.
	w.codes[cardToken] = securityCode
	e := recorded(t, "card_error", change{"code": "invalid_expiry_year", "message": "Card 4242 4242 4242 4242 has expired"})
	delete(e, "decline_code")
	w.on(attachCall, fails(http.StatusPaymentRequired, e))
	r, err := w.gateway.Purchase(deadline(t), w.charge())
	if err != nil || r.Outcome != psp.Declined || r.Decline != psp.DeclineExpired || r.Message != "Card … has expired" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestChallenge(t *testing.T) {
	w := newWorld(t)
	w.opened(ok(recorded(t, "payment_intent", change{"status": "requires_action", "next_action": recorded(t, "redirect", nil)})))
	c := w.charge()
	c.ReturnURL = "https://shop.example.com/back?a=1"
	r, err := w.gateway.Purchase(deadline(t), c)
	if err != nil || r.Outcome != psp.Pending || r.ProcessorID != "pi_1" || r.Amount != 0 || r.Challenge == nil ||
		*r.Challenge != (payment.Challenge{Type: "redirect", Value: "https://hooks.example.com/3d_secure/authenticate"}) {
		t.Errorf("%+v, %v", r, err)
	}
	if f := w.last(confirmCall).form; f.Get("return_url") != c.ReturnURL || f.Has("error_on_requires_action") ||
		f.Get("payment_method_options[card][request_three_d_secure]") != "any" {
		t.Errorf("%v", f)
	}
}

func TestWhatComesOfAnAuthentication(t *testing.T) {
	w := newWorld(t)
	w.on(openCall, ok(recorded(t, "payment_intent", nil)))
	c := w.charge()
	c.ReturnURL = "https://shop.example.com/back"
	const directory = "f25084f0-5b16-4c0a-ae5d-b24808a95e4b"
	for _, tt := range []struct {
		secure change
		want   payment.ThreeDS
	}{
		{nil, threeDS("authenticated", "challenge", "05", "2.2.0", directory, true)},
		{change{"authentication_flow": "frictionless", "electronic_commerce_indicator": "02"}, threeDS("authenticated", "frictionless", "02", "2.2.0", directory, true)},
		{change{"result": "attempt_acknowledged", "electronic_commerce_indicator": "06"}, threeDS("attempted", "challenge", "06", "2.2.0", directory, true)},
		{change{"result": "attempt_acknowledged", "electronic_commerce_indicator": "07"}, threeDS("attempted", "challenge", "07", "2.2.0", directory, false)},
		{change{"result": "failed", "result_reason": "rejected", "electronic_commerce_indicator": nil}, threeDS("failed", "challenge", "", "2.2.0", directory, false)},
		{change{"result": "failed", "result_reason": "abandoned", "electronic_commerce_indicator": nil}, threeDS("abandoned", "challenge", "", "2.2.0", directory, false)},
		{change{"result": "failed", "result_reason": "canceled", "electronic_commerce_indicator": nil}, threeDS("abandoned", "challenge", "", "2.2.0", directory, false)},
		{change{"result": "not_supported", "authentication_flow": nil, "electronic_commerce_indicator": "07", "transaction_id": nil, "version": nil}, threeDS("unavailable", "", "07", "", "", false)},
		{change{"result": "processing_error", "authentication_flow": nil}, threeDS("unavailable", "", "05", "2.2.0", directory, false)},
		{change{"result": "exempted", "exemption_indicator": "low_risk", "electronic_commerce_indicator": "07"}, threeDS("unavailable", "challenge", "07", "2.2.0", directory, false)},
		{change{"result": "data_share_only"}, threeDS("unavailable", "challenge", "05", "2.2.0", directory, false)},
	} {
		w.codes[cardToken] = securityCode
		w.on(confirmCall, ok(succeeded(t, change{"payment_method_details.card.three_d_secure": recorded(t, "three_d_secure", tt.secure)})))
		r, err := w.gateway.Purchase(deadline(t), c)
		if err != nil || r.Outcome != psp.Approved || r.ThreeDS != tt.want {
			t.Errorf("%v: %+v, %v, want %+v", tt.secure, r.ThreeDS, err, tt.want)
		}
	}
}

func threeDS(status, flow, eci, version, directory string, shift bool) payment.ThreeDS {
	return payment.ThreeDS{
		Status: status, Flow: flow, ECI: eci, Version: version, DirectoryID: directory, LiabilityShift: shift,
	}
}

func TestSchemes(t *testing.T) {
	w := newWorld(t)
	w.on(openCall, ok(recorded(t, "payment_intent", nil)))
	for _, tt := range [][3]string{
		{"visa", "visa", "visa"}, {"mastercard", "mastercard", "mastercard"}, {"amex", "amex", "amex"},
		{"discover", "discover", "discover"}, {"diners", "diners", "diners"}, {"jcb", "jcb", "jcb"},
		{"unionpay", "unionpay", "unionpay"}, {"visa", "discover", "discover"}, {"visa", "cartes_bancaires", "visa"},
		{"unknown", "unknown", ""},
	} {
		w.codes[cardToken] = securityCode
		w.on(confirmCall, ok(succeeded(t, change{"payment_method_details.card.brand": tt[0], "payment_method_details.card.network": tt[1]})))
		if r, err := w.gateway.Purchase(deadline(t), w.charge()); err != nil || r.Scheme != tt[2] {
			t.Errorf("%v: %q, %v", tt, r.Scheme, err)
		}
	}
}

func TestWhatIsNotKnownIsUnknown(t *testing.T) {
	w := newWorld(t)
	for name, confirmation := range map[string]answer{
		"the line breaks":            {hangUp: true},
		"the processor fails":        fails(500, map[string]any{"type": "api_error", "message": "…"}),
		"a proxy fails":              {status: 502, body: "<html>bad gateway</html>"},
		"no JSON":                    {status: 200, body: "<html>hello</html>"},
		"a redirection":              {status: 302, body: "", header: map[string]string{"Location": "/v1/elsewhere"}},
		"another is under way":       fails(409, map[string]any{"type": "idempotency_error", "code": "idempotency_key_in_use", "message": "…"}),
		"the intent is locked":       fails(429, map[string]any{"type": "invalid_request_error", "code": "lock_timeout", "message": "…"}),
		"still processing":           ok(recorded(t, "payment_intent", change{"status": "processing"})),
		"a status of next year":      {status: 200, body: `{"id": "pi_1", "object": "payment_intent", "status": "requires_luck"}`},
		"not confirmed after all":    ok(recorded(t, "payment_intent", nil)),
		"a challenge of other kind":  ok(recorded(t, "payment_intent", change{"status": "requires_action", "next_action": map[string]any{"type": "use_stripe_sdk", "use_stripe_sdk": map[string]any{}}})),
		"an amount with no currency": {status: 200, body: `{"id": "pi_1", "object": "payment_intent", "status": "succeeded", "amount_received": 1, "currency": "xxx"}`},
	} {
		t.Run(name, func(t *testing.T) {
			w.codes[cardToken] = securityCode
			w.opened(confirmation)
			r, err := w.gateway.Purchase(deadline(t), w.charge())
			if err != nil || r.Outcome != psp.Unknown || r.Amount != 0 {
				t.Errorf("%+v, %v", r, err)
			}
			if strings.HasPrefix(name, "an amount") || r.ProcessorID == "pi_1" {
				return
			}
			t.Errorf("its name at the processor is lost: %+v", r)
		})
	}
}

func TestTimeOut(t *testing.T) {
	for name, tt := range map[string]struct {
		at      string
		outcome psp.Outcome
	}{
		"the tokenizer": {"gate", ""}, "the intent": {openCall, ""}, "the card": {attachCall, ""},
		"the confirmation": {confirmCall, psp.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.opened(ok(succeeded(t, nil)))
			// The caller gives up while the processor is busy, without depending on a clock.
			ctx, give := context.WithCancel(t.Context())
			mocked := w.mock
			w.mock = func(out http.ResponseWriter, r *http.Request) {
				if r.Method+" "+r.URL.Path == tt.at {
					give()
					<-r.Context().Done()
					panic(http.ErrAbortHandler)
				}
				mocked(out, r)
			}
			if tt.at == "gate" {
				w.gateDown = func(_ http.ResponseWriter, r *http.Request) {
					give()
					<-r.Context().Done()
				}
			}
			r, err := w.gateway.Purchase(ctx, w.charge())
			if r.Outcome != tt.outcome {
				t.Errorf("%+v, %v", r, err)
			}
			if tt.outcome == "" && psp.KindOf(err) != psp.Unreachable {
				t.Errorf("%v", err)
			}
			if tt.outcome == psp.Unknown && (err != nil || r.ProcessorID != "pi_1") {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestErrorsSayThatNothingHappened(t *testing.T) {
	invalid := func(changes change) map[string]any {
		e := map[string]any{"type": "invalid_request_error", "message": "No such thing."}
		for name, value := range changes {
			e[name] = value
		}
		return e
	}
	for name, tt := range map[string]struct {
		call   string
		answer answer
		kind   psp.ErrorKind
		code   string
		field  string
	}{
		"a key that was rolled":   {openCall, fails(401, invalid(change{"code": "api_key_expired"})), psp.Refused, "api_key_expired", ""},
		"a key without rights":    {openCall, fails(403, invalid(nil)), psp.Refused, "", ""},
		"no raw card data":        {attachCall, fails(402, invalid(nil)), psp.Refused, "", ""},
		"too many requests":       {confirmCall, fails(429, invalid(change{"code": "rate_limit"})), psp.Unreachable, "rate_limit", ""},
		"amount too small":        {openCall, fails(400, invalid(change{"code": "amount_too_small", "param": "amount"})), psp.Invalid, "amount_too_small", "total"},
		"a currency that is off":  {openCall, fails(400, invalid(change{"param": "currency"})), psp.Invalid, "", "currencies"},
		"a month that is none":    {attachCall, fails(400, invalid(change{"param": "card[exp_month]"})), psp.Invalid, "", "expiry_month"},
		"a bad return address":    {confirmCall, fails(400, invalid(change{"code": "url_invalid", "param": "return_url"})), psp.Invalid, "url_invalid", "3ds_redirect_url"},
		"the opening is lost":     {openCall, answer{hangUp: true}, psp.Unreachable, "", ""},
		"the processor fails":     {openCall, fails(500, map[string]any{"type": "api_error", "message": "…"}), psp.Unreachable, "", ""},
		"no intent in the answer": {openCall, answer{status: 200, body: "{}"}, psp.Unreachable, "", ""},
		"the card is lost":        {attachCall, answer{hangUp: true}, psp.Unreachable, "5003", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.opened(ok(succeeded(t, nil)))
			w.on(tt.call, tt.answer)
			r, err := w.gateway.Purchase(deadline(t), w.charge())
			e, isError := errors.AsType[*psp.Error](err)
			if !isError || e.Kind != tt.kind || e.Code != tt.code || e.Field != tt.field || r.Outcome != "" {
				t.Errorf("%+v, %#v", r, err)
			}
		})
	}
}

func TestErrorsOfTheTokenizerAreNotTheProcessors(t *testing.T) {
	w := newWorld(t)
	w.on(openCall, ok(recorded(t, "payment_intent", nil)))
	c := w.charge()
	c.Card.Token = "424242nobody4242"
	_, err := w.gateway.Purchase(deadline(t), c)
	if e, ok := errors.AsType[*psp.Error](err); !ok || e.Source != psp.AtTokenizer || e.Kind != psp.Invalid || e.Code != "3000" || e.Field != "" {
		t.Errorf("%#v", err)
	}
	c = w.charge()
	c.Account.Tokenizer.Key = "another-key"
	_, err = w.gateway.Purchase(deadline(t), c)
	if e, ok := errors.AsType[*psp.Error](err); !ok || e.Source != psp.AtTokenizer || e.Kind != psp.Refused || e.Code != "1003" {
		t.Errorf("%#v", err)
	}
	if got := w.sequence(); got != openCall+", "+openCall {
		t.Errorf("the processor was asked %s", got)
	}
}

func TestACardWithoutItsSecurityCodeGoesWithoutOne(t *testing.T) {
	w := newWorld(t)
	w.opened(ok(succeeded(t, nil)))
	delete(w.codes, cardToken)
	r, err := w.gateway.Purchase(deadline(t), w.charge())
	if err != nil || r.Outcome != psp.Approved {
		t.Fatalf("%+v, %v", r, err)
	}
	if len(w.gated) != 2 || !strings.Contains(w.gated[0], "FUNCTION:CVV") || strings.Contains(w.gated[1], "card[cvc]") {
		t.Errorf("%s", strings.Join(w.gated, "\n"))
	}
	if f := w.last(attachCall).form; f.Has("card[cvc]") || f.Get("card[number]") != cardNumber {
		t.Errorf("%v", f)
	}
}

func TestTheSameReferenceAgainMovesNothing(t *testing.T) {
	w := newWorld(t)
	replayed := answer{200, recorded(t, "payment_intent", nil), map[string]string{"Idempotent-Replayed": "true"}, false}
	w.on(openCall, replayed)
	w.on(lookCall, ok(succeeded(t, nil)))
	r, err := w.gateway.Purchase(deadline(t), w.charge())
	if err != nil || r.Outcome != psp.Approved || r.Amount != 12345 || w.sequence() != openCall+", "+lookCall {
		t.Errorf("%+v, %v after %s", r, err, w.sequence())
	}
	// One that was opened but not confirmed continues.
	w.on(lookCall, ok(recorded(t, "payment_intent", nil)))
	w.on(confirmCall, ok(succeeded(t, nil)))
	if r, err := w.gateway.Purchase(deadline(t), w.charge()); err != nil || r.Outcome != psp.Approved {
		t.Errorf("%+v, %v", r, err)
	}
	// And one that another call has confirmed meanwhile has that result.
	for _, e := range []map[string]any{
		{"type": "idempotency_error", "message": "Keys for idempotent requests can only be used with the same parameters."},
		{"type": "invalid_request_error", "code": "payment_intent_unexpected_state", "message": "…"},
	} {
		w.codes[cardToken] = securityCode
		w.on(lookCall, ok(recorded(t, "payment_intent", nil)), ok(succeeded(t, nil)))
		w.on(confirmCall, fails(400, e))
		if r, err := w.gateway.Purchase(deadline(t), w.charge()); err != nil || r.Outcome != psp.Approved || r.Amount != 12345 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	// While the response is lost, the outcome is unknown.
	w.on(lookCall, answer{hangUp: true})
	if r, err := w.gateway.Purchase(deadline(t), w.charge()); err != nil || r.Outcome != psp.Unknown || r.ProcessorID != "pi_1" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestTokensOfTheProcessor(t *testing.T) {
	w := newWorld(t)
	w.account.Tokenizer = psp.Tokenizer{}
	w.opened(ok(succeeded(t, nil)))
	c := w.charge()
	c.Card = psp.Card{Token: "pm_card_visa"}
	if r, err := w.gateway.Purchase(deadline(t), c); err != nil || r.Outcome != psp.Approved {
		t.Errorf("%+v, %v", r, err)
	}
	if got := w.last(confirmCall).form.Get("payment_method"); got != "pm_card_visa" || w.sequence() != openCall+", "+confirmCall {
		t.Errorf("%s after %s", got, w.sequence())
	}
	c.Card = psp.Card{Token: "tok_visa"}
	if r, err := w.gateway.Purchase(deadline(t), c); err != nil || r.Outcome != psp.Approved {
		t.Errorf("%+v, %v", r, err)
	}
	if f := w.last(attachCall).form; f.Get("card[token]") != "tok_visa" || len(w.gated) != 0 {
		t.Errorf("%v, %v", f, w.gated)
	}
}

func TestProblemsAreFoundBeforeAnythingIsSent(t *testing.T) {
	w := newWorld(t)
	for name, tt := range map[string]struct {
		change func(*psp.Charge)
		kind   psp.ErrorKind
		field  string
	}{
		"no month":             {func(c *psp.Charge) { c.Card.Month = 0 }, psp.Invalid, "expiry_month"},
		"no year":              {func(c *psp.Charge) { c.Card.Year = 0 }, psp.Invalid, "expiry_year"},
		"no such token":        {func(c *psp.Charge) { c.Card.Token = "a&b" }, psp.Invalid, ""},
		"someone else's token": {func(c *psp.Charge) { c.Account.Tokenizer = psp.Tokenizer{} }, psp.Invalid, ""},
		"no such currency":     {func(c *psp.Charge) { c.Currency = "IQD" }, psp.Invalid, "currencies"},
		"no amount":            {func(c *psp.Charge) { c.Amount = 0 }, psp.Invalid, "total"},
		"a live key":           {func(c *psp.Charge) { c.Account.Key = "sk_live_1234" }, psp.Refused, ""},
	} {
		c := w.charge()
		tt.change(&c)
		r, err := w.gateway.Purchase(deadline(t), c)
		if e, ok := errors.AsType[*psp.Error](err); !ok || e.Kind != tt.kind || e.Field != tt.field || r.Outcome != "" {
			t.Errorf("%s: %+v, %#v", name, r, err)
		}
	}
	// A placeholder in another field would bring the number to where it can be read.
	c := w.charge()
	c.Card.Holder = "{{{" + cardToken + "}}}"
	w.on(openCall, ok(recorded(t, "payment_intent", nil)))
	if _, err := w.gateway.Purchase(deadline(t), c); psp.KindOf(err) != psp.Invalid {
		t.Errorf("%v", err)
	}
	if len(w.gated) != 0 || w.sequence() != openCall {
		t.Errorf("sent: %v, %s", w.gated, w.sequence())
	}
}

func TestNothingIsLogged(t *testing.T) {
	w := newWorld(t)
	// The mock server prints what it is asked.
	w.mock = func(http.ResponseWriter, *http.Request) {}
	w.on(attachCall, ok(recorded(t, "card_error", nil)["payment_method"]))
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = write, write
	log.SetOutput(write)
	outcomes := map[psp.Outcome]bool{}
	for _, confirmation := range []answer{
		{hangUp: true}, ok(succeeded(t, nil)), fails(402, recorded(t, "card_error", nil)),
		fails(500, map[string]any{"type": "api_error", "message": "…"}),
	} {
		w.codes[cardToken] = securityCode
		w.opened(confirmation)
		var r psp.Result
		if r, err = w.gateway.Purchase(deadline(t), w.charge()); err != nil {
			break
		}
		outcomes[r.Outcome] = true
	}
	os.Stdout, os.Stderr = stdout, stderr
	log.SetOutput(stderr)
	write.Close()
	printed, readErr := io.ReadAll(read)
	if err != nil || readErr != nil {
		t.Fatal(err, readErr)
	}
	if len(printed) > 0 {
		t.Errorf("logged: %s", printed)
	}
	if !outcomes[psp.Unknown] || !outcomes[psp.Approved] || !outcomes[psp.Declined] {
		t.Errorf("the test did not get to what might be logged: %v", outcomes)
	}
}
