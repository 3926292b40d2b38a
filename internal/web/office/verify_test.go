package office_test

import (
	"net/http"
	"strings"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/testkit/webtest"
)

// TestTheBookIsCheckedFromAPage, by operators only.
func TestTheBookIsCheckedFromAPage(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b, others := h.As(access.Operator), h.As(access.MemberAdmin)
	b.Must("/system", "Check the book")
	b.Must("/verify", "No checks yet")
	a := b.Post("/verify", nil)
	if a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	if page := b.Must(a.To, "Asked", "You can leave this page"); !strings.Contains(page.Body, "data-refresh") {
		t.Error("the page shows no progress")
	}
	if again := b.Post("/verify", nil); again.Status == http.StatusSeeOther || !strings.Contains(again.Text(), "already running") {
		t.Errorf("%d %s", again.Status, again.Text())
	}
	if _, err := h.App.Verify.Work(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Must(a.To, "No problems found", "Checks", "booking sums")
	b.Must("/verify", "No problems found")
	if gone := b.Post(a.To+"/stop", nil); gone.Status != http.StatusConflict {
		t.Errorf("%d", gone.Status)
	}
	if other := others.Post("/verify", nil); other.Status != http.StatusNotFound {
		t.Errorf("others check it: %d", other.Status)
	}
}
