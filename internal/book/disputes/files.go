package disputes

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"holdfast/internal/book/disputefile"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// linesPerWrite is how many lines of a file one write records.
const linesPerWrite = 100

// MostLines is how many lines a file has at most.
const MostLines = 200_000

// Outcome is the result of a line of a file.
type Outcome string

// The outcomes besides the states of matching: see dispute.Matching.
const (
	LineRepeated Outcome = "repeated" // all of it was known
	LineIgnored  Outcome = "ignored"  // it is not about a dispute
	LineRefused  Outcome = "refused"  // it cannot be understood
)

// Line is the result of one report of a line of a file. A line can have several reports.
type Line struct {
	Number    int
	Outcome   Outcome
	DisputeID int64 // 0: none, or on a dry run
	Source    string
	CaseID    string
	Kind      dispute.Kind
	Message   string // why it was refused or ignored, or which fields were not used; can be ""
}

// File is the result of a file.
type File struct {
	Format disputefile.Format
	DryRun bool
	Lines  []Line // in order of the file
}

// errRollBack ends a dry run.
var errRollBack = errors.New("dry run")

// ImportFile records the disputes of a processor's file. Each write records a part of it, so a file whose import was interrupted is imported again:
// what is known is repeated. On a dry run nothing is kept: each part is checked against what was recorded before the file. It needs the
// permission WorkDisputes. The error is Invalid if the file is not understood as a whole.
func (d *Disputes) ImportFile(ctx context.Context, actor access.Actor, in io.Reader, o disputefile.Options, dryRun bool) (File, error) {
	if err := actor.Require(access.WorkDisputes); err != nil {
		return File{}, err
	}
	format, lines, err := disputefile.Read(in, o)
	if err != nil {
		return File{}, err
	}
	file := File{Format: format, DryRun: dryRun}
	var part []disputefile.Line
	read := 0
	for line, err := range lines {
		if err != nil {
			return file, err
		}
		if read++; read > MostLines {
			return file, errs.WrongField("file", "The file has more than %d lines.", MostLines)
		}
		if part = append(part, line); len(part) < linesPerWrite {
			continue
		}
		if err := d.importPart(ctx, actor, &file, part); err != nil {
			return file, err
		}
		part = part[:0]
	}
	return file, d.importPart(ctx, actor, &file, part)
}

// importPart records some lines and adds their results.
func (d *Disputes) importPart(ctx context.Context, actor access.Actor, file *File, part []disputefile.Line) error {
	if len(part) == 0 {
		return nil
	}
	done, err := d.importLines(ctx, actor, file.DryRun, part, func(*store.Tx, []Line) error { return nil })
	file.Lines = append(file.Lines, done...)
	return err
}

// importLines records some lines in one write, together with what keep writes about their results. If one of them is rejected by the ledger,
// they are recorded again, each in a savepoint. On a dry run only keep's write stays.
func (d *Disputes) importLines(
	ctx context.Context, actor access.Actor, dryRun bool, part []disputefile.Line, keep func(tx *store.Tx, done []Line) error,
) ([]Line, error) {
	done, err := d.writeLines(ctx, actor, dryRun, part, false, keep)
	if isRefusal(err) {
		done, err = d.writeLines(ctx, actor, dryRun, part, true, keep)
	}
	return done, err
}

func (d *Disputes) writeLines(
	ctx context.Context, actor access.Actor, dryRun bool, part []disputefile.Line, careful bool, keep func(tx *store.Tx, done []Line) error,
) (done []Line, err error) {
	err = d.WriteBy(ctx, sites.ClockFor(actor), func(tx *store.Tx) error {
		done = nil
		site, err := merchants.SiteInForce(tx, actor.SiteID)
		if err != nil {
			return err
		}
		w := &write{payments: d.Payments, tx: tx, actor: actor, site: site, origin: originFile}
		for _, line := range part {
			results, err := w.line(line, careful)
			if err != nil {
				return err
			}
			done = append(done, results...)
		}
		if err := ledger.SaveChanges(tx); err != nil {
			return err
		}
		if dryRun {
			return errRollBack
		}
		return keep(tx, done)
	})
	if !errors.Is(err, errRollBack) {
		return done, err
	}
	for i := range done {
		done[i].DisputeID = 0
	}
	return done, d.WriteBy(ctx, sites.ClockFor(actor), func(tx *store.Tx) error { return keep(tx, done) })
}

// line records the reports of one line.
func (w *write) line(line disputefile.Line, careful bool) (done []Line, err error) {
	if line.Problem != "" {
		return []Line{{Number: line.Number, Outcome: LineRefused, Message: line.Problem}}, nil
	}
	if line.Ignored != "" {
		return []Line{{Number: line.Number, Outcome: LineIgnored, Message: line.Ignored}}, nil
	}
	for _, r := range line.Reports {
		one := Line{Number: line.Number, Source: r.Source, CaseID: r.CaseID, Kind: r.Kind}
		for _, note := range r.Notes {
			one.Message = join(one.Message, note.Field+": "+note.Text)
		}
		err := checkLine(r)
		checked := err == nil
		if checked {
			err = w.apart(careful, func() error {
				c, repeated, err := w.take(r, line.Raw)
				if one.DisputeID, one.Outcome = c.ID, Outcome(c.Matching); repeated {
					one.Outcome = LineRepeated
				}
				if channel, named := w.channels[r.Merchant]; err == nil && named && channel == 0 {
					one.Message = join(one.Message, "The merchant "+r.Merchant+" is not one of this site, so all merchants were searched.")
				}
				return err
			})
		}
		switch {
		case isRefusal(err) && (careful || !checked):
			one.Outcome, one.Message = LineRefused, join(one.Message, messageOf(err))
		case err != nil:
			return done, err
		}
		done = append(done, one)
	}
	return done, nil
}

func checkLine(r dispute.Report) error {
	var p errs.Problems
	if checkReport(&p, r, civil.LastDay); p.Err() != nil {
		return p.Err()
	}
	return noCardNumber(r)
}

// apart runs fn, in a savepoint if careful.
func (w *write) apart(careful bool, fn func() error) error {
	if !careful {
		return fn()
	}
	return w.tx.Savepoint(func() error {
		if err := fn(); err != nil {
			return err
		}
		return ledger.SaveChanges(w.tx)
	})
}

// isRefusal reports whether an error is about a line, and not one of the program or the database.
func isRefusal(err error) bool {
	kind := errs.KindOf(err)
	return err != nil && kind != errs.Internal && kind != errs.Unavailable
}

func messageOf(err error) string {
	f, ok := errors.AsType[*errs.Error](err)
	if !ok {
		return err.Error()
	}
	var text string
	for _, field := range slices.Sorted(maps.Keys(f.Params)) {
		text = join(text, field+": "+f.Params[field])
	}
	return cmp.Or(text, f.Message)
}

func join(text, more string) string {
	if text == "" {
		return more
	}
	return text + " " + more
}
