package ledger

import (
	"context"
	"fmt"

	"holdfast/internal/core"
	"holdfast/internal/db"
)

// Buckets keeps the cubes up to date that the reports of exposure read (R7).
type Buckets struct{ *core.Core }

// deltasPerFold bounds one write of the folding. A write lives at most five seconds (R0), and other writes wait for it.
const deltasPerFold = 10_000

// Fold adds the changes since the last run to the cubes, a bounded piece for each site. It returns more if there may be
// changes left. Reports are exact before and after: they add the changes that are not folded yet themselves.
func (b *Buckets) Fold(ctx context.Context) (more bool, err error) {
	var sites []int64
	err = b.Store.Read(ctx, func(tx *db.Tx) (err error) {
		sites, err = SitesToFold(tx)
		return err
	})
	for _, site := range sites {
		if err != nil {
			return false, err
		}
		var full bool
		full, err = b.fold(ctx, site)
		more = more || full
	}
	return more, err
}

func (b *Buckets) fold(ctx context.Context, site int64) (more bool, err error) {
	folded, err := b.piece(ctx, deltasPerFold, func(tx *db.Tx, limit int) (int, error) {
		return FoldExposure(tx, site, limit)
	})
	if err != nil {
		return false, fmt.Errorf("site %d: %w", site, err)
	}
	return folded > 0, nil
}

// piece does one piece of the folding in one write. If the machine is too busy, the write runs out of its time, and the
// piece is tried again with a smaller size. A write that runs out of time can return many errors, so every error counts.
func (b *Buckets) piece(
	ctx context.Context, limit int, do func(tx *db.Tx, limit int) (int, error),
) (done int, err error) {
	for ; limit > 0; limit /= 8 {
		err = b.Store.Write(ctx, func(tx *db.Tx) (err error) {
			done, err = do(tx, limit)
			return err
		})
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	return done, err
}
