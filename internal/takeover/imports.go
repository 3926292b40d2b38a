// Package takeover imports books of bookings and payments that others have kept. It owns no table: what it imports goes
// the way of every booking and payment. Begin reading at Imports.Payments.
package takeover

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/merchants"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// Imports takes over the books of other systems, many payments at a time.
type Imports struct{ *core.Core }

// NewImports makes the use cases.
func NewImports(c *core.Core) *Imports {
	// The import itself looks for the approval of its file.
	nothing := func(*db.Tx, auth.Actor, travel.Proposal) (any, error) { return nil, nil }
	c.Kinds.Register(travel.ProposeTakeover, core.Kind{Carry: nothing})
	return &Imports{c}
}

// rowsPerWrite is how many rows share a write: enough that commits cost little, few enough that a write stays far
// below its five seconds and others need not wait long behind it.
const rowsPerWrite = 200

// firstLook is after how many rows the database looks at how much it holds by now; after four times as many it looks
// again, and so on.
const firstLook = 1000

// ImportOptions says how payments are taken over.
type ImportOptions struct {
	// Mode is the mode in which channels are created that the rows name and that do not exist; "" creates none, and
	// refuses their rows.
	Mode travel.AccountMode
	// CoverFromEffective takes over a book that was covered before: cover starts when each payment was taken (R2).
	CoverFromEffective bool
	// SHA256 is the hash of the file, by which another operator approves it where that is needed; Reason is for them.
	SHA256, Reason string
	// DryRun goes through everything and keeps nothing.
	DryRun   bool
	Progress func(rows int)        // called after each write with the number of rows done so far; may be nil
	Refused  func(refusal Refusal) // called for each row that was refused; may be nil
}

// ImportReport says what an import did, or on a dry run would have done.
type ImportReport struct {
	Rows     int
	Bookings Tally // distinct ones
	Payments Tally
	Channels []string // created, by name
	Refused  int      // rows
	// Proposal is set where the import waits for another operator: nothing was taken.
	Proposal *travel.Proposal
}

// Tally counts what was made apart from what was there already.
type Tally struct {
	Created, AlreadyThere int
}

// Refusal is a row that was not taken and why.
type Refusal struct {
	Line   int
	Reason string
	Cells  map[string]string // what is wrong with which cell, where single cells are to blame
}

// errDryRun takes a write back at its end.
var errDryRun = errors.New("dry run: nothing is kept")

// Payments takes over payments and the bookings that they were made for. The keys of booking and payment are natural
// keys in their channel: a row that was taken over before is left as it is, and refused where it says something else
// now. A row that cannot be taken refuses itself and nothing else. An error ends the import; what was reported to
// Progress until then stays.
func (i *Imports) Payments(
	ctx context.Context, actor auth.Actor, rows iter.Seq2[travel.ImportedPayment, error], opts ImportOptions,
) (ImportReport, error) {
	// Who takes over a book decides from when it is covered and makes protected channels: the operator's business.
	for _, p := range []auth.Permission{auth.SetChannelMode, auth.WriteBookings, auth.WriteTransactions} {
		if err := actor.Require(p); err != nil {
			return ImportReport{}, err
		}
	}
	if opts.Mode != "" && !slices.Contains(i.Profile.Modes(), opts.Mode) {
		return ImportReport{}, fault.WrongField("mode", "This is not one of %v.", i.Profile.Modes())
	}
	run := &importRun{Imports: i, actor: actor, opts: opts, seen: map[int64]bool{}, channels: map[string]money.Currency{}}
	if opts.DryRun {
		err := run.rehearse(ctx, rows)
		return run.report, err
	}
	if err := run.begin(ctx); err != nil || run.report.Proposal != nil {
		return run.report, err
	}
	err := run.all(ctx, rows)
	return run.report, errors.Join(err, run.end(ctx, err != nil))
}

// begin asks for the approval that the import needs, and writes into the audit that it starts.
func (r *importRun) begin(ctx context.Context) error {
	return r.WriteAs(ctx, r.actor, func(tx *db.Tx) error {
		r.report.Proposal = nil
		p, err := mayImport(r.Core, tx, r.actor, r.opts)
		if err != nil {
			return err
		}
		if p.State != travel.ProposalApproved {
			r.report.Proposal = &p
			return nil
		}
		return core.Record(tx, r.actor, "import.start", "payments", nil, auditImport(r.opts, r.report, false))
	})
}

// end writes into the audit what the import did, also when its caller has gone.
func (r *importRun) end(ctx context.Context, failed bool) error {
	return r.WriteAs(context.WithoutCancel(ctx), r.actor, func(tx *db.Tx) error {
		return core.Record(tx, r.actor, "import.end", "payments", nil, auditImport(r.opts, r.report, failed))
	})
}

// importRun is one import while it goes on.
type importRun struct {
	*Imports
	actor    auth.Actor
	opts     ImportOptions
	report   ImportReport
	seen     map[int64]bool            // bookings that were counted
	channels map[string]money.Currency // channels that were created
}

func (r *importRun) all(ctx context.Context, rows iter.Seq2[travel.ImportedPayment, error]) error {
	chunk := make([][]travel.ImportedPayment, 0, rowsPerWrite)
	nextLook := firstLook
	for row, err := range rows {
		if err != nil {
			return err
		}
		if chunk = append(chunk, []travel.ImportedPayment{row}); len(chunk) < rowsPerWrite {
			continue
		}
		if err := r.take(ctx, chunk); err != nil {
			return err
		}
		chunk = chunk[:0]
		if r.report.Payments.Created >= nextLook {
			nextLook *= 4
			if err := r.Store.RefreshStatistics(ctx); err != nil {
				return err
			}
		}
	}
	return r.take(ctx, chunk)
}

// take writes a chunk of rows, of which those in one group have to share a write, and counts what came of them.
func (r *importRun) take(ctx context.Context, groups [][]travel.ImportedPayment) error {
	if len(groups) == 0 {
		return nil
	}
	c, err := r.write(ctx, slices.Concat(groups...))
	switch {
	case err == nil:
		r.count(c)
		return nil
	case ctx.Err() == nil && len(groups) == 1 && len(groups[0]) > 1:
		return &fault.Error{Kind: fault.KindOf(err), Err: err, Message: fmt.Sprintf(
			"Line %d and %d others build on each other, and the database does not take them in one write.", groups[0][0].Line, len(groups[0])-1)}
	case ctx.Err() != nil || len(groups) == 1:
		return err
	}
	// It was too much for one write: a machine can be as slow as that.
	half := len(groups) / 2
	if err := r.take(ctx, groups[:half]); err != nil {
		return err
	}
	return r.take(ctx, groups[half:])
}

func (r *importRun) write(ctx context.Context, rows []travel.ImportedPayment) (*importChunk, error) {
	c, err := r.writeOnce(ctx, rows, false)
	if errors.Is(err, errTakeBack) || errors.Is(err, db.ErrConflict) {
		c, err = r.writeOnce(ctx, rows, true)
	}
	return c, err
}

func (r *importRun) writeOnce(ctx context.Context, rows []travel.ImportedPayment, careful bool) (*importChunk, error) {
	var c *importChunk
	err := r.WriteAs(ctx, r.actor, func(tx *db.Tx) error {
		site, err := merchants.Site(tx, r.actor.SiteID)
		if err != nil {
			return core.NotFoundAs(fault.SettingNotFound, err, "There is no site %d.", r.actor.SiteID)
		}
		c = &importChunk{
			run: r, tx: tx, site: site, rows: rows, careful: careful, channels: map[string]*importChannel{},
		}
		for _, row := range rows {
			if err := c.row(row); err != nil {
				return err
			}
		}
		if r.opts.DryRun {
			return errDryRun
		}
		return nil
	})
	if errors.Is(err, errDryRun) {
		err = nil
	}
	return c, err
}

// count adds what a chunk did, once it is durable, and tells who follows.
func (r *importRun) count(c *importChunk) {
	r.report.Rows += len(c.rows)
	r.report.Payments.Created += c.payments.Created
	r.report.Payments.AlreadyThere += c.payments.AlreadyThere
	for _, id := range c.made {
		r.seen[id] = true
		r.report.Bookings.Created++
	}
	for _, id := range c.met {
		if !r.seen[id] {
			r.seen[id] = true
			r.report.Bookings.AlreadyThere++
		}
	}
	for _, channel := range c.opened {
		if _, before := r.channels[channel.Name]; !before { // a dry run creates it in each of its writes
			r.channels[channel.Name] = channel.Currency
			r.report.Channels = append(r.report.Channels, channel.Name)
		}
	}
	r.report.Refused += len(c.refused)
	if r.opts.Refused != nil {
		for _, refusal := range c.refused {
			r.opts.Refused(refusal)
		}
	}
	if r.opts.Progress != nil {
		r.opts.Progress(r.report.Rows)
	}
}

type auditedImport struct {
	FileSHA256         string   `json:"file_sha256,omitempty"`
	Mode               string   `json:"mode,omitempty"`
	CoverFromEffective bool     `json:"cover_from_effective"`
	Rows               int      `json:"rows"`
	BookingsCreated    int      `json:"bookings_created"`
	BookingsThere      int      `json:"bookings_already_there"`
	PaymentsCreated    int      `json:"payments_created"`
	PaymentsThere      int      `json:"payments_already_there"`
	Channels           []string `json:"channels_created"`
	Refused            int      `json:"refused"`
	Failed             bool     `json:"failed"` // ended before the end of the file
}

func auditImport(opts ImportOptions, r ImportReport, failed bool) any {
	return auditedImport{
		FileSHA256: opts.SHA256, Mode: string(opts.Mode), CoverFromEffective: opts.CoverFromEffective, Rows: r.Rows,
		BookingsCreated: r.Bookings.Created, BookingsThere: r.Bookings.AlreadyThere,
		PaymentsCreated: r.Payments.Created, PaymentsThere: r.Payments.AlreadyThere,
		Channels: append([]string{}, r.Channels...), Refused: r.Refused, Failed: failed,
	}
}
