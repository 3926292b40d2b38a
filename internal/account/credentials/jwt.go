// Package credentials verifies who people are: passwords, second factors, recovery codes and JSON Web Tokens. It owns
// no tables. Start at CheckPassword and Keyring.
package credentials

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/platform/secrets"

	"github.com/golang-jwt/jwt/v5"
)

// How long tokens are valid, which is also the longest life that Verify takes. A refresh token is valid until its
// generation or its family ends.
const (
	AccessLifetime = 15 * time.Minute
	DeviceLifetime = 180 * 24 * time.Hour // from the last login
)

// How long the tokens of a family live (decision 0007). A refresh token does not say when it expires, and the database
// does: an old one that comes late must still be read, because it ends the family.
const (
	FamilyLifetime = 30 * 24 * time.Hour // from the last use
	RotationGrace  = time.Minute         // in which the token before the present one is still taken
)

// retiring is how long after its retirement a key may still have signed something: the clocks of the processes differ,
// and a login may have been under way.
const retiring = time.Minute

const (
	signingKeyBytes = 32   // as long as the hash, as RFC 7518 asks for HS256
	keyIDBytes      = 10   // 16 characters of base32
	deviceBytes     = 15   // 24 characters of base32
	familyBytes     = 20   // 32 characters of base32
	maxJWTBytes     = 2048 // several times the length of our own tokens; longer ones are not decoded
)

// ErrUnknownKey is the cause of the error when a JWT names a key that is not on the ring. Another process may have
// created a new key since the ring was loaded: the caller reloads the ring and retries once.
var ErrUnknownKey = errors.New("signed with an unknown key")

// Key is a key for JWTs. It signs until it is retired. After that it still verifies the tokens it has signed: access
// tokens until they expire, and refresh tokens while the key is on the ring.
type Key struct {
	ID        string // the kid in the header of a JWT
	Secret    []byte
	CreatedAt time.Time
	RetiredAt time.Time // zero while the key may sign
}

// NewKey makes a random key.
func NewKey(random io.Reader, now time.Time) (Key, error) {
	id, err := secrets.RandomText(random, keyIDBytes)
	if err != nil {
		return Key{}, err
	}
	secret := make([]byte, signingKeyBytes)
	if _, err := io.ReadFull(random, secret); err != nil {
		return Key{}, fmt.Errorf("draw a signing key: %w", err)
	}
	return Key{ID: id, Secret: secret, CreatedAt: now}, nil
}

// Keyring holds the keys in use. Retired keys stay on it, because refresh tokens live for years and a new key must not
// log anyone out. A leaked key is removed from the ring, which invalidates its tokens immediately.
type Keyring struct {
	signing Key
	keys    map[string]Key
}

// NewKeyring makes a ring that signs with the newest key that is not retired. It is an error when an id is empty or
// appears twice, when a secret is too short, and when all keys are retired.
func NewKeyring(keys []Key) (Keyring, error) {
	ring := Keyring{keys: make(map[string]Key, len(keys))}
	for _, k := range keys {
		if _, twice := ring.keys[k.ID]; twice || k.ID == "" {
			return Keyring{}, errs.New(errs.Internal, "The signing key id %q is empty or used twice.", k.ID)
		}
		if len(k.Secret) < signingKeyBytes {
			return Keyring{}, errs.New(errs.Internal, "The secret of the signing key %s is too short.", k.ID)
		}
		ring.keys[k.ID] = k
		// Of two keys of the same time the greater id wins, so that every process signs with the same key.
		newer := cmp.Or(k.CreatedAt.Compare(ring.signing.CreatedAt), cmp.Compare(k.ID, ring.signing.ID)) > 0
		if k.RetiredAt.IsZero() && (ring.signing.ID == "" || newer) {
			ring.signing = k
		}
	}
	if ring.signing.ID == "" {
		return Keyring{}, errs.New(errs.Internal, "All signing keys have been retired.")
	}
	return ring, nil
}

// Kind is the purpose of a JWT.
type Kind string

// The kinds of JWT: an access token goes with each request, a refresh token gets new access tokens (section 5).
const (
	Access  Kind = "access"
	Refresh Kind = "refresh"
	// Device says that a device has logged in before. It is no credential: with it, strangers cannot hold up a login.
	Device Kind = "device"
)

// Claims are the claims of a JWT about its user.
type Claims struct {
	UserID int64
	SiteID int64 // 0 when the token is not for one site alone
	Kind   Kind  // SignAccess and SignRefresh set it
	// Generation counts the refresh tokens of the user. It ends tokens early: the caller compares it with the present
	// one. An access token has the generation of the refresh token that it came with, and ends with it.
	Generation int64
	DeviceID   string // of a device alone: random
	// A login that requests rotation creates a family. Its access tokens have Family, the id. Its refresh tokens have
	// Secret, whose hash is the id, and Number, which counts them from 1. So a refresh token cannot be forged from an
	// access token and a key.
	Family, Secret string
	Number         int64
	// IssuedAt and ExpiresAt are set by Verify, in whole seconds. A refresh token has no ExpiresAt.
	IssuedAt, ExpiresAt time.Time
	// KeyID names the key of the signature. Verify sets it: the caller checks that the key was not revoked since the ring
	// was read.
	KeyID string
}

// FamilyID is the id of the token's family, or "" without one.
func (c Claims) FamilyID() string {
	if c.Secret != "" {
		return secrets.HashSecret(c.Secret)
	}
	return c.Family
}

// payload is the JSON of Claims. The order of its fields stays as it is, because it is part of the text of a refresh
// token.
type payload struct {
	Kind       Kind   `json:"kind"`
	Generation int64  `json:"gen"`
	SiteID     int64  `json:"site,omitempty"`
	Family     string `json:"family,omitempty"`
	Secret     string `json:"secret,omitempty"`
	Number     int64  `json:"number,omitempty"`
	jwt.RegisteredClaims
}

// SignAccess makes an access token that is valid from now for AccessLifetime.
func SignAccess(ring Keyring, c Claims, now time.Time) (string, error) {
	c.Kind, c.Family, c.Secret, c.Number = Access, c.FamilyID(), "", 0
	return sign(ring, c, now, jwt.NewNumericDate(now.Add(AccessLifetime)))
}

// SignRefresh makes the refresh token of one generation, which began at the given time, or one of a family, which was issued
// then. It has no expiry. The same arguments give the same text, so that a later login returns the token that the user already has. With a new key the
// text is another one, and the old token stays valid.
func SignRefresh(ring Keyring, c Claims, began time.Time) (string, error) {
	c.Kind = Refresh
	return sign(ring, c, began, nil)
}

// NewFamilySecret draws the secret of a family of refresh tokens.
func NewFamilySecret(random io.Reader) (string, error) {
	return secrets.RandomText(random, familyBytes)
}

// NewDevice draws the id of a device.
func NewDevice(random io.Reader) (string, error) { return secrets.RandomText(random, deviceBytes) }

// SignDevice makes the token of a device on which a user has logged in now.
func SignDevice(ring Keyring, userID int64, deviceID string, now time.Time) (string, error) {
	c := Claims{UserID: userID, Kind: Device, DeviceID: deviceID}
	return sign(ring, c, now, jwt.NewNumericDate(now.Add(DeviceLifetime)))
}

func sign(ring Keyring, c Claims, issued time.Time, expires *jwt.NumericDate) (string, error) {
	if ring.signing.ID == "" { // the zero Keyring: HMAC would sign with an empty key
		return "", errs.New(errs.Internal, "No signing key is configured.")
	}
	t := jwt.NewWithClaims(jwt.SigningMethodHS256, payload{
		Kind: c.Kind, Generation: c.Generation, SiteID: c.SiteID, Family: c.Family, Secret: c.Secret, Number: c.Number,
		RegisteredClaims: jwt.RegisteredClaims{
			Subject: strconv.FormatInt(c.UserID, 10), ID: c.DeviceID,
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

// Verify reads a JWT of the wanted kind. Every error has the kind JWTInvalid and the same message, so that an
// attacker learns nothing; the cause is for the log. The caller of Verify still has to compare the generation with
// that of the user.
func Verify(ring Keyring, token string, want Kind, now time.Time) (Claims, error) {
	c, err := verify(ring, token, want, now)
	if err != nil {
		return Claims{}, &errs.Error{Kind: errs.JWTInvalid, Message: "The token is invalid or has expired.", Err: err}
	}
	return c, nil
}

func verify(ring Keyring, token string, want Kind, now time.Time) (Claims, error) {
	// Base64 ignores line breaks even in strict mode. Without them each token has one spelling only.
	if len(token) > maxJWTBytes || strings.ContainsAny(token, "\r\n") {
		return Claims{}, errors.New("too long, or broken into lines")
	}
	options := []jwt.ParserOption{
		// We say which algorithm it is, not the token: otherwise "none" would count as signed.
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithStrictDecoding(),
		jwt.WithIssuedAt(),
		jwt.WithTimeFunc(func() time.Time { return now }),
	}
	if want != Refresh {
		options = append(options, jwt.WithExpirationRequired())
	}
	var p payload
	parsed, err := jwt.ParseWithClaims(token, &p, ring.secretOf, options...)
	if err != nil {
		return Claims{}, err
	}
	if p.Kind != want {
		return Claims{}, fmt.Errorf("the token type is %q, not %q", p.Kind, want)
	}
	user, err := strconv.ParseInt(p.Subject, 10, 64)
	if err != nil {
		return Claims{}, fmt.Errorf("read the subject: %w", err)
	}
	if err := p.checkLife(); err != nil {
		return Claims{}, err
	}
	c := Claims{
		UserID: user, SiteID: p.SiteID, Kind: p.Kind, Generation: p.Generation, DeviceID: p.ID, IssuedAt: p.IssuedAt.UTC(),
		Family: p.Family, Secret: p.Secret, Number: p.Number,
	}
	if p.ExpiresAt != nil {
		c.ExpiresAt = p.ExpiresAt.UTC()
	}
	c.KeyID, _ = parsed.Header["kid"].(string)
	return c, ring.keys[c.KeyID].mayHaveSigned(c)
}

// mayHaveSigned returns an error for a JWT that claims to have been issued after its key was retired: the key has
// leaked. No access token lives longer than AccessLifetime, so a retired key verifies none of them after that.
func (k Key) mayHaveSigned(c Claims) error {
	if !k.RetiredAt.IsZero() && c.IssuedAt.After(k.RetiredAt.Add(retiring)) {
		return errors.New("issued after its key was retired")
	}
	return nil
}

// checkLife refuses a token with a longer lifetime than the service issues: an attacker with a key
// could otherwise sign a token for years. A refresh token says nothing of its life: the caller compares its issue with the
// beginning of its generation.
func (p payload) checkLife() error {
	switch {
	case p.IssuedAt == nil:
		return errors.New("it has no issue time")
	case p.Kind == Refresh && p.ExpiresAt != nil:
		return errors.New("a refresh token with an expiry")
	case p.Kind == Access && p.ExpiresAt.Sub(p.IssuedAt.Time) > AccessLifetime,
		p.Kind == Device && p.ExpiresAt.Sub(p.IssuedAt.Time) > DeviceLifetime:
		return errors.New("its lifetime is longer than the service allows")
	}
	return nil
}

// secretOf returns the key that the header names. The library calls it before it checks the signature.
func (r Keyring) secretOf(t *jwt.Token) (any, error) {
	id, _ := t.Header["kid"].(string)
	key, ok := r.keys[id]
	if !ok {
		return nil, ErrUnknownKey
	}
	return key.Secret, nil
}
