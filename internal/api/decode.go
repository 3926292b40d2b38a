package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// Limits of a request.
const (
	maxBody  = 1 << 20 // bytes
	maxDepth = 16      // of objects and lists inside each other; no valid body has more than 3
	maxKey   = 191     // characters of an idempotency key
)

// input reads the body of the request: a JSON object. An empty body counts as an empty object. Problems of single fields
// are noted in the input, and are reported together later. Errors: BodyTooLarge, BadJSON, CardNumber, and Invalid for a
// wrong idempotency key.
func (c *call) input() (*input, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(c, c.r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, fault.New(fault.BodyTooLarge, "The body may have at most %d bytes.", maxBody)
	}
	if err != nil {
		return nil, &fault.Error{Kind: fault.BadJSON, Message: "The body could not be read to its end.", Err: err}
	}
	in := &input{raw: raw, problems: &fault.Problems{}}
	if in.fields, err = decodeObject(raw, in.problems); err != nil {
		return nil, err
	}
	in.idempotency, err = c.readIdempotencyKey(raw)
	return in, err
}

// readIdempotencyKey reads the idempotency key. Two requests count as the same when their method, path and body are the same bytes.
func (c *call) readIdempotencyKey(body []byte) (travel.IdempotencyKey, error) {
	key := c.r.Header.Get("Idempotency-Key")
	switch {
	case key == "":
		return travel.IdempotencyKey{}, nil
	case travel.HoldsCardNumber(key):
		return travel.IdempotencyKey{}, errCardNumber("Idempotency-Key")
	case utf8.RuneCountInString(key) > maxKey || !isPrintable(key):
		return travel.IdempotencyKey{}, fault.WrongField("Idempotency-Key", "At most %d printable ASCII characters are allowed.", maxKey)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %s\n%s", c.r.Method, c.r.URL.EscapedPath(), body)
	return travel.IdempotencyKey{Key: key, Hash: hex.EncodeToString(sum.Sum(nil))}, nil
}

func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// decodeObject reads a JSON object. Numbers stay text, so that no digit of an amount is lost. It refuses a card number in
// any text before other code sees the text. For this it reads token by token: a decoder into a map would drop the first
// value of a field that is given twice. Such a field is noted as a problem.
func decodeObject(raw []byte, p *fault.Problems) (map[string]any, error) {
	raw = bytes.Trim(raw, " \t\r\n") // the only white space of JSON
	if len(raw) == 0 {
		return map[string]any{}, nil
	}
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return nil, fault.New(fault.BadJSON, "The body is not valid JSON.")
	}
	if raw[0] != '{' {
		return nil, fault.New(fault.BadJSON, "The body is not a JSON object.")
	}
	d := decoder{json: json.NewDecoder(bytes.NewReader(raw)), problems: p}
	d.json.UseNumber()
	value, err := d.value("body", "", 0)
	if err != nil {
		return nil, err
	}
	return value.(map[string]any), nil
}

type decoder struct {
	json     *json.Decoder
	problems *fault.Problems
}

// value reads the next value. path names it in messages. key is the name of its field, which decides whether it may hold
// long numbers.
func (d *decoder) value(path, key string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fault.New(fault.BadJSON, "The body is nested more than %d deep.", maxDepth)
	}
	token, err := d.json.Token()
	if err != nil { // cannot happen: decodeObject has checked the body
		return nil, fmt.Errorf("decode a body: %w", err)
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return d.object(path, depth)
		}
		return d.list(path, key, depth)
	case string:
		return t, checkCardNumber(path, key, t)
	default:
		return t, nil
	}
}

func (d *decoder) object(path string, depth int) (map[string]any, error) {
	fields := map[string]any{}
	for d.json.More() {
		token, err := d.json.Token()
		if err != nil {
			return nil, fmt.Errorf("decode a body: %w", err)
		}
		name, _ := token.(string) // the names of JSON fields are always texts
		if travel.HoldsCardNumber(name) {
			return nil, errCardNumber(path)
		}
		at := name
		if depth > 0 {
			at = path + "." + name
		}
		if _, twice := fields[name]; twice {
			d.problems.Wrong(at, "This field is given twice.")
		}
		if fields[name], err = d.value(at, name, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := d.json.Token() // the closing brace
	return fields, err
}

func (d *decoder) list(path, key string, depth int) ([]any, error) {
	items := []any{}
	for d.json.More() {
		item, err := d.value(fmt.Sprintf("%s[%d]", path, len(items)), key, depth+1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := d.json.Token() // the closing bracket
	return items, err
}

// holdsLongNumbers are the fields in which card numbers are not looked for: a hash can look like one by chance.
var holdsLongNumbers = map[string]bool{"booking_auth": true, "hash": true, "hashes": true, "uuid": true}

// checkCardNumber refuses a text that holds a card number. It refuses a token only when the whole token is a card number.
// The text itself must not appear in the answer or in the log.
func checkCardNumber(path, key, text string) error {
	if holdsLongNumbers[key] {
		return nil
	}
	looksAt := travel.HoldsCardNumber
	if key == "token" {
		looksAt = travel.IsCardNumber
	}
	if looksAt(text) {
		return errCardNumber(path)
	}
	return nil
}

func errCardNumber(field string) error {
	return &fault.Error{
		Kind:    fault.CardNumber,
		Message: "A card number was found in the input; it was neither stored nor logged.",
		Params:  map[string]string{field: "This field holds a card number."},
	}
}
