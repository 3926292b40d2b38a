package merchants

import (
	"holdfast/internal/auth"
	"holdfast/internal/db"
	"holdfast/internal/travel"
)

// SealedGateway is the secrets by which a channel takes payments, as they lie in the database; "" where one is not set.
type SealedGateway struct {
	SiteID, ChannelID int64
	Credentials       string // of the processor
	TokenizerKey      string
}

// ChannelGateway reads the sealed secrets of a channel; both are "" where none were ever set.
func ChannelGateway(tx *db.Tx, siteID, channelID int64) (SealedGateway, error) {
	g := SealedGateway{SiteID: siteID, ChannelID: channelID}
	err := tx.Each(`SELECT credentials, tokenizer_key FROM channel_gateways WHERE site_id = $1 AND channel_id = $2`,
		[]any{siteID, channelID}, func(scan func(dest ...any) error) error { return scan(&g.Credentials, &g.TokenizerKey) })
	return g, err
}

// SetGatewayCredentials stores the sealed access to the processor of a channel that LockChannel has taken. Like
// SetTokenizerKey it leaves the other secret alone, which may be sealed anew at this moment.
func SetGatewayCredentials(tx *db.Tx, siteID, channelID int64, sealed string) error {
	_, err := tx.Exec(`INSERT INTO channel_gateways (site_id, channel_id, credentials, tokenizer_key) VALUES ($1, $2, $3, '')
		ON CONFLICT (site_id, channel_id) DO UPDATE SET credentials = $3`, siteID, channelID, sealed)
	return err
}

// SetTokenizerKey stores the sealed key of a channel's tokenizer.
func SetTokenizerKey(tx *db.Tx, siteID, channelID int64, sealed string) error {
	_, err := tx.Exec(`INSERT INTO channel_gateways (site_id, channel_id, credentials, tokenizer_key) VALUES ($1, $2, '', $3)
		ON CONFLICT (site_id, channel_id) DO UPDATE SET tokenizer_key = $3`, siteID, channelID, sealed)
	return err
}

// SealedGateways reads the sealed secrets of all sites after a channel, in order of site and channel.
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

// SealingKeys counts the sealed secrets by the key that they are sealed with.
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

// SetChannelSecret stores another secret of a channel that LockChannel has taken.
func SetChannelSecret(tx *db.Tx, siteID, channelID int64, secret string) error {
	_, err := tx.Exec(`UPDATE channels SET secret = $3, modified_at = $4 WHERE site_id = $1 AND id = $2`,
		siteID, channelID, secret, db.Micros(tx.Now))
	return err
}

// ModesOfChannels counts the channels of all sites by their modes.
func ModesOfChannels(tx *db.Tx) (map[travel.AccountMode]int64, error) {
	counts := map[travel.AccountMode]int64{}
	err := tx.Each(`SELECT account_mode, COUNT(*) FROM channels GROUP BY account_mode`, nil,
		func(scan func(dest ...any) error) error {
			var mode travel.AccountMode
			var n int64
			err := scan(&mode, &n)
			counts[mode] = n
			return err
		})
	return counts, err
}

// ReplaceSealed stores the sealed secrets of a channel in place of what they were, and reports whether they still were
// that: sealing anew takes no lock on the channel, whose version is nobody's but its editors'.
func ReplaceSealed(tx *db.Tx, was, now SealedGateway) (bool, error) {
	n, err := tx.Exec(`UPDATE channel_gateways SET credentials = $3, tokenizer_key = $4
		WHERE site_id = $1 AND channel_id = $2 AND credentials = $5 AND tokenizer_key = $6`,
		was.SiteID, was.ChannelID, now.Credentials, now.TokenizerKey, was.Credentials, was.TokenizerKey)
	return n == 1, err
}

// ChannelHasOpenPayments reports whether the outcome of any payment of the channel is still to come.
func ChannelHasOpenPayments(tx *db.Tx, siteID, id int64) (bool, error) {
	var has bool
	err := tx.Row(`SELECT EXISTS (SELECT 1 FROM transactions WHERE site_id = $1 AND channel_id = $2 AND status IN ($3, $4))`,
		[]any{siteID, id, travel.StatusPending, travel.StatusIncomplete}, &has)
	return has, err
}
