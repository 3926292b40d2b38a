package imports_test

import (
	"context"
	"io"
	"iter"
	"strings"
	"testing"

	"holdfast/internal/account/sessions"
	"holdfast/internal/account/tokens"
	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/testkit/apptest"
)

// chargedBack is a row that only operators can import: a chargeback of the first payment of the sample.
const chargedBack = "B-1,Direct,PT,EUR,2024-07-01,2024-07-08,2,120000,Ana,Sousa,ana.sousa@example.org,\"Seven nights, half board\"," +
	"B-1-C1,B-1-P1,chargeback,2024-03-06 08:00:01,EUR,1000,1000,visa,411111,4242,example_psp\n"

// TestAMemberImportsWhatTheyCouldReport: a dry run and the import. A chargeback is the operator's, and so is a mode of channels whose
// payments are protected, also where an operator has tried the file before.
func TestAMemberImportsWhatTheyCouldReport(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		member := person(t, w, w.Site.ID, "mia", access.MemberAdmin)
		in := imports.NewFile{DryRun: true, Mode: merchant.ModeDraft}
		f := worked(t, w, member, mustReceive(t, w, member, in, sampleBook(t)+chargedBack).ID)
		if f.State != imports.FileTried || f.PaymentsCreated != 3 || f.Refused != 1 {
			t.Fatalf("tried: %+v", f)
		}
		refused := rowsOf(t, w, member, f.ID, imports.RowRefused).Items
		if len(refused) != 1 || refused[0].Line != 5 || !strings.Contains(refused[0].Reason, "is not allowed to record chargebacks") {
			t.Errorf("refused: %+v", refused)
		}
		if _, err := w.App.ImportFiles.Confirm(t.Context(), member, f.ID); err != nil {
			t.Fatal(err)
		}
		if f = worked(t, w, member, f.ID); f.State != imports.FileDone || f.PaymentsCreated != 3 || f.AuthorID != member.UserID {
			t.Errorf("imported: %+v", f)
		}
		in.Mode = merchant.ModeProtectionOnly
		_, err := received(t, w, member, in, sampleBook(t))
		apptest.WantKind(t, err, errs.Invalid, "a mode of the operator's")
		tried := worked(t, w, w.Actor, mustReceive(t, w, w.Actor, in, sampleBook(t)).ID)
		_, err = w.App.ImportFiles.Confirm(t.Context(), member, tried.ID)
		apptest.WantKind(t, err, errs.Forbidden, "confirming what an operator tried")
		// The same holds for direct calls of the room.
		_, err = w.App.Imports.Payments(t.Context(), member, apptest.Of(), imports.ImportOptions{Mode: merchant.ModeProtectionOnly})
		apptest.WantKind(t, err, errs.Invalid, "the import itself")
	})
}

// TestCoverFromBeforeNeedsTheOperator: outside a sandbox a member's takeover waits, and the member cannot approve it.
func TestCoverFromBeforeNeedsTheOperator(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		ada, _ := realSite(t, w, "real")
		member := person(t, w, ada.SiteID, "mia", access.MemberAdmin)
		in := imports.NewFile{CoverFromEffective: true, Mode: merchant.ModeDraft}
		f := worked(t, w, member, mustReceive(t, w, member, in, sampleBook(t)).ID)
		if f.State != imports.FileWaiting || f.Done != 0 {
			t.Fatalf("it does not wait: %+v", f)
		}
		_, err := w.App.Approvals.Approve(t.Context(), member, f.ProposalID, "")
		apptest.WantKind(t, err, errs.Forbidden, "the member approves it")
		if _, err := w.App.Approvals.Approve(t.Context(), ada, f.ProposalID, ""); err != nil {
			t.Fatal(err)
		}
		if f = worked(t, w, member, f.ID); f.State != imports.FileDone || f.PaymentsCreated != 3 {
			t.Errorf("approved: %+v", f)
		}
		in.CoverFromEffective = false
		if f = worked(t, w, member, mustReceive(t, w, member, in, bookOf(t, 3)).ID); f.State != imports.FileDone || f.PaymentsCreated != 2 {
			t.Errorf("cover from now on, of two bookings and of one that is another: %+v", f)
		}
	})
}

// TestAMemberDoesNotImportWhatAProcessorTakes: by the API it would have to take the money. An operator imports such a payment.
func TestAMemberDoesNotImportWhatAProcessorTakes(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		p := apptest.NewProcessing(t, w, merchant.ModeLive)
		at := func(key string, changes ...func(r *imports.ImportedPayment)) imports.ImportedPayment {
			pounds := p.Channel.Currency
			return apptest.ARow(len(key), key, append(changes, func(r *imports.ImportedPayment) {
				r.Channel, r.ChannelID, r.Booking.Currency, r.Payment.Currency = "", p.Channel.ID, &pounds, &pounds
			})...)
		}
		transfer := func(r *imports.ImportedPayment) { r.Payment.Method, r.Payment.CardType = payment.BankTransfer, "" }
		operator := w.Actor
		w.Actor = person(t, w, w.Site.ID, "mia", access.MemberAdmin)
		report, refused := w.Imported(imports.ImportOptions{}, at("1"), at("22", transfer))
		if report.Payments.Created != 1 || !strings.Contains(refused[1], "takes card payments itself") {
			t.Errorf("%+v, refused %v", report, refused)
		}
		w.Actor = operator
		if report, refused = w.Imported(imports.ImportOptions{}, at("1")); report.Payments.Created != 1 {
			t.Errorf("an operator: %+v, refused %v", report, refused)
		}
	})
}

// TestAnImportEndsWithTheRightOfItsAuthor: removed access, a role without imports, a deleted API token. Their queued
// imports do not run and leave nothing; running ones stop.
func TestAnImportEndsWithTheRightOfItsAuthor(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		leaves := person(t, w, w.Site.ID, "leaves", access.MemberAdmin)
		steps := person(t, w, w.Site.ID, "steps", access.MemberAdmin)
		sends := person(t, w, w.Site.ID, "sends", access.MemberAdmin)
		named := "till"
		token, _, err := w.App.Tokens.Create(t.Context(), sends, tokens.TokenFields{Name: &named})
		if err != nil {
			t.Fatal(err)
		}
		sends.TokenID = token.ID
		in := imports.NewFile{Mode: merchant.ModeDraft}
		files := map[string]int64{}
		for _, actor := range []access.Actor{leaves, steps, sends} {
			files[actor.Username] = mustReceive(t, w, actor, in, sampleBook(t)).ID
		}
		for _, err := range []error{
			w.App.Accounts.RemoveMembership(t.Context(), w.Actor, leaves.UserID),
			w.App.Accounts.SetMembership(t.Context(), w.Actor, steps.UserID, access.Finance, false),
			w.App.Tokens.Delete(t.Context(), w.Actor, token.ID),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for name, id := range files {
			f := worked(t, w, w.Actor, id)
			if f.State != imports.FileFailed || !strings.Contains(f.Problem, name+" can no longer import") || f.Done != 0 {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if left := holdings(t, w); strings.Contains(left, "B-1") || piecesLeft(t, w) != 0 {
			t.Errorf("left behind: %s", left)
		}

		goes := person(t, w, w.Site.ID, "goes", access.MemberAdmin)
		f := mustReceive(t, w, goes, in, bookOf(t, 60))
		_, err = w.App.ImportFiles.Next(t.Context(), func(file io.Reader) iter.Seq2[imports.ImportedPayment, error] {
			return afterRows(40, paymentfile.Read(file, nil), func() error {
				return w.App.Accounts.RemoveMembership(context.WithoutCancel(t.Context()), w.Actor, goes.UserID)
			})
		}, sessions.AccessNow)
		if err != nil {
			t.Fatal(err)
		}
		f = worked(t, w, w.Actor, f.ID)
		if f.State != imports.FileFailed || !strings.Contains(f.Problem, "goes") || f.Done == 0 || f.Done == 60 {
			t.Errorf("in the middle: %+v", f)
		}
	})
}

// afterRows yields rows, and calls a function after the first n.
func afterRows(n int, rows iter.Seq2[imports.ImportedPayment, error], do func() error) iter.Seq2[imports.ImportedPayment, error] {
	return func(yield func(imports.ImportedPayment, error) bool) {
		given := 0
		for row, err := range rows {
			if given++; given == n && err == nil {
				err = do()
			}
			if !yield(row, err) {
				return
			}
		}
	}
}
