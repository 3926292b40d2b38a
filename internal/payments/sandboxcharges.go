package payments

import (
	"context"
	"time"

	"holdfast/internal/db"
)

// SandboxCharges is what the sandbox processor remembers of its charges.
type SandboxCharges struct{ DB *db.DB }

// Change gives fn what the sandbox processor remembers of a charge, empty where it has none, and stores what
// fn answers, durably; the two instants are when the charge is disputed and when that is resolved. Changes of one charge
// take turns. Like every write's, fn may run more than once.
func (c SandboxCharges) Change(
	ctx context.Context, account, reference string,
	fn func(entry []byte) (changed []byte, disputeAt, resolvedAt time.Time, err error),
) error {
	return c.DB.Write(ctx, func(tx *db.Tx) error {
		var entry string
		err := tx.Row(`INSERT INTO sandbox_charges (account, reference, version, entry) VALUES ($1, $2, 1, '')
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
			account, reference, string(changed), db.MaybeMicros(disputeAt), db.MaybeMicros(resolvedAt))
		return err
	})
}

// Due calls each for what happens by itself to the sandbox processor's charges of an account after one instant
// and not after another, in order of time, at most limit times.
func (c SandboxCharges) Due(
	ctx context.Context, account string, after, upTo time.Time, limit int, each func(reference string, at time.Time),
) error {
	return c.DB.Read(ctx, func(tx *db.Tx) error {
		return tx.Each(`SELECT reference, dispute_at AS at FROM sandbox_charges
				WHERE account = $1 AND dispute_at > $2 AND dispute_at <= $3
			UNION ALL SELECT reference, resolved_at AS at FROM sandbox_charges
				WHERE account = $1 AND resolved_at > $2 AND resolved_at <= $3
			ORDER BY at, reference LIMIT $4`, []any{account, db.Micros(after), db.Micros(upTo), limit},
			func(scan func(dest ...any) error) error {
				var reference string
				var at int64
				if err := scan(&reference, &at); err != nil {
					return err
				}
				each(reference, db.Instant(at))
				return nil
			})
	})
}
