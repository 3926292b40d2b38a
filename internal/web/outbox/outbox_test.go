package outbox_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"holdfast/internal/errs"
	"holdfast/internal/notify/mail"
	"holdfast/internal/web/outbox"
)

// TestPages: the list, one mail, its frame, and what is not there.
func TestPages(t *testing.T) {
	t.Parallel()
	one := mail.Mail{ID: 7, Recipient: "ada@example.org", State: mail.Outbox, Letter: mail.Letter{Sender: "<b>Harbour"}}
	text := mail.Message{Subject: "Your <i>payment", Text: "Dear <u>Ada", HTML: "<p>Dear Ada</p>"}
	pages, err := outbox.New(outbox.Config{
		Newest: func(context.Context, int) ([]mail.Mail, error) { return []mail.Mail{one}, nil },
		Get: func(_ context.Context, id int64) (mail.Mail, mail.Message, error) {
			if id != one.ID {
				return mail.Mail{}, mail.Message{}, errs.New(errs.SettingNotFound, "E-mail not found.")
			}
			return one, text, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct {
		status int
		says   string
	}{
		"/outbox":          {200, `<a href="/outbox/7">Your &lt;i&gt;payment</a>`},
		"/outbox/7":        {200, "Dear &lt;u&gt;Ada"},
		"/outbox/7/html":   {200, "<p>Dear Ada</p>"},
		"/outbox/8":        {404, "E-mail not found"},
		"/outbox/x":        {404, "E-mail not found"},
		"/outbox/page.css": {200, "color-scheme"},
	} {
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.says) {
			t.Errorf("%s: %d\n%s", path, w.Code, w.Body)
		}
		policy := w.Header().Get("Content-Security-Policy")
		if strings.HasSuffix(path, "/html") != strings.HasPrefix(policy, "sandbox ") || strings.Contains(policy, "script") {
			t.Errorf("%s: the policy is %s", path, policy)
		}
	}
}
