package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// StatementLineQuery selects the line of a statement to explain.
type StatementLineQuery struct {
	ProtectionQuery
	Line string // one of protection.Statement.LineNames, or the id of a premium line
	Page store.Page
}

// long says whether many premium lines are read: for a sum of them, or for a deep page.
func (in StatementLineQuery) long() bool {
	return in.Page.Deep() || in.Line == protection.MinimumLine || strings.HasPrefix(in.Line, protection.TaxLine)
}

// StatementLineProtection explains a line of a statement: how its amount is computed, and one page of the premium
// lines or of the payments that it adds up.
type StatementLineProtection struct {
	Summary   string // in words
	Statement protection.IssuedStatement
	Moment    protection.Moment
	Part      protection.StatementPart
	Premium   store.List[protection.ExplainedLine]
	Payments  store.List[statements.StatementPayment]
}

// ExplainStatementLine explains a line of a statement. The amounts of a statement never change; the moment of the query applies to the
// allocations of the premium lines. It needs the permission for the statement.
func (p *Protection) ExplainStatementLine(
	ctx context.Context, actor access.Actor, id int64, in StatementLineQuery,
) (StatementLineProtection, error) {
	if err := actor.Require(access.ReadStatements); err != nil {
		return StatementLineProtection{}, err
	}
	read := sites.Read[StatementLineProtection]
	if in.long() {
		read = sites.Report[StatementLineProtection]
	}
	return read(ctx, p.DB, actor, func(tx *store.Tx) (report StatementLineProtection, err error) {
		m, err := in.complete(tx)
		if err != nil {
			return report, err
		}
		report.Statement, err = statements.Statement(tx, actor.SiteID, id)
		if err == nil && report.Statement.IssuedAt.After(m.KnownAt) {
			err = store.ErrNotFound
		}
		if err != nil {
			return report, store.NotFoundAs(errs.RecordNotFound, err, "Statement %d not found.", id)
		}
		policy, err := merchants.PolicyKnown(tx, actor.SiteID, m.AsOf, m.KnownAt)
		if err != nil {
			return report, err
		}
		m.Recognition = policy.Recognition
		report.Moment = m
		line := statementLine{newExplaining(p, tx, actor.SiteID, m), report.Statement.Statement, in.Page}
		found, err := line.premium(&report, in.Line)
		if err != nil || found {
			return report, err
		}
		found, err = line.other(&report, in.Line)
		if err == nil && !found {
			err = errs.New(errs.RecordNotFound, "Statement %d has no line %q.", id, in.Line)
		}
		report.Summary = SummarizeLine(line.Statement, report.Part)
		return report, err
	})
}

// statementLine explains a line of a statement.
type statementLine struct {
	*explaining
	protection.Statement
	page store.Page
}

// premium explains a line by its name, if that is the id of a premium line or a kind of premium lines. Else it returns
// false.
func (l statementLine) premium(report *StatementLineProtection, name string) (found bool, err error) {
	if id, err := strconv.ParseUint(name, 10, 63); err == nil {
		return true, l.one(report, int64(id))
	}
	if report.Part, found = l.ExplainKind(name); !found {
		return false, nil
	}
	report.Summary = SummarizeLine(l.Statement, report.Part)
	lines, err := statements.LinesOfKind(l.tx, l.Statement, name, l.page)
	if err != nil {
		return false, err
	}
	if len(lines) > l.page.Size { // one line more than the page was read, to know whether there is a next page
		lines, report.Premium.More = lines[:l.page.Size], true
	}
	report.Premium.Total = report.Part.Lines
	report.Premium.PastEnd = pastEnd(l.page, len(lines), report.Part.Lines)
	report.Premium.Items, err = l.explainLines(lines)
	return true, err
}

// one explains a premium line by its id. It is the only item of the first page.
func (l statementLine) one(report *StatementLineProtection, id int64) error {
	line, err := statements.Line(l.tx, l.siteID, l.ID, id)
	if err != nil {
		return store.NotFoundAs(errs.RecordNotFound, err, "Statement %d has no premium line %d.", l.ID, id)
	}
	items, err := l.explainLines([]protection.StatementLine{line})
	if err != nil {
		return err
	}
	report.Part, report.Summary, report.Premium.Total = line.Part(), items[0].Summary, 1
	if l.page.Skip() == 0 {
		report.Premium.Items = items
	} else {
		report.Premium.Items = []protection.ExplainedLine{}
	}
	report.Premium.PastEnd = pastEnd(l.page, len(report.Premium.Items), 1)
	return nil
}

// explainLines explains premium lines, each with its allocation.
func (l statementLine) explainLines(lines []protection.StatementLine) ([]protection.ExplainedLine, error) {
	ids := make([]int64, len(lines))
	for i, line := range lines {
		ids[i] = line.AllocationID
	}
	of, err := l.all(ids)
	if err != nil {
		return nil, err
	}
	list := make([]protection.ExplainedLine, len(lines))
	var before []*protection.PremiumLine
	for i, line := range lines {
		if list[i], err = of[i].ExplainLine(line); err != nil {
			return nil, fmt.Errorf("statement %d: %w", l.ID, err)
		}
		list[i].Summary = SummarizePremium(list[i])
		if list[i].Before != nil {
			before = append(before, list[i].Before)
		}
	}
	return list, statements.FillIDs(l.tx, l.siteID, before)
}

// other explains a line that is no premium. It returns false if the statement has no line of that name.
func (l statementLine) other(report *StatementLineProtection, name string) (found bool, err error) {
	if !slices.Contains(l.LineNames(), name) {
		return false, nil
	}
	switch name {
	case protection.OpeningLine:
		report.Part, err = l.opening()
	case protection.ClosingLine:
		report.Part = l.ExplainClosing()
	case protection.MinimumLine:
		report.Part, err = l.minimum()
	case protection.PaymentsLine:
		count := l.page
		count.Count = true // the statement does not say how many there are
		if report.Payments, err = statements.PaymentsOn(l.tx, l.Statement, count); err == nil {
			report.Part = l.ExplainPayments(report.Payments.Total)
		}
	default:
		report.Part, err = l.tax(name[len(protection.TaxLine):])
	}
	return true, err
}

func (l statementLine) opening() (protection.StatementPart, error) {
	before, err := statements.Before(l.tx, l.Statement)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return l.ExplainOpening(nil), nil
	case err != nil:
		return protection.StatementPart{}, err
	}
	return l.ExplainOpening(&before), nil
}

func (l statementLine) minimum() (protection.StatementPart, error) {
	month := terms.PeriodOf(terms.PeriodMonth, l.Period.First)
	booked, err := l.bookedBetween(month.First.Start(), (month.Last + 1).Start())
	if err != nil {
		return protection.StatementPart{}, err
	}
	policy, err := l.policyIssuedUnder()
	return l.ExplainMinimum(booked, policy), err
}

func (l statementLine) tax(code string) (protection.StatementPart, error) {
	booked, err := l.bookedBetween(l.From, l.Until)
	if err != nil {
		return protection.StatementPart{}, err
	}
	policy, err := l.policyIssuedUnder()
	if err != nil {
		return protection.StatementPart{}, err
	}
	part, _ := l.ExplainTax(code, booked, policy)
	return part, nil
}

// policyIssuedUnder is the policy under which the statement was issued, as it was known then.
func (l statementLine) policyIssuedUnder() (terms.Policy, error) {
	return merchants.PolicyKnown(l.tx, l.siteID, l.Period.Last, l.IssuedAt)
}

// bookedBetween adds up the premium lines of the statement's channel and currency between two instants, with the taxes
// of each policy.
func (l statementLine) bookedBetween(from, until time.Time) ([]protection.BookedBy, error) {
	booked, err := statements.BookedBetween(l.tx, l.siteID, l.ChannelID, from, until)
	if err != nil {
		return nil, err
	}
	var list []protection.BookedBy
	for _, b := range booked {
		if b.Currency != l.Currency {
			continue
		}
		policy, err := merchants.Policy(l.tx, l.siteID, b.PolicyID)
		if err != nil {
			return nil, err
		}
		list = append(list, protection.BookedBy{
			BookedSum: protection.BookedSum{StatementSum: b.StatementSum, Taxes: policy.TaxCodes}, PolicyID: b.PolicyID,
		})
	}
	return list, nil
}
