package claims

import (
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const claimColumns = `site_id, id, insolvency_id, channel_id, allocation_id, transaction_id, booking_id, source, case_id, first_day, state,
	currency, disputed, loss, payable, represent, reason, policy_currency, value, paid, released, assessed_by_id, assessed_by, assessed,
	approved_by, version, created_at, modified_at`

func scanClaim(scan func(dest ...any) error) (Claim, error) {
	var c Claim
	var value sql.NullInt64
	var approved string
	err := scan(&c.SiteID, &c.ID, &c.InsolvencyID, &c.ChannelID, &c.AllocationID, &c.TransactionID, &c.BookingID, &c.Source, &c.CaseID,
		&c.FirstDay, &c.State, &c.Currency, &c.Disputed, &c.Loss, &c.Payable, &c.Represent, &c.Reason, &c.PolicyCurrency, &value, &c.Paid,
		&c.Released, &c.AssessedBy, &c.AssessedByName, &c.Assessed, &approved, &c.Version, store.Stored{Instant: &c.CreatedAt},
		store.Stored{Instant: &c.ModifiedAt})
	if err != nil {
		return c, err
	}
	c.Priced, c.Value = value.Valid, value.Int64
	return c, json.Unmarshal([]byte(approved), &c.ApprovedBy)
}

// approvedBy is the stored form of the approvers.
func (c Claim) approvedBy() string {
	text, _ := json.Marshal(append([]int64{}, c.ApprovedBy...)) // numbers always encode
	return string(text)
}

func (c Claim) value() sql.NullInt64 { return sql.NullInt64{Int64: c.Value, Valid: c.Priced} }

// insert stores a new claim and sets its id.
func insert(tx *store.Tx, c *Claim) (err error) {
	c.Version, c.CreatedAt, c.ModifiedAt = 1, tx.Now, tx.Now
	if c.ID, err = tx.NextID("claims", c.SiteID); err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO claims (site_id, id, insolvency_id, channel_id, allocation_id, transaction_id, booking_id, source, case_id,
			first_day, state, currency, disputed, loss, payable, represent, reason, policy_currency, value, paid, released, assessed_by_id,
			assessed_by, assessed, approved_by, version, created_at, modified_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, 0, FALSE, 0, '', 0, '[]', 1, $20, $20)`,
		c.SiteID, c.ID, c.InsolvencyID, c.ChannelID, c.AllocationID, c.TransactionID, c.BookingID, c.Source, c.CaseID, c.FirstDay, c.State,
		c.Currency, c.Disputed, c.Loss, c.Payable, c.Represent, c.Reason, c.PolicyCurrency, c.value(), store.Micros(tx.Now))
	return err
}

// save stores the fields of a claim that can change.
func save(tx *store.Tx, c *Claim) error {
	c.ModifiedAt = tx.Now
	if c.Review.AssessedBy == 0 && c.State != claim.StateAssessed && !c.Approved() {
		c.AssessedByName = ""
	}
	return tx.QueryRow(`UPDATE claims SET first_day = $3, state = $4, disputed = $5, loss = $6, payable = $7, represent = $8, reason = $9,
			value = $10, released = $11, assessed_by_id = $12, assessed_by = $13, assessed = $14, approved_by = $15, modified_at = $16,
			version = version + 1
		WHERE site_id = $1 AND id = $2 RETURNING version`, []any{c.SiteID, c.ID, c.FirstDay, c.State, c.Disputed, c.Loss, c.Payable, c.Represent,
		c.Reason, c.value(), c.Released, c.AssessedBy, c.AssessedByName, c.Assessed, c.approvedBy(), store.Micros(tx.Now)}, &c.Version)
}

func byID(tx *store.Tx, siteID, id int64) (Claim, error) {
	return scanClaim(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+claimColumns+` FROM claims WHERE site_id = $1 AND id = $2`, []any{siteID, id}, dest...)
	})
}

// where adds the conditions of the filter to w.
func (f Filter) where(w *sqltext.Where, siteID int64) {
	w.And("site_id = ?", siteID)
	sqltext.In(w, "state", f.States)
	sqltext.In(w, "insolvency_id", f.Insolvencies)
	sqltext.In(w, "channel_id", f.Channels)
	sqltext.In(w, "reason", f.Reasons)
	if f.ToRepresent {
		w.And(`represent > 0 AND state <> 'withdrawn' AND EXISTS (SELECT 1 FROM disputes d WHERE d.site_id = $1 AND d.source = claims.source
			AND d.case_id = claims.case_id AND d.status = 'open') AND ` + inForce)
	}
}

// sums adds up the claims that a filter selects, by currency.
func sums(tx *store.Tx, siteID int64, f Filter) (list []Sums, err error) {
	var w sqltext.Where
	f.where(&w, siteID)
	err = tx.Query(`SELECT currency, COUNT(*), CAST(SUM(disputed) AS BIGINT), CAST(SUM(payable) AS BIGINT), CAST(SUM(represent) AS BIGINT)
		FROM claims WHERE `+w.Text.String()+` GROUP BY currency ORDER BY currency`, w.Args, func(scan func(dest ...any) error) error {
		var s Sums
		err := scan(&s.Currency, &s.Claims, &s.Disputed, &s.Payable, &s.Represent)
		list = append(list, s)
		return err
	})
	return list, err
}

func claimsPage(tx *store.Tx, siteID int64, f Filter, page store.Page) (store.List[Claim], error) {
	var w sqltext.Where
	f.where(&w, siteID)
	return store.ListPage(tx, "claims", claimColumns, &w, page, store.Orders{"modified": "modified_at", "payable": "payable"}, scanClaim)
}

// claimsOf reads the claims of allocations, by their ids.
func claimsOf(tx *store.Tx, siteID, insolvencyID int64, allocations []int64) (map[int64][]Claim, error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	w.And("insolvency_id = ?", insolvencyID)
	sqltext.In(&w, "allocation_id", allocations)
	found := map[int64][]Claim{}
	err := tx.Query(`SELECT `+claimColumns+` FROM claims WHERE `+w.Text.String(), w.Args, func(scan func(dest ...any) error) error {
		c, err := scanClaim(scan)
		found[c.AllocationID] = append(found[c.AllocationID], c)
		return err
	})
	return found, err
}

// refundsOf adds up the refunds of bookings on record, whenever they were made.
func refundsOf(tx *store.Tx, siteID int64, bookings []int64) (map[int64]int64, error) {
	refunded := map[int64]int64{}
	if len(bookings) == 0 {
		return refunded, nil
	}
	var w sqltext.Where
	w.And("a.site_id = ?", siteID)
	sqltext.In(&w, "a.booking_id", bookings)
	err := tx.Query(`SELECT a.booking_id, CAST(SUM(e.amount) AS BIGINT) FROM allocations a
		JOIN allocation_events e ON e.site_id = $1 AND e.allocation_id = a.id AND e.kind = 'refund'
		WHERE `+w.Text.String()+` GROUP BY a.booking_id`, w.Args, func(scan func(dest ...any) error) error {
		var id, total int64
		err := scan(&id, &total)
		refunded[id] = total
		return err
	})
	return refunded, err
}

// inForce is the condition that the insolvency of a claim was not withdrawn.
const inForce = `NOT EXISTS (SELECT 1 FROM insolvencies i WHERE i.site_id = $1 AND i.id = claims.insolvency_id AND i.state = 'withdrawn')`

// ofDispute reads the claims made from a dispute, without what complete adds.
func ofDispute(tx *store.Tx, siteID int64, source, caseID string) (list []Claim, err error) {
	err = tx.Query(`SELECT `+claimColumns+` FROM claims WHERE site_id = $1 AND source = $2 AND case_id = $3 AND `+inForce+` ORDER BY id`,
		[]any{siteID, source, caseID}, func(scan func(dest ...any) error) error {
			c, err := scanClaim(scan)
			list = append(list, c)
			return err
		})
	return list, err
}

// owedOf reads the amounts from which the cover of the claims of an insolvency is computed, in the order of the claims.
func owedOf(tx *store.Tx, siteID, insolvencyID int64) (of insolvencyClaims, err error) {
	err = tx.Query(`SELECT id, COALESCE(value, 0), paid FROM claims WHERE site_id = $1 AND insolvency_id = $2
		ORDER BY first_day, source, case_id, id`, []any{siteID, insolvencyID}, func(scan func(dest ...any) error) error {
		var id int64
		var o claim.Owed
		err := scan(&id, &o.Payable, &o.Paid)
		of.ids, of.owed = append(of.ids, id), append(of.owed, o)
		return err
	})
	return of, err
}

// totalsOf adds up the claims of each insolvency of a site.
func totalsOf(tx *store.Tx, siteID int64) (map[int64]claim.Owed, error) {
	totals := map[int64]claim.Owed{}
	err := tx.Query(`SELECT insolvency_id, CAST(COALESCE(SUM(value), 0) AS BIGINT), CAST(SUM(paid) AS BIGINT) FROM claims
		WHERE site_id = $1 GROUP BY insolvency_id`, []any{siteID}, func(scan func(dest ...any) error) error {
		var id int64
		var total claim.Owed
		err := scan(&id, &total.Payable, &total.Paid)
		totals[id] = total
		return err
	})
	return totals, err
}

// otherProtections reads the other protection of the travellers of allocations.
func otherProtections(tx *store.Tx, siteID int64, allocations []int64) (map[int64]string, error) {
	var w sqltext.Where
	w.And("a.site_id = ?", siteID)
	sqltext.In(&w, "a.id", allocations)
	found := map[int64]string{}
	err := tx.Query(`SELECT a.id, COALESCE(NULLIF(b.other_protection, ''), c.other_protection) FROM allocations a
		JOIN bookings b ON b.site_id = a.site_id AND b.id = a.booking_id
		JOIN channels c ON c.site_id = a.site_id AND c.id = a.channel_id WHERE `+w.Text.String(), w.Args,
		func(scan func(dest ...any) error) error {
			var id int64
			var protection string
			err := scan(&id, &protection)
			found[id] = protection
			return err
		})
	return found, err
}

// sitesWithWork lists the sites with an insolvency that has a snapshot, with their clocks.
const sitesWithWork = `SELECT id, clock_ahead FROM sites
	WHERE id IN (SELECT site_id FROM insolvencies WHERE state IN ('open', 'claims_closed')) AND created_at <= $1 ORDER BY id`

// work is an insolvency whose claims are made, and up to which event of the site's allocations they are.
type work struct {
	siteID, insolvencyID, channelID, eventsTo int64
}

// priced reads allocations with claims that waited for a rate, and wait no more.
func priced(tx *store.Tx, siteID, insolvencyID int64, limit int) ([]int64, error) {
	return store.Ids(tx, `SELECT DISTINCT c.allocation_id FROM claims c JOIN allocations a ON a.site_id = c.site_id AND a.id = c.allocation_id
		WHERE c.site_id = $1 AND c.insolvency_id = $2 AND c.value IS NULL AND a.priced_at IS NOT NULL ORDER BY 1 LIMIT $3`,
		siteID, insolvencyID, limit)
}

// activeInsolvencies reads the insolvencies of a site whose claims are made.
func activeInsolvencies(tx *store.Tx, siteID int64) (list []work, err error) {
	err = tx.Query(`SELECT i.id, i.channel_id, COALESCE(m.events_to, 0) FROM insolvencies i
		LEFT JOIN claim_marks m ON m.site_id = $1 AND m.insolvency_id = i.id
		WHERE i.site_id = $1 AND i.state IN ('open', 'claims_closed') ORDER BY i.id`, []any{siteID}, func(scan func(dest ...any) error) error {
		w := work{siteID: siteID}
		err := scan(&w.insolvencyID, &w.channelID, &w.eventsTo)
		list = append(list, w)
		return err
	})
	return list, err
}

// finalTo is the last event behind the mark before which no other can still appear: all up to it were recorded ten seconds ago. It
// looks at a bounded number of events.
func (w work) finalTo(tx *store.Tx) (to int64, err error) {
	var recent int64 // the first event that is not old enough
	err = tx.QueryRow(`SELECT COALESCE(MAX(id), 0), COALESCE(MIN(CASE WHEN recorded_at > $4 THEN id END), 0) FROM allocation_events
		WHERE site_id = $1 AND id > $2 AND id <= $3`,
		[]any{w.siteID, w.eventsTo, w.eventsTo + idsAtOnce, store.Micros(tx.Now.Add(-store.FinalAfter))}, &to, &recent)
	if err != nil {
		return 0, err
	}
	if to == 0 { // ids may have a gap
		err = tx.QueryRow(`SELECT COALESCE(MIN(id) - 1, 0) FROM allocation_events WHERE site_id = $1 AND id > $2`, []any{w.siteID, w.eventsTo}, &to)
	}
	if recent > 0 {
		to = recent - 1
	}
	return to, err
}

// changed reads the allocations of the channel with events behind the mark, up to an event. last is the event it has read to: it stops
// after a number of them.
func (w work) changed(tx *store.Tx, to int64) (allocations []int64, last int64, err error) {
	seen := map[int64]bool{}
	n := 0
	err = tx.Query(`SELECT e.id, e.allocation_id FROM allocation_events e
		JOIN allocations a ON a.site_id = $1 AND a.id = e.allocation_id
		WHERE e.site_id = $1 AND a.channel_id = $2 AND e.id > $3 AND e.id <= $4 ORDER BY e.id LIMIT $5`,
		[]any{w.siteID, w.channelID, w.eventsTo, to, eventsAtOnce}, func(scan func(dest ...any) error) error {
			var id int64
			n++
			err := scan(&last, &id)
			if !seen[id] {
				seen[id] = true
				allocations = append(allocations, id)
			}
			return err
		})
	if n < eventsAtOnce {
		last = to
	}
	return allocations, last, err
}

func saveMark(tx *store.Tx, siteID, insolvencyID, last int64) error {
	_, err := tx.Exec(`INSERT INTO claim_marks (site_id, insolvency_id, events_to) VALUES ($1, $2, $3)
		ON CONFLICT (site_id, insolvency_id) DO UPDATE SET events_to = excluded.events_to`, siteID, insolvencyID, last)
	return err
}

// Happened is one step in the history of a claim.
type Happened struct {
	ID       int64
	Action   string
	State    claim.State // after it
	Disputed int64       // after it, as the next three
	Payable  int64
	Value    int64
	FirstDay civil.Day
	ByID     int64
	By       string
	Reason   string
	At       time.Time
}

// Step is the action without the word claim, such as approve.
func (h Happened) Step() string { return strings.TrimPrefix(h.Action, "claim.") }

func insertEvent(tx *store.Tx, actor access.Actor, c Claim, action, reason string) error {
	id, err := tx.NextID("claim_events", c.SiteID)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO claim_events (site_id, id, claim_id, action, state, disputed, payable, value, first_day, by_id, by_name, reason,
			recorded_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`, c.SiteID, id, c.ID, action, c.State, c.Disputed, c.Payable,
		c.Value, c.FirstDay, actor.UserID, actor.Username, reason, store.Micros(tx.Now))
	return err
}

func historyOf(tx *store.Tx, siteID, claimID int64) (list []Happened, err error) {
	err = tx.Query(`SELECT id, action, state, disputed, payable, value, first_day, by_id, by_name, reason, recorded_at FROM claim_events
		WHERE site_id = $1 AND claim_id = $2 ORDER BY id`, []any{siteID, claimID}, func(scan func(dest ...any) error) error {
		var h Happened
		err := scan(&h.ID, &h.Action, &h.State, &h.Disputed, &h.Payable, &h.Value, &h.FirstDay, &h.ByID, &h.By, &h.Reason,
			store.Stored{Instant: &h.At})
		list = append(list, h)
		return err
	})
	return list, err
}
