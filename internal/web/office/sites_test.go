package office_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/testkit/webtest"
)

// TestASiteIsMade only by an operator; problems are shown next to their fields.
func TestASiteIsMade(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	in := url.Values{
		"name": {"Nordic Air"}, "path": {"nordic"}, "currency": {"eur"}, "issuer_name": {"Holdfast Ltd"}, "issuer_address": {"1 Road\r\nLondon"},
		"policyholder_name": {"Nordic Air AB"},
	}
	for _, role := range []access.Role{access.ReadOnly, access.Finance, access.MemberAdmin} {
		b := h.As(role)
		if a := b.Post("/new-site", in); a.Status != http.StatusNotFound {
			t.Errorf("%s makes a site: %d", role, a.Status)
		}
		if a := b.Get("/sites"); a.Status != http.StatusNotFound {
			t.Errorf("%s sees all sites: %d", role, a.Status)
		}
	}
	b := h.As(access.Operator)
	b.Must("/new-site", "New site", "Policyholder")
	wrong := b.Post("/new-site", url.Values{"name": {""}, "path": {"Demo Site"}, "currency": {"XXQ"}})
	for _, want := range []string{"This field cannot be empty.", "Must be 2 to 40 lowercase letters", "Enter a currency, such as EUR"} {
		if wrong.Status != http.StatusBadRequest || !strings.Contains(wrong.Text(), want) {
			t.Errorf("%d, and it does not say %q: %s", wrong.Status, want, wrong.Text())
		}
	}
	if a := b.Post("/new-site", in); a.Status != http.StatusSeeOther || a.To != "/dashboard/sites/nordic" {
		t.Fatalf("%d to %q: %s", a.Status, a.To, a.Text())
	}
	made, err := h.App.Sites.At(t.Context(), access.System(0), "nordic")
	if err != nil || made.Sandbox || made.Issuer.Address != "1 Road\nLondon" || made.Policyholder.Name != "Nordic Air AB" || made.Policy.Currency != "EUR" {
		t.Errorf("%+v, %v", made, err)
	}
	if a := b.Post("/new-site", in); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "This path is already taken") {
		t.Errorf("the same path again: %d", a.Status)
	}
}

// TestSitesAreFound by a part of the name or the path, and exported as shown.
func TestSitesAreFound(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.Operator)
	for path, name := range map[string]string{"alpha": "Alpha 100%", "beta-2": "Beta Tours"} {
		if a := b.Post("/new-site", url.Values{"name": {name}, "path": {path}, "currency": {"GBP"}, "sandbox": {"1"}}); a.Status != http.StatusSeeOther {
			t.Fatal(a.Text())
		}
	}
	for q, want := range map[string]string{"TOUR": "beta-2", "alp": "alpha", "0%": "alpha", "-2": "beta-2", "%": "alpha"} {
		rows, err := csv.NewReader(strings.NewReader(b.Must("/sites?format=csv&q=" + url.QueryEscape(q)).Body)).ReadAll()
		if err != nil || len(rows) != 2 || rows[1][1] != want || rows[1][2] != "sandbox" || rows[1][3] != "GBP" || rows[1][4] != "1" {
			t.Errorf("%s finds %v, %v", q, rows, err)
		}
	}
	b.Must("/sites?q=nothing", "No matching sites")
	b.Must("/sites", "Alpha 100%", "Beta Tours", "Demo")
}

// TestASiteIsMadeWithItsFirstAdmin, who signs in with the link that the operator sees once.
func TestASiteIsMadeWithItsFirstAdmin(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.Operator)
	in := url.Values{"name": {"Nordic Air"}, "path": {"nordic"}, "currency": {"EUR"}, "username": {"N"}, "email": {"x"}}
	wrong := b.Post("/new-site", in)
	if _, err := h.App.Sites.At(t.Context(), access.System(0), "nordic"); err == nil || wrong.Status != http.StatusBadRequest {
		t.Fatalf("with a wrong admin: %d, and the site is there: %v", wrong.Status, err == nil)
	}
	in.Set("username", "nora")
	in.Set("email", "nora@example.com")
	made := b.Post("/new-site", in)
	if made.Status != http.StatusOK || !strings.Contains(made.Text(), "send this link to nora@example.com yourself") {
		t.Fatalf("%d %s", made.Status, made.Text())
	}
	_, link, _ := strings.Cut(made.Body, `id="link">`)
	link, _, _ = strings.Cut(link, "<")
	nora := h.Browser()
	if a := nora.Get(strings.TrimPrefix(link, webtest.Base)); a.Status != http.StatusSeeOther {
		t.Fatalf("%q leads to %d %s", link, a.Status, a.Text())
	}
	if a := nora.Post("/password", url.Values{"password": {webtest.Password}, "again": {webtest.Password}}); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	nora.SignIn("nora", webtest.Password)
	nora.Must("/sites/nordic/settings", "Nordic Air")
	if a := nora.Get(h.At("/settings")); a.Status == http.StatusOK {
		t.Error("she sees another site, too")
	}
}
