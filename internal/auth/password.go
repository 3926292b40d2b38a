package auth

import (
	"encoding/base64"
	"fmt"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"golang.org/x/crypto/argon2"

	"holdfast/internal/fault"
)

// Bounds of a password. The lower one counts characters, because that is what people are told; the upper one counts
// bytes, because that is what is hashed.
const (
	MinPasswordCharacters = 12
	MaxPasswordBytes      = 128
)

const (
	saltBytes = 16
	keyBytes  = 32
)

// PasswordCost is how dear one guess at a password is. Every hash carries the cost it was made with, so a new cost
// needs no migration.
type PasswordCost struct {
	MemoryKiB   uint32
	Iterations  uint32
	Parallelism uint8
}

// DefaultPasswordCost is the OWASP minimum for argon2id: tens of milliseconds, and little enough memory that a burst of
// logins does not take the machine down.
var DefaultPasswordCost = PasswordCost{MemoryKiB: 19 * 1024, Iterations: 2, Parallelism: 1}

// HashPassword hashes a password that keeps the rules; else the fault is about the field `password`. The salt is the
// one thing here whose randomness is not handed in: the library draws it, so that no caller can fix it.
func (c PasswordCost) HashPassword(pw string) (string, error) {
	if utf8.RuneCountInString(pw) < MinPasswordCharacters || len(pw) > MaxPasswordBytes {
		return "", fault.WrongField("password", "must have at least %d characters and at most %d bytes",
			MinPasswordCharacters, MaxPasswordBytes)
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

// CheckPassword reports whether pw is the password of the hash, at the cost that the hash carries. An error means that
// the hash itself cannot be read.
func CheckPassword(hash, pw string) (bool, error) {
	ok, err := argon2id.ComparePasswordAndHash(pw, hash)
	if err != nil {
		return false, fmt.Errorf("check a password: %w", err)
	}
	return ok, nil
}

// CheckDecoy does the work of CheckPassword and is always false. It is what a login for an unknown user name calls, so
// that the time taken does not tell which names exist.
func (c PasswordCost) CheckDecoy(pw string) bool {
	ok, err := CheckPassword(c.Decoy(), pw)
	return ok && err == nil
}

// Decoy is a hash of this cost that no known password has: its salt and key are zeros, written rather than computed.
func (c PasswordCost) Decoy() string {
	zeros := func(n int) string { return base64.RawStdEncoding.EncodeToString(make([]byte, n)) }
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, c.MemoryKiB, c.Iterations, c.Parallelism, zeros(saltBytes), zeros(keyBytes))
}

// Outdated reports whether the hash was made at another cost. A login then hashes the password anew: if old hashes
// stayed, the decoy would take another time than they do.
func (c PasswordCost) Outdated(hash string) bool {
	p, _, _, err := argon2id.DecodeHash(hash)
	return err != nil || c != PasswordCost{MemoryKiB: p.Memory, Iterations: p.Iterations, Parallelism: p.Parallelism}
}
