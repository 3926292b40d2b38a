package pspevents

import (
	"time"

	"holdfast/internal/book/payments"
	"holdfast/internal/platform/core"
	"holdfast/internal/store"
)

// Notice says that something happened to a charge of a channel. It comes from a webhook of the processor or from its
// polled events. It does not say what happened: the processor is asked for that.
type Notice struct {
	payments.Charge
	EventID string
	AskAt   time.Time // when to ask, by the real clock
	Asks    int       // how often it was asked without a result
}

// insertNotice stores a notice, due at once. A notice that was stored before stays as it is.
func insertNotice(tx *store.Tx, h Notice) error {
	_, err := tx.Exec(`INSERT INTO processor_notices (site_id, channel_id, processor, event_id, reference, processor_id,
			received_at, ask_at, asks)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $7, 0)
		ON CONFLICT (site_id, channel_id, processor, event_id) DO NOTHING`,
		h.SiteID, h.ChannelID, h.Processor, h.EventID, h.Reference, h.ProcessorID, store.Micros(core.RealNow(tx)))
	return err
}

// noticesDue lists notices of all sites that are due, the longest overdue first, at most limit of them.
func noticesDue(tx *store.Tx, limit int) ([]Notice, error) {
	var list []Notice
	err := tx.Each(`SELECT site_id, channel_id, processor, event_id, reference, processor_id, ask_at, asks
		FROM processor_notices WHERE ask_at <= $1 ORDER BY ask_at LIMIT $2`,
		[]any{store.Micros(core.RealNow(tx)), limit}, func(scan func(dest ...any) error) error {
			var h Notice
			var ask int64
			err := scan(&h.SiteID, &h.ChannelID, &h.Processor, &h.EventID, &h.Reference, &h.ProcessorID, &ask, &h.Asks)
			h.AskAt = store.Instant(ask)
			list = append(list, h)
			return err
		})
	return list, err
}

// putOffNotice stores when to ask about a notice again. The zero time says that the notice is done.
func putOffNotice(tx *store.Tx, h Notice, next time.Time) error {
	_, err := tx.Exec(`UPDATE processor_notices SET ask_at = $5, asks = asks + 1
		WHERE site_id = $1 AND channel_id = $2 AND processor = $3 AND event_id = $4`,
		h.SiteID, h.ChannelID, h.Processor, h.EventID, store.MaybeMicros(next))
	return err
}

// forgetNoticesBefore removes notices that are done and came before an instant, at most limit of them. It returns how
// many.
func forgetNoticesBefore(tx *store.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(`DELETE FROM processor_notices WHERE (site_id, channel_id, processor, event_id) IN (
		SELECT site_id, channel_id, processor, event_id FROM processor_notices
		WHERE ask_at IS NULL AND received_at < $1 LIMIT $2)`, store.Micros(before), limit)
}

// poll says how far the events of a channel's processor are read.
type poll struct {
	SiteID    int64
	ChannelID int64
	Processor string
	Cursor    string // the processor's mark of the last event that was read; empty before the first
}

// BeginPolling begins to poll the events of a channel's processor, unless they are polled already.
func BeginPolling(tx *store.Tx, siteID, channelID int64, processor string) error {
	_, err := tx.Exec(`INSERT INTO processor_events (site_id, channel_id, processor, cursor, read_at)
		VALUES ($1, $2, $3, '', $4) ON CONFLICT (site_id, channel_id, processor) DO NOTHING`,
		siteID, channelID, processor, store.Micros(core.RealNow(tx)))
	return err
}

// claimPolls reserves the polls of all sites that are due, at most limit, the longest overdue first. It puts off their
// next time.
func claimPolls(tx *store.Tx, limit int, next time.Time) ([]poll, error) {
	var list []poll
	err := tx.Each(`UPDATE processor_events SET read_at = $2 WHERE (site_id, channel_id, processor) IN (
			SELECT site_id, channel_id, processor FROM processor_events WHERE read_at <= $1 ORDER BY read_at LIMIT $3)
			AND read_at <= $1
		RETURNING site_id, channel_id, processor, cursor`,
		[]any{store.Micros(core.RealNow(tx)), store.Micros(next), limit}, func(scan func(dest ...any) error) error {
			var f poll
			err := scan(&f.SiteID, &f.ChannelID, &f.Processor, &f.Cursor)
			list = append(list, f)
			return err
		})
	return list, err
}

// savePoll stores how far the events are read, and when to read on.
func savePoll(tx *store.Tx, f poll, next time.Time) error {
	_, err := tx.Exec(`UPDATE processor_events SET cursor = $4, read_at = $5
		WHERE site_id = $1 AND channel_id = $2 AND processor = $3`,
		f.SiteID, f.ChannelID, f.Processor, f.Cursor, store.Micros(next))
	return err
}
