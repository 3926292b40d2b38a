package channels_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/psp"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/webtest"
)

// TestCredentialsGoInAndNeverComeOut, and only operators set them.
func TestCredentialsGoInAndNeverComeOut(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	h.App.Channels.Profile = merchant.ServerToServerProfile
	h.App.Channels.Gateways = map[string]psp.Gateway{"scripted": apptest.NewScripted()}
	h.Channel(merchant.ModeTest, "EUR")
	b := h.As(access.Operator)
	b.Must(h.At("/channels/1/settings"), "Processor")
	b.Must(h.At("/channels/1/gateway"), "Secret key Not set", "Scripted")
	in := url.Values{"processor": {"scripted"}, "key_password": {"sk-of-the-channel"}, "webhook_secret_password": {"whsec-1"}}
	if a := b.Post(h.At("/channels/1/gateway"), in); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	page := b.Must(h.At("/channels/1/gateway"), "Secret key Set", "Webhook secret Set", "Tokenizer secret Not set")
	wrong := url.Values{"processor": {"nobody"}, "key_password": {"sk-of-the-channel"}}
	refused := b.Post(h.At("/channels/1/gateway"), wrong)
	if refused.Status != http.StatusBadRequest || strings.Contains(page.Body+refused.Body, "sk-of-the-channel") {
		t.Errorf("%d, or a secret is shown: %s", refused.Status, refused.Text())
	}
	if a := h.As(access.MemberAdmin).Post(h.At("/channels/1/gateway"), in); a.Status != http.StatusForbidden {
		t.Errorf("others set it: %d", a.Status)
	}
	if a := b.Post(h.At("/channels/1/gateway"), url.Values{"processor": {""}}); a.Status != http.StatusSeeOther {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	b.Must(h.At("/channels/1/gateway"), "Secret key Not set")
}
