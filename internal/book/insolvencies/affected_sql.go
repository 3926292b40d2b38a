package insolvencies

import (
	"database/sql"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const affectedSource = `insolvency_lines l
	JOIN bookings b ON b.site_id = l.site_id AND b.id = l.booking_id
	JOIN transactions t ON t.site_id = l.site_id AND t.id = l.transaction_id
	JOIN allocations a ON a.site_id = l.site_id AND a.id = l.allocation_id
	JOIN channels c ON c.site_id = l.site_id AND c.id = a.channel_id`

const affectedColumns = `l.allocation_id, l.transaction_id, l.booking_id, l.currency, l.remaining, l.undelivered, l.last_day,
	l.policy_currency, l.from_rate, l.to_rate, l.not_eligible, l.id, b.reference, b.firstname, b.surname, b.email, b.start_day, b.end_day,
	b.country, b.language, COALESCE(NULLIF(b.other_protection, ''), c.other_protection), COALESCE(t.reference, ''), t.effective_at, t.psp,
	a.scheme, t.bin_number, t.last_four, t.auth_code, t.acquirer_reference, t.processor_reference, a.amount, t.total, t.currencies,
	COALESCE(a.value, 0), a.policy_currency`

func scanAffected(scan func(dest ...any) error) (Affected, error) {
	var a Affected
	var start sql.NullInt64
	var err error
	a.SnapshotLine, err = scanLine(scan, &a.ID, &a.BookingReference, &a.Firstname, &a.Surname, &a.Email, &start, &a.End, &a.Country,
		&a.Language, &a.OtherProtection, &a.Reference, store.Stored{Instant: &a.PaidAt}, &a.PSP, &a.Scheme, &a.BIN, &a.LastFour,
		&a.AuthCode, &a.AcquirerReference, &a.ProcessorReference, &a.Total, &a.PaymentTotal, &a.PaymentCurrency, &a.Value,
		&a.PolicyCurrency)
	a.Start = store.DayOr(start)
	return a, err
}

// byTravel sorts by travel dates: those travelling on a day are 0, those who leave later follow in order of their first day, and
// those who have come back follow in reverse order of their last day.
func byTravel(today civil.Day) string {
	day := strconv.FormatInt(int64(today), 10)
	return `CASE WHEN b.end_day < ` + day + ` THEN 1000000000 - b.end_day
		WHEN COALESCE(b.start_day, b.end_day) <= ` + day + ` THEN 0 ELSE COALESCE(b.start_day, b.end_day) END`
}

// affectedPage reads one page of the lines of a snapshot with their bookings and payments.
func affectedPage(tx *store.Tx, siteID, insolvencyID int64, page store.Page) (store.List[Affected], error) {
	today := civil.DayOf(tx.Now)
	var w sqltext.Where
	w.And("l.site_id = ?", siteID)
	w.And("l.insolvency_id = ?", insolvencyID)
	list, err := store.ListPage(tx, affectedSource, affectedColumns, &w, page,
		store.Orders{store.OrderID: "l.id", OrderTravel: byTravel(today)}, scanAffected)
	if err != nil {
		return list, err
	}
	for i := range list.Items {
		a := &list.Items[i]
		first := a.Start
		if first == civil.NoDay {
			first = a.End
		}
		a.Travelling = first <= today && today <= a.End
	}
	return list, readSuppliers(tx, siteID, list.Items)
}

// readSuppliers sets the names of the suppliers of a page, by one query.
func readSuppliers(tx *store.Tx, siteID int64, list []Affected) error {
	if len(list) == 0 {
		return nil
	}
	var bookings []int64
	for _, a := range list {
		bookings = append(bookings, a.BookingID)
	}
	var w sqltext.Where
	w.And("s.site_id = ?", siteID)
	sqltext.In(&w, "s.booking_id", bookings)
	names := map[int64][]string{}
	err := tx.Query(`SELECT s.booking_id, n.name FROM booking_suppliers s JOIN suppliers n ON n.site_id = s.site_id AND n.id = s.supplier_id
		WHERE `+w.Text.String()+` ORDER BY s.booking_id, s.supplier_id`, w.Args, func(scan func(dest ...any) error) error {
		var booking int64
		var name string
		err := scan(&booking, &name)
		names[booking] = append(names[booking], strings.TrimSpace(name))
		return err
	})
	for i := range list {
		list[i].Suppliers = names[list[i].BookingID]
	}
	return err
}

// historyOf reads what happened to an insolvency, in order.
func historyOf(tx *store.Tx, siteID, id int64) (list []Happened, err error) {
	err = tx.Query(`SELECT id, action, state, by_name, reason, recorded_at FROM insolvency_events
		WHERE site_id = $1 AND insolvency_id = $2 ORDER BY id`, []any{siteID, id}, func(scan func(dest ...any) error) error {
		var h Happened
		err := scan(&h.ID, &h.Action, &h.State, &h.By, &h.Reason, store.Stored{Instant: &h.At})
		list = append(list, h)
		return err
	})
	return list, err
}

// StateAt is the state that an insolvency had at a time.
type StateAt struct {
	ID    int64
	State State
	Since time.Time // when it came into the state
}

// StatesAt reads the states that the insolvencies of a site had at a time, in order of their ids.
func StatesAt(tx *store.Tx, siteID int64, at time.Time) (list []StateAt, err error) {
	err = tx.Query(`SELECT insolvency_id, state, recorded_at FROM insolvency_events WHERE site_id = $1 AND recorded_at <= $2 ORDER BY insolvency_id, id`,
		[]any{siteID, store.Micros(at)}, func(scan func(dest ...any) error) error {
			var s StateAt
			err := scan(&s.ID, &s.State, store.Stored{Instant: &s.Since})
			if n := len(list); n > 0 && list[n-1].ID == s.ID {
				if list[n-1].State == s.State {
					s.Since = list[n-1].Since
				}
				list = list[:n-1]
			}
			list = append(list, s)
			return err
		})
	return list, err
}
