package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"holdfast/internal/api/view"
	"holdfast/internal/book/paper"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/lib/pdf"
	"holdfast/internal/store"
)

// statementsCmd groups the statement commands.
type statementsCmd struct {
	List  statementsListCmd  `cmd:"" help:"List statements."`
	Show  statementsShowCmd  `cmd:"" help:"Show a statement with its lines."`
	PDF   statementsPDFCmd   `cmd:"" name:"pdf" help:"Save a statement as a PDF."`
	Pay   statementsPayCmd   `cmd:"" help:"Record a payment against a statement."`
	Issue statementsIssueCmd `cmd:"" help:"Issue statements for periods that have ended. The service also does this automatically."`
}

// statementsListCmd lists statements.
type statementsListCmd struct {
	listFlags
	Merchants []int64 `placeholder:"ID" field:"channels" help:"Only statements of these merchants, by id."`
	Overdue   bool    `help:"Only overdue statements."`
}

// Run prints a line per statement.
func (c statementsListCmd) Run(ctx context.Context, p *program) error {
	filter := statements.StatementFilter{Channels: c.Merchants}
	if c.Overdue {
		filter.Overdue = &c.Overdue
	}
	var now time.Time
	return printList(ctx, p, c.listFlags, listing[protection.IssuedStatement]{
		read: func(actor access.Actor, page store.Page) (list store.List[protection.IssuedStatement], err error) {
			list, now, err = p.app.Statements.List(ctx, actor, filter, page)
			return list, err
		},
		shape:   func(s protection.IssuedStatement) any { return view.ShowStatement(s, now) },
		columns: columnsOf("id number period due overdue currency closing open credit channel channel_name"),
		row: func(s protection.IssuedStatement) []cell {
			return []cell{
				ident(s.ID), count(s.Number), words(s.Period.Name()), dayCell(s.Due), yesNo(s.OverdueOn(civil.DayOf(now))),
				words(string(s.Currency)), amount(s.Closing, s.Currency), amount(s.Open, s.Currency), amount(s.Credit, s.Currency), ident(s.ChannelID),
				words(s.ChannelName),
			}
		},
		none: "No statements.",
	})
}

// statementsShowCmd shows one statement.
type statementsShowCmd struct {
	siteFlag
	ID   int64  `arg:"" help:"Statement id."`
	For  string `enum:"policyholder,merchant" default:"policyholder" placeholder:"READER" help:"Recipient: policyholder (default), who pays premium, or merchant, who pays a security charge."`
	JSON bool   `name:"json" xor:"form" help:"Print JSON, with amounts in minor units."`
	CSV  bool   `name:"csv" xor:"form" help:"Print all lines as CSV, with amounts in major units, such as 12.34."`
}

// Run prints it.
func (c statementsShowCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	found, now, err := p.app.Statements.Get(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	lines := p.app.Statements.AllLines(ctx, actor, c.ID)
	switch {
	case c.JSON:
		return p.printJSON(view.ShowStatement(found, now))
	case c.CSV:
		return paper.WriteCSV(p.stdout, found.Statement, paper.Label(c.For), lines)
	}
	p.statementHead(found)
	return p.statementLines(found.Currency, lines)
}

// statementLines prints the lines in batches, because a statement may have very many.
func (p *program) statementLines(q money.Currency, lines iter.Seq2[protection.StatementLine, error]) error {
	out := table{columns: columnsOf("recorded transaction booking kind currency amount lead_days ppm premium retained changes")}
	out.columns[8].title, out.columns[9].title = "PREMIUM "+string(q), "RETAINED "+string(q)
	first := true
	var rows [][]cell
	for l, err := range lines {
		if err != nil {
			return err
		}
		changes := cell{}
		if l.RefersTo != 0 {
			changes = words(fmt.Sprintf("no. %d", l.RefersTo))
		}
		rows = append(rows, []cell{
			dayCell(civil.DayOf(l.RecordedAt)), ident(l.TransactionID), ident(l.BookingID), words(l.Kind), words(string(l.Currency)),
			amount(l.StateAmount, l.Currency), count(l.LeadDays), count(l.PPM), amount(l.Amount, q), amount(l.Retained, q), changes,
		})
		if len(rows) == readTogether {
			out.print(p, rows, first)
			rows, first = rows[:0], false
		}
	}
	if len(rows) > 0 {
		out.print(p, rows, first)
	} else if first {
		p.printf("No premium lines.\n")
	}
	return nil
}

// statementHead prints the totals of a statement.
func (p *program) statementHead(s protection.IssuedStatement) {
	amount := func(minor int64) string { return money.Format(minor, s.Currency) }
	p.printf("Statement no. %d of %s, %s to %s, issued %s GMT, due %s, in %s\n\n", s.Number, s.ChannelName, s.Period.First,
		s.Period.Last, civil.FormatInstant(s.IssuedAt), s.Due, s.Currency)
	row := func(name string, minor int64) { p.printf("  %-28s %16s\n", name, amount(minor)) }
	row("opening", s.Opening)
	for _, l := range s.Lines {
		row(fmt.Sprintf("%s (%d)", l.Kind, l.Lines), l.Amount)
	}
	if s.Minimum != nil {
		row("minimum of "+s.Minimum.Month, s.Minimum.Amount)
	}
	for _, t := range s.Taxes {
		row("tax "+t.Code, t.Amount)
	}
	row("payments", -s.Payments)
	row("closing", s.Closing)
	row("outstanding", s.Open)
	if s.Credit > 0 {
		row("credit", s.Credit)
	}
	p.printf("\n")
}

// statementsPDFCmd writes a statement as a PDF.
type statementsPDFCmd struct {
	siteFlag
	ID       int64  `arg:"" help:"Statement id."`
	Output   string `short:"o" required:"" placeholder:"FILE" help:"File to write."`
	For      string `enum:"policyholder,merchant" default:"policyholder" placeholder:"READER" help:"Recipient: policyholder (default), who pays premium, or merchant, who pays a security charge."`
	Language string `placeholder:"CODE" help:"Language of the PDF, such as deDE (default: the merchant's)."`
}

// Run writes the file.
func (c statementsPDFCmd) Run(ctx context.Context, p *program) error {
	if c.Language != "" && !slices.Contains(check.Languages, c.Language) {
		return errs.WrongField("language", "Choose one of %s.", strings.Join(check.Languages, ", "))
	}
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	found, lines, err := p.app.Statements.WithLines(ctx, actor, c.ID, paper.MaxLines)
	if err != nil {
		return err
	}
	if c.Language == "" {
		c.Language = found.Language
	}
	var out bytes.Buffer
	err = paper.WritePDF(&out, pdf.Fonts{Dir: p.FontDir}, paper.Printed{
		Statement: found.Statement, Lines: lines, Label: paper.Label(c.For), Language: c.Language,
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.Output, out.Bytes(), 0o644); err != nil {
		return fmt.Errorf("cannot write the PDF: %w", err)
	}
	p.printf("Saved statement no. %d to %s\n", found.Number, c.Output)
	return nil
}

// statementsPayCmd records a payment.
type statementsPayCmd struct {
	siteFlag
	ID        int64      `arg:"" help:"Statement id."`
	Amount    amountFlag `required:"" field:"total" placeholder:"AMOUNT" help:"Amount in the statement's currency, such as \"560.00 GBP\". A negative amount is a repayment."`
	Date      dayFlag    `required:"" placeholder:"YYYY-MM-DD" help:"Date of the payment."`
	Reference string     `required:"" help:"Bank reference. A payment with the same reference is recorded only once."`
	Overpaid  bool       `help:"Record a payment above the outstanding amount without asking."`
}

// Run records it. A payment above the outstanding amount is usually a mistake, so the command asks first.
func (c statementsPayCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	found, _, err := p.app.Statements.Get(ctx, actor, c.ID)
	if err == nil {
		err = c.Amount.in(found.Currency, "total", "The statement")
	}
	if err != nil {
		return err
	}
	in := statements.StatementPaymentFields{
		PaidOn: c.Date.day, Amount: &c.Amount.minor, Currency: &c.Amount.currency, Reference: &c.Reference, WithinOpen: !c.Overpaid,
	}
	made, created, err := p.app.Statements.Pay(ctx, actor, c.ID, in)
	if f, ok := errors.AsType[*errs.Error](err); ok && f.Reason == "overpaid" {
		if !p.watched() {
			return errs.WrongField("total", "%s If this is correct, add --overpaid.", f.Message)
		}
		yes, err := p.confirm(f.Message + " Record it anyway?")
		if err != nil {
			return err
		}
		if !yes {
			p.printf("Nothing was recorded.\n")
			return errNothingYet
		}
		in.WithinOpen = false
		if made, created, err = p.app.Statements.Pay(ctx, actor, c.ID, in); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	state := "recorded"
	if !created {
		state = "already recorded"
	}
	p.printf("Payment %d of %s %s %s\n", made.ID, made.Currency, money.Format(made.Amount, made.Currency), state)
	return p.tellOpen(ctx, actor, c.ID)
}

func (p *program) tellOpen(ctx context.Context, actor access.Actor, id int64) error {
	now, _, err := p.app.Statements.Get(ctx, actor, id)
	if err == nil {
		p.printf("Outstanding on statement no. %d: %s %s\n", now.Number, now.Currency, money.Format(now.Open, now.Currency))
	}
	return err
}

// statementsIssueCmd issues statements.
type statementsIssueCmd struct {
	siteFlag
	Wait bool `negatable:"" default:"true" help:"Wait up to ten seconds for payments that were still being recorded when a period ended (default: yes)."`
}

// Run issues it.
func (c statementsIssueCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	issued, others, err := p.app.Statements.Issue(ctx, actor)
	if err != nil {
		return err
	}
	left, err := p.app.Statements.Waiting(ctx, actor)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%d more periods have ended, but payments may still be recorded for them until %s GMT", left.Count,
		civil.FormatInstant(left.From.Add(time.Second-time.Microsecond)))
	if c.Wait && left.Count > 0 {
		fmt.Fprintf(p.stderr, "%s. Waiting.\n", text)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(left.From.Sub(p.clock.Now())):
		}
		more, met, err := p.app.Statements.Issue(ctx, actor)
		if err != nil {
			return err
		}
		issued, others, left.Count = issued+more, others || met, 0
	}
	p.printf("Issued %d statements\n", issued)
	if others {
		p.printf("The service issued others at the same time. See `holdfast statements list`.\n")
	}
	if left.Count > 0 {
		p.printf("%s. Run this command again after that.\n", text)
	}
	return nil
}
