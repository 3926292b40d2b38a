package merchants

import "holdfast/internal/store"

// SealedGateway holds the sealed secrets with which a channel takes payments. A secret that is not set is "".
type SealedGateway struct {
	SiteID, ChannelID int64
	Credentials       string // of the processor
	TokenizerKey      string
}

// ChannelGateway reads the sealed secrets of a channel. Both are "" when none was ever set.
func ChannelGateway(tx *store.Tx, siteID, channelID int64) (SealedGateway, error) {
	g := SealedGateway{SiteID: siteID, ChannelID: channelID}
	err := tx.Query(`SELECT credentials, tokenizer_key FROM channel_gateways WHERE site_id = $1 AND channel_id = $2`,
		[]any{siteID, channelID}, func(scan func(dest ...any) error) error { return scan(&g.Credentials, &g.TokenizerKey) })
	return g, err
}

// SetGatewayCredentials stores the sealed credentials of a channel that LockChannel has locked. It does not touch the
// other secret, because another write may be sealing that one again at the same moment.
func SetGatewayCredentials(tx *store.Tx, siteID, channelID int64, sealed string) error {
	_, err := tx.Exec(`INSERT INTO channel_gateways (site_id, channel_id, credentials, tokenizer_key) VALUES ($1, $2, $3, '')
		ON CONFLICT (site_id, channel_id) DO UPDATE SET credentials = $3`, siteID, channelID, sealed)
	return err
}

// SetTokenizerKey stores the sealed key of a channel's tokenizer, and does not touch the credentials.
func SetTokenizerKey(tx *store.Tx, siteID, channelID int64, sealed string) error {
	_, err := tx.Exec(`INSERT INTO channel_gateways (site_id, channel_id, credentials, tokenizer_key) VALUES ($1, $2, '', $3)
		ON CONFLICT (site_id, channel_id) DO UPDATE SET tokenizer_key = $3`, siteID, channelID, sealed)
	return err
}
