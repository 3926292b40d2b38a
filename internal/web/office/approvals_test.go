package office_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/account/people"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/webtest"
)

// elsewhere creates a site that is not a sandbox, and two operators: ada, who is signed in to the first browser, and
// bob.
func elsewhere(t *testing.T, h *webtest.House) (site merchant.Site, ada, bob *webtest.Browser, adaActor access.Actor) {
	t.Helper()
	path, name, currency := "real", "Real Travel", money.Currency("GBP")
	site, err := h.App.Sites.Create(t.Context(), access.System(0), merchant.SiteFields{Path: &path, Name: &name, Currency: &currency})
	if err != nil {
		t.Fatal(err)
	}
	browsers := []*webtest.Browser{h.Browser(), h.Browser()}
	for i, user := range []string{"ada", "bob"} {
		made, err := h.App.Accounts.CreateUser(t.Context(), access.System(0),
			people.UserFields{Username: user, Email: user + "@example.com", Password: webtest.Password}, access.Operator, false)
		if err != nil {
			t.Fatal(err)
		}
		if browsers[i].SignIn(user, webtest.Password); user == "ada" {
			adaActor, _ = made.ActorAt(people.Membership{})
			adaActor.SiteID = site.ID
		}
	}
	return site, browsers[0], browsers[1], adaActor
}

// ask proposes a policy with this many days for late payments, and returns the URL of the proposal.
func ask(t *testing.T, h *webtest.House, actor access.Actor, days int64) string {
	t.Helper()
	from := terms.DefaultPolicy("GBP").FromDay
	from += 19_000
	made, err := h.App.Policies.Set(t.Context(), actor, terms.PolicyFields{From: &from, LateLogDays: &days, Reason: "They asked for it"})
	if err != nil || made.Proposal == nil {
		t.Fatalf("%+v, %v", made, err)
	}
	return "/sites/real/approvals/" + string(rune('0'+made.Proposal.ID))
}

// TestTheInboxHasWhatWaits: from all sites, and only for operators; proposers cannot approve.
func TestTheInboxHasWhatWaits(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	site, ada, bob, actor := elsewhere(t, h)
	bob.Must("/approvals", "Nothing to approve")
	at := ask(t, h, actor, 5)
	if body := bob.Must("/approvals", "Policy from", "Real Travel", "ada", "They asked for it").Body; !strings.Contains(body, at) {
		t.Errorf("there is no link to %s", at)
	}
	ada.Must("/approvals", "You")
	own := ada.Must(at, "You requested this yourself", "Late log days", "3", "5")
	if strings.Contains(own.Body, at+"/approve") {
		t.Error("who asked sees a button to approve")
	}
	if a := ada.Post(at+"/approve", nil); a.Status != http.StatusConflict || !strings.Contains(a.Text(), "Another operator must approve") {
		t.Errorf("who asked approves: %d %s", a.Status, a.Text())
	}
	if a := bob.Post(at+"/reject", nil); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "Give a reason") {
		t.Errorf("rejected without a reason: %d", a.Status)
	}
	if a := bob.Post(at+"/withdraw", nil); a.Status != http.StatusConflict {
		t.Errorf("somebody else withdraws: %d", a.Status)
	}
	if a := bob.Post(at+"/approve", url.Values{"reason": {"It is right"}}); a.Status != http.StatusSeeOther {
		t.Fatalf("approving: %d %s", a.Status, a.Text())
	}
	if text := bob.Must(at, "Approved", "bob", "It is right", "Changes made").Text(); strings.Contains(text, "Your decision") {
		t.Error("what is decided can be decided again")
	}
	found, err := h.App.Policies.On(t.Context(), merchants.SystemAt(site), nil)
	if err != nil || found.LateLogDays != 5 {
		t.Errorf("%+v, %v", found, err)
	}
	bob.Must("/approvals", "Nothing to approve")
	bob.Must("/sites/real/approvals?state=approved", "Policy from", "ada", "bob")
}

// TestAProposalIsRejectedOrWithdrawn, and nothing has changed.
func TestAProposalIsRejectedOrWithdrawn(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	site, ada, bob, actor := elsewhere(t, h)
	for verb, b := range map[string]*webtest.Browser{"reject": bob, "withdraw": ada} {
		at := ask(t, h, actor, 5)
		if a := b.Post(at+"/"+verb, url.Values{"reason": {"No"}}); a.Status != http.StatusSeeOther {
			t.Errorf("%s: %d %s", verb, a.Status, a.Text())
		}
		bob.Must(at, "Changes proposed")
		if a := bob.Post(at+"/approve", nil); a.Status != http.StatusConflict {
			t.Errorf("approved after %s: %d", verb, a.Status)
		}
	}
	if found, err := h.App.Policies.On(t.Context(), merchants.SystemAt(site), nil); err != nil || found.LateLogDays != 3 {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestOthersSeeNoInbox: neither can they decide with a forged form.
func TestOthersSeeNoInbox(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	from, days := terms.DefaultPolicy("GBP").FromDay+19_000, int64(9)
	_, err := h.App.Policies.Set(t.Context(), h.Actor, terms.PolicyFields{From: &from, LateLogDays: &days})
	if err != nil {
		t.Fatal(err)
	}

	for role, status := range map[access.Role]int{access.ReadOnly: 200, access.Finance: 200, access.MemberAdmin: 200} {
		b := h.As(role)
		if a := b.Get("/approvals"); a.Status != http.StatusNotFound {
			t.Errorf("%s sees the inbox: %d", role, a.Status)
		}
		if a := b.Get(h.At("/approvals/1")); a.Status != status {
			t.Errorf("%s sees a proposal: %d, want %d", role, a.Status, status)
		}
		for _, verb := range []string{"approve", "reject", "withdraw"} {
			if a := b.Post(h.At("/approvals/1/"+verb), url.Values{"reason": {"x"}}); a.Status != http.StatusForbidden {
				t.Errorf("%s may %s: %d", role, verb, a.Status)
			}
		}
	}
	_, err = h.App.Approvals.Inbox(t.Context(), access.Actor{SiteID: 1, UserID: 1, Role: access.Operator, TokenID: 3}, store.Page{Number: 1, Size: 5, Offset: -1})
	if !errs.Is(err, errs.Forbidden) {
		t.Errorf("a token reads the inbox: %v", err)
	}
}

// TestWhoApprovesCoverSeesTheMerchant: its name, and a link to its request. A deleted channel has neither.
func TestWhoApprovesCoverSeesTheMerchant(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	_, _, bob, actor := elsewhere(t, h)
	made, err := h.App.Channels.Create(t.Context(), actor, merchant.ChannelFields{
		Name: new("Island Ferries"), Currency: new(money.Currency("GBP")), Mode: new(merchant.ModeDraft),
	})
	if err != nil {
		t.Fatal(err)
	}
	changed, err := h.App.Channels.Change(t.Context(), actor, made.ID, merchant.ChannelFields{Mode: new(merchant.ModeProtectionOnly)})
	if err != nil || changed.Proposal == nil {
		t.Fatalf("%+v, %v", changed, err)
	}
	at, way := fmt.Sprintf("/sites/real/approvals/%d", changed.Proposal.ID), fmt.Sprintf("/channels/%d/protection", made.ID)
	if body := bob.Must(at, "Island Ferries").Body; !strings.Contains(body, way) {
		t.Errorf("nothing leads to %s", way)
	}
	if err := h.App.Channels.Delete(t.Context(), actor, made.ID, 0); err != nil {
		t.Fatal(err)
	}
	if body := bob.Must(at, "Protection of channel").Body; strings.Contains(body, way) {
		t.Error("it leads to a channel that is gone")
	}
}
