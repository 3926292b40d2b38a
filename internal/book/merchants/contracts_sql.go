package merchants

import (
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
)

const contractColumns = `id, from_day, reference, year_of_account, commission_ppm, recorded_at, recorded_by`

func scanContract(scan func(dest ...any) error) (c terms.Contract, err error) {
	var recorded int64
	err = scan(&c.ID, &c.FromDay, &c.Reference, &c.Year, &c.CommissionPPM, &recorded, &c.RecordedBy)
	c.RecordedAt = store.Instant(recorded)
	return c, err
}

// ContractKnown reads the contract of a site that is in force on a day, as known at an instant. Without one its ID is 0.
func ContractKnown(tx *store.Tx, siteID int64, day civil.Day, knownAt time.Time) (terms.Contract, error) {
	found, err := scanContract(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+contractColumns+` FROM contracts WHERE site_id = $1 AND from_day <= $2 AND recorded_at <= $3
			ORDER BY from_day DESC, recorded_at DESC, id DESC LIMIT 1`, []any{siteID, day, store.Micros(knownAt)}, dest...)
	})
	return found, noContract(err)
}

func contractsOf(tx *store.Tx, siteID int64) (list []terms.Contract, err error) {
	err = tx.Query(`SELECT `+contractColumns+` FROM contracts WHERE site_id = $1 ORDER BY from_day DESC, recorded_at DESC, id DESC LIMIT $2`,
		[]any{siteID, maxContracts}, func(scan func(dest ...any) error) error {
			c, err := scanContract(scan)
			list = append(list, c)
			return err
		})
	return list, err
}

func insertContract(tx *store.Tx, siteID int64, c terms.Contract) (terms.Contract, error) {
	var err error
	if c.ID, err = tx.NextID("contracts", siteID); err != nil {
		return c, err
	}
	_, err = tx.Exec(`INSERT INTO contracts (site_id, id, from_day, reference, year_of_account, commission_ppm, recorded_at, recorded_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		siteID, c.ID, c.FromDay, c.Reference, c.Year, c.CommissionPPM, store.Micros(c.RecordedAt), c.RecordedBy)
	return c, err
}
