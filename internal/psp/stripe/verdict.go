package stripe

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"strconv"
	"sync/atomic"

	"holdfast/internal/psp"

	stripe "github.com/stripe/stripe-go/v85"
)

// verdict says what a failed request means. certain: it has definitely moved no money. Without it, the outcome
// of a request that can move money is not known.
//
// The error of the library is never wrapped: its text contains everything that the processor sent, including secrets.
func verdict(err error) (e *psp.Error, certain bool) {
	if e, ok := errors.AsType[*psp.Error](err); ok {
		return e, true
	}
	failure, ok := errors.AsType[*stripe.Error](err)
	if !ok {
		return unreached(err)
	}
	e = &psp.Error{Source: psp.AtProcessor, Code: string(failure.Code)}
	if failure.RequestID != "" {
		e.Err = errors.New("the processor's request id is " + clean(failure.RequestID))
	}
	status := failure.HTTPStatusCode
	switch {
	case status == http.StatusUnauthorized:
		e.Kind, e.Message = psp.Refused, "stripe rejected the key"
	case status == http.StatusForbidden:
		e.Kind, e.Message = psp.Refused, "the key lacks a permission at stripe"
	case status == http.StatusPaymentRequired && failure.Type != stripe.ErrorTypeCard:
		e.Kind, e.Message = psp.Refused, "stripe does not allow this for the account: "+clean(failure.Msg)
	case failure.Code == stripe.ErrorCodeIdempotencyKeyInUse, failure.Code == stripe.ErrorCodeLockTimeout:
		// Another request about the same payment is not finished.
		e.Kind, e.Message = psp.Unreachable, "stripe is still processing the same payment"
		return e, false
	case status == http.StatusTooManyRequests:
		e.Kind, e.Message = psp.Unreachable, "stripe's rate limit was exceeded"
	case status >= 400 && status < 500:
		e.Kind, e.Field, e.Message = psp.Invalid, fields[failure.Param], "stripe rejected the request: "+clean(failure.Msg)
	default:
		e.Kind, e.Message = psp.Unreachable, "stripe responded with HTTP status "+strconv.Itoa(status)
		return e, false
	}
	return e, true
}

// unreached is the verdict on a request without a readable answer. The cause is left out, because it may quote an
// answer.
func unreached(err error) (*psp.Error, bool) {
	e := &psp.Error{Source: psp.Network, Kind: psp.Unreachable, Message: "no response from stripe"}
	if unsent, ok := errors.AsType[*unsentError](err); ok {
		e.Message, e.Err = "stripe cannot be reached", unsent.err
		return e, true
	}
	return e, false
}

// unsentError: the request was never sent.
type unsentError struct{ err *net.OpError }

func (e *unsentError) Error() string { return e.err.Error() }

// sender records whether a failed request was never sent. A failed dial alone does not prove that: the transport
// retries on its own when a connection breaks, and it may have sent the request before.
type sender struct{ next http.RoundTripper }

func (s sender) RoundTrip(r *http.Request) (*http.Response, error) {
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	response, err := s.next.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if line, ok := errors.AsType[*net.OpError](err); ok && line.Op == "dial" && !connected.Load() {
		return nil, &unsentError{line}
	}
	return response, err
}

// fields are our names (section 2.6) for parameters of the processor.
var fields = map[string]string{
	"amount": "total", "amount_to_capture": "total",
	"currency":        "currencies",
	"card[exp_month]": "expiry_month", "exp_month": "expiry_month",
	"card[exp_year]": "expiry_year", "exp_year": "expiry_year",
	"billing_details[email]": "payee_email", "billing_details[name]": "payee_name",
	"return_url": "3ds_redirect_url",
}

// digits is a text that may be a card number or a part of one.
var digits = regexp.MustCompile(`[0-9](?:[ -]?[0-9]){7,}`)

// clean removes from a text of the processor what may be card data, and cuts the text to 200 characters.
func clean(text string) string {
	text = digits.ReplaceAllString(text, "…")
	const longest = 200
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return text
}
