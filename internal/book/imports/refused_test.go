package imports_test

import (
	"io"
	"strings"
	"testing"

	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/testkit/apptest"
)

// refusedOf is the CSV of the refused rows of an import.
func refusedOf(t *testing.T, w *apptest.World, actor access.Actor, id int64) string {
	t.Helper()
	of, file, err := w.App.ImportFiles.Original(t.Context(), actor, id)
	if err != nil {
		t.Fatal(err)
	}
	var to strings.Builder
	err = paymentfile.WriteRefused(&to, file, func(yield func(paymentfile.Refused, error) bool) {
		rows, err := w.App.ImportFiles.Refused(t.Context(), actor, of, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if !yield(paymentfile.Refused{Line: row.Line, Reason: row.Reason}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return to.String()
}

// TestRefusedRowsAreCorrectedAndSentAgain: after a dry run and after the import, with the cells of the file, which is
// then imported with one cell changed.
func TestRefusedRowsAreCorrectedAndSentAgain(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		in := imports.NewFile{DryRun: true, Mode: merchant.ModeDraft}
		f := worked(t, w, w.Actor, mustReceive(t, w, w.Actor, in, sampleBook(t)+badRow).ID)
		tried := refusedOf(t, w, w.Actor, f.ID)
		if _, err := w.App.ImportFiles.Confirm(t.Context(), w.Actor, f.ID); err != nil {
			t.Fatal(err)
		}
		f = worked(t, w, w.Actor, f.ID)
		refused := refusedOf(t, w, w.Actor, f.ID)
		if f.Refused != 1 || refused != tried || strings.Count(refused, "\n") != 2 || !strings.Contains(refused, "5,\"total: ") {
			t.Fatalf("%+v\n%s\nafter the dry run\n%s", f, refused, tried)
		}
		mended := strings.Replace(refused, ",many,", ",1000,", 1)
		f = worked(t, w, w.Actor, mustReceive(t, w, w.Actor, imports.NewFile{}, mended).ID)
		if f.State != imports.FileDone || f.Refused != 0 || f.PaymentsCreated != 1 {
			t.Errorf("mended: %+v, %+v", f, rowsOf(t, w, w.Actor, f.ID).Items)
		}
		reader := person(t, w, w.Site.ID, "reader", access.ReadOnly)
		_, _, err := w.App.ImportFiles.Original(t.Context(), reader, f.ID)
		apptest.WantKind(t, err, errs.Forbidden, "a reader")
		ada, _ := realSite(t, w, "other")
		_, _, err = w.App.ImportFiles.Original(t.Context(), ada, f.ID)
		apptest.WantKind(t, err, errs.RecordNotFound, "another site")
	})
}

// TestTheLastFilesWithRefusedRowsAreKept: ten per site. The file of an older import is deleted, but its reasons stay.
func TestTheLastFilesWithRefusedRowsAreKept(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		header, _, _ := strings.Cut(sampleBook(t), "\n")
		var ids []int64
		for range 11 {
			f := worked(t, w, w.Actor, mustReceive(t, w, w.Actor, imports.NewFile{}, header+"\n"+badRow).ID)
			if f.State != imports.FileDone || f.Refused != 1 {
				t.Fatalf("%+v", f)
			}
			ids = append(ids, f.ID)
		}
		left := func(id int64) string {
			_, file, err := w.App.ImportFiles.Original(t.Context(), w.Actor, id)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(file)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if left(ids[0]) != "" || left(ids[1]) != header+"\n"+badRow || left(ids[10]) != header+"\n"+badRow {
			t.Errorf("the first is %q, the second %q, the last %q", left(ids[0]), left(ids[1]), left(ids[10]))
		}
		if text := refusedOf(t, w, w.Actor, ids[0]); !strings.HasPrefix(text, "refused_line,refused_reason\n2,") {
			t.Errorf("of the first: %s", text)
		}
		if _, err := w.App.ImportFiles.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left(ids[1]) == "" {
			t.Error("the housekeeping has removed the second")
		}
	})
}

// TestRefusedRowsAreReadToTheirEnd: in batches, also if the dry run is confirmed after the first batch.
func TestRefusedRowsAreReadToTheirEnd(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		header, _, _ := strings.Cut(sampleBook(t), "\n")
		f := worked(t, w, w.Actor, mustReceive(t, w, w.Actor, imports.NewFile{DryRun: true}, header+"\n"+strings.Repeat(badRow, 5)).ID)
		last, seen := 0, 0
		for _, want := range []int{2, 2, 1, 0} {
			rows, err := w.App.ImportFiles.Refused(t.Context(), w.Actor, f, last, 2)
			if err != nil || len(rows) != want {
				t.Fatalf("behind line %d: %+v, %v", last, rows, err)
			}
			for _, row := range rows {
				if last, seen = row.Line, seen+1; row.Line != seen+1 || row.Reason == "" {
					t.Errorf("row %d: %+v", seen, row)
				}
			}
			if seen == 2 {
				if _, err := w.App.ImportFiles.Confirm(t.Context(), w.Actor, f.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		reader := w.Actor
		reader.Role = access.ReadOnly
		_, err := w.App.ImportFiles.Refused(t.Context(), reader, f, 0, 2)
		apptest.WantKind(t, err, errs.Forbidden, "read_only")
	})
}
