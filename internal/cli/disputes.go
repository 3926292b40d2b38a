package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"holdfast/internal/api/reports"
	"holdfast/internal/book/disputefile"
	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// disputeCmd groups the dispute commands.
type disputeCmd struct {
	List       disputeListCmd       `cmd:"" help:"List disputes."`
	Show       disputeShowCmd       `cmd:"" help:"Show a dispute with its history."`
	Ratios     disputeRatiosCmd     `cmd:"" help:"Show the dispute ratios of a month, by merchant."`
	Candidates disputeCandidatesCmd `cmd:"" help:"List the payments that a dispute may be about, the best first."`
	Match      disputeMatchCmd      `cmd:"" help:"Choose the payment of a dispute."`
	Unmatch    disputeUnmatchCmd    `cmd:"" help:"Undo a match."`
	Assign     disputeAssignCmd     `cmd:"" help:"Set who works on a dispute."`
	Note       disputeNoteCmd       `cmd:"" help:"Add a note to a dispute."`
	Event      disputeEventCmd      `cmd:"" help:"Record by hand that a dispute is won, lost, expired or cancelled."`
	Accept     disputeAcceptCmd     `cmd:"" help:"Record that the merchant does not defend a dispute."`
	Challenge  disputeChallengeCmd  `cmd:"" help:"Record that a dispute was answered with evidence."`
	Attach     disputeAttachCmd     `cmd:"" help:"Attach a file to a dispute as evidence."`
	Represent  disputeRepresentCmd  `cmd:"" help:"Record that a chargeback was represented with its evidence."`

	Representment disputeRepresentmentCmd `cmd:"" help:"Show the evidence against a dispute that is on record, or save it as a PDF for the processor."`
}

// disputeListCmd lists disputes.
type disputeListCmd struct {
	listFlags
	Stage     []string `placeholder:"STAGE" help:"Only these stages: inquiry, pre_dispute, chargeback, pre_arbitration, arbitration."`
	Status    []string `placeholder:"STATUS" help:"Only these statuses: open, accepted, challenged, won, lost, expired, cancelled, prevented."`
	Matched   []string `placeholder:"MATCH" help:"Only matched, queue or unmatched disputes."`
	Merchants []int64  `placeholder:"ID" field:"channels" help:"Only disputes of these merchants, by id."`
	Assigned  []string `placeholder:"NAME" help:"Only disputes that these people work on."`
	DueBefore dayFlag  `placeholder:"YYYY-MM-DD" help:"Only disputes whose last day to answer is before this day."`
}

// Run prints them.
func (c disputeListCmd) Run(ctx context.Context, p *program) (err error) {
	f := disputes.Filter{Channels: c.Merchants, Assigned: c.Assigned, DueBefore: c.DueBefore.day}
	if f.Stages, err = oneOf("stage", c.Stage, dispute.Stages); err != nil {
		return err
	}
	if f.Statuses, err = oneOf("status", c.Status, dispute.Statuses); err != nil {
		return err
	}
	if f.Matchings, err = oneOf("matched", c.Matched, dispute.Matchings); err != nil {
		return err
	}
	return printList(ctx, p, c.listFlags, listing[disputes.Case]{
		read: func(actor access.Actor, page store.Page) (store.List[disputes.Case], error) {
			return p.app.Disputes.List(ctx, actor, f, page)
		},
		shape:   func(c disputes.Case) any { return reports.ShowDispute(c) },
		columns: disputeColumns(),
		table:   "id source case_id stage status due_at currency amount matched transaction assigned",
		row:     disputeCells,
		none:    "No disputes.",
	})
}

func disputeColumns() []column {
	return columnsOf("id source case_id stage status due_at currency amount base_currency debits credits matched channel transaction reason_code reason assigned")
}

func disputeCells(c disputes.Case) []cell {
	cells := []cell{ident(c.ID), words(c.Source), words(c.CaseID), words(string(c.Stage)), words(string(c.Status)), dayCell(c.DueOn)}
	cells = append(cells, money2(c.Amount, c.Currency)...)
	cells = append(cells, money2(c.Debits, c.BaseCurrency)...)
	credits := cell{}
	if c.BaseCurrency != "" {
		credits = amount(c.Credits, c.BaseCurrency)
	}
	return append(cells, credits, words(string(c.Matching)), ident(c.ChannelID), ident(c.TransactionID), words(c.ReasonCode), words(c.Reason),
		words(c.Assignee))
}

// money2 are a currency and an amount of it. Without a currency both are empty.
func money2(minor int64, c money.Currency) []cell {
	if c == "" {
		return []cell{{}, {}}
	}
	return []cell{words(string(c)), amount(minor, c)}
}

// disputeShowCmd shows one dispute.
type disputeShowCmd struct {
	siteFlag
	formFlags
	ID int64 `arg:"" help:"Dispute id."`
}

// Run prints it with its history.
func (c disputeShowCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	found, err := p.app.Disputes.Get(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		return p.printJSON(reports.ShowDispute(found))
	case c.CSV:
		return p.printCSV(sheet{columns: disputeColumns(), rows: [][]cell{disputeCells(found)}}, civil.FormatInstant(p.now(actor)))
	}
	p.printFields(disputeFields(found))
	p.printf("\n")
	s := sheet{columns: columnsOf("received day kind stage status currency amount by note")}
	for _, e := range found.Events {
		kind := string(e.Kind)
		if e.Kind == dispute.NoMoney {
			kind = "state"
		}
		row := []cell{instant(e.ReceivedAt), dayCell(e.On()), words(kind), words(string(e.Stage)), words(string(e.Status))}
		row = append(row, money2(e.Amount, e.Currency)...)
		s.rows = append(s.rows, append(row, words(cmp.Or(e.Author, e.Origin)), words(e.Note)))
	}
	p.printTable(s, "")
	return nil
}

// disputeFields are the names and values of a dispute, for people.
func disputeFields(c disputes.Case) [][2]string {
	text := func(minor int64, currency money.Currency) string {
		if currency == "" {
			return ""
		}
		return string(currency) + " " + money.Format(minor, currency)
	}
	due, payment := "", ""
	if c.DueOn != civil.NoDay {
		due = c.DueOn.String()
	}
	if c.TransactionID != 0 {
		payment = fmt.Sprintf("transaction %d, by %s", c.TransactionID, strings.ReplaceAll(string(c.Rule), "_", " "))
		if c.Score > 0 {
			payment += fmt.Sprintf(" %d", c.Score)
		}
	}
	return [][2]string{
		{"Dispute", fmt.Sprintf("%d, %s", c.ID, dispute.CaseText(c.Source, c.CaseID))},
		{"Stage", fmt.Sprintf("%s, %s", strings.ReplaceAll(string(c.Stage), "_", " "), c.Status)},
		{"Reason", strings.TrimSpace(c.ReasonCode + " " + c.Reason)},
		{"Amount", text(c.Amount, c.Currency)},
		{"Answer by", due},
		{"Assigned to", c.Assignee},
		{"Payment", cmp.Or(payment, string(c.Matching))},
		{"Charged back", text(c.Debits, c.BaseCurrency)},
		{"Given back", text(c.Credits, c.BaseCurrency)},
	}
}

// disputeCandidatesCmd lists the candidates of a dispute.
type disputeCandidatesCmd struct {
	siteFlag
	formFlags
	ID int64 `arg:"" help:"Dispute id."`
}

// Run prints them.
func (c disputeCandidatesCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	list, err := p.app.Disputes.Candidates(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(slices.Collect(func(yield func(any) bool) {
			for _, one := range list {
				if !yield(reports.ShowCandidate(one)) {
					return
				}
			}
		}))
	}
	s := sheet{columns: columnsOf("transaction rule score auth_code last_four bin amount day channel currency total paid_on reference")}
	for _, one := range list {
		points := one.Points
		s.rows = append(s.rows, []cell{
			ident(one.TransactionID), words(string(one.Rule)), count(int64(points.Sum())), count(int64(points.AuthCode)), count(int64(points.LastFour)),
			count(int64(points.BIN)), count(int64(points.Amount)), count(int64(points.Day)), ident(one.ChannelID), words(string(one.Currency)),
			amount(one.Total, one.Currency), dayCell(one.PaidOn), words(one.Payment.Reference),
		})
	}
	if c.CSV {
		return p.printCSV(s, civil.FormatInstant(p.now(actor)))
	}
	if len(list) == 0 {
		p.printf("No candidates.\n")
		return nil
	}
	p.printTable(s, "")
	return nil
}

// disputeMatchCmd matches a dispute.
type disputeMatchCmd struct {
	siteFlag
	ID           int64  `arg:"" help:"Dispute id."`
	Transaction  int64  `arg:"" field:"transaction_id" help:"Transaction id of the payment."`
	Reason       string `required:"" help:"Why it is this payment."`
	KeepMerchant bool   `help:"From now on, the processor's name for the merchant means the merchant of this payment."`
}

// Run matches it.
func (c disputeMatchCmd) Run(ctx context.Context, p *program) error {
	return p.disputeAction(ctx, c.Site, func(actor access.Actor) (disputes.Case, error) {
		return p.app.Disputes.Match(ctx, actor, c.ID, disputes.Choice{TransactionID: c.Transaction, Reason: c.Reason, KeepMerchant: c.KeepMerchant})
	})
}

// disputeUnmatchCmd undoes a match.
type disputeUnmatchCmd struct {
	siteFlag
	ID     int64  `arg:"" help:"Dispute id."`
	Reason string `required:"" help:"Why it is another payment."`
}

// Run undoes it.
func (c disputeUnmatchCmd) Run(ctx context.Context, p *program) error {
	return p.disputeAction(ctx, c.Site, func(actor access.Actor) (disputes.Case, error) {
		return p.app.Disputes.Unmatch(ctx, actor, c.ID, c.Reason)
	})
}

// disputeAssignCmd assigns a dispute.
type disputeAssignCmd struct {
	siteFlag
	ID       int64  `arg:"" help:"Dispute id."`
	Assigned string `arg:"" optional:"" help:"Name of the person (default: unassigned)."`
}

// Run assigns it.
func (c disputeAssignCmd) Run(ctx context.Context, p *program) error {
	return p.disputeAction(ctx, c.Site, func(actor access.Actor) (disputes.Case, error) {
		return p.app.Disputes.Assign(ctx, actor, c.ID, c.Assigned)
	})
}

// disputeNoteCmd adds a note.
type disputeNoteCmd struct {
	siteFlag
	ID   int64  `arg:"" help:"Dispute id."`
	Note string `arg:"" help:"Note."`
}

// Run adds it.
func (c disputeNoteCmd) Run(ctx context.Context, p *program) error {
	return p.disputeAction(ctx, c.Site, func(actor access.Actor) (disputes.Case, error) {
		return p.app.Disputes.Note(ctx, actor, c.ID, c.Note)
	})
}

// disputeEventCmd records a status.
type disputeEventCmd struct {
	siteFlag
	ID     int64          `arg:"" help:"Dispute id."`
	Status dispute.Status `arg:"" help:"Status: open, won, lost, expired or cancelled."`
	Day    dayFlag        `placeholder:"YYYY-MM-DD" help:"Day of the decision (default: unknown)."`
	Due    dayFlag        `placeholder:"YYYY-MM-DD" field:"due_at" help:"New last day to answer."`
}

// Run records it.
func (c disputeEventCmd) Run(ctx context.Context, p *program) error {
	in := disputes.NewReport{Report: dispute.Report{Status: c.Status, Day: civil.NoDay, DueOn: civil.NoDay, Clues: dispute.Clues{PaidOn: civil.NoDay}}}
	if c.Day.day != nil {
		in.Day = *c.Day.day
	}
	if c.Due.day != nil {
		in.DueOn = *c.Due.day
	}
	return p.disputeAction(ctx, c.Site, func(actor access.Actor) (disputes.Case, error) {
		return p.app.Disputes.AddEvent(ctx, actor, c.ID, in)
	})
}

// disputeDecision is a decision about a dispute.
type disputeDecision struct {
	siteFlag
	ID   int64  `arg:"" help:"Dispute id."`
	Note string `help:"Note."`
}

// disputeAcceptCmd accepts a dispute.
type disputeAcceptCmd struct{ disputeDecision }

// Run accepts it.
func (c disputeAcceptCmd) Run(ctx context.Context, p *program) error {
	return p.disputeAction(ctx, c.Site, func(actor access.Actor) (disputes.Case, error) {
		return p.app.Disputes.Accept(ctx, actor, c.ID, c.Note)
	})
}

// disputeChallengeCmd challenges a dispute.
type disputeChallengeCmd struct{ disputeDecision }

// Run challenges it.
func (c disputeChallengeCmd) Run(ctx context.Context, p *program) error {
	return p.disputeAction(ctx, c.Site, func(actor access.Actor) (disputes.Case, error) {
		return p.app.Disputes.Challenge(ctx, actor, c.ID, c.Note)
	})
}

// disputeRepresentCmd represents a chargeback.
type disputeRepresentCmd struct{ disputeDecision }

// Run represents it.
func (c disputeRepresentCmd) Run(ctx context.Context, p *program) error {
	return p.disputeAction(ctx, c.Site, func(actor access.Actor) (disputes.Case, error) {
		return p.app.Disputes.Represent(ctx, actor, c.ID, c.Note)
	})
}

// disputeAttachCmd attaches a file.
type disputeAttachCmd struct {
	siteFlag
	ID   int64  `arg:"" help:"Dispute id."`
	File string `arg:"" help:"PDF, PNG or JPEG file, at most 5 MB."`
	Note string `help:"Note about the file."`
}

// Run attaches it.
func (c disputeAttachCmd) Run(ctx context.Context, p *program) error {
	file, err := os.Open(c.File)
	if err != nil {
		return fmt.Errorf("cannot open the file: %w", err)
	}
	defer file.Close()
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	made, err := p.app.Disputes.Attach(ctx, actor, c.ID, filepath.Base(c.File), c.Note, file)
	if err != nil {
		return err
	}
	p.printf("Attached %s to dispute %d (file %d)\n", made.Name, c.ID, made.ID)
	return nil
}

// disputeAction carries out an action and prints the state of the dispute.
func (p *program) disputeAction(ctx context.Context, site string, action func(actor access.Actor) (disputes.Case, error)) error {
	actor, err := p.operatorAt(ctx, site)
	if err != nil {
		return err
	}
	changed, err := action(actor)
	if err != nil {
		return err
	}
	p.printf("Dispute %d: %s, %s, %s\n", changed.ID, strings.ReplaceAll(string(changed.Stage), "_", " "), changed.Status,
		matchText(changed))
	return nil
}

func matchText(c disputes.Case) string {
	if c.TransactionID != 0 {
		return fmt.Sprintf("matched with transaction %d", c.TransactionID)
	}
	return map[dispute.Matching]string{dispute.Queued: "in the queue", dispute.Unmatched: "not matched"}[c.Matching]
}

// importDisputesCmd imports a processor's file of disputes.
type importDisputesCmd struct {
	siteFlag
	formFlags
	File   string `arg:"" help:"File as the processor sends it, or - for standard input."`
	Format string `placeholder:"NAME" help:"Format, if it is not to be recognised by the header."`
	Map    string `placeholder:"FILE.yaml" help:"Columns of a format that is not known."`
	DryRun bool   `help:"Check every line and show the result, without writing anything."`
}

// Help describes the formats.
func (importDisputesCmd) Help() string {
	var b strings.Builder
	b.WriteString("The format is recognised by the header of the file:\n\n")
	for _, f := range disputefile.Formats() {
		fmt.Fprintf(&b, "    %-24s %s\n", f.Name, f.Label)
	}
	b.WriteString("\nYou can import a file again: what is known does not change. The exit code is 0 if all lines were understood, 3 if some were " +
		"refused, and 1 if the import failed. See docs/disputes.md.")
	return b.String()
}

// Run imports the file.
func (c importDisputesCmd) Run(ctx context.Context, p *program) error {
	options := disputefile.Options{Format: c.Format}
	if c.Map != "" {
		text, err := os.ReadFile(c.Map)
		if err != nil {
			return errs.WrongField("map", "Cannot read the mapping: %v.", err)
		}
		if options.Mapping, err = disputefile.ParseMapping(text); err != nil {
			return err
		}
	}
	in := p.stdin
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return fmt.Errorf("cannot open the disputes file: %w", err)
		}
		defer file.Close()
		in = file
	}
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	collectSeldom()
	began := time.Now()
	done, err := p.app.Disputes.ImportFile(ctx, actor, in, options, c.DryRun)
	if err != nil {
		return err
	}
	if err := c.print(p, actor, done, time.Since(began)); err != nil {
		return err
	}
	if slices.ContainsFunc(done.Lines, func(l disputes.Line) bool { return l.Outcome == disputes.LineRefused }) {
		return errRefused
	}
	return nil
}

func (c importDisputesCmd) print(p *program, actor access.Actor, done disputes.File, took time.Duration) error {
	s := sheet{columns: columnsOf("line outcome dispute source case_id kind message")}
	counts := map[disputes.Outcome]int{}
	for _, l := range done.Lines {
		counts[l.Outcome]++
		s.rows = append(s.rows, []cell{
			count(int64(l.Number)), words(string(l.Outcome)), ident(l.DisputeID), words(l.Source), words(l.CaseID), words(string(l.Kind)), words(l.Message),
		})
	}
	switch {
	case c.JSON:
		list := make([]any, len(done.Lines))
		for i, l := range done.Lines {
			list[i] = reports.ShowDisputeLine(l)
		}
		return p.printJSON(list)
	case c.CSV:
		return p.printCSV(s, civil.FormatInstant(p.now(actor)))
	}
	p.printf("%s, %s in %s\n", done.Format.Label, counted(int64(len(done.Lines)), "result"), took.Round(time.Millisecond))
	for _, o := range disputes.Outcomes() {
		p.printf("  %-9s %6d\n", o, counts[o])
	}
	shown := 0
	for _, l := range done.Lines {
		if (l.Outcome == disputes.LineRefused || l.Message != "" && l.Outcome != disputes.LineIgnored) && shown < refusalsShown {
			shown++
			fmt.Fprintf(p.stderr, "line %d %s: %s\n", l.Number, l.Outcome, l.Message)
		}
	}
	if done.DryRun {
		p.printf("Dry run: nothing was written.\n")
	}
	return nil
}
