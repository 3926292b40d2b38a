package cli

import (
	"context"
	"time"

	"holdfast/internal/api/view"
	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/store"
)

// explainCmd explains how a figure is computed. A number alone is the id of a transaction.
type explainCmd struct {
	Transaction explainTransactionCmd `cmd:"" default:"withargs" help:"Explain a transaction (the default): explain 17."`
	Booking     explainBookingCmd     `cmd:"" help:"Explain a booking: its totals and each of its payments."`
	Statement   explainStatementCmd   `cmd:"" help:"Explain a statement line."`
}

// explainFlags are the flags of every explanation.
type explainFlags struct {
	siteFlag
	AsOf    dayFlag   `name:"as-of" placeholder:"YYYY-MM-DD" help:"As of the end of this day (default: today)."`
	KnownAt time.Time `name:"known-at" placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Use only what was known at this time, in GMT (default: now)."`
	JSON    bool      `name:"json" xor:"form" help:"Print JSON, with amounts in minor units."`
	CSV     bool      `name:"csv" xor:"form" help:"Print the steps as CSV, with amounts in minor units."`
}

// stepRows are the steps of an explanation as rows of CSV: what they are about, its id, and the parts of a step.
type stepRows struct{ rows [][]cell }

func (s *stepRows) add(about string, id int64, parts ...[]protection.Step) {
	for _, steps := range parts {
		for _, step := range steps {
			s.rows = append(s.rows, []cell{words(about), ident(id), words(step.Rule), words(step.Name), words(step.Text)})
		}
	}
}

func (s *stepRows) print(p *program, m protection.Moment) error {
	return p.printCSV(sheet{columns: columnsOf("about id rule name text"), rows: s.rows}, m.AsOf.String())
}

func (f explainFlags) query() report.ProtectionQuery {
	return report.ProtectionQuery{Moment: ledger.Moment{AsOf: f.AsOf.day, KnownAt: f.KnownAt}}
}

// pageFlags choose a part of a list that may be long.
type pageFlags struct {
	Page    int `default:"1" placeholder:"N" help:"Page number (default: 1)."`
	PerPage int `name:"per-page" default:"20" placeholder:"N" help:"Items per page, at most 100 (default: 20)."`
}

// page refuses the same values as the API.
func (f pageFlags) page(p *errs.Problems) store.Page {
	if f.Page < 1 {
		p.Wrong("page", "Enter a whole number, 1 or more.")
	}
	if f.PerPage < 1 || f.PerPage > 100 {
		p.Wrong("per_page", "Enter a whole number between 1 and 100.")
	}
	return store.Page{Number: f.Page, Size: f.PerPage, Offset: -1, Count: true}
}

// pages says which part of a list is shown, unless it is the whole list.
func (f pageFlags) pages(p *program, what string, shown int, total int64) {
	first := (f.Page-1)*f.PerPage + 1
	switch {
	case shown == 0 && total > 0:
		p.printf("\nPage %d does not exist: the list has %d %s.\n", f.Page, total, what)
	case int64(shown) < total:
		p.printf("\n%d to %d of %d %s. Use --page and --per-page to see more.\n", first, first+shown-1, total, what)
	}
}

// explainTransactionCmd explains the protection and the premium of a transaction.
type explainTransactionCmd struct {
	explainFlags
	Transaction int64 `arg:"" help:"Transaction id."`
}

// Run prints every input and step.
func (c explainTransactionCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	report, err := p.app.Protection.Explain(ctx, actor, c.Transaction, c.query())
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(view.ShowProtection(report))
	}
	if c.CSV {
		var rows stepRows
		for _, x := range report.Allocations {
			rows.add("payment", x.ID, x.Steps, x.Premium.Steps)
		}
		return rows.print(p, report.Moment)
	}
	t := report.Transaction
	p.printf("%s\n\n", report.Summary)
	p.printf("Transaction %d, %s of %s %s, taken %s, recorded %s GMT\n", t.ID, t.Type, t.Currency,
		money.Format(t.Total, t.Currency), civil.FormatInstant(t.EffectiveAt), civil.FormatInstant(t.CreatedAt))
	p.explainMoment(report.Moment)
	if report.Adjusted {
		p.printf("It adjusts transaction %d. The parts below are those of transaction %[1]d.\n", t.LinkedID)
	}
	for _, x := range report.Allocations {
		p.printf("\nBooking %d: ", x.BookingID)
		if len(report.Allocations) > 1 { // else it is the summary above
			p.printf("%s\n", x.Summary)
		}
		p.explainAllocation(x)
	}
	return nil
}

func (p *program) explainMoment(m protection.Moment) {
	p.printf("at the end of %s, as known at %s GMT\n", m.AsOf, civil.FormatInstant(m.KnownAt))
}

// explainAllocation prints one part of a payment for people. Amounts are in full; steps are in minor units, as they are
// computed.
func (p *program) explainAllocation(x protection.Explained) {
	amount := func(n int64) string { return string(x.Currency) + " " + money.Format(n, x.Currency) }
	p.printf("%s, %s, %s remain, %s undelivered, disputable until %s\n", amount(x.Amount), x.State,
		amount(x.Remaining), amount(x.Undelivered), x.Terms.LastDay)
	if x.HasValue {
		p.printf("worth %s %s", x.PolicyCurrency, money.Format(x.Value, x.PolicyCurrency))
	} else {
		p.printf("waits for an exchange rate to %s", x.PolicyCurrency)
	}
	if x.Premium.Priced {
		of := func(n int64) string { return string(x.PolicyCurrency) + " " + money.Format(n, x.PolicyCurrency) }
		p.printf(", premium %s", of(x.Premium.Booked))
		if x.Premium.Booked != x.Premium.State.Premium {
			p.printf(" (premium of the state %s, retained %s)", of(x.Premium.State.Premium), of(x.Premium.Retained))
		}
	}
	p.printf("\n")
	p.explainSteps(x.Steps, x.Premium.Steps)
}

func (p *program) explainSteps(parts ...[]protection.Step) {
	p.printf("\nSteps, in minor units:\n")
	for _, steps := range parts {
		for _, s := range steps {
			p.printf("  %-4s %-12s %s\n", s.Rule, s.Name, s.Text)
		}
	}
}

// explainBookingCmd explains the protection of a booking.
type explainBookingCmd struct {
	explainFlags
	pageFlags
	Booking int64 `arg:"" help:"Booking id."`
}

// Run prints the sums, and every input and step of a page of the booking's payments.
func (c explainBookingCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	query := c.query()
	page := c.page(&query.Problems)
	report, err := p.app.Protection.ExplainBooking(ctx, actor, c.Booking, query, page)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(view.ShowBookingProtection(report))
	}
	b, s := report.Booking, report.Sums
	if c.CSV {
		var rows stepRows
		rows.add("booking", b.ID, s.Steps)
		for _, x := range report.Allocations.Items {
			rows.add("payment", x.ID, x.Steps, x.Premium.Steps)
		}
		return rows.print(p, report.Moment)
	}
	amount := func(n int64) string { return money.Format(n, b.Currency) }
	p.printf("%s\n\n", report.Summary)
	p.printf("Booking %d of %s %s, %s", b.ID, b.Currency, amount(s.Total), s.State)
	if s.End != civil.NoDay { // the dates of that time: the booking may have moved since
		p.printf(", travel %s to %s", s.Start, s.End)
	}
	p.printf("\n")
	p.explainMoment(report.Moment)
	p.printf("\n")
	p.bookingTable(s, b.Currency)
	if s.Simulated {
		p.printf("\nIt belongs to a test merchant: no report counts it in a total.\n")
	}
	p.explainSteps(s.Steps)
	for _, x := range report.Allocations.Items {
		p.printf("\nTransaction %d: %s\n", x.TransactionID, x.Summary)
		p.explainAllocation(x)
	}
	c.pages(p, "payments", len(report.Allocations.Items), report.Allocations.Total)
	return nil
}

// bookingTable prints the sums of a booking. Refunds and disputes are left out where there are none.
func (p *program) bookingTable(s exposure.ExplainedBooking, base money.Currency) {
	table := sheet{columns: []column{{"figure", " "}, {"amount", string(base)}}}
	row := func(name string, n int64, c money.Currency) {
		table.rows = append(table.rows, []cell{words(name), amount(n, c)})
	}
	row("total", s.Total, base)
	row("paid", s.Paid, base)
	if s.Refunded+s.ChargedBack+s.Reversed > 0 {
		row("refunded", s.Refunded, base)
		row("charged back", s.ChargedBack, base)
		row("reversed", s.Reversed, base)
	}
	row("remaining (N)", s.Remaining, base)
	row("undelivered (U)", s.Undelivered, base)
	row("E1", s.E1, base)
	row("E2", s.E2, base)
	row("still to be paid (E4)", s.E4, base)
	row("not covered (E5)", s.E5, base)
	for _, v := range s.Values {
		row("value (PV), "+string(v.Currency), v.Value, v.Currency)
		row("premium, "+string(v.Currency), v.Booked, v.Currency)
		row("premium of the state, "+string(v.Currency), v.Premium, v.Currency)
	}
	p.printTable(table, "")
}

// explainStatementCmd explains a line of a statement.
type explainStatementCmd struct {
	explainFlags
	pageFlags
	Statement int64  `arg:"" help:"Statement id."`
	Line      string `arg:"" help:"Line: opening, original, additional, return, correction, minimum, tax-CODE, payments, closing or the id of a premium line."`
}

// Run prints the parts of the line, with every input and step.
func (c explainStatementCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	query := report.StatementLineQuery{ProtectionQuery: c.query(), Line: c.Line}
	query.Page = c.page(&query.ProtectionQuery.Problems)
	report, err := p.app.Protection.ExplainStatementLine(ctx, actor, c.Statement, query)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(view.ShowStatementLineProtection(report))
	}
	s, part := report.Statement, report.Part
	if c.CSV {
		var rows stepRows
		rows.add("statement", s.ID, part.Steps)
		for _, l := range report.Premium.Items {
			rows.add("premium line", l.ID, l.Steps)
		}
		return rows.print(p, report.Moment)
	}
	p.printf("%s\n\n", report.Summary)
	p.printf("Statement no. %d of %s, %s to %s, line %s: %s %s\n", s.Number, s.ChannelName, s.Period.First, s.Period.Last,
		part.Name, s.Currency, money.Format(part.Amount, s.Currency))
	if part.Retained != 0 {
		p.printf("retained: %s %s\n", s.Currency, money.Format(part.Retained, s.Currency))
	}
	p.explainMoment(report.Moment)
	if len(part.Steps) > 0 {
		p.explainSteps(part.Steps)
	}
	for _, l := range report.Premium.Items {
		p.explainLine(l)
	}
	c.pages(p, "premium lines", len(report.Premium.Items), report.Premium.Total)
	for _, paid := range report.Payments.Items {
		p.printf("\n  %s  %s %s  against statement %d, %s\n", paid.PaidOn, paid.Currency, money.Format(paid.Amount, paid.Currency),
			paid.StatementID, paid.Reference)
	}
	c.pages(p, "payments", len(report.Payments.Items), report.Payments.Total)
	return nil
}

// explainLine prints one premium line: the state before and after it, the amount, and the state of the payment.
func (p *program) explainLine(l protection.ExplainedLine) {
	q, x := l.Line.Currency, l.Of
	amount := func(n int64) string { return string(q) + " " + money.Format(n, q) }
	p.printf("\nPremium line %d, %s by %s of transaction %d for booking %d, recorded %s GMT: %s", l.ID, l.Kind, l.Cause,
		l.TransactionID, l.BookingID, civil.FormatInstant(l.RecordedAt), amount(l.Amount))
	if l.Retained > 0 {
		p.printf(", %s retained", amount(l.Retained))
	}
	p.printf("\n")
	state := func(name string, s protection.PremiumState) {
		p.printf("%s: %s %s worth %s, lead %d days, %d ppm, premium of the state %s\n", name, x.Currency, money.Format(s.Amount, x.Currency),
			amount(s.Value), s.Lead, s.Line.PPM, amount(s.Premium))
	}
	if l.Before != nil {
		state("before", l.Before.State)
	}
	state("after", l.Line.State)
	p.printf("the payment is %s, %s %s remain, disputable until %s\n", x.State, x.Currency, money.Format(x.Remaining, x.Currency),
		x.Terms.LastDay)
	p.explainSteps(l.Steps)
}
