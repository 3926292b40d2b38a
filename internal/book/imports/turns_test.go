package imports_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/account/sessions"
	"holdfast/internal/book/imports"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestARehearsalGoesOn: each run of the job ends after some bookings, and still the import reaches its proposal, with
// the same effect as in one run. After a confirmed dry run nothing is tried again.
func TestARehearsalGoesOn(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		draw := w.App.Imports.NewUUID
		drawn, stop := 0, func() {}
		w.App.Imports.NewUUID = func() string {
			if drawn++; drawn == 50 {
				stop()
			}
			return draw()
		}
		runs := func(actor access.Actor, id int64) (f imports.File, n int) {
			for f.State = imports.FileQueued; f.State == imports.FileQueued && n < 15; n++ {
				ctx, cancel := context.WithCancel(t.Context())
				drawn, stop = 0, cancel
				_, err := w.App.ImportFiles.Next(ctx, parse, sessions.AccessNow)
				cancel()
				if err != nil {
					t.Fatal(err)
				}
				if f, err = w.App.ImportFiles.Get(t.Context(), actor, id); err != nil {
					t.Fatal(err)
				}
			}
			return f, n
		}
		in := imports.NewFile{CoverFromEffective: true, Mode: merchant.ModeProtectionOnly}
		ada, bob := realSite(t, w, "bit-by-bit")
		f, n := runs(ada, mustReceive(t, w, ada, in, bookOf(t, 120)+badRow).ID)
		if f.State != imports.FileWaiting || n < 2 || f.Done != 0 || f.BookingsCreated != 0 {
			t.Fatalf("after %d runs, %d drawn: %+v", n, drawn, f)
		}
		effect := effectOf(t, w, bob, f)
		for _, want := range []string{
			`"rows":121,"refused":1,"bookings_created":120,"bookings_already_there":0,"payments_created":120,"payments_already_there":0`,
			`"channel":"Direct","created":true,"account_mode":"protection-only","currencies":"EUR","payments":120,"added":12000,"taken":0,` +
				`"first_paid":"2024-01-10","last_paid":"2024-01-12"`,
		} {
			if !strings.Contains(effect, want) {
				t.Errorf("no %s in %s", want, effect)
			}
		}

		in.DryRun = true
		eve, max := realSite(t, w, "confirmed")
		f, _ = runs(eve, mustReceive(t, w, eve, in, bookOf(t, 120)+badRow).ID)
		if f.State != imports.FileTried || f.Done != 121 {
			t.Fatalf("tried: %+v", f)
		}
		if _, err := w.App.ImportFiles.Confirm(t.Context(), eve, f.ID); err != nil {
			t.Fatal(err)
		}
		if f, n = runs(eve, f.ID); f.State != imports.FileWaiting || n != 1 || drawn > 5 {
			t.Errorf("confirmed, after %d runs with %d new things: %+v", n, drawn, f)
		}
		if again := effectOf(t, w, max, f); again != effect {
			t.Errorf("in one run\n%s\nin several\n%s", again, effect)
		}
	})
}

func effectOf(t *testing.T, w *apptest.World, actor access.Actor, f imports.File) string {
	t.Helper()
	p, err := w.App.Approvals.Get(t.Context(), actor, f.ProposalID)
	if err != nil {
		t.Fatal(err)
	}
	return p.Effect
}

// TestSitesTakeTurns: a site with many small imports does not delay the others.
func TestSitesTakeTurns(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		other, _ := realSite(t, w, "other")
		in := imports.NewFile{DryRun: true}
		var busy []imports.File
		for range 3 {
			busy = append(busy, mustReceive(t, w, w.Actor, in, sampleBook(t)))
		}
		last := mustReceive(t, w, other, in, sampleBook(t))
		for range 2 {
			w.Advance(time.Second)
			if _, err := w.App.ImportFiles.Next(t.Context(), parse, sessions.AccessNow); err != nil {
				t.Fatal(err)
			}
		}
		f, err := w.App.ImportFiles.Get(t.Context(), other, last.ID)
		if err != nil || f.State != imports.FileTried {
			t.Errorf("the other site: %+v, %v", f, err)
		}
		if f = worked(t, w, w.Actor, busy[2].ID); f.State != imports.FileTried {
			t.Errorf("the busy site: %+v", f)
		}
	})
}

func piecesLeft(t *testing.T, w *apptest.World) (n int) {
	t.Helper()
	dbtest.Read(t, w.App.DB.Store, func(tx *store.Tx) error { return tx.QueryRow(`SELECT COUNT(*) FROM import_pieces`, nil, &n) })
	return n
}

// TestNoFileStaysThatNobodyNeeds: it is deleted immediately, without waiting for the housekeeping, also a file of many
// chunks.
func TestNoFileStaysThatNobodyNeeds(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		_, err := received(t, w, w.Actor, imports.NewFile{}, bookOf(t, 30)+strings.Replace(badRow, "Nights", "card 4111 1111 1111 1111", 1))
		apptest.WantKind(t, err, errs.CardNumber, "a card number")
		if n := piecesLeft(t, w); n != 0 {
			t.Errorf("%d pieces of a file that was refused", n)
		}
		actor := w.Actor
		actor.Key = access.IdempotencyKey{Key: "key", Hash: "route", Replayed: new(bool)}
		f := mustReceive(t, w, actor, imports.NewFile{DryRun: true}, sampleBook(t))
		before := piecesLeft(t, w)
		mustReceive(t, w, actor, imports.NewFile{DryRun: true}, sampleBook(t))
		if n := piecesLeft(t, w); n != before || n == 0 {
			t.Errorf("%d pieces of a file that came twice, %d before", n, before)
		}
		worked(t, w, w.Actor, f.ID)
		if n := piecesLeft(t, w); n != before {
			t.Errorf("%d pieces of a dry run that can be confirmed, %d before", n, before)
		}
		if err := w.App.ImportFiles.Discard(t.Context(), w.Actor, f.ID); err != nil {
			t.Fatal(err)
		}
		if n := piecesLeft(t, w); n != 0 {
			t.Errorf("%d pieces of what was discarded", n)
		}
		worked(t, w, w.Actor, mustReceive(t, w, w.Actor, imports.NewFile{Mode: merchant.ModeDraft}, sampleBook(t)).ID)
		if n := piecesLeft(t, w); n != 0 {
			t.Errorf("%d pieces of an import that is done", n)
		}
	})
}

// TestAFullSite: a repeated request is answered even if the site is full. Of many concurrent new ones ten are accepted.
func TestAFullSite(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		actor := w.Actor
		actor.Key = access.IdempotencyKey{Key: "key", Hash: "route", Replayed: new(bool)}
		first := mustReceive(t, w, actor, imports.NewFile{DryRun: true}, sampleBook(t))
		var all sync.WaitGroup
		failures := make([]error, 20)
		for i := range failures {
			all.Go(func() { _, failures[i] = received(t, w, w.Actor, imports.NewFile{DryRun: true}, sampleBook(t)) })
		}
		all.Wait()
		taken := 0
		for _, err := range failures {
			if err == nil {
				taken++
				continue
			}
			apptest.WantKind(t, err, errs.TooMany, "more than ten")
		}
		if taken != 9 {
			t.Errorf("%d were taken after the first one", taken)
		}
		again, err := received(t, w, actor, imports.NewFile{DryRun: true}, sampleBook(t))
		if err != nil || again.ID != first.ID || !*actor.Key.Replayed {
			t.Errorf("the first one again: %+v, %v", again, err)
		}
		_, err = received(t, w, actor, imports.NewFile{}, sampleBook(t))
		apptest.WantKind(t, err, errs.IdempotencyMismatch, "another request under its key")
	})
}
