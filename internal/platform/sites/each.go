package sites

import (
	"context"

	"holdfast/internal/store"
)

// Each runs a write by the clock of each site that a query selects: site and how far its clock is ahead. $1 is the real
// time. The write does up to limit things and returns how many. more reports whether a site had as many as that.
func Each(
	ctx context.Context, db *DB, query string, limit int, do func(tx *store.Tx, siteID int64, limit int) (done int, err error),
) (more bool, err error) {
	var clocks []Clock
	err = db.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		clocks = nil
		return tx.Query(query, []any{store.Micros(tx.Now)}, func(scan func(dest ...any) error) error {
			var clock Clock
			var ahead int64
			err := scan(&clock.SiteID, &ahead)
			clock.Ahead = Microseconds(ahead)
			clocks = append(clocks, clock)
			return err
		})
	})
	for _, clock := range clocks {
		if err != nil {
			return false, err
		}
		done := 0
		err = db.WriteBy(ctx, clock, func(tx *store.Tx) (err error) {
			done, err = do(tx, clock.SiteID, limit)
			return err
		})
		more = more || done == limit
	}
	return more, err
}
