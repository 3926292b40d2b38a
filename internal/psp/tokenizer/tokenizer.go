// Package tokenizer sends requests to a processor through the gateway of the provider that stores the card numbers
// (TokenEx, gateway API 2.0; section 1). The gateway replaces {{{token}}} in a request with the card number and
// forwards it, so card numbers never reach us. A processor's library is given a Transport and needs to know nothing
// else.
package tokenizer

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"holdfast/internal/psp"
)

// Addresses of the provider's gateways.
const (
	TestAddress = "https://test-tgapi.tokenex.com"
	LiveAddress = "https://tgapi.tokenex.com"
)

// Addresses of the provider's scripts for hosted fields, which the payment modal shows.
const (
	TestScript = "https://test-htp.tokenex.com/Iframe/Iframe-v3.min.js"
	LiveScript = "https://htp.tokenex.com/Iframe/Iframe-v3.min.js"
)

// Gateway knows the two gateways of the provider: one for test cards and one for live cards.
type Gateway struct {
	test, live *url.URL
	next       http.RoundTripper
}

// New makes a Gateway from the URLs for test and live cards. "" means the URL of the provider. next
// sends the requests. It is an error when an address is wrong (see psp.ParseAddress).
func New(test, live string, next http.RoundTripper) (*Gateway, error) {
	if test == "" {
		test = TestAddress
	}
	if live == "" {
		live = LiveAddress
	}
	g := &Gateway{next: next}
	var err error
	if g.test, err = psp.ParseAddress(test); err != nil {
		return nil, fmt.Errorf("the URL of the tokenizer's gateway for test cards: %w", err)
	}
	if g.live, err = psp.ParseAddress(live); err != nil {
		return nil, fmt.Errorf("the URL of the tokenizer's gateway for live cards: %w", err)
	}
	return g, nil
}

// Transport sends the requests of a channel. A request with a placeholder in one of the named form fields goes
// through the gateway, and every other request goes directly to the processor. A placeholder in another field is an
// error: the card number could be read back there.
//
// It is for requests that move no money. So every error of the gateway, even a timeout behind it, is a *psp.Error. A
// response of the processor is returned unchanged, and an error of the gateway never looks like one.
func (g *Gateway) Transport(a psp.Account, fields ...string) http.RoundTripper {
	t := transport{gateway: g.test, account: a.Tokenizer, fields: fields, next: g.next}
	if a.Live {
		t.gateway = g.live
	}
	return t
}

// tokens are the tokens that need no escapes in a form: the gateway looks for exactly these characters, and the form
// must stay a form after it has put the number in.
var tokens = regexp.MustCompile(`^[A-Za-z0-9*._~-]{1,512}$`)

// Number returns the placeholder for the card number of a token. A text that cannot be a token is an *psp.Error of
// the kind Invalid.
func Number(token string) (string, error) {
	if !tokens.MatchString(token) {
		return "", &psp.Error{Source: psp.AtTokenizer, Kind: psp.Invalid, Message: "this is not a tokenizer token"}
	}
	return "{{{" + token + "}}}", nil
}

// SecurityCode returns the placeholder for the security code of a token. The tokenizer keeps a code for a few days at
// most and gives it out once: see NoSecurityCode. A text that cannot be a token is an *psp.Error of the kind Invalid.
func SecurityCode(token string) (string, error) {
	if _, err := Number(token); err != nil {
		return "", err
	}
	return "{{{{FUNCTION:CVV,TOKEN:" + token + "}}}}", nil
}

// placeholders are the texts that Number and SecurityCode return.
var placeholders = regexp.MustCompile(`^(\{\{\{[A-Za-z0-9*._~-]{1,512}\}\}\}|\{\{\{\{FUNCTION:CVV,TOKEN:[A-Za-z0-9*._~-]{1,512}\}\}\}\})$`)

var errMisplaced = errors.New("a form field other than the card contains placeholder braces")

// reveal decodes the placeholders of a form, because the gateway looks for plain braces and a form has them
// percent-encoded. It changes nothing else. found says whether there was a placeholder.
func reveal(form string, fields []string) (revealed string, found bool, err error) {
	var b strings.Builder
	b.Grow(len(form))
	for i, pair := range strings.Split(form, "&") {
		if i > 0 {
			b.WriteByte('&')
		}
		key, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(key)
		if err != nil {
			return "", false, fmt.Errorf("the name of a form field: %w", err)
		}
		plain, err := url.QueryUnescape(value)
		if err != nil {
			return "", false, fmt.Errorf("the value of a form field: %w", err)
		}
		switch {
		case named(fields, name) && placeholders.MatchString(plain):
			b.WriteString(key + "=" + plain)
			found = true
		case braces(name) || braces(plain):
			return "", false, errMisplaced
		default:
			b.WriteString(pair)
		}
	}
	return b.String(), found, nil
}

func named(fields []string, name string) bool {
	for _, field := range fields {
		if field == name {
			return true
		}
	}
	return false
}

func braces(text string) bool { return strings.Contains(text, "{{{") || strings.Contains(text, "}}}") }
