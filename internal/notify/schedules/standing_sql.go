package schedules

import (
	"database/sql"
	"errors"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

const orderColumns = `o.site_id, o.id, o.name, o.view, o.format, o.every, o.on_day, o.owner_id, u.username, o.state, o.reason, o.due_at,
	o.asked_at, o.tries, o.retry_at, o.version, o.created_at, o.modified_at`

const orderTables = ` FROM standing_orders o JOIN users u ON u.id = o.owner_id `

func scanOrder(scan func(dest ...any) error, more ...any) (o Order, err error) {
	var asked, retry sql.NullInt64
	var due, created, modified int64
	err = scan(append([]any{&o.SiteID, &o.ID, &o.Name, &o.View, &o.Format, &o.Every, &o.On, &o.OwnerID, &o.Owner, &o.State, &o.Reason, &due,
		&asked, &o.tries, &retry, &o.Version, &created, &modified}, more...)...)
	o.Due, o.AskedAt, o.retryAt = civil.DayOf(store.Instant(due)), store.MaybeInstant(asked), store.MaybeInstant(retry)
	o.CreatedAt, o.ModifiedAt = store.Instant(created), store.Instant(modified)
	return o, err
}

// ordersOf reads a site's schedules with their recipients.
func ordersOf(tx *store.Tx, siteID int64) (list []Order, err error) {
	err = tx.Query(`SELECT `+orderColumns+orderTables+`WHERE o.site_id = $1 ORDER BY o.id LIMIT $2`, []any{siteID, MaxOrders},
		func(scan func(dest ...any) error) error {
			o, err := scanOrder(scan)
			list = append(list, o)
			return err
		})
	for i := range list {
		if err == nil {
			err = readRecipients(tx, &list[i])
		}
	}
	return list, err
}

// orderOf reads a schedule. The error is store.ErrNotFound for an unknown one.
func orderOf(tx *store.Tx, siteID, id int64) (Order, error) {
	o, err := scanOrder(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+orderColumns+orderTables+`WHERE o.site_id = $1 AND o.id = $2`, []any{siteID, id}, dest...)
	})
	if err == nil {
		err = readRecipients(tx, &o)
	}
	return o, err
}

// lockOrder reads a schedule that this write changes.
func lockOrder(tx *store.Tx, siteID, id int64) (Order, error) {
	if _, err := tx.Exec(`UPDATE standing_orders SET version = version WHERE site_id = $1 AND id = $2`, siteID, id); err != nil {
		return Order{}, err
	}
	return orderOf(tx, siteID, id)
}

func readRecipients(tx *store.Tx, o *Order) error {
	o.Recipients = nil
	return tx.Query(`SELECT u.username FROM standing_recipients r JOIN users u ON u.id = r.user_id
		WHERE r.site_id = $1 AND r.order_id = $2 ORDER BY u.username`, []any{o.SiteID, o.ID}, func(scan func(dest ...any) error) error {
		var name string
		err := scan(&name)
		o.Recipients = append(o.Recipients, name)
		return err
	})
}

func recipientIDs(tx *store.Tx, o Order) ([]int64, error) {
	return store.Ids(tx, `SELECT user_id FROM standing_recipients WHERE site_id = $1 AND order_id = $2 ORDER BY user_id`, o.SiteID, o.ID)
}

func setRecipients(tx *store.Tx, o Order, users []int64) error {
	if _, err := tx.Exec(`DELETE FROM standing_recipients WHERE site_id = $1 AND order_id = $2`, o.SiteID, o.ID); err != nil {
		return err
	}
	for _, user := range users {
		_, err := tx.Exec(`INSERT INTO standing_recipients (site_id, order_id, user_id) VALUES ($1, $2, $3)`, o.SiteID, o.ID, user)
		if err != nil {
			return err
		}
	}
	return nil
}

func countOrders(tx *store.Tx, siteID int64) (n int, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM standing_orders WHERE site_id = $1`, []any{siteID}, &n)
	return n, err
}

func insertOrder(tx *store.Tx, o Order) (Order, error) {
	err := tx.QueryRow(`INSERT INTO standing_orders (site_id, name, view, format, every, on_day, owner_id, state, reason, due_at, asked_at, tries,
			retry_at, version, created_at, modified_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '', $9, NULL, 0, NULL, $10, $11, $11) RETURNING id`,
		[]any{o.SiteID, o.Name, o.View, o.Format, o.Every, o.On, o.OwnerID, o.State, store.Micros(o.Due.Start()), o.Version,
			store.Micros(o.CreatedAt)}, &o.ID)
	return o, err
}

// updateOrder stores the mutable fields of a locked schedule.
func updateOrder(tx *store.Tx, o Order) error {
	_, err := tx.Exec(`UPDATE standing_orders SET name = $3, view = $4, format = $5, every = $6, on_day = $7, owner_id = $8, state = $9,
			reason = $10, due_at = $11, asked_at = $12, tries = $13, retry_at = $14, version = $15, modified_at = $16
		WHERE site_id = $1 AND id = $2`,
		o.SiteID, o.ID, o.Name, o.View, o.Format, o.Every, o.On, o.OwnerID, o.State, o.Reason, store.Micros(o.Due.Start()),
		store.MaybeMicros(o.AskedAt), o.tries, store.MaybeMicros(o.retryAt), o.Version, store.Micros(o.ModifiedAt))
	return err
}

func removeOrder(tx *store.Tx, o Order) error {
	for _, query := range []string{
		`DELETE FROM standing_runs WHERE site_id = $1 AND order_id = $2`,
		`DELETE FROM standing_recipients WHERE site_id = $1 AND order_id = $2`,
		`DELETE FROM standing_orders WHERE site_id = $1 AND id = $2`,
	} {
		if _, err := tx.Exec(query, o.SiteID, o.ID); err != nil {
			return err
		}
	}
	return nil
}

// due is a schedule whose report is due, with its site's clock and path.
type due struct {
	Order
	clock sites.Clock
	path  string
}

// dueOrder reads the longest overdue schedule.
func dueOrder(tx *store.Tx) (d due, err error) {
	var ahead int64
	d.Order, err = scanOrder(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+orderColumns+`, COALESCE(s.clock_ahead, 0), COALESCE(s.path, '')`+orderTables+`
			LEFT JOIN sites s ON s.id = o.site_id
			WHERE o.state = $1 AND (o.asked_at IS NOT NULL OR o.due_at <= $2 + COALESCE(s.clock_ahead, 0))
				AND (o.retry_at IS NULL OR o.retry_at <= $2)
			ORDER BY COALESCE(o.retry_at, o.asked_at, o.due_at), o.site_id, o.id LIMIT 1`, []any{Active, store.Micros(sites.RealNow(tx))}, dest...)
	}, &ahead, &d.path)
	d.clock = sites.Clock{SiteID: d.SiteID, Ahead: sites.Microseconds(ahead)}
	return d, err
}

// insertRun records the outcome of a report. ok is false if it is already recorded.
func insertRun(tx *store.Tx, o Order, r Run) (ok bool, err error) {
	n, err := tx.Exec(`INSERT INTO standing_runs (site_id, order_id, occasion, outcome, note, recipients, file, bytes, made_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (site_id, order_id, occasion) DO NOTHING`,
		o.SiteID, o.ID, r.Occasion, r.Outcome, r.Note, r.Recipients, r.File, r.Bytes, store.Micros(r.MadeAt))
	if err != nil || n == 0 {
		return false, err
	}
	_, err = tx.Exec(`DELETE FROM standing_runs WHERE site_id = $1 AND order_id = $2 AND id NOT IN (
		SELECT id FROM standing_runs WHERE site_id = $1 AND order_id = $2 ORDER BY id DESC LIMIT $3)`, o.SiteID, o.ID, MaxRuns)
	return true, err
}

// runsOf reads the outcomes of a schedule's reports, the last one first.
func runsOf(tx *store.Tx, siteID, id int64) (list []Run, err error) {
	err = tx.Query(`SELECT id, occasion, outcome, note, recipients, file, bytes, made_at FROM standing_runs
		WHERE site_id = $1 AND order_id = $2 ORDER BY id DESC LIMIT $3`, []any{siteID, id, MaxRuns}, func(scan func(dest ...any) error) error {
		var r Run
		var made int64
		err := scan(&r.ID, &r.Occasion, &r.Outcome, &r.Note, &r.Recipients, &r.File, &r.Bytes, &made)
		r.MadeAt = store.Instant(made)
		list = append(list, r)
		return err
	})
	return list, err
}

// lastRun is when a schedule's last report was created; zero: never.
func lastRun(tx *store.Tx, o Order) (time.Time, error) {
	var made int64
	err := tx.QueryRow(`SELECT made_at FROM standing_runs WHERE site_id = $1 AND order_id = $2 ORDER BY id DESC LIMIT 1`, []any{o.SiteID, o.ID}, &made)
	if errors.Is(err, store.ErrNotFound) {
		return time.Time{}, nil
	}
	return store.Instant(made), err
}

// Restored skips what was due when a database was restored: the service kept running after the backup and may have sent it.
// A report due today comes on its next day, and the history says so.
func Restored(tx *store.Tx) error {
	var list []due
	err := tx.Query(`SELECT `+orderColumns+`, COALESCE(s.clock_ahead, 0)`+orderTables+`LEFT JOIN sites s ON s.id = o.site_id`, nil,
		func(scan func(dest ...any) error) error {
			var ahead int64
			o, err := scanOrder(scan, &ahead)
			list = append(list, due{Order: o, clock: sites.Clock{Ahead: sites.Microseconds(ahead)}})
			return err
		})
	for _, d := range list {
		today := civil.DayOf(sites.RealNow(tx).Add(d.clock.Ahead))
		if err != nil || d.Due > today && d.AskedAt.IsZero() {
			continue
		}
		run := Run{Occasion: d.last(max(today, d.Due)).String(), Outcome: Skipped, Note: restoredNote, MadeAt: sites.RealNow(tx)}
		if _, err = insertRun(tx, d.Order, run); err == nil {
			d.Due, d.AskedAt, d.tries, d.retryAt, d.Version = d.after(max(today, d.Due-1)), time.Time{}, 0, time.Time{}, d.Version+1
			err = updateOrder(tx, d.Order)
		}
	}
	return err
}

const restoredNote = "The database was restored from a backup. The report may have been sent after the backup was taken."
