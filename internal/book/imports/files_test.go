package imports_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/account/sessions"
	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/testkit/pgtest"
)

// sampleBook is the sample file of the reader's tests: one booking with three payments.
func sampleBook(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../paymentfile/testdata/sample.csv")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "2026-", "2024-")
}

const badRow = "B-2,Direct,PT,EUR,,2024-07-08,2,many,Rui,Nobre,rui@example.org,Nights,B-2-P1,,purchase,2024-01-10 09:30:00,EUR,100,100,visa,411111,4242,psp\n"

// received sends a file in pieces of 100 bytes.
func received(t *testing.T, w *apptest.World, actor access.Actor, in imports.NewFile, text string) (imports.File, error) {
	t.Helper()
	return w.App.ImportFiles.Receive(t.Context(), actor, in, func(keep func([]byte) error) (imports.Scan, error) {
		return paymentfile.Check(strings.NewReader(text), 100, 1000, keep)
	})
}

func mustReceive(t *testing.T, w *apptest.World, actor access.Actor, in imports.NewFile, text string) imports.File {
	t.Helper()
	f, err := received(t, w, actor, in, text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func parse(file io.Reader) iter.Seq2[imports.ImportedPayment, error] {
	return paymentfile.Read(file, nil)
}

// worked runs the job until there is nothing left to do, and reads an import.
func worked(t *testing.T, w *apptest.World, actor access.Actor, id int64) imports.File {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = w.App.ImportFiles.Next(t.Context(), parse, sessions.AccessNow); err != nil {
			t.Fatal(err)
		}
	}
	f, err := w.App.ImportFiles.Get(t.Context(), actor, id)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var firstRows = store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true}

func rowsOf(t *testing.T, w *apptest.World, actor access.Actor, id int64, states ...imports.RowState) store.List[imports.Row] {
	t.Helper()
	rows, err := w.App.ImportFiles.Rows(t.Context(), actor, id, imports.FileFilter{RowStates: states}, firstRows)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestAFileIsTriedAndThenImported(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		in := imports.NewFile{DryRun: true, Mode: merchant.ModeProtectionOnly}
		f := mustReceive(t, w, w.Actor, in, sampleBook(t)+badRow)
		if f.State != imports.FileQueued || f.Rows != 4 || len(f.SHA256) != 64 || f.Bytes != int64(len(sampleBook(t)+badRow)) {
			t.Errorf("received: %+v", f)
		}
		f = worked(t, w, w.Actor, f.ID)
		if f.State != imports.FileTried || f.Done != 4 || f.BookingsCreated != 1 || f.PaymentsCreated != 3 || f.Refused != 1 ||
			len(f.Channels) != 1 || f.FinishedAt.IsZero() {
			t.Errorf("tried: %+v", f)
		}
		if before := holdings(t, w); strings.Contains(before, "B-1") {
			t.Errorf("the dry run left\n%s", before)
		}
		refused := rowsOf(t, w, w.Actor, f.ID, imports.RowRefused)
		if len(refused.Items) != 1 || refused.Items[0].Line != 5 || !strings.Contains(refused.Items[0].Reason, "many") {
			t.Errorf("refused: %+v", refused)
		}
		if tried := rowsOf(t, w, w.Actor, f.ID, imports.RowCreated); tried.Total != 3 || tried.Items[0].TransactionID != 0 {
			t.Errorf("the rows of the dry run: %+v", tried)
		}
		if _, err := w.App.ImportFiles.Confirm(t.Context(), w.Actor, f.ID); err != nil {
			t.Fatal(err)
		}
		f = worked(t, w, w.Actor, f.ID)
		if f.State != imports.FileDone || f.DryRun || f.Done != 4 || f.BookingsCreated != 1 || f.PaymentsCreated != 3 || f.Refused != 1 {
			t.Errorf("imported: %+v", f)
		}
		made := rowsOf(t, w, w.Actor, f.ID, imports.RowCreated)
		if made.Total != 3 || made.Items[0].TransactionID == 0 || made.Items[0].BookingID == 0 {
			t.Errorf("the rows: %+v", made)
		}
		_, err := w.App.ImportFiles.Confirm(t.Context(), w.Actor, f.ID)
		apptest.WantKind(t, err, errs.NotPossible, "confirming twice")
		in.DryRun = false
		f = worked(t, w, w.Actor, mustReceive(t, w, w.Actor, in, sampleBook(t)).ID)
		if f.PaymentsThere != 3 || f.PaymentsCreated != 0 || f.BookingsCreated != 0 {
			t.Errorf("the same file again: %+v", f)
		}
	})
}

// bookOf is a file of bookings with one payment each, over three days.
func bookOf(t *testing.T, bookings int) string {
	t.Helper()
	header, _, _ := strings.Cut(sampleBook(t), "\n")
	var book strings.Builder
	book.WriteString(header + "\n")
	for i := range bookings {
		fmt.Fprintf(&book, "B-%d,Direct,PT,EUR,,2024-07-08,2,10000,Rui,Nobre,rui@example.org,Nights,P-%d,,purchase,2024-01-1%d 09:30:00,"+
			"EUR,100,100,visa,411111,4242,psp\n", i, i, i%3)
	}
	return book.String()
}

// TestAnImportThatDiesGoesOn: its process ends in the middle of a file. Written rows stay, the rest follows, and the
// counts are those of one import.
func TestAnImportThatDiesGoesOn(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		book := bookOf(t, 60)
		for _, dryRun := range []bool{true, false} {
			f := mustReceive(t, w, w.Actor, imports.NewFile{DryRun: dryRun, Mode: merchant.ModeProtectionOnly}, book)
			died := errors.New("died")
			var line int
			ctx, cancel := context.WithCancel(t.Context())
			_, err := w.App.ImportFiles.Next(ctx, func(file io.Reader) iter.Seq2[imports.ImportedPayment, error] {
				return func(yield func(imports.ImportedPayment, error) bool) {
					for row, err := range paymentfile.Read(file, nil) {
						if line++; !dryRun && line == 35 {
							cancel()
							yield(row, died)
							return
						}
						if !yield(row, err) {
							return
						}
					}
				}
			}, sessions.AccessNow)
			cancel()
			if err != nil {
				t.Errorf("a run whose time is over: %v", err)
			}
			if !dryRun {
				half, err := w.App.ImportFiles.Get(t.Context(), w.Actor, f.ID)
				if err != nil || half.State != imports.FileQueued || half.Done == 0 || half.Done == 60 {
					t.Errorf("in the middle: %+v, %v", half, err)
				}
			}
			f = worked(t, w, w.Actor, f.ID)
			rows := rowsOf(t, w, w.Actor, f.ID, imports.RowCreated)
			if f.Done != 60 || f.PaymentsCreated != 60 || f.BookingsCreated != 60 || rows.Total != 60 {
				t.Errorf("dry run %v, in the end: %+v, %d rows", dryRun, f, rows.Total)
			}
		}
	})
}

// person creates a user with a role on a site.
func person(t *testing.T, w *apptest.World, siteID int64, name string, role access.Role) access.Actor {
	t.Helper()
	made, err := w.App.Accounts.CreateUser(t.Context(), access.System(siteID),
		people.UserFields{Username: name, Email: name + "@example.com", Password: apptest.GoodPassword}, role, false)
	if err != nil {
		t.Fatal(err)
	}
	actor, _ := made.ActorAt(people.Membership{SiteID: siteID, UserID: made.ID, Role: role})
	return actor
}

// realSite creates a site that is not a sandbox, and two operators.
func realSite(t *testing.T, w *apptest.World, path string) (ada, bob access.Actor) {
	t.Helper()
	currency := money.Currency("GBP")
	site, err := w.App.Sites.Create(t.Context(), access.System(0), merchant.SiteFields{Path: &path, Name: &path, Currency: &currency})
	if err != nil {
		t.Fatal(err)
	}
	return person(t, w, site.ID, path+"-ada", access.Operator), person(t, w, site.ID, path+"-bob", access.Operator)
}

// TestAnImportOfARealSiteWaitsForAnotherOperator: with the effects of the file; a rejected one imports nothing.
func TestAnImportOfARealSiteWaitsForAnotherOperator(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		ada, bob := realSite(t, w, "real")
		in := imports.NewFile{CoverFromEffective: true, Mode: merchant.ModeProtectionOnly, Reason: "From Acme."}
		f := worked(t, w, ada, mustReceive(t, w, ada, in, sampleBook(t)).ID)
		if f.State != imports.FileWaiting || f.ProposalID == 0 || f.Done != 0 {
			t.Fatalf("it does not wait: %+v", f)
		}
		p, err := w.App.Approvals.Get(t.Context(), bob, f.ProposalID)
		if err != nil || !strings.Contains(p.Effect, `"payments_created":3`) || p.ProposedBy != "real-ada" {
			t.Errorf("the proposal: %+v, %v", p, err)
		}
		if _, err := w.App.Approvals.Approve(t.Context(), ada, f.ProposalID, ""); err == nil {
			t.Error("who imports approves it")
		}
		if _, err := w.App.Approvals.Approve(t.Context(), bob, f.ProposalID, ""); err != nil {
			t.Fatal(err)
		}
		if f = worked(t, w, ada, f.ID); f.State != imports.FileDone || f.PaymentsCreated != 3 {
			t.Errorf("approved: %+v", f)
		}
		in.Mode = merchant.ModeDraft
		f = worked(t, w, ada, mustReceive(t, w, ada, in, sampleBook(t)).ID)
		if _, err := w.App.Approvals.Reject(t.Context(), bob, f.ProposalID, ""); err != nil {
			t.Fatal(err)
		}
		if f = worked(t, w, ada, f.ID); f.State != imports.FileFailed || f.Problem == "" || f.Done != 0 {
			t.Errorf("rejected: %+v", f)
		}
		if _, err := w.App.ImportFiles.Get(t.Context(), w.Actor, f.ID); !errs.Is(err, errs.RecordNotFound) {
			t.Errorf("another site sees it: %v", err)
		}
	})
}

// TestARefusedFileLeavesNothing: a card number, an unreadable file, a site with many imports, a caller without
// permission.
func TestARefusedFileLeavesNothing(t *testing.T) {
	t.Parallel()
	pgtest.NotOverNodes(t)
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		card := strings.Replace(sampleBook(t), "Seven nights", "card 4111 1111 1111 1111", 1)
		_, err := received(t, w, w.Actor, imports.NewFile{}, card)
		apptest.WantKind(t, err, errs.CardNumber, "a card number")
		_, err = received(t, w, w.Actor, imports.NewFile{}, "a,b\n1,2\n")
		apptest.WantKind(t, err, errs.Invalid, "no file of payments")
		for _, role := range []access.Role{access.ReadOnly, access.Finance, access.Modal} {
			other := w.Actor
			other.Role = role
			_, err = received(t, w, other, imports.NewFile{}, sampleBook(t))
			apptest.WantKind(t, err, errs.Forbidden, string(role))
		}
		for range 10 {
			mustReceive(t, w, w.Actor, imports.NewFile{DryRun: true}, sampleBook(t))
		}
		_, err = received(t, w, w.Actor, imports.NewFile{}, sampleBook(t))
		apptest.WantKind(t, err, errs.TooMany, "one more than ten")
		dbtest.Read(t, w.App.DB.Store, func(tx *store.Tx) error {
			var cards int
			err := tx.QueryRow(`SELECT COUNT(*) FROM import_pieces p JOIN imports i ON i.id = p.import_id WHERE i.state = 'dropped' AND p.number > 20`, nil, &cards)
			if err != nil || cards > 0 {
				t.Errorf("%d pieces behind the card number: %v", cards, err)
			}
			return nil
		})
	})
}

// TestOneKeyMakesOneImport: the same file again, under the same key, is the same import. Another file is rejected.
func TestOneKeyMakesOneImport(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		actor := w.Actor
		actor.Key = access.IdempotencyKey{Key: "key", Hash: "route", Replayed: new(bool)}
		first := mustReceive(t, w, actor, imports.NewFile{}, sampleBook(t))
		again := mustReceive(t, w, actor, imports.NewFile{}, sampleBook(t))
		if again.ID != first.ID || !*actor.Key.Replayed {
			t.Errorf("the first is %d, the second %d", first.ID, again.ID)
		}
		_, err := received(t, w, actor, imports.NewFile{}, sampleBook(t)+badRow)
		apptest.WantKind(t, err, errs.IdempotencyMismatch, "another file")
		list, err := w.App.ImportFiles.List(t.Context(), w.Actor, imports.FileFilter{}, firstRows)
		if err != nil || list.Total != 1 {
			t.Errorf("%d imports are there: %v", list.Total, err)
		}
	})
}

// TestImportsAreForgotten: files as soon as they are not needed, and the results of rows after thirty days.
func TestImportsAreForgotten(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		forgotten := func() (pieces, rows, imports int) {
			for more := true; more; {
				var err error
				if more, err = w.App.ImportFiles.Forget(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			dbtest.Read(t, w.App.DB.Store, func(tx *store.Tx) error {
				return tx.QueryRow(`SELECT (SELECT COUNT(*) FROM import_pieces), (SELECT COUNT(*) FROM import_rows), (SELECT COUNT(*) FROM imports)`,
					nil, &pieces, &rows, &imports)
			})
			return pieces, rows, imports
		}
		tried := mustReceive(t, w, w.Actor, imports.NewFile{DryRun: true, Mode: merchant.ModeDraft}, sampleBook(t))
		worked(t, w, w.Actor, tried.ID)
		if pieces, rows, imports := forgotten(); pieces == 0 || rows != 3 || imports != 1 {
			t.Errorf("after a dry run: %d pieces, %d rows, %d imports", pieces, rows, imports)
		}
		if _, err := w.App.ImportFiles.Confirm(t.Context(), w.Actor, tried.ID); err != nil {
			t.Fatal(err)
		}
		worked(t, w, w.Actor, tried.ID)
		if pieces, rows, imports := forgotten(); pieces != 0 || rows != 6 || imports != 1 {
			t.Errorf("after the import: %d pieces, %d rows, %d imports", pieces, rows, imports)
		}
		second := mustReceive(t, w, w.Actor, imports.NewFile{DryRun: true}, sampleBook(t))
		worked(t, w, w.Actor, second.ID)
		if err := w.App.ImportFiles.Discard(t.Context(), w.Actor, second.ID); err != nil {
			t.Fatal(err)
		}
		err := w.App.ImportFiles.Discard(t.Context(), w.Actor, tried.ID)
		apptest.WantKind(t, err, errs.NotPossible, "discarding what was imported")
		w.Advance(31 * 24 * time.Hour)
		if pieces, rows, imports := forgotten(); pieces != 0 || rows != 0 || imports != 0 {
			t.Errorf("after thirty days: %d pieces, %d rows, %d imports", pieces, rows, imports)
		}
	})
}
