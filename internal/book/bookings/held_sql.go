package bookings

import (
	"database/sql"
	"fmt"
	"slices"
	"time"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/event"
	"holdfast/internal/lib/digest"
	"holdfast/internal/platform/events"
	"holdfast/internal/store"
)

// heldBooking is a booking that a write has made or locked, as the write knows it: nothing else changes it before the write
// ends.
type heldBooking struct {
	booking.Booking
	found       time.Time // when it was last changed before this write
	blank       bool      // see Blank
	outstanding string    // its outstanding amount, as stored
}

// heldBookings are those of one write.
type heldBookings struct {
	byKey   map[store.Key]*heldBooking
	changed []*heldBooking // whose sums are not stored yet: see SaveChanges
}

// Unstored reports whether changes are not stored yet.
func (h *heldBookings) Unstored() bool { return len(h.changed) > 0 }

var inWrite = store.NewLocal[heldBookings]()

// heldIn finds a booking that this write has created or locked, or returns nil.
func heldIn(tx *store.Tx, siteID, id int64) *heldBooking {
	return inWrite.Of(tx).byKey[store.Key{SiteID: siteID, ID: id}]
}

// Held returns a booking that this write has made or locked, as the write knows it. ok is false when it has done neither.
func Held(tx *store.Tx, siteID, id int64) (b booking.Booking, ok bool) {
	held := heldIn(tx, siteID, id)
	if held == nil {
		return b, false
	}
	return held.Booking, true
}

// hold notes that the write has made or locked a booking. outstanding is its outstanding amount, as stored.
func hold(tx *store.Tx, b booking.Booking, outstanding string) {
	h := inWrite.Of(tx)
	if h.byKey == nil {
		h.byKey = map[store.Key]*heldBooking{}
	}
	h.byKey[store.Key{SiteID: b.SiteID, ID: b.ID}] = &heldBooking{
		Booking: b, found: b.ModifiedAt, blank: b.Payments == 0 && !b.TotalChanged, outstanding: outstanding,
	}
}

// Blank reports whether a booking was blank when this write made or locked it: nothing had ever been paid for it, and its
// total had never changed. Then everything about its payments comes from this write.
func Blank(tx *store.Tx, siteID, id int64) bool {
	held := heldIn(tx, siteID, id)
	return held != nil && held.blank
}

// Overtaken reports whether another write, whose clock was later than that of this one, has changed a booking before this
// write locked it.
func Overtaken(tx *store.Tx, siteID, id int64) bool {
	held := heldIn(tx, siteID, id)
	return held != nil && held.found.After(tx.Now)
}

// Outstanding returns the outstanding amounts of a held booking (E4 of R7), as set by SetOutstanding, or "" if they
// were never set.
func Outstanding(tx *store.Tx, siteID, id int64) string {
	if held := heldIn(tx, siteID, id); held != nil {
		return held.outstanding
	}
	return ""
}

// SetOutstanding sets the outstanding amounts of a held booking, for the package that computes them. SaveChanges stores
// them.
func SetOutstanding(tx *store.Tx, siteID, id int64, text string) error {
	held, err := toChange(tx, siteID, id)
	if err == nil {
		held.outstanding = text
	}
	return err
}

// SetSums changes the sums of a held booking's transactions, and whether it is still a draft of the payment modal. The
// status of the booking follows from both. SaveChanges stores them.
func SetSums(tx *store.Tx, b booking.Booking) error {
	held, err := toChange(tx, b.SiteID, b.ID)
	if err != nil {
		return err
	}
	before := held.Booking
	held.Sums, held.Payments, held.ModalDraft, held.ModifiedAt = b.Sums, b.Payments, b.ModalDraft, Modified(tx, before)
	recordStatus(tx, before, held.Booking)
	return nil
}

// toChange finds a held booking whose sums are about to change.
func toChange(tx *store.Tx, siteID, id int64) (*heldBooking, error) {
	h, held := inWrite.Of(tx), heldIn(tx, siteID, id)
	if held == nil {
		return nil, fmt.Errorf("booking %d cannot be changed: this write does not hold its lock", id)
	}
	if !slices.Contains(h.changed, held) {
		h.changed = append(h.changed, held)
	}
	return held, nil
}

// Modified is the instant of a change of a booking. It never goes back, though of two writes that wait for each other the one
// with the later clock may come first: see Overtaken.
func Modified(tx *store.Tx, b booking.Booking) time.Time {
	if b.ModifiedAt.After(tx.Now) {
		return b.ModifiedAt
	}
	return tx.Now
}

// SaveChanges stores the sums, outstanding amounts and resulting status of the bookings that this write has changed. It
// is the last step of every change to payments. For an import it stores many bookings together.
func SaveChanges(tx *store.Tx) error {
	h := inWrite.Of(tx)
	rows := make([][]any, len(h.changed))
	for i, b := range h.changed {
		rows[i] = []any{b.SiteID, b.ID, b.Sums.Net, b.Sums.Held, b.Sums.OpenAuthorised, b.Sums.LockedPayments, b.Payments,
			b.ModalDraft, string(b.StoredStatus()), b.outstanding, store.Micros(Modified(tx, b.Booking)), b.Version}
	}
	h.changed = nil
	return tx.UpdateRows("bookings", "BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BOOLEAN, TEXT, TEXT, BIGINT, BIGINT",
		`net = v.column3, held = v.column4, open_authorised = v.column5, locked_payments = v.column6, payments = v.column7,
		modal_draft = v.column8, status = v.column9, outstanding = v.column10, modified_at = v.column11, version = v.column12,
		completed = completed AND v.column9 = 'paid'`, rows)
}

// insertedBooking are the columns of a new booking.
const insertedBooking = `site_id, id, uuid, channel_id, author_id, author, author_name, content, firstname, surname, email,
	start_day, end_day, pax, reference, total, currencies, country, language, modal_draft, net, held, open_authorised,
	locked_payments, payments, status, deleted, import_key, version, created_at, modified_at, suppliers, other_protection,
	outstanding, digest`

// Insert stores a new booking and returns its id.
func Insert(tx *store.Tx, b booking.Booking) (id int64, err error) {
	if id, err = tx.NextID("bookings", b.SiteID); err != nil {
		return 0, err
	}
	b.Suppliers = inOrder(b.Suppliers)
	b.ID, b.Version, b.CreatedAt, b.ModifiedAt, b.TransactionIDs = id, 1, tx.Now, tx.Now, nil
	sum, err := digest.Of(b.Facts(inRow(b.Suppliers))...)
	if err != nil {
		return 0, err
	}
	tx.Insert("bookings", insertedBooking, []any{
		b.SiteID, b.ID, b.UUID, b.ChannelID, b.AuthorID, b.Author, b.AuthorName, b.Content, b.Firstname, b.Surname, b.Email,
		store.MaybeDay(b.Start), int64(b.End), b.Pax, b.Reference, b.Total, string(b.Currency), b.Country, b.Language, b.ModalDraft,
		b.Sums.Net, b.Sums.Held, b.Sums.OpenAuthorised, b.Sums.LockedPayments, b.Payments, string(b.StoredStatus()), false,
		sql.NullString{String: b.ImportKey, Valid: b.ImportKey != ""}, b.Version, store.Micros(b.CreatedAt), store.Micros(b.ModifiedAt),
		inRow(b.Suppliers), string(b.OwnProtection), "", sum,
	})
	insertSuppliers(tx, b)
	hold(tx, b, "")
	events.Record(tx, b.SiteID, event.BookingCreated, b.ID, event.Details{Status: statusNow(tx, b)})
	return b.ID, nil
}

// insertSuppliers stores the suppliers of a booking that has none stored.
func insertSuppliers(tx *store.Tx, b booking.Booking) {
	for _, supplier := range b.Suppliers {
		tx.Insert("booking_suppliers", "site_id, booking_id, supplier_id", []any{b.SiteID, b.ID, supplier})
	}
}
