package ledger

import (
	"database/sql"
	"slices"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const collateralColumns = `site_id, id, record_id, kind, channel_id, currency, amount, from_day, to_day, reference, note,
	author_id, author, recorded_at`

func scanCollateral(scan func(dest ...any) error) (exposure.Collateral, error) {
	var c exposure.Collateral
	var channel, to sql.NullInt64
	var recorded int64
	err := scan(&c.SiteID, &c.ID, &c.RecordID, &c.Kind, &channel, &c.Currency, &c.Amount, &c.FromDay, &to, &c.Reference,
		&c.Note, &c.AuthorID, &c.Author, &recorded)
	if c.RecordID == 0 { // the first row of its record
		c.RecordID = c.ID
	}
	c.ChannelID, c.ToDay, c.RecordedAt = channel.Int64, store.DayOr(to), store.Instant(recorded)
	return c, err
}

// insertCollateral adds a row: a correction if RecordID is set, else the first row of a new record.
func insertCollateral(tx *store.Tx, c exposure.Collateral) (exposure.Collateral, error) {
	c.RecordedAt = tx.Now
	if err := sites.Changed(tx, c.SiteID); err != nil { // reports that are kept have less or more of it
		return c, err
	}
	var err error
	if c.ID, err = tx.NextID("collateral", c.SiteID); err != nil {
		return c, err
	}
	_, err = tx.Exec(`INSERT INTO collateral (site_id, id, record_id, kind, channel_id, currency, amount, from_day, to_day,
			reference, note, author_id, author, recorded_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		c.SiteID, c.ID, c.RecordID, c.Kind, store.MaybeID(c.ChannelID), c.Currency, c.Amount, c.FromDay, store.MaybeDay(c.ToDay),
		c.Reference, c.Note, c.AuthorID, c.Author, store.Micros(tx.Now))
	if c.RecordID == 0 {
		c.RecordID = c.ID
	}
	return c, err
}

// collateralRow reads one row of the site's collateral, or returns store.ErrNotFound.
func collateralRow(tx *store.Tx, siteID, id int64) (exposure.Collateral, error) {
	return scanCollateral(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+collateralColumns+` FROM collateral WHERE site_id = $1 AND id = $2`, []any{siteID, id}, dest...)
	})
}

// collateralsPage reads one page of the rows of a site's collateral, corrections included.
func collateralsPage(tx *store.Tx, siteID int64, channels []int64, page store.Page) (store.List[exposure.Collateral], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "channel_id", channels)
	return store.ListPage(tx, "collateral", collateralColumns, &w, page, store.Orders{"modified": "recorded_at"}, scanCollateral)
}

// CollateralOn reads the collateral that is held at the end of a day, as known at an instant: that of the whole site and
// that of the given channels. If no channels are given, it reads that of all channels.
func CollateralOn(tx *store.Tx, siteID int64, channels []int64, day civil.Day, known time.Time) ([]exposure.Collateral, error) {
	var list []exposure.Collateral
	err := tx.Query(`SELECT `+collateralColumns+` FROM collateral WHERE site_id = $1 AND recorded_at <= $2 ORDER BY id`,
		[]any{siteID, store.Micros(known)}, func(scan func(dest ...any) error) error {
			c, err := scanCollateral(scan)
			list = append(list, c)
			return err
		})
	held := slices.DeleteFunc(exposure.CollateralHeld(list, day), func(c exposure.Collateral) bool {
		return c.ChannelID != 0 && len(channels) > 0 && !slices.Contains(channels, c.ChannelID)
	})
	return held, err
}
