package limits

import (
	"slices"

	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// limitReview is a new limit of transactions or bookings, and the progress of judging existing ones by it.
type limitReview struct {
	Clock    sites.Clock
	Limit    protection.Limit
	WalkedTo int64 // the id of the last allocation that is done
}

// beginReview has the job judge existing transactions or bookings by a new limit. Call it in the write that adds it.
func beginReview(tx *store.Tx, l protection.Limit) error {
	_, err := tx.Exec(`INSERT INTO limit_reviews (site_id, limit_id, walked_to) VALUES ($1, $2, 0)`, l.SiteID, l.ID)
	return err
}

// openReviews lists the reviews of all sites that are not done, in order of sites and limits.
func openReviews(tx *store.Tx) ([]limitReview, error) {
	var list []limitReview
	err := tx.Query(`SELECT r.site_id, r.limit_id, r.walked_to, l.scope, l.channel_id, l.from_day, l.currency, l.recorded_at, s.clock_ahead
		FROM limit_reviews r
		JOIN limits l ON l.site_id = r.site_id AND l.id = r.limit_id
		JOIN sites s ON s.id = r.site_id ORDER BY r.site_id, r.limit_id`, nil,
		func(scan func(dest ...any) error) error {
			var r limitReview
			var channel *int64
			var recorded, ahead int64
			l := &r.Limit
			err := scan(&l.SiteID, &l.ID, &r.WalkedTo, &l.Scope, &channel, &l.FromDay, &l.Currency, &recorded, &ahead)
			if channel != nil {
				l.ChannelID = *channel
			}
			l.RecordedAt, r.Clock = store.Instant(recorded), sites.Clock{SiteID: l.SiteID, Ahead: sites.Microseconds(ahead)}
			list = append(list, r)
			return err
		})
	return list, err
}

// moveReview locks a review and moves it on, or removes it when it is done. It returns false if another write has moved
// it in the meantime.
func moveReview(tx *store.Tx, r limitReview, to int64, done bool) (moved bool, err error) {
	n, err := tx.Exec(`UPDATE limit_reviews SET walked_to = $4 WHERE site_id = $1 AND limit_id = $2 AND walked_to = $3`,
		r.Limit.SiteID, r.Limit.ID, r.WalkedTo, to)
	if err != nil || n == 0 || !done {
		return n == 1, err
	}
	_, err = tx.Exec(`DELETE FROM limit_reviews WHERE site_id = $1 AND limit_id = $2`, r.Limit.SiteID, r.Limit.ID)
	return true, err
}

// judged is a transaction or booking with at least one payment, and the largest possible use of it.
type judged struct {
	ID      int64
	Most    int64 // the largest possible use of amounts priced in the currency of the limit, in minor units
	Others  int64 // how many allocations are priced in another currency
	FirstID int64 // the smallest id of its allocations
}

// toJudge reads the transactions or bookings of the next allocations of a review, in order of their ids, and the id of
// the last of these allocations, or 0 if there are none left.
func toJudge(tx *store.Tx, r limitReview, limit int) (list []judged, last int64, err error) {
	column := "transaction_id"
	if r.Limit.Scope == protection.LimitBooking {
		column = "booking_id"
	}
	objects := map[int64]bool{}
	err = tx.Query(`SELECT id, channel_id, `+column+`, protected AND NOT simulated AND priced_at IS NOT NULL FROM allocations
		WHERE site_id = $1 AND id > $2 ORDER BY id LIMIT $3`, []any{r.Limit.SiteID, r.WalkedTo, limit},
		func(scan func(dest ...any) error) error {
			var channel, object int64
			var counts bool
			err := scan(&last, &channel, &object, &counts)
			if counts && (r.Limit.ChannelID == 0 || r.Limit.ChannelID == channel) {
				objects[object] = true
			}
			return err
		})
	if err != nil || len(objects) == 0 {
		return nil, last, err
	}
	ids := []int64{}
	for id := range objects {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var w sqltext.Where
	own := `policy_currency = ` + w.Arg(r.Limit.Currency)
	w.And("site_id = ?", r.Limit.SiteID)
	sqltext.In(&w, column, ids)
	err = tx.Query(`SELECT `+column+`, CAST(SUM(CASE WHEN `+own+` THEN value ELSE 0 END) AS BIGINT),
			CAST(SUM(CASE WHEN `+own+` THEN 0 ELSE 1 END) AS BIGINT), MIN(id) FROM allocations
		WHERE `+w.Text.String()+` AND protected AND NOT simulated AND priced_at IS NOT NULL
		GROUP BY `+column+` ORDER BY `+column, w.Args,
		func(scan func(dest ...any) error) error {
			var j judged
			err := scan(&j.ID, &j.Most, &j.Others, &j.FirstID)
			list = append(list, j)
			return err
		})
	return list, last, err
}

// levelsOf reads the highest level in the events of a transaction or booking: reported for any limit, under for one
// limit.
func levelsOf(tx *store.Tx, siteID int64, scope protection.LimitScope, object, limitID int64) (reported, under int64, err error) {
	err = tx.QueryRow(`SELECT COALESCE(MAX(percent), 0), COALESCE(MAX(CASE WHEN limit_id = $4 THEN percent END), 0)
		FROM limit_events WHERE site_id = $1 AND scope = $2 AND object_id = $3`,
		[]any{siteID, scope, object, limitID}, &reported, &under)
	return reported, under, err
}
