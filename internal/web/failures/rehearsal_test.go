package failures_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/domain/access"
)

// TestARehearsalInTheDashboard: a merchant fails, a day passes, and the rehearsal is continued to the end.
func TestARehearsalInTheDashboard(t *testing.T) {
	t.Parallel()
	f := begin(t)
	b := f.As(access.Operator)
	path, channel := f.At("/insolvencies/rehearsal"), fmt.Sprint(f.channel.ID)
	merchantPage := f.At("/exposure/merchants/" + channel)
	if a := b.Must(merchantPage, "Rehearse a failure"); !strings.Contains(a.Body, path+"?channels="+channel) {
		t.Error("the button does not name the merchant")
	}
	b.Must(path+"?channels="+channel, "travellers dispute up to 30 payments", "To the end")
	for _, wrong := range []url.Values{{"days": {"1"}}, {"channels": {channel}, "days": {"soon"}}, {"channels": {channel}, "days": {"-1"}}} {
		if a := b.Post(path, wrong); a.Status != http.StatusBadRequest {
			t.Errorf("%v: %d %s", wrong, a.Status, a.Text())
		}
	}
	one := f.sent(b, path, url.Values{"channels": {channel}, "days": {"1"}})
	b.Must(one, "Day 1 of 20 rehearsed", "Rehearsal Day 1 of 20", "Continue rehearsal", "Rehearsal: the merchant has not failed", "Affected payments")
	if again := f.sent(b, path, url.Values{"channels": {channel}, "days": {"0"}}); again != one {
		t.Errorf("it continues %s, not %s", again, one)
	}
	if a := b.Must(one, "Day 20 of 20 rehearsed", "Closed", "Reinstate merchant"); strings.Contains(a.Text(), "Continue rehearsal") {
		t.Error("a rehearsal that has ended can be continued")
	}
	if a := b.Post(path, url.Values{"channels": {channel}, "days": {"0"}}); a.Status != http.StatusConflict || !strings.Contains(a.Text(), "Reinstate it first") {
		t.Errorf("rehearsed again: %d %s", a.Status, a.Text())
	}
	if a := f.As(access.MemberAdmin).Get(path); a.Status != http.StatusForbidden {
		t.Errorf("an admin, who does not move the clock: %d", a.Status)
	}
}
