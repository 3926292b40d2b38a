package apptest

import (
	"testing"

	"holdfast/internal/account/people"
	"holdfast/internal/account/sessions"
	"holdfast/internal/app"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// Enters signs a user in to the dashboard and returns the cookie.
func Enters(t *testing.T, h *House, name, browser string) string {
	t.Helper()
	in := sessions.Login{Username: name, Password: GoodPassword, Address: "192.0.2.7"}
	cookie, device, err := h.SignIns.SignIn(t.Context(), in, browser)
	if err != nil || device == "" {
		t.Fatalf("signing %s in: %v", name, err)
	}
	return cookie
}

// Visits makes a request with a cookie and expects this kind of result.
func Visits(t *testing.T, h *House, cookie, path string, want errs.Kind, doing string) sessions.Visit {
	t.Helper()
	v, err := h.SignIns.Visit(t.Context(), path, cookie, "192.0.2.9")
	WantKind(t, err, want, doing)
	return v
}

// SecretOfLink is the secret of the one-time link with this hash, as sent by e-mail.
func SecretOfLink(t *testing.T, a *app.App, hash string) (secret string) {
	t.Helper()
	err := a.DB.Store.Read(t.Context(), store.Deployment, func(tx *store.Tx) (err error) {
		secret, err = people.SecretOfLink(tx, a.Vault, hash)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}
