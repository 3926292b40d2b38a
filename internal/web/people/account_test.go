package people_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/testkit/webtest"

	"github.com/pquerna/otp/totp"
)

// codeAt is the code of a secret now.
func codeAt(t *testing.T, h *webtest.House, secret string) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, h.Now())
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// withSecondFactor gives a user a second factor, and returns its secret.
func withSecondFactor(t *testing.T, h *webtest.House, user people.User) (secret string) {
	t.Helper()
	by := access.System(0)
	secret, _, err := h.App.Accounts.BeginTwoFactor(t.Context(), by, user.ID)
	if err == nil {
		_, err = h.App.Accounts.ConfirmTwoFactor(t.Context(), by, user.ID, codeAt(t, h, secret))
	}
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// TestTheSecondFactorOfOnesOwn is set up with a key for an app, required from then on, and removed with a code.
func TestTheSecondFactorOfOnesOwn(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.Finance)
	b.Must("/account", "Second factor None", "Set up a second factor")
	if a := b.Get("/account/second-factor/confirm"); a.To != "/dashboard/account/second-factor" {
		t.Errorf("nothing was begun, and it leads to %q", a.To)
	}
	b.Must("/account/second-factor", "code from your phone")
	if a := b.Post("/account/second-factor", nil); a.To != "/dashboard/account/second-factor/confirm" {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	page := b.Must("/account/second-factor/confirm", "Scan this code")
	key := regexp.MustCompile(`<p class="secret">([A-Z2-7 ]+)</p>`).FindStringSubmatch(page.Body)
	if key == nil || !strings.Contains(page.Body, `<path d="M`) {
		t.Fatal(page.Body)
	}
	secret := strings.ReplaceAll(key[1], " ", "")
	if again := b.Must("/account/second-factor/confirm"); again.Body != page.Body {
		t.Error("the key changes while it is looked at")
	}
	if a := b.Post("/account/second-factor/confirm", url.Values{"code": {"000000"}}); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "This code is wrong") {
		t.Errorf("a wrong code: %d %s", a.Status, a.Text())
	}
	done := b.Post("/account/second-factor/confirm", url.Values{"code": {codeAt(t, h, secret)}})
	codes := regexp.MustCompile(`[a-z2-7]{4}(-[a-z2-7]{4}){3}`).FindAllString(done.Body, -1)
	if done.Status != http.StatusOK || len(codes) != 10 {
		t.Fatalf("%d, %d recovery codes: %s", done.Status, len(codes), done.Text())
	}
	if a := b.Get("/account/second-factor/confirm"); a.Status != http.StatusSeeOther {
		t.Errorf("the key is still shown: %d", a.Status)
	}
	b.Must("/account", "Remove second factor")

	other := h.Browser()
	with := url.Values{"username": {"finance"}, "password": {webtest.Password}}
	if a := other.Post("/sign-in", with); a.Status != http.StatusOK || !strings.Contains(a.Text(), "Code") {
		t.Errorf("no code is asked for: %d", a.Status)
	}
	with.Set("code", codes[0])
	if a := other.Post("/sign-in", with); a.Status != http.StatusSeeOther {
		t.Errorf("with a recovery code: %d", a.Status)
	}
	h.Advance(time.Minute)
	for _, wrong := range []struct{ old, code, says string }{
		{"another password", codes[1], "Wrong password"}, {webtest.Password, "", "This code is wrong"},
		{webtest.Password, codes[0], "This code is wrong"},
	} {
		a := b.Post("/account/second-factor/remove", url.Values{"old": {wrong.old}, "code": {wrong.code}})
		if a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), wrong.says) {
			t.Errorf("%+v: %d %s", wrong, a.Status, a.Text())
		}
	}
	if a := b.Post("/account/second-factor/remove", url.Values{"old": {webtest.Password}, "code": {codeAt(t, h, secret)}}); a.To != "/dashboard/account" {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	b.Must("/account", "You now sign in with your password alone", "Second factor None")
}

// TestOnesOwnPassword needs the old one; this browser stays signed in, and no other does.
func TestOnesOwnPassword(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.Finance)
	other := h.Browser()
	other.SignIn("finance", webtest.Password)
	in := url.Values{"old": {"another password"}, "password": {newPassword}, "again": {newPassword}}
	for field, wrong := range map[string]string{"old": "Wrong password", "password": "at least 12 characters", "again": "do not match"} {
		try := url.Values{"old": {webtest.Password}, "password": {newPassword}, "again": {newPassword}}
		switch field {
		case "old":
			try = in
		case "password":
			try.Set("password", "short")
			try.Set("again", "short")
		case "again":
			try.Set("again", newPassword+"!")
		}
		a := b.Post("/account/password", try)
		if a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), wrong) || strings.Contains(a.Body, webtest.Password) {
			t.Errorf("%s: %d %s", field, a.Status, a.Text())
		}
	}
	in.Set("old", webtest.Password)
	if a := b.Post("/account/password", in); a.To != "/dashboard/account" {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	b.Must("/account", "Password changed")
	if a := other.Get("/account"); a.Status != http.StatusSeeOther {
		t.Error("another browser is still signed in")
	}
	h.Browser().SignIn("finance", newPassword)
}

// TestOneBrowserIsSignedOut: only one's own, by name.
func TestOneBrowserIsSignedOut(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b, stranger := h.As(access.Finance), h.As(access.ReadOnly)
	other := h.Browser()
	other.SignIn("finance", webtest.Password)
	page := b.Must("/account", "(this one)")
	ids := regexp.MustCompile(`name="id" value="([0-9a-f]{64})"`).FindAllStringSubmatch(page.Body, -1)
	if len(ids) != 1 {
		t.Fatalf("%d browsers can be signed out, want the other", len(ids))
	}
	stranger.Post("/account/browsers/end", url.Values{"id": {ids[0][1]}})
	other.Must("/account")
	if a := b.Post("/account/browsers/end", url.Values{"id": {ids[0][1]}}); a.To != "/dashboard/account" {
		t.Errorf("%d", a.Status)
	}
	if a := other.Get("/account"); a.Status != http.StatusSeeOther {
		t.Error("it is still signed in")
	}
	b.Must("/account", "Browser signed out")
}

// TestPagesWithSecretsAskForThePasswordAgain.
func TestPagesWithSecretsAskForThePasswordAgain(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.Operator)
	h.Advance(11 * time.Minute)
	var open []string
	for _, path := range []string{
		"/account/second-factor", "/account/second-factor/confirm", "/people/invite", "/new-site", h.At("/people/invite"),
		h.At("/people/1"), h.At("/developers/webhooks/new"), h.At("/developers/webhooks/1/edit"), h.At("/developers/tokens/new"),
	} {
		if a := b.Get(path); !strings.HasPrefix(a.To, "/dashboard/prove?back=") {
			open = append(open, path)
		}
	}
	for _, path := range []string{"/new-site", h.At("/people/1"), h.At("/developers/webhooks"), h.At("/developers/webhooks/1")} {
		if a := b.Post(path, nil); !strings.HasPrefix(a.To, "/dashboard/prove?back=") {
			open = append(open, "POST "+path)
		}
	}
	if slices.Sort(open); len(open) > 0 {
		t.Errorf("no password is asked for at %v", open)
	}
}
