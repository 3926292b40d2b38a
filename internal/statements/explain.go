package statements

import (
	"errors"
	"holdfast/internal/db"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// StatementBefore reads the statement of the same account before one; ErrNotFound where it is the first.
func StatementBefore(tx *db.Tx, s protection.Statement) (protection.Statement, error) {
	found, err := scanStatement(func(dest ...any) error {
		return tx.Row(`SELECT `+statementColumns+` FROM statements s WHERE site_id = $1 AND channel_id = $2 AND currency = $3
			AND until_at <= $4 ORDER BY until_at DESC LIMIT 1`, []any{s.SiteID, s.ChannelID, s.Currency, db.Micros(s.From)}, dest...)
	})
	return found.Statement, err
}

// StatementLine reads one premium line of a statement.
func StatementLine(tx *db.Tx, siteID, statementID, id int64) (protection.StatementLine, error) {
	list, err := readStatementLines(tx, `AND l.id = $3`, siteID, statementID, id)
	if err != nil || len(list) == 0 {
		return protection.StatementLine{}, errors.Join(err, db.ErrNotFound)
	}
	return list[0], nil
}

// StatementLinesOf reads one page of the premium lines of one kind of a statement, and one more. The ids are found first:
// of what a page skips, nothing else is looked up.
func StatementLinesOf(tx *db.Tx, s protection.Statement, kind string, page travel.Page) ([]protection.StatementLine, error) {
	ids, err := db.Ids(tx, `SELECT id FROM premium_lines WHERE site_id = $1 AND channel_id = $2 AND currency = $3
			AND recorded_at >= $4 AND recorded_at < $5 AND kind = $6 AND NOT simulated
		ORDER BY recorded_at, id LIMIT $7 OFFSET $8`,
		s.SiteID, s.ChannelID, s.Currency, db.Micros(s.From), db.Micros(s.Until), kind, page.Size+1, page.Skip())
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	var w db.Where
	w.And("s.site_id = ?", s.SiteID)
	w.And("s.id = ?", s.ID)
	w.And("l.site_id = ?", s.SiteID)
	db.In(&w, "l.id", ids)
	var list []protection.StatementLine
	// A CROSS JOIN, because it tells SQLite where to begin: it would rather walk through all lines of the channel.
	err = tx.Each(`SELECT `+statementLineColumns+` FROM premium_lines l CROSS JOIN statements s
			JOIN allocations a ON a.site_id = l.site_id AND a.id = l.allocation_id
		WHERE `+w.Text.String()+` ORDER BY l.recorded_at, l.id`, w.Args,
		func(scan func(dest ...any) error) error {
			l, err := scanStatementLine(scan)
			list = append(list, l)
			return err
		})
	return list, err
}

// PaymentsOn reads one page of the payments that a statement counts: those of its account that were recorded in its
// period, against whichever statement.
func PaymentsOn(tx *db.Tx, s protection.Statement, page travel.Page) (travel.List[travel.StatementPayment], error) {
	var w db.Where
	w.And("site_id = ?", s.SiteID)
	w.And("channel_id = ?", s.ChannelID)
	w.And("currency = ?", s.Currency)
	w.And("recorded_at >= ?", db.Micros(s.From))
	w.And("recorded_at < ?", db.Micros(s.Until))
	return db.ListOf(tx, "statement_payments", statementPaymentColumns, &w, page, map[string]string{}, nil, scanStatementPayment)
}
