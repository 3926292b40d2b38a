package ledger

import (
	"database/sql"

	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// premiumColumns are the columns of a line of the premium ledger, in the order in which scanPremium reads them. The line
// of the rate card is read with them: a rate card never changes.
const premiumColumns = `site_id, id, allocation_id, channel_id, booking_id, transaction_id, kind, cause, recorded_at,
	effective_at, currency, amount, retained, state_amount, state_value, lead_days, ppm, premium, minimum_applied,
	policy_id, rate_card, simulated,
	(SELECT c.lead_from FROM rate_card_lines c WHERE c.site_id = $1 AND c.id = rate_card),
	(SELECT c.lead_to FROM rate_card_lines c WHERE c.site_id = $1 AND c.id = rate_card),
	(SELECT c.channel_id FROM rate_card_lines c WHERE c.site_id = $1 AND c.id = rate_card),
	COALESCE((SELECT a.currency FROM allocations a WHERE a.site_id = $1 AND a.id = allocation_id), '')`

func scanPremium(scan func(dest ...any) error) (protection.PremiumLine, error) {
	var l protection.PremiumLine
	var recorded, effective int64
	var band, from, to, of sql.NullInt64
	s := &l.State
	err := scan(&l.SiteID, &l.ID, &l.AllocationID, &l.ChannelID, &l.BookingID, &l.TransactionID, &l.Kind, &l.Cause,
		&recorded, &effective, &l.Currency, &l.Amount, &l.Retained, &s.Amount, &s.Value, &s.Lead, &s.Line.PPM, &s.Premium,
		&s.Minimum, &l.PolicyID, &band, &l.Simulated, &from, &to, &of, &l.BaseCurrency)
	l.RecordedAt, l.EffectiveAt = store.Instant(recorded), store.Instant(effective)
	if band.Valid {
		s.Line.ID, s.Line.From, s.Line.To, s.Line.ChannelID = band.Int64, from.Int64, terms.NoEnd, of.Int64
		if to.Valid {
			s.Line.To = to.Int64
		}
	}
	return l, err
}

func premiumOf(tx *store.Tx, siteID, allocationID int64) ([]protection.PremiumLine, error) {
	var list []protection.PremiumLine
	err := tx.Query(`SELECT `+premiumColumns+` FROM premium_lines
		WHERE site_id = $1 AND allocation_id = $2 ORDER BY id`, []any{siteID, allocationID},
		func(scan func(dest ...any) error) error {
			l, err := scanPremium(scan)
			list = append(list, l)
			return err
		})
	return list, err
}

// PremiumOfEach reads the premium lines of several allocations, by the ids of the allocations. Each list is in the order
// in which the lines were booked.
func PremiumOfEach(tx *store.Tx, siteID int64, allocations []int64) (map[int64][]protection.PremiumLine, error) {
	lines := map[int64][]protection.PremiumLine{}
	if len(allocations) == 0 {
		return lines, nil
	}
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "allocation_id", allocations)
	err := tx.Query(`SELECT `+premiumColumns+` FROM premium_lines WHERE `+w.Text.String()+` ORDER BY allocation_id, id`, w.Args,
		func(scan func(dest ...any) error) error {
			l, err := scanPremium(scan)
			lines[l.AllocationID] = append(lines[l.AllocationID], l)
			return err
		})
	return lines, err
}

// premiumsPage reads one page of the premium ledger of a site.
func premiumsPage(tx *store.Tx, siteID int64, f protection.PremiumFilter, page store.Page) (store.List[protection.PremiumLine], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "channel_id", f.Channels)
	sqltext.In(&w, "transaction_id", f.Transactions)
	sqltext.In(&w, "booking_id", f.Bookings)
	sqltext.In(&w, "allocation_id", f.Payments)
	sqltext.In(&w, "kind", f.Kinds)
	sqltext.In(&w, "cause", f.Causes)
	store.Within(&w, "recorded_at", f.Recorded)
	orders := store.Orders{"modified": "recorded_at", "recorded_at": "recorded_at", "effective_at": "effective_at", "amount": "amount"}
	return store.ListPage(tx, "premium_lines", premiumColumns, &w, page, orders, scanPremium)
}

// allocationsWithPremium reads allocations of a site that have a premium: those with ids greater than after, in order of
// their ids, at most limit of them.
func allocationsWithPremium(tx *store.Tx, siteID, after int64, limit int) ([]protection.Allocation, error) {
	return allocations(tx, `WHERE a.site_id = $1 AND a.id > $2 AND a.protected AND a.priced_at IS NOT NULL
		ORDER BY a.id LIMIT $3`, siteID, after, limit)
}
