// Package statements issues statements and records the payments against them (R11). It owns statements and
// statement_*. Start at Statements.IssueDue.
package statements

import (
	"context"
	"fmt"
	"iter"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Statements issues the statements of channels (R11), reads them, and records the payments against them.
type Statements struct {
	*sites.DB
	LinesAtOnce int // premium lines in one read of an export
}

// List reads one page of statements. The instant says when their open amounts were read.
func (s *Statements) List(
	ctx context.Context, actor access.Actor, filter StatementFilter, page store.Page,
) (store.List[protection.IssuedStatement], time.Time, error) {
	var now time.Time
	list, err := readPage(ctx, s.DB, actor, page, func(tx *store.Tx) (store.List[protection.IssuedStatement], error) {
		now = tx.Now
		if err := merchants.KnownChannels(tx, actor.SiteID, filter.Channels); err != nil {
			return store.List[protection.IssuedStatement]{}, err
		}
		return pageOf(tx, actor.SiteID, filter, page)
	})
	return list, now, err
}

// Get reads one statement. The instant says when its open amount was read.
func (s *Statements) Get(ctx context.Context, actor access.Actor, id int64) (protection.IssuedStatement, time.Time, error) {
	var now time.Time
	found, err := readStatements(ctx, s.DB, actor, func(tx *store.Tx) (protection.IssuedStatement, error) {
		now = tx.Now
		return Statement(tx, actor.SiteID, id)
	})
	return found, now, err
}

// Lines reads one page of the premium lines of a statement.
func (s *Statements) Lines(
	ctx context.Context, actor access.Actor, id int64, page store.Page,
) (store.List[protection.StatementLine], error) {
	return readPage(ctx, s.DB, actor, page, func(tx *store.Tx) (store.List[protection.StatementLine], error) {
		statement, err := Statement(tx, actor.SiteID, id)
		if err != nil {
			return store.List[protection.StatementLine]{}, err
		}
		counts := page.Count && !page.Chooses() // then the statement says how many lines it has
		page.Count = page.Count && !counts
		list, err := linesPage(tx, actor.SiteID, id, page)
		if counts {
			list.Total = statement.LineCount()
		}
		return list, err
	})
}

// AllLines returns every premium line of a statement, in order. It reads them in batches, so that neither memory nor
// the transaction grows with the statement. Lines never change, so the batches are consistent.
func (s *Statements) AllLines(
	ctx context.Context, actor access.Actor, id int64,
) iter.Seq2[protection.StatementLine, error] {
	return func(yield func(protection.StatementLine, error) bool) {
		for mark := (LineMark{}); ; {
			list, err := readStatements(ctx, s.DB, actor, func(tx *store.Tx) ([]protection.StatementLine, error) {
				return linesAfter(tx, actor.SiteID, id, mark, s.LinesAtOnce)
			})
			if err != nil {
				yield(protection.StatementLine{}, err)
				return
			}
			for _, l := range list {
				mark = LineMark{RecordedAt: l.RecordedAt, ID: l.ID}
				if !yield(l, nil) {
					return
				}
			}
			if len(list) < s.LinesAtOnce {
				return
			}
		}
	}
}

// WithLines reads a statement and the first of its premium lines, as many as the limit allows.
func (s *Statements) WithLines(
	ctx context.Context, actor access.Actor, id int64, limit int,
) (statement protection.IssuedStatement, lines []protection.StatementLine, err error) {
	lines, err = readStatements(ctx, s.DB, actor, func(tx *store.Tx) ([]protection.StatementLine, error) {
		if statement, err = Statement(tx, actor.SiteID, id); err != nil {
			return nil, err
		}
		return linesAfter(tx, actor.SiteID, id, LineMark{}, limit)
	})
	return statement, lines, err
}

// Pay records a payment against a statement, and says whether it is new. A payment that has its reference already is
// returned as it is, and refused if it says something else.
func (s *Statements) Pay(
	ctx context.Context, actor access.Actor, id int64, in StatementPaymentFields,
) (StatementPayment, bool, error) {
	if err := actor.Require(access.RecordStatementPayments); err != nil {
		return StatementPayment{}, false, err
	}
	type recorded struct {
		payment StatementPayment
		created bool
	}
	made, err := idempotency.Once(ctx, s.DB, actor, func(tx *store.Tx) (recorded, idempotency.Outcome, error) {
		payment, created, err := pay(tx, actor, id, in)
		return recorded{payment, created}, idempotency.Outcome{ID: payment.ID}, err
	}, func(ctx context.Context, made idempotency.Outcome) (recorded, error) {
		stored, err := readStatements(ctx, s.DB, actor, func(tx *store.Tx) (StatementPayment, error) {
			return paymentByID(tx, actor.SiteID, made.ID)
		})
		return recorded{stored, true}, err
	})
	return made.payment, made.created, store.NotFoundAs(errs.RecordNotFound, err, "Statement %d not found.", id)
}

// pay is Statements.Pay inside a write.
func pay(
	tx *store.Tx, actor access.Actor, id int64, in StatementPaymentFields,
) (stored StatementPayment, created bool, err error) {
	problems := in.Problems.Clone()
	in.Check(tx.Now, &problems)
	statement, err := Statement(tx, actor.SiteID, id)
	if err != nil {
		return stored, false, err
	}
	if in.Currency != nil && *in.Currency != statement.Currency {
		problems.Wrong("currencies", "Must be the currency of the statement, %s.", statement.Currency)
	}
	if err := problems.Err(); err != nil {
		return stored, false, err
	}
	payment := in.Payment(actor.SiteID, id, statement.ChannelID, statement.Currency, actor.Username)
	if stored, created, err = recordPayment(tx, payment); err != nil {
		return stored, false, err
	}
	if !created && !stored.Same(payment) {
		return stored, false, errs.New(errs.ReferenceExists,
			"Payment %d of the statement already has this reference, with different content.", stored.ID)
	}
	if !created {
		return stored, false, nil
	}
	if in.WithinOpen && payment.Amount > max(0, statement.Open) {
		return stored, false, errs.NotPossibleBecause("overpaid", "%s %s is more than the open amount, %s %s.", payment.Currency,
			money.Format(payment.Amount, payment.Currency), statement.Currency, money.Format(statement.Open, statement.Currency))
	}
	return stored, true, audit.Record(tx, actor, "statement.pay", fmt.Sprintf("statement %d", id), nil, auditedStatementPayment{
		stored.ID, stored.PaidOn, stored.Amount, stored.Currency, stored.Reference,
	})
}

type auditedStatementPayment struct {
	ID        int64          `json:"id"`
	Date      civil.Day      `json:"date"`
	Total     int64          `json:"total"`
	Currency  money.Currency `json:"currencies"`
	Reference string         `json:"reference"`
}

// Payments reads one page of the payments against a statement.
func (s *Statements) Payments(
	ctx context.Context, actor access.Actor, id int64, page store.Page,
) (store.List[StatementPayment], error) {
	return readPage(ctx, s.DB, actor, page, func(tx *store.Tx) (store.List[StatementPayment], error) {
		if _, err := Statement(tx, actor.SiteID, id); err != nil {
			return store.List[StatementPayment]{}, err
		}
		return paymentsOf(tx, actor.SiteID, id, page)
	})
}

// readStatements is sites.Read for actors who may read statements.
func readStatements[T any](
	ctx context.Context, c *sites.DB, actor access.Actor, fn func(tx *store.Tx) (T, error),
) (found T, err error) {
	if err := actor.Require(access.ReadStatements); err != nil {
		return found, err
	}
	found, err = sites.Read(ctx, c, actor, fn)
	return found, noStatement(err)
}

// readPage is sites.ReadPage for actors who may read statements.
func readPage[T any](
	ctx context.Context, c *sites.DB, actor access.Actor, page store.Page, fn func(tx *store.Tx) (T, error),
) (found T, err error) {
	if err := actor.Require(access.ReadStatements); err != nil {
		return found, err
	}
	found, err = sites.ReadPage(ctx, c, actor, page, fn)
	return found, noStatement(err)
}

func noStatement(err error) error {
	return store.NotFoundAs(errs.RecordNotFound, err, "Statement not found.")
}
