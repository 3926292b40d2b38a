package claims

import (
	"errors"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/money"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const payoutColumns = `site_id, id, number, channel_id, state, policy_currency, value, currency, amount, from_rate, to_rate, beneficiary,
	planned_at, signed_by, settled_by, bank_reference, failure, version, modified_at`

func scanPayout(scan func(dest ...any) error) (Payout, error) {
	var p Payout
	var from, to string
	err := scan(&p.SiteID, &p.ID, &p.Number, &p.ChannelID, &p.State, &p.PolicyCurrency, &p.Value, &p.Quote.To, &p.Amount, &from, &to,
		&p.Beneficiary, store.Stored{Instant: &p.PlannedAt}, &p.SignedBy, &p.SettledBy, &p.BankReference, &p.Failure, &p.Version,
		store.Stored{Instant: &p.ModifiedAt})
	p.Quote.From = p.PolicyCurrency
	if err != nil || from == "" {
		return p, err
	}
	p.Quote.FromLeg.Currency, p.Quote.ToLeg.Currency = p.Quote.From, p.Quote.To
	var err2 error
	p.Quote.FromLeg.Rate, err = money.ParseRate(from)
	p.Quote.ToLeg.Rate, err2 = money.ParseRate(to)
	return p, errors.Join(err, err2)
}

// lockClaims lets one write at a time change claims and payouts of a site: the job must not overwrite a review.
func lockClaims(tx *store.Tx, siteID int64) error { return sites.Lock(tx, siteID) }

// insertPayout stores a planned payout under the next number of the site, and sets its id. The payouts of the site are locked.
func insertPayout(tx *store.Tx, p *Payout) error {
	p.Version, p.ModifiedAt = 1, tx.Now
	err := tx.QueryRow(`SELECT COALESCE(MAX(number), 0) + 1 FROM payouts WHERE site_id = $1`, []any{p.SiteID}, &p.Number)
	if err != nil {
		return err
	}
	if p.ID, err = tx.NextID("payouts", p.SiteID); err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO payouts (site_id, id, number, channel_id, state, policy_currency, value, currency, amount, from_rate, to_rate,
			beneficiary, planned_at, signed_by, settled_by, bank_reference, failure, version, modified_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, '', '', '', '', 1, $13)`,
		p.SiteID, p.ID, p.Number, p.ChannelID, p.State, p.PolicyCurrency, p.Value, p.Quote.To, p.Amount, p.Quote.FromLeg.Rate.String(),
		p.Quote.ToLeg.Rate.String(), p.Beneficiary, store.Micros(tx.Now))
	return err
}

func savePayout(tx *store.Tx, p *Payout) error {
	p.ModifiedAt = tx.Now
	return tx.QueryRow(`UPDATE payouts SET state = $3, signed_by = $4, settled_by = $5, bank_reference = $6, failure = $7, modified_at = $8,
			version = version + 1
		WHERE site_id = $1 AND id = $2 RETURNING version`, []any{p.SiteID, p.ID, p.State, p.SignedBy, p.SettledBy, p.BankReference, p.Failure,
		store.Micros(tx.Now)}, &p.Version)
}

// insertPayoutEvent appends to the history of a payout. Its rows are facts: they never change, and are sealed.
func insertPayoutEvent(tx *store.Tx, actor access.Actor, p Payout, action string) error {
	id, err := tx.NextID("payout_events", p.SiteID)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO payout_events (site_id, id, payout_id, action, state, by_id, by_name, note, recorded_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, p.SiteID, id, p.ID, action, p.State, actor.UserID, actor.Username,
		p.BankReference+p.Failure, store.Micros(tx.Now))
	return err
}

// insertPayoutLines stores the lines of a payout.
func insertPayoutLines(tx *store.Tx, p Payout, lines []PayoutLine) error {
	ids, err := tx.NextIDs("payout_lines", p.SiteID, len(lines))
	if err != nil {
		return err
	}
	for i, l := range lines {
		tx.Insert("payout_lines", "site_id, id, payout_id, claim_id, value", []any{p.SiteID, ids[i], p.ID, l.ClaimID, l.Value})
	}
	return nil
}

// addPaid counts the lines of a payout as paid: sign is 1, or -1 to undo it for a payout that has failed.
func addPaid(tx *store.Tx, p Payout, sign int64) error {
	_, err := tx.Exec(`UPDATE claims SET paid = paid + $3 * l.value FROM payout_lines l
		WHERE claims.site_id = $1 AND l.site_id = $1 AND l.payout_id = $2 AND l.claim_id = claims.id`, p.SiteID, p.ID, sign)
	return err
}

// PayoutByID reads a payout. The error is store.ErrNotFound if there is none.
func PayoutByID(tx *store.Tx, siteID, id int64) (Payout, error) {
	return scanPayout(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+payoutColumns+` FROM payouts WHERE site_id = $1 AND id = $2`, []any{siteID, id}, dest...)
	})
}

// Planned returns the first payout of a site that waits for a signature, or 0, and how many there are.
func Planned(tx *store.Tx, siteID int64) (first, count int64, err error) {
	err = tx.QueryRow(`SELECT COALESCE(MIN(id), 0), COUNT(*) FROM payouts WHERE site_id = $1 AND state = 'planned'`, []any{siteID}, &first, &count)
	return first, count, err
}

func payoutsPage(tx *store.Tx, siteID int64, f PayoutFilter, page store.Page) (store.List[Payout], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "state", f.States)
	sqltext.In(&w, "channel_id", f.Channels)
	sqltext.In(&w, "currency", f.Currencies)
	return store.ListPage(tx, "payouts", payoutColumns, &w, page, store.Orders{"modified": "modified_at", "number": "number"}, scanPayout)
}

func linesOfPayout(tx *store.Tx, siteID, payoutID int64) (list []PayoutLine, err error) {
	err = tx.Query(`SELECT claim_id, value FROM payout_lines WHERE site_id = $1 AND payout_id = $2 ORDER BY id`, []any{siteID, payoutID},
		func(scan func(dest ...any) error) error {
			var l PayoutLine
			err := scan(&l.ClaimID, &l.Value)
			list = append(list, l)
			return err
		})
	return list, err
}

// paidClaims reads the first lines of a payout with their claims, and how many more there are.
func paidClaims(tx *store.Tx, siteID, payoutID int64, most int) (list []PaidClaim, more int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM payout_lines WHERE site_id = $1 AND payout_id = $2`, []any{siteID, payoutID}, &more)
	if err != nil {
		return nil, 0, err
	}
	err = tx.Query(`SELECT l.claim_id, l.value, c.booking_id, c.source, c.case_id FROM payout_lines l
		JOIN claims c ON c.site_id = $1 AND c.id = l.claim_id
		WHERE l.site_id = $1 AND l.payout_id = $2 ORDER BY l.id LIMIT $3`, []any{siteID, payoutID, most},
		func(scan func(dest ...any) error) error {
			var p PaidClaim
			err := scan(&p.ClaimID, &p.Value, &p.BookingID, &p.Source, &p.CaseID)
			list = append(list, p)
			return err
		})
	return list, more - int64(len(list)), err
}

// approvedOf finds the claims of an insolvency that may be paid.
func approvedOf(tx *store.Tx, siteID, insolvencyID int64) (map[int64]bool, error) {
	ids, err := store.Ids(tx, `SELECT id FROM claims WHERE site_id = $1 AND insolvency_id = $2 AND state IN ('approved', 'paid')`,
		siteID, insolvencyID)
	approved := make(map[int64]bool, len(ids))
	for _, id := range ids {
		approved[id] = true
	}
	return approved, err
}

// claimsOfPayout reads the claims that a payout pays, by their ids.
func claimsOfPayout(tx *store.Tx, p Payout) (list []Claim, err error) {
	err = tx.Query(`SELECT `+claimColumns+` FROM claims
		WHERE site_id = $1 AND id IN (SELECT claim_id FROM payout_lines WHERE site_id = $1 AND payout_id = $2) ORDER BY id`,
		[]any{p.SiteID, p.ID}, func(scan func(dest ...any) error) error {
			c, err := scanClaim(scan)
			list = append(list, c)
			return err
		})
	return list, err
}

// insolvenciesToPay lists the insolvencies of a site that are not closed and have approved claims. The cover of paid claims can rise.
func insolvenciesToPay(tx *store.Tx, siteID int64) ([]int64, error) {
	return store.Ids(tx, `SELECT DISTINCT c.insolvency_id FROM claims c JOIN insolvencies i ON i.site_id = $1 AND i.id = c.insolvency_id
		WHERE c.site_id = $1 AND c.state IN ('approved', 'paid') AND i.state IN ('open', 'claims_closed') ORDER BY c.insolvency_id`, siteID)
}
