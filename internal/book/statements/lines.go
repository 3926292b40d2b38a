package statements

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// The last of lineColumns is the number of the earlier statement that the line changes: the one with the previous line
// of the same allocation.
const lineColumns = `l.id, l.recorded_at, l.effective_at, l.kind, l.cause, l.transaction_id, l.booking_id,
	l.allocation_id, a.currency, l.state_amount, l.state_value, l.lead_days, l.ppm, l.premium, l.minimum_applied, l.amount,
	l.retained, a.from_rate, a.to_rate, (SELECT k.reference FROM bookings k WHERE k.site_id = $1 AND k.id = l.booking_id),
	(SELECT r.number FROM premium_lines b JOIN statements r ON r.site_id = b.site_id AND r.channel_id = b.channel_id
			AND r.currency = b.currency AND r.from_at <= b.recorded_at AND r.until_at > b.recorded_at
		WHERE b.site_id = $1 AND r.site_id = $1 AND r.until_at <= s.from_at AND b.id = (SELECT MAX(e.id) FROM premium_lines e
			WHERE e.site_id = $1 AND e.allocation_id = l.allocation_id AND e.id < l.id))`

const lineSource = `statements s
	JOIN premium_lines l ON l.site_id = s.site_id AND l.channel_id = s.channel_id AND l.currency = s.currency
		AND l.recorded_at >= s.from_at AND l.recorded_at < s.until_at AND NOT l.simulated
	JOIN allocations a ON a.site_id = l.site_id AND a.id = l.allocation_id`

func scanLine(scan func(dest ...any) error) (protection.StatementLine, error) {
	var l protection.StatementLine
	var recorded, effective int64
	var reference sql.NullString
	var refers sql.NullInt64
	var fromRate, toRate string
	err := scan(&l.ID, &recorded, &effective, &l.Kind, &l.Cause, &l.TransactionID, &l.BookingID, &l.AllocationID,
		&l.Currency, &l.StateAmount, &l.StateValue, &l.LeadDays, &l.PPM, &l.Premium, &l.MinimumApplied, &l.Amount,
		&l.Retained, &fromRate, &toRate, &reference, &refers)
	if err != nil {
		return l, err
	}
	l.RecordedAt, l.EffectiveAt = store.Instant(recorded), store.Instant(effective)
	l.BookingReference, l.RefersTo = reference.String, refers.Int64
	l.Exchange, err = exchangeOf(fromRate, toRate)
	return l, err
}

// LineMark is a place in the order of lines: by the time of recording, then by id. The zero value is before all lines.
type LineMark struct {
	RecordedAt time.Time
	ID         int64
}

func (m LineMark) micros() int64 {
	if m.RecordedAt.IsZero() {
		return 0
	}
	return store.Micros(m.RecordedAt)
}

// linesAfter reads the premium lines of a statement after a mark, in their order, as many as the limit allows.
func linesAfter(tx *store.Tx, siteID, statementID int64, after LineMark, limit int) ([]protection.StatementLine, error) {
	return readLines(tx, `AND (l.recorded_at, l.id) > ($3, $4) ORDER BY l.recorded_at, l.id LIMIT $5`,
		siteID, statementID, after.micros(), after.ID, limit)
}

// linesPage reads one page of the premium lines of a statement. Their order is that in which they were recorded.
func linesPage(tx *store.Tx, siteID, statementID int64, page store.Page) (store.List[protection.StatementLine], error) {
	var w sqltext.Where
	w.And("s.site_id = ?", siteID)
	w.And("s.id = ?", statementID)
	if page.OrderBy == store.OrderID {
		page.OrderBy = store.OrderModified
	}
	orders := store.Orders{"id": "l.id", "modified": "l.recorded_at"}
	return store.ListPage(tx, lineSource, lineColumns, &w, page, orders, scanLine)
}

func readLines(tx *store.Tx, rest string, args ...any) ([]protection.StatementLine, error) {
	var list []protection.StatementLine
	err := tx.Query(`SELECT `+lineColumns+` FROM `+lineSource+` WHERE s.site_id = $1 AND s.id = $2 `+rest, args,
		func(scan func(dest ...any) error) error {
			l, err := scanLine(scan)
			list = append(list, l)
			return err
		})
	return list, err
}

// Line reads one premium line of a statement, or returns store.ErrNotFound.
func Line(tx *store.Tx, siteID, statementID, id int64) (protection.StatementLine, error) {
	list, err := readLines(tx, `AND l.id = $3`, siteID, statementID, id)
	if err != nil || len(list) == 0 {
		return protection.StatementLine{}, errors.Join(err, store.ErrNotFound)
	}
	return list[0], nil
}

// FillIDs sets the StatementID of premium lines of a site. It stays 0 for a line that is on no statement yet.
func FillIDs(tx *store.Tx, siteID int64, lines []*protection.PremiumLine) error {
	ids := make([]int64, len(lines))
	for i, l := range lines {
		ids[i] = l.ID
	}
	if len(ids) == 0 {
		return nil
	}
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "id", ids)
	of := map[int64]int64{}
	err := tx.Query(`SELECT id, COALESCE((SELECT s.id FROM statements s
			WHERE s.site_id = $1 AND s.channel_id = premium_lines.channel_id
				AND s.currency = premium_lines.currency AND s.from_at <= recorded_at AND s.until_at > recorded_at
				AND NOT simulated), 0)
		FROM premium_lines WHERE `+w.Text.String(), w.Args, func(scan func(dest ...any) error) error {
		var line, statement int64
		err := scan(&line, &statement)
		of[line] = statement
		return err
	})
	for _, l := range lines {
		l.StatementID = of[l.ID]
	}
	return err
}

// LinesOfKind reads one page of the premium lines of a statement that are of one kind, and one line more. It finds
// their ids first, so that nothing else is read of the lines that the page skips.
func LinesOfKind(tx *store.Tx, s protection.Statement, kind string, page store.Page) ([]protection.StatementLine, error) {
	ids, err := store.Ids(tx, `SELECT id FROM premium_lines WHERE site_id = $1 AND channel_id = $2 AND currency = $3
			AND recorded_at >= $4 AND recorded_at < $5 AND kind = $6 AND NOT simulated
		ORDER BY recorded_at, id LIMIT $7 OFFSET $8`,
		s.SiteID, s.ChannelID, s.Currency, store.Micros(s.From), store.Micros(s.Until), kind, page.Size+1, page.Skip())
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	var w sqltext.Where
	w.And("s.site_id = ?", s.SiteID)
	w.And("s.id = ?", s.ID)
	w.And("l.site_id = ?", s.SiteID)
	sqltext.In(&w, "l.id", ids)
	var list []protection.StatementLine
	// A CROSS JOIN makes SQLite start with these lines. Otherwise it reads all lines of the channel.
	err = tx.Query(`SELECT `+lineColumns+` FROM premium_lines l CROSS JOIN statements s
			JOIN allocations a ON a.site_id = l.site_id AND a.id = l.allocation_id
		WHERE `+w.Text.String()+` ORDER BY l.recorded_at, l.id`, w.Args,
		func(scan func(dest ...any) error) error {
			l, err := scanLine(scan)
			list = append(list, l)
			return err
		})
	return list, err
}

// BordereauAfter reads the premium lines of a site for the bordereau: those recorded from an instant on, before
// another one, and not after known. They come in their order, from after a mark on, as many as the limit allows. Each
// has the terms that its allocation had when the line was recorded.
func BordereauAfter(
	tx *store.Tx, siteID int64, from, until, known time.Time, after LineMark, limit int,
) ([]protection.BordereauLine, error) {
	var list []protection.BordereauLine
	err := tx.Query(`SELECT l.id, l.allocation_id, l.transaction_id, a.transaction_id, l.channel_id, l.kind, l.recorded_at,
			l.effective_at, l.amount, l.policy_id, l.currency, a.currency, l.state_amount, l.state_value, a.cover_from,
			a.from_rate, a.to_rate, t.last_day, t.country
		FROM premium_lines l
		JOIN allocations a ON a.site_id = l.site_id AND a.id = l.allocation_id
		JOIN allocation_terms t ON t.site_id = l.site_id AND t.allocation_id = l.allocation_id AND t.id = COALESCE(
			(SELECT MAX(u.id) FROM allocation_terms u WHERE u.site_id = $1 AND u.allocation_id = l.allocation_id
				AND u.recorded_at <= l.recorded_at),
			(SELECT MIN(u.id) FROM allocation_terms u WHERE u.site_id = $1 AND u.allocation_id = l.allocation_id))
		WHERE l.site_id = $1 AND l.recorded_at >= $2 AND l.recorded_at < $3 AND l.recorded_at <= $4
			AND (l.recorded_at, l.id) > ($5, $6) AND NOT l.simulated ORDER BY l.recorded_at, l.id LIMIT $7`,
		[]any{siteID, store.Micros(from), store.Micros(until), store.Micros(known), after.micros(), after.ID, limit},
		func(scan func(dest ...any) error) error {
			l, err := scanBordereauLine(scan)
			l.SiteID = siteID
			list = append(list, l)
			return err
		})
	return list, err
}

// PremiumSum counts identical premium lines of a bordereau, which have the same tax.
type PremiumSum struct {
	Kind     string
	Currency money.Currency
	PolicyID int64
	Amount   int64 // of each line, in minor units
	Lines    int64
}

// BordereauSums calls each for all lines that BordereauAfter reads, identical ones together.
func BordereauSums(tx *store.Tx, siteID int64, from, until, known time.Time, each func(PremiumSum) error) error {
	return tx.Query(`SELECT kind, currency, policy_id, amount, COUNT(*) FROM premium_lines
		WHERE site_id = $1 AND recorded_at >= $2 AND recorded_at < $3 AND recorded_at <= $4 AND NOT simulated
		GROUP BY kind, currency, policy_id, amount ORDER BY kind, currency, policy_id, amount`,
		[]any{siteID, store.Micros(from), store.Micros(until), store.Micros(known)},
		func(scan func(dest ...any) error) error {
			var s PremiumSum
			if err := scan(&s.Kind, &s.Currency, &s.PolicyID, &s.Amount, &s.Lines); err != nil {
				return err
			}
			return each(s)
		})
}

func scanBordereauLine(scan func(dest ...any) error) (protection.BordereauLine, error) {
	var l protection.BordereauLine
	var recorded, effective, cover int64
	var fromRate, toRate string
	err := scan(&l.LineID, &l.AllocationID, &l.CauseID, &l.TransactionID, &l.ChannelID, &l.Kind, &recorded, &effective,
		&l.Amount, &l.PolicyID, &l.Settlement, &l.Original, &l.Insured, &l.InsuredValue, &cover, &fromRate, &toRate,
		&l.Expiry, &l.Country)
	if err != nil {
		return protection.BordereauLine{}, err
	}
	l.RecordedAt, l.EffectiveAt, l.Inception = store.Instant(recorded), store.Instant(effective), store.Instant(cover)
	l.Exchange, err = exchangeOf(fromRate, toRate)
	return l, err
}

// exchangeOf reads the legs of a rate of exchange. They are empty when nothing was converted: both currencies are the same.
func exchangeOf(fromRate, toRate string) (e protection.Exchange, err error) {
	if fromRate == "" || toRate == "" {
		return e, nil
	}
	if e.FromRate, err = money.ParseRate(fromRate); err != nil {
		return e, err
	}
	e.ToRate, err = money.ParseRate(toRate)
	return e, err
}

// MinimumsAfter reads the minimum premiums of the month that ends on lastDay, from the statements issued not after
// known. It looks at the statements with numbers greater than after, in their order, as many as the limit allows. It
// returns the number of the last statement that it looked at, or 0 for none.
func MinimumsAfter(
	tx *store.Tx, siteID int64, lastDay civil.Day, known time.Time, after int64, limit int,
) (list []protection.BordereauMinimum, last int64, err error) {
	err = tx.Query(`SELECT number, channel_id, issued_at, last_day, currency, content FROM statements
		WHERE site_id = $1 AND first_day <= $2 AND last_day >= $2 AND issued_at <= $3 AND number > $4
		ORDER BY number LIMIT $5`, []any{siteID, lastDay, store.Micros(known), after, limit},
		func(scan func(dest ...any) error) error {
			var m protection.BordereauMinimum
			var issued int64
			var content string
			if err := scan(&last, &m.ChannelID, &issued, &m.Through, &m.Currency, &content); err != nil {
				return err
			}
			var c statementContent
			if err := json.Unmarshal([]byte(content), &c); err != nil {
				return fmt.Errorf("read statement number %d: %w", last, err)
			}
			if c.Minimum != nil && c.Minimum.Month == lastDay.Month() {
				m.Number, m.IssuedAt, m.Amount = last, store.Instant(issued), c.Minimum.Amount
				list = append(list, m)
			}
			return nil
		})
	return list, last, err
}
