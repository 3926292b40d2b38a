package payments

import (
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
)

// ChannelHasOpen reports whether a channel has payments whose outcome is not known yet.
func ChannelHasOpen(tx *store.Tx, siteID, channelID int64) (has bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM transactions WHERE site_id = $1 AND channel_id = $2 AND status IN ($3, $4))`,
		[]any{siteID, channelID, payment.StatusPending, payment.StatusIncomplete}, &has)
	return has, err
}
