package ledger

import (
	"context"
	"errors"
	"fmt"

	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Buckets keeps the cubes up to date that the reports of exposure read (R7).
type Buckets struct{ *sites.DB }

// deltasPerFold bounds one write of the folding. Other writes wait for it: some 20 ms, and up to 130 where deltas share no blocks.
const deltasPerFold = 5_000

// Fold adds the changes since the last run to the cubes, a bounded piece for each site. It returns more if there may be
// changes left. Reports are exact before and after: they add the changes that are not folded yet themselves.
func (b *Buckets) Fold(ctx context.Context) (more bool, err error) {
	var sites []int64
	err = b.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		sites, err = SitesToFold(tx)
		return err
	})
	for _, site := range sites {
		if err != nil {
			return false, err
		}
		var folded int
		if folded, err = b.FoldSite(ctx, site, deltasPerFold); err != nil {
			err = fmt.Errorf("site %d: %w", site, err)
		}
		more = more || folded > 0
	}
	return more && err == nil, err
}

// FoldSite moves deltas of a site into its cubes and buckets: at most limit, and no more than fit into one write. It
// returns how many: also 0 if another process was faster. They are read and added up before the write, so that other
// writes do not wait. On a busy machine the write may time out, and a smaller batch is tried. A timeout can show as
// many errors, so any error counts as one.
func (b *Buckets) FoldSite(ctx context.Context, siteID int64, limit int) (folded int, err error) {
	for ; limit > 0; limit /= 8 {
		var f *fold
		if f, err = gatherFold(ctx, b.Store, siteID, limit); err == nil && len(f.ids) > 0 {
			err = b.Store.WriteLong(ctx, siteID, f.store)
		}
		if errors.Is(err, errFolded) {
			return 0, nil
		}
		if err == nil {
			return len(f.ids), nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return 0, err
}
