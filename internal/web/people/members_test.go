package people_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"holdfast/internal/account/people"
	"holdfast/internal/account/sessions"
	"holdfast/internal/domain/access"
	"holdfast/internal/notify/mail"
	"holdfast/internal/store"
	"holdfast/internal/testkit/webtest"

	"github.com/xuri/excelize/v2"
)

// userOf finds a user by name.
func userOf(t *testing.T, h *webtest.House, name string) people.User {
	t.Helper()
	u, err := h.App.Accounts.UserNamed(t.Context(), access.System(0), name)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

var shownLink = regexp.MustCompile(webtest.Base + `/dashboard/password/[a-z2-7]{40}`)

// TestAMemberIsInvitedAndEnters: by a link that is shown if there is no mail server, otherwise only sent by e-mail.
func TestAMemberIsInvitedAndEnters(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	boss := h.As(access.MemberAdmin)
	boss.Must(h.At("/people"), "member_admin@example.com", "Invite a person")
	in := url.Values{"email": {"no address"}, "username": {"Eve!"}, "role": {"operator"}}
	wrong := boss.Post(h.At("/people/invite"), in)
	for _, want := range []string{"Must be 2 to 60 letters", "Must be one of: read_only, finance, member_admin."} {
		if wrong.Status != http.StatusBadRequest || !strings.Contains(wrong.Text(), want) {
			t.Errorf("%d, and it does not say %q: %s", wrong.Status, want, wrong.Text())
		}
	}
	in = url.Values{"email": {"eve@example.com"}, "username": {"eve"}, "display_name": {"Eve"}, "role": {"finance"}, "can_sign_off_payout": {"1"}}
	shown := boss.Post(h.At("/people/invite"), in)
	link := shownLink.FindString(shown.Body)
	if shown.Status != http.StatusOK || link == "" {
		t.Fatalf("%d %s", shown.Status, shown.Text())
	}
	boss.Must(h.At("/people"), "eve@example.com Finance Invited")
	boss.Must(h.At("/people?q=EVE"), "eve@example.com")
	if a := boss.Get(h.At("/people?q=nobody")); !strings.Contains(a.Text(), "No matching people") {
		t.Error(a.Text())
	}
	eve := h.Browser()
	eve.Get(link)
	eve.Post("/password", url.Values{"password": {newPassword}, "again": {newPassword}})
	eve.SignIn("eve", newPassword)
	eve.Must(h.At(""))
	boss.Must(h.At("/people"), "eve@example.com Finance Active")

	h.App.Mails.Transport = &mail.SMTP{}
	in.Set("username", "may")
	in.Set("email", "may@example.com")
	if a := boss.Post(h.At("/people/invite"), in); a.Status != http.StatusSeeOther || shownLink.MatchString(a.Body) {
		t.Errorf("with mails the link is shown: %d", a.Status)
	}
	may := userOf(t, h, "may")
	again := h.At(fmt.Sprintf("/people/%d", may.ID))
	boss.Must(again, "Resend invitation")
	if a := boss.Post(again+"/invite", nil); a.Status != http.StatusSeeOther || len(linksIn(t, h)) != 2 {
		t.Errorf("again: %d", a.Status)
	}
	h.Advance(sessions.ProofLife)
	if a := boss.Get(h.At("/people/invite")); !strings.HasPrefix(a.To, "/dashboard/prove") {
		t.Errorf("an open browser invites without a password: %d", a.Status)
	}
}

// TestARoleIsChangedAndTakenAway: but not from the site's last administrator.
func TestARoleIsChangedAndTakenAway(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	boss := h.As(access.MemberAdmin)
	other := h.As(access.ReadOnly)
	at := h.At(fmt.Sprintf("/people/%d", userOf(t, h, "read_only").ID))
	own := h.At(fmt.Sprintf("/people/%d", userOf(t, h, "member_admin").ID))
	if a := boss.Post(at, url.Values{"role": {"finance"}}); a.To != h.At("/people") {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	boss.Must(h.At("/people"), "read_only now has the role Finance")
	boss.Must(at, "Finance", "Remove access")
	if a := boss.Post(at, url.Values{"role": {"operator"}}); a.Status != http.StatusBadRequest {
		t.Errorf("operator: %d", a.Status)
	}
	for name, a := range map[string]webtest.Answer{
		"a lesser role": boss.Post(own, url.Values{"role": {"finance"}}), "no role": boss.Post(own+"/remove", nil),
	} {
		if a.Status != http.StatusConflict || !strings.Contains(a.Text(), "the only person who can manage the site") {
			t.Errorf("%s for the last one: %d %s", name, a.Status, a.Text())
		}
	}
	boss.Must(at+"/remove", "API tokens", "Remove access")
	if a := boss.Post(at+"/remove", nil); a.To != h.At("/people") {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	if a := other.Get(h.At("")); a.Status != http.StatusForbidden {
		t.Errorf("they still come in: %d", a.Status)
	}
	if a := boss.Get(at); a.Status != http.StatusNotFound {
		t.Errorf("they are still shown: %d", a.Status)
	}
}

// TestOnlyWhoManagesPeopleChangesThem: others cannot, neither on pages nor with forged forms, and only on their own
// site.
func TestOnlyWhoManagesPeopleChangesThem(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	in := url.Values{"email": {"x@example.com"}, "username": {"x1"}, "role": {"member_admin"}}
	browsers := map[string]*webtest.Browser{"read_only": h.As(access.ReadOnly), "finance": h.As(access.Finance)}
	boss := h.As(access.MemberAdmin)
	id := userOf(t, h, "member_admin").ID
	people := func() int {
		t.Helper()
		list, err := h.App.Accounts.List(t.Context(), access.System(0), people.UserFilter{}, store.Page{Number: 1, Size: 50, Offset: -1})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Items)
	}
	before := people()
	for name, b := range browsers {
		for _, address := range []string{"/people", "/people/invite", fmt.Sprint("/people/", id), fmt.Sprint("/people/", id, "/remove")} {
			if a := b.Get(h.At(address)); a.Status != http.StatusForbidden {
				t.Errorf("%s sees %s: %d", name, address, a.Status)
			}
		}
		for _, address := range []string{"/people/invite", fmt.Sprint("/people/", id), fmt.Sprint("/people/", id, "/remove"), fmt.Sprint("/people/", id, "/invite")} {
			if a := b.Post(h.At(address), in); a.Status != http.StatusForbidden {
				t.Errorf("%s sends to %s: %d", name, address, a.Status)
			}
		}
	}
	for _, address := range []string{"/people", "/people/invite", fmt.Sprint("/people/", id)} {
		if a := boss.Get(address); a.Status != http.StatusNotFound {
			t.Errorf("a customer sees %s: %d", address, a.Status)
		}
	}
	for _, address := range []string{"/people/invite", fmt.Sprint("/people/", id, "/second-factor"), fmt.Sprint("/people/", id, "/invite")} {
		if a := boss.Post(address, in); a.Status != http.StatusNotFound {
			t.Errorf("a customer sends to %s: %d", address, a.Status)
		}
	}
	h.As(access.Operator)
	if a := boss.Get(h.At(fmt.Sprint("/people/", userOf(t, h, "operator").ID))); a.Status != http.StatusNotFound {
		t.Errorf("somebody who is not of the site is shown: %d", a.Status)
	}
	if n := people(); n != before+1 {
		t.Errorf("there are %d people, want %d", n, before+1)
	}
}

// TestThePeopleAreExportedAsShown as CSV and XLSX.
func TestThePeopleAreExportedAsShown(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	boss := h.As(access.MemberAdmin)
	h.As(access.Finance)
	want := [][]string{
		{"name", "username", "email", "role"}, {"member_admin", "member_admin", "member_admin@example.com", "member_admin"},
		{"finance", "finance", "finance@example.com", "finance"},
	}
	columns := "&col=name&col=username&col=email&col=role"
	got, err := csv.NewReader(strings.NewReader(boss.Must(h.At("/people?format=csv" + columns)).Body)).ReadAll()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the CSV is %q, %v", got, err)
	}
	file, err := excelize.OpenReader(bytes.NewReader([]byte(boss.Must(h.At("/people?format=xlsx" + columns)).Body)))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := file.GetRows("Sheet1")
	if err != nil || len(rows) != 3 || rows[2][2] != "finance@example.com" {
		t.Errorf("the XLSX is %q, %v", rows, err)
	}
}

// TestTheOperatorSeesEverybody: finds people, invites operators, and resets lost second factors.
func TestTheOperatorSeesEverybody(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	h.As(access.Finance)
	op := h.As(access.Operator)
	op.Must("/people", "finance demo finance finance@example.com Finance", "operator@example.com Operator")
	if a := op.Must("/people?q=FINANCE@"); strings.Contains(a.Text(), "operator@example.com") {
		t.Error("the search finds others")
	}
	wrong := op.Post("/people/invite", url.Values{"username": {"finance"}, "email": {"finance@example.com"}})
	if wrong.Status != http.StatusBadRequest || !strings.Contains(wrong.Text(), "This user name is already taken") {
		t.Errorf("%d %s", wrong.Status, wrong.Text())
	}
	shown := op.Post("/people/invite", url.Values{"username": {"second"}, "email": {"second@example.com"}})
	link := shownLink.FindString(shown.Body)
	if link == "" {
		t.Fatal(shown.Text())
	}
	made := userOf(t, h, "second")
	again := op.Post(fmt.Sprintf("/people/%d/invite", made.ID), nil)
	newer := shownLink.FindString(again.Body)
	second := h.Browser()
	second.Get(link)
	if a := second.Get("/password"); a.Status != http.StatusNotFound {
		t.Errorf("the older link still works: %d", a.Status)
	}
	second.Get(newer)
	second.Post("/password", url.Values{"password": {newPassword}, "again": {newPassword}})
	second.SignIn("second", newPassword)
	second.Must("/people")

	user := userOf(t, h, "finance")
	code := withSecondFactor(t, h, user)
	page := fmt.Sprintf("/people/%d", user.ID)
	op.Must(page, "Remove second factor", "demo Finance")
	op.Must(page+"/second-factor", "lost both the second factor and the recovery codes")
	if a := op.Post(page+"/second-factor", nil); a.To != "/dashboard"+page {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	if code == "" || !userOf(t, h, "finance").TwoFactorConfirmedAt.IsZero() {
		t.Error("it is still there")
	}
}
