package claims

import (
	"database/sql"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/store"
)

// rowsAt reads the claims of an insolvency as they were at a time, from their histories, without amounts that depend on other claims.
func (m making) rowsAt(tx *store.Tx, knownAt time.Time, merchant string) (rows []BordereauRow, err error) {
	contract, err := merchants.ContractKnown(tx, m.SiteID, m.Failure().Day(), knownAt)
	if err != nil {
		return nil, err
	}
	year := contract.Year
	if year == 0 {
		year = int64(claim.Year(m.TriggerAt))
	}
	err = tx.Query(`SELECT c.id, c.allocation_id, c.transaction_id, c.source, c.case_id, c.currency, a.cover_from, l.last_day
		FROM claims c JOIN allocations a ON a.site_id = $1 AND a.id = c.allocation_id
		LEFT JOIN insolvency_lines l ON l.site_id = $1 AND l.insolvency_id = $2 AND l.allocation_id = c.allocation_id
		WHERE c.site_id = $1 AND c.insolvency_id = $2 ORDER BY c.id`, []any{m.SiteID, m.ID}, func(scan func(dest ...any) error) error {
		r := BordereauRow{
			SiteID: m.SiteID, InsolvencyID: m.ID, Merchant: merchant, Kind: m.Kind, Contract: contract, Year: year, Lost: m.Failure().Day(),
			Settlement: m.currency, Expiry: civil.NoDay,
		}
		var inception time.Time
		var expiry sql.NullInt64
		err := scan(&r.ClaimID, &r.AllocationID, &r.TransactionID, &r.Source, &r.CaseID, &r.Original, store.Stored{Instant: &inception}, &expiry)
		r.Inception = civil.DayOf(inception)
		if expiry.Valid {
			r.Expiry = civil.Day(expiry.Int64)
		}
		rows = append(rows, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	place := make(map[int64]int, len(rows))
	for i, r := range rows {
		place[r.ClaimID] = i
	}
	err = tx.Query(`SELECT e.claim_id, e.action, e.state, e.disputed, e.value, e.first_day, e.recorded_at FROM claims c
		JOIN claim_events e ON e.site_id = $1 AND e.claim_id = c.id
		WHERE c.site_id = $1 AND c.insolvency_id = $2 AND e.recorded_at <= $3 ORDER BY e.id`, []any{m.SiteID, m.ID, store.Micros(knownAt)},
		func(scan func(dest ...any) error) error {
			var id int64
			var h Happened
			err := scan(&id, &h.Action, &h.State, &h.Disputed, &h.Value, &h.FirstDay, store.Stored{Instant: &h.At})
			rows[place[id]].follow(h)
			return err
		})
	made := rows[:0]
	for _, r := range rows {
		if r.State != "" { // it was made later
			made = append(made, r)
		}
	}
	return made, err
}

// follow applies a step in the history of a claim.
func (r *BordereauRow) follow(h Happened) {
	if r.State == "" {
		r.Opened = civil.DayOf(h.At)
	}
	if r.State != h.State {
		r.since = h.At
	}
	r.Reopened = r.Reopened || h.Step() == "reopen"
	r.State, r.Claimed, r.value, r.first = h.State, h.Disputed, h.Value, h.FirstDay
}

// paymentsAt reads what payouts had paid for each claim of a site at a time, and before another.
func paymentsAt(tx *store.Tx, siteID int64, from, knownAt time.Time) (map[int64]paidAmount, error) {
	type payout struct{ planned, before, now bool }
	payouts := map[int64]payout{}
	err := tx.Query(`SELECT payout_id, state, recorded_at FROM payout_events WHERE site_id = $1 AND recorded_at <= $2 ORDER BY id`,
		[]any{siteID, store.Micros(knownAt)}, func(scan func(dest ...any) error) error {
			var id int64
			var state claim.PayoutState
			var at time.Time
			err := scan(&id, &state, store.Stored{Instant: &at})
			paid := state == claim.PayoutPaid
			payouts[id] = payout{planned: state.Counts(), before: paid && at.Before(from), now: paid}
			return err
		})
	if err != nil {
		return nil, err
	}
	amounts := map[int64]paidAmount{}
	err = tx.Query(`SELECT payout_id, claim_id, value FROM payout_lines WHERE site_id = $1 ORDER BY id`, []any{siteID},
		func(scan func(dest ...any) error) error {
			var payoutID, claimID, value int64
			err := scan(&payoutID, &claimID, &value)
			a, p := amounts[claimID], payouts[payoutID]
			for _, sum := range []struct {
				counts bool
				of     *int64
			}{{p.planned, &a.planned}, {p.before, &a.before}, {p.now, &a.now}} {
				if sum.counts {
					*sum.of += value
				}
			}
			amounts[claimID] = a
			return err
		})
	return amounts, err
}

const presentationColumns = `id, first_day, row_count, sha256, presented_by, presented_at`

// Presentations lists the presented months of a site, in the order in which they were presented.
func Presentations(tx *store.Tx, siteID int64) (list []Presentation, err error) {
	err = tx.Query(`SELECT `+presentationColumns+` FROM claim_bordereaux WHERE site_id = $1 ORDER BY id`, []any{siteID},
		func(scan func(dest ...any) error) error {
			p, err := scanPresentation(scan)
			list = append(list, p)
			return err
		})
	return list, err
}

func scanPresentation(scan func(dest ...any) error) (p Presentation, err error) {
	err = scan(&p.ID, &p.Month, &p.Rows, &p.SHA256, &p.By, store.Stored{Instant: &p.At})
	return p, err
}

// presentedIn reads the presentation of a month, nil if there is none.
func presentedIn(tx *store.Tx, siteID int64, month civil.Day) (found *Presentation, err error) {
	err = tx.Query(`SELECT `+presentationColumns+` FROM claim_bordereaux WHERE site_id = $1 AND first_day = $2`, []any{siteID, month},
		func(scan func(dest ...any) error) error {
			p, err := scanPresentation(scan)
			found = &p
			return err
		})
	return found, err
}

// insertPresentation stores a presented month and sets its id.
func insertPresentation(tx *store.Tx, actor access.Actor, p *Presentation) (err error) {
	p.At = tx.Now
	if p.ID, err = tx.NextID("claim_bordereaux", actor.SiteID); err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO claim_bordereaux (site_id, id, first_day, row_count, sha256, presented_by_id, presented_by, presented_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, actor.SiteID, p.ID, p.Month, p.Rows, p.SHA256, actor.UserID, actor.Username, store.Micros(tx.Now))
	return err
}

// hasContract reports whether a site has, or had, a contract with a reference.
func hasContract(tx *store.Tx, siteID int64, reference string) (found bool, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) > 0 FROM contracts WHERE site_id = $1 AND reference = $2`, []any{siteID, reference}, &found)
	return found, err
}
