package merchants

import (
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/platform/core"
	"holdfast/internal/platform/events"
	"holdfast/internal/store"
)

// The fields of the sealed secrets of a channel, for their places (see core.PlaceOf).
const (
	sealedCredentials  = "credentials"
	sealedTokenizerKey = "tokenizer_api_key"
	sealedSecret       = "channel_secret"
)

// sealedColumns are the columns of this room whose texts are sealed.
var sealedColumns = []core.SealedColumn{
	{Table: "channel_gateways", Column: "credentials", Key: []string{"site_id", "channel_id"}, Field: sealedCredentials},
	{Table: "channel_gateways", Column: "tokenizer_key", Key: []string{"site_id", "channel_id"}, Field: sealedTokenizerKey},
	{Table: "channels", Column: "secret", Key: []string{"site_id", "id"}, Field: sealedSecret, Remembered: true},
}

// sealField seals a secret that came in a field of a request. name is the name of the field, for the error.
func sealField(c *core.Core, name, secret, place string) (string, error) {
	sealed, err := c.Seal(secret, place)
	if err != nil {
		return "", &errs.Error{
			Kind: errs.Invalid, Message: "Invalid parameter(s): " + name, Err: err,
			Params: map[string]string{name: "This secret cannot be encrypted: " + err.Error() + "."},
		}
	}
	return sealed, nil
}

// OpenSecret opens the secret of a channel, as a channel or a transaction of it holds it. Of "", which a caller gets who
// may not see it, it is "".
func OpenSecret(c *core.Core, siteID, channelID int64, sealed string) (string, error) {
	return c.OpenOften(sealed, core.PlaceOf(sealedSecret, siteID, channelID))
}

// MakeChannel is InsertChannel for a channel with a secret.
func MakeChannel(c *core.Core, tx *store.Tx, channel merchant.Channel, secret string) (merchant.Channel, error) {
	made, err := InsertChannel(tx, channel)
	if err != nil {
		return made, err
	}
	events.Record(tx, made.SiteID, events.ChannelCreated, made.ID, events.Details{Mode: string(made.Mode)})
	made.SealedSecret, err = giveSecret(c, tx, made, secret)
	return made, err
}

// giveSecret seals a secret for a channel that this write has made or locked, and stores it.
func giveSecret(c *core.Core, tx *store.Tx, channel merchant.Channel, secret string) (sealed string, err error) {
	sealed, err = c.Seal(secret, core.PlaceOf(sealedSecret, channel.SiteID, channel.ID))
	if err != nil {
		return "", err
	}
	return sealed, setChannelSecret(tx, channel.SiteID, channel.ID, sealed)
}
