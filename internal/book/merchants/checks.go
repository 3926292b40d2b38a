package merchants

import (
	"context"
	"maps"
	"slices"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// CheckProfile returns an error when the database has channels in a mode that the profile of the deployment does not have.
func CheckProfile(ctx context.Context, c *sites.DB, profile merchant.Profile) error {
	var modes map[merchant.AccountMode]int64
	err := c.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		modes, err = modesOfChannels(tx)
		return err
	})
	if err != nil {
		return err
	}
	for _, mode := range slices.Sorted(maps.Keys(modes)) {
		if !slices.Contains(profile.Modes(), mode) {
			return errs.New(errs.Invalid, "The database has merchants in mode %[2]s (%[1]d), which profile %s does not support. Start with the "+
				"other --profile, or use another --database.", modes[mode], mode, profile)
		}
	}
	return nil
}
