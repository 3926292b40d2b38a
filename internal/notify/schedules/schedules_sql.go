package schedules

import (
	"database/sql"
	"errors"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

const scheduleColumns = `o.site_id, o.id, o.name, o.view, o.format, o.every, o.on_day, o.owner_id, u.username, o.state, o.reason, o.due_at,
	o.asked_at, o.tries, o.retry_at, o.version, o.created_at, o.modified_at`

const scheduleTables = ` FROM schedules o JOIN users u ON u.id = o.owner_id `

func scanSchedule(scan func(dest ...any) error, more ...any) (o Schedule, err error) {
	var asked, retry sql.NullInt64
	var due, created, modified int64
	err = scan(append([]any{&o.SiteID, &o.ID, &o.Name, &o.View, &o.Format, &o.Every, &o.On, &o.OwnerID, &o.Owner, &o.State, &o.Reason, &due,
		&asked, &o.tries, &retry, &o.Version, &created, &modified}, more...)...)
	o.Due, o.AskedAt, o.retryAt = civil.DayOf(store.Instant(due)), store.MaybeInstant(asked), store.MaybeInstant(retry)
	o.CreatedAt, o.ModifiedAt = store.Instant(created), store.Instant(modified)
	return o, err
}

// schedulesOf reads a site's schedules with their recipients.
func schedulesOf(tx *store.Tx, siteID int64) (list []Schedule, err error) {
	err = tx.Query(`SELECT `+scheduleColumns+scheduleTables+`WHERE o.site_id = $1 ORDER BY o.id LIMIT $2`, []any{siteID, MaxSchedules},
		func(scan func(dest ...any) error) error {
			o, err := scanSchedule(scan)
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

// scheduleOf reads a schedule. The error is store.ErrNotFound for an unknown one.
func scheduleOf(tx *store.Tx, siteID, id int64) (Schedule, error) {
	o, err := scanSchedule(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+scheduleColumns+scheduleTables+`WHERE o.site_id = $1 AND o.id = $2`, []any{siteID, id}, dest...)
	})
	if err == nil {
		err = readRecipients(tx, &o)
	}
	return o, err
}

// lockSchedule reads a schedule that this write changes.
func lockSchedule(tx *store.Tx, siteID, id int64) (Schedule, error) {
	if _, err := tx.Exec(`UPDATE schedules SET version = version WHERE site_id = $1 AND id = $2`, siteID, id); err != nil {
		return Schedule{}, err
	}
	return scheduleOf(tx, siteID, id)
}

func readRecipients(tx *store.Tx, o *Schedule) error {
	o.Recipients = nil
	return tx.Query(`SELECT u.username FROM schedule_recipients r JOIN users u ON u.id = r.user_id
		WHERE r.site_id = $1 AND r.schedule_id = $2 ORDER BY u.username`, []any{o.SiteID, o.ID}, func(scan func(dest ...any) error) error {
		var name string
		err := scan(&name)
		o.Recipients = append(o.Recipients, name)
		return err
	})
}

func recipientIDs(tx *store.Tx, o Schedule) ([]int64, error) {
	return store.Ids(tx, `SELECT user_id FROM schedule_recipients WHERE site_id = $1 AND schedule_id = $2 ORDER BY user_id`, o.SiteID, o.ID)
}

func setRecipients(tx *store.Tx, o Schedule, users []int64) error {
	if _, err := tx.Exec(`DELETE FROM schedule_recipients WHERE site_id = $1 AND schedule_id = $2`, o.SiteID, o.ID); err != nil {
		return err
	}
	for _, user := range users {
		_, err := tx.Exec(`INSERT INTO schedule_recipients (site_id, schedule_id, user_id) VALUES ($1, $2, $3)`, o.SiteID, o.ID, user)
		if err != nil {
			return err
		}
	}
	return nil
}

func countSchedules(tx *store.Tx, siteID int64) (n int, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM schedules WHERE site_id = $1`, []any{siteID}, &n)
	return n, err
}

func insertSchedule(tx *store.Tx, o Schedule) (Schedule, error) {
	var err error
	if o.ID, err = tx.NextID("schedules", o.SiteID); err != nil {
		return o, err
	}
	_, err = tx.Exec(`INSERT INTO schedules (site_id, name, view, format, every, on_day, owner_id, state, reason, due_at, asked_at, tries,
			retry_at, version, created_at, modified_at, id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '', $9, NULL, 0, NULL, $10, $11, $11, $12)`,
		o.SiteID, o.Name, o.View, o.Format, o.Every, o.On, o.OwnerID, o.State, store.Micros(o.Due.Start()), o.Version,
		store.Micros(o.CreatedAt), o.ID)
	return o, err
}

// updateSchedule stores the mutable fields of a locked schedule.
func updateSchedule(tx *store.Tx, o Schedule) error {
	_, err := tx.Exec(`UPDATE schedules SET name = $3, view = $4, format = $5, every = $6, on_day = $7, owner_id = $8, state = $9,
			reason = $10, due_at = $11, asked_at = $12, tries = $13, retry_at = $14, version = $15, modified_at = $16
		WHERE site_id = $1 AND id = $2`,
		o.SiteID, o.ID, o.Name, o.View, o.Format, o.Every, o.On, o.OwnerID, o.State, o.Reason, store.Micros(o.Due.Start()),
		store.MaybeMicros(o.AskedAt), o.tries, store.MaybeMicros(o.retryAt), o.Version, store.Micros(o.ModifiedAt))
	return err
}

func removeSchedule(tx *store.Tx, o Schedule) error {
	for _, query := range []string{
		`DELETE FROM schedule_runs WHERE site_id = $1 AND schedule_id = $2`,
		`DELETE FROM schedule_recipients WHERE site_id = $1 AND schedule_id = $2`,
		`DELETE FROM schedules WHERE site_id = $1 AND id = $2`,
	} {
		if _, err := tx.Exec(query, o.SiteID, o.ID); err != nil {
			return err
		}
	}
	return nil
}

// due is a schedule whose report is due, with its site's clock and path.
type due struct {
	Schedule
	clock sites.Clock
	path  string
}

// dueSchedule reads the longest overdue schedule.
func dueSchedule(tx *store.Tx) (d due, err error) {
	var ahead int64
	d.Schedule, err = scanSchedule(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+scheduleColumns+`, COALESCE(s.clock_ahead, 0), COALESCE(s.path, '')`+scheduleTables+`
			LEFT JOIN sites s ON s.id = o.site_id
			WHERE o.state = $1 AND (o.asked_at IS NOT NULL OR o.due_at <= $2 + COALESCE(s.clock_ahead, 0))
				AND (o.retry_at IS NULL OR o.retry_at <= $2)
			ORDER BY COALESCE(o.retry_at, o.asked_at, o.due_at), o.site_id, o.id LIMIT 1`, []any{Active, store.Micros(sites.RealNow(tx))}, dest...)
	}, &ahead, &d.path)
	d.clock = sites.Clock{SiteID: d.SiteID, Ahead: sites.Microseconds(ahead)}
	return d, err
}

// insertRun records the outcome of a report. ok is false if it is already recorded.
func insertRun(tx *store.Tx, o Schedule, r Run) (ok bool, err error) {
	id, err := tx.NextID("schedule_runs", o.SiteID)
	if err != nil {
		return false, err
	}
	n, err := tx.Exec(`INSERT INTO schedule_runs (site_id, id, schedule_id, occasion, outcome, note, recipients, file, bytes, made_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (site_id, schedule_id, occasion) DO NOTHING`,
		o.SiteID, id, o.ID, r.Occasion, r.Outcome, r.Note, r.Recipients, r.File, r.Bytes, store.Micros(r.MadeAt))
	if err != nil || n == 0 {
		return false, err
	}
	_, err = tx.Exec(`DELETE FROM schedule_runs WHERE site_id = $1 AND schedule_id = $2 AND id NOT IN (
		SELECT id FROM schedule_runs WHERE site_id = $1 AND schedule_id = $2 ORDER BY id DESC LIMIT $3)`, o.SiteID, o.ID, MaxRuns)
	return true, err
}

// runsOf reads the outcomes of a schedule's reports, the last one first.
func runsOf(tx *store.Tx, siteID, id int64) (list []Run, err error) {
	err = tx.Query(`SELECT id, occasion, outcome, note, recipients, file, bytes, made_at FROM schedule_runs
		WHERE site_id = $1 AND schedule_id = $2 ORDER BY id DESC LIMIT $3`, []any{siteID, id, MaxRuns}, func(scan func(dest ...any) error) error {
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
func lastRun(tx *store.Tx, o Schedule) (time.Time, error) {
	var made int64
	err := tx.QueryRow(`SELECT made_at FROM schedule_runs WHERE site_id = $1 AND schedule_id = $2 ORDER BY id DESC LIMIT 1`, []any{o.SiteID, o.ID}, &made)
	if errors.Is(err, store.ErrNotFound) {
		return time.Time{}, nil
	}
	return store.Instant(made), err
}

// Restored skips what was due when a database was restored: the service kept running after the backup and may have sent it.
// A report due today comes on its next day, and the history says so.
func Restored(tx *store.Tx) error {
	var list []due
	err := tx.Query(`SELECT `+scheduleColumns+`, COALESCE(s.clock_ahead, 0)`+scheduleTables+`LEFT JOIN sites s ON s.id = o.site_id`, nil,
		func(scan func(dest ...any) error) error {
			var ahead int64
			o, err := scanSchedule(scan, &ahead)
			list = append(list, due{Schedule: o, clock: sites.Clock{Ahead: sites.Microseconds(ahead)}})
			return err
		})
	for _, d := range list {
		today := civil.DayOf(sites.RealNow(tx).Add(d.clock.Ahead))
		if err != nil || d.Due > today && d.AskedAt.IsZero() {
			continue
		}
		run := Run{Occasion: d.last(max(today, d.Due)).String(), Outcome: Skipped, Note: restoredNote, MadeAt: sites.RealNow(tx)}
		if _, err = insertRun(tx, d.Schedule, run); err == nil {
			d.Due, d.AskedAt, d.tries, d.retryAt, d.Version = d.after(max(today, d.Due-1)), time.Time{}, 0, time.Time{}, d.Version+1
			err = updateSchedule(tx, d.Schedule)
		}
	}
	return err
}

const restoredNote = "The database was restored from a backup. The report may have been sent after the backup was taken."
