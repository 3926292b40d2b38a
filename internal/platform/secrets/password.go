package secrets

import (
	"encoding/base64"
	"fmt"
	"slices"
	"unicode/utf8"

	"holdfast/internal/errs"

	"github.com/alexedwards/argon2id"
	"golang.org/x/crypto/argon2"
)

// Bounds of a password. The lower one is in characters, because people count characters. The upper one is in bytes,
// because bytes are hashed.
const (
	MinPasswordCharacters = 12
	MaxPasswordBytes      = 128
)

const (
	saltBytes = 16
	keyBytes  = 32
)

// PasswordCost is the cost of hashing a password. Each hash stores its cost, so a new cost needs no migration.
type PasswordCost struct {
	MemoryKiB   uint32
	Iterations  uint32
	Parallelism uint8
}

// DefaultPasswordCost is the least that OWASP recommends for argon2id. A hash takes tens of milliseconds, and so
// little memory that many concurrent logins do not exhaust it.
var DefaultPasswordCost = PasswordCost{MemoryKiB: 19 * 1024, Iterations: 2, Parallelism: 1}

// HashPassword hashes a password. A password outside the bounds is an Invalid error about the field `password`. The
// library makes the random salt itself, so that no caller can choose it.
func (c PasswordCost) HashPassword(pw string) (string, error) {
	if err := CheckBounds(pw); err != nil {
		return "", err
	}
	hash, err := argon2id.CreateHash(pw, &argon2id.Params{
		Memory: c.MemoryKiB, Iterations: c.Iterations, Parallelism: c.Parallelism,
		SaltLength: saltBytes, KeyLength: keyBytes,
	})
	if err != nil {
		return "", fmt.Errorf("hash a password: %w", err)
	}
	return hash, nil
}

// CheckBounds returns the Invalid error of HashPassword without its work.
func CheckBounds(pw string) error {
	if utf8.RuneCountInString(pw) < MinPasswordCharacters || len(pw) > MaxPasswordBytes {
		return errs.WrongField("password", "Must have at least %d characters and at most %d bytes.",
			MinPasswordCharacters, MaxPasswordBytes)
	}
	return nil
}

// CheckPassword reports whether pw is the password of the hash. It is an error when the hash cannot be read.
func CheckPassword(hash, pw string) (bool, error) {
	ok, err := argon2id.ComparePasswordAndHash(pw, hash)
	if err != nil {
		return false, fmt.Errorf("check a password: %w", err)
	}
	return ok, nil
}

// CheckDecoy does the work of CheckPassword and returns false. A login with an unknown user name calls it, so that
// the time of the answer does not show which names exist.
func (c PasswordCost) CheckDecoy(pw string) bool {
	ok, err := CheckPassword(c.Decoy(), pw)
	return ok && err == nil
}

// Decoy is a hash of this cost without a known password: its salt and its key are zeros.
func (c PasswordCost) Decoy() string {
	zeros := func(n int) string { return base64.RawStdEncoding.EncodeToString(make([]byte, n)) }
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, c.MemoryKiB, c.Iterations, c.Parallelism, zeros(saltBytes), zeros(keyBytes))
}

// NoPassword reports whether a hash is the placeholder for an invited user without a password.
func NoPassword(hash string) bool {
	_, salt, key, err := argon2id.DecodeHash(hash)
	return err == nil && !slices.ContainsFunc(slices.Concat(salt, key), func(b byte) bool { return b != 0 })
}

// Outdated reports whether the hash has another cost. Then a login hashes the password again: otherwise old hashes
// would take longer or shorter than the decoy.
func (c PasswordCost) Outdated(hash string) bool {
	p, _, _, err := argon2id.DecodeHash(hash)
	return err != nil || c != PasswordCost{MemoryKiB: p.Memory, Iterations: p.Iterations, Parallelism: p.Parallelism}
}
