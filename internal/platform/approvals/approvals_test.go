package approvals_test

import (
	"encoding/json"
	"strings"
	"testing"

	"holdfast/internal/account/tokens"
	"holdfast/internal/app"
	"holdfast/internal/book/imports"
	"holdfast/internal/book/rates"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/ops/verify"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// operators are two people who may approve each other's proposals on the house's site, which is not a sandbox.
func operators(t *testing.T, h *apptest.House) (ada, bob access.Actor) {
	t.Helper()
	for i, actor := range []*access.Actor{&ada, &bob} {
		*actor = apptest.ActorOf(h.User(t, []string{"ada", "bob"}[i], access.Operator), access.Operator)
		actor.SiteID = 1
	}
	return ada, bob
}

// audited lists the site's audit log, oldest first, as action and whether one person acted alone.
func audited(t *testing.T, a *app.App, actor access.Actor) (actions []string, records []audit.Entry) {
	t.Helper()
	list, err := a.Audit.List(t.Context(), actor, audit.Filter{}, store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list.Items {
		actions = append(actions, r.Action)
	}
	return actions, list.Items
}

func draft(t *testing.T, h *apptest.House, actor access.Actor) merchant.Channel {
	t.Helper()
	name, currency, mode := "Shop", money.Currency("EUR"), merchant.ModeDraft
	made, err := h.Channels.Create(t.Context(), actor, merchant.ChannelFields{Name: &name, Currency: &currency, Mode: &mode})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// The attack: one person proposed as the program, and approved as an operator.
func TestNobodyProposesWithoutAName(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		ada, bob := operators(t, h)
		shop := draft(t, h, ada)
		mode := merchant.ModeProtectionOnly
		open := merchant.ChannelFields{Mode: &mode}
		_, err := h.Channels.Change(ctx, access.System(1), shop.ID, open)
		apptest.WantReason(t, err, "proposer_unnamed", "proposed by the program")
		asked, err := h.Channels.Change(ctx, ada, shop.ID, open)
		apptest.WantKind(t, err, errs.Internal, "proposed by ada")
		// A database of an earlier version may still have a proposal of the program.
		dbtest.Write(t, h.DB, func(tx *store.Tx) error {
			_, err := tx.Exec(`UPDATE proposals SET proposed_by_id = 0, proposed_by = 'holdfast' WHERE id = $1`, asked.Proposal.ID)
			return err
		})
		_, err = h.Approvals.Approve(ctx, bob, asked.Proposal.ID, "")
		apptest.WantReason(t, err, "proposer_unnamed", "approved by whoever may have proposed it")
		_, err = h.Approvals.Reject(ctx, bob, asked.Proposal.ID, "")
		apptest.WantKind(t, err, errs.Internal, "rejected")
	})
}

func TestCoverOpensWhenAnotherOperatorApproves(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		ada, bob := operators(t, h)
		shop := draft(t, h, ada)
		mode := merchant.ModeProtectionOnly
		asked, err := h.Channels.Change(ctx, ada, shop.ID, merchant.ChannelFields{Mode: &mode, Reason: "The contract is signed."})
		if err != nil || asked.Proposal == nil || asked.Mode != merchant.ModeDraft {
			t.Fatalf("%+v, %v", asked, err)
		}
		p := *asked.Proposal
		if p.State != proposal.Open || p.Kind != proposal.OpenCover || p.ProposedBy != "ada" || p.Reason == "" {
			t.Errorf("%+v", p)
		}
		for _, c := range []struct {
			who    access.Actor
			reason string
		}{{ada, "same_person"}, {access.System(1), "approver_unnamed"}} {
			_, err := h.Approvals.Approve(ctx, c.who, p.ID, "")
			apptest.WantReason(t, err, c.reason, "approved by "+c.who.Username)
		}
		_, err = h.Approvals.Withdraw(ctx, bob, p.ID, "")
		apptest.WantReason(t, err, "not_the_proposer", "withdrawn by another")
		admin := bob
		admin.Role = access.MemberAdmin
		_, err = h.Approvals.Approve(ctx, admin, p.ID, "")
		apptest.WantKind(t, err, errs.Forbidden, "approved by a customer")
		// Nothing has changed, including the version: callers that read the channel before can still change it.
		now, err := h.Channels.Get(ctx, ada, shop.ID)
		if err != nil || now.Mode != merchant.ModeDraft || now.Version != shop.Version || asked.Version != shop.Version {
			t.Fatalf("before approval: %s, version %d, %v", now.Mode, now.Version, err)
		}
		label := "Shop & Co"
		now, err = h.Channels.Change(ctx, ada, shop.ID, merchant.ChannelFields{ReceiptLabel: &label, IfVersion: shop.Version})
		if err != nil || now.Version != shop.Version+1 {
			t.Fatalf("changed under the version before: version %d, %v", now.Version, err)
		}
		done, err := h.Approvals.Approve(ctx, bob, p.ID, "Seen.")
		if err != nil || done.State != proposal.Approved || done.Alone || done.DecidedBy != "bob" {
			t.Fatalf("%+v, %v", done, err)
		}
		if now, err := h.Channels.Get(ctx, ada, shop.ID); err != nil || now.Mode != mode {
			t.Errorf("after approval: %s, %v", now.Mode, err)
		}
		_, err = h.Approvals.Approve(ctx, bob, p.ID, "")
		apptest.WantReason(t, err, "proposal_closed", "approved twice")
		_, err = h.Approvals.Approve(ctx, bob, 99, "")
		apptest.WantKind(t, err, errs.SettingNotFound, "a proposal that is not there")
		actions, records := audited(t, h.App, ada)
		if got := strings.Join(actions, " "); !strings.HasSuffix(got, "channel.create proposal.request channel.change channel.change proposal.approve") {
			t.Errorf("the audit has %s", got)
		}
		if last := records[len(records)-1]; last.Username != "bob" || !strings.Contains(last.After, `"proposed_by":"ada"`) {
			t.Errorf("%+v", last)
		}
	})
}

func TestALockedChannelIsUnlockedByTwoPeople(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		ada, bob := operators(t, h)
		shop := draft(t, h, ada)
		mode, locked, open := merchant.ModeProtectionOnly, true, false
		asked, err := h.Channels.Change(ctx, ada, shop.ID, merchant.ChannelFields{Mode: &mode})
		if err != nil || asked.Proposal == nil {
			t.Fatalf("%+v, %v", asked, err)
		}
		if _, err := h.Approvals.Approve(ctx, bob, asked.Proposal.ID, ""); err != nil {
			t.Fatal(err)
		}
		if now, err := h.Channels.Change(ctx, ada, shop.ID, merchant.ChannelFields{Locked: &locked}); err != nil || now.Proposal != nil || !now.Locked {
			t.Fatalf("locked by one person: %+v, %v", now, err)
		}
		asked, err = h.Channels.Change(ctx, ada, shop.ID, merchant.ChannelFields{Locked: &open})
		if err != nil || asked.Proposal == nil || asked.Proposal.Kind != proposal.OpenCover || !asked.Locked {
			t.Fatalf("unlocked by one person: %+v, %v", asked, err)
		}
		if _, err := h.Approvals.Approve(ctx, bob, asked.Proposal.ID, ""); err != nil {
			t.Fatal(err)
		}
		if now, err := h.Channels.Get(ctx, ada, shop.ID); err != nil || now.Locked {
			t.Errorf("after approval: %+v, %v", now, err)
		}
	})
}

func TestAnApprovalJudgesAnew(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		ada, bob := operators(t, h)
		shop := draft(t, h, ada)
		open, closed := merchant.ModeProtectionOnly, merchant.ModeClosed
		asked, err := h.Channels.Change(ctx, ada, shop.ID, merchant.ChannelFields{Mode: &open})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Channels.Delete(ctx, ada, shop.ID, 0); err != nil {
			t.Fatal(err)
		}
		_, err = h.Approvals.Approve(ctx, bob, asked.Proposal.ID, "")
		apptest.WantKind(t, err, errs.SettingNotFound, "opening cover on what is gone")
		got, err := h.Approvals.Reject(ctx, bob, asked.Proposal.ID, "It is gone.")
		if err != nil || got.State != proposal.Rejected || got.DecisionReason != "It is gone." || got.Result != "" {
			t.Errorf("%+v, %v", got, err)
		}
		shop = draft(t, h, ada)
		if asked, err = h.Channels.Change(ctx, ada, shop.ID, merchant.ChannelFields{Mode: &open}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Approvals.Withdraw(ctx, ada, asked.Proposal.ID, ""); err != nil {
			t.Fatal(err)
		}
		if changed, err := h.Channels.Change(ctx, ada, shop.ID, merchant.ChannelFields{Mode: &closed}); err != nil || changed.Proposal != nil {
			t.Errorf("closing needs nobody else: %+v, %v", changed.Proposal, err)
		}
	})
}

func TestANewProtectedChannelIsAProposalAtFirst(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		ada, bob := operators(t, h)
		name, currency, mode := "Shop", money.Currency("EUR"), merchant.ModeProtectionOnly
		asked, err := h.Channels.Create(ctx, ada, merchant.ChannelFields{Name: &name, Currency: &currency, Mode: &mode})
		if err != nil || asked.ID != 0 || asked.Proposal == nil {
			t.Fatalf("%+v, %v", asked, err)
		}
		if strings.Contains(asked.Proposal.Payload, "secret") {
			t.Errorf("the payload is %s", asked.Proposal.Payload)
		}
		done, err := h.Approvals.Approve(ctx, bob, asked.Proposal.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		var result struct {
			ChannelID int64 `json:"channel_id"`
		}
		if err := json.Unmarshal([]byte(done.Result), &result); err != nil {
			t.Fatal(err)
		}
		made, err := h.Channels.Get(ctx, ada, result.ChannelID)
		if err != nil || made.Name != name || made.Mode != mode || made.SealedSecret == "" {
			t.Errorf("%+v, %v", made, err)
		}
	})
}

func TestInASandboxOnePersonIsEnough(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		made := w.Channel(merchant.ModeProtectionOnly, "EUR")
		if made.ID == 0 || made.Proposal != nil {
			t.Fatalf("%+v", made)
		}
		actions, records := audited(t, w.App, w.Actor)
		if got := strings.Join(actions, " "); got != "channel.create proposal.request proposal.approve" {
			t.Errorf("the audit has %s", got)
		}
		if last := records[len(records)-1]; !strings.Contains(last.After, `"alone":true`) {
			t.Errorf("%s", last.After)
		}
		report, err := w.App.Verify.Run(t.Context(), w.Actor, verify.Query{Sites: []merchant.Site{w.Site}})
		if err != nil || report.Total != 0 || report.Heads[1].Count != 3 {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

func quoteOf(currency money.Currency, day civil.Day, rate, id string) rates.QuoteFields {
	return rates.QuoteFields{Currency: &currency, Day: &day, Rate: &rate, QuoteID: &id}
}

func TestAManualQuoteCountsForItsSiteAlone(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		pay := func() {
			w.Must(apptest.Report(payment.Purchase, w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 10000, "2024-09-14"), 10000))
		}
		here := w.Actor
		pay()
		w.Actor = w.OtherSandbox()
		pay()
		there := w.Actor
		quote := quoteOf("GBP", civil.DayOf(apptest.Began)-3, "0.85", "desk-1")
		p, err := w.App.Rates.Quote(t.Context(), here, quote)
		if err != nil || p.State != proposal.Approved || !p.Alone {
			t.Fatalf("%+v, %v", p, err)
		}
		if _, err := w.App.Rates.PricePending(t.Context()); err != nil {
			t.Fatal(err)
		}
		for actor, want := range map[access.Actor]int{here: 0, there: 1} {
			w.Actor = actor
			if got := w.Exposure(report.ExposureQuery{}); len(got.PendingRate) != want {
				t.Errorf("site %d: %d pending, want %d", actor.SiteID, len(got.PendingRate), want)
			}
		}
		_, err = w.App.Rates.Quote(t.Context(), here, quote)
		apptest.WantReason(t, err, "quote_exists", "the same quote again")
		_, err = w.App.Rates.Quote(t.Context(), there, quoteOf("EUR", civil.DayOf(apptest.Began)+1, "-1", ""))
		apptest.WantKind(t, err, errs.Invalid, "a quote that is none")
		_, err = w.App.Rates.Quote(t.Context(), there, rates.QuoteFields{})
		apptest.WantKind(t, err, errs.Missing, "an empty quote")
	})
}

func TestAQuoteWaitsForItsApproval(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ada, bob := operators(t, h)
		p, err := h.Rates.Quote(t.Context(), ada, quoteOf("USD", civil.DayOf(h.Now.Read())-1, "1.10", "desk-1"))
		if err != nil || p.State != proposal.Open {
			t.Fatalf("%+v, %v", p, err)
		}
		if done, err := h.Approvals.Approve(t.Context(), bob, p.ID, ""); err != nil || !strings.Contains(done.Result, `"1.1`) {
			t.Errorf("%+v, %v", done, err)
		}
	})
}

func TestATakenOverBookNeedsAnotherOperator(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		ada, bob := operators(t, h)
		none := func(func(imports.ImportedPayment, error) bool) {}
		opts := imports.ImportOptions{CoverFromEffective: true}
		_, err := h.Imports.Payments(ctx, ada, none, opts)
		apptest.WantKind(t, err, errs.Invalid, "a book without a hash")
		opts.SHA256 = strings.Repeat("ab", 32)
		first, err := h.Imports.Payments(ctx, ada, none, opts)
		if err != nil || first.Proposal == nil || first.Proposal.Kind != proposal.Takeover {
			t.Fatalf("%+v, %v", first.Proposal, err)
		}
		again, err := h.Imports.Payments(ctx, ada, none, opts)
		if err != nil || again.Proposal == nil || again.Proposal.ID != first.Proposal.ID {
			t.Errorf("asked twice: %+v, %v", again.Proposal, err)
		}
		if _, err := h.Approvals.Approve(ctx, bob, first.Proposal.ID, ""); err != nil {
			t.Fatal(err)
		}
		if taken, err := h.Imports.Payments(ctx, ada, none, opts); err != nil || taken.Proposal != nil {
			t.Errorf("approved: %+v, %v", taken.Proposal, err)
		}
		opts.Mode = merchant.ModeProtectionOnly
		if other, err := h.Imports.Payments(ctx, ada, none, opts); err != nil || other.Proposal == nil {
			t.Errorf("what was not approved: %+v, %v", other.Proposal, err)
		}
		opts.CoverFromEffective = false
		if other, err := h.Imports.Payments(ctx, ada, none, opts); err != nil || other.Proposal == nil || other.Proposal.Kind != proposal.OpenCover {
			t.Errorf("channels of a file: %+v, %v", other.Proposal, err)
		}
		opts.DryRun = true
		if dry, err := h.Imports.Payments(ctx, ada, none, opts); err != nil || dry.Proposal != nil {
			t.Errorf("a dry run needs nobody: %+v, %v", dry.Proposal, err)
		}
	})
}

func TestTheAuditKnowsNoSecrets(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		admin := h.User(t, "admin", access.MemberAdmin)
		actor := apptest.ActorOf(admin, access.MemberAdmin)
		actor.RequestID, actor.Address = "req-1", "192.0.2.7"
		name := "Server"
		_, text, err := h.Tokens.Create(ctx, actor, tokens.TokenFields{Name: &name})
		if err != nil {
			t.Fatal(err)
		}
		shop := draft(t, h, actor)
		if err := h.Accounts.SetPassword(ctx, actor, admin.ID, "another good password", false); err != nil {
			t.Fatal(err)
		}
		ofShop, err := h.Channels.Secret(shop)
		if err != nil || ofShop == "" {
			t.Fatalf("%q, %v", ofShop, err)
		}
		secret, _, err := h.Accounts.BeginTwoFactor(ctx, actor, admin.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Sessions.RotateKeys(ctx, access.System(1)); err != nil {
			t.Fatal(err)
		}
		actions, records := audited(t, h.App, actor)
		want := "site.create channel.create user.create token.create channel.create user.password user.two_factor_begin"
		if got := strings.Join(actions, " "); got != want {
			t.Errorf("the audit has %s\nwant %s", got, want)
		}
		_, own := audited(t, h.App, access.System(0))
		if len(own) != 1 || own[0].Action != "keys.rotate" {
			t.Errorf("the deployment's audit: %+v", own)
		}
		_, tokenSecret, _ := secrets.ParseToken(text)
		for _, r := range append(records, own...) {
			for _, s := range []string{tokenSecret, secrets.HashSecret(tokenSecret), ofShop, shop.SealedSecret, apptest.GoodPassword, "another good", secret, "argon2"} {
				if strings.Contains(r.Canonical(), s) {
					t.Errorf("record %d of %s holds %q", r.ID, r.Action, s)
				}
			}
		}
		if last := records[len(records)-1]; last.Username != "admin" || last.Address != "192.0.2.7" || last.RequestID != "req-1" || last.Role != "member_admin" {
			t.Errorf("%+v", last)
		}
		reader := actor
		reader.Role = access.Modal
		_, err = h.Audit.List(ctx, reader, audit.Filter{}, store.Page{Number: 1, Size: 10, Offset: -1})
		apptest.WantKind(t, err, errs.Forbidden, "read by the modal")
		_, err = h.Verify.Run(ctx, reader, verify.Query{})
		apptest.WantKind(t, err, errs.Forbidden, "verified by the modal")
		_, err = h.Approvals.List(ctx, reader, approvals.Filter{}, store.Page{Number: 1, Size: 10, Offset: -1})
		apptest.WantKind(t, err, errs.Forbidden, "proposals read by the modal")
	})
}

func TestTheInboxIsOfAllSites(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		ada, bob := operators(t, h)
		path, name, currency := "second", "Second", money.Currency("EUR")
		second, err := h.Sites.Create(ctx, access.System(0), merchant.SiteFields{Path: &path, Name: &name, Currency: &currency})
		if err != nil {
			t.Fatal(err)
		}
		there := ada
		there.SiteID = second.ID
		var ids []int64
		for i, actor := range []access.Actor{ada, there, ada} {
			p, err := h.Rates.Quote(ctx, actor, quoteOf("USD", civil.DayOf(h.Now.Read())-1, "1.10", []string{"a", "b", "c"}[i]))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, p.ID)
		}
		if _, err := h.Approvals.Reject(ctx, bob, ids[0], ""); err != nil {
			t.Fatal(err)
		}
		bob.SiteID = 0
		for i, want := range []string{"Second false", "Demo true"} {
			list, err := h.Approvals.Inbox(ctx, bob, store.Page{Number: i + 1, Size: 1, Offset: -1})
			if err != nil || len(list.Items) != 1 || list.Items[0].ID != ids[i+1] {
				t.Fatalf("%+v, %v", list, err)
			}
			if got := list.Items[0].Site.Name + " " + map[bool]string{true: "true", false: "false"}[!list.More]; got != want {
				t.Errorf("page %d: %s, want %s", i+1, got, want)
			}
		}
		admin := apptest.ActorOf(h.User(t, "admin", access.MemberAdmin), access.MemberAdmin)
		_, err = h.Approvals.Inbox(ctx, admin, store.Page{Number: 1, Size: 1, Offset: -1})
		apptest.WantKind(t, err, errs.Forbidden, "read by a customer")
	})
}
