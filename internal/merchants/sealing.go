package merchants

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// sealedPerWrite bounds one write of sealing anew.
const sealedPerWrite = 100

// Secrets keeps what channels have sealed (see auth.SealKeys).
type Secrets struct{ *core.Core }

// SealingKeys tells how many secrets in the database are sealed with which key.
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

// SealAnew seals every secret in the database with the first of the keys, and returns how many there are. What somebody
// changes at the same time is left to them: they seal with the first key, too.
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

// sealAgain seals the secrets of one channel with the first key, where they are not yet.
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

// CheckProfile refuses a database whose channels are in modes of the other profile.
func CheckProfile(ctx context.Context, c *core.Core) error {
	var modes map[travel.AccountMode]int64
	err := c.Store.Read(ctx, func(tx *db.Tx) (err error) {
		modes, err = ModesOfChannels(tx)
		return err
	})
	if err != nil {
		return err
	}
	for _, mode := range slices.Sorted(maps.Keys(modes)) {
		if !slices.Contains(c.Profile.Modes(), mode) {
			return fault.New(fault.Invalid, "The database has %d channels in mode %s, which the profile %s does not have: start with the "+
				"other --profile, or with another --database.", modes[mode], mode, c.Profile)
		}
	}
	return nil
}

// CheckKeys refuses to work where secrets in the database were sealed with keys that are not there.
func CheckKeys(ctx context.Context, c *core.Core) error {
	var used map[string]int
	err := c.Store.Read(ctx, func(tx *db.Tx) (err error) {
		used, err = SealingKeys(tx)
		return err
	})
	if err != nil || len(used) == 0 || !c.Profile.Processes() {
		return err
	}
	keys, err := sealKeys(c)
	if err != nil {
		return fmt.Errorf("channels have sealed access to their processors: %w", err)
	}
	for _, id := range slices.Sorted(maps.Keys(used)) {
		if !slices.Contains(keys.IDs(), id) {
			return fault.New(fault.Invalid, "%d secrets in the database are sealed with the key %s, which is not in HOLDFAST_KEYS_FILE: it has %v.",
				used[id], id, keys.IDs())
		}
	}
	return nil
}
