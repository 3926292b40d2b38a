package sites

import (
	"errors"
	"time"

	"holdfast/internal/store"
)

// Clock is the clock by which a transaction runs. The clock of a sandbox may be ahead of the real one (R0). The zero
// value is the real clock.
type Clock struct {
	SiteID int64
	Ahead  time.Duration
}

// goBy sets the clock by which a transaction runs.
func goBy(tx *store.Tx, clock Clock) {
	tx.Now = RealNow(tx).Add(clock.Ahead)
	tx.Clock = store.Clock{SiteID: clock.SiteID, Ahead: clock.Ahead}
}

// RealNow is the time of the real clock in this transaction. tx.Now is the time of the site's clock.
func RealNow(tx *store.Tx) time.Time { return tx.Now.Add(-tx.Clock.Ahead) }

// OnClockOf reports whether tx.Now is the time of that site's clock.
func OnClockOf(tx *store.Tx, siteID int64) bool { return tx.Clock.SiteID == siteID }

// begin sets the clock of a write to the clock of the site as it is now, and reads the versions of what the process
// remembers about the site (see known).
func begin(tx *store.Tx, k *known, clock Clock) error {
	goBy(tx, clock)
	if clock.SiteID == 0 {
		return nil
	}
	v := versions{known: k, siteID: clock.SiteID}
	var ahead int64
	err := tx.QueryRow(`SELECT s.clock_ahead, COALESCE(v.version, 0), COALESCE(r.version, 0) FROM site_places p JOIN sites s ON s.id = p.site_id
		LEFT JOIN site_versions v ON v.site_id = p.site_id
		LEFT JOIN rate_versions r ON r.id = 0
		WHERE p.site_id = $1`, []any{clock.SiteID}, &ahead, &v.site, &v.rates)
	if errors.Is(err, store.ErrNotFound) { // the site does not exist: the write says so itself
		return nil
	}
	if err != nil {
		return err
	}
	goBy(tx, Clock{SiteID: clock.SiteID, Ahead: Microseconds(ahead)})
	*versionsOf.Of(tx) = v
	return nil
}

// Final is the last instant of the site's clock for which nothing more can be recorded (R0). A report with an earlier
// known_at can no longer change, and a statement of a period that has ended by then is complete. It is the time that
// the clock showed ten real seconds ago. A write takes at most five seconds, so none in progress can still record
// anything before it, even if the clock is moved forward in the meantime.
func Final(tx *store.Tx, siteID int64) (time.Time, error) {
	at := RealNow(tx).Add(-store.FinalAfter)
	ahead, err := AheadAt(tx, siteID, at)
	return at.Add(ahead), err
}

// FinalBy is Final for a clock that the caller has read already. Most clocks were never moved; for these it needs no
// statement.
func FinalBy(tx *store.Tx, clock Clock) (time.Time, error) {
	if clock.Ahead == 0 {
		return RealNow(tx).Add(-store.FinalAfter), nil
	}
	return Final(tx, clock.SiteID)
}

// FinalFrom returns the moment of the real clock at which Final reaches an instant of the site's clock.
func FinalFrom(tx *store.Tx, at time.Time) (time.Time, error) {
	shown, err := RealTime(tx, at)
	return shown.Add(store.FinalAfter), err
}

// ClockOf reads the clock of a site. The error is store.ErrNotFound when there is no such site.
func ClockOf(tx *store.Tx, siteID int64) (Clock, error) {
	clock := Clock{SiteID: siteID}
	var ahead int64
	err := tx.QueryRow(`SELECT clock_ahead FROM sites WHERE id = $1`, []any{siteID}, &ahead)
	clock.Ahead = Microseconds(ahead)
	return clock, err
}

// MoveClock moves the clock of a sandbox forward. The error is store.ErrNotFound when there is no such site, when it is not a
// sandbox, or when its clock is already further ahead.
func MoveClock(tx *store.Tx, siteID int64, ahead time.Duration) error {
	n, err := tx.Exec(`UPDATE sites SET clock_ahead = $2, version = version + 1, modified_at = $3
		WHERE id = $1 AND sandbox = $4 AND clock_ahead <= $2`,
		siteID, ahead.Microseconds(), store.Micros(RealNow(tx).Add(ahead)), true)
	if err != nil {
		return err
	}
	if n == 0 {
		return store.ErrNotFound
	}
	id, err := tx.NextID("clock_moves", siteID)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO clock_moves (site_id, id, moved_at, ahead) VALUES ($1, $2, $3, $4)`,
		siteID, id, store.Micros(RealNow(tx)), ahead.Microseconds())
	if err != nil {
		return err
	}
	return Changed(tx, siteID)
}

// AheadAt reads how far the clock of a site was ahead at a moment of the real clock; 0 when it had not been moved.
func AheadAt(tx *store.Tx, siteID int64, at time.Time) (time.Duration, error) {
	var ahead int64
	err := tx.QueryRow(`SELECT ahead FROM clock_moves WHERE site_id = $1 AND moved_at <= $2 ORDER BY id DESC LIMIT 1`,
		[]any{siteID, store.Micros(at)}, &ahead)
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	return Microseconds(ahead), err
}

// RealTime converts a moment of the transaction's clock to the real clock. Fixings belong to no site and are recorded by
// the real clock. Without this conversion, a rate that arrives today would count as known on a day that a sandbox with a
// clock ahead has already passed.
func RealTime(tx *store.Tx, at time.Time) (time.Time, error) {
	if tx.Clock.Ahead == 0 || !at.Before(tx.Now) {
		return at.Add(-tx.Clock.Ahead), nil
	}
	// The last move before that time has how far the clock was ahead. Before the first move the clocks were equal.
	var ahead int64
	err := tx.QueryRow(`SELECT ahead FROM clock_moves WHERE site_id = $1 AND moved_at + ahead <= $2 ORDER BY id DESC LIMIT 1`,
		[]any{tx.Clock.SiteID, store.Micros(at)}, &ahead)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return at, err
	}
	found := at.Add(-Microseconds(ahead))
	// The clock never showed a time that it skipped: such a time becomes that of the move.
	var jump int64
	err = tx.QueryRow(`SELECT moved_at FROM clock_moves WHERE site_id = $1 AND moved_at + ahead > $2 ORDER BY id LIMIT 1`,
		[]any{tx.Clock.SiteID, store.Micros(at)}, &jump)
	if errors.Is(err, store.ErrNotFound) {
		return found, nil
	}
	if err == nil && store.Instant(jump).Before(found) {
		found = store.Instant(jump)
	}
	return found, err
}

// Clocks reads all sites, each with its clock.
func Clocks(tx *store.Tx) ([]Clock, error) { return siteClocks(tx, ``) }

// ClocksAhead reads the sites whose clocks are ahead. They are few: all of them are sandboxes.
func ClocksAhead(tx *store.Tx) ([]Clock, error) { return siteClocks(tx, `WHERE clock_ahead > 0`) }

// SandboxClocks reads the sandboxes, each with its clock.
func SandboxClocks(tx *store.Tx) ([]Clock, error) { return siteClocks(tx, `WHERE sandbox`) }

func siteClocks(tx *store.Tx, condition string) ([]Clock, error) {
	var list []Clock
	err := tx.Query(`SELECT id, clock_ahead FROM sites `+condition+` ORDER BY id`, nil,
		func(scan func(dest ...any) error) error {
			var clock Clock
			var ahead int64
			err := scan(&clock.SiteID, &ahead)
			clock.Ahead = Microseconds(ahead)
			list = append(list, clock)
			return err
		})
	return list, err
}

// Microseconds converts a stored number of microseconds to a duration.
func Microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
