package statements

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/db"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// statementColumns are the columns of a statement in the order in which scanStatement reads them. The last two are what
// is open of it now. Payments settle the oldest charges of the account first, and so do later credits: open is the
// least that the account ever came to from this statement on, less all payments.
const statementColumns = `site_id, id, number, channel_id, period, first_day, last_day, from_at, until_at, issued_at, due_day,
	currency, opening, payments, closing, account, content, ` + openOfStatement

const openOfStatement = `((SELECT MIN(t.account) FROM statements t WHERE t.site_id = s.site_id
		AND t.channel_id = s.channel_id AND t.currency = s.currency AND t.until_at >= s.until_at)
	- CAST(COALESCE((SELECT SUM(p.amount) FROM statement_payments p WHERE p.site_id = s.site_id
		AND p.channel_id = s.channel_id AND p.currency = s.currency), 0) AS BIGINT))`

// statementContent is the part of a statement that nothing is looked up by.
type statementContent struct {
	SiteName    string                     `json:"site_name"`
	ChannelName string                     `json:"channel_name"`
	Language    string                     `json:"language"`
	Lines       []protection.StatementSum  `json:"lines"`
	Minimum     *protection.MonthlyMinimum `json:"minimum"`
	Taxes       []protection.StatementTax  `json:"taxes"`
}

func scanStatement(scan func(dest ...any) error) (protection.IssuedStatement, error) {
	var s protection.IssuedStatement
	var from, until, issued int64
	var content string
	err := scan(&s.SiteID, &s.ID, &s.Number, &s.ChannelID, &s.Period.Kind, &s.Period.First, &s.Period.Last, &from, &until,
		&issued, &s.Due, &s.Currency, &s.Opening, &s.Payments, &s.Closing, &s.Account, &content, &s.Open)
	if err != nil {
		return protection.IssuedStatement{}, err
	}
	s.From, s.Until, s.IssuedAt, s.Open = db.Instant(from), db.Instant(until), db.Instant(issued), max(0, s.Open)
	var c statementContent
	if err := json.Unmarshal([]byte(content), &c); err != nil {
		return protection.IssuedStatement{}, fmt.Errorf("read statement %d: %w", s.ID, err)
	}
	s.SiteName, s.ChannelName, s.Language = c.SiteName, c.ChannelName, c.Language
	s.Lines, s.Minimum, s.Taxes = c.Lines, c.Minimum, c.Taxes
	return s, nil
}

// StatementProgress is up to where a channel has statements; the zero time where none was looked for yet.
type StatementProgress struct {
	Channel travel.Channel
	Covered time.Time
}

// StatementProgress reads how far the channels of a site are, test channels apart, in order of their ids from after one
// on.
func ProgressOfStatements(tx *db.Tx, siteID, after int64, limit int) ([]StatementProgress, error) {
	var list []StatementProgress
	err := tx.Each(`SELECT c.id, c.name, c.language, c.statement_period, c.created_at, p.covered_until FROM channels c
		LEFT JOIN statement_progress p ON p.site_id = c.site_id AND p.channel_id = c.id
		WHERE c.site_id = $1 AND c.id > $2 AND NOT c.was_test ORDER BY c.id LIMIT $3`, []any{siteID, after, limit},
		func(scan func(dest ...any) error) error {
			var p StatementProgress
			var created int64
			var covered sql.NullInt64
			c := &p.Channel
			err := scan(&c.ID, &c.Name, &c.Language, &c.StatementPeriod, &created, &covered)
			c.SiteID, c.CreatedAt, p.Covered = siteID, db.Instant(created), db.MaybeInstant(covered)
			list = append(list, p)
			return err
		})
	return list, err
}

// MoveStatementProgress takes the channel's statements for this write and moves them on. It is false where another
// write has moved them meanwhile: nobody issues the same period twice.
func MoveStatementProgress(tx *db.Tx, siteID, channelID int64, from, until time.Time) (moved bool, err error) {
	_, err = tx.Exec(`INSERT INTO statement_progress (site_id, channel_id, covered_until) VALUES ($1, $2, $3)
		ON CONFLICT (site_id, channel_id) DO NOTHING`, siteID, channelID, db.Micros(from))
	if err != nil {
		return false, err
	}
	n, err := tx.Exec(`UPDATE statement_progress SET covered_until = $4
		WHERE site_id = $1 AND channel_id = $2 AND covered_until = $3`, siteID, channelID, db.Micros(from), db.Micros(until))
	return n == 1, err
}

// Booked is the premium lines of one kind, currency and policy.
type Booked struct {
	Currency money.Currency
	PolicyID int64
	protection.StatementSum
}

// BookedBetween adds up the premium lines of a channel recorded from an instant on and before another one; the newest
// policy first.
func BookedBetween(tx *db.Tx, siteID, channelID int64, from, until time.Time) ([]Booked, error) {
	var list []Booked
	err := tx.Each(`SELECT currency, policy_id, kind, COUNT(*), CAST(SUM(amount) AS BIGINT), CAST(SUM(retained) AS BIGINT)
		FROM premium_lines
		WHERE site_id = $1 AND channel_id = $2 AND recorded_at >= $3 AND recorded_at < $4 AND NOT simulated
		GROUP BY currency, policy_id, kind ORDER BY currency, policy_id DESC, kind`,
		[]any{siteID, channelID, db.Micros(from), db.Micros(until)},
		func(scan func(dest ...any) error) error {
			var b Booked
			err := scan(&b.Currency, &b.PolicyID, &b.Kind, &b.Lines, &b.Amount, &b.Retained)
			list = append(list, b)
			return err
		})
	return list, err
}

// Account is where a channel's account in one currency stands after its last statement.
type Account struct {
	Closing, Account int64
}

// Accounts reads the accounts of a channel.
func Accounts(tx *db.Tx, siteID, channelID int64) (map[money.Currency]Account, error) {
	accounts := map[money.Currency]Account{}
	err := tx.Each(`SELECT s.currency, s.closing, s.account FROM statements s WHERE s.site_id = $1 AND s.channel_id = $2
		AND s.until_at = (SELECT MAX(t.until_at) FROM statements t
			WHERE t.site_id = s.site_id AND t.channel_id = s.channel_id AND t.currency = s.currency)`,
		[]any{siteID, channelID},
		func(scan func(dest ...any) error) error {
			var c money.Currency
			var a Account
			err := scan(&c, &a.Closing, &a.Account)
			accounts[c] = a
			return err
		})
	return accounts, err
}

// PaidBetween adds up the payments of a channel's accounts recorded from an instant on and before another one.
func PaidBetween(tx *db.Tx, siteID, channelID int64, from, until time.Time) (map[money.Currency]int64, error) {
	paid := map[money.Currency]int64{}
	err := tx.Each(`SELECT currency, CAST(SUM(amount) AS BIGINT) FROM statement_payments
		WHERE site_id = $1 AND channel_id = $2 AND recorded_at >= $3 AND recorded_at < $4 GROUP BY currency`,
		[]any{siteID, channelID, db.Micros(from), db.Micros(until)},
		func(scan func(dest ...any) error) error {
			var c money.Currency
			var sum int64
			err := scan(&c, &sum)
			paid[c] = sum
			return err
		})
	return paid, err
}

// InsertStatement gives a statement the next number of its site and stores it. The number is the write's last lock: who
// waits for it holds nothing that the one before could need.
func InsertStatement(tx *db.Tx, s protection.Statement) (protection.Statement, error) {
	_, err := tx.Exec(`INSERT INTO statement_numbers (site_id, last) VALUES ($1, 0) ON CONFLICT (site_id) DO NOTHING`, s.SiteID)
	if err != nil {
		return s, err
	}
	err = tx.Row(`UPDATE statement_numbers SET last = last + 1 WHERE site_id = $1 RETURNING last`, []any{s.SiteID}, &s.Number)
	if err != nil {
		return s, err
	}
	content, err := json.Marshal(statementContent{s.SiteName, s.ChannelName, s.Language, s.Lines, s.Minimum, s.Taxes})
	if err != nil {
		return s, err
	}
	s.IssuedAt = tx.Now
	err = tx.Row(`INSERT INTO statements (site_id, number, channel_id, period, first_day, last_day, from_at, until_at,
			issued_at, due_day, currency, opening, payments, closing, account, content)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) RETURNING id`,
		[]any{s.SiteID, s.Number, s.ChannelID, s.Period.Kind, s.Period.First, s.Period.Last, db.Micros(s.From),
			db.Micros(s.Until), db.Micros(s.IssuedAt), s.Due, s.Currency, s.Opening, s.Payments, s.Closing, s.Account,
			string(content)}, &s.ID)
	return s, err
}

// Statement reads a statement.
func Statement(tx *db.Tx, siteID, id int64) (protection.IssuedStatement, error) {
	return scanStatement(func(dest ...any) error {
		return tx.Row(`SELECT `+statementColumns+` FROM statements s WHERE site_id = $1 AND id = $2`, []any{siteID, id}, dest...)
	})
}

// statementsPage reads one page of the statements of a site.
func statementsPage(
	tx *db.Tx, siteID int64, f travel.StatementFilter, page travel.Page,
) (travel.List[protection.IssuedStatement], error) {
	var w db.Where
	w.And("site_id = ?", siteID)
	db.In(&w, "id", f.Include)
	db.NotIn(&w, "id", f.Exclude)
	db.In(&w, "channel_id", f.Channels)
	db.In(&w, "period", f.Periods)
	db.In(&w, "currency", f.Currencies)
	if !f.After.IsZero() {
		w.And("issued_at > ?", db.Micros(f.After))
	}
	if !f.Before.IsZero() {
		w.And("issued_at < ?", db.Micros(f.Before))
	}
	if f.Overdue != nil {
		condition := "due_day < ? AND " + openOfStatement + " > 0"
		if !*f.Overdue {
			condition = "NOT (" + condition + ")"
		}
		w.And(condition, civil.DayOf(tx.Now))
	}
	orders := map[string]string{"number": "number", "issued": "issued_at", "due": "due_day"}
	return db.ListOf(tx, "statements s", statementColumns, &w, page, orders, f.Include, scanStatement)
}

// ReadStatementsOf fills in on which statements the premium of transactions stands.
func ReadStatementsOf(tx *db.Tx, siteID int64, ids []int64, at map[int64]*travel.Transaction) error {
	var w db.Where
	w.And("l.site_id = ?", siteID)
	db.In(&w, "l.transaction_id", ids)
	return tx.Each(`SELECT DISTINCT l.transaction_id, s.number, s.issued_at FROM premium_lines l
		JOIN statements s ON s.site_id = l.site_id AND s.channel_id = l.channel_id AND s.currency = l.currency
			AND s.from_at <= l.recorded_at AND s.until_at > l.recorded_at
		WHERE `+w.Text.String()+` AND NOT l.simulated ORDER BY l.transaction_id, s.number`, w.Args,
		func(scan func(dest ...any) error) error {
			var id, number, issued int64
			if err := scan(&id, &number, &issued); err != nil {
				return err
			}
			t := at[id]
			if t.StatementBatches != "" {
				t.StatementBatches += ","
			}
			t.StatementBatches += strconv.FormatInt(number, 10)
			t.StatementDate = db.Instant(issued) // the last one's
			return nil
		})
}

const statementPaymentColumns = `site_id, id, statement_id, channel_id, currency, paid_on, amount, reference, author, recorded_at`

func scanStatementPayment(scan func(dest ...any) error) (travel.StatementPayment, error) {
	var p travel.StatementPayment
	var recorded int64
	err := scan(&p.SiteID, &p.ID, &p.StatementID, &p.ChannelID, &p.Currency, &p.PaidOn, &p.Amount, &p.Reference, &p.Author, &recorded)
	p.RecordedAt = db.Instant(recorded)
	return p, err
}

// RecordStatementPayment stores a payment, or finds the one that has its reference already.
func RecordStatementPayment(tx *db.Tx, p travel.StatementPayment) (stored travel.StatementPayment, created bool, err error) {
	p.RecordedAt = tx.Now
	err = tx.Row(`INSERT INTO statement_payments (site_id, statement_id, channel_id, currency, paid_on, amount, reference,
			author, recorded_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (site_id, statement_id, reference) DO NOTHING RETURNING id`,
		[]any{p.SiteID, p.StatementID, p.ChannelID, p.Currency, p.PaidOn, p.Amount, p.Reference, p.Author, db.Micros(tx.Now)}, &p.ID)
	if !errors.Is(err, db.ErrNotFound) {
		return p, err == nil, err
	}
	stored, err = scanStatementPayment(func(dest ...any) error {
		return tx.Row(`SELECT `+statementPaymentColumns+` FROM statement_payments
			WHERE site_id = $1 AND statement_id = $2 AND reference = $3`, []any{p.SiteID, p.StatementID, p.Reference}, dest...)
	})
	return stored, false, err
}

// StatementPayments reads one page of the payments against a statement.
func StatementPayments(tx *db.Tx, siteID, statementID int64, page travel.Page) (travel.List[travel.StatementPayment], error) {
	var w db.Where
	w.And("site_id = ?", siteID)
	w.And("statement_id = ?", statementID)
	orders := map[string]string{"date": "paid_on"}
	return db.ListOf(tx, "statement_payments", statementPaymentColumns, &w, page, orders, nil, scanStatementPayment)
}
