package api

import (
	"context"
	"errors"
	"io"
	"iter"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
)

// createImport receives a file piece by piece, so its body is not read at the door.
func (s *server) createImport(c *call) error {
	q := c.query()
	in := imports.NewFile{
		DryRun: q.Flag("dry_run", false), Mode: merchant.AccountMode(q.Text("mode")), Reason: q.Text("reason"),
		CoverFromEffective: q.One("cover_start", view.CoverRecorded, []string{view.CoverRecorded, view.CoverEffective}) == view.CoverEffective,
	}
	check.Note(&q.Problems, "reason", in.Reason)
	if kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || kind != "text/csv" {
		q.Problems.Wrong("Content-Type", "The body must be the file itself, with the content type text/csv.")
	}
	in.Problems = q.Problems
	return s.upload(c, s.cfg.ImportBytes, func(ctx context.Context, body upload) error {
		made, err := s.app.ImportFiles.Receive(ctx, c.actor, in, func(keep func(piece []byte) error) (imports.Scan, error) {
			return paymentfile.Check(body, imports.PieceBytes, s.cfg.ImportRows, keep)
		})
		if err != nil {
			return err
		}
		c.Header().Set("Location", s.cfg.BaseURL+c.r.URL.EscapedPath()+"/"+strconv.FormatInt(made.ID, 10))
		return c.show(http.StatusAccepted, importObject(made))
	})
}

// upload reads the body of a file within the time for uploads.
func (s *server) upload(c *call, most int, receive func(ctx context.Context, body upload) error) error {
	if c.r.ContentLength > int64(most) {
		return errBodyTooLarge(most)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), s.cfg.UploadTime)
	defer cancel()
	connection := http.NewResponseController(c.ResponseWriter)
	_ = connection.SetReadDeadline(time.Time{}) // a recorder in a test has no connection
	_ = connection.SetWriteDeadline(time.Time{})
	defer hurry(c, s.cfg.UploadTime)()
	err := receive(ctx, upload{http.MaxBytesReader(c.ResponseWriter, c.r.Body, int64(most))})
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return errBodyTooLarge(most)
	}
	if err != nil && ctx.Err() != nil { // timed out while a piece was stored, not while waiting for the next one
		return errUnfinished()
	}
	return err
}

// upload is the body of a file. If it cannot be read completely, the error is the client's.
type upload struct{ body io.Reader }

// Read implements io.Reader.
func (u upload) Read(b []byte) (int, error) {
	n, err := u.body.Read(b)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); err != nil && !errors.Is(err, io.EOF) && !tooLarge {
		err = errUnfinished()
	}
	return n, err
}

func errUnfinished() error {
	return errs.WrongField("file", "The upload was incomplete. It took too long, or the connection was lost.")
}

func importObject(f imports.File) object { return object{id: f.ID, body: view.ShowImport(f)} }

func (s *server) listImports(c *call) error {
	q := c.query()
	page := q.Page(nil)
	filter := imports.FileFilter{States: input.Words(q, "state", imports.FileStates)}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.ImportFiles.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowImport)
}

func (s *server) getImport(c *call) error {
	found, err := s.app.ImportFiles.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, importObject(found))
}

func (s *server) confirmImport(c *call) error {
	confirmed, err := s.app.ImportFiles.Confirm(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	c.Header().Set("Location", s.cfg.BaseURL+strings.TrimSuffix(c.r.URL.EscapedPath(), "/confirm"))
	return c.show(http.StatusAccepted, importObject(confirmed))
}

func (s *server) discardImport(c *call) error {
	if err := s.app.ImportFiles.Discard(c.ctx, c.actor, c.id); err != nil {
		return err
	}
	c.json(http.StatusOK, view.Deleted{Deleted: true})
	return nil
}

func (s *server) listImportRows(c *call) error {
	q := c.query()
	page := q.Page(nil)
	filter := imports.FileFilter{RowStates: input.Words(q, "status", imports.RowStates)}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.ImportFiles.Rows(c.ctx, c.actor, c.id, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowImportRow)
}

// csvRows is how many rejected rows are read at a time.
const csvRows = 1000

// getImportCSV returns the rejected rows of an import with their cells, to be corrected and uploaded again.
func (s *server) getImportCSV(c *call) error {
	of, file, err := s.app.ImportFiles.Original(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	c.beginFile("text/csv; charset=utf-8", "import-"+strconv.FormatInt(c.id, 10)+"-refused.csv")
	return c.finishFile(s, paymentfile.WriteRefused(c, file, s.refusedRows(c, of)))
}

// refusedRows returns all rejected rows of an import, in line order.
func (s *server) refusedRows(c *call, of imports.File) iter.Seq2[paymentfile.Refused, error] {
	return func(yield func(paymentfile.Refused, error) bool) {
		last := 0
		for more := true; more; {
			list, err := s.app.ImportFiles.Refused(c.ctx, c.actor, of, last, csvRows)
			if err != nil {
				yield(paymentfile.Refused{}, err)
				return
			}
			for _, row := range list {
				if last = row.Line; !yield(paymentfile.Refused{Line: row.Line, Reason: row.Reason}, nil) {
					return
				}
			}
			more = len(list) == csvRows
		}
	}
}
