package secrets_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"holdfast/internal/account/credentials"
	"holdfast/internal/domain/civil"
	"holdfast/internal/platform/secrets"
)

// seeded returns the same bytes in every run.
func seeded(seed byte) io.Reader { return rand.NewChaCha8([32]byte{seed}) }

// exhausted is a source of randomness that ends after a few bytes.
func exhausted() io.Reader { return strings.NewReader("few") }

func TestSecretsAreLongAndAlphanumericAndAllDifferent(t *testing.T) {
	shape := regexp.MustCompile(`^[a-z2-7]{40}$`) // 40 characters of 5 bits: 200
	random, seen := seeded(1), map[string]bool{}
	for range 100 {
		secret, err := secrets.NewSecret(random)
		if err != nil || !shape.MatchString(secret) || seen[secret] {
			t.Fatalf("NewSecret = %q, %v", secret, err)
		}
		seen[secret] = true
	}
	channelSecret, err := secrets.NewChannelSecret(random)
	if err != nil || !shape.MatchString(channelSecret) || seen[channelSecret] {
		t.Errorf("NewChannelSecret = %q, %v", channelSecret, err)
	}
}

func TestNothingIsMadeOfTooLittleRandomness(t *testing.T) {
	_, secretErr := secrets.NewSecret(exhausted())
	_, channelErr := secrets.NewChannelSecret(exhausted())
	_, keyErr := credentials.NewKey(exhausted(), noon)
	_, keySecretErr := credentials.NewKey(strings.NewReader("enough for the id only"), noon)
	_, _, totpErr := credentials.NewTOTP("holdfast", "ada", exhausted())
	_, _, codesErr := credentials.NewRecoveryCodes(exhausted())
	for i, err := range []error{secretErr, channelErr, keyErr, keySecretErr, totpErr, codesErr} {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("maker %d with too little randomness: %v", i, err)
		}
	}
}

func TestSecretMatchesItsHashOnly(t *testing.T) {
	hash := secrets.HashSecret("abc")
	if hash != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" { // FIPS 180-2, appendix B.1
		t.Errorf("HashSecret(abc) = %s", hash)
	}
	if !secrets.SecretMatches(hash, "abc") {
		t.Error("the secret does not match its hash")
	}
	for _, other := range []string{"", "ab", "abcd", "Abc", hash} {
		if secrets.SecretMatches(hash, other) || secrets.SecretMatches("", other) {
			t.Errorf("%q matches", other)
		}
	}
}

func TestParseToken(t *testing.T) {
	if id, secret, ok := secrets.ParseToken("73|s3cret"); id != 73 || secret != "s3cret" || !ok {
		t.Errorf("ParseToken(73|s3cret) = %d, %q, %v", id, secret, ok)
	}
	for _, s := range []string{
		"", "|", "73", "73|", "|s", "0|s", "-1|s", "+1|s", "01|s", " 1|s", "1 |s", "1.0|s", "0x1|s", "1_0|s", "٣|s",
		"9223372036854775808|s", "1|" + strings.Repeat("s", 200),
	} {
		if id, secret, ok := secrets.ParseToken(s); ok || id != 0 || secret != "" {
			t.Errorf("ParseToken(%q) = %d, %q, %v", s, id, secret, ok)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	for _, s := range []string{"73|s3cret", "1|a|b", "01|a", "-1|a", "|", "9223372036854775807|z", "1|\x00", "1|\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, secret, ok := secrets.ParseToken(s)
		switch {
		case !ok && (id != 0 || secret != ""):
			t.Errorf("ParseToken(%q) is refused and gives %d, %q", s, id, secret)
		case ok && (id <= 0 || secret == "" || secrets.FormatToken(id, secret) != s || !secrets.IsAPIToken(s)):
			t.Errorf("ParseToken(%q) = %d, %q, written back as %q", s, id, secret, secrets.FormatToken(id, secret))
		}
	})
}

func TestTokenIsValidToTheEndOfTheLastSecondOfItsDay(t *testing.T) {
	expiry := secrets.ExpiryOf(civil.Date(2024, 2, 29))
	if want := time.Date(2024, 2, 29, 23, 59, 59, 0, time.UTC); !expiry.Equal(want) {
		t.Fatalf("ExpiryOf(2024-02-29) = %v, want %v", expiry, want)
	}
	for after, expired := range map[time.Duration]bool{
		-time.Second: false, 0: false, time.Second - 1: false, time.Second: true, time.Hour: true,
	} {
		if got := secrets.TokenExpired(expiry, expiry.Add(after)); got != expired {
			t.Errorf("%v after 23:59:59: expired %v, want %v", after, got, expired)
		}
	}
	if secrets.TokenExpired(time.Time{}, noon.AddDate(1000, 0, 0)) {
		t.Error("a token without expiry has expired")
	}
}
