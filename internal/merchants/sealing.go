package merchants

import (
	"context"
	"errors"
	"fmt"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
)

// sealedPerWrite is how many channels one write of SealAnew takes.
const sealedPerWrite = 100

// Secrets are the use cases of the secrets that are sealed in the database (see auth.SealKeys).
type Secrets struct{ *core.Core }

// SealingKeys counts the sealed secrets in the database by the id of their key.
func (a *Secrets) SealingKeys(ctx context.Context, actor auth.Actor) (counts map[string]int, err error) {
	if err := actor.Require(auth.ManageSites); err != nil {
		return nil, err
	}
	err = a.Store.Read(ctx, func(tx *db.Tx) error {
		counts, err = SealingKeys(tx)
		return err
	})
	return counts, err
}

// SealAnew seals every secret in the database with the first key, and returns how many secrets it sealed. It passes over a
// secret that somebody changes at the same time, because that one is sealed with the first key anyway.
func (a *Secrets) SealAnew(ctx context.Context, actor auth.Actor) (sealed int, err error) {
	if err := actor.Require(auth.ManageSites); err != nil {
		return 0, err
	}
	keys, err := sealKeys(a.Core)
	if err != nil {
		return 0, err
	}
	var site, channel int64
	for {
		var list []SealedGateway
		done := 0
		err := a.Store.Write(ctx, func(tx *db.Tx) error {
			done = 0
			if list, err = SealedGateways(tx, site, channel, sealedPerWrite); err != nil {
				return err
			}
			for _, was := range list {
				n, err := a.sealAgain(tx, keys, was)
				if err != nil {
					return fmt.Errorf("site %d, channel %d: %w", was.SiteID, was.ChannelID, err)
				}
				done += n
			}
			return nil
		})
		if err != nil {
			return sealed, err
		}
		sealed += done
		if len(list) == 0 {
			break
		}
		last := list[len(list)-1]
		site, channel = last.SiteID, last.ChannelID
	}
	return sealed, a.Store.Write(ctx, func(tx *db.Tx) error {
		return core.Record(tx, core.OfDeployment(actor), "keys.reseal", "key "+keys.IDs()[0], nil, struct{}{})
	})
}

// sealAgain seals the secrets of one channel with the first key, unless they are already. It returns how many it sealed.
func (a *Secrets) sealAgain(tx *db.Tx, keys auth.SealKeys, was SealedGateway) (int, error) {
	now, n := was, 0
	for _, field := range []struct {
		sealed *string
		name   string
	}{{&now.Credentials, sealedCredentials}, {&now.TokenizerKey, sealedTokenizerKey}} {
		if *field.sealed == "" || auth.SealedWith(*field.sealed) == keys.IDs()[0] {
			continue
		}
		place := placeOf(was.SiteID, was.ChannelID, field.name)
		plain, err := keys.Open(*field.sealed, place)
		if err != nil {
			return 0, err
		}
		if *field.sealed, err = keys.Seal(a.Random, plain, place); err != nil {
			return 0, err
		}
		n++
	}
	if n == 0 {
		return 0, nil
	}
	if replaced, err := ReplaceSealed(tx, was, now); err != nil || !replaced {
		return 0, err
	}
	return n, nil
}

// placeOf names the place of a sealed secret. A secret opens only in the place for which it was sealed.
func placeOf(siteID, channelID int64, field string) string {
	return fmt.Sprintf("%d/%d/%s", siteID, channelID, field)
}

// The names of the sealed fields of a channel, as placeOf takes them.
const (
	sealedCredentials  = "credentials"
	sealedTokenizerKey = "tokenizer_api_key"
)

// errNoKeys is the error when the deployment has no key file. The operator has to make one.
var errNoKeys = errors.New("there are no keys: set HOLDFAST_KEYS_FILE to a file made by `holdfast keys make`")

// sealKeys reads the keys again at each use, so that new keys count at once.
func sealKeys(c *core.Core) (auth.SealKeys, error) {
	if c.Keys == nil {
		return auth.SealKeys{}, errNoKeys
	}
	return c.Keys()
}

func seal(c *core.Core, plain []byte, place string) (string, error) {
	keys, err := sealKeys(c)
	if err != nil {
		return "", err
	}
	return keys.Seal(c.Random, plain, place)
}

// open opens a sealed secret. The error is Unavailable when the key is missing: nothing is wrong with the request, and the
// caller can repeat it.
func open(c *core.Core, sealed, place string) ([]byte, error) {
	keys, err := sealKeys(c)
	if err == nil {
		var plain []byte
		if plain, err = keys.Open(sealed, place); err == nil {
			return plain, nil
		}
	}
	return nil, tryLater(err, "The channel's credentials cannot be read. The operator has to check HOLDFAST_KEYS_FILE.")
}

// sealField seals a secret that came in a field of a request. name is the name of the field, for the error.
func sealField(c *core.Core, name, secret, place string) (string, error) {
	sealed, err := seal(c, []byte(secret), place)
	if err != nil {
		return "", &fault.Error{
			Kind: fault.Invalid, Message: "Invalid parameter(s): " + name, Err: err,
			Params: map[string]string{name: "This secret cannot be encrypted: " + err.Error() + "."},
		}
	}
	return sealed, nil
}
