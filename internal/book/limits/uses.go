package limits

import (
	"cmp"
	"database/sql"
	"maps"
	"slices"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/events"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// limitLine is the part of the running use that comes from one allocation. The running use of a channel or site is the
// sum of the lines of its allocations, in one currency.
type limitLine struct {
	AllocationID int64
	ChannelID    int64
	Currency     money.Currency
	protection.LimitUse
}

// saveLines stores the lines of allocations of a site, by the ids of the allocations. It removes a line that is 0 now and
// stays 0.
func saveLines(tx *store.Tx, siteID int64, lines map[int64]limitLine) error {
	ids := slices.Sorted(maps.Keys(lines))
	err := sqltext.InPowers(ids, sqltext.MostRows, func(ids []int64) error {
		var w sqltext.Where
		w.And("site_id = ?", siteID)
		sqltext.In(&w, "allocation_id", ids)
		_, err := tx.Exec(`DELETE FROM limit_lines WHERE `+w.Text.String(), w.Args...)
		return err
	})
	for _, id := range ids {
		if l := lines[id]; l.Amount != 0 || l.Due != civil.NoDay {
			tx.Insert("limit_lines", "site_id, allocation_id, channel_id, currency, amount, due_day",
				[]any{siteID, id, l.ChannelID, l.Currency, l.Amount, store.MaybeDay(l.Due)})
		}
	}
	return err
}

// linesDue lists allocations whose lines change with time alone up to a day, the longest overdue first.
func linesDue(tx *store.Tx, siteID int64, day civil.Day, limit int) ([]int64, error) {
	return store.Ids(tx, `SELECT allocation_id FROM limit_lines WHERE site_id = $1 AND due_day <= $2 ORDER BY due_day, allocation_id
		LIMIT $3`, siteID, day, limit)
}

// linesAfter lists allocations with a line: those with ids greater than after, in order, at most limit of them.
func linesAfter(tx *store.Tx, siteID, after int64, limit int) ([]int64, error) {
	return store.Ids(tx, `SELECT allocation_id FROM limit_lines WHERE site_id = $1 AND allocation_id > $2 ORDER BY allocation_id
		LIMIT $3`, siteID, after, limit)
}

// runningUse is the use of a channel, site or booking, and its level under its limit.
type runningUse struct {
	Scope    protection.LimitScope
	ObjectID int64
	Currency money.Currency
	Amount   int64 // minor units
	Level    int64 // 0, 80, 95 or 100 percent
}

type useKey struct {
	scope    protection.LimitScope
	object   int64
	currency money.Currency
}

// uses are the running uses of a site and of its channels. Each has subtotals in the currencies of the policies under which
// its payments were priced.
type uses struct {
	by         map[useKey]*runningUse
	currencies []money.Currency // of all subtotals
}

// runningUses reads the uses of a site and of its channels.
func runningUses(tx *store.Tx, siteID int64) (*uses, error) {
	all := &uses{by: map[useKey]*runningUse{}}
	err := tx.Query(`SELECT scope, object_id, currency, amount, level FROM limit_uses
		WHERE site_id = $1 AND scope IN ('channel', 'site')`, []any{siteID},
		func(scan func(dest ...any) error) error {
			var u runningUse
			err := scan(&u.Scope, &u.ObjectID, &u.Currency, &u.Amount, &u.Level)
			*all.of(u.Scope, u.ObjectID, u.Currency) = u
			return err
		})
	return all, err
}

// of finds a subtotal, or begins a new one.
func (all *uses) of(scope protection.LimitScope, object int64, c money.Currency) *runningUse {
	k := useKey{scope, object, c}
	if all.by[k] == nil {
		all.by[k] = &runningUse{Scope: scope, ObjectID: object, Currency: c}
		if !slices.Contains(all.currencies, c) {
			all.currencies = append(all.currencies, c)
		}
	}
	return all.by[k]
}

// in is the use of a channel or of the site in the currency of a limit. As in a report of exposure, the subtotals of each
// channel are converted by themselves. known is false when a rate is missing; then a part is not in the use.
func (all *uses) in(v valuing, scope protection.LimitScope, object int64, limit money.Currency) (sum int64, known bool, err error) {
	known = true
	add := func(u *runningUse) error {
		value, ok, err := v.value(u.Currency, u.Amount, limit)
		sum, known = money.UpTo(sum, value), known && ok
		return err
	}
	for _, c := range all.currencies {
		own := all.by[useKey{scope, object, c}]
		if own == nil || scope == protection.LimitSite && c != limit {
			continue
		}
		if err := add(own); err != nil {
			return 0, false, err
		}
	}
	if scope != protection.LimitSite || len(all.currencies) == 1 && all.currencies[0] == limit {
		return sum, known, nil
	}
	for k, u := range all.by {
		if k.scope == protection.LimitChannel && k.currency != limit {
			if err := add(u); err != nil {
				return 0, false, err
			}
		}
	}
	return sum, known, nil
}

// sorted returns the keys in the order in which uses are judged and stored. It is the same in every run.
func (all *uses) sorted() []useKey {
	return slices.SortedFunc(maps.Keys(all.by), func(a, b useKey) int {
		return cmp.Or(cmp.Compare(a.scope, b.scope), cmp.Compare(a.object, b.object), cmp.Compare(a.currency, b.currency))
	})
}

// saveUse stores a use.
func saveUse(tx *store.Tx, siteID int64, u runningUse) error {
	_, err := tx.Exec(`INSERT INTO limit_uses (site_id, scope, object_id, currency, amount, level)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (site_id, scope, object_id, currency) DO UPDATE SET amount = excluded.amount, level = excluded.level`,
		siteID, u.Scope, u.ObjectID, u.Currency, u.Amount, u.Level)
	return err
}

// lockUse locks the use of a booking and reads it: no other write judges the booking before this one ends.
func lockUse(tx *store.Tx, siteID, bookingID int64, c money.Currency) (runningUse, error) {
	u := runningUse{Scope: protection.LimitBooking, ObjectID: bookingID, Currency: c}
	err := tx.QueryRow(`INSERT INTO limit_uses (site_id, scope, object_id, currency, amount, level) VALUES ($1, $2, $3, $4, 0, 0)
		ON CONFLICT (site_id, scope, object_id, currency) DO UPDATE SET level = limit_uses.level
		RETURNING amount, level`, []any{siteID, u.Scope, bookingID, c}, &u.Amount, &u.Level)
	return u, err
}

// recomputedUses adds up the lines of the allocations of a transaction or booking, by policy currency.
func recomputedUses(tx *store.Tx, siteID int64, scope protection.LimitScope, object int64) (map[money.Currency]int64, error) {
	column := "a.transaction_id"
	if scope == protection.LimitBooking {
		column = "a.booking_id"
	}
	sums := map[money.Currency]int64{}
	err := tx.Query(`SELECT l.currency, CAST(SUM(l.amount) AS BIGINT) FROM allocations a
			JOIN limit_lines l ON l.site_id = a.site_id AND l.allocation_id = a.id
		WHERE a.site_id = $1 AND `+column+` = $2 GROUP BY l.currency`, []any{siteID, object},
		func(scan func(dest ...any) error) error {
			var c money.Currency
			var sum int64
			err := scan(&c, &sum)
			sums[c] = sum
			return err
		})
	return sums, err
}

// insertOver stores the part of an allocation that exceeds a limit. A second call for the same limit changes nothing.
func insertOver(tx *store.Tx, siteID int64, o protection.OverLimit) error {
	_, err := tx.Exec(`INSERT INTO over_limits (site_id, allocation_id, scope, transaction_id, amount, currency, use_amount,
			limit_amount, limit_id, recorded_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (site_id, allocation_id, limit_id) DO NOTHING`,
		siteID, o.AllocationID, o.Scope, o.TransactionID, o.Amount, o.Currency, o.Use, o.LimitAmount, o.LimitID,
		store.Micros(tx.Now))
	return err
}

// OverLimits reads the parts of the given transactions that lie above limits.
func OverLimits(tx *store.Tx, siteID int64, transactions []int64) ([]protection.OverLimit, error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.Around(&w, "transaction_id", transactions)
	var list []protection.OverLimit
	err := tx.Query(`SELECT allocation_id, scope, transaction_id, amount, currency, use_amount, limit_amount, limit_id,
			recorded_at
		FROM over_limits WHERE `+w.Text.String()+` ORDER BY allocation_id, scope, limit_id`, w.Args,
		func(scan func(dest ...any) error) error {
			var o protection.OverLimit
			var recorded int64
			err := scan(&o.AllocationID, &o.Scope, &o.TransactionID, &o.Amount, &o.Currency, &o.Use, &o.LimitAmount,
				&o.LimitID, &recorded)
			o.RecordedAt = store.Instant(recorded)
			if slices.Contains(transactions, o.TransactionID) {
				list = append(list, o)
			}
			return err
		})
	return list, err
}

// ReadOverLimits sets the OverLimit of the transactions of a page: the part above the limit that each exceeds most. at has
// them by their ids.
func ReadOverLimits(tx *store.Tx, siteID int64, ids []int64, at map[int64]*payment.Transaction) error {
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

// insertLimitEvent adds an event.
func insertLimitEvent(tx *store.Tx, e protection.LimitEvent) error {
	id, err := tx.NextID("limit_events", e.SiteID)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO limit_events (site_id, id, scope, object_id, channel_id, percent, use_amount, limit_amount,
			currency, limit_id, transaction_id, crossed_at, recorded_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		e.SiteID, id, e.Scope, e.ObjectID, e.ChannelID, e.Percent, e.Use, e.Limit.Amount, e.Limit.Currency, e.Limit.ID,
		store.MaybeID(e.TransactionID), store.Micros(e.CrossedAt), store.Micros(tx.Now))
	events.Record(tx, e.SiteID, event.LimitCrossed, id, event.Details{
		Percent: e.Percent, Amount: e.Use, Currency: string(e.Limit.Currency), Transaction: e.TransactionID,
	})
	return err
}

// eventsPage reads one page of the events of a site.
func eventsPage(tx *store.Tx, siteID int64, f LimitEvents, page store.Page) (store.List[protection.LimitEvent], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "scope", f.Scopes)
	sqltext.In(&w, "channel_id", f.Channels)
	if f.Percent != 0 {
		w.And("percent = ?", f.Percent)
	}
	store.Within(&w, "recorded_at", f.Recorded)
	columns := `site_id, id, scope, object_id, channel_id, percent, use_amount, limit_amount, currency, limit_id,
		transaction_id, crossed_at, recorded_at`
	orders := store.Orders{"modified": "recorded_at"}
	return store.ListPage(tx, "limit_events", columns, &w, page, orders, func(scan func(dest ...any) error) (protection.LimitEvent, error) {
		var e protection.LimitEvent
		var transaction sql.NullInt64
		var crossed, recorded int64
		err := scan(&e.SiteID, &e.ID, &e.Scope, &e.ObjectID, &e.ChannelID, &e.Percent, &e.Use, &e.Limit.Amount,
			&e.Limit.Currency, &e.Limit.ID, &transaction, &crossed, &recorded)
		e.TransactionID, e.CrossedAt, e.RecordedAt = transaction.Int64, store.Instant(crossed), store.Instant(recorded)
		return e, err
	})
}
