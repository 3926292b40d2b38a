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

	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/paymentfile"
	"holdfast/internal/takeover"
	"holdfast/internal/travel"
)

type importShape struct {
	ID                   int64              `json:"id"`
	State                takeover.FileState `json:"state"`
	DryRun               bool               `json:"dry_run"`
	Mode                 *string            `json:"mode"`
	CoverStart           string             `json:"cover_start"`
	Reason               string             `json:"reason"`
	SHA256               string             `json:"sha256"`
	Bytes                int64              `json:"bytes"`
	Rows                 int64              `json:"rows"`
	RowsDone             int64              `json:"rows_done"`
	BookingsCreated      int64              `json:"bookings_created"`
	PaymentsCreated      int64              `json:"payments_created"`
	PaymentsAlreadyThere int64              `json:"payments_already_there"`
	Refused              int64              `json:"refused"`
	ChannelsCreated      []string           `json:"channels_created"`
	Proposal             *int64             `json:"proposal"`
	Problem              string             `json:"problem"`
	Author               string             `json:"author"`
	AuthorID             int64              `json:"author_id"`
	Created              string             `json:"created"`
	Finished             *string            `json:"finished"`
}

func showImport(f takeover.File) importShape {
	shape := importShape{
		ID: f.ID, State: f.State, DryRun: f.DryRun, Mode: orNull(string(f.Mode)), CoverStart: coverRecorded, Reason: f.Reason,
		SHA256: f.SHA256, Bytes: f.Bytes, Rows: f.Rows, RowsDone: f.Done, BookingsCreated: f.BookingsCreated,
		PaymentsCreated: f.PaymentsCreated, PaymentsAlreadyThere: f.PaymentsThere, Refused: f.Refused,
		ChannelsCreated: append([]string{}, f.Channels...), Proposal: orNull(f.ProposalID), Problem: f.Problem, Author: f.Author,
		AuthorID: f.AuthorID, Created: civil.FormatInstant(f.CreatedAt),
	}
	if f.CoverFromEffective {
		shape.CoverStart = coverEffective
	}
	if !f.FinishedAt.IsZero() {
		shape.Finished = new(civil.FormatInstant(f.FinishedAt))
	}
	return shape
}

// The starts of cover, as the command line names them.
const (
	coverRecorded  = "recorded"
	coverEffective = "effective"
)

type importRowShape struct {
	Line        int               `json:"line"`
	Status      takeover.RowState `json:"status"`
	Booking     *int64            `json:"booking"`
	Transaction *int64            `json:"transaction"`
	Reason      string            `json:"reason"`
}

func showImportRow(r takeover.Row) importRowShape {
	return importRowShape{Line: r.Line, Status: r.State, Booking: orNull(r.BookingID), Transaction: orNull(r.TransactionID), Reason: r.Reason}
}

// createImport takes a file as it comes, a piece at a time. So its body is not read at the door.
func (s *server) createImport(c *call) error {
	q := c.query()
	in := takeover.NewFile{
		DryRun: q.flag("dry_run", false), Mode: travel.AccountMode(q.text("mode")), Reason: q.text("reason"),
		CoverFromEffective: q.one("cover_start", coverRecorded, []string{coverRecorded, coverEffective}) == coverEffective,
	}
	travel.CheckNote(&q.problems, "reason", in.Reason)
	if kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || kind != "text/csv" {
		q.problems.Wrong("Content-Type", "The body is the file itself, with the type text/csv.")
	}
	in.Problems = q.problems
	most := s.cfg.ImportBytes
	if c.r.ContentLength > int64(most) {
		return errBodyTooLarge(most)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), s.cfg.UploadTime)
	defer cancel()
	connection := http.NewResponseController(c.ResponseWriter)
	_ = connection.SetReadDeadline(time.Time{}) // a recorder in a test has no connection
	_ = connection.SetWriteDeadline(time.Time{})
	defer hurry(c, s.cfg.UploadTime)()
	body := http.MaxBytesReader(c.ResponseWriter, c.r.Body, int64(most))
	made, err := s.app.ImportFiles.Receive(ctx, c.actor, in, func(keep func(piece []byte) error) (int, error) {
		return paymentfile.Check(upload{body}, takeover.PieceBytes, s.cfg.ImportRows, keep)
	})
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return errBodyTooLarge(most)
	}
	if err != nil && ctx.Err() != nil { // the time was over while a piece was stored, and not while the next one was awaited
		return errUnfinished()
	}
	if err != nil {
		return err
	}
	c.Header().Set("Location", s.cfg.BaseURL+c.r.URL.EscapedPath()+"/"+strconv.FormatInt(made.ID, 10))
	return c.show(http.StatusAccepted, importObject(made))
}

// upload is the body of a file. That it cannot be read to its end is a fault of the request.
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
	return fault.WrongField("file", "The file did not come to its end. It took too long, or the connection broke.")
}

func importObject(f takeover.File) object { return object{id: f.ID, body: showImport(f)} }

func (s *server) listImports(c *call) error {
	q := c.query()
	page := q.page([]string{"id"})
	filter := takeover.FileFilter{States: words(q, "state", takeover.FileStates)}
	if err := q.err(); err != nil {
		return err
	}
	found, err := s.app.ImportFiles.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, showImport)
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
	c.json(http.StatusOK, deleted{true})
	return nil
}

func (s *server) listImportRows(c *call) error {
	q := c.query()
	page := q.page([]string{"id"})
	filter := takeover.FileFilter{RowStates: words(q, "status", takeover.RowStates)}
	if err := q.err(); err != nil {
		return err
	}
	found, err := s.app.ImportFiles.Rows(c.ctx, c.actor, c.id, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, showImportRow)
}

// csvRows is how many refused rows one read of the CSV takes.
const csvRows = 1000

// getImportCSV answers with the refused rows of an import and their cells, so that they can be mended and sent again.
func (s *server) getImportCSV(c *call) error {
	of, file, err := s.app.ImportFiles.Original(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	c.beginFile("text/csv; charset=utf-8", "import-"+strconv.FormatInt(c.id, 10)+"-refused.csv")
	return c.finishFile(s, paymentfile.WriteRefused(c, file, s.refusedRows(c, of)))
}

// refusedRows are all rows of an import that were refused, in the order of their lines.
func (s *server) refusedRows(c *call, of takeover.File) iter.Seq2[paymentfile.Refused, error] {
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
