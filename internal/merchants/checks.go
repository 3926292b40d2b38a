package merchants

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// CheckProfile returns an error when the database has channels in a mode that the profile of the deployment does not have.
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

// CheckKeys returns an error when the database has secrets that were sealed with a key which is missing now.
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
		return fmt.Errorf("the database has sealed credentials of channels: %w", err)
	}
	for _, id := range slices.Sorted(maps.Keys(used)) {
		if !slices.Contains(keys.IDs(), id) {
			return fault.New(fault.Invalid, "%d secrets in the database are sealed with the key %s, which is not in HOLDFAST_KEYS_FILE. That file has %v.",
				used[id], id, keys.IDs())
		}
	}
	return nil
}
