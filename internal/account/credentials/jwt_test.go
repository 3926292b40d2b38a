package credentials_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"holdfast/internal/account/credentials"
	"holdfast/internal/errs"
	"holdfast/internal/platform/secrets"

	"github.com/golang-jwt/jwt/v5"
)

var noon = time.Date(2024, 6, 3, 12, 0, 0, 0, time.UTC)

func keyMade(t testing.TB, seed byte, at time.Time) credentials.Key {
	t.Helper()
	key, err := credentials.NewKey(seeded(seed), at)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func ringOf(t testing.TB, keys ...credentials.Key) credentials.Keyring {
	t.Helper()
	ring, err := credentials.NewKeyring(keys)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func signed(t testing.TB) func(string, error) string {
	return func(text string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
}

func refused(t testing.TB, why string, ring credentials.Keyring, token string, kind credentials.Kind, now time.Time) {
	t.Helper()
	if c, err := credentials.Verify(ring, token, kind, now); !errs.Is(err, errs.JWTInvalid) || c != (credentials.Claims{}) {
		t.Errorf("%s: %+v, %v, want a JWTInvalid fault", why, c, err)
	}
}

func TestClaimsComeBackAsSigned(t *testing.T) {
	ring := ringOf(t, keyMade(t, 1, noon))
	in := credentials.Claims{UserID: 1<<62 + 1, SiteID: 3, Generation: 1<<53 + 1} // beyond what a float holds
	access := signed(t)(credentials.SignAccess(ring, in, noon))
	refresh := signed(t)(credentials.SignRefresh(ring, in, noon))
	for kind, token := range map[credentials.Kind]string{credentials.Access: access, credentials.Refresh: refresh} {
		want := in
		want.Kind, want.IssuedAt, want.KeyID = kind, noon, keyMade(t, 1, noon).ID
		if kind == credentials.Access {
			want.ExpiresAt = noon.Add(credentials.AccessLifetime)
		}
		if got, err := credentials.Verify(ring, token, kind, noon); got != want || err != nil {
			t.Errorf("%s: %+v, %v, want %+v", kind, got, err, want)
		}
	}
	refused(t, "an access token as refresh token", ring, access, credentials.Refresh, noon)
	refused(t, "a refresh token as access token", ring, refresh, credentials.Access, noon)
}

func TestOnlyTheRefreshTokensOfAFamilyHaveItsSecret(t *testing.T) {
	key := keyMade(t, 1, noon)
	ring := ringOf(t, key)
	secret := signed(t)(credentials.NewFamilySecret(seeded(7)))
	in := credentials.Claims{UserID: 1, Generation: 2, Secret: secret, Number: 3}
	refresh, err := credentials.Verify(ring, signed(t)(credentials.SignRefresh(ring, in, noon)), credentials.Refresh, noon.AddDate(1, 0, 0))
	want := in
	want.Kind, want.IssuedAt, want.KeyID = credentials.Refresh, noon, key.ID
	if refresh != want || err != nil {
		t.Errorf("the refresh token: %+v, %v, want %+v", refresh, err, want)
	}
	access, err := credentials.Verify(ring, signed(t)(credentials.SignAccess(ring, in, noon)), credentials.Access, noon)
	want.Kind, want.Secret, want.Number, want.Family = credentials.Access, "", 0, secrets.HashSecret(secret)
	want.ExpiresAt = noon.Add(credentials.AccessLifetime)
	if access != want || err != nil || access.FamilyID() != refresh.FamilyID() {
		t.Errorf("the access token: %+v, %v, want %+v", access, err, want)
	}
	if plain := (credentials.Claims{UserID: 1}); plain.FamilyID() != "" {
		t.Errorf("a token without a family has the family %q", plain.FamilyID())
	}
}

func TestAccessTokenLivesFifteenMinutesByTheGivenClock(t *testing.T) {
	ring := ringOf(t, keyMade(t, 1, noon))
	token := signed(t)(credentials.SignAccess(ring, credentials.Claims{UserID: 1}, noon.Add(999*time.Millisecond)))
	for _, at := range []time.Time{noon, noon.Add(credentials.AccessLifetime - 1)} {
		if _, err := credentials.Verify(ring, token, credentials.Access, at); err != nil {
			t.Errorf("at %v: %v", at, err)
		}
	}
	refused(t, "expired", ring, token, credentials.Access, noon.Add(15*time.Minute))
	refused(t, "not yet issued", ring, token, credentials.Access, noon.Add(-1))
}

func TestRefreshTokenIsTheSameTextForOneGeneration(t *testing.T) {
	ring := ringOf(t, keyMade(t, 1, noon))
	first := signed(t)(credentials.SignRefresh(ring, credentials.Claims{UserID: 1, Generation: 4}, noon))
	later := signed(t)(credentials.SignRefresh(ring, credentials.Claims{UserID: 1, Generation: 4}, noon))
	if first != later {
		t.Error("a second login got another refresh token")
	}
	for _, other := range []credentials.Claims{{UserID: 1, Generation: 5}, {UserID: 2, Generation: 4}, {UserID: 1, Generation: 4, SiteID: 1}} {
		if signed(t)(credentials.SignRefresh(ring, other, noon)) == first {
			t.Errorf("%+v got the token of another generation, user or site", other)
		}
	}
	if _, err := credentials.Verify(ring, first, credentials.Refresh, noon.AddDate(50, 0, 0)); err != nil {
		t.Errorf("after fifty years: %v", err)
	}
}

func TestRotationLogsNobodyOut(t *testing.T) {
	old := keyMade(t, 1, noon)
	before := ringOf(t, old)
	claims := credentials.Claims{UserID: 1}
	refresh := signed(t)(credentials.SignRefresh(before, claims, noon))

	retired := old
	retired.RetiredAt = noon.Add(time.Hour)
	fresh := keyMade(t, 2, noon.Add(time.Hour))
	for _, keys := range [][]credentials.Key{{retired, fresh}, {fresh, retired}, {old, fresh}, {fresh, old}} {
		after := ringOf(t, keys...)
		if _, err := credentials.Verify(after, refresh, credentials.Refresh, noon.AddDate(1, 0, 0)); err != nil {
			t.Errorf("the refresh token of the old key: %v", err)
		}
		access := signed(t)(credentials.SignAccess(after, claims, noon))
		if _, err := credentials.Verify(ringOf(t, fresh), access, credentials.Access, noon); err != nil {
			t.Errorf("what is signed after the rotation is not signed with the new key: %v", err)
		}
		if _, err := credentials.Verify(before, access, credentials.Access, noon); !errors.Is(err, credentials.ErrUnknownKey) {
			t.Errorf("a ring that lacks the new key: %v, want ErrUnknownKey", err)
		}
	}
	refused(t, "a key taken off the ring", ringOf(t, fresh), refresh, credentials.Refresh, noon)
}

// TestARetiredKeyVerifiesOnlyWhatItMayHaveSigned: a key that leaks after it was retired signs tokens that the service
// never issued.
func TestARetiredKeyVerifiesOnlyWhatItMayHaveSigned(t *testing.T) {
	old, fresh := keyMade(t, 1, noon), keyMade(t, 2, noon.Add(time.Hour))
	claims := credentials.Claims{UserID: 1}
	leaked := ringOf(t, old)
	retired := old
	retired.RetiredAt = noon.Add(time.Hour)
	ring := ringOf(t, retired, fresh)
	last := signed(t)(credentials.SignAccess(leaked, claims, retired.RetiredAt))
	for _, c := range []struct {
		why   string
		token string
		kind  credentials.Kind
		now   time.Time
		taken bool
	}{
		{"the last token, in its life", last, credentials.Access, retired.RetiredAt.Add(credentials.AccessLifetime - time.Second), true},
		{"an access token of the next day", signed(t)(credentials.SignAccess(leaked, claims, noon.AddDate(0, 0, 1))), credentials.Access, noon.AddDate(0, 0, 1), false},
		{
			"a token that says it is older than the retirement", forge(t, jwt.SigningMethodHS256, map[string]any{"kid": old.ID},
				jwt.MapClaims{"kind": "access", "sub": "1", "iat": noon.Unix(), "exp": noon.AddDate(10, 0, 0).Unix()}, old.Secret),
			credentials.Access, noon.AddDate(0, 0, 1), false,
		},
		{"a refresh token of before", signed(t)(credentials.SignRefresh(leaked, claims, noon)), credentials.Refresh, noon.AddDate(1, 0, 0), true},
		{"a refresh token of after", signed(t)(credentials.SignRefresh(leaked, claims, noon.Add(2*time.Hour))), credentials.Refresh, noon.AddDate(1, 0, 0), false},
		{
			"a refresh token with an expiry", forge(t, jwt.SigningMethodHS256, map[string]any{"kid": fresh.ID},
				jwt.MapClaims{"kind": "refresh", "sub": "1", "iat": noon.Unix(), "exp": noon.AddDate(10, 0, 0).Unix()}, fresh.Secret),
			credentials.Refresh, noon.Add(time.Hour), false,
		},
	} {
		if _, err := credentials.Verify(ring, c.token, c.kind, c.now); (err == nil) != c.taken {
			t.Errorf("%s: taken %t, %v", c.why, err == nil, err)
		}
	}
	// Until the key's time ends, tokens cannot be distinguished from the service's own.
	inTime := signed(t)(credentials.SignAccess(leaked, claims, retired.RetiredAt.Add(time.Minute)))
	refused(t, "when all its tokens have expired", ring, inTime, credentials.Access, retired.RetiredAt.Add(credentials.AccessLifetime+time.Minute))
}

func TestEveryProcessSignsWithTheSameOfTwoKeysOfOneInstant(t *testing.T) {
	a, b := keyMade(t, 1, noon), keyMade(t, 2, noon)
	one := signed(t)(credentials.SignAccess(ringOf(t, a, b), credentials.Claims{UserID: 1}, noon))
	two := signed(t)(credentials.SignAccess(ringOf(t, b, a), credentials.Claims{UserID: 1}, noon))
	if one != two {
		t.Error("the order in which keys are loaded decides which one signs")
	}
}

func TestKeyringRefusesWhatWouldBeForgeableOrMute(t *testing.T) {
	good := keyMade(t, 1, noon)
	short, nameless, retired := good, good, good
	short.Secret = good.Secret[:31]
	nameless.ID = ""
	retired.RetiredAt = noon
	for why, keys := range map[string][]credentials.Key{
		"no key": nil, "a short secret": {short}, "no id": {nameless}, "one id twice": {good, good}, "only retired keys": {retired},
	} {
		if _, err := credentials.NewKeyring(keys); !errs.Is(err, errs.Internal) {
			t.Errorf("%s: %v, want an error", why, err)
		} else if strings.Contains(err.Error(), string(good.Secret[:31])) {
			t.Errorf("%s: the error holds the secret", why)
		}
	}
	if _, err := credentials.SignAccess(credentials.Keyring{}, credentials.Claims{UserID: 1}, noon); err == nil {
		t.Error("the zero ring signs")
	}
	refused(t, "the zero ring", credentials.Keyring{}, signed(t)(credentials.SignAccess(ringOf(t, good), credentials.Claims{UserID: 1}, noon)), credentials.Access, noon)
}

// forge signs claims as an attacker who picks the header would.
func forge(t testing.TB, method jwt.SigningMethod, header map[string]any, claims jwt.MapClaims, key any) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	for name, value := range header {
		token.Header[name] = value
	}
	return signed(t)(token.SignedString(key))
}

func TestForgeriesAreRefused(t *testing.T) {
	key, other := keyMade(t, 1, noon), keyMade(t, 2, noon)
	ring := ringOf(t, key)
	kid := map[string]any{"kid": key.ID}
	claims := jwt.MapClaims{"kind": "access", "sub": "1", "iat": noon.Unix(), "exp": noon.Unix() + 60}
	if _, err := credentials.Verify(ring, forge(t, jwt.SigningMethodHS256, kid, claims, key.Secret), credentials.Access, noon); err != nil {
		t.Fatalf("the pattern of the forgeries is itself refused: %v", err)
	}
	none := jwt.UnsafeAllowNoneSignatureType
	good := signed(t)(credentials.SignAccess(ring, credentials.Claims{UserID: 1}, noon))
	part := strings.Split(good, ".")
	root := base64.RawURLEncoding.EncodeToString([]byte(`{"kind":"access","sub":"2","iat":0,"exp":99999999999}`))
	with := func(name string, value any) jwt.MapClaims {
		c := jwt.MapClaims{}
		for k, v := range claims {
			c[k] = v
		}
		if c[name] = value; value == nil {
			delete(c, name)
		}
		return c
	}
	for why, token := range map[string]string{
		"alg none":               forge(t, jwt.SigningMethodNone, kid, claims, none),
		"alg none, no kid":       forge(t, jwt.SigningMethodNone, nil, claims, none),
		"alg None":               forge(t, jwt.SigningMethodNone, map[string]any{"kid": key.ID, "alg": "None"}, claims, none),
		"alg none said as HS256": forge(t, jwt.SigningMethodNone, map[string]any{"kid": key.ID, "alg": "HS256"}, claims, none),
		"HS384":                  forge(t, jwt.SigningMethodHS384, kid, claims, key.Secret),
		"HS512":                  forge(t, jwt.SigningMethodHS512, kid, claims, key.Secret),
		"HS512 said as HS256":    forge(t, jwt.SigningMethodHS512, map[string]any{"kid": key.ID, "alg": "HS256"}, claims, key.Secret),
		"RS256 said of an HMAC":  forge(t, jwt.SigningMethodHS256, map[string]any{"kid": key.ID, "alg": "RS256"}, claims, key.Secret),
		"another key, our kid":   forge(t, jwt.SigningMethodHS256, kid, claims, other.Secret),
		"no kid":                 forge(t, jwt.SigningMethodHS256, nil, claims, key.Secret),
		"kid is a number":        forge(t, jwt.SigningMethodHS256, map[string]any{"kid": 1}, claims, key.Secret),
		"unknown kid":            forge(t, jwt.SigningMethodHS256, map[string]any{"kid": other.ID}, claims, other.Secret),
		"empty key":              forge(t, jwt.SigningMethodHS256, map[string]any{"kid": ""}, claims, []byte{}),
		"no expiry":              forge(t, jwt.SigningMethodHS256, kid, with("exp", nil), key.Secret),
		"no time of issue":       forge(t, jwt.SigningMethodHS256, kid, with("iat", nil), key.Secret),
		"lives for ten years":    forge(t, jwt.SigningMethodHS256, kid, with("exp", noon.AddDate(10, 0, 0).Unix()), key.Secret),
		"lives a second longer":  forge(t, jwt.SigningMethodHS256, kid, with("exp", noon.Add(credentials.AccessLifetime).Unix()+1), key.Secret),
		"issued in the future":   forge(t, jwt.SigningMethodHS256, kid, with("iat", noon.Unix()+1), key.Secret),
		"not valid yet":          forge(t, jwt.SigningMethodHS256, kid, with("nbf", noon.Unix()+1), key.Secret),
		"no kind":                forge(t, jwt.SigningMethodHS256, kid, with("kind", nil), key.Secret),
		"no subject":             forge(t, jwt.SigningMethodHS256, kid, with("sub", nil), key.Secret),
		"subject is a name":      forge(t, jwt.SigningMethodHS256, kid, with("sub", "ada"), key.Secret),
		"other claims":           part[0] + "." + root + "." + part[2],
		"no signature":           part[0] + "." + part[1] + ".",
		"two parts":              part[0] + "." + part[1],
		"four parts":             good + ".",
		"padded":                 good + "=",
		"broken into lines":      good + "\n",
		"claims are null":        part[0] + ".bnVsbA." + part[2],
		"too long":               forge(t, jwt.SigningMethodHS256, kid, with("more", strings.Repeat("a", 2048)), key.Secret),
		"empty":                  "",
		"an API token":           "73|s3cret",
	} {
		refused(t, why, ring, token, credentials.Access, noon)
	}
	refresh := jwt.MapClaims{"kind": "refresh", "sub": "1", "iat": noon.Unix()}
	if _, err := credentials.Verify(ring, forge(t, jwt.SigningMethodHS256, kid, refresh, key.Secret), credentials.Refresh, noon); err != nil {
		t.Fatalf("the pattern of the refresh tokens is itself refused: %v", err)
	}
	refresh["exp"] = noon.AddDate(10, 0, 0).Unix()
	refused(t, "a refresh token with an expiry", ring, forge(t, jwt.SigningMethodHS256, kid, refresh, key.Secret), credentials.Refresh, noon)
}

func TestEveryChangedCharacterOfATokenIsNoticed(t *testing.T) {
	ring := ringOf(t, keyMade(t, 1, noon))
	token := signed(t)(credentials.SignAccess(ring, credentials.Claims{UserID: 1, SiteID: 2}, noon))
	for i := range token {
		for _, c := range []byte("Aw.-\n") {
			if token[i] != c {
				refused(t, "character changed", ring, token[:i]+string(c)+token[i+1:], credentials.Access, noon)
			}
			refused(t, "character added", ring, token[:i]+string(c)+token[i:], credentials.Access, noon)
		}
		refused(t, "character dropped", ring, token[:i]+token[i+1:], credentials.Access, noon)
	}
	// The last character of a signature has two unused bits; they count as well.
	last := len(token) - 1
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
		if token[last:] != string(c) {
			refused(t, "last character changed", ring, token[:last]+string(c), credentials.Access, noon)
		}
	}
}

// A token is accepted only if it is exactly one that was signed here.
func FuzzVerify(f *testing.F) {
	ring := ringOf(f, keyMade(f, 1, noon))
	ours := map[string]bool{
		signed(f)(credentials.SignAccess(ring, credentials.Claims{UserID: 1, SiteID: 2, Generation: 3}, noon)): true,
		signed(f)(credentials.SignRefresh(ring, credentials.Claims{UserID: 1}, noon)):                          true,
	}
	for token := range ours {
		f.Add(token)
		f.Add(token + "\n")
		f.Add(strings.ToUpper(token))
	}
	for _, token := range []string{
		"", "..", "e30.e30.", "bnVsbA.bnVsbA.", "W10.W10.AA", "a|b", "eyJhbGciOiJub25lIn0.e30.",
		"eyJhbGciOiJIUzI1NiIsImtpZCI6bnVsbH0.e30.AA", "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjFlOTk5fQ.AA",
	} {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		for _, kind := range []credentials.Kind{credentials.Access, credentials.Refresh} {
			_, err := credentials.Verify(ring, token, kind, noon)
			if err == nil && !ours[token] {
				t.Errorf("Verify accepts %q as %s", token, kind)
			}
			if err != nil && !errs.Is(err, errs.JWTInvalid) {
				t.Errorf("Verify(%q) = %v, want a JWTInvalid fault", token, err)
			}
		}
	})
}
