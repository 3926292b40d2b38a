package pspevents

import (
	"context"
	"time"

	"holdfast/internal/store"
)

// SandboxCharges stores the charges of the sandbox processor. It is the memory behind psp/sandbox.
type SandboxCharges struct{ DB *store.DB }

// Change gives fn the stored entry of a charge, or an empty one, and stores the entry that fn returns. The two instants
// are when the charge is disputed and when the dispute is resolved; zero for never. Changes of one charge wait for each
// other. fn may run more than once, as in every write.
func (c SandboxCharges) Change(
	ctx context.Context, account, reference string,
	fn func(entry []byte) (changed []byte, disputeAt, resolvedAt time.Time, err error),
) error {
	return c.DB.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		var entry string
		err := tx.QueryRow(`INSERT INTO sandbox_charges (account, reference, version, entry) VALUES ($1, $2, 1, '')
			ON CONFLICT (account, reference) DO UPDATE SET version = sandbox_charges.version + 1
			RETURNING entry`, []any{account, reference}, &entry)
		if err != nil {
			return err
		}
		changed, disputeAt, resolvedAt, err := fn([]byte(entry))
		if err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE sandbox_charges SET entry = $3, dispute_at = $4, resolved_at = $5
			WHERE account = $1 AND reference = $2`,
			account, reference, string(changed), store.MaybeMicros(disputeAt), store.MaybeMicros(resolvedAt))
		return err
	})
}

// Due calls each for the disputes and resolutions of an account's charges that happen after one instant and up to another
// one, in order of time, at most limit times.
func (c SandboxCharges) Due(
	ctx context.Context, account string, after, upTo time.Time, limit int, each func(reference string, at time.Time),
) error {
	return c.DB.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		return tx.Query(`SELECT reference, dispute_at AS at FROM sandbox_charges
				WHERE account = $1 AND dispute_at > $2 AND dispute_at <= $3
			UNION ALL SELECT reference, resolved_at AS at FROM sandbox_charges
				WHERE account = $1 AND resolved_at > $2 AND resolved_at <= $3
			ORDER BY at, reference LIMIT $4`, []any{account, store.Micros(after), store.Micros(upTo), limit},
			func(scan func(dest ...any) error) error {
				var reference string
				var at int64
				if err := scan(&reference, &at); err != nil {
					return err
				}
				each(reference, store.Instant(at))
				return nil
			})
	})
}
