package limits

import (
	"database/sql"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/db"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// LimitLine is what an allocation adds to the running use.
type LimitLine struct {
	AllocationID int64
	ChannelID    int64
	Currency     money.Currency
	protection.LimitUse
}

// SaveLine stores what an allocation adds. What adds nothing, now and later, is removed.
func SaveLine(tx *db.Tx, siteID int64, l LimitLine) error {
	if l.Amount == 0 && l.Due == civil.NoDay {
		_, err := tx.Exec(`DELETE FROM limit_lines WHERE site_id = $1 AND allocation_id = $2`, siteID, l.AllocationID)
		return err
	}
	_, err := tx.Exec(`INSERT INTO limit_lines (site_id, allocation_id, channel_id, currency, amount, due_day)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (site_id, allocation_id) DO UPDATE SET amount = excluded.amount, due_day = excluded.due_day`,
		siteID, l.AllocationID, l.ChannelID, l.Currency, l.Amount, db.MaybeDay(l.Due))
	return err
}

// LinesDue lists allocations whose lines change by themselves up to a day, in order of their ids.
func LinesDue(tx *db.Tx, siteID int64, day civil.Day, limit int) ([]int64, error) {
	return db.Ids(tx, `SELECT allocation_id FROM limit_lines WHERE site_id = $1 AND due_day <= $2 ORDER BY due_day, allocation_id
		LIMIT $3`, siteID, day, limit)
}

// LinesAfter lists allocations with a line from after an id on.
func LinesAfter(tx *db.Tx, siteID, after int64, limit int) ([]int64, error) {
	return db.Ids(tx, `SELECT allocation_id FROM limit_lines WHERE site_id = $1 AND allocation_id > $2 ORDER BY allocation_id
		LIMIT $3`, siteID, after, limit)
}

// RunningUse is the use of a channel or of a site, and how far up its limit it stands.
type RunningUse struct {
	Scope    protection.LimitScope
	ObjectID int64
	Currency money.Currency
	Amount   int64
	Level    int64
}

// RunningUses reads the uses of the channels and of the site itself, in order.
func RunningUses(tx *db.Tx, siteID int64) ([]RunningUse, error) {
	var list []RunningUse
	err := tx.Each(`SELECT scope, object_id, currency, amount, level FROM limit_uses
		WHERE site_id = $1 AND scope IN ('channel', 'site') ORDER BY scope, object_id, currency`, []any{siteID},
		func(scan func(dest ...any) error) error {
			var u RunningUse
			err := scan(&u.Scope, &u.ObjectID, &u.Currency, &u.Amount, &u.Level)
			list = append(list, u)
			return err
		})
	return list, err
}

// SaveUse stores a use.
func SaveUse(tx *db.Tx, siteID int64, u RunningUse) error {
	_, err := tx.Exec(`INSERT INTO limit_uses (site_id, scope, object_id, currency, amount, level)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (site_id, scope, object_id, currency) DO UPDATE SET amount = excluded.amount, level = excluded.level`,
		siteID, u.Scope, u.ObjectID, u.Currency, u.Amount, u.Level)
	return err
}

// LockUse takes the use of a booking for this write and reads it: nobody else judges it before this write ends.
func LockUse(tx *db.Tx, siteID, bookingID int64, c money.Currency) (RunningUse, error) {
	u := RunningUse{Scope: protection.LimitBooking, ObjectID: bookingID, Currency: c}
	err := tx.Row(`INSERT INTO limit_uses (site_id, scope, object_id, currency, amount, level) VALUES ($1, $2, $3, $4, 0, 0)
		ON CONFLICT (site_id, scope, object_id, currency) DO UPDATE SET level = limit_uses.level
		RETURNING amount, level`, []any{siteID, u.Scope, bookingID, c}, &u.Amount, &u.Level)
	return u, err
}

// RecomputedUse is what the allocations of a booking add to the running use so far, in one policy currency.
func RecomputedUse(tx *db.Tx, siteID, bookingID int64, c money.Currency) (sum int64, err error) {
	err = tx.Row(`SELECT CAST(COALESCE(SUM(l.amount), 0) AS BIGINT) FROM allocations a
			JOIN limit_lines l ON l.site_id = a.site_id AND l.allocation_id = a.id
		WHERE a.site_id = $1 AND a.booking_id = $2 AND l.currency = $3`, []any{siteID, bookingID, c}, &sum)
	return sum, err
}

// InsertOver stores what of an allocation lies above a limit; a second time, for the same limit, it changes nothing.
func InsertOver(tx *db.Tx, siteID int64, o protection.OverLimit) error {
	_, err := tx.Exec(`INSERT INTO over_limits (site_id, allocation_id, scope, transaction_id, amount, currency, use_amount,
			limit_amount, limit_id, recorded_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (site_id, allocation_id, limit_id) DO NOTHING`,
		siteID, o.AllocationID, o.Scope, o.TransactionID, o.Amount, o.Currency, o.Use, o.LimitAmount, o.LimitID,
		db.Micros(tx.Now))
	return err
}

// OverLimits reads what of the given transactions lies above limits.
func OverLimits(tx *db.Tx, siteID int64, transactions []int64) ([]protection.OverLimit, error) {
	var w db.Where
	w.And("site_id = ?", siteID)
	db.In(&w, "transaction_id", transactions)
	var list []protection.OverLimit
	err := tx.Each(`SELECT allocation_id, scope, transaction_id, amount, currency, use_amount, limit_amount, limit_id,
			recorded_at
		FROM over_limits WHERE `+w.Text.String()+` ORDER BY allocation_id, scope, limit_id`, w.Args,
		func(scan func(dest ...any) error) error {
			var o protection.OverLimit
			var recorded int64
			err := scan(&o.AllocationID, &o.Scope, &o.TransactionID, &o.Amount, &o.Currency, &o.Use, &o.LimitAmount,
				&o.LimitID, &recorded)
			o.RecordedAt = db.Instant(recorded)
			list = append(list, o)
			return err
		})
	return list, err
}

// ReadOverLimits fills in what of the transactions of a page lies above limits.
func ReadOverLimits(tx *db.Tx, siteID int64, ids []int64, at map[int64]*travel.Transaction) error {
	list, err := OverLimits(tx, siteID, ids)
	if err != nil {
		return err
	}
	of := map[int64][]protection.OverLimit{}
	for _, o := range list {
		of[o.TransactionID] = append(of[o.TransactionID], o)
	}
	for id, over := range of {
		at[id].OverLimit, at[id].OverLimitCurrency = protection.OverLimitAmount(over)
	}
	return nil
}

// InsertLimitEvent adds an event.
func InsertLimitEvent(tx *db.Tx, e protection.LimitEvent) error {
	_, err := tx.Exec(`INSERT INTO limit_events (site_id, scope, object_id, channel_id, percent, use_amount, limit_amount,
			currency, limit_id, transaction_id, crossed_at, recorded_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		e.SiteID, e.Scope, e.ObjectID, e.ChannelID, e.Percent, e.Use, e.Limit.Amount, e.Limit.Currency, e.Limit.ID,
		db.MaybeID(e.TransactionID), db.Micros(e.CrossedAt), db.Micros(tx.Now))
	return err
}

// LimitEventFilter chooses events of a list; empty fields choose all.
type LimitEventFilter struct {
	Scopes   []protection.LimitScope
	Channels []int64
	Percent  int64
	After    time.Time // recorded
}

// eventsPage reads one page of the events of a site.
func eventsPage(tx *db.Tx, siteID int64, f LimitEventFilter, page travel.Page) (travel.List[protection.LimitEvent], error) {
	var w db.Where
	w.And("site_id = ?", siteID)
	db.In(&w, "scope", f.Scopes)
	db.In(&w, "channel_id", f.Channels)
	if f.Percent != 0 {
		w.And("percent = ?", f.Percent)
	}
	if !f.After.IsZero() {
		w.And("recorded_at > ?", db.Micros(f.After))
	}
	columns := `site_id, id, scope, object_id, channel_id, percent, use_amount, limit_amount, currency, limit_id,
		transaction_id, crossed_at, recorded_at`
	return db.ListOf(tx, "limit_events", columns, &w, page, nil, nil, func(scan func(dest ...any) error) (protection.LimitEvent, error) {
		var e protection.LimitEvent
		var transaction sql.NullInt64
		var crossed, recorded int64
		err := scan(&e.SiteID, &e.ID, &e.Scope, &e.ObjectID, &e.ChannelID, &e.Percent, &e.Use, &e.Limit.Amount,
			&e.Limit.Currency, &e.Limit.ID, &transaction, &crossed, &recorded)
		e.TransactionID, e.CrossedAt, e.RecordedAt = transaction.Int64, db.Instant(crossed), db.Instant(recorded)
		return e, err
	})
}
