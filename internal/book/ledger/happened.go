package ledger

import (
	"context"
	"fmt"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// An allocation that is protected ends with its last day of dispute (R5), which moves with the booking. The row keeps
// the day and whether the end was published, so that each end is published once: in the write that comes late, or by
// Ends.Record.

// recordAllocated records a new allocation. One that is logged after its last day has ended immediately.
func recordAllocated(tx *store.Tx, a protection.Allocation, t protection.Terms) {
	events.Record(tx, a.SiteID, event.ProtectionAllocated, a.ID, event.Details{
		Protected: event.YesOrNo(a.Decision.Protected), Reason: string(a.Decision.Reason), Amount: a.Amount,
		Currency: string(a.Currency), LastDay: t.LastDay.String(),
	})
	if a.Decision.Protected && over(tx, t.LastDay) {
		recordEnded(tx, a.SiteID, a.ID, t.LastDay)
	}
}

// over reports whether a day is past.
func over(tx *store.Tx, day civil.Day) bool { return day < civil.DayOf(tx.Now) }

// closed reports whether an allocation can be in no report from today on: its last day of dispute is over, and so is
// the trip, for which more may be payable (E4 of R7). The last day comes first if its scheme caps it.
func closed(tx *store.Tx, t protection.Terms) bool { return over(tx, t.LastDay) && over(tx, t.End) }

func recordEnded(tx *store.Tx, siteID, id int64, last civil.Day) {
	events.Record(tx, siteID, event.ProtectionEnded, id, event.Details{LastDay: last.String()})
}

// recordChanged records that an adjustment has changed an allocation, by an amount in its currency.
func recordChanged(tx *store.Tx, a protection.Allocation, d event.Details) {
	d.Currency = string(a.Currency)
	events.Record(tx, a.SiteID, event.ProtectionChanged, a.ID, d)
}

// recordPriced records the value of an allocation that has waited for a rate.
func recordPriced(tx *store.Tx, a protection.Allocation) {
	events.Record(tx, a.SiteID, event.ProtectionPriced, a.ID, event.Details{
		Amount: a.Value, Currency: string(a.PolicyCurrency),
	})
}

// recordTerms records new terms of a locked allocation. They may end it, or let it go on after its end.
func recordTerms(tx *store.Tx, a protection.Allocation, t protection.Terms) error {
	events.Record(tx, a.SiteID, event.ProtectionChanged, a.ID, event.Details{Cause: "terms", LastDay: t.LastDay.String()})
	var recorded bool
	err := tx.QueryRow(`SELECT ended FROM allocations WHERE site_id = $1 AND id = $2`, []any{a.SiteID, a.ID}, &recorded)
	if err != nil {
		return err
	}
	if a.Decision.Protected && over(tx, t.LastDay) && !recorded {
		recordEnded(tx, a.SiteID, a.ID, t.LastDay)
	}
	_, err = tx.Exec(`UPDATE allocations SET ends_after = $3, ended = $4, closed = $5 WHERE site_id = $1 AND id = $2`,
		a.SiteID, a.ID, t.LastDay, over(tx, t.LastDay), closed(tx, t))
	return err
}

// Ends are the use cases of protection that ends by the clock.
type Ends struct{ *sites.DB }

// endedAtOnce is how many events of ended protection one write records.
const endedAtOnce = 200

// Record records the end of protected allocations whose last day of dispute is over by the clock of their site.
// more reports whether there may be others.
func (e *Ends) Record(ctx context.Context) (more bool, err error) {
	return sites.Each(ctx, e.DB, sitesWithEnds, endedAtOnce, recordEnds)
}

// sitesWithEnds selects the sites with ends to record, by the real time. The first end is at the end of an index.
const sitesWithEnds = `SELECT s.id, s.clock_ahead FROM site_places p JOIN sites s ON s.id = p.site_id WHERE (SELECT MIN(a.ends_after)
	FROM allocations a WHERE a.site_id = p.site_id AND NOT a.ended) < ($1 + s.clock_ahead) / 86400000000 ORDER BY s.id`

// recordEnds records up to limit ends of a site, and returns how many. The allocation's row is the lock, so each end
// is published once. The conditions are checked again in a form that no index supports: otherwise PostgreSQL may scan
// all allocations that have not ended. Unprotected allocations also end, without an event.
func recordEnds(tx *store.Tx, siteID int64, limit int) (recorded int, err error) {
	err = tx.Query(`UPDATE allocations SET ended = TRUE, closed = (SELECT b.end_day < $2 FROM bookings b
			WHERE b.site_id = allocations.site_id AND b.id = allocations.booking_id)
		WHERE CASE WHEN ended THEN FALSE ELSE ends_after < $2 END AND (site_id, id) IN (
			SELECT a.site_id, a.id FROM allocations a WHERE a.site_id = $1 AND NOT a.ended AND a.ends_after < $2
			ORDER BY a.ends_after, a.id LIMIT $3)
		RETURNING id, ends_after, protected`, []any{siteID, int64(civil.DayOf(tx.Now)), limit}, func(scan func(dest ...any) error) error {
		var id int64
		var last civil.Day
		var protected bool
		err := scan(&id, &last, &protected)
		if protected {
			recordEnded(tx, siteID, id, last)
		}
		recorded++
		return err
	})
	if err != nil {
		return recorded, fmt.Errorf("ends of protection of site %d: %w", siteID, err)
	}
	return recorded, nil
}
