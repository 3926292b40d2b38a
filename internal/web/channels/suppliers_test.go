package channels_test

import (
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/store"
	"holdfast/internal/testkit/webtest"
	"holdfast/internal/web/kit"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestSuppliersByTheirPages: operators manage them, everyone reads them.
func TestSuppliersByTheirPages(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.Operator)
	list := h.At("/suppliers")
	b.Must(list, "No suppliers found", "New supplier")
	if a := b.Post(list, url.Values{"name": {""}, "url": {"x"}, "country": {"XX"}}); a.Status != http.StatusBadRequest || strings.Count(a.Body, `class="problem"`) != 3 {
		t.Errorf("a wrong form: %d\n%s", a.Status, a.Text())
	}
	b.Post(list, url.Values{"name": {"Blue Air"}, "category": {"air"}, "country": {"ES"}})
	b.Must(list, "Supplier Blue Air created.", "air", "ES")
	found, err := h.App.Suppliers.List(t.Context(), h.Actor, merchants.SupplierFilter{}, store.Page{Number: 1, Size: 5, Offset: -1, OrderBy: "id"})
	if err != nil || len(found.Items) != 1 {
		t.Fatal(err)
	}
	one := list + "/" + kit.Ident(found.Items[0].ID).Plain
	if a := b.Post(one, url.Values{"name": {"Red Air"}, "version": {"99"}}); a.Status == http.StatusSeeOther {
		t.Error("it saves over what somebody else has saved")
	}
	b.Post(one, url.Values{"name": {"Red Air"}, "url": {"https://red.example"}})
	b.Must(list+"?name=red", "Red Air", "https://red.example")
	admin := h.As(access.MemberAdmin)
	if a := admin.Must(one, "https://red.example"); strings.Contains(a.Text(), "Save") || strings.Contains(a.Text(), "Delete") {
		t.Error("a customer is offered to change it")
	}
	for _, path := range []string{list, one, one + "/delete"} {
		if a := admin.Post(path, url.Values{"name": {"Mine"}}); a.Status != http.StatusForbidden {
			t.Errorf("%s answers a customer %d", path, a.Status)
		}
	}
	b.Must(one+"/delete", "Delete the supplier Red Air?")
	b.Post(one+"/delete", nil)
	b.Must(list, "Supplier Red Air deleted.", "No suppliers found")
}
