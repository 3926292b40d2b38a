package credentials_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/account/credentials"
)

// The secret and the codes of RFC 6238, appendix B (SHA-1), cut to six digits.
const rfcSecret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

func TestCodesOfTheRFC(t *testing.T) {
	for at, code := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037",
	} {
		for _, typed := range []string{code, code[:3] + " " + code[3:], " " + code} {
			if step, ok := credentials.CheckTOTP(rfcSecret, typed, time.Unix(at, 0), 0); !ok || step != at/30 {
				t.Errorf("at %d: %q gives step %d, %v", at, typed, step, ok)
			}
		}
	}
}

func TestOneStepOfSkewAndNoMore(t *testing.T) {
	const step, code = 1111111109 / 30, "081804"
	for offset, want := range map[int64]bool{-2: false, -1: true, 0: true, 1: true, 2: false} {
		now := time.Unix((step+offset)*30, 0)
		got, ok := credentials.CheckTOTP(rfcSecret, code, now, 0)
		if ok != want || ok && got != step {
			t.Errorf("%d steps on: step %d, %v, want %v", offset, got, ok, want)
		}
	}
}

func TestCodeCountsOnceOnly(t *testing.T) {
	now := time.Unix(1111111109, 0)
	step, ok := credentials.CheckTOTP(rfcSecret, "081804", now, 0)
	if !ok {
		t.Fatal("the code is refused")
	}
	for _, used := range []int64{step, step + 1} {
		if _, ok := credentials.CheckTOTP(rfcSecret, "081804", now, used); ok {
			t.Errorf("the code of step %d is taken again after step %d", step, used)
		}
	}
	// The next step is 1111111111 of the RFC; it is valid after this one, but not the other way round.
	if next, ok := credentials.CheckTOTP(rfcSecret, "050471", now, step); !ok || next != step+1 {
		t.Errorf("the next code gives step %d, %v", next, ok)
	}
}

func TestWrongCodesAndSecretsAreRefused(t *testing.T) {
	now := time.Unix(59, 0)
	for _, code := range []string{"", "28708", "2870820", "94287082", "287083", "28708a", "２87082"} {
		if _, ok := credentials.CheckTOTP(rfcSecret, code, now, 0); ok {
			t.Errorf("code %q is taken", code)
		}
	}
	for _, secret := range []string{"not base32!", "1"} {
		for _, code := range []string{"", "287082"} {
			if _, ok := credentials.CheckTOTP(secret, code, now, 0); ok {
				t.Errorf("secret %q takes %q", secret, code)
			}
		}
	}
}

func TestNewSecondFactorIsWhatAppsTakeIn(t *testing.T) {
	secret, uri, err := credentials.NewTOTP("holdfast demo", "ada@example.com", seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if u.Scheme != "otpauth" || u.Host != "totp" || u.Path != "/holdfast demo:ada@example.com" ||
		q.Get("secret") != secret || q.Get("issuer") != "holdfast demo" || q.Get("digits") != "6" || q.Get("period") != "30" {
		t.Errorf("the address is %s", uri)
	}
	if !regexp.MustCompile(`^[A-Z2-7]{32}$`).MatchString(secret) { // 160 bits, as RFC 4226 recommends
		t.Errorf("the secret is %q", secret)
	}
	if again, err := credentials.TOTPAddress("holdfast demo", "ada@example.com", secret); again != uri || err != nil {
		t.Errorf("the address of the secret is %s, %v", again, err)
	}
	if _, err := credentials.TOTPAddress("holdfast demo", "ada@example.com", "not base32!"); err == nil || strings.Contains(err.Error(), "!") {
		t.Errorf("of a text that is no secret: %v", err)
	}
	if other, _, err := credentials.NewTOTP("holdfast demo", "ada@example.com", seeded(2)); err != nil || other == secret {
		t.Errorf("two users share a secret: %v", err)
	}
}

func TestRecoveryCodes(t *testing.T) {
	codes, hashes, err := credentials.NewRecoveryCodes(seeded(1))
	if err != nil || len(codes) != 10 || len(hashes) != 10 {
		t.Fatalf("%d codes, %d hashes, %v", len(codes), len(hashes), err)
	}
	if len(slices.Compact(slices.Sorted(slices.Values(codes)))) != 10 {
		t.Errorf("codes repeat: %v", codes)
	}
	shape := regexp.MustCompile(`^[a-z2-7]{4}(-[a-z2-7]{4}){3}$`)
	for i, code := range codes {
		if !shape.MatchString(code) || strings.Contains(hashes[i], code) {
			t.Errorf("code %q, hash %q", code, hashes[i])
		}
		bare := strings.ReplaceAll(code, "-", "")
		for _, typed := range []string{code, strings.ToUpper(code), bare, " " + bare[:8] + " " + bare[8:] + " "} {
			if credentials.HashRecoveryCode(typed) != hashes[i] {
				t.Errorf("%q does not have hash %d", typed, i)
			}
		}
	}
	for _, wrong := range []string{"", "-", codes[0][:18], codes[0] + "a", hashes[0]} {
		if slices.Contains(hashes, credentials.HashRecoveryCode(wrong)) {
			t.Errorf("%q has one of the hashes", wrong)
		}
	}
}
