package sites

import (
	"context"
	"fmt"
	"time"

	"holdfast/internal/store"
)

// Older is a query for Each: the sites whose oldest row of a table has reached an age, by the real clock. An index begins with the site
// and the column. condition is that of a partial index; "" for none.
func Older(table, column, condition string, age time.Duration) string {
	if condition != "" {
		condition = " AND " + condition
	}
	return fmt.Sprintf(`SELECT s.id, s.clock_ahead FROM site_places p JOIN sites s ON s.id = p.site_id
		WHERE (SELECT MIN(o.%s) FROM %s o WHERE o.site_id = p.site_id%s) <= $1 - CAST(%d AS BIGINT) ORDER BY s.id`, column, table, condition, age.Microseconds())
}

// Each runs a write by the clock of each site that a query selects, with the site and how far its clock is ahead. $1 is
// the real time. The write handles up to limit items and returns how many. more reports whether a site reached the
// limit.
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
