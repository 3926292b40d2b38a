package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// Limits of a request.
const (
	maxBody   = 1 << 20 // bytes
	maxDepth  = 16      // of objects and lists inside each other; no valid body has more than 3
	maxValues = 20_000  // in a body, with those inside others; a rate card of 1,000 lines has 5,001
	maxFields = 1000    // of one object
	maxKey    = 191     // characters of an idempotency key
)

// input reads the body of the request: a JSON object. An empty body counts as an empty object. Problems of single fields
// are noted in the input, and are reported together later. Errors: BodyTooLarge, BadJSON and
// CardNumber.
func (c *call) input() (*input, error) {
	if c.bodyErr != nil {
		return nil, c.bodyErr
	}
	in := &input{problems: &fault.Problems{}}
	err := c.door.decode(c, func() (err error) {
		in.fields, err = decodeObject(c.body, in.problems)
		return err
	})
	if err != nil {
		return nil, err
	}
	return in, nil
}

// idempotencyKey reads the idempotency key of a request that makes or changes something. Two requests count as the same when
// their method, path, If-Match and body are the same bytes. Errors: CardNumber, and Invalid for a wrong key.
func (c *call) idempotencyKey() (auth.IdempotencyKey, error) {
	key := c.r.Header.Get("Idempotency-Key")
	switch {
	case key == "" || c.r.Method == http.MethodGet || c.r.Method == http.MethodHead:
		return auth.IdempotencyKey{}, nil
	case travel.HoldsCardNumber(key):
		return auth.IdempotencyKey{}, errCardNumber("Idempotency-Key")
	case utf8.RuneCountInString(key) > maxKey || !isPrintable(key):
		return auth.IdempotencyKey{}, fault.WrongField("Idempotency-Key", "At most %d printable ASCII characters are allowed.", maxKey)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %s\n", c.r.Method, c.r.URL.EscapedPath())
	if wanted := c.r.Header.Get("If-Match"); wanted != "" {
		fmt.Fprintf(sum, "%s\n", wanted)
	}
	sum.Write(c.body)
	return auth.IdempotencyKey{Key: key, Hash: hex.EncodeToString(sum.Sum(nil)), Replayed: &c.replayed}, nil
}

func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// decodeObject reads the fields of a JSON object, and nothing inside them: a list or an object stays a raw text until a
// handler asks for it. So what nobody asks for costs one look at its bytes. Every text is looked at, because a card number is
// refused wherever it stands. A field that is given twice is noted as a problem.
func decodeObject(text []byte, p *fault.Problems) (map[string]any, error) {
	text = bytes.Trim(text, " \t\r\n") // the only white space of JSON
	if len(text) == 0 {
		return map[string]any{}, nil
	}
	if err := checkBounds(text); err != nil {
		return nil, err
	}
	if !utf8.Valid(text) || !json.Valid(text) {
		return nil, fault.New(fault.BadJSON, "The body is not valid JSON.")
	}
	if text[0] != '{' {
		return nil, fault.New(fault.BadJSON, "The body is not a JSON object.")
	}
	if err := lookForCards(text); err != nil {
		return nil, err
	}
	return fieldsOf(text, "", p)
}

// holdsLongNumbers are the fields in which card numbers are not looked for: a hash can look like one by chance.
var holdsLongNumbers = map[string]bool{"booking_auth": true, "hash": true, "hashes": true, "uuid": true}

// holdsCardNumber says whether a text holds a card number. A token does only when all of it is a card number. key is the name
// of the field.
func holdsCardNumber(key, text string) bool {
	switch {
	case holdsLongNumbers[key]:
		return false
	case key == "token":
		return travel.IsCardNumber(text)
	default:
		return travel.HoldsCardNumber(text)
	}
}

// errCardNumber is the error about a field that holds a card number. The number must not appear in the answer or in the log.
func errCardNumber(field string) error {
	return &fault.Error{
		Kind:    fault.CardNumber,
		Message: "A card number was found in the input; it was neither stored nor logged.",
		Params:  map[string]string{field: "This field holds a card number."},
	}
}
