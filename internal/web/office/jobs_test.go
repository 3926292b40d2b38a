package office_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/testkit/webtest"
)

// TestJobsAreShownAndTriedAgain: failed jobs come first, and an operator can retry them immediately.
func TestJobsAreShownAndTriedAgain(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	work, ctx := h.App.Work, t.Context()
	run := func(name string, after time.Duration, failure error) {
		t.Helper()
		l, ok, err := work.Claim(ctx, name, time.Minute)
		if err != nil || !ok {
			t.Fatalf("%s is not due: %v", name, err)
		}
		if err := work.Finish(ctx, l, after, failure); err != nil {
			t.Fatal(err)
		}
	}
	run("fold-exposure", time.Hour, nil)
	run("send-mails", time.Hour, errors.New("the server is away"))
	if _, ok, err := work.Claim(ctx, "seal-facts", time.Minute); !ok || err != nil {
		t.Fatal(err)
	}
	b := h.As(access.Operator)
	b.Must("/jobs", "Failing jobs", "send-mails", "the server is away", "fold-exposure Good", "seal-facts Running")
	for name, want := range map[string]int{"send-mails": http.StatusSeeOther, "seal-facts": http.StatusConflict, "nothing": http.StatusNotFound} {
		if a := b.Post("/jobs/"+name+"/run", nil); a.Status != want {
			t.Errorf("%s: %d, want %d", name, a.Status, want)
		}
	}
	run("send-mails", time.Hour, nil)
	b.Must("/jobs", "All jobs are healthy")
	if _, ok, _ := work.Claim(ctx, "fold-exposure", time.Minute); ok {
		t.Error("another job was made due, too")
	}
	for _, role := range []access.Role{access.ReadOnly, access.Finance, access.MemberAdmin} {
		other := h.As(role)
		if other.Get("/jobs").Status != http.StatusNotFound || other.Get("/system").Status != http.StatusNotFound ||
			other.Post("/jobs/fold-exposure/run", nil).Status != http.StatusNotFound {
			t.Errorf("%s works on jobs", role)
		}
	}
}

// TestTheStateOfTheSystem is on one page.
func TestTheStateOfTheSystem(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	h.MoveClock(h.Now().Add(49 * time.Hour))
	h.As(access.Operator).Must("/system", "SQLite", "MB", "Protection only", "None on file", "Mails to send 0", "Write retries 0", "Demo 5 Jun 2024 10:00 2 days")
}
