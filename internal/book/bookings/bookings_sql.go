// Package bookings stores bookings, and lets a write lock one. It owns the tables bookings and booking_suppliers.
// Start at Lock.
package bookings

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/event"
	"holdfast/internal/lib/digest"
	"holdfast/internal/platform/events"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// BookingColumns are the columns that ScanBooking reads. $1 of the statement is the site: if a statement names it everywhere, a cluster
// plans it directly for one node. Subqueries read the channel, because with a join the engine might start at the channels and sort all
// their bookings to find the first page.
const BookingColumns = `b.site_id, b.id, b.uuid, b.channel_id, b.author_id, b.author, b.author_name, b.content, b.firstname,
	b.surname, b.email, COALESCE(b.start_day, -2147483648), b.end_day, b.pax, b.reference, b.total, b.currencies, b.country,
	b.language, b.modal_draft, b.net, b.held, b.open_authorised, b.locked_payments, b.payments, b.total_changed,
	b.suppliers, b.other_protection, COALESCE(b.import_key, ''), b.version, b.created_at, b.modified_at,
	(SELECT c.locked FROM channels c WHERE c.site_id = $1 AND c.id = b.channel_id),
	(SELECT c.other_protection FROM channels c WHERE c.site_id = $1 AND c.id = b.channel_id)`

// ScanBooking reads one row of BookingColumns, and more columns behind them.
func ScanBooking(scan func(dest ...any) error, more ...any) (booking.Booking, error) {
	var b booking.Booking
	var suppliers string
	err := scan(append([]any{
		&b.SiteID, &b.ID, &b.UUID, &b.ChannelID, &b.AuthorID, &b.Author, &b.AuthorName, &b.Content, &b.Firstname,
		&b.Surname, &b.Email, &b.Start, &b.End, &b.Pax, &b.Reference, &b.Total, &b.Currency, &b.Country,
		&b.Language, &b.ModalDraft, &b.Sums.Net, &b.Sums.Held, &b.Sums.OpenAuthorised, &b.Sums.LockedPayments, &b.Payments,
		&b.TotalChanged, &suppliers, &b.OwnProtection, &b.ImportKey, &b.Version, store.Stored{Instant: &b.CreatedAt},
		store.Stored{Instant: &b.ModifiedAt}, &b.ChannelLocked, &b.ChannelProtection,
	}, more...)...)
	if err != nil {
		return b, err
	}
	b.Suppliers, err = readIDs(suppliers)
	return b, err
}

// inRow joins the ids of suppliers with commas, for the row of their booking. The row repeats booking_suppliers, so
// that reading a booking takes one statement.
func inRow(ids []int64) string {
	text := make([]string, len(ids))
	for i, id := range ids {
		text[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(text, ",")
}

// inOrder sorts a list of ids and removes duplicates.
func inOrder(ids []int64) []int64 { return slices.Compact(slices.Sorted(slices.Values(ids))) }

// readIDs is the reverse of inRow.
func readIDs(text string) (ids []int64, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("suppliers of a booking: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Alone reads one booking without its transactions. It does not find a deleted booking.
func Alone(tx *store.Tx, siteID, id int64) (booking.Booking, error) {
	return ScanBooking(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+BookingColumns+` FROM bookings b WHERE b.site_id = $1 AND b.id = $2 AND NOT b.deleted`,
			[]any{siteID, id}, dest...)
	})
}

// InTrash reads one deleted booking. It has no transactions.
func InTrash(tx *store.Tx, siteID, id int64) (booking.Booking, error) {
	return ScanBooking(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+BookingColumns+` FROM bookings b WHERE b.site_id = $1 AND b.id = $2 AND b.deleted`,
			[]any{siteID, id}, dest...)
	})
}

// ByImportKey reads the booking of a channel that an import made under a natural key.
func ByImportKey(tx *store.Tx, siteID, channelID int64, key string) (booking.Booking, error) {
	return ScanBooking(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+BookingColumns+` FROM bookings b WHERE b.site_id = $1 AND b.channel_id = $2 AND b.import_key = $3`,
			[]any{siteID, channelID, key}, dest...)
	})
}

// Lock locks a booking for the rest of the write, and reads it without its transactions. Other writes that lock it
// wait. Its version is already that of this write: the version increases once per write, however much the write
// changes.
func Lock(tx *store.Tx, siteID, id int64) (booking.Booking, error) {
	if b, ok := Held(tx, siteID, id); ok {
		return b, nil
	}
	var outstanding string
	b, err := ScanBooking(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+BookingColumns+`, b.outstanding FROM bookings b
			WHERE b.site_id = $1 AND b.id = $2 AND NOT b.deleted`+tx.ForUpdate(), []any{siteID, id}, dest...)
	}, &outstanding)
	if err == nil {
		b.Version++
		hold(tx, b, outstanding)
	}
	return b, err
}

// Update stores the fields of a locked booking that a caller can change, and the status that follows from them.
func Update(tx *store.Tx, b booking.Booking) error {
	b.Suppliers = inOrder(b.Suppliers)
	sum, err := digest.Of(b.Facts(inRow(b.Suppliers))...)
	if err != nil {
		return err
	}
	over := b.StoredStatus() == booking.BookingPaid && b.End < civil.DayOf(tx.Now) // else it can be completed again
	n, err := tx.Exec(`UPDATE bookings SET channel_id = $3, content = $4, firstname = $5, surname = $6, email = $7,
			start_day = $8, end_day = $9, pax = $10, reference = $11, total = $12, currencies = $13, country = $14,
			language = $15, modal_draft = $16, status = $17, modified_at = $18, total_changed = total_changed OR total <> $12,
			suppliers = $19, other_protection = $20, digest = $21, completed = completed AND $22, version = $23
		WHERE site_id = $1 AND id = $2 AND NOT deleted`,
		b.SiteID, b.ID, b.ChannelID, b.Content, b.Firstname, b.Surname, b.Email, store.MaybeDay(b.Start), int64(b.End), b.Pax,
		b.Reference, b.Total, string(b.Currency), b.Country, b.Language, b.ModalDraft, string(b.StoredStatus()),
		store.Micros(Modified(tx, b)), inRow(b.Suppliers), string(b.OwnProtection), sum, over, b.Version)
	if err != nil {
		return err
	}
	if n == 0 {
		return store.ErrNotFound
	}
	events.Record(tx, b.SiteID, event.BookingUpdated, b.ID, event.Details{Status: statusNow(tx, b)})
	b.ModifiedAt = Modified(tx, b)
	if held := heldIn(tx, b.SiteID, b.ID); held != nil {
		b.TotalChanged = b.TotalChanged || held.Total != b.Total
		recordStatus(tx, held.Booking, b)
		held.Booking = b
	}
	if _, err := tx.Exec(`DELETE FROM booking_suppliers WHERE site_id = $1 AND booking_id = $2`, b.SiteID, b.ID); err != nil {
		return err
	}
	insertSuppliers(tx, b)
	return nil
}

// Trash moves a locked booking to the trash, which hides it. Its natural key is free again, so an import with
// the same key makes a new booking.
func Trash(tx *store.Tx, siteID, id int64) error {
	delete(inWrite.Of(tx).byKey, store.Key{SiteID: siteID, ID: id})
	n, err := tx.Exec(`UPDATE bookings SET deleted = TRUE, import_key = NULL, modified_at = $3, version = version + 1
		WHERE site_id = $1 AND id = $2 AND NOT deleted`, siteID, id, store.Micros(tx.Now))
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	events.Record(tx, siteID, event.BookingDeleted, id, event.Details{})
	return err
}

// Page reads one page of a site's bookings. A filter by status goes by the status on the day of the transaction.
func Page(tx *store.Tx, siteID int64, filter BookingFilter, page store.Page) (store.List[booking.Booking], error) {
	var w sqltext.Where
	all, today := filter.All() && !page.Chooses(), civil.DayOf(tx.Now)
	w.And("b.site_id = ?", siteID)
	if all { // so the database passes over the bookings before a page in an index, without reading them
		w.And("b.id NOT IN (SELECT d.id FROM bookings d WHERE d.site_id = ? AND d.deleted)", siteID)
	} else {
		w.And("NOT b.deleted")
	}
	andBookings(&w, siteID, filter, today)
	andModified(&w, siteID, page.Modified, today)
	page.Modified = civil.Span{}
	counts := page.Count
	page.Count = counts && !all
	list, err := store.ListPage(tx, "bookings b", BookingColumns, &w, page, bookingOrders(today),
		func(scan func(dest ...any) error) (booking.Booking, error) { return ScanBooking(scan) })
	if err == nil && all && counts {
		list.Total, err = count(tx, siteID)
	}
	return list, err
}

// count counts all bookings of a site: both numbers are in an index.
func count(tx *store.Tx, siteID int64) (n int64, err error) {
	err = tx.QueryRow(`SELECT (SELECT COUNT(*) FROM bookings WHERE site_id = $1)
		- (SELECT COUNT(*) FROM bookings WHERE site_id = $1 AND deleted)`, []any{siteID}, &n)
	return n, err
}

// WithIDs reads some bookings of a site without their transactions, by their ids. Those that are deleted or not there are left out.
func WithIDs(tx *store.Tx, siteID int64, ids []int64) (map[int64]booking.Booking, error) {
	found := map[int64]booking.Booking{}
	for some := range slices.Chunk(ids, store.LongestPage) {
		list, err := Page(tx, siteID, BookingFilter{}, store.Of(some))
		if err != nil {
			return nil, err
		}
		for _, b := range list.Items {
			found[b.ID] = b
		}
	}
	return found, nil
}

// exactly adds a condition unless the text is empty.
func exactly(w *sqltext.Where, column, text string) {
	if text != "" {
		w.And(column+" = ?", text)
	}
}

// firstDayNotBefore returns the first day that begins at or after the instant.
func firstDayNotBefore(t time.Time) int64 {
	day := civil.DayOf(t)
	if day.Start().Before(t) {
		day++
	}
	return int64(day)
}

// bookingOrders are the columns for BookingOrders on a day. The field `date` of a booking is its end date, but the order
// `date` sorts by when the booking was made, as in the framework that the API follows. The order `date_end` sorts by the
// end date. Bookings without a start date come first in the order `date_start`.
func bookingOrders(today civil.Day) store.Orders {
	return store.Orders{
		"id":         "b.id",
		"date":       "b.created_at",
		"created":    "b.created_at",
		"modified":   modifiedOn(today),
		"date_end":   "b.end_day",
		"date_start": "COALESCE(b.start_day, -2147483648)",
		"total":      "b.total",
		"surname":    "b.surname",
		"email":      "b.email",
		"reference":  "b.reference",
		"status":     statusOn(today),
	}
}

// microsPerDay is the length of a day.
const microsPerDay = int64(24 * time.Hour / time.Microsecond)

// modifiedOn is booking.Booking.ModifiedOn as an SQL expression. $1 is the site.
func modifiedOn(today civil.Day) string {
	return fmt.Sprintf(`CASE WHEN b.status = 'paid' AND b.end_day < %d AND (b.end_day + 1) * %d > b.modified_at
		AND NOT (SELECT c.locked FROM channels c WHERE c.site_id = $1 AND c.id = b.channel_id)
		THEN (b.end_day + 1) * %[2]d ELSE b.modified_at END`, today, microsPerDay)
}

// statusOn is booking.Booking.StatusOn as an SQL expression. $1 is the site.
func statusOn(today civil.Day) string {
	return fmt.Sprintf(`CASE WHEN (SELECT c.locked FROM channels c WHERE c.site_id = $1 AND c.id = b.channel_id) THEN 'locked'
		WHEN b.status = 'paid' AND b.end_day < %d THEN 'completed' ELSE b.status END COLLATE "C"`, today)
}

// andModified adds the condition that booking.Booking.ModifiedOn is within a span: the booking was written in it, or completed in
// it. Each has an index, and the engines find both where each is a query of its own.
func andModified(w *sqltext.Where, siteID int64, span civil.Span, today civil.Day) {
	first, begins := store.FirstIn(span)
	end, ends := store.EndOf(span)
	// Completed not before an instant, and by today: a booking is completed when the day after its end date begins.
	const completed = "m.status = 'paid' AND m.end_day >= ? AND m.end_day < ? AND m.channel_id NOT IN " + lockedChannels
	completedFrom := func(instant int64) int64 { return firstDayNotBefore(store.Instant(instant)) - 1 }
	if begins {
		last := int64(math.MaxInt64)
		if ends {
			last = end
		}
		w.And(`b.id IN (SELECT m.id FROM bookings m WHERE m.site_id = ? AND m.modified_at >= ? AND m.modified_at < ?
			UNION ALL SELECT m.id FROM bookings m WHERE m.site_id = ? AND `+completed+`)`,
			siteID, first, last, siteID, completedFrom(first), int64(today), siteID)
	}
	if ends {
		w.And("NOT (b.modified_at >= ? OR "+strings.ReplaceAll(completed, "m.", "b.")+")",
			end, completedFrom(end), int64(today), siteID)
	}
}

// andBookings adds the conditions of a filter.
func andBookings(w *sqltext.Where, siteID int64, f BookingFilter, today civil.Day) {
	sqltext.In(w, "b.channel_id", f.Channels)
	sqltext.In(w, "b.country", f.Countries)
	if found, values, ok := sqltext.Find(siteID, "bookings", "b.id", []string{"reference", "surname", "email"}, f.Find); ok {
		w.And(found, values...)
	}
	exactly(w, "b.surname", f.Surname)
	exactly(w, "b.email", f.Email)
	exactly(w, "b.reference", f.Reference)
	store.Within(w, "b.created_at", f.Created)
	if f.Created != (civil.Span{}) || f.DateBefore != nil || f.DateAfter != nil {
		w.Narrow()
	}
	if f.DateBefore != nil {
		w.And("b.end_day < ?", firstDayNotBefore(*f.DateBefore))
	}
	if f.DateAfter != nil {
		w.And("b.end_day > ?", int64(civil.DayOf(*f.DateAfter)))
	}
	if len(f.Statuses) > 0 {
		andStatusOn(w, siteID, f.Statuses, today)
	}
	if slices.Contains(f.Flags, booking.FlagAboveTotal) {
		w.And("b.net > b.total") // must match the index bookings_above_total
	}
}

// lockedChannels selects the channels of a site that are locked.
const lockedChannels = "(SELECT c.id FROM channels c WHERE c.site_id = ? AND c.locked)"

// andStatusOn is booking.Booking.StatusOn as an SQL condition. The stored status does not include the lock of the channel
// and the day, so they are added here.
func andStatusOn(w *sqltext.Where, siteID int64, statuses []booking.BookingStatus, today civil.Day) {
	var cases []string
	var values []any
	for _, status := range statuses {
		free := "b.channel_id NOT IN " + lockedChannels + " AND b.status = ?"
		switch status {
		case booking.BookingLocked:
			cases = append(cases, "b.channel_id IN "+lockedChannels)
			values = append(values, siteID)
		case booking.BookingCompleted:
			cases = append(cases, free+" AND b.end_day < ?")
			values = append(values, siteID, string(booking.BookingPaid), int64(today))
		case booking.BookingPaid:
			cases = append(cases, free+" AND b.end_day >= ?")
			values = append(values, siteID, string(booking.BookingPaid), int64(today))
		default:
			cases = append(cases, free)
			values = append(values, siteID, string(status))
		}
	}
	w.And("("+strings.Join(cases, ") OR (")+")", values...)
}

// ChannelHasAny reports whether any booking refers to a channel, even a deleted one.
func ChannelHasAny(tx *store.Tx, siteID, channelID int64) (bool, error) {
	return store.Exists(tx, `SELECT 1 FROM bookings WHERE site_id = $1 AND channel_id = $2`, siteID, channelID)
}
