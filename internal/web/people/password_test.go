package people_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/notify/mail"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/testkit/webtest"
)

const newPassword = "a password of my own"

// linksIn finds the one-time links in queued e-mails, the newest last.
func linksIn(t *testing.T, h *webtest.House) (secrets []string) {
	t.Helper()
	var letters []string
	dbtest.Read(t, h.App.DB.Store, func(tx *store.Tx) error {
		return tx.Query(`SELECT letter FROM mails ORDER BY id`, nil, func(scan func(dest ...any) error) error {
			var letter string
			err := scan(&letter)
			letters = append(letters, letter)
			return err
		})
	})
	for _, letter := range letters {
		hash := regexp.MustCompile(`"link":"([0-9a-f]{64})"`).FindStringSubmatch(letter)
		secrets = append(secrets, apptest.SecretOfLink(t, h.App, hash[1]))
	}
	return secrets
}

// TestAForgottenPasswordIsReplaced: the same response for everyone; the link's secret is removed from the URL, and
// works once.
func TestAForgottenPasswordIsReplaced(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	signedIn := h.As(access.Finance)
	b := h.Browser()
	b.Must("/sign-in", "Forgotten your password?")
	b.Must("/forgotten", "This service cannot send e-mails")
	if a := b.Post("/forgotten", url.Values{"name": {"finance"}}); !strings.Contains(a.Text(), "cannot send e-mails") {
		t.Errorf("without a server it says %s", a.Text())
	}
	h.App.Mails.Transport = &mail.SMTP{}
	var answers []string
	for _, name := range []string{"finance", "nobody", "finance@example.com", "nobody@example.com"} {
		a := b.Post("/forgotten", url.Values{"name": {name}})
		if a.Status != http.StatusOK || !strings.Contains(a.Text(), "If the account exists") {
			t.Errorf("%s: %d %s", name, a.Status, a.Text())
		}
		answers = append(answers, a.Body)
	}
	if answers[0] != answers[1] || answers[0] != answers[3] {
		t.Error("the answers differ")
	}
	if a := b.Post("/forgotten", url.Values{"name": {" "}}); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "Enter your user name") {
		t.Errorf("no name: %d %s", a.Status, a.Text())
	}
	if _, err := h.App.Links.Answer(t.Context()); err != nil {
		t.Fatal(err)
	}
	secrets := linksIn(t, h)
	if len(secrets) != 2 || secrets[0] != "" { // the newer link has ended the other
		t.Fatalf("the links are %q", secrets)
	}
	to := b.Get("/password/" + secrets[1])
	if to.Status != http.StatusSeeOther || to.To != "/dashboard/password" || strings.Contains(to.Body, secrets[1]) {
		t.Errorf("the link leads to %q with %s", to.To, to.Body)
	}
	b.Must("/password", "Choose a new password", "finance")
	for _, wrong := range []struct{ password, again, says string }{
		{"short", "short", "at least 12 characters"}, {newPassword, newPassword + "!", "do not match"},
	} {
		a := b.Post("/password", url.Values{"password": {wrong.password}, "again": {wrong.again}})
		if a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), wrong.says) {
			t.Errorf("%q: %d %s", wrong.password, a.Status, a.Text())
		}
	}
	if a := b.Post("/password", url.Values{"password": {newPassword}, "again": {newPassword}}); a.To != "/dashboard/sign-in?username=finance" {
		t.Fatalf("%d to %q %s", a.Status, a.To, a.Text())
	}
	if a := b.Must("/sign-in?username=finance", "Password set for finance"); !strings.Contains(a.Body, `value="finance"`) {
		t.Error("the user name has to be typed again")
	}
	b.SignIn("finance", newPassword)
	if a := signedIn.Get("/account"); a.Status != http.StatusSeeOther {
		t.Error("who was signed in still is")
	}
	b.Get("/password/" + secrets[1])
	if a := b.Get("/password"); a.Status != http.StatusNotFound || !strings.Contains(a.Text(), "This link has expired") {
		t.Errorf("the link again: %d %s", a.Status, a.Text())
	}
	if a := h.Browser().Get("/password"); a.Status != http.StatusNotFound {
		t.Errorf("without a link: %d", a.Status)
	}
}

// TestAnotherSiteIsTakenUp with an existing account: the link sets no password.
func TestAnotherSiteIsTakenUp(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	h.App.Mails.Transport = &mail.SMTP{}
	h.As(access.Finance)
	operator := h.As(access.Operator)
	made := operator.Post("/new-site", url.Values{"name": {"Second"}, "path": {"second"}, "currency": {"GBP"}})
	if made.Status != http.StatusSeeOther {
		t.Fatal(made.Text())
	}
	site, err := h.App.Sites.At(t.Context(), access.System(0), "second")
	if err != nil {
		t.Fatal(err)
	}
	in := people.UserFields{Username: "finance", Email: "finance@example.com"}
	_, secret, err := h.App.Links.Invite(t.Context(), access.System(site.ID), in, access.MemberAdmin, false)
	if err != nil {
		t.Fatal(err)
	}
	b := h.Browser()
	b.Get("/password/" + secret)
	b.Must("/password", "You have access", "Second", "finance")
	if a := b.Post("/password", url.Values{"password": {newPassword}, "again": {newPassword}}); a.To != "/dashboard/sites/second" {
		t.Errorf("%d to %q", a.Status, a.To)
	}
	b.SignIn("finance", webtest.Password)
	b.Must("/sites/second")
}

// TestOnlyTheInviteeLearnsThatANameIsTaken: the invitation, its e-mail and its page look the same as for any other name.
func TestOnlyTheInviteeLearnsThatANameIsTaken(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	h.App.Mails.Transport = &mail.SMTP{}
	admin := h.As(access.MemberAdmin)
	path, name, currency := "beta", "Beta", money.Currency("EUR")
	beta, err := h.App.Sites.Create(t.Context(), access.System(0), merchant.SiteFields{Path: &path, Name: &name, Currency: &currency})
	if err != nil {
		t.Fatal(err)
	}
	in := people.UserFields{Username: "taken", Email: "taken@beta.example", Password: newPassword}
	if _, err := h.App.Accounts.CreateUser(t.Context(), access.System(beta.ID), in, access.Finance, false); err != nil {
		t.Fatal(err)
	}
	var pages []string
	for i, name := range []string{"taken", "freed"} {
		made := admin.Post(h.At("/people/invite"), url.Values{"username": {name}, "email": {name + "@demo.example"}, "role": {"read_only"}})
		if made.Status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", name, made.Status, made.Text())
		}
		admin.Must(h.At("/people"), "Invitation sent to "+name+"@demo.example", "Read only Invited")
		b, links := h.Browser(), linksIn(t, h)
		b.Get("/password/" + links[i])
		page := b.Must("/password", "Choose a user name and a password")
		pages = append(pages, strings.ReplaceAll(page.Body, name, "NAME"))
		filled := url.Values{"username": {name}, "password": {newPassword}, "again": {newPassword}}
		a := b.Post("/password", filled)
		if name == "taken" {
			if a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "This user name is already taken.") {
				t.Fatalf("%d %s", a.Status, a.Text())
			}
			filled.Set("username", "Another")
			a = b.Post("/password", filled)
			name = "another"
		}
		if a.To != "/dashboard/sign-in?username="+name {
			t.Fatalf("%d to %q %s", a.Status, a.To, a.Text())
		}
		b.SignIn(name, newPassword)
		b.Must(h.At("/bookings"))
	}
	if pages[0] != pages[1] {
		t.Errorf("the pages differ:\n%s\n%s", pages[0], pages[1])
	}
}
