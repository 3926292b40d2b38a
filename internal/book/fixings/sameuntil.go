package fixings

import (
	"math"
	"time"

	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// SameUntil is the first instant after now, by the clock of the site, at which a rate may begin or end to count although none is
// recorded: a quote expires, or another process has recorded a rate by a clock that is ahead of this one. A rate goes by the real
// clock or by that of the site, whichever comes first.
func SameUntil(tx *store.Tx) (time.Time, error) {
	var at int64
	err := tx.QueryRow(`SELECT COALESCE(MIN(n.at), $3) FROM (
			SELECT MIN(expires_at) AS at FROM fixings WHERE expires_at > $1
			UNION ALL SELECT MIN(expires_at) + $4 FROM fixings WHERE expires_at > $2
			UNION ALL SELECT MIN(recorded_at) FROM fixings WHERE recorded_at > $1
			UNION ALL SELECT MIN(recorded_at) + $4 FROM fixings WHERE recorded_at > $2) n`,
		[]any{store.Micros(tx.Now), store.Micros(sites.RealNow(tx)), int64(math.MaxInt64),
			tx.Clock.Ahead.Microseconds()}, &at)
	return time.UnixMicro(at).UTC(), err
}
