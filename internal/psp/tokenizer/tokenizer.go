// Package tokenizer sends a processor's requests through the transparent gateway of the provider that holds the card
// numbers (TokenEx's, API 2.0). Where a request says {{{token}}}, the gateway puts the number in and sends it on, so
// that numbers never reach us. Processors' libraries know nothing of it: a Transport is put under them.
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

// Where the provider runs its gateways.
const (
	TestAddress = "https://test-tgapi.tokenex.com"
	LiveAddress = "https://tgapi.tokenex.com"
)

// Where the provider keeps the scripts of its hosted fields, which the payment modal shows.
const (
	TestScript = "https://test-htp.tokenex.com/Iframe/Iframe-v3.min.js"
	LiveScript = "https://htp.tokenex.com/Iframe/Iframe-v3.min.js"
)

// Gateway is where the provider's gateways are: one for test cards, one for live ones.
type Gateway struct {
	test, live *url.URL
	next       http.RoundTripper
}

// New makes a Gateway of the addresses for test and live cards ("" is the provider's own); next carries the requests.
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
		return nil, fmt.Errorf("the address of the tokenizer's gateway for test cards: %w", err)
	}
	if g.live, err = psp.ParseAddress(live); err != nil {
		return nil, fmt.Errorf("the address of the tokenizer's gateway for live cards: %w", err)
	}
	return g, nil
}

// Transport carries a channel's requests. Those that hold a placeholder in one of the form fields named go through the
// gateway, all others straight to where they are meant for. A placeholder in any other field is refused: the number
// would end up where it can be read back.
//
// It is for requests that move no money. Then whatever the gateway says went wrong is an error of the type *psp.Error,
// even a time-out behind it: the processor's answers come back as they are, the gateway's own never look like them.
func (g *Gateway) Transport(a psp.Account, fields ...string) http.RoundTripper {
	t := transport{gateway: g.test, account: a.Tokenizer, fields: fields, next: g.next}
	if a.Live {
		t.gateway = g.live
	}
	return t
}

// tokens are those that can stand in a form as they are: the gateway looks for the token's own characters, and once the
// number is in their place the rest has to be a form still.
var tokens = regexp.MustCompile(`^[A-Za-z0-9*._~-]{1,512}$`)

// Number is the placeholder for the number of a token's card.
func Number(token string) (string, error) {
	if !tokens.MatchString(token) {
		return "", &psp.Error{Source: psp.AtTokenizer, Kind: psp.Invalid, Message: "this is not a token of the tokenizer"}
	}
	return "{{{" + token + "}}}", nil
}

// SecurityCode is the placeholder for the security code that the tokenizer holds for a token. It holds a code for a few
// days at most, and gives it out once: see NoSecurityCode.
func SecurityCode(token string) (string, error) {
	if _, err := Number(token); err != nil {
		return "", err
	}
	return "{{{{FUNCTION:CVV,TOKEN:" + token + "}}}}", nil
}

// placeholders are what Number and SecurityCode give, and nothing else.
var placeholders = regexp.MustCompile(`^(\{\{\{[A-Za-z0-9*._~-]{1,512}\}\}\}|\{\{\{\{FUNCTION:CVV,TOKEN:[A-Za-z0-9*._~-]{1,512}\}\}\}\})$`)

var errMisplaced = errors.New("a form field besides the card's holds braces as placeholders have them")

// reveal writes the placeholders of a form in literal braces, as the gateway looks for them: a form has them
// percent-encoded. It changes nothing else, and tells whether it found any.
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
