package verify

import (
	"encoding/json"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
)

// account is a channel in one currency.
type account struct {
	channel  int64
	currency money.Currency
}

// issued is the total of the statements of an account.
type issued struct {
	closing, account int64
	until            time.Time
	lines            int64
}

// statementsOf: numbers have no gaps, and each statement follows from its lines, payments, policies and the previous
// statement (R11).
func statementsOf(l *look) error {
	at := place{check: "statements", table: "statements"}
	line := l.line(at.check)
	accounts, last := map[account]*issued{}, int64(0)
	for more := true; more; {
		page, err := statements.AfterNumber(l.tx, l.site.ID, last, perPage)
		if err != nil {
			return err
		}
		more = len(page) == perPage
		for _, s := range page {
			line.Rows++
			at.id = s.ID
			same(l, at, "number", s.Number, last+1)
			last = s.Number
			before := accounts[account{s.ChannelID, s.Currency}]
			if before == nil {
				before = &issued{until: s.From}
				accounts[account{s.ChannelID, s.Currency}] = before
			}
			if s.From.Before(before.until) || !s.From.Before(s.Until) {
				l.wrong(at, "from_at", s.From, before.until)
			}
			if err := l.statement(at, s.Statement, *before); err != nil {
				return err
			}
			*before = issued{s.Closing, s.Account, s.Until, before.lines + s.LineCount()}
		}
	}
	numbered := int64(0)
	err := l.tx.QueryRow(`SELECT COALESCE(MAX(last), 0) FROM statement_numbers WHERE site_id = $1`, []any{l.site.ID}, &numbered)
	if numbered != last {
		l.wrong(place{at.check, "statement_numbers", l.site.ID}, "last", numbered, last)
	}
	if err != nil {
		return err
	}
	return l.onStatements(accounts)
}

// statement recomputes a statement and compares.
func (l *look) statement(at place, s protection.Statement, before issued) error {
	policy, err := merchants.PolicyKnown(l.tx, l.site.ID, s.Period.Last, s.IssuedAt)
	if err != nil {
		return err
	}
	charges := protection.Charges{Opening: before.closing, Account: before.account, MinTaxes: policy.TaxCodes}
	booked, err := statements.BookedBetween(l.tx, l.site.ID, s.ChannelID, s.From, s.Until)
	if err != nil {
		return err
	}
	for _, b := range booked {
		if b.Currency != s.Currency {
			continue
		}
		of, err := l.policy(b.PolicyID)
		if err != nil {
			return err
		}
		charges.Booked = append(charges.Booked, protection.BookedSum{StatementSum: b.StatementSum, Taxes: of.TaxCodes})
	}
	if charges.Minimum, err = l.minimum(s, policy); err != nil {
		return err
	}
	taxed, err := statements.TaxesBefore(l.tx, l.site.ID, s.ChannelID, s.From)
	if err != nil {
		return err
	}
	charges.Taxed = taxed[s.Currency]
	err = l.tx.QueryRow(`SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM statement_payments WHERE site_id = $1
		AND channel_id = $2 AND currency = $3 AND recorded_at >= $4 AND recorded_at < $5`,
		[]any{l.site.ID, s.ChannelID, s.Currency, store.Micros(s.From), store.Micros(s.Until)}, &charges.Payments)
	if err != nil {
		return err
	}
	should := s
	if err := should.AddUp(charges); err != nil {
		l.wrong(at, "closing", s.Closing, err)
		return nil
	}
	same(l, at, "opening", s.Opening, should.Opening)
	same(l, at, "lines", jsonOf(s.Lines), jsonOf(should.Lines))
	same(l, at, "minimum", jsonOf(s.Minimum), jsonOf(should.Minimum))
	same(l, at, "taxes", jsonOf(s.Taxes), jsonOf(should.Taxes))
	same(l, at, "payments", s.Payments, should.Payments)
	same(l, at, "closing", s.Closing, should.Closing)
	same(l, at, "account", s.Account, should.Account)
	same(l, at, "due_day", s.Due, terms.AfterBusinessDays(civil.DayOf(s.IssuedAt), policy.PaymentTermsDays))
	return nil
}

// minimum is the shortfall of a month's premium against the minimum, if a month ends in the period of the statement.
func (l *look) minimum(s protection.Statement, policy terms.Policy) (*protection.MonthlyMinimum, error) {
	month := terms.PeriodOf(terms.PeriodMonth, s.Period.First)
	if policy.MinimumPerMonth <= 0 || month.Last > s.Period.Last || policy.Currency != s.Currency {
		return nil, nil
	}
	booked, err := statements.BookedBetween(l.tx, l.site.ID, s.ChannelID, month.First.Start(), (month.Last + 1).Start())
	var sum int64
	found := false
	for _, b := range booked {
		if b.Currency == s.Currency {
			sum, found = sum+b.Amount, true
		}
	}
	if err != nil || !found {
		return nil, err
	}
	return protection.Shortfall(month.Last.Month(), policy.MinimumPerMonth, sum), nil
}

// jsonOf shows a list of a statement. An absent list and an empty one are the same.
func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil || string(text) == "null" {
		return "[]"
	}
	return string(text)
}

// onStatements: every premium line that was recorded before the end of the last period is on one statement.
func (l *look) onStatements(accounts map[account]*issued) error {
	at := place{check: "premium on statements", table: "premium_lines of channel"}
	line := l.line(at.check)
	should := map[account]int64{}
	err := l.tx.Query(allStatedLines, []any{l.site.ID}, func(scan func(dest ...any) error) error {
		var a account
		err := scan(&a.channel, &a.currency)
		should[a]++
		line.Rows++
		return err
	})
	for a := range accounts {
		should[a] += 0
	}
	for a, n := range should {
		stored := int64(0)
		if of := accounts[a]; of != nil {
			stored = of.lines
		}
		at.id = a.channel
		same(l, at, words("lines in", string(a.currency), "on statements"), stored, n)
	}
	return err
}

// statementPayments: a payment belongs to the account of its statement.
func statementPayments(l *look) error {
	at := place{check: "statement payments", table: "statement_payments"}
	line := l.line(at.check)
	return l.tx.Query(`SELECT p.id, p.channel_id, p.currency, s.channel_id, s.currency FROM statement_payments p
			JOIN statements s ON s.site_id = p.site_id AND s.id = p.statement_id
		WHERE p.site_id = $1 ORDER BY p.id`, []any{l.site.ID}, func(scan func(dest ...any) error) error {
		var has, should account
		err := scan(&at.id, &has.channel, &has.currency, &should.channel, &should.currency)
		line.Rows++
		same(l, at, "channel_id", has.channel, should.channel)
		same(l, at, "currency", has.currency, should.currency)
		return err
	})
}
