package payments

import (
	"time"

	"holdfast/internal/core"
	"holdfast/internal/db"
)

// Notice is what a processor said had happened to a charge of a channel.
type Notice struct {
	SiteID      int64
	ChannelID   int64
	Processor   string
	EventID     string
	Reference   string    // ours; "" where it was not said
	ProcessorID string    // "" where it was not said
	AskAt       time.Time // by the real clock
	Asks        int       // in vain, so far
}

// insertNotice keeps a hint, due at once; one that came before is left as it is.
func insertNotice(tx *db.Tx, h Notice) error {
	_, err := tx.Exec(`INSERT INTO processor_hints (site_id, channel_id, processor, event_id, reference, processor_id,
			received_at, ask_at, asks)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $7, 0)
		ON CONFLICT (site_id, channel_id, processor, event_id) DO NOTHING`,
		h.SiteID, h.ChannelID, h.Processor, h.EventID, h.Reference, h.ProcessorID, db.Micros(core.RealNow(tx)))
	return err
}

// NoticesDue lists hints of any site that are to be asked about, the longest overdue first.
func NoticesDue(tx *db.Tx, limit int) ([]Notice, error) {
	var list []Notice
	err := tx.Each(`SELECT site_id, channel_id, processor, event_id, reference, processor_id, ask_at, asks
		FROM processor_hints WHERE ask_at <= $1 ORDER BY ask_at LIMIT $2`,
		[]any{db.Micros(core.RealNow(tx)), limit}, func(scan func(dest ...any) error) error {
			var h Notice
			var ask int64
			err := scan(&h.SiteID, &h.ChannelID, &h.Processor, &h.EventID, &h.Reference, &h.ProcessorID, &ask, &h.Asks)
			h.AskAt = db.Instant(ask)
			list = append(list, h)
			return err
		})
	return list, err
}

// putOffNotice says when to ask about a hint again; the zero time says that it was asked about.
func putOffNotice(tx *db.Tx, h Notice, next time.Time) error {
	_, err := tx.Exec(`UPDATE processor_hints SET ask_at = $5, asks = asks + 1
		WHERE site_id = $1 AND channel_id = $2 AND processor = $3 AND event_id = $4`,
		h.SiteID, h.ChannelID, h.Processor, h.EventID, db.MaybeMicros(next))
	return err
}

// forgetNoticesBefore removes hints that were asked about and came before the instant, as many as the limit allows, and
// returns how many.
func forgetNoticesBefore(tx *db.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(`DELETE FROM processor_hints WHERE (site_id, channel_id, processor, event_id) IN (
		SELECT site_id, channel_id, processor, event_id FROM processor_hints
		WHERE ask_at IS NULL AND received_at < $1 LIMIT $2)`, db.Micros(before), limit)
}

// poll is how far the events of a channel's processor were read.
type poll struct {
	SiteID    int64
	ChannelID int64
	Processor string
	Cursor    string // "" before the first reading
}

// openPoll makes sure that the events of a channel's processor are read, from now on.
func openPoll(tx *db.Tx, siteID, channelID int64, processor string) error {
	_, err := tx.Exec(`INSERT INTO processor_feeds (site_id, channel_id, processor, cursor, read_at)
		VALUES ($1, $2, $3, '', $4) ON CONFLICT (site_id, channel_id, processor) DO NOTHING`,
		siteID, channelID, processor, db.Micros(core.RealNow(tx)))
	return err
}

// claimPolls takes the feeds of any site that are due, the longest overdue first, and puts off their next reading.
func claimPolls(tx *db.Tx, limit int, next time.Time) ([]poll, error) {
	var list []poll
	err := tx.Each(`UPDATE processor_feeds SET read_at = $2 WHERE (site_id, channel_id, processor) IN (
			SELECT site_id, channel_id, processor FROM processor_feeds WHERE read_at <= $1 ORDER BY read_at LIMIT $3)
			AND read_at <= $1
		RETURNING site_id, channel_id, processor, cursor`,
		[]any{db.Micros(core.RealNow(tx)), db.Micros(next), limit}, func(scan func(dest ...any) error) error {
			var f poll
			err := scan(&f.SiteID, &f.ChannelID, &f.Processor, &f.Cursor)
			list = append(list, f)
			return err
		})
	return list, err
}

// savePoll notes how far the events were read, and that there are more to be read at once, or none for now.
func savePoll(tx *db.Tx, f poll, next time.Time) error {
	_, err := tx.Exec(`UPDATE processor_feeds SET cursor = $4, read_at = $5
		WHERE site_id = $1 AND channel_id = $2 AND processor = $3`,
		f.SiteID, f.ChannelID, f.Processor, f.Cursor, db.Micros(next))
	return err
}
