package merchants

import (
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// The fields of the sealed secrets of a channel, for their places (see secrets.PlaceOf).
const (
	sealedCredentials  = "credentials"
	sealedTokenizerKey = "tokenizer_api_key"
	sealedSecret       = "channel_secret"
)

// SealedColumns are the columns of this room whose texts are sealed.
var SealedColumns = []secrets.SealedColumn{
	{Table: "channel_gateways", Column: "credentials", Key: []string{"site_id", "channel_id"}, Field: sealedCredentials},
	{Table: "channel_gateways", Column: "tokenizer_key", Key: []string{"site_id", "channel_id"}, Field: sealedTokenizerKey},
	{Table: "channels", Column: "secret", Key: []string{"site_id", "id"}, Field: sealedSecret, Remembered: true},
}

// SealCredentials seals the credentials of a channel, as JSON, which came in a field of a request.
func SealCredentials(vault *secrets.Vault, siteID, channelID int64, text string) (string, error) {
	return sealField(vault, "credentials", text, secrets.PlaceOf(sealedCredentials, siteID, channelID))
}

// SealTokenizerKey seals the key of a channel's tokenizer, which came in a field of a request.
func SealTokenizerKey(vault *secrets.Vault, siteID, channelID int64, key string) (string, error) {
	return sealField(vault, "tokenizer_api_key", key, secrets.PlaceOf(sealedTokenizerKey, siteID, channelID))
}

// OpenTokenizerKey opens the key of a channel's tokenizer.
func OpenTokenizerKey(vault *secrets.Vault, siteID, channelID int64, sealed string) (string, error) {
	return vault.Open(sealed, secrets.PlaceOf(sealedTokenizerKey, siteID, channelID))
}

// sealField seals a secret that came in a field of a request. name is the name of the field, for the error.
func sealField(vault *secrets.Vault, name, secret, place string) (string, error) {
	sealed, err := vault.Seal(secret, place)
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
func OpenSecret(vault *secrets.Vault, siteID, channelID int64, sealed string) (string, error) {
	return vault.OpenOften(sealed, secrets.PlaceOf(sealedSecret, siteID, channelID))
}

// MakeChannel is InsertChannel for a channel with a secret.
func MakeChannel(vault *secrets.Vault, tx *store.Tx, channel merchant.Channel, secret string) (merchant.Channel, error) {
	made, err := InsertChannel(tx, channel)
	if err != nil {
		return made, err
	}
	events.Record(tx, made.SiteID, event.ChannelCreated, made.ID, event.Details{Mode: string(made.Mode)})
	made.SealedSecret, err = GiveSecret(vault, tx, made, secret)
	return made, err
}

// GiveSecret seals a secret for a channel that this write has made or locked, and stores it.
func GiveSecret(vault *secrets.Vault, tx *store.Tx, channel merchant.Channel, secret string) (sealed string, err error) {
	sealed, err = vault.Seal(secret, secrets.PlaceOf(sealedSecret, channel.SiteID, channel.ID))
	if err != nil {
		return "", err
	}
	return sealed, setChannelSecret(tx, channel.SiteID, channel.ID, sealed)
}
