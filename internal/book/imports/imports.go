// Package imports imports bookings and payments from other systems, and creates both through their rooms. It owns the
// tables imports and import_*: files uploaded over HTTP, and the outcome of each row. Start at Imports.Payments, then
// Files.Receive and Files.Next.
package imports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Imports imports books from other systems.
type Imports struct {
	*payments.Room
	Approvals *approvals.Approvals
}

// Register registers how an approved import is carried out.
func (i *Imports) Register() *Imports {
	// An approval alone changes nothing: the next import of the file finds it.
	nothing := func(*store.Tx, access.Actor, proposal.Proposal) (any, error) { return nil, nil }
	i.Approvals.Register(proposal.Takeover, approvals.Kind{Carry: nothing})
	return i
}

// Rows are written in batches: small enough not to delay other writers, large enough to keep commits cheap. An import starts with
// firstRows. After that, a batch has as many rows as the machine writes in about pieceTime, or in alonePieceTime if there have been no
// other writers for a while.
const (
	firstRows            = 20
	fewestRows, mostRows = 10, 1000
	pieceTime            = 40 * time.Millisecond
	alonePieceTime       = 200 * time.Millisecond
	calmAfter            = 5 // consecutive writes without other writers, before batches grow
)

// firstRefresh is the number of new payments after which the database's statistics are refreshed for the first time, while the import
// continues. The next refresh follows after four times as many, and so on.
const firstRefresh = 1000

// ImportOptions says how payments are imported.
type ImportOptions struct {
	// Mode is the mode of channels that the import creates for unknown names. If it is "", rows with unknown names are rejected.
	Mode merchant.AccountMode
	// CoverFromEffective is for a book that was covered before: cover starts when each payment was taken (R2).
	CoverFromEffective bool
	// SHA256 is the hash of the file in hexadecimal, or "" without a file. If the import needs approval, another operator reads the Reason
	// and approves this hash.
	SHA256, Reason string
	// DryRun imports everything and rolls it back.
	DryRun   bool
	Progress func(rows int)        // called after each write with the number of rows done so far; may be nil
	Refused  func(refusal Refusal) // called for each rejected row; may be nil
	// Done reports whether the row of a line was already tried, imported or rejected, and is now skipped; may be nil. A
	// trial is a dry run, or the run before a proposal.
	Done func(trial bool, line int) bool
	// Keep stores the outcome of a batch of rows, in the write that imports them or, after a dry run, in a separate one. May be nil.
	Keep func(tx *store.Tx, part Part) error
	// Tried reads what Keep has stored about the trial, in this run and earlier ones; nil if Keep is nil.
	Tried func(tx *store.Tx) (proposal.FileEffect, error)
}

// Part is the result of one write of an import or of a dry run.
type Part struct {
	Trial           bool // rolled back: a dry run, or the trial before a proposal
	Rows            []Row
	BookingsCreated int
	BookingsThere   int                   // distinct; in a trial, no other part counts them
	Channels        []string              // created, by name
	Shares          []proposal.FileShares // of the payments that it created
	Totals          []Total               // likewise
}

// Row is the outcome of one row of a file.
type Row struct {
	Line          int
	State         RowState
	BookingID     int64 // 0 if unknown or rolled back
	TransactionID int64 // likewise
	Reason        string
}

// RowState is the outcome of a row.
type RowState string

// The states of rows. In a dry run, created means that it would be created.
const (
	RowCreated RowState = "created"
	RowThere   RowState = "already_there"
	RowRefused RowState = "refused"
)

// RowStates are all states of rows.
var RowStates = []RowState{RowCreated, RowThere, RowRefused}

// ImportReport is the result of an import, or of a dry run.
type ImportReport struct {
	Rows     int
	Bookings Tally // distinct ones
	Payments Tally
	Channels []string // created, by name
	Totals   []Total  // of the payments that it created
	Refused  int      // rows
	// Proposal is set if another operator must approve the import first. Then nothing was imported.
	Proposal *proposal.Proposal
}

// Tally counts the bookings or payments of an import: those that it created, and those that existed before.
type Tally struct {
	Created, AlreadyThere int
}

// Refusal is a row that was not imported, with the reason.
type Refusal struct {
	Line   int
	Reason string
	Cells  map[string]string // the problems, by the name of the cell; empty if the reason is about the whole row
}

// errDryRun rolls a write back at its end.
var errDryRun = errors.New("dry run: nothing is stored")

// Payments imports payments and their bookings. Both have natural keys, which are unique in their channel. Rows that were imported before
// change nothing, and are rejected if their content differs now. A rejected row does not stop the others. An error ends the import; rows
// already reported to Progress remain.
func (i *Imports) Payments(
	ctx context.Context, actor access.Actor, rows iter.Seq2[ImportedPayment, error], opts ImportOptions,
) (ImportReport, error) {
	if err := i.may(actor); err != nil {
		return ImportReport{}, err
	}
	var problems errs.Problems
	i.checkMode(actor, opts.Mode, &problems)
	if err := problems.Err(); err != nil {
		return ImportReport{}, err
	}
	run := newRun(i, actor, opts)
	if opts.DryRun {
		err := run.rehearse(ctx, rows)
		return run.report, err
	}
	effect, err := run.effect(ctx, rows)
	if err != nil {
		return run.report, err
	}
	if err := run.begin(ctx, effect); err != nil || run.report.Proposal != nil {
		return run.report, err
	}
	if effect != nil {
		return run.report, errs.New(errs.Unavailable, "The import has just been approved. Run it again.")
	}
	err = run.all(ctx, without(rows, false, opts.Done))
	return run.report, errors.Join(err, run.end(ctx, err != nil))
}

// may rejects actors who may not import. Members may import what they could report one by one. Everything else is reserved for
// operators: see operatorsMode, importChunk.taken and access.RecordChargebacks. Retroactive cover needs two people.
func (i *Imports) may(actor access.Actor) error {
	for _, p := range []access.Permission{access.ImportBooks, access.WriteBookings, access.WriteTransactions} {
		if err := actor.Require(p); err != nil {
			return err
		}
	}
	return nil
}

// operatorsMode reports whether only operators may create channels in this mode and the actor is not one.
func operatorsMode(actor access.Actor, mode merchant.AccountMode) bool {
	return mode != "" && mode != merchant.ModeTest && mode != merchant.ModeDraft && !actor.Can(access.SetChannelTerms)
}

// checkMode adds a problem if channels cannot have the mode or the actor may not set it. "" is no mode.
func (i *Imports) checkMode(actor access.Actor, mode merchant.AccountMode, p *errs.Problems) {
	if mode == "" || slices.Contains(i.Profile.Modes(), mode) {
		if operatorsMode(actor, mode) {
			p.Wrong("mode", "New channels must be in mode test or draft. Only the operator can set other modes.")
		}
		return
	}
	modes := make([]string, 0, len(i.Profile.Modes()))
	for _, mode := range i.Profile.Modes() {
		modes = append(modes, string(mode))
	}
	p.Wrong("mode", "Must be one of: %s.", strings.Join(modes, ", "))
}

// without skips rows that were processed before. done may be nil.
func without(
	rows iter.Seq2[ImportedPayment, error], trial bool, done func(trial bool, line int) bool,
) iter.Seq2[ImportedPayment, error] {
	if done == nil {
		return rows
	}
	return func(yield func(ImportedPayment, error) bool) {
		for row, err := range rows {
			if (err != nil || !done(trial, row.Line)) && !yield(row, err) {
				return
			}
		}
	}
}

// begin requests approval if the import needs it, and records the start of the import in the audit log.
func (r *importRun) begin(ctx context.Context, effect *proposal.Effect) error {
	return r.WriteAs(ctx, r.actor, func(tx *store.Tx) error {
		r.report.Proposal = nil
		p, err := r.approval(tx, effect)
		if err != nil {
			return err
		}
		if p.State != proposal.Approved {
			r.report.Proposal = &p
			return nil
		}
		return audit.Record(tx, r.actor, "import.start", "payments", nil, auditImport(r.opts, r.report, false))
	})
}

// end records the import in the audit log, even if the caller has disconnected.
func (r *importRun) end(ctx context.Context, failed bool) error {
	return r.WriteAs(context.WithoutCancel(ctx), r.actor, func(tx *store.Tx) error {
		return audit.Record(tx, r.actor, "import.end", "payments", nil, auditImport(r.opts, r.report, failed))
	})
}

// importRun is one import that is running.
type importRun struct {
	*Imports
	actor    access.Actor
	opts     ImportOptions
	report   ImportReport
	seen     map[int64]bool            // ids of the bookings that were counted
	channels map[string]money.Currency // of the channels that were created, by name
	shares   shares
	rows     int // in the next write
	calm     int // consecutive writes without other writers
}

func newRun(i *Imports, actor access.Actor, opts ImportOptions) *importRun {
	return &importRun{
		Imports: i, actor: actor, opts: opts, seen: map[int64]bool{}, channels: map[string]money.Currency{}, shares: shares{},
		rows: firstRows,
	}
}

func (r *importRun) all(ctx context.Context, rows iter.Seq2[ImportedPayment, error]) error {
	chunk := make([][]ImportedPayment, 0, mostRows)
	nextRefresh := firstRefresh
	for list, err := range together(rows) {
		if err != nil {
			return err
		}
		for _, row := range inOrder(list) {
			if chunk = append(chunk, []ImportedPayment{row}); len(chunk) < r.rows {
				continue
			}
			if err := r.take(ctx, chunk); err != nil {
				return err
			}
			chunk = chunk[:0]
		}
		if r.report.Payments.Created >= nextRefresh {
			if err := r.Store.RefreshStatistics(ctx, "transactions", nextRefresh); err != nil {
				return err
			}
			nextRefresh *= 4
		}
	}
	return r.take(ctx, chunk)
}

// take writes a chunk of rows and counts the results. The rows of a group must share a write.
func (r *importRun) take(ctx context.Context, groups [][]ImportedPayment) error {
	if len(groups) == 0 {
		return nil
	}
	c, err := r.write(ctx, slices.Concat(groups...))
	switch {
	case err == nil:
		return r.count(c)
	case isRefusal(err): // of the whole import, not of a row
		return err
	case ctx.Err() == nil && len(groups) == 1 && len(groups[0]) > 1:
		return &errs.Error{Kind: errs.KindOf(err), Err: err, Message: fmt.Sprintf(
			"Line %d and %d other lines depend on each other, but the database cannot store them in one write.",
			groups[0][0].Line, len(groups[0])-1)}
	case ctx.Err() != nil || len(groups) == 1:
		return err
	}
	// On a slow machine, the chunk may be too large for one write.
	half := len(groups) / 2
	if err := r.take(ctx, groups[:half]); err != nil {
		return err
	}
	return r.take(ctx, groups[half:])
}

func (r *importRun) write(ctx context.Context, rows []ImportedPayment) (*importChunk, error) {
	c, err := r.writeOnce(ctx, rows, false)
	if errors.Is(err, errTakeBack) || errors.Is(err, store.ErrConflict) {
		c, err = r.writeOnce(ctx, rows, true)
	}
	return c, err
}

func (r *importRun) writeOnce(ctx context.Context, rows []ImportedPayment, careful bool) (*importChunk, error) {
	var c *importChunk
	if _, err := (&payments.Payments{Room: r.Room}).ExpireDue(ctx, r.actor.SiteID); err != nil {
		return nil, err
	}
	if err := r.Store.GiveWay(ctx); err != nil {
		return nil, err
	}
	var began time.Time
	err := r.WriteLongBy(ctx, sites.ClockFor(r.actor), func(tx *store.Tx) error {
		began = r.Clock()
		site, err := merchants.SiteInForce(tx, r.actor.SiteID)
		if err != nil {
			return store.NotFoundAs(errs.SettingNotFound, err, "Site %d not found.", r.actor.SiteID)
		}
		c = &importChunk{
			run: r, tx: tx, site: site, rows: rows, careful: careful, channels: map[int64]*importChannel{}, named: map[string]int64{},
			shares: shares{},
		}
		if err := c.lookUp(); err != nil {
			return err
		}
		if err := c.all(); err != nil { // a dry run inserts the rows too, to check the constraints of the schema
			return err
		}
		if r.opts.DryRun {
			return errDryRun
		}
		return r.keep(tx, c)
	})
	if errors.Is(err, errDryRun) {
		err = r.WriteAs(ctx, r.actor, func(tx *store.Tx) error { return r.keep(tx, c) })
	}
	if err == nil {
		if r.calm++; r.Store.Others() {
			r.calm = 0
		}
		r.rows = pace(r.rows, len(rows), r.Clock().Sub(began), r.calm < calmAfter)
	}
	return c, err
}

// keep passes on the outcome of the rows of a chunk.
func (r *importRun) keep(tx *store.Tx, c *importChunk) error {
	if r.opts.Keep == nil {
		return nil
	}
	part := Part{Trial: r.opts.DryRun, Rows: c.done, BookingsCreated: len(c.made), Shares: r.sharesOf(c), Totals: c.totals}
	seen := map[int64]bool{}
	for _, id := range c.made {
		seen[id] = true
	}
	for _, id := range c.met {
		if !seen[id] {
			seen[id] = true
			part.BookingsThere++
		}
	}
	for _, channel := range c.opened {
		part.Channels = append(part.Channels, channel.Name)
	}
	for _, refusal := range c.refused {
		part.Rows = append(part.Rows, Row{Line: refusal.Line, State: RowRefused, Reason: refusal.Reason})
	}
	return r.opts.Keep(tx, part)
}

// pace returns the number of rows of the next write, given the duration and the number of rows of the last one; next is how many were
// requested. With other writers, writes become short immediately; otherwise they grow in steps.
func pace(next, rows int, took time.Duration, others bool) int {
	piece := alonePieceTime
	if others {
		piece = pieceTime
	}
	switch {
	case took > piece*3/2 && rows <= next: // more rows than requested are one group, which is no measure for others
		return max(fewestRows, min(next/2, int(int64(rows)*int64(piece)/int64(took))))
	case took < piece/2 && rows >= next:
		return min(mostRows, next*2)
	}
	return next
}

// count adds the results of a chunk to the report once they are durable, and calls Refused and Progress.
func (r *importRun) count(c *importChunk) (err error) {
	if r.report.Totals, err = addTotals(r.report.Totals, c.totals...); err != nil {
		return errTotals(err)
	}
	r.report.Rows += len(c.rows)
	r.report.Payments.Created += c.payments.Created
	r.report.Payments.AlreadyThere += c.payments.AlreadyThere
	for _, share := range c.shares {
		r.shares.merge(share)
	}
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
		if _, before := r.channels[channel.Name]; !before { // each write of a dry run creates it
			r.channels[channel.Name] = channel.Currency
			r.report.Channels = append(r.report.Channels, channel.Name)
		}
	}
	r.report.Refused += len(c.refused)
	slices.SortFunc(c.refused, func(a, b Refusal) int { return cmp.Compare(a.Line, b.Line) })
	if r.opts.Refused != nil {
		for _, refusal := range c.refused {
			r.opts.Refused(refusal)
		}
	}
	if r.opts.Progress != nil {
		r.opts.Progress(r.report.Rows)
	}
	return nil
}

// errTotals is the error of control totals that no longer fit in 64 bits.
func errTotals(err error) error {
	return &errs.Error{Kind: errs.Invalid, Err: err, Message: "The amounts of the file are too large to be added up. Split the file."}
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
	Failed             bool     `json:"failed"` // an error ended the import before the end of the file
}

func auditImport(opts ImportOptions, r ImportReport, failed bool) any {
	return auditedImport{
		FileSHA256: opts.SHA256, Mode: string(opts.Mode), CoverFromEffective: opts.CoverFromEffective, Rows: r.Rows,
		BookingsCreated: r.Bookings.Created, BookingsThere: r.Bookings.AlreadyThere,
		PaymentsCreated: r.Payments.Created, PaymentsThere: r.Payments.AlreadyThere,
		Channels: append([]string{}, r.Channels...), Refused: r.Refused, Failed: failed,
	}
}
