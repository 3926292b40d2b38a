package merchants

import (
	"holdfast/internal/auth"
	"holdfast/internal/db"
)

// SealedGateway holds the sealed secrets with which a channel takes payments. A secret that is not set is "".
type SealedGateway struct {
	SiteID, ChannelID int64
	Credentials       string // of the processor
	TokenizerKey      string
}

// ChannelGateway reads the sealed secrets of a channel. Both are "" when none was ever set.
func ChannelGateway(tx *db.Tx, siteID, channelID int64) (SealedGateway, error) {
	g := SealedGateway{SiteID: siteID, ChannelID: channelID}
	err := tx.Each(`SELECT credentials, tokenizer_key FROM channel_gateways WHERE site_id = $1 AND channel_id = $2`,
		[]any{siteID, channelID}, func(scan func(dest ...any) error) error { return scan(&g.Credentials, &g.TokenizerKey) })
	return g, err
}

// SetGatewayCredentials stores the sealed credentials of a channel that LockChannel has locked. It does not touch the
// other secret, because another write may be sealing that one again at the same moment.
func SetGatewayCredentials(tx *db.Tx, siteID, channelID int64, sealed string) error {
	_, err := tx.Exec(`INSERT INTO channel_gateways (site_id, channel_id, credentials, tokenizer_key) VALUES ($1, $2, $3, '')
		ON CONFLICT (site_id, channel_id) DO UPDATE SET credentials = $3`, siteID, channelID, sealed)
	return err
}

// SetTokenizerKey stores the sealed key of a channel's tokenizer, and does not touch the credentials.
func SetTokenizerKey(tx *db.Tx, siteID, channelID int64, sealed string) error {
	_, err := tx.Exec(`INSERT INTO channel_gateways (site_id, channel_id, credentials, tokenizer_key) VALUES ($1, $2, '', $3)
		ON CONFLICT (site_id, channel_id) DO UPDATE SET tokenizer_key = $3`, siteID, channelID, sealed)
	return err
}

// SealedGateways reads the next sealed secrets of all sites after a channel, in the order of site and channel.
func SealedGateways(tx *db.Tx, afterSite, afterChannel int64, limit int) ([]SealedGateway, error) {
	var list []SealedGateway
	err := tx.Each(`SELECT site_id, channel_id, credentials, tokenizer_key FROM channel_gateways
		WHERE site_id > $1 OR site_id = $1 AND channel_id > $2 ORDER BY site_id, channel_id LIMIT $3`,
		[]any{afterSite, afterChannel, limit}, func(scan func(dest ...any) error) error {
			var g SealedGateway
			err := scan(&g.SiteID, &g.ChannelID, &g.Credentials, &g.TokenizerKey)
			list = append(list, g)
			return err
		})
	return list, err
}

// SealingKeys counts the sealed secrets by the id of the key that sealed them.
func SealingKeys(tx *db.Tx) (map[string]int, error) {
	counts := map[string]int{}
	err := tx.Each(`SELECT credentials, tokenizer_key FROM channel_gateways`, nil, func(scan func(dest ...any) error) error {
		var texts [2]string
		if err := scan(&texts[0], &texts[1]); err != nil {
			return err
		}
		for _, sealed := range texts {
			if sealed != "" {
				counts[auth.SealedWith(sealed)]++
			}
		}
		return nil
	})
	return counts, err
}

// ReplaceSealed replaces the sealed secrets of a channel, if they still are what was says. It reports whether it replaced
// them. It does not lock the channel: sealing secrets again must not change the channel's version.
func ReplaceSealed(tx *db.Tx, was, now SealedGateway) (bool, error) {
	n, err := tx.Exec(`UPDATE channel_gateways SET credentials = $3, tokenizer_key = $4
		WHERE site_id = $1 AND channel_id = $2 AND credentials = $5 AND tokenizer_key = $6`,
		was.SiteID, was.ChannelID, now.Credentials, now.TokenizerKey, was.Credentials, was.TokenizerKey)
	return n == 1, err
}
