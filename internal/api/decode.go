package api

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"holdfast/internal/api/input"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/card"
	"holdfast/internal/errs"
)

// input reads the body of the request: a JSON object. An empty body counts as an empty object. Problems of single fields
// are noted in the input, and are reported together later. Errors: BodyTooLarge, BadJSON and
// CardNumber.
func (c *call) input() (*input.Input, error) {
	if c.bodyErr != nil {
		return nil, c.bodyErr
	}
	var in *input.Input
	err := c.door.bodies.decode(c, func() (err error) {
		in, err = input.ReadInput(c.body)
		return err
	})
	if kind, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type")); errs.Is(err, errs.BadJSON) && strings.HasSuffix(kind, "form-urlencoded") {
		return nil, errs.New(errs.BadJSON, "The body is an encoded form. Send JSON, with Content-Type: application/json.")
	}
	if err == nil && c.operation != "" {
		c.tellUnknown(in)
	}
	return in, err
}

// query returns the parameters of the request.
func (c *call) query() *input.Query { return input.ReadQuery(c.r.URL.Query()) }

// idempotencyKey reads the idempotency key of a request that makes or changes something. Two requests count as the same when
// their method, path, If-Match and body are the same bytes. Errors: CardNumber, and Invalid for a wrong key.
func (c *call) idempotencyKey() (access.IdempotencyKey, error) {
	key := c.r.Header.Get("Idempotency-Key")
	switch {
	case key == "" || c.r.Method == http.MethodGet || c.r.Method == http.MethodHead:
		return access.IdempotencyKey{}, nil
	case card.HoldsCardNumber(key):
		return access.IdempotencyKey{}, input.ErrCardNumber("Idempotency-Key")
	case utf8.RuneCountInString(key) > maxKey || !isPrintable(key):
		return access.IdempotencyKey{}, errs.WrongField("Idempotency-Key", "Must be at most %d printable ASCII characters.", maxKey)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %s\n", c.r.Method, c.r.URL.EscapedPath())
	if wanted := c.r.Header.Get("If-Match"); wanted != "" {
		fmt.Fprintf(sum, "%s\n", wanted)
	}
	sum.Write(c.body)
	return access.IdempotencyKey{Key: key, Hash: hex.EncodeToString(sum.Sum(nil)), Replayed: &c.replayed}, nil
}

// maxKey is how many characters an idempotency key may have.
const maxKey = 191

func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}
