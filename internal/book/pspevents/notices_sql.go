package pspevents

import (
	"time"

	"holdfast/internal/book/payments"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Notice reports that something happened to a charge of a channel. It comes from a webhook of the processor or from its
// polled events. It does not say what happened: the processor is queried for that.
type Notice struct {
	payments.Charge
	EventID string
	AskAt   time.Time // when to ask, by the real clock
	Asks    int       // how often it was asked without a result
}

// insertNotice stores a notice that is due immediately. A notice that is already stored stays as it is.
func insertNotice(tx *store.Tx, h Notice) error {
	_, err := tx.Exec(`INSERT INTO processor_notices (site_id, channel_id, processor, event_id, reference, processor_id,
			received_at, ask_at, asks)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $7, 0)
		ON CONFLICT (site_id, channel_id, processor, event_id) DO NOTHING`,
		h.SiteID, h.ChannelID, h.Processor, h.EventID, h.Reference, h.ProcessorID, store.Micros(sites.RealNow(tx)))
	return err
}

// noticesDue lists notices of all sites that are due, the longest overdue first, at most limit of them.
func noticesDue(tx *store.Tx, limit int) ([]Notice, error) {
	var list []Notice
	err := tx.Query(`SELECT site_id, channel_id, processor, event_id, reference, processor_id, ask_at, asks
		FROM processor_notices WHERE ask_at <= $1 ORDER BY ask_at LIMIT $2`,
		[]any{store.Micros(sites.RealNow(tx)), limit}, func(scan func(dest ...any) error) error {
			var h Notice
			var ask int64
			err := scan(&h.SiteID, &h.ChannelID, &h.Processor, &h.EventID, &h.Reference, &h.ProcessorID, &ask, &h.Asks)
			h.AskAt = store.Instant(ask)
			list = append(list, h)
			return err
		})
	return list, err
}

// putOffNotice stores when to ask about a notice again. The zero time means that the notice is done.
func putOffNotice(tx *store.Tx, h Notice, next time.Time) error {
	_, err := tx.Exec(`UPDATE processor_notices SET ask_at = $5, asks = asks + 1
		WHERE site_id = $1 AND channel_id = $2 AND processor = $3 AND event_id = $4`,
		h.SiteID, h.ChannelID, h.Processor, h.EventID, store.MaybeMicros(next))
	return err
}

// forgetNotices removes notices of a site that are done and came long ago, at most limit of them. It returns how many.
func forgetNotices(tx *store.Tx, siteID int64, limit int) (int, error) {
	n, err := tx.Exec(`DELETE FROM processor_notices WHERE site_id = $1 AND (channel_id, processor, event_id) IN (
		SELECT n.channel_id, n.processor, n.event_id FROM processor_notices n
		WHERE n.site_id = $1 AND n.ask_at IS NULL AND n.received_at < $2 LIMIT $3)`,
		siteID, store.Micros(sites.RealNow(tx).Add(-noticeMemory)), limit)
	return int(n), err
}
