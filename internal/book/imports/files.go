package imports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Files imports files that are uploaded over HTTP. A file is received and stored in pieces, and a job imports it with
// Imports.Payments, as the command line does. Callers need not wait: Get returns the progress.
type Files struct {
	*sites.DB
	imports *Imports
}

// AccessNow reads a user's current role on a site. tokenID is the API token of their request, or 0. The error is
// store.ErrNotFound when their access or the token has ended.
type AccessNow func(tx *store.Tx, siteID, userID, tokenID int64) (access.Actor, error)

// NewFiles makes the use cases.
func NewFiles(imports *Imports) *Files { return &Files{imports.DB, imports} }

// Bounds of imports over HTTP.
const (
	PieceBytes = 256 << 10 // of a file, in one row and in memory
	keptFiles  = 10        // files of a site that are kept after the import, so that their rejected rows can be downloaded
	openFiles  = 10        // unfinished imports of a site, including dry runs that wait for confirmation
	fileTries  = 5         // runs without progress until an import fails
	uploadLife = time.Hour // after that, an incomplete upload is deleted
	// FileLife is how long an import and the results of its rows can be read. The file of a dry run is kept as long.
	FileLife = 30 * 24 * time.Hour
)

// FileState is the progress of an import.
type FileState string

// The states of an import. The first and the last are hidden: the file has not arrived yet, or never did.
const (
	fileReceiving FileState = "receiving"
	FileQueued    FileState = "queued"  // it is running, or waits for its turn
	FileTried     FileState = "tried"   // the dry run has finished and can be confirmed
	FileWaiting   FileState = "waiting" // another operator must approve it
	FileDone      FileState = "done"
	FileFailed    FileState = "failed"
	fileDropped   FileState = "dropped"
)

// FileStates are the visible states.
var FileStates = []FileState{FileQueued, FileTried, FileWaiting, FileDone, FileFailed}

// NewFile is a request to import a file.
type NewFile struct {
	Problems           errs.Problems
	DryRun             bool
	Mode               merchant.AccountMode // as in ImportOptions
	CoverFromEffective bool
	Reason             string // for the operator who approves it
}

// File is the import of an uploaded file. Its counts are those of the dry run or of the real import.
type File struct {
	SiteID, ID                     int64
	State                          FileState
	DryRun                         bool
	Mode                           merchant.AccountMode
	CoverFromEffective             bool
	Reason, SHA256                 string
	Bytes, Rows, Done              int64
	BookingsCreated                int64
	PaymentsCreated, PaymentsThere int64
	Refused                        int64
	Channels                       []string // created, by name
	Totals                         []Total  // of the payments that it created
	Notes                          Notes
	ProposalID                     int64
	Problem                        string // why it failed
	AuthorID                       int64
	Author, AuthorName             string
	CreatedAt, FinishedAt          time.Time // by the real clock
	tokenID                        int64     // with which the author sent it; 0 without one
	tries                          int
}

// FileFilter chooses imports and rows of an import.
type FileFilter struct {
	States    []FileState
	RowStates []RowState
}

// Receive stores a file and queues its import. receive passes on the file in pieces without card numbers, and returns the number of rows
// and notes about the file; if it fails, the file is rejected. Errors: Forbidden, Invalid, and TooMany if the site has too many unfinished
// imports.
func (f *Files) Receive(
	ctx context.Context, actor access.Actor, in NewFile, receive func(keep func(piece []byte) error) (Scan, error),
) (File, error) {
	if err := f.imports.may(actor); err != nil {
		return File{}, err
	}
	problems := in.Problems.Clone()
	f.imports.checkMode(actor, in.Mode, &problems)
	if err := problems.Err(); err != nil {
		return File{}, err
	}
	made, err := sites.Write(ctx, f.DB, actor, func(tx *store.Tx) (File, error) {
		if err := sites.Lock(tx, actor.SiteID); err != nil { // so that no other import is created between count and insert
			return File{}, store.NotFoundAs(errs.SettingNotFound, err, "Site %d not found.", actor.SiteID)
		}
		again, err := idempotency.Used(tx, actor)
		if err != nil {
			return File{}, err
		}
		return openFile(tx, actor, in, again)
	})
	if err != nil {
		return File{}, err
	}
	hash := sha256.New()
	number := 0
	scan, err := receive(func(piece []byte) error {
		hash.Write(piece)
		made.Bytes += int64(len(piece))
		err := f.WriteAs(ctx, actor, func(tx *store.Tx) error { return insertPiece(tx, actor.SiteID, made.ID, number, piece) })
		number++
		return err
	})
	stored := made
	if err == nil {
		made.SHA256, made.Rows, made.Notes = hex.EncodeToString(hash.Sum(nil)), int64(scan.Rows), scan.Notes
		// The file and its options are the content of the request.
		actor.Key.Hash = fmt.Sprintf("%s %s %t %s %t", actor.Key.Hash, made.SHA256, in.DryRun, in.Mode, in.CoverFromEffective)
		stored, err = idempotency.Once(ctx, f.DB, actor, func(tx *store.Tx) (File, idempotency.Outcome, error) {
			err := queueFile(tx, made)
			return made, idempotency.Outcome{ID: made.ID}, err
		}, f.again(actor))
	}
	if err != nil || stored.ID != made.ID {
		ctx := context.WithoutCancel(ctx) // the client may have disconnected
		dropped := f.WriteAs(ctx, actor, func(tx *store.Tx) error { return dropFile(tx, made.SiteID, made.ID) })
		return stored, errors.Join(err, dropped, f.shed(ctx, made.SiteID))
	}
	return f.Get(ctx, actor, made.ID)
}

// shed deletes pieces of a site's files that are no longer needed, in short writes. If it fails, the cleanup job deletes them.
func (f *Files) shed(ctx context.Context, siteID int64) error {
	for more := true; more; {
		err := f.Store.Write(ctx, siteID, func(tx *store.Tx) (err error) {
			more, err = forgetPiecesOf(tx, siteID)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Get reads an import of the actor's site.
func (f *Files) Get(ctx context.Context, actor access.Actor, id int64) (File, error) {
	return readFile(ctx, f, actor, id, func(_ *store.Tx, found File) (File, error) { return found, nil })
}

// again returns the function that reads the import of an earlier request with the same idempotency key.
func (f *Files) again(actor access.Actor) func(ctx context.Context, before idempotency.Outcome) (File, error) {
	return func(ctx context.Context, before idempotency.Outcome) (File, error) {
		found, err := f.Get(ctx, actor, before.ID)
		return idempotency.OrLast(ctx, f.DB, actor, fileObject(before.ID), found, err)
	}
}

func fileObject(id int64) string { return fmt.Sprintf("import %d", id) }

// readFile is sites.Read for a visible import.
func readFile[T any](
	ctx context.Context, f *Files, actor access.Actor, id int64, read func(tx *store.Tx, found File) (T, error),
) (T, error) {
	found, err := sites.Read(ctx, f.DB, actor, func(tx *store.Tx) (found T, err error) {
		file, err := fileByID(tx, actor.SiteID, id)
		if err == nil {
			found, err = read(tx, file)
		}
		return found, err
	})
	return found, unknownFile(err, id)
}

func unknownFile(err error, id int64) error {
	return store.NotFoundAs(errs.RecordNotFound, err, "Import %d not found.", id)
}

// List reads one page of the imports of the actor's site.
func (f *Files) List(ctx context.Context, actor access.Actor, filter FileFilter, page store.Page) (store.List[File], error) {
	return sites.ReadPage(ctx, f.DB, actor, page, func(tx *store.Tx) (store.List[File], error) {
		return filesPage(tx, actor.SiteID, filter, page)
	})
}

// Rows reads one page of the row results of an import. Before the import is confirmed, these are the results of its dry run.
func (f *Files) Rows(
	ctx context.Context, actor access.Actor, id int64, filter FileFilter, page store.Page,
) (store.List[Row], error) {
	return readFile(ctx, f, actor, id, func(tx *store.Tx, found File) (store.List[Row], error) {
		return rowsPage(tx, found, filter, page)
	})
}

// Original reads the uploaded file of an import. It is empty if the file has been deleted: files are kept until the import is over. If
// rows were rejected, a site's last ten files are kept until their imports are deleted.
func (f *Files) Original(ctx context.Context, actor access.Actor, id int64) (File, io.Reader, error) {
	if err := actor.Require(access.Export); err != nil {
		return File{}, nil, err
	}
	found, err := f.Get(ctx, actor, id)
	return found, &pieces{files: f, ctx: ctx, of: found}, err
}

// Refused reads at most limit rejected rows after a line: those of the dry run if file was one when it was read, so that a list read in
// pieces does not end early when the import is confirmed in the meantime.
func (f *Files) Refused(ctx context.Context, actor access.Actor, file File, after, limit int) ([]Row, error) {
	if err := actor.Require(access.Export); err != nil {
		return nil, err
	}
	return sites.Read(ctx, f.DB, actor, func(tx *store.Tx) ([]Row, error) {
		return refusedAfter(tx, actor.SiteID, file, after, limit)
	})
}

// Confirm starts the real import after a dry run. Errors: RecordNotFound, Forbidden if only an operator may import the file, and
// NotPossible with the reason not_tried.
func (f *Files) Confirm(ctx context.Context, actor access.Actor, id int64) (File, error) {
	if err := f.imports.may(actor); err != nil {
		return File{}, err
	}
	confirmed, err := idempotency.Once(ctx, f.DB, actor, func(tx *store.Tx) (File, idempotency.Outcome, error) {
		outcome := idempotency.Outcome{ID: id}
		file, err := fileByID(tx, actor.SiteID, id)
		if err != nil {
			return file, outcome, err
		}
		if operatorsMode(actor, file.Mode) { // an operator has tried it
			return file, outcome, errs.New(errs.Forbidden, "Import %d creates channels in mode %s. Only an operator can confirm it.", id, file.Mode)
		}
		done, err := confirmFile(tx, actor, id)
		if err == nil && !done {
			err = errs.NotPossibleBecause("not_tried", "Only a finished dry run can be confirmed. Import %d is %s.", id, file.State)
		}
		if err == nil {
			file, err = fileByID(tx, actor.SiteID, id)
		}
		return file, outcome, err
	}, f.again(actor))
	return confirmed, unknownFile(err, id)
}

// Discard ends an import that has not imported anything: a finished dry run, or one that waits for approval.
// Errors: RecordNotFound, and NotPossible with the reason import_begun.
func (f *Files) Discard(ctx context.Context, actor access.Actor, id int64) error {
	if err := f.imports.may(actor); err != nil {
		return err
	}
	err := idempotency.OnceGone(ctx, f.DB, actor, id, func(tx *store.Tx) error {
		file, err := fileByID(tx, actor.SiteID, id)
		if err != nil {
			return err
		}
		gone, err := discardFile(tx, actor.SiteID, id)
		if err == nil && !gone {
			err = errs.NotPossibleBecause("import_begun", "Only a finished dry run or a waiting import can be discarded. Import %d is %s.", id, file.State)
		}
		if err != nil {
			return err
		}
		return idempotency.KeepLast(tx, actor.SiteID, fileObject(id), file)
	})
	if err != nil {
		return unknownFile(err, id)
	}
	return f.shed(ctx, actor.SiteID)
}

// take settles the imports that wait for approval, and begins a run of the next one. It returns none if none is queued.
func (f *Files) take(ctx context.Context) (file File, err error) {
	if _, err := sites.Each(ctx, f.DB, sitesToSettle, 1, settleWaiting); err != nil {
		return file, err
	}
	var next store.Key
	err = f.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		next, err = nextFile(tx)
		return err
	})
	if err == nil {
		err = f.Store.Write(ctx, next.SiteID, func(tx *store.Tx) (err error) {
			file, err = takeFile(tx, next)
			return err
		})
	}
	if errors.Is(err, store.ErrNotFound) {
		return File{}, nil
	}
	return file, err
}

// Next processes the next import until it is finished or the context ends; the next call resumes it. Sites take turns, and the oldest
// import of a site comes first. parse reads the rows of a file. more reports that there was work. Each row is written together with its
// result, so an interrupted import resumes after its last row.
func (f *Files) Next(
	ctx context.Context, parse func(file io.Reader) iter.Seq2[ImportedPayment, error], now AccessNow,
) (more bool, err error) {
	var file File
	var waits bool
	err = f.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) { // usually there is nothing to do
		waits, err = filesWait(tx)
		return err
	})
	if err != nil || !waits {
		return false, err
	}
	if file, err = f.take(ctx); err != nil || file.ID == 0 {
		return false, err
	}
	if file.tries > fileTries {
		return true, f.end(ctx, file, FileFailed, "The import was tried several times without progress. Import the file with the command line.")
	}
	actor, err := f.author(ctx, file, now)
	if isRefusal(err) {
		return true, f.end(ctx, file, FileFailed, refusalOf(0, err).Reason)
	}
	if err != nil {
		return false, err
	}
	done, tried, err := f.linesDone(ctx, file)
	if err != nil {
		return false, err
	}
	report, err := f.imports.Payments(ctx, actor, parse(&pieces{files: f, ctx: ctx, of: file}), ImportOptions{
		Mode: file.Mode, CoverFromEffective: file.CoverFromEffective, SHA256: file.SHA256, Reason: file.Reason, DryRun: file.DryRun,
		Done: func(trial bool, line int) bool { return trial && tried[line] || !trial && done[line] },
		Keep: func(tx *store.Tx, part Part) error {
			if _, err := f.authorIn(tx, file, now); err != nil { // access can end while the import runs
				return err
			}
			return keepPart(tx, file, part)
		},
		Tried: func(tx *store.Tx) (proposal.FileEffect, error) { return effectOf(tx, file) },
	})
	switch {
	case ctx.Err() != nil: // out of time
		return false, nil
	case isRefusal(err):
		return true, f.end(ctx, file, FileFailed, refusalOf(0, err).Reason)
	case err != nil:
		return false, err
	case report.Proposal != nil:
		return true, f.WriteAs(ctx, actor, func(tx *store.Tx) error { return waitFor(tx, file, report.Proposal.ID) })
	case file.DryRun:
		return true, f.end(ctx, file, FileTried, "")
	}
	return true, f.end(ctx, file, FileDone, "")
}

// linesDone returns the lines with a known outcome, in the import and in the dry run before it.
func (f *Files) linesDone(ctx context.Context, file File) (done, tried map[int]bool, err error) {
	err = f.Store.Read(ctx, file.SiteID, func(tx *store.Tx) (err error) {
		if tried, err = linesOf(tx, file, true); err == nil {
			done, err = linesOf(tx, file, false)
		}
		return err
	})
	return done, tried, err
}

// author returns the actor who requested the import, with their current permissions. The error is Forbidden if they may no longer import.
func (f *Files) author(ctx context.Context, file File, now AccessNow) (actor access.Actor, err error) {
	err = f.Store.Read(ctx, file.SiteID, func(tx *store.Tx) (err error) {
		actor, err = f.authorIn(tx, file, now)
		return err
	})
	return actor, err
}

func (f *Files) authorIn(tx *store.Tx, file File, now AccessNow) (access.Actor, error) {
	actor, err := now(tx, file.SiteID, file.AuthorID, file.tokenID)
	if err == nil {
		err = f.imports.may(actor)
	}
	if errors.Is(err, store.ErrNotFound) || errs.Is(err, errs.Forbidden) {
		return actor, &errs.Error{Kind: errs.Forbidden, Err: err, Message: fmt.Sprintf(
			"%s can no longer import on this site. The remaining rows were not imported.", file.Author)}
	}
	return actor, err
}

func (f *Files) end(ctx context.Context, file File, state FileState, problem string) error {
	err := f.Store.Write(ctx, file.SiteID, func(tx *store.Tx) error { return endFile(tx, file, state, problem) })
	if err != nil || state == FileTried { // a dry run can still be confirmed
		return err
	}
	return f.shed(ctx, file.SiteID)
}

// Forget deletes file pieces that are no longer needed, incomplete uploads, and imports older than FileLife, a limited number of rows at a
// time. more reports that there may be more to delete.
func (f *Files) Forget(ctx context.Context) (more bool, err error) {
	return sites.Each(ctx, f.DB, sitesWithFiles, 1, forgetFiles)
}

// pieces reads the file of an import piece by piece.
type pieces struct {
	files *Files
	ctx   context.Context //nolint:containedctx // io.Reader.Read has no context
	of    File
	next  int
	rest  []byte
}

// Read implements io.Reader.
func (p *pieces) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		err := p.files.Store.Read(p.ctx, p.of.SiteID, func(tx *store.Tx) (err error) {
			p.rest, err = pieceOf(tx, p.of, p.next)
			return err
		})
		if errors.Is(err, store.ErrNotFound) {
			return 0, io.EOF
		}
		if err != nil {
			return 0, err
		}
		p.next++
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
