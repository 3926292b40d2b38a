package disputes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"holdfast/internal/book/disputefile"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/errs"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Bounds of files over HTTP.
const (
	openUploads = 10        // unfinished files of a site
	uploadTries = 5         // runs without progress until a file fails
	uploadLife  = time.Hour // after that, an incomplete upload is deleted
	// UploadLife is how long a file and the results of its lines can be read.
	UploadLife = 30 * 24 * time.Hour
)

// UploadState is the progress of a file.
type UploadState string

// The states of a file. The first one is hidden: the file has not arrived yet.
const (
	uploadReceiving UploadState = "receiving"
	UploadQueued    UploadState = "queued" // it is being imported, or waits for its turn
	UploadDone      UploadState = "done"
	UploadFailed    UploadState = "failed"
)

// UploadStates are the visible states.
var UploadStates = []UploadState{UploadQueued, UploadDone, UploadFailed}

// Upload is a processor's file that was sent over HTTP. A job imports it.
type Upload struct {
	SiteID, ID int64
	State      UploadState
	DryRun     bool
	Format     string
	SHA256     string
	Bytes      int64
	Lines      int64 // of the file
	Done       int64 // lines that have a result
	Results    int64 // a line can have several
	Outcomes   map[Outcome]int64
	Problem    string // why it failed
	AuthorID   int64
	Author     string
	CreatedAt  time.Time // by the real clock
	ModifiedAt time.Time
	FinishedAt time.Time // zero: not yet
	tokenID    int64     // with which it was sent; 0: none
	tries      int64
}

// AccessNow reads a user's current role on a site. tokenID is the API token of their request, or 0. The error is store.ErrNotFound when their
// access or the token has ended.
type AccessNow func(tx *store.Tx, siteID, userID, tokenID int64) (access.Actor, error)

// Receive reads a file, stores its lines as they are understood, and queues their import. Nothing that holds a card number is stored. Errors:
// Forbidden, Invalid if the file as a whole is not understood, and TooMany if the site has too many unfinished files.
func (d *Disputes) Receive(ctx context.Context, actor access.Actor, in io.Reader, o disputefile.Options, dryRun bool) (Upload, error) {
	if err := actor.Require(access.WorkDisputes); err != nil {
		return Upload{}, err
	}
	hash, size := sha256.New(), &counter{}
	format, lines, err := disputefile.Read(io.TeeReader(in, io.MultiWriter(hash, size)), o)
	if err != nil {
		return Upload{}, err
	}
	made, err := sites.Write(ctx, d.DB, actor, func(tx *store.Tx) (Upload, error) { return openUpload(tx, actor, format.Name, dryRun) })
	if err != nil {
		return made, err
	}
	keep := pieceKeeper{d: d, ctx: ctx, of: made}
	for line, err := range lines {
		if err == nil {
			err = keep.add(line)
		}
		if err != nil {
			return Upload{}, errors.Join(err, d.drop(ctx, made))
		}
	}
	if err = keep.flush(); err == nil {
		_, err = io.Copy(io.Discard, io.TeeReader(in, io.MultiWriter(hash, size))) // what a reader left behind the last line
	}
	if err != nil {
		return Upload{}, errors.Join(err, d.drop(ctx, made))
	}
	made.SHA256, made.Bytes, made.Lines = hex.EncodeToString(hash.Sum(nil)), size.n, keep.lines
	actor.Key.Hash = fmt.Sprintf("%s %s %s %t", actor.Key.Hash, made.SHA256, made.Format, dryRun)
	stored, err := idempotency.Once(ctx, d.DB, actor, func(tx *store.Tx) (Upload, idempotency.Outcome, error) {
		queued, err := queueUpload(tx, made)
		return queued, idempotency.Outcome{ID: made.ID}, err
	}, func(ctx context.Context, before idempotency.Outcome) (Upload, error) {
		return d.UploadByID(ctx, actor, before.ID)
	})
	if err != nil || stored.ID != made.ID {
		err = errors.Join(err, d.drop(ctx, made))
	}
	return stored, err
}

type counter struct{ n int64 }

// Write implements io.Writer.
func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}

// pieceKeeper stores the lines of a file in pieces, each for one write of the import.
type pieceKeeper struct {
	d      *Disputes
	ctx    context.Context //nolint:containedctx // it lives as long as one call
	of     Upload
	lines  int64
	number int
	part   []disputefile.Line
}

func (k *pieceKeeper) add(line disputefile.Line) error {
	if k.lines++; k.lines > MostLines {
		return errs.WrongField("file", "The file has more than %d lines.", MostLines)
	}
	if k.part = append(k.part, line); len(k.part) < linesPerWrite {
		return nil
	}
	return k.flush()
}

func (k *pieceKeeper) flush() error {
	if len(k.part) == 0 {
		return nil
	}
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(k.part); err != nil {
		return err
	}
	err := k.d.Store.Write(k.ctx, k.of.SiteID, func(tx *store.Tx) error { return insertUploadPiece(tx, k.of, k.number, body.Bytes()) })
	k.number++
	k.part = k.part[:0]
	return err
}

// drop removes a file that did not arrive. If it fails, the cleanup job does.
func (d *Disputes) drop(ctx context.Context, u Upload) error {
	ctx = context.WithoutCancel(ctx) // the client may have disconnected
	return d.Store.Write(ctx, u.SiteID, func(tx *store.Tx) error { return deleteUpload(tx, u.SiteID, u.ID, uploadReceiving) })
}

// UploadByID reads a file of the actor's site.
func (d *Disputes) UploadByID(ctx context.Context, actor access.Actor, id int64) (Upload, error) {
	if err := actor.Require(access.ReadDisputes); err != nil {
		return Upload{}, err
	}
	u, err := sites.Read(ctx, d.DB, actor, func(tx *store.Tx) (Upload, error) { return uploadByID(tx, actor.SiteID, id) })
	return u, unknownUpload(err, id)
}

func unknownUpload(err error, id int64) error {
	return store.NotFoundAs(errs.RecordNotFound, err, "Dispute file %d not found.", id)
}

// Uploads reads one page of the files of the actor's site.
func (d *Disputes) Uploads(ctx context.Context, actor access.Actor, states []UploadState, page store.Page) (list store.List[Upload], err error) {
	if err := actor.Require(access.ReadDisputes); err != nil {
		return list, err
	}
	return sites.ReadPage(ctx, d.DB, actor, page, func(tx *store.Tx) (store.List[Upload], error) {
		return uploadsPage(tx, actor.SiteID, states, page)
	})
}

// UploadLines reads one page of the results of a file, in order of its lines.
func (d *Disputes) UploadLines(
	ctx context.Context, actor access.Actor, id int64, outcomes []Outcome, page store.Page,
) (list store.List[Line], err error) {
	if err := actor.Require(access.ReadDisputes); err != nil {
		return list, err
	}
	list, err = sites.ReadPage(ctx, d.DB, actor, page, func(tx *store.Tx) (store.List[Line], error) {
		if _, err := uploadByID(tx, actor.SiteID, id); err != nil {
			return store.List[Line]{}, err
		}
		return uploadLinesPage(tx, actor.SiteID, id, outcomes, page)
	})
	return list, unknownUpload(err, id)
}

// NextUpload imports the next file until it is finished or the context ends; the next call resumes it. Sites take turns, and the oldest file of
// a site comes first. more reports that there was work.
func (d *Disputes) NextUpload(ctx context.Context, now AccessNow) (more bool, err error) {
	var key store.Key
	err = d.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		key, err = nextUpload(tx)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var u Upload
	err = d.Store.Write(ctx, key.SiteID, func(tx *store.Tx) (err error) {
		u, err = takeUpload(tx, key)
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return true, nil
	case err != nil:
		return false, err
	case u.tries > uploadTries:
		return true, d.endUpload(ctx, u, UploadFailed, "The import was tried several times without progress. Import the file with the command line.")
	}
	for u.Done < u.Lines {
		if ctx.Err() != nil {
			return true, nil
		}
		if u, err = d.importNext(ctx, u, now); isRefusal(err) {
			return true, d.endUpload(ctx, u, UploadFailed, messageOf(err))
		} else if err != nil {
			return false, err
		}
	}
	return true, d.endUpload(ctx, u, UploadDone, "")
}

// importNext imports the next lines of a file.
func (d *Disputes) importNext(ctx context.Context, u Upload, now AccessNow) (Upload, error) {
	var actor access.Actor
	var part []disputefile.Line
	err := d.Store.Read(ctx, u.SiteID, func(tx *store.Tx) (err error) {
		if actor, err = now(tx, u.SiteID, u.AuthorID, u.tokenID); err != nil {
			return err
		}
		part, err = uploadPiece(tx, u, u.Done/linesPerWrite)
		return err
	})
	if err == nil {
		err = actor.Require(access.WorkDisputes)
	}
	if errors.Is(err, store.ErrNotFound) || errs.Is(err, errs.Forbidden) {
		return u, errs.New(errs.Forbidden, "%s can no longer import disputes on this site. The remaining lines were not imported.", u.Author)
	}
	if err != nil {
		return u, err
	}
	done, err := d.importLines(ctx, actor, u.DryRun, part, func(tx *store.Tx, done []Line) error { return keepResults(tx, u, len(part), done) })
	u.Done, u.Results = u.Done+int64(len(part)), u.Results+int64(len(done))
	return u, err
}

func (d *Disputes) endUpload(ctx context.Context, u Upload, state UploadState, problem string) error {
	return d.Store.Write(ctx, u.SiteID, func(tx *store.Tx) error { return endUpload(tx, u, state, problem) })
}

// ForgetUploads deletes incomplete uploads and old files with their results, some at a time. more reports that there may be others.
func (d *Disputes) ForgetUploads(ctx context.Context) (more bool, err error) {
	return sites.Each(ctx, d.DB, sitesWithUploads, 1, forgetUploads)
}

func linesOf(body []byte) (lines []disputefile.Line, err error) {
	err = gob.NewDecoder(bytes.NewReader(body)).Decode(&lines)
	return lines, err
}

// outcomes are the outcomes of lines, in the order of the columns of dispute_files.
var outcomes = []Outcome{
	Outcome(dispute.Matched), Outcome(dispute.Queued), Outcome(dispute.Unmatched), LineRepeated, LineIgnored, LineRefused,
}

// Outcomes lists the outcomes of lines.
func Outcomes() []Outcome { return append([]Outcome{}, outcomes...) }
