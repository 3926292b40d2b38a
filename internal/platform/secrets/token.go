package secrets

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

	"holdfast/internal/domain/civil"
)

const (
	tokenSeparator = "|"
	maxTokenBytes  = 128 // far more than our own tokens have; longer ones are not hashed
	// SecretBytes is how many random bytes a secret has: 200 bits, 40 characters of base32.
	SecretBytes = 25
)

// lowerBase32 makes secrets of letters and digits: a double click selects all of it, and a shell or a URL needs no
// escapes.
var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// RandomText makes n random bytes and writes them in letters and digits, five bits for each character.
func RandomText(random io.Reader, n int) (string, error) {
	raw := make([]byte, n)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	return lowerBase32.EncodeToString(raw), nil
}

// NewSecret makes the random secret of an API token: 40 characters.
func NewSecret(random io.Reader) (string, error) { return RandomText(random, SecretBytes) }

// SiteKey formats a secret that is used without a site in its path: `<site id>-<secret>`. With the site id, the lookup needs no index over
// all sites.
func SiteKey(siteID int64, secret string) string { return strconv.FormatInt(siteID, 10) + "-" + secret }

// SiteOfKey returns the site id of a key from SiteKey, or 0 for any other text.
func SiteOfKey(key string) int64 {
	number, _, found := strings.Cut(key, "-")
	id, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil || id <= 0 || len(key) > maxTokenBytes {
		return 0
	}
	return id
}

// HashSecret is the hash of a secret, which is kept in its place. A fast hash is enough: a slow one is for passwords,
// which can be guessed, but 200 random bits cannot. It is computed for every request.
func HashSecret(secret string) string { return HexSHA256(secret) }

// SecretMatches reports whether the hash is that of the secret. It always takes the same time.
func SecretMatches(hash, secret string) bool { return SameText(hash, HashSecret(secret)) }

// FormatToken writes a token as its owner sees it once: `<id>|<secret>` (section 2.1).
func FormatToken(id int64, secret string) string {
	return strconv.FormatInt(id, 10) + tokenSeparator + secret
}

// ParseToken splits a token into id and secret. An id has digits only, without a sign or a leading zero. ok is false
// when the text is not a token.
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

// IsAPIToken reports whether the text of an Authorization header is an API token. Otherwise it is a JWT, which never
// holds the separator. The two have different error codes.
func IsAPIToken(bearer string) bool { return strings.Contains(bearer, tokenSeparator) }

// ExpiryOf is the last second of a token that expires on the day: 23:59:59 GMT (section 2.1).
func ExpiryOf(day civil.Day) time.Time { return day.End().Truncate(time.Second) }

// TokenExpired reports whether a token with this expiry is no longer valid. It is still valid in the second of its
// expiry. The zero time means that it never expires.
func TokenExpired(expiry, now time.Time) bool {
	return !expiry.IsZero() && !now.Before(expiry.Add(time.Second))
}

// HexSHA256 is the hexadecimal SHA-256 of a text.
func HexSHA256(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// SameText compares two texts in a time that does not depend on where they differ.
func SameText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
