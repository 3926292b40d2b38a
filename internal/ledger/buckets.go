package ledger

import (
	"context"
	"fmt"

	"holdfast/internal/core"
	"holdfast/internal/db"
)

// Buckets keeps the cubes that reports of exposure read.
type Buckets struct{ *core.Core }

// deltasPerFold bounds one write of the folding: it lives at most five seconds, and others wait behind it.
const deltasPerFold = 20_000

// Fold takes what was logged since the last time into the cubes that reports read, a bounded piece for each site; more
// says that there is some left. Reports are exact before and after: they add what is not folded yet.
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

// piece does a piece of the folding in one write, and a smaller one where the machine is too busy to do it in the time
// that a write has. What is cut off then fails in many ways, so a smaller piece is tried after every failurb.
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
