package auth

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"holdfast/internal/fault"
)

// AccessLifetime is how long an access token lives. A refresh token lives until its generation ends.
const AccessLifetime = 15 * time.Minute

const (
	signingKeyBytes = 32   // as long as the hash, as RFC 7518 asks for HS256
	keyIDBytes      = 10   // 16 characters
	maxJWTBytes     = 2048 // several times what is signed here; longer ones are not worth decoding
)

// ErrUnknownKey is the cause when a JWT names a key that the ring lacks: another process may have rotated the keys
// since the ring was loaded, so the caller loads it anew and asks once more.
var ErrUnknownKey = errors.New("signed with a key that is not on the ring")

// Key signs JWTs from its creation until it is retired, and verifies them for as long as it is kept.
type Key struct {
	ID        string // travels in the header as kid
	Secret    []byte
	CreatedAt time.Time
	RetiredAt time.Time // zero while the key may sign
}

// NewKey draws a key.
func NewKey(random io.Reader, now time.Time) (Key, error) {
	id, err := randomText(random, keyIDBytes)
	if err != nil {
		return Key{}, err
	}
	secret := make([]byte, signingKeyBytes)
	if _, err := io.ReadFull(random, secret); err != nil {
		return Key{}, fmt.Errorf("draw a signing key: %w", err)
	}
	return Key{ID: id, Secret: secret, CreatedAt: now}, nil
}

// Keyring holds the keys in use. Retired keys stay on it: refresh tokens live for years, and rotating the keys must
// not log anyone out. To end a leaked key at once, leave it off.
type Keyring struct {
	signing Key
	secrets map[string][]byte
}

// NewKeyring makes a ring that signs with the newest key that is not retired. It refuses what would make tokens
// forgeable or ambiguous: short secrets, two keys of one id; and a ring that could not sign.
func NewKeyring(keys []Key) (Keyring, error) {
	ring := Keyring{secrets: make(map[string][]byte, len(keys))}
	for _, k := range keys {
		if _, twice := ring.secrets[k.ID]; twice || k.ID == "" {
			return Keyring{}, fault.New(fault.Internal, "The id %q of a signing key is empty or taken.", k.ID)
		}
		if len(k.Secret) < signingKeyBytes {
			return Keyring{}, fault.New(fault.Internal, "The secret of the signing key %s is too short.", k.ID)
		}
		ring.secrets[k.ID] = k.Secret
		// The id decides between keys of one instant, so that every process signs with the same one.
		newer := cmp.Or(k.CreatedAt.Compare(ring.signing.CreatedAt), cmp.Compare(k.ID, ring.signing.ID)) > 0
		if k.RetiredAt.IsZero() && (ring.signing.ID == "" || newer) {
			ring.signing = k
		}
	}
	if ring.signing.ID == "" {
		return Keyring{}, fault.New(fault.Internal, "There is no signing key that is not retired.")
	}
	return ring, nil
}

// Kind says what a JWT is good for.
type Kind string

// The kinds of JWT: an access token signs requests, a refresh token obtains access tokens.
const (
	Access  Kind = "access"
	Refresh Kind = "refresh"
)

// Claims is what a JWT says about its bearer.
type Claims struct {
	UserID int64
	SiteID int64 // 0 when the token is not bound to one site
	Kind   Kind  // set by signing
	// Generation ends tokens before their time: the caller compares it with the user's present one. In a refresh token
	// it counts the user's refresh tokens, in an access token the changes of the password.
	Generation int64
	// IssuedAt and ExpiresAt are set by verifying, in whole seconds; a refresh token has no ExpiresAt.
	IssuedAt, ExpiresAt time.Time
}

// payload is the JSON of Claims; the order of its fields is part of a refresh token's text.
type payload struct {
	Kind       Kind  `json:"kind"`
	Generation int64 `json:"gen"`
	SiteID     int64 `json:"site,omitempty"`
	jwt.RegisteredClaims
}

// SignAccess makes an access token that is valid from now for AccessLifetime.
func SignAccess(ring Keyring, c Claims, now time.Time) (string, error) {
	c.Kind = Access
	return sign(ring, c, now, jwt.NewNumericDate(now.Add(AccessLifetime)))
}

// SignRefresh makes the refresh token of one generation, which began at the given time. It has no expiry, and the same
// arguments give the same text: a later login returns the token that the user already holds. After a rotation of the
// keys it returns another text, and the old one stays good.
func SignRefresh(ring Keyring, c Claims, began time.Time) (string, error) {
	c.Kind = Refresh
	return sign(ring, c, began, nil)
}

func sign(ring Keyring, c Claims, issued time.Time, expires *jwt.NumericDate) (string, error) {
	if ring.signing.ID == "" { // the zero Keyring: HMAC would gladly sign with an empty key
		return "", fault.New(fault.Internal, "There is no signing key.")
	}
	t := jwt.NewWithClaims(jwt.SigningMethodHS256, payload{
		Kind: c.Kind, Generation: c.Generation, SiteID: c.SiteID,
		RegisteredClaims: jwt.RegisteredClaims{
			Subject:  strconv.FormatInt(c.UserID, 10),
			IssuedAt: jwt.NewNumericDate(issued), ExpiresAt: expires,
		},
	})
	t.Header["kid"] = ring.signing.ID
	text, err := t.SignedString(ring.signing.Secret)
	if err != nil {
		return "", fmt.Errorf("sign a JWT: %w", err)
	}
	return text, nil
}

// Verify reads a JWT of the wanted kind. Whatever is wrong with it, the fault is JWTInvalid with one message: the
// caller learns no more than that, the log has the cause. Whether the generation is still the user's, only the caller
// can know.
func Verify(ring Keyring, token string, want Kind, now time.Time) (Claims, error) {
	c, err := verify(ring, token, want, now)
	if err != nil {
		return Claims{}, &fault.Error{Kind: fault.JWTInvalid, Message: "The token is not valid or has expired.", Err: err}
	}
	return c, nil
}

func verify(ring Keyring, token string, want Kind, now time.Time) (Claims, error) {
	// Base64 skips line breaks even in strict mode; without them a token has exactly one spelling.
	if len(token) > maxJWTBytes || strings.ContainsAny(token, "\r\n") {
		return Claims{}, errors.New("too long, or broken into lines")
	}
	options := []jwt.ParserOption{
		// The algorithm is ours to say, never the token's: otherwise "none" would pass as signed.
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithStrictDecoding(),
		jwt.WithIssuedAt(),
		jwt.WithTimeFunc(func() time.Time { return now }),
	}
	if want == Access {
		options = append(options, jwt.WithExpirationRequired())
	}
	var p payload
	if _, err := jwt.ParseWithClaims(token, &p, ring.secretOf, options...); err != nil {
		return Claims{}, err
	}
	if p.Kind != want {
		return Claims{}, fmt.Errorf("the kind is %q, wanted %q", p.Kind, want)
	}
	user, err := strconv.ParseInt(p.Subject, 10, 64)
	if err != nil {
		return Claims{}, fmt.Errorf("read the subject: %w", err)
	}
	c := Claims{UserID: user, SiteID: p.SiteID, Kind: p.Kind, Generation: p.Generation}
	if p.IssuedAt != nil {
		c.IssuedAt = p.IssuedAt.UTC()
	}
	if p.ExpiresAt != nil {
		c.ExpiresAt = p.ExpiresAt.UTC()
	}
	return c, nil
}

// secretOf gives the key that the header names. It is asked for one token at a time, before the signature is checked.
func (r Keyring) secretOf(t *jwt.Token) (any, error) {
	id, _ := t.Header["kid"].(string)
	secret, ok := r.secrets[id]
	if !ok {
		return nil, ErrUnknownKey
	}
	return secret, nil
}
