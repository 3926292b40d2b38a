package payments

import (
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
)

// ChannelHasOpen reports whether a channel has payments whose outcome is not known yet.
func ChannelHasOpen(tx *store.Tx, siteID, channelID int64) (bool, error) {
	return store.Exists(tx, `SELECT 1 FROM transactions WHERE site_id = $1 AND channel_id = $2 AND status IN ($3, $4)`,
		siteID, channelID, payment.StatusPending, payment.StatusIncomplete)
}
