package credentials

import (
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"holdfast/internal/platform/secrets"

	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
)

const (
	stepSeconds       = 30 // authenticator apps expect this period, six digits and SHA-1
	recoveryCodes     = 10
	recoveryCodeBytes = 10 // 80 bits, 16 characters
	recoveryGroup     = 4
)

// NewTOTP makes the random secret of a second factor, and the otpauth URI that an authenticator app reads.
func NewTOTP(issuer, username string, random io.Reader) (secret, uri string, err error) {
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: issuer, AccountName: username, Period: stepSeconds, SecretSize: 20, Rand: random,
	})
	if err != nil {
		return "", "", fmt.Errorf("make a second factor: %w", err)
	}
	return key.Secret(), key.URL(), nil
}

// TOTPAddress is the otpauth URI of a secret that NewTOTP made.
func TOTPAddress(issuer, username, secret string) (uri string, err error) {
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		return "", errors.New("the secret of a second factor is not base32")
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: username, Period: stepSeconds, Secret: raw})
	if err != nil {
		return "", fmt.Errorf("make the address of a second factor: %w", err)
	}
	return key.URL(), nil
}

// CheckTOTP reports whether the code is right now, and to which step of 30 seconds it belongs. The caller stores the
// step as the lastUsedStep of the user: each code works only once, so that an observed code is useless. The previous
// and next steps are also accepted, because people are slow and clocks are wrong.
func CheckTOTP(secret, code string, now time.Time, lastUsedStep int64) (step int64, ok bool) {
	code = withoutGaps(code)
	current := now.Unix() / stepSeconds
	// The latest first: when two steps have the same code by chance, both count as used.
	for step = current + 1; step >= current-1 && step > lastUsedStep; step-- {
		want, err := hotp.GenerateCode(secret, uint64(step))
		if err == nil && secrets.SameText(want, code) {
			return step, true
		}
	}
	return 0, false
}

// NewRecoveryCodes makes ten random codes that replace a lost second factor, each of them once, and their hashes,
// which are kept. A fast hash is enough for 80 random bits.
func NewRecoveryCodes(random io.Reader) (codes, hashes []string, err error) {
	for range recoveryCodes {
		text, err := secrets.RandomText(random, recoveryCodeBytes)
		if err != nil {
			return nil, nil, err
		}
		var groups []string
		for ; text != ""; text = text[recoveryGroup:] {
			groups = append(groups, text[:recoveryGroup])
		}
		code := strings.Join(groups, "-")
		codes = append(codes, code)
		hashes = append(hashes, HashRecoveryCode(code))
	}
	return codes, hashes, nil
}

// HashRecoveryCode is the hash of a recovery code. Spaces, dashes and capital letters do not matter.
func HashRecoveryCode(code string) string {
	return secrets.HexSHA256(strings.ToLower(withoutGaps(code)))
}

func withoutGaps(s string) string { return strings.NewReplacer(" ", "", "-", "").Replace(s) }
