package core

import (
	"errors"
	"strings"
	"time"

	"holdfast/internal/db"
)

// SiteClock is the clock that a transaction runs by: that of a sandbox site may be ahead of the real one (R0). The zero
// value is the real clock.
type SiteClock struct {
	SiteID int64
	Ahead  time.Duration
}

// ClockOfTx is the clock that a transaction goes by.
var ClockOfTx = db.NewPinned[SiteClock]()

// goBy has a transaction go by the clock of a site.
func goBy(tx *db.Tx, clock SiteClock) {
	tx.Now = RealNow(tx).Add(clock.Ahead)
	*ClockOfTx.Of(tx) = clock
}

// RealNow is what the real clock says in this transaction; Now is what the site's own says.
func RealNow(tx *db.Tx) time.Time { return tx.Now.Add(-ClockOfTx.Of(tx).Ahead) }

// OnClockOf says whether Now is what the clock of that site says.
func OnClockOf(tx *db.Tx, siteID int64) bool { return ClockOfTx.Of(tx).SiteID == siteID }

// Rider is a question that rides along with the first statement of a write, so that it costs none of its own: a scalar
// subquery with a ? for each argument. Dest takes the answer, which may be NULL.
type Rider struct {
	Query string
	Args  []any
	Dest  any
}

// begin has a write go by the clock of a site, as it is now, and reads the versions of what the process remembers of the
// site: one statement for both, and for what rides along.
func begin(tx *db.Tx, k *known, clock SiteClock, riders []Rider) error {
	goBy(tx, clock)
	if clock.SiteID == 0 {
		return nil
	}
	v := versions{known: k, siteID: clock.SiteID}
	var ahead int64
	dest := []any{&ahead, &v.site, &v.rates}
	w := db.Where{Args: []any{clock.SiteID, ratesSite}}
	var along strings.Builder
	for _, r := range riders {
		along.WriteString(", (" + w.Fill(r.Query, r.Args...) + ")")
		dest = append(dest, r.Dest)
	}
	err := tx.Row(`SELECT s.clock_ahead, COALESCE(v.version, 0), COALESCE(r.version, 0)`+along.String()+` FROM sites s
		LEFT JOIN site_versions v ON v.site_id = s.id
		LEFT JOIN site_versions r ON r.site_id = $2
		WHERE s.id = $1`, w.Args, dest...)
	if errors.Is(err, db.ErrNotFound) { // for the write itself to say
		return nil
	}
	if err == nil {
		goBy(tx, SiteClock{SiteID: clock.SiteID, Ahead: Microseconds(ahead)})
		*versionsOf.Of(tx) = v
	}
	return err
}

// Final is the instant of the site's clock up to which everything that was recorded can be seen: a report about what
// was known then can no longer change, and a statement holds all of a period that ended by then (R0). It is what the
// clock said ten real seconds ago: a write lives at most five, and a clock that is moved forward must not make one that
// is under way a thing of the past.
func Final(tx *db.Tx, siteID int64) (time.Time, error) {
	at := RealNow(tx).Add(-db.FinalAfter)
	ahead, err := AheadAt(tx, siteID, at)
	return at.Add(ahead), err
}

// FinalBy is Final by a clock that was read: most were never moved, and need no look at how.
func FinalBy(tx *db.Tx, clock SiteClock) (time.Time, error) {
	if clock.Ahead == 0 {
		return RealNow(tx).Add(-db.FinalAfter), nil
	}
	return Final(tx, clock.SiteID)
}

// FinalFrom is the moment of the real clock from which on Final is not before an instant of the site's clock.
func FinalFrom(tx *db.Tx, at time.Time) (time.Time, error) {
	shown, err := RealTime(tx, at)
	return shown.Add(db.FinalAfter), err
}

// ClockOf reads the clock of a site; ErrNotFound where there is no such site.
func ClockOf(tx *db.Tx, siteID int64) (SiteClock, error) {
	clock := SiteClock{SiteID: siteID}
	var ahead int64
	err := tx.Row(`SELECT clock_ahead FROM sites WHERE id = $1`, []any{siteID}, &ahead)
	clock.Ahead = Microseconds(ahead)
	return clock, err
}

// MoveClock moves the clock of a sandbox site forward. ErrNotFound: there is no such site, it is no sandbox, or its
// clock is further ahead already.
func MoveClock(tx *db.Tx, siteID int64, ahead time.Duration) error {
	n, err := tx.Exec(`UPDATE sites SET clock_ahead = $2, version = version + 1, modified_at = $3
		WHERE id = $1 AND sandbox = $4 AND clock_ahead <= $2`,
		siteID, ahead.Microseconds(), db.Micros(RealNow(tx).Add(ahead)), true)
	if err != nil {
		return err
	}
	if n == 0 {
		return db.ErrNotFound
	}
	_, err = tx.Exec(`INSERT INTO clock_moves (site_id, moved_at, ahead) VALUES ($1, $2, $3)`,
		siteID, db.Micros(RealNow(tx)), ahead.Microseconds())
	if err != nil {
		return err
	}
	return Changed(tx, siteID)
}

// AheadAt reads how far the clock of a site was ahead at a moment of the real clock.
func AheadAt(tx *db.Tx, siteID int64, at time.Time) (time.Duration, error) {
	var ahead int64
	err := tx.Row(`SELECT ahead FROM clock_moves WHERE site_id = $1 AND moved_at <= $2 ORDER BY id DESC LIMIT 1`,
		[]any{siteID, db.Micros(at)}, &ahead)
	if errors.Is(err, db.ErrNotFound) {
		return 0, nil
	}
	return Microseconds(ahead), err
}

// real turns a moment of the transaction's clock into one of the real clock. Fixings belong to no site and are recorded
// by the real clock: without this, a rate that arrives today would change what a site ahead of us knew tomorrow.
func RealTime(tx *db.Tx, at time.Time) (time.Time, error) {
	if ClockOfTx.Of(tx).Ahead == 0 || !at.Before(tx.Now) {
		return at.Add(-ClockOfTx.Of(tx).Ahead), nil
	}
	// The last move up to the moment says how far ahead it was read; before the first one the two clocks were one.
	var ahead int64
	err := tx.Row(`SELECT ahead FROM clock_moves WHERE site_id = $1 AND moved_at + ahead <= $2 ORDER BY id DESC LIMIT 1`,
		[]any{ClockOfTx.Of(tx).SiteID, db.Micros(at)}, &ahead)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return at, err
	}
	found := at.Add(-Microseconds(ahead))
	// A moment that the clock jumped over was never read on it: it is the moment of the jump.
	var jump int64
	err = tx.Row(`SELECT moved_at FROM clock_moves WHERE site_id = $1 AND moved_at + ahead > $2 ORDER BY id LIMIT 1`,
		[]any{ClockOfTx.Of(tx).SiteID, db.Micros(at)}, &jump)
	if errors.Is(err, db.ErrNotFound) {
		return found, nil
	}
	if err == nil && db.Instant(jump).Before(found) {
		found = db.Instant(jump)
	}
	return found, err
}

// SiteClocks reads all sites, each with its clock.
func SiteClocks(tx *db.Tx) ([]SiteClock, error) { return siteClocks(tx, ``) }

// ClocksAhead lists the clocks that are ahead: few, since only sandboxes have them.
func ClocksAhead(tx *db.Tx) ([]SiteClock, error) { return siteClocks(tx, `WHERE clock_ahead > 0`) }

func siteClocks(tx *db.Tx, condition string) ([]SiteClock, error) {
	var list []SiteClock
	err := tx.Each(`SELECT id, clock_ahead FROM sites `+condition+` ORDER BY id`, nil,
		func(scan func(dest ...any) error) error {
			var clock SiteClock
			var ahead int64
			err := scan(&clock.SiteID, &ahead)
			clock.Ahead = Microseconds(ahead)
			list = append(list, clock)
			return err
		})
	return list, err
}

func Microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// FinalOf gives Final of a site when it is asked for.
func FinalOf(tx *db.Tx, siteID int64) func() (time.Time, error) {
	return func() (time.Time, error) { return Final(tx, siteID) }
}
