package auth

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
)

const (
	stepSeconds       = 30 // period, digits and SHA-1 are what every authenticator app takes for granted
	recoveryCodes     = 10
	recoveryCodeBytes = 10 // 80 bits, 16 characters
	recoveryGroup     = 4
)

// NewTOTP draws the secret of a second factor, and writes the otpauth URI by which an authenticator app takes it in.
func NewTOTP(issuer, username string, random io.Reader) (secret, uri string, err error) {
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: issuer, AccountName: username, Period: stepSeconds, SecretSize: 20, Rand: random,
	})
	if err != nil {
		return "", "", fmt.Errorf("make a second factor: %w", err)
	}
	return key.Secret(), key.URL(), nil
}

// CheckTOTP reports whether the code is right now, and of which step it is. The caller keeps the step as the user's
// lastUsedStep: a step counts once only, so that a code seen over a shoulder or on the wire is worth nothing. One step
// to either side is taken too, for slow fingers and clocks that are off.
func CheckTOTP(secret, code string, now time.Time, lastUsedStep int64) (step int64, ok bool) {
	code = withoutGaps(code)
	current := now.Unix() / stepSeconds
	// Latest first: should two steps happen to share a code, both are used up.
	for step = current + 1; step >= current-1 && step > lastUsedStep; step-- {
		want, err := hotp.GenerateCode(secret, uint64(step))
		if err == nil && sameText(want, code) {
			return step, true
		}
	}
	return 0, false
}

// NewRecoveryCodes draws the codes that stand in for a lost second factor, each good for once, and the hashes that are
// kept of them. At 80 random bits a fast hash is enough, as it is for API tokens.
func NewRecoveryCodes(random io.Reader) (codes, hashes []string, err error) {
	for range recoveryCodes {
		text, err := randomText(random, recoveryCodeBytes)
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

// HashRecoveryCode is what is kept of a recovery code; how its owner spaces and capitalises it does not matter.
func HashRecoveryCode(code string) string { return hexSHA256(strings.ToLower(withoutGaps(code))) }

// MatchRecoveryCode returns the index of the hash that the code has, or -1. The caller drops that hash.
func MatchRecoveryCode(hashes []string, code string) int {
	got, found := HashRecoveryCode(code), -1
	for i, hash := range hashes { // all of them, so that the time taken does not tell which
		if sameText(hash, got) {
			found = i
		}
	}
	return found
}

func withoutGaps(s string) string { return strings.NewReplacer(" ", "", "-", "").Replace(s) }
