package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"holdfast/internal/store"
)

// change reads, changes and stores a charge, in a write of its own: to the rest of the service this is another company's
// database. fn gets an empty entry for a new charge, and may run more than once. Changes of one charge wait for each other.
func (g *Gateway) change(ctx context.Context, of key, fn func(e *entry) error) error {
	return g.db.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		var text string
		err := tx.QueryRow(`INSERT INTO sandbox_charges (account, reference, version, entry) VALUES ($1, $2, 1, '')
			ON CONFLICT (account, reference) DO UPDATE SET version = sandbox_charges.version + 1
			RETURNING entry`, []any{of.account, of.reference}, &text)
		if err != nil {
			return err
		}
		e := entry{Reference: of.reference}
		if text != "" {
			if err := json.Unmarshal([]byte(text), &e); err != nil {
				return fmt.Errorf("the sandbox ledger cannot be read: %w", err)
			}
		}
		if err := fn(&e); err != nil {
			return err
		}
		changed, err := json.Marshal(e)
		if err != nil {
			return err
		}
		opened, won := e.disputeDays()
		_, err = tx.Exec(`UPDATE sandbox_charges SET entry = $3, dispute_at = $4, resolved_at = $5
			WHERE account = $1 AND reference = $2`,
			of.account, of.reference, string(changed), store.MaybeMicros(opened), store.MaybeMicros(won))
		return err
	})
}

// happening is a dispute that is opened or won.
type happening struct {
	reference string
	at        time.Time
}

// disputesBetween lists the disputes of an account that are opened or won after one instant and up to another one, in order
// of time, at most limit.
func (g *Gateway) disputesBetween(ctx context.Context, account string, after, upTo time.Time, limit int) (list []happening, err error) {
	err = g.db.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		list = nil
		return tx.Query(`SELECT reference, dispute_at AS at FROM sandbox_charges
				WHERE account = $1 AND dispute_at > $2 AND dispute_at <= $3
			UNION ALL SELECT reference, resolved_at AS at FROM sandbox_charges
				WHERE account = $1 AND resolved_at > $2 AND resolved_at <= $3
			ORDER BY at, reference LIMIT $4`, []any{account, store.Micros(after), store.Micros(upTo), limit},
			func(scan func(dest ...any) error) error {
				var h happening
				var at int64
				if err := scan(&h.reference, &at); err != nil {
					return err
				}
				h.at = store.Instant(at)
				list = append(list, h)
				return nil
			})
	})
	return list, err
}
