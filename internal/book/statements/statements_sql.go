package statements

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/lib/digest"
	"holdfast/internal/platform/events"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// statementColumns are the columns of a statement in the order in which scanStatement reads them. The last two are the amount that is open
// now, and whether the statement is the latest of its account. Payments and later credits settle the oldest charges of the account first.
// So the open amount is the lowest balance of the account from this statement on, less all payments. On the latest statement, a negative
// amount is the credit of the account.
var statementColumns = `site_id, id, number, channel_id, period, first_day, last_day, from_at, until_at, issued_at, due_day,
	currency, opening, payments, closing, account, content, ` + openOfStatement("$1") + `, ` + latestOfAccount

// openOfStatement is the open amount of a statement s. site is the SQL expression for its site: if a statement names the site everywhere,
// a cluster plans it directly for one node.
func openOfStatement(site string) string {
	return `((SELECT MIN(t.account) FROM statements t WHERE t.site_id = ` + site + `
		AND t.channel_id = s.channel_id AND t.currency = s.currency AND t.until_at >= s.until_at)
	- CAST(COALESCE((SELECT SUM(p.amount) FROM statement_payments p WHERE p.site_id = ` + site + `
		AND p.channel_id = s.channel_id AND p.currency = s.currency), 0) AS BIGINT))`
}

const latestOfAccount = `NOT EXISTS (SELECT 1 FROM statements n WHERE n.site_id = $1
	AND n.channel_id = s.channel_id AND n.currency = s.currency AND n.until_at > s.until_at)`

// The columns of statements and of payments against them that never change. Their digests are computed from them.
const (
	StatementFacts = `site_id, number, channel_id, period, first_day, last_day, from_at, until_at, issued_at, due_day,
		currency, opening, payments, closing, account, content`
	PaymentFacts = `site_id, statement_id, channel_id, currency, paid_on, amount, reference, author, recorded_at`
)

// statementContent is the part of a statement that no query looks at, as JSON.
type statementContent struct {
	ChannelName string                     `json:"channel_name"`
	Language    string                     `json:"language"`
	Lines       []protection.StatementSum  `json:"lines"`
	Minimum     *protection.MonthlyMinimum `json:"minimum"`
	Taxes       []protection.StatementTax  `json:"taxes"`

	Issuer       merchant.Party `json:"issuer"`
	Policyholder merchant.Party `json:"policyholder"`
	SiteName     string         `json:"site_name,omitempty"` // of the policyholder, on a statement from before there were parties
}

func scanStatement(scan func(dest ...any) error) (protection.IssuedStatement, error) {
	var s protection.IssuedStatement
	var from, until, issued int64
	var content string
	var latest bool
	err := scan(&s.SiteID, &s.ID, &s.Number, &s.ChannelID, &s.Period.Kind, &s.Period.First, &s.Period.Last, &from, &until,
		&issued, &s.Due, &s.Currency, &s.Opening, &s.Payments, &s.Closing, &s.Account, &content, &s.Open, &latest)
	if err != nil {
		return protection.IssuedStatement{}, err
	}
	s.From, s.Until, s.IssuedAt = store.Instant(from), store.Instant(until), store.Instant(issued)
	if latest {
		s.Credit = max(0, -s.Open)
	}
	s.Open = max(0, s.Open)
	var c statementContent
	if err := json.Unmarshal([]byte(content), &c); err != nil {
		return protection.IssuedStatement{}, fmt.Errorf("read statement %d: %w", s.ID, err)
	}
	s.ChannelName, s.Language, s.Issuer, s.Policyholder = c.ChannelName, c.Language, c.Issuer, c.Policyholder
	s.Policyholder.Name = cmp.Or(s.Policyholder.Name, c.SiteName)
	s.Lines, s.Minimum, s.Taxes = c.Lines, c.Minimum, c.Taxes
	return s, nil
}

// insert gives a statement the next number of its site and stores it. The number is the last lock that a write takes,
// so that no two writes wait for each other.
func insert(tx *store.Tx, s protection.Statement) (protection.Statement, error) {
	_, err := tx.Exec(`INSERT INTO statement_numbers (site_id, last) VALUES ($1, 0) ON CONFLICT (site_id) DO NOTHING`, s.SiteID)
	if err != nil {
		return s, err
	}
	err = tx.QueryRow(`UPDATE statement_numbers SET last = last + 1 WHERE site_id = $1 RETURNING last`, []any{s.SiteID}, &s.Number)
	if err != nil {
		return s, err
	}
	content, err := json.Marshal(statementContent{
		ChannelName: s.ChannelName, Language: s.Language, Lines: s.Lines, Minimum: s.Minimum, Taxes: s.Taxes,
		Issuer: s.Issuer, Policyholder: s.Policyholder,
	})
	if err != nil {
		return s, err
	}
	s.IssuedAt = tx.Now
	row := []any{s.SiteID, s.Number, s.ChannelID, s.Period.Kind, s.Period.First, s.Period.Last, store.Micros(s.From),
		store.Micros(s.Until), store.Micros(s.IssuedAt), s.Due, s.Currency, s.Opening, s.Payments, s.Closing, s.Account,
		string(content)}
	sum, err := digest.Of(row...)
	if err != nil {
		return s, err
	}
	if s.ID, err = tx.NextID("statements", s.SiteID); err != nil {
		return s, err
	}
	_, err = tx.Exec(`INSERT INTO statements (`+StatementFacts+`, digest, id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		append(row, sum, s.ID)...)
	events.Record(tx, s.SiteID, event.StatementIssued, s.ID, event.Details{Amount: s.Closing, Currency: string(s.Currency)})
	return s, err
}

// Statement reads a statement, or returns store.ErrNotFound.
func Statement(tx *store.Tx, siteID, id int64) (protection.IssuedStatement, error) {
	return scanStatement(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+statementColumns+` FROM statements s WHERE site_id = $1 AND id = $2`, []any{siteID, id}, dest...)
	})
}

// AfterNumber reads the statements of a site with numbers greater than after, in their order, at most limit of them.
func AfterNumber(tx *store.Tx, siteID, after int64, limit int) (list []protection.IssuedStatement, err error) {
	err = tx.Query(`SELECT `+statementColumns+` FROM statements s WHERE site_id = $1 AND number > $2 ORDER BY number LIMIT $3`,
		[]any{siteID, after, limit}, func(scan func(dest ...any) error) error {
			s, err := scanStatement(scan)
			list = append(list, s)
			return err
		})
	return list, err
}

// Before reads the previous statement of the same channel and currency. For the first one it returns store.ErrNotFound.
func Before(tx *store.Tx, s protection.Statement) (protection.Statement, error) {
	found, err := scanStatement(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+statementColumns+` FROM statements s WHERE site_id = $1 AND channel_id = $2 AND currency = $3
			AND until_at <= $4 ORDER BY until_at DESC LIMIT 1`, []any{s.SiteID, s.ChannelID, s.Currency, store.Micros(s.From)}, dest...)
	})
	return found.Statement, err
}

// statementModified is when a statement was issued or paid last.
const statementModified = `COALESCE((SELECT MAX(q.recorded_at) FROM statement_payments q
	WHERE q.site_id = $1 AND q.statement_id = s.id), s.issued_at)`

// pageOf reads one page of the statements of a site that pass the filter.
func pageOf(
	tx *store.Tx, siteID int64, f StatementFilter, page store.Page,
) (store.List[protection.IssuedStatement], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	if f.Number != 0 {
		w.And("number = ?", f.Number)
	}
	sqltext.In(&w, "channel_id", f.Channels)
	sqltext.In(&w, "period", f.Periods)
	sqltext.In(&w, "currency", f.Currencies)
	store.Within(&w, "issued_at", f.Issued)
	if f.Overdue != nil {
		condition := "due_day < ? AND " + openOfStatement("$1") + " > 0"
		if !*f.Overdue {
			condition = "NOT (" + condition + ")"
		}
		w.And(condition, civil.DayOf(tx.Now))
	}
	orders := store.Orders{
		"modified": statementModified, "number": "number", "issued": "issued_at", "due": "due_day",
	}
	return store.ListPage(tx, "statements s", statementColumns, &w, page, orders, scanStatement)
}

// ReadStatementsOf fills in, for transactions, the numbers of the statements that hold their premium, and the date of
// the last of these. ids are the transactions, and at gives each by its id.
func ReadStatementsOf(tx *store.Tx, siteID int64, ids []int64, at map[int64]*payment.Transaction) error {
	var w sqltext.Where
	w.And("l.site_id = ?", siteID)
	sqltext.Around(&w, "l.transaction_id", ids)
	return tx.Query(`SELECT DISTINCT l.transaction_id, s.number, s.issued_at FROM `+statementsOfLines+`
		WHERE `+w.Text.String()+` AND NOT l.simulated ORDER BY l.transaction_id, s.number`, w.Args,
		func(scan func(dest ...any) error) error {
			var id, number, issued int64
			if err := scan(&id, &number, &issued); err != nil {
				return err
			}
			if t := at[id]; t != nil {
				holds(t, number, store.Instant(issued))
			}
			return nil
		})
}

const statementsOfLines = `premium_lines l JOIN statements s ON s.site_id = l.site_id AND s.channel_id = l.channel_id
	AND s.currency = l.currency AND s.from_at <= l.recorded_at AND s.until_at > l.recorded_at`

// holds notes the next statement that has the premium of a transaction. In the end, the date is that of the last one.
func holds(t *payment.Transaction, number int64, issued time.Time) {
	if t.StatementBatches != "" {
		t.StatementBatches += ","
	}
	t.StatementBatches += strconv.FormatInt(number, 10)
	t.StatementDate = issued
}

const statementPaymentColumns = `site_id, id, statement_id, channel_id, currency, paid_on, amount, reference, author, recorded_at`

func scanStatementPayment(scan func(dest ...any) error) (StatementPayment, error) {
	var p StatementPayment
	var recorded int64
	err := scan(&p.SiteID, &p.ID, &p.StatementID, &p.ChannelID, &p.Currency, &p.PaidOn, &p.Amount, &p.Reference, &p.Author, &recorded)
	p.RecordedAt = store.Instant(recorded)
	return p, err
}

// recordPayment stores a payment, or returns the one of the same statement that has its reference already.
func recordPayment(tx *store.Tx, p StatementPayment) (stored StatementPayment, created bool, err error) {
	p.RecordedAt = tx.Now
	row := []any{p.SiteID, p.StatementID, p.ChannelID, p.Currency, p.PaidOn, p.Amount, p.Reference, p.Author, store.Micros(tx.Now)}
	sum, err := digest.Of(row...)
	if err != nil {
		return p, false, err
	}
	if p.ID, err = tx.NextID("statement_payments", p.SiteID); err != nil {
		return p, false, err
	}
	n, err := tx.Exec(`INSERT INTO statement_payments (`+PaymentFacts+`, digest, id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (site_id, statement_id, reference) DO NOTHING`,
		append(row, sum, p.ID)...)
	if err != nil {
		return p, false, err
	}
	if n > 0 {
		events.Record(tx, p.SiteID, event.StatementPaid, p.StatementID, event.Details{Amount: p.Amount, Currency: string(p.Currency)})
		return p, true, nil
	}
	stored, err = scanStatementPayment(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+statementPaymentColumns+` FROM statement_payments
			WHERE site_id = $1 AND statement_id = $2 AND reference = $3`, []any{p.SiteID, p.StatementID, p.Reference}, dest...)
	})
	return stored, false, err
}

// paymentByID reads a payment against a statement. The error is store.ErrNotFound when the site has no such payment.
func paymentByID(tx *store.Tx, siteID, id int64) (StatementPayment, error) {
	return scanStatementPayment(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+statementPaymentColumns+` FROM statement_payments WHERE site_id = $1 AND id = $2`,
			[]any{siteID, id}, dest...)
	})
}

// paymentsOf reads one page of the payments against a statement.
func paymentsOf(tx *store.Tx, siteID, statementID int64, page store.Page) (store.List[StatementPayment], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	w.And("statement_id = ?", statementID)
	orders := store.Orders{"modified": "recorded_at", "date": "paid_on"}
	return store.ListPage(tx, "statement_payments", statementPaymentColumns, &w, page, orders, scanStatementPayment)
}

// PaymentsOn reads one page of the payments that a statement takes off its balance: those of its channel and currency
// that were recorded in its period, against any statement.
func PaymentsOn(tx *store.Tx, s protection.Statement, page store.Page) (store.List[StatementPayment], error) {
	var w sqltext.Where
	w.And("site_id = ?", s.SiteID)
	w.And("channel_id = ?", s.ChannelID)
	w.And("currency = ?", s.Currency)
	w.And("recorded_at >= ?", store.Micros(s.From))
	w.And("recorded_at < ?", store.Micros(s.Until))
	return store.ListPage(tx, "statement_payments", statementPaymentColumns, &w, page, store.Orders{}, scanStatementPayment)
}
