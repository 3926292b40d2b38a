package people_test

import (
	"net/http"
	"net/url"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/testkit/webtest"
)

// TestOnesOwnName is changed immediately; a new address needs a mail server, and says so.
func TestOnesOwnName(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.ReadOnly)
	b.Must("/account/profile", "We send a link to a new address")
	in := url.Values{"display_name": {"Ada Byron"}, "email": {"read_only@example.com"}}
	if a := b.Post("/account/profile", in); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	b.Must("/account", "Ada Byron")
	in.Set("email", "new@example.com")
	if a := b.Post("/account/profile", in); a.Status != http.StatusConflict {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	in.Set("email", "none")
	if a := b.Post("/account/profile", in); a.Status != http.StatusBadRequest {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	if a := b.From(map[string]string{"Origin": "https://evil.example"}, "/account/profile", in); a.Status != http.StatusForbidden {
		t.Errorf("a forged form: %d", a.Status)
	}
}
