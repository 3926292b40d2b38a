package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/civil"
)

const (
	tokenSeparator = "|"
	maxTokenBytes  = 128 // far above any token that is made here; what is longer is not worth hashing
	secretBytes    = 25  // 200 bits, 40 characters of base32
)

// lowerBase32 keeps secrets to letters and digits: a double click selects them whole, and no shell or URL touches them.
var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// randomText draws n bytes and writes them in letters and digits, five bits to a character and so without bias.
func randomText(random io.Reader, n int) (string, error) {
	raw := make([]byte, n)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("draw random bytes: %w", err)
	}
	return lowerBase32.EncodeToString(raw), nil
}

// NewSecret draws the secret of an API token: 40 characters.
func NewSecret(random io.Reader) (string, error) { return randomText(random, secretBytes) }

// HashSecret is what is kept of a secret. A fast hash is enough: slow ones make up for passwords that can be guessed,
// and 200 random bits cannot be; every request pays for this one.
func HashSecret(secret string) string { return hexSHA256(secret) }

// SecretMatches reports whether the secret is the one of the hash, in a time that does not depend on where they differ.
func SecretMatches(hash, secret string) bool { return sameText(hash, HashSecret(secret)) }

// FormatToken writes the token as its owner sees it, once.
func FormatToken(id int64, secret string) string {
	return strconv.FormatInt(id, 10) + tokenSeparator + secret
}

// ParseToken takes a token apart. An id has one spelling only: digits without sign or leading zero.
func ParseToken(s string) (id int64, secret string, ok bool) {
	if len(s) > maxTokenBytes {
		return 0, "", false
	}
	number, secret, found := strings.Cut(s, tokenSeparator)
	id, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil || id <= 0 || secret == "" || FormatToken(id, secret) != s {
		return 0, "", false
	}
	return id, secret, true
}

// IsAPIToken reports whether a bearer text is meant as an API token; else it is meant as a JWT, whose alphabet has no
// such separator. The two are refused with different codes.
func IsAPIToken(bearer string) bool { return strings.Contains(bearer, tokenSeparator) }

// ExpiryOf is the last second in which a token that expires on the day is valid: 23:59:59 GMT.
func ExpiryOf(day civil.Day) time.Time { return day.End().Truncate(time.Second) }

// TokenExpired reports whether a token with that expiry is no longer valid. The second of the expiry itself still
// counts to its end; the zero time is no expiry.
func TokenExpired(expiry, now time.Time) bool {
	return !expiry.IsZero() && !now.Before(expiry.Add(time.Second))
}

func hexSHA256(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func sameText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
