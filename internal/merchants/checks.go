package merchants

import (
	"context"
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
	err := c.Store.Read(ctx, db.Deployment, func(tx *db.Tx) (err error) {
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
