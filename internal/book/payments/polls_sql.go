package payments

import (
	"time"

	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Poll is the position up to which the events of a channel's processor have been read.
type Poll struct {
	SiteID    int64
	ChannelID int64
	Processor string
	Cursor    string // the processor's cursor after the last event read; empty before the first
}

// beginPolling begins to poll the events of a channel's processor, unless they are polled already.
func beginPolling(tx *store.Tx, siteID, channelID int64, processor string) error {
	_, err := tx.Exec(`INSERT INTO processor_events (site_id, channel_id, processor, cursor, read_at)
		VALUES ($1, $2, $3, '', $4) ON CONFLICT (site_id, channel_id, processor) DO NOTHING`,
		siteID, channelID, processor, store.Micros(sites.RealNow(tx)))
	return err
}

// PollsDue lists the polls of all sites that are due, at most limit, the longest overdue first.
func PollsDue(tx *store.Tx, limit int) ([]Poll, error) {
	var list []Poll
	err := tx.Query(`SELECT site_id, channel_id, processor, cursor FROM processor_events WHERE read_at <= $1 ORDER BY read_at LIMIT $2`,
		[]any{store.Micros(sites.RealNow(tx)), limit}, func(scan func(dest ...any) error) error {
			var f Poll
			err := scan(&f.SiteID, &f.ChannelID, &f.Processor, &f.Cursor)
			list = append(list, f)
			return err
		})
	return list, err
}

// ClaimPoll postpones the next run of a poll that is due. claimed is false if it is no longer due, or continues from
// another position.
func ClaimPoll(tx *store.Tx, f Poll, next time.Time) (claimed bool, err error) {
	n, err := tx.Exec(`UPDATE processor_events SET read_at = $5
		WHERE site_id = $1 AND channel_id = $2 AND processor = $3 AND cursor = $4 AND read_at <= $6`,
		f.SiteID, f.ChannelID, f.Processor, f.Cursor, store.Micros(next), store.Micros(sites.RealNow(tx)))
	return n == 1, err
}

// SavePoll stores the position, and when to continue reading.
func SavePoll(tx *store.Tx, f Poll, next time.Time) error {
	_, err := tx.Exec(`UPDATE processor_events SET cursor = $4, read_at = $5
		WHERE site_id = $1 AND channel_id = $2 AND processor = $3`,
		f.SiteID, f.ChannelID, f.Processor, f.Cursor, store.Micros(next))
	return err
}
