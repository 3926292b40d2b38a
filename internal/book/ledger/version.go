package ledger

import (
	"math"
	"time"

	"holdfast/internal/store"
)

// Version is the version of a site's exposure: of everything that its reports depend on, except for the clock. Reads at
// equal versions see the same: changing a channel, a policy, collateral or a rate draws a new number, and anything that
// changes the risk of a booking adds a delta. A fold removes deltas, and is counted itself.
type Version struct {
	Site, Rates   int64 // as in site_versions and rate_versions
	Folds, Deltas int64 // how often deltas were folded, and how many are not folded yet
	ClockAhead    int64 // the clock of the site, in microseconds
}

// VersionOf reads the version of a site's exposure, in one statement. The deltas are counted, because their ids do not
// become visible in order. If the site does not exist, the error is store.ErrNotFound.
func VersionOf(tx *store.Tx, siteID int64) (v Version, err error) {
	err = tx.QueryRow(`SELECT COALESCE(v.version, 0), COALESCE(r.version, 0), COALESCE(f.version, 0), s.clock_ahead,
			(SELECT COUNT(*) FROM exposure_deltas d WHERE d.site_id = $1)
		FROM site_places p JOIN sites s ON s.id = p.site_id LEFT JOIN site_versions v ON v.site_id = p.site_id
		LEFT JOIN rate_versions r ON r.id = 0 LEFT JOIN exposure_folds f ON f.site_id = p.site_id WHERE p.site_id = $1`, []any{siteID},
		&v.Site, &v.Rates, &v.Folds, &v.ClockAhead, &v.Deltas)
	return v, err
}

// SameUntil is the first instant after now at which something begins to count that a process has recorded by a clock that is ahead
// of this one: a policy, collateral, a name or the protection of a channel.
func SameUntil(tx *store.Tx, siteID int64) (time.Time, error) {
	var at int64
	err := tx.QueryRow(`SELECT COALESCE(MIN(n.at), $3) FROM (
			SELECT MIN(recorded_at) AS at FROM policies WHERE site_id = $1 AND recorded_at > $2
			UNION ALL SELECT MIN(recorded_at) FROM collateral WHERE site_id = $1 AND recorded_at > $2
			UNION ALL SELECT MIN(recorded_at) FROM channel_names WHERE site_id = $1 AND recorded_at > $2
			UNION ALL SELECT MIN(recorded_at) FROM channel_protection WHERE site_id = $1 AND recorded_at > $2) n`,
		[]any{siteID, store.Micros(tx.Now), int64(math.MaxInt64)}, &at)
	return time.UnixMicro(at).UTC(), err
}
